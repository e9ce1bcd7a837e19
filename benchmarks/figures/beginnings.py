"""What each figure's own scene does in its first frames: the page has these numbers, and a test compares them.

So a page whose pictures are of another engine is found in seconds. Only the sheets of `macklin-6` are smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from . import characters, folds, sheets, springs

TOLERANCE = 0.01
"""Largest relative difference of a number on the page. Both backends and all versions of NumPy give all digits."""


def _muller_3() -> list[float]:
    hung = sheets.hang("PBD", 0.5, 0.0, 20, frames=6, substeps=60, iterations=1, span=0.7)
    return [hung.strain, hung.fold]


def _muller_6() -> list[float]:
    folded = folds.lay_down(shown=(5,))
    return [folded.speed, float(folded.frames[0][:, 2].mean()), float(folded.frames[0][:, 1].std())]


def _muller_7() -> list[float]:
    blown = characters.inflate((2.0,), frames=2)[0]
    return [blown.pressure, blown.strain, blown.longest]


def _muller_9() -> list[float]:
    *_, seen = folds.tumble(3)
    x = seen.simulation.positions(seen.body)
    return [float(x[:, 0].std()), float(x[:, 2].mean()), seen.simulation.reports[3].strain_mean]


def _muller_11() -> list[float]:
    fallen = characters.pile(shown=(2,))
    return [fallen.motion, *(float(x[:, 2].mean()) for x in fallen.frames[0])]


def _macklin_1() -> list[float]:
    lying = characters.sit(characters.SOFT, False, frames=2)
    return [float(np.ptp(lying.x[:, 2])), lying.volume, lying.strain]


def _macklin_2() -> list[float]:
    substeps = springs.period(springs.oscillate("XPBD", 1, 60, substeps=20))
    return [substeps, springs.period(springs.oscillate("PBD", 5, 30, 0.1))]


def _macklin_3() -> list[float]:
    return [float(springs.falling_chain(count, chains, 20)[0][-1]) for count, chains in ((50, False), (1, True))]


def _macklin_6() -> list[float]:
    dropped = [sheets.drop(method, 20, count=12, seconds=0.05) for method in ("PBD", "XPBD")]
    return [number for one in dropped for number in (one.depth, one.strain)]


def _report_5() -> list[float]:
    lines = [sheets.profile(method, 1) for method in ("PBD", "XPBD")]
    return [float(number) for line in lines for number in (line[-1, 0], line[:, 1].mean())]


BEGINNINGS: dict[str, Callable[[], list[float]]] = {
    "muller-3": _muller_3,
    "muller-6": _muller_6,
    "muller-7": _muller_7,
    "muller-9": _muller_9,
    "muller-11": _muller_11,
    "macklin-1": _macklin_1,
    "macklin-2": _macklin_2,
    "macklin-3": _macklin_3,
    "macklin-6": _macklin_6,
    "report-5": _report_5,
}


def noted(numbers: Iterable[float]) -> str:
    """A line of the page with numbers, which readers do not see."""
    return f"<!-- first frames: {' '.join(f'{number:.5g}' for number in numbers)} -->"


def read(text: str) -> list[float]:
    """The numbers that a section of the page has noted."""
    return [float(word) for word in text.partition("<!-- first frames: ")[2].partition(" -->")[0].split()]
