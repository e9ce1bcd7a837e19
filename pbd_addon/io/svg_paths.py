"""The outlines of SVG's shapes as points, and its transforms and units; what is not understood raises `ValueError`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from ..meshes.panels import arc, bezier

METERS = {"": 0.0254 / 96, "px": 0.0254 / 96, "pt": 0.0254 / 72, "pc": 0.0254 / 6,
          "in": 0.0254, "mm": 1e-3, "cm": 1e-2, "Q": 2.5e-4, "m": 1.0}  # fmt: skip
"""CSS's units of length [m]: 96 pixels are one inch."""

MOST_PIECES = 50_000
"""Most pieces of all paths: a digitized pattern has some hundreds. Each takes up to 40 µs."""

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
NUMBERS = re.compile(NUMBER)
COMMAND = re.compile(r"[\s,]*([A-Za-z])")
SEPARATE = re.compile(rf"\s*,?\s*({NUMBER})")
FLAG = re.compile(r"\s*,?\s*([01])")
TRANSFORM = re.compile(r"\s*,?\s*(\w+)\s*\(([^()]*)\)\s*")

TAKES = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
"""How many numbers each command of a path takes."""


class Outline(NamedTuple):
    """A part of a path without gaps.

    Attributes:
        pieces: Points along each piece, from where the one before ends, (k, 2).
        closed: Whether it ends where it begins.
    """

    pieces: list[np.ndarray]
    closed: bool


def length(text: str, whole: float = math.nan) -> float:
    """A length in meters from a text such as "210mm", or a share of a whole from one such as "50%"."""
    found = re.fullmatch(rf"\s*({NUMBER})\s*([A-Za-z%]*)\s*", text)
    if not found or found[2] not in (*METERS, "%"):
        raise ValueError(f"{text[:40]!r} is no length")
    number = float(found[1])
    return number * whole / 100.0 if found[2] == "%" else number * METERS[found[2]]


def transform(text: str) -> np.ndarray:
    """The matrix of an attribute `transform`, (2, 3)."""
    result, end = np.eye(3), 0
    for found in TRANSFORM.finditer(text):
        if found.start() != end:
            break
        end = found.end()
        values = [float(number) for number in NUMBERS.findall(found[2])]
        result = result @ _matrix(found[1], values)
    if text[end:].strip():
        raise ValueError(f"transform {text[:40]!r} is not understood")
    return result[:2]


def _matrix(kind: str, values: list[float]) -> np.ndarray:
    count = len(values)
    if kind == "matrix" and count == 6:
        a, b, c, d, e, f = values
    elif kind == "translate" and count in (1, 2):
        a, b, c, d, e, f = 1.0, 0.0, 0.0, 1.0, values[0], values[1] if count == 2 else 0.0
    elif kind == "scale" and count in (1, 2):
        a, b, c, d, e, f = values[0], 0.0, 0.0, values[-1], 0.0, 0.0
    elif kind == "rotate" and count in (1, 3):
        cos, sin = math.cos(math.radians(values[0])), math.sin(math.radians(values[0]))
        x, y = values[1:] if count == 3 else (0.0, 0.0)
        a, b, c, d, e, f = cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y
    elif kind in ("skewX", "skewY") and count == 1:
        tan = math.tan(math.radians(values[0]))
        a, b, c, d, e, f = 1.0, tan * (kind == "skewY"), tan * (kind == "skewX"), 1.0, 0.0, 0.0
    else:
        raise ValueError(f"transform {kind[:20]!r} with {count} numbers is not understood")
    return np.array([[a, c, e], [b, d, f], [0.0, 0.0, 1.0]])


def of_shape(kind: str, attributes: Mapping[str, str]) -> list[Outline]:
    """The outlines of an element path, polygon, polyline, rect, circle or ellipse, in its own coordinates."""
    if kind == "path":
        return of_path(attributes.get("d", ""))
    if kind in ("polygon", "polyline"):
        numbers = NUMBERS.findall(attributes.get("points", ""))
        if len(numbers) < 4 or len(numbers) % 2:
            raise ValueError("has no pairs of numbers as points")
        return of_path(f"M{' '.join(numbers)}{'z' * (kind == 'polygon')}")
    x, y, width, height, rx, ry, cx, cy, r = (
        _user(attributes.get(name, "")) for name in ("x", "y", "width", "height", "rx", "ry", "cx", "cy", "r")
    )
    if kind == "rect":
        rx, ry = min(rx or ry, width / 2), min(ry or rx, height / 2)
        right, low = x + width, y + height
        if not rx or not ry:
            return of_path(f"M{x} {y} {right} {y} {right} {low} {x} {low}z")
        round_ = f"A{rx} {ry} 0 0 1"
        return of_path(
            f"M{x + rx} {y} L{right - rx} {y} {round_} {right} {y + ry} L{right} {low - ry} {round_} {right - rx} {low}"
            f" L{x + rx} {low} {round_} {x} {low - ry} L{x} {y + ry} {round_} {x + rx} {y}z"
        )
    rx, ry = (r, r) if kind == "circle" else (rx, ry)
    return of_path(f"M{cx - rx} {cy} A{rx} {ry} 0 1 1 {cx + rx} {cy} A{rx} {ry} 0 1 1 {cx - rx} {cy}z")


def _user(text: str) -> float:
    """A length in the units of the drawing."""
    return length(text) / METERS[""] if text else 0.0


def of_path(text: str) -> list[Outline]:
    """The outlines of an attribute `d`; pieces without length are left out."""
    outlines: list[Outline] = []
    pieces: list[np.ndarray] = []
    here = first = inner = np.zeros(2)
    before = ""

    def finish(closed: bool) -> None:
        if pieces:
            gap = float(np.linalg.norm(here - first))
            if closed and gap:
                pieces.append(np.array([here, first]))
            outlines.append(Outline(list(pieces), closed or not gap))
            pieces.clear()

    for command, values in _commands(text):
        kind, origin = command.upper(), here if command.islower() else np.zeros(2)
        if kind == "Z":
            finish(True)
            here, before = first, ""
            continue
        if kind == "M":
            finish(False)
            here = first = origin + values
            before = ""
            continue
        if kind in "HV":
            end = here.copy()
            end["HV".index(kind)] = origin["HV".index(kind)] + values[0]
        else:
            end = origin + values[-2:]
        points = [origin + pair for pair in np.reshape(values, (-1, 2))] if kind in "CSQT" else []
        if kind in "ST":  # The first inner point mirrors the last one of the curve before.
            mirrored = 2.0 * here - inner if before in ("CS" if kind == "S" else "QT") and before else here
            points.insert(0, mirrored)
        if kind == "A":
            piece = _ellipse(here, end, values)
        else:
            piece = bezier(np.array([here, *points])) if points else np.array([here, end])
        inner, before = (points[-2] if points else end), kind if points else ""
        if np.ptp(piece, axis=0).any():
            pieces.append(piece)
        here = end
    finish(False)
    return outlines


def _ellipse(start: np.ndarray, end: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Points along an arc of an ellipse: that of a circle, where the ellipse is made one."""
    (rx, ry), angle = np.abs(values[:2]), math.radians(values[2])
    if not rx or not ry:
        return np.array([start, end])
    cos, sin = math.cos(angle), math.sin(angle)
    to_circle = np.diag([1.0, rx / ry]) @ [[cos, sin], [-sin, cos]]
    points = arc(to_circle @ start, to_circle @ end, float(rx), bool(values[3]), bool(values[4]))
    points = points @ np.linalg.inv(to_circle).T
    points[[0, -1]] = start, end
    return points


def _commands(text: str) -> Iterator[tuple[str, np.ndarray]]:
    """The commands of a path with their numbers; one that is left out is the last again, or L after M."""
    at, command, count = 0, "", 0
    text = text.rstrip()
    while at < len(text):
        found = COMMAND.match(text, at)
        if found:
            command, at = found[1], found.end()
            if command.upper() not in TAKES:
                raise ValueError(f"has a path with an unknown command {command!r}")
        elif command in ("", "Z", "z"):
            raise ValueError(f"has a path that is not understood at {text[at : at + 20]!r}")
        values = []
        for number in range(TAKES[command.upper()]):
            token = (FLAG if command in "Aa" and number in (3, 4) else SEPARATE).match(text, at)
            if not token:
                raise ValueError(f"has a path in which {command!r} lacks numbers")
            values.append(float(token[1]))
            at = token.end()
        if not np.isfinite(values).all():
            raise ValueError("has a path with a number that is not finite")
        count += 1
        if count > MOST_PIECES:
            raise ValueError(f"has more than {MOST_PIECES:,} pieces")
        yield command, np.array(values)
        command = {"M": "L", "m": "l"}.get(command, command)
