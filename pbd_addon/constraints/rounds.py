"""Rounds of bending and springs within a substep: what one undoes of the other's work is not left undone.

Bending is projected before shear and stretch, and those undo a part of it where they pull the other way: in a loop of
paper 70 %. As multipliers begin at 0 in each substep, that part stays missing at rest, as if the sheet were softer. So
where it is large, bending, shear and stretch are solved in turn, B S F R B S F S F B S F R; multipliers carry on. F are
the chains of stretch there, R those back, or the sweep, which comes in each round; what acts far, as tethers, comes
between S and F in the first and the last round.

The second B looks ahead along the way that springs have gone since the first one, and what it finds is done without
going there: over-relaxation. The same do the second and the third S along the way of stretch. A mode that both share
leaves rho, in [0, 1], after a plain round and 1 - (1 + gain) (1 - rho) after such a one. In a substep, which
extrapolates velocities, what all rounds leave has to stay above -1/3. It is at least -0.06, and at most 0.06 where rho
is below 0.6 for bending and 0.7 for shear; of rho = 0.9 it is 0.63 and 0.48; plain rounds would leave 0.73 and 0.66.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from .base import Constraints, make
from .distance import DistanceConstraints

BEND = "bend"
"""Last word in the names of all kinds that bend."""

GAINS: tuple[tuple[float | None, float], ...] = ((0.0, 0.0), (1.2, 0.2), (None, 2.2), (0.0, 0.0))
"""How many ways bending and shear look ahead in each round; None where bending, which costs most in plates, has none.

A drape of cotton in cells of 20 mm covers 10, 5, 3 and 1.5 points less than with 160 steps where shear looks ahead by
none, 0 and 2, 0.2 and 2.2, 0.5 and 2. With 2 and 0.5 a sheet that unrolls begins to turn by 0.13 rad/s, with 0.2 and
2.2 by 0.09 as with none. In the last round none looks ahead: where shear or bending do by 0.5, discs of paper and
leather, which lie still else, flutter at 0.4 to 0.6 m/s."""


class Way:
    """How far others go after kinds, in one round of the last substep.

    Attributes:
        moved: For packed positions, or (3, n) [m].
        name: That of the last kind.
    """

    moved: np.ndarray

    def __init__(self, kinds: Sequence[Constraints], count: int) -> None:
        weights = [kind.inverse_masses for kind in kinds]
        self.inverse_masses = weights[0] if all(w is weights[0] for w in weights) else None
        self.count, self.name = count, kinds[-1].name

    def lay_out(self, kernels: Kernels) -> None:
        """Get ready for a backend."""
        self.is_packed = kernels.PACKED and self.inverse_masses is not None
        shape = (self.count, 4) if self.is_packed else (3, self.count)
        if getattr(self, "moved", np.zeros(0)).shape != shape:
            self.moved = np.zeros(shape)

    def of_particles(self) -> np.ndarray:
        """The same of every particle, (3, n) [m]."""
        return self.moved[:, :3].T if self.is_packed else self.moved


class Mark(Constraints):
    """A point where a way begins or ends, or where leaning does.

    Args:
        way: The way.
        kernel: "note", "lean" or "straighten", see `kernels.protocol.packing`.
        gain: How many ways it leans.
        always: Whether in each substep; else in the last one of a frame alone, where the way is measured.
    """

    once_apart = True

    def __init__(self, way: Way, kernel: str, gain: float = 0.0, always: bool = True) -> None:
        self.way, self.kernel, self.gain, self.always = way, kernel, gain, always
        self.name, self.inverse_masses = way.name, way.inverse_masses

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        given = (self.way.moved,) if self.kernel == "note" else (self.way.moved, self.gain)
        return [Call(self.kernel, 1, given)] if kept or self.always else []

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        for _, _, given in self.calls(True, True):
            getattr(kernels, self.kernel)(p, *given)


class Leg(Constraints):
    """A part of a pass of stretch: the chains there, what comes after them between rounds, or at the end."""

    def __init__(self, stretch: DistanceConstraints, part: Literal["there", "between", "back"], is_first: bool) -> None:
        self.stretch, self.part, self.is_first = stretch, part, is_first
        self.name = stretch.name

    @property
    def inverse_masses(self) -> np.ndarray:  # type: ignore[override]
        return self.stretch.inverse_masses

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        if self.part == "there":
            return self.stretch.there(self.is_first and self.stretch.fresh)
        return self.stretch.back(True) if self.part == "back" else self.stretch.between(self.is_first)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        make(kernels, self.calls(True, True), p, x)
        self.stretch.fresh = False


def ways_between(sequence: Sequence[Constraints]) -> list[Way]:
    """The ways that a sequence measures."""
    return [kind.way for kind in sequence if isinstance(kind, Mark) and kind.kernel == "note"]


def of_bending(ways: Sequence[Way]) -> list[Way]:
    """Those that begin after bending."""
    return [way for way in ways if way.name.endswith(BEND)]


def measured(sequence: Sequence[Constraints], bends: Sequence[Constraints], count: int) -> tuple[Constraints, ...]:
    """The sequence, which measures the way of springs after bending; count: of particles."""
    way, after = Way(bends, count), sequence.index(bends[-1]) + 1
    end = 1 + max(k for k, kind in enumerate(sequence) if isinstance(kind, DistanceConstraints))
    noted = *sequence[:after], Mark(way, "note", always=False), *sequence[after:end]
    return (*noted, Mark(way, "lean", always=False), *sequence[end:])


def in_rounds(
    kinds: Sequence[Constraints],
    bends: Sequence[Constraints],
    shear: DistanceConstraints,
    stretch: DistanceConstraints,
    count: int,
) -> tuple[Constraints, ...]:
    """Kinds in the order of projection, in rounds.

    Args:
        kinds: All, each once.
        bends: Those that bend, which come one after another, before springs.
        shear: Need not be among the kinds.
        stretch: Must be.
        count: Number of particles.
    """
    first, end = kinds.index(bends[0]), kinds.index(stretch)
    sheared = [shear] if shear in kinds else []
    far = [kind for kind in kinds[first:end] if kind not in bends and kind is not shear]
    found: list[Constraints] = [*kinds[:first]]
    way, slid = Way(bends, count), Way([shear], count)
    last = len(GAINS) - 1
    for k, (bend_gain, shear_gain) in enumerate(GAINS):
        if bend_gain is not None:
            if k:
                found.append(Mark(way, "lean", always=bend_gain > 0.0))
            found += _ahead(way, bend_gain, bends)
            way = Way(bends, count)
            found.append(Mark(way, "note", always=any(gain for gain, _ in GAINS[k + 1 :])))
        is_led = bool(sheared) and k < last and GAINS[k + 1][1] > 0.0
        found += [*_ahead(slid, shear_gain, sheared), *([Mark(slid, "note")] if is_led else [])]
        found += [*(far if k in (0, last) else []), Leg(stretch, "there", not k)]
        found += [Leg(stretch, "between" if k < last else "back", not k), *([Mark(slid, "lean")] if is_led else [])]
    return (*found, Mark(way, "lean", always=False), *kinds[end + 1 :])


def _ahead(way: Way, gain: float, kinds: Sequence[Constraints]) -> list[Constraints]:
    """Kinds that look ahead along a way."""
    if not gain or not kinds:
        return list(kinds)
    return [Mark(way, "straighten", -gain), *kinds, Mark(way, "straighten", gain)]
