"""A figure and its bar, and tables of them."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

NO_BAR = float("inf")
"""Of a figure that is only told."""


class Check(NamedTuple):
    """One figure that must not go beyond its bar.

    Attributes:
        case: What was simulated, in a few words: "Paper 10 cm, 20 segments, quads".
        figure: What was measured, with its unit: "tip beside elastica [%]".
        value: What came out; NaN where the simulation failed.
        bar: The largest |value| that is accepted; infinite where the figure is only told.
        cpu: CPU time until it was known, since the figure before it [s]; NaN if nobody looked.
        load: Mean number of processes that wanted the machine meanwhile, in the last minute.
    """

    case: str
    figure: str
    value: float
    bar: float
    cpu: float = math.nan
    load: float = math.nan

    @property
    def holds(self) -> bool:
        """Whether the value is within its bar; NaN never is."""
        return abs(self.value) <= self.bar


def timed(checks: Iterable[Check]) -> Iterator[Check]:
    """The checks as they come, with what each cost and the load of the machine."""
    begun = time.process_time()
    for check in checks:
        now = time.process_time()
        yield check._replace(cpu=now - begun, load=os.getloadavg()[0])
        begun = time.process_time()


def table(checks: Sequence[Check]) -> str:
    """The checks as a Markdown table, those that fail in bold, with a line of their numbers above."""
    measured = any(math.isfinite(check.cpu) for check in checks)
    failed = sum(not check.holds for check in checks)
    rows = [
        f"{len(checks) - failed} of {len(checks)} bars hold.",
        "",
        "| case | figure | value | bar |" + measured * " CPU [s] | load |",
        "|---|---|--:|--:|" + measured * "--:|--:|",
    ]
    for check in checks:
        value = f"{check.value:.3g}" if check.holds else f"**{check.value:.3g}**"
        bar = f"{check.bar:.3g}" if math.isfinite(check.bar) else "–"
        cost = f" {check.cpu:.1f} | {check.load:.1f} |" if measured else ""
        rows.append(f"| {check.case} | {check.figure} | {value} | {bar} |{cost}")
    return "\n".join(rows)
