"""A picture of time against strain, both logarithmic, written as SVG by hand: one curve for each solver."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from .contestants import BACKENDS, CLOTH, DYNAMICS, OURS, PYPBD
from .curtain import Result

WIDTH, HEIGHT = 860, 500
LEFT, RIGHT, TOP, BOTTOM = 76, 290, 60, 62
STEPS = (1, 2, 5)
LABEL_HEIGHT = 19
"""Distance of labels, from one to the next."""

TITLE = "Curtain: time against strain"
SUBTITLE = "Square cloth hung by two corners; towards the lower left is better"

SHADES = {
    OURS: ("#1a6fc0", "#3fa0e8", "#6488b0", "#8aa9c8"),
    CLOTH: ("#c2500f", "#e08a4a"),
    DYNAMICS: ("#9a52bc", "#bd8ad6"),
    PYPBD: ("#2c8a4b", "#74b58a"),
}
"""Colors of each solver's curves, to be told apart on light and on dark ground."""

STYLE = """
svg { --ground: #ffffff; --ink: #222222; --pale: #5a5a5a; --line: #e2e2e2 }
@media (prefers-color-scheme: dark) { svg { --ground: #16191d; --ink: #e8e8e8; --pale: #a8a8a8; --line: #33383e } }
.ground { fill: var(--ground) } .ink { fill: var(--ink) } .pale { fill: var(--pale) }
.line { stroke: var(--line); fill: none } .axis { stroke: var(--pale); fill: none } .halo { stroke: var(--ground) }
"""


class Curve(NamedTuple):
    """What one solver did: points (CPU milliseconds, strain in percent, vertices along a side)."""

    name: str
    color: str
    dashed: bool
    points: list[tuple[float, float, int]]


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


def curves(results: Sequence[Result]) -> list[Curve]:
    """One curve for each solver and setting, through the sizes of the curtain; grids only."""
    found: dict[str, Curve] = {}
    for result in results:
        if result.scene != f"{result.n} × {result.n}" or not (result.cpu > 0.0 and result.strain_mean > 0.0):
            continue
        name = f"{result.solver}, {result.setting}"
        if name not in found:
            shades = SHADES[result.solver]
            earlier = sum(other.startswith(f"{result.solver},") for other in found)
            dashed = result.solver == OURS and result.setting not in BACKENDS.values()
            found[name] = Curve(name.removesuffix(" (default)"), shades[earlier % len(shades)], dashed, [])
        found[name].points.append((1e3 * result.cpu, 100.0 * result.strain_mean, result.n))
    return list(found.values())


def draw(curves: Sequence[Curve], title: str = TITLE, subtitle: str = SUBTITLE) -> str:
    """The picture, as the text of an SVG file. Towards the lower left is better."""
    points = [point for curve in curves for point in curve.points]
    sizes = sorted({n for _, _, n in points})
    across = Axis([x for x, _, _ in points], LEFT, WIDTH - RIGHT)
    up = Axis([y for _, y, _ in points], HEIGHT - BOTTOM, TOP)
    radius = {n: 3.0 + 1.5 * rank for rank, n in enumerate(sizes)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" class="ground"/>',
        words(LEFT, 24, title, "ink", size=15, weight="bold"),
        words(LEFT, 43, subtitle, "pale"),
        *_grid(across, up),
    ]
    for curve in curves:
        parts += _curve(curve, across, up, radius)
    parts += _names(curves, across, up)
    parts += _sizes(radius)
    return "\n".join([*parts, "</svg>", ""])


def _grid(across: Axis, up: Axis) -> list[str]:
    left, right, low, high = across.start, across.stop, up.start, up.stop
    parts = []
    for mark in across.marks:
        x = across.at(mark)
        parts.append(f'<path d="M{x:.1f} {low}V{high}" class="line"/>')
        parts.append(words(x, low + 17, f"{mark:g}", "ink", anchor="middle"))
    for mark in up.marks:
        y = up.at(mark)
        parts.append(f'<path d="M{left} {y:.1f}H{right}" class="line"/>')
        parts.append(words(left - 8, y + 4, f"{mark:g} %", "ink", anchor="end"))
    parts.append(f'<path d="M{left} {high}V{low}H{right}" class="axis"/>')
    parts.append(words((left + right) / 2, low + 38, "CPU time of a frame, ms", "ink", anchor="middle"))
    middle = (low + high) / 2
    turned = f' transform="rotate(-90 18 {middle:.1f})"'
    parts.append(words(18, middle, "mean strain of the edges", "ink", anchor="middle", more=turned))
    return parts


def _curve(curve: Curve, across: Axis, up: Axis, radius: dict[int, float]) -> list[str]:
    """The line, and a disc for each size of the curtain."""
    places = [(across.at(x), up.at(y), radius[n]) for x, y, n in curve.points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in places)
    parts = [f'<polyline points="{line}" fill="none" stroke="{curve.color}" stroke-width="2"{_dashes(curve)}/>']
    for x, y, r in places:
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:g}" fill="{curve.color}" class="halo"/>')
    return parts


def _dashes(curve: Curve) -> str:
    return ' stroke-dasharray="5 4"' if curve.dashed else ""


def _names(curves: Sequence[Curve], across: Axis, up: Axis) -> list[str]:
    """Names at the right, one below the other in the order of the curves' ends, each with a piece of its curve."""
    ends = sorted(((up.at(curve.points[-1][1]), curve) for curve in curves), key=lambda end: end[0])
    top = min(up.stop, up.start - LABEL_HEIGHT * len(ends))
    places: list[float] = []
    for place, _ in ends:
        places.append(max(place, places[-1] + LABEL_HEIGHT if places else top))
    for index in reversed(range(len(places))):
        below = places[index + 1] - LABEL_HEIGHT if index + 1 < len(places) else up.start
        places[index] = min(places[index], below)
    parts, x = [], across.stop + 20
    for (_, curve), y in zip(ends, places):
        parts.append(f'<path d="M{x:.1f} {y:.1f}h26" stroke="{curve.color}" stroke-width="2"{_dashes(curve)}/>')
        parts.append(f'<circle cx="{x + 13:.1f}" cy="{y:.1f}" r="4" fill="{curve.color}" class="halo"/>')
        parts.append(words(x + 34, y + 4, curve.name, fill=curve.color, weight="bold"))
    return parts


def _sizes(radius: dict[int, float]) -> list[str]:
    """What the discs' sizes mean, at the lower right."""
    parts, x, y = [], WIDTH - RIGHT + 25.0, HEIGHT - 22
    for n, r in radius.items():
        parts.append(f'<circle cx="{x:.1f}" cy="{y - 4}" r="{r:g}" class="pale"/>')
        parts.append(words(x + r + 4, y, f"{n}²", "ink"))
        x += 2 * r + 44
    return parts


def words(
    x: float,
    y: float,
    text: str,
    tone: str = "",
    *,
    fill: str = "",
    size: int = 12,
    anchor: str = "start",
    weight: str = "normal",
    more: str = "",
) -> str:
    """A text in one of the tones of STYLE, or in a color."""
    paint = f'fill="{fill}"' if fill else f'class="{tone}"'
    style = f'font-size="{size}" {paint} text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}{more}>{escape(text)}</text>'
