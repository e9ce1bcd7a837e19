"""Curves over linear axes, written as SVG by hand, in the style of the benchmarks' picture."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from ..picture import STYLE, words

WIDTH, HEIGHT = 620, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 190, 34, 46
LABEL_HEIGHT = 17
COLORS = ("#1a6fc0", "#c2500f", "#2c8a4b", "#9a52bc", "#b08a10", "#50707a")
"""To be told apart on light and on dark ground."""


class Curve(NamedTuple):
    """A line through points x, y, (m,) each."""

    name: str
    x: np.ndarray
    y: np.ndarray
    dashed: bool = False


class Plot(NamedTuple):
    """Curves over the same axes.

    Attributes:
        title: Above them.
        across, up: What the axes show, with units.
        curves: In the order of their colors.
        same_scale: Whether a unit is as long on both axes, as in a view from the side.
    """

    title: str
    across: str
    up: str
    curves: Sequence[Curve]
    same_scale: bool = False


class Axis:
    """A linear axis that holds `low` to `high`, from pixel `start` to pixel `stop`."""

    def __init__(self, low: float, high: float, start: float, stop: float, marks: int = 6) -> None:
        span = max(high - low, 1e-12)
        step = 10.0 ** math.floor(math.log10(span / marks))
        step *= next(factor for factor in (1, 2, 5, 10) if span / (factor * step) <= marks)
        self.low, self.high = low - 0.03 * span, high + 0.03 * span
        self.marks = step * np.arange(math.ceil(self.low / step), math.floor(self.high / step) + 1)
        self.start, self.stop = start, stop

    def at(self, value: np.ndarray | float) -> np.ndarray:
        """Pixels of values."""
        return self.start + (self.stop - self.start) * (np.asarray(value) - self.low) / (self.high - self.low)


def draw(plots: Sequence[Plot]) -> str:
    """The plots, one below the other, as the text of an SVG file."""
    height = HEIGHT * len(plots)
    title = "; ".join(plot.title for plot in plots)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        f"<style>{STYLE}</style>",
        f'<rect width="{WIDTH}" height="{height}" class="ground"/>',
    ]
    for number, plot in enumerate(plots):
        parts += _plot(plot, HEIGHT * number)
    return "\n".join([*parts, "</svg>", ""])


def _plot(plot: Plot, top: float) -> list[str]:
    x, y = (np.concatenate([np.asarray(curve[part], float) for curve in plot.curves]) for part in (1, 2))
    right, low, high = WIDTH - RIGHT, top + HEIGHT - BOTTOM, top + TOP
    if plot.same_scale:
        scale = min((right - LEFT) / np.ptp(x), (low - high) / np.ptp(y))
        right, low = LEFT + 1.05 * scale * np.ptp(x), high + 1.05 * scale * np.ptp(y)
    across, up = Axis(x.min(), x.max(), LEFT, right), Axis(y.min(), y.max(), low, high, marks=5)
    parts = [words(LEFT, top + 20, plot.title, "ink", size=14, weight="bold")]
    for mark, pixel in zip(across.marks, across.at(across.marks)):
        parts.append(f'<path d="M{pixel:.1f} {low:.1f}V{high:.1f}" class="line"/>')
        parts.append(words(pixel, low + 15, f"{mark + 0.0:g}", "ink", anchor="middle"))
    for mark, pixel in zip(up.marks, up.at(up.marks)):
        parts.append(f'<path d="M{LEFT} {pixel:.1f}H{right:.1f}" class="line"/>')
        parts.append(words(LEFT - 7, pixel + 4, f"{mark + 0.0:.6g}", "ink", anchor="end"))
    parts.append(f'<path d="M{LEFT} {high:.1f}V{low:.1f}H{right:.1f}" class="axis"/>')
    parts.append(words((LEFT + right) / 2, low + 33, plot.across, "ink", anchor="middle"))
    middle = (low + high) / 2
    turned = f' transform="rotate(-90 14 {middle:.1f})"'
    parts.append(words(14, middle, plot.up, "ink", anchor="middle", more=turned))
    for number, curve in enumerate(plot.curves):
        color = COLORS[number % len(COLORS)]
        dashes = ' stroke-dasharray="5 4"' if curve.dashed else ""
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py in zip(across.at(curve.x), up.at(curve.y)))
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="1.6"{dashes}/>')
        place = high + 10 + LABEL_HEIGHT * number
        parts.append(f'<path d="M{right + 14:.1f} {place:.1f}h22" stroke="{color}" stroke-width="2"{dashes}/>')
        parts.append(words(right + 42, place + 4, curve.name, "ink"))
    return parts
