"""Second-order time stepping (BDF2): a substep looks back at the one before it.

From positions x and velocities v, and those at the beginning of the substep before, x' and v', a substep of length d,
w times as long as that one, solves (Hairer, Nørsett and Wanner 1993, sec. III.5)

    p = X + h u,  u = V + h a(p, u),  with X = x + b (x - x'),  V = v + b (v - v'),
    b = w² / (1 + 2 w),  h = d (1 + w) / (1 + 2 w).

That is the first-order substep of Müller et al. 2007, of the effective length h, from X and V instead of x and v: so
constraints and forces are those of first order. At equal lengths h is 2/3 d. The first substep of a frame is of first
order, unless something turns quickly, see `carrying`: so hardly anything but x and v goes from frame to frame, and
targets that leap there find no past to fight with. The lengths of the others are chosen so that h is the same for all:
compliances are scaled once for a frame.

What slows motion down, which is damping, drag and air, takes its share for the whole d, as in first order, and is then
no part of what is looked back at: v' is what it has left. Drag and air take that of the velocities in the middle of d.
Where they take little, they act for two substeps at once, D, in the first of these: air costs as much as shear. As the
second part of what they take is then early, X of that substep is less by h (1 - d / D) times what they took.

Only smooth motion can be extrapolated. What hits a floor at 1 m/s would leave it at 0.5 m/s, and where some particles
look back and others do not, momentum is lost. So a frame in which anything is pushed by contact, planes or kinds that
are not springs, or is torn, is stepped again as a whole in first order; where a storm blows it is not tried. See
`adaptive.looks_back`.

Half as many substeps of second order are as exact: a grid of 64 × 64 vertices that swings from two corners is with 10
of them 12 mm from the limit of many, in its center of mass in the first second, and 17 mm in its vertices, with 20 of
first order 13 and 18 mm. So a frame of second order takes half as many as the settings say, or more if chains are long:
what a substep leaves unsolved grows with their length.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..model.part import Past

FEWEST = 16
"""Fewest substeps of first order that half as many of second order replace. Mean strain of that grid with 20, 16, 12, 8
steps: 0.016, 0.022, 0.056, 0.28 %, in first order 0.011, 0.013, 0.019, 0.078 %."""

EDGES_PER_SUBSTEP = 10
"""Edges of the longest chain for each substep of second order. A curtain of 200² vertices, from four starts that differ
by 1e-6 m, is strained by 0.017 % on average and 7.1 % at most with one for 10 edges. With one for 12, one of three
starts is strained by 0.11 and 14 %, the others by 0.03 and 7 %; with one for 20, 0.49 and 48 %."""


RUNAWAY_SPEED = 1e4
"""No particle of a sound simulation is faster [m/s]."""

LONGEST_FRAME = 10.0
"""Longest frame [s]: one frame a second, and ten times the speed. A cloth of 11 x 11 vertices that hangs on a corner
over a floor takes 0.5 s a frame at 1 s, 4 s at 10 s, and, falling by kilometers in a substep, 7 to 23 s at 100 s."""

SHORTEST_FRAME = 2.0**-52 / RUNAWAY_SPEED
"""In a shorter frame [s] motion at that speed does not change the last digit of a meter."""


ALIKE = 0.05
"""Largest difference in length of the last substep of a frame from the mean of the next one, over that, for that to go
on from there: a substep that looks back at a much shorter or longer one is less exact. Behind a frame of 8 or 10
substeps, the fewest, that began in first order, it is 0.034 or 0.028."""

SETTLING = 8
"""Rounds in which the lengths of a frame that goes on from the last one are found; each takes the error to a hundredth,
as a first substep of another length changes the sum of all by that share of it."""


def lengths(count: int, second_order: bool, longest_chain: int = 0) -> np.ndarray:
    """Lengths of the substeps of a frame, in effective lengths: `count` ones, or half as many 1, 1.618, 1.477, ...

    longest_chain: Number of edges; long ones take more than half as many, see `EDGES_PER_SUBSTEP`.
    """
    fewest = max(-(-count // 2), -(-longest_chain // EDGES_PER_SUBSTEP))
    found = np.ones(min(count, fewest) if second_order else count)
    return np.append(1.0, _following(1.0, len(found) - 1)) if second_order else found


def _following(last: float, count: int) -> np.ndarray:
    """Lengths of substeps that follow one of a given length, all in effective lengths."""
    found = [last]
    for _ in range(count):
        # h = d (1 + w) / (1 + 2 w) = 1 with w = d / last
        found.append(0.5 * (2.0 - found[-1] + math.hypot(found[-1], 2.0)))
    return np.array(found[1:])


class Schedule(NamedTuple):
    """The substeps of a frame.

    Attributes:
        h: What they step with [s].
        ends: The share of the frame at which each ends.
        durations: Their lengths [s], (k,).
        slowed: See `slowed_for`, (k,) [s].
        second_order: Whether they look back.
        goes_on: Whether the first one does, too.
    """

    h: float
    ends: list[float]
    durations: np.ndarray
    slowed: np.ndarray
    second_order: bool
    goes_on: bool = False

    @property
    def lengths(self) -> list[tuple[float, float]]:
        """Duration and `slowed` of each [s]."""
        return list(zip(self.durations.tolist(), self.slowed.tolist()))


def schedule(
    count: int, second_order: bool, longest_chain: int, dt: float, gently: Callable[[float], bool], last: float = 0.0
) -> Schedule:
    """The substeps of a frame of dt seconds, see `lengths`.

    gently: whether what slows motion down takes little in two substeps of the longest duration [s].
    last: duration of the substep before them [s], 0 if there is none to look back at.
    """
    found = _cut(count, second_order, longest_chain, dt)
    if second_order and abs(last * len(found.ends) / dt - 1.0) < ALIKE:
        found = _cut(count, second_order, longest_chain, dt, last)
    if second_order and gently(float(found.durations.max())):
        found = _cut(count, second_order, longest_chain, dt, last if found.goes_on else 0.0, gently=True)
    return found


@functools.lru_cache(maxsize=64)
def _cut(
    count: int, second_order: bool, longest_chain: int, dt: float, last: float = 0.0, gently: bool = False
) -> Schedule:
    """The same, which goes on from the last substep if there is one."""
    found, goes_on = lengths(count, second_order, longest_chain), last > 0.0
    h = dt / float(found.sum())
    for _ in range(SETTLING if goes_on else 0):
        found = _following(last / h, len(found))
        h = dt / float(found.sum())
    ends, durations = [*(np.cumsum(found) / found.sum()).tolist()[:-1], 1.0], h * found
    slowed = slowed_for(durations, gently)
    for each in (durations, slowed):
        each.setflags(write=False)
    return Schedule(h, ends, durations, slowed, second_order, goes_on)


def slowed_for(durations: np.ndarray, gently: bool) -> np.ndarray:
    """Seconds for which damping, drag and air act at the beginning of each substep of these durations [s], (k,).

    Where they act `gently`, for two substeps at once, from the second one on.
    """
    acting = durations.copy()
    if gently:
        after = durations[2::2]
        acting[1 : 2 * len(after) : 2] += after
        acting[2::2] = 0.0
    return acting


def middle(kernels: Kernels, past: Past | None, before: np.ndarray, v: np.ndarray, duration: float) -> np.ndarray:
    """Velocities v (3, n) [m/s] after half the duration [s], as Adams and Bashforth extrapolate them; without past v.

    before: those at its beginning, of which damping has taken some in v.
    """
    return v if past is None else kernels.extrapolate(v, before, past.v, 0.5 * duration / past.since)


def share(w: float) -> float:
    """The share b of the last substep's changes that the next one starts with, if it is w times as long."""
    return w**2 / (1.0 + 2.0 * w)
