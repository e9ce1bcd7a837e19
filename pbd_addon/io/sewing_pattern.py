"""Sewing patterns in JSON, as GarmentCode and the data sets made with it write them.

`pattern` has `panels` by name and `stitches`. A panel has `vertices` in its plane, `edges` from vertex to vertex, and a
place in space: `rotation` about x, then y, then z [degrees], and `translation`; y is up. An edge may be curved:
`quadratic` and `cubic` are Bézier curves whose inner points are `params`, `circle` is an arc with radius, whether it is
the large one, and whether it turns to the left. Inner points are along the edge and to its left, in its lengths, or
`absolute`. A stitch names two edges; with `right_wrong` the cloth is turned over there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays import arguments
from ..meshes.panels import Panel, Pattern, Stitch, arc, bezier
from . import schema

MOST_BYTES = 20_000_000
"""Largest file that is read: a suit of 12 panels has 50 kB."""

MOST_SIDES = 20_000
"""Most sides of all panels: a suit of 12 panels has 126. Each takes 30 µs."""

KNOWN: dict[str, tuple[str, ...]] = {
    "file": ("pattern", "properties"),
    "properties": ("units_in_meter", "curvature_coords"),
    "pattern": ("panels", "stitches", "panel_order"),
    "panel": ("vertices", "edges", "translation", "rotation", "label"),
    "edge": ("endpoints", "curvature", "label"),
    "stitch": ("panel", "edge"),
}
"""What is read of each part; anything else is named, unless it is `USUAL`. The order of panels changes nothing."""

USUAL: tuple[object, ...] = (None, [], {}, "", ("normalize_panel_translation", False), ("normalized_edge_loops", True))
"""What says nothing: empty values, and settings as all published patterns have them."""

UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""From y up to z up: what looked along z looks against y, as a figure in Blender does."""


def read(raw: bytes) -> Pattern:
    """A pattern from the bytes of a file; raises a `ValueError`, one sentence, unless all of it can be made."""
    if len(raw) > MOST_BYTES:
        raise ValueError(f"The file has {len(raw) / 1e6:.0f} MB: a pattern may have {MOST_BYTES / 1e6:.0f}")
    try:
        data = schema.load(raw)
    except ValueError as error:
        raise ValueError(f"The file is no JSON: {error}") from error
    return of_specification(data)


def of_specification(data: Any) -> Pattern:
    """A pattern from what JSON holds."""
    unread: dict[str, None] = {}
    _name_unknown(unread, "file", data)
    pattern = _name_unknown(unread, "pattern", data.get("pattern"))
    properties = _name_unknown(unread, "properties", data.get("properties", {}))
    units = arguments.number("properties: units_in_meter", properties.get("units_in_meter", 100), 1e-3, 1e6)
    coordinates = arguments.choice(
        "properties: curvature_coords", properties.get("curvature_coords", "relative"), ("relative", "absolute")
    )
    found = pattern.get("panels")
    if not isinstance(found, Mapping) or not found:
        raise ValueError("The file has no panels: it is no sewing pattern")
    if sum(len(panel["edges"]) for panel in found.values() if _has_edges(panel)) > MOST_SIDES:
        raise ValueError(f"The pattern has more than {MOST_SIDES:,} edges")
    panels = [_panel(unread, name, one, units, coordinates == "absolute") for name, one in found.items()]
    numbers = {panel.name: at for at, panel in enumerate(panels)}
    stitches = [
        _stitch(unread, f"Stitch {at}", one, numbers, panels)
        for at, one in enumerate(arguments.sequence("pattern: stitches", pattern.get("stitches", [])))
    ]
    return Pattern(panels, stitches, list(unread))


def _has_edges(panel: Any) -> bool:
    return isinstance(panel, Mapping) and isinstance(panel.get("edges"), list) and bool(panel["edges"])


def _name_unknown(unread: dict[str, None], kind: str, value: Any) -> Mapping[str, Any]:
    """A part of the file, after noting what it has that is not read."""
    if not isinstance(value, Mapping):
        raise ValueError(f"The file is no sewing pattern: what should be its {kind} is {type(value).__name__}")
    for name, inner in value.items():
        if name not in KNOWN[kind] and inner not in USUAL and (name, inner) not in USUAL:
            unread[name if kind == "file" else f"{kind} › {name}"] = None
    return value


def _panel(unread: dict[str, None], name: str, panel: Any, units: float, is_absolute: bool) -> Panel:
    where = f"Panel '{name}'"
    if not _has_edges(panel):
        raise ValueError(f"{where} has no edges")
    _name_unknown(unread, "panel", panel)
    corners = arguments.real_array(f"{where}: vertices", panel.get("vertices", []))
    if corners.ndim != 2 or corners.shape[1] != 2 or not (np.abs(corners) <= arguments.FARTHEST).all():
        arguments.refuse(f"{where}: vertices", "pairs of finite numbers", panel.get("vertices"))
    edges = [_name_unknown(unread, "edge", edge) for edge in panel["edges"]]
    ends = arguments.ids(f"{where}: endpoints", [edge.get("endpoints") for edge in edges], len(corners), 2)
    if (ends[:, 1] != np.roll(ends[:, 0], -1)).any() or len(np.unique(ends[:, 0])) < len(ends):
        raise ValueError(f"{where} is open or forks: each of its edges has to begin where the one before it ends")
    sides, labels = [], dict[str, list[int]]()
    for at, (edge, (one, other)) in enumerate(zip(edges, ends)):
        side = _curve(f"{where}, edge {at}", corners[one], corners[other], edge.get("curvature"), is_absolute)
        sides.append(side / units)
        if edge.get("label"):
            labels.setdefault(str(edge["label"]), []).append(at)
    turn = np.radians(arguments.vector(f"{where}: rotation", panel.get("rotation", [0, 0, 0])))
    place = arguments.vector(f"{where}: translation", panel.get("translation", [0, 0, 0]))
    label = panel.get("label")
    return Panel(name, sides, UP @ rotation(turn), UP @ place / units, [str(label)] if label else [], labels)


def _curve(where: str, start: np.ndarray, end: np.ndarray, curvature: Any, is_absolute: bool) -> np.ndarray:
    """Points along an edge, (k, 2), in the file's units."""
    way = end - start
    if not way.any():
        raise ValueError(f"{where} has no length")
    if not curvature:
        return np.array([start, end])
    if not isinstance(curvature, Mapping):  # as older files have it
        curvature = {"type": "quadratic", "params": [curvature]}
    kind, params = curvature.get("type"), curvature.get("params")
    if kind == "circle":
        radius, is_large, is_left = arguments.vector(f"{where}: params", params)
        return arc(start, end, float(radius), is_large != 0.0, is_left != 0.0)
    if kind not in ("quadratic", "cubic"):
        raise ValueError(f"{where} has a curve of an unknown type: {str(kind)[:40]!r}")
    inner = arguments.real_array(f"{where}: params", params)
    if inner.shape != (1 if kind == "quadratic" else 2, 2) or not (np.abs(inner) <= arguments.FARTHEST).all():
        arguments.refuse(f"{where}: params", "one or two pairs of finite numbers", params)
    if not is_absolute:
        inner = start + inner[:, :1] * way + inner[:, 1:] * [-way[1], way[0]]
    return bezier(np.array([start, *inner, end]))


def _stitch(unread: dict[str, None], where: str, stitch: Any, numbers: dict[str, int], panels: list[Panel]) -> Stitch:
    found = arguments.sequence(where, stitch)
    if len(found) < 2 or not all(isinstance(side, Mapping) for side in found[:2]):
        raise ValueError(f"{where} does not name two edges")
    sides = []
    for side in found[:2]:
        _name_unknown(unread, "stitch", side)
        name = side.get("panel")
        if name not in numbers:
            raise ValueError(f"{where} names panel {str(name)[:40]!r}, which is not there")
        panel = numbers[name]
        sides.append((panel, arguments.whole(f"{where}: edge", side.get("edge"), 0, len(panels[panel].sides) - 1)))
    if sides[0] == sides[1]:
        raise ValueError(f"{where} sews an edge of panel '{panels[sides[0][0]].name}' to itself")
    for rest in found[2:]:
        if rest != "right_wrong":
            unread[f"stitch › {str(rest)[:40]}"] = None
    return Stitch(sides[0], sides[1], "right_wrong" in found[2:])


def rotation(angles: np.ndarray) -> np.ndarray:
    """Rotation about x, then y, then z, (3, 3), by angles (3,) [rad]."""
    result = np.eye(3)
    for axis, angle in enumerate(angles):
        turn, (one, other) = np.eye(3), [(1, 2), (2, 0), (0, 1)][axis]
        turn[one, one] = turn[other, other] = np.cos(angle)
        turn[other, one], turn[one, other] = np.sin(angle), -np.sin(angle)
        result = turn @ result
    return result
