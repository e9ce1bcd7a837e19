"""A picture of time against strain, both logarithmic, written as SVG by hand: one curve for each solver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 720, 440
LEFT, RIGHT, TOP, BOTTOM = 76, 190, 56, 58
STEPS = (1, 2, 5)


class Curve(NamedTuple):
    """What one solver did: points (CPU milliseconds, strain in percent, label)."""

    name: str
    color: str
    points: list[tuple[float, float, str]]


class Axis:
    """A logarithmic axis that holds these values, from pixel `start` to pixel `stop`."""

    def __init__(self, values: Sequence[float], start: float, stop: float) -> None:
        decades = range(math.floor(math.log10(min(values))) - 1, math.ceil(math.log10(max(values))) + 2)
        marks = [step * 10.0**decade for decade in decades for step in STEPS]
        low = max(mark for mark in marks if mark < 0.95 * min(values))
        high = min(mark for mark in marks if mark > 1.05 * max(values))
        self.marks = [mark for mark in marks if low <= mark <= high]
        self.low, self.ratio = low, math.log(high / low)
        self.start, self.stop = start, stop

    def at(self, value: float) -> float:
        """Pixel of a value."""
        return self.start + (self.stop - self.start) * math.log(value / self.low) / self.ratio


def draw(curves: Sequence[Curve], title: str, subtitle: str) -> str:
    """The picture, as the text of an SVG file. Towards the lower left is better."""
    points = [point for curve in curves for point in curve.points]
    across = Axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    up = Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 22, title, size=15, weight="bold"),
        _text(LEFT, 41, subtitle, color="#555555"),
        *_grid(across, up),
    ]
    for curve in curves:
        parts += _curve(curve, across, up)
    lowest = -math.inf
    for curve in sorted(curves, key=lambda curve: up.at(curve.points[-1][1])):
        lowest = max(lowest + 18, up.at(curve.points[-1][1]))
        parts.append(_text(WIDTH - RIGHT + 12, lowest + 4, curve.name, color=curve.color, weight="bold"))
    return "\n".join([*parts, "</svg>", ""])


def _grid(across: Axis, up: Axis) -> list[str]:
    left, right, low, high = across.start, across.stop, up.start, up.stop
    parts = []
    for mark in across.marks:
        x = across.at(mark)
        parts.append(f'<path d="M{x:.1f} {low}V{high}" stroke="#e2e2e2"/>')
        parts.append(_text(x, low + 17, f"{mark:g}", anchor="middle"))
    for mark in up.marks:
        y = up.at(mark)
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="#e2e2e2"/>')
        parts.append(_text(left - 8, y + 4, f"{mark:g} %", anchor="end"))
    parts.append(f'<path d="M{left} {high}V{low}H{right}" fill="none" stroke="#555555"/>')
    parts.append(_text((left + right) / 2, HEIGHT - 16, "CPU time of a frame, ms", anchor="middle"))
    middle = (low + high) / 2
    turned = f'transform="rotate(-90 18 {middle:.1f})"'
    parts.append(_text(18, middle, "mean strain of the edges", anchor="middle", more=turned))
    return parts


def _curve(curve: Curve, across: Axis, up: Axis) -> list[str]:
    """The line and its points."""
    places = [(across.at(x), up.at(y), label) for x, y, label in curve.points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    color = curve.color
    parts = [f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>']
    for x, y, label in places:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>')
        halo = 'paint-order="stroke" stroke="#ffffff" stroke-width="3"'
        parts.append(_text(x, y - 9, label, anchor="middle", size=11, color=color, more=halo))
    return parts


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 12,
    color: str = "#222222",
    anchor: str = "start",
    weight: str = "normal",
    more: str = "",
) -> str:
    style = f'font-size="{size}" fill="{color}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style} {more}>{escape(text)}</text>'.replace(" >", ">")
