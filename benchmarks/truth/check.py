"""A figure and its bar, and tables of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple


class Check(NamedTuple):
    """One figure that must not go beyond its bar.

    Attributes:
        case: What was simulated, in a few words: "Paper 10 cm, 20 segments, quads".
        figure: What was measured, with its unit: "tip beside elastica [%]".
        value: What came out; NaN where the simulation failed.
        bar: The largest |value| that is accepted; infinite where the figure is only told.
    """

    case: str
    figure: str
    value: float
    bar: float

    @property
    def holds(self) -> bool:
        """Whether the value is within its bar; NaN never is."""
        return abs(self.value) <= self.bar


def table(checks: Sequence[Check]) -> str:
    """The checks as a Markdown table, those that fail in bold, with a line of their numbers above."""
    failed = sum(not check.holds for check in checks)
    rows = [
        f"{len(checks) - failed} of {len(checks)} bars hold.",
        "",
        "| case | figure | value | bar |",
        "|---|---|--:|--:|",
    ]
    for check in checks:
        value = f"{check.value:.3g}" if check.holds else f"**{check.value:.3g}**"
        bar = f"{check.bar:.3g}" if math.isfinite(check.bar) else "–"
        rows.append(f"| {check.case} | {check.figure} | {value} | {bar} |")
    return "\n".join(rows)
