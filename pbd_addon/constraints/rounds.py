"""Rounds of bending and springs within a substep: what one undoes of the other's work is not left undone.

Bending is projected before shear and stretch, and those undo a part of it where they pull the other way: in a loop of
paper 70 %. As multipliers begin at 0 in each substep, that part stays missing at rest, as if the sheet were softer. So
where it is large, bending, shear and stretch are solved three times in turn, B S F B S F B S F R; multipliers carry on.
F are the chains of stretch there, R those back, or the sweep; what acts far, as tethers, comes between S and F in the
first and the last round.

The second B looks `LEAN` ways ahead along the way that springs have gone since the first one, and what it finds is done
without going there: over-relaxation. A mode that both share leaves rho, in [0, 1], after a plain round and
1 - (1 + LEAN) (1 - rho) after such a one. In a substep, which extrapolates velocities, that has to stay above -1/3. The
plain round that follows leaves rho of it, which is least, -LEAN² / (4 (1 + LEAN)) = -0.10, at rho = 0.23.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from .base import Constraints, make
from .distance import DistanceConstraints

BEND = "bend"
"""Last word in the names of all kinds that bend."""

LEAN = 0.86
"""How far the second round looks ahead. With 0.4, 0.86 and 1.2, a loop of paper of 24 cells is 8.0, 4.1 and 1.7 % too
narrow, and a strip of paper that is drawn together by a tenth rises 0.6, 3.0 and 4.1 % too little. Leaning by 0.5 in a
round that no other follows makes paper boil at 0.2 to 1.3 m/s."""


class Way:
    """How far springs go after bending, in one round of the last substep.

    Attributes:
        moved: For packed positions, or (3, n) [m].
    """

    moved: np.ndarray

    def __init__(self, bends: Sequence[Constraints], count: int) -> None:
        weights = [kind.inverse_masses for kind in bends]
        self.inverse_masses = weights[0] if all(w is weights[0] for w in weights) else None
        self.count, self.name = count, bends[-1].name

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
    """A point between bending and springs where a way begins or ends, or where leaning does.

    Args:
        way: The way.
        kernel: "note", "lean" or "straighten", see `kernels.protocol.packing`.
        gain: How many ways bending looks ahead; at 0 the way is only measured, at the end of a frame.
    """

    once_apart = True

    def __init__(self, way: Way, kernel: str, gain: float) -> None:
        self.way, self.kernel, self.gain = way, kernel, gain
        self.name, self.inverse_masses = way.name, way.inverse_masses

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        given = (self.way.moved,) if self.kernel == "note" else (self.way.moved, self.gain)
        return [Call(self.kernel, 1, given)] if kept or self.gain else []

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        for _, _, given in self.calls(True, True):
            getattr(kernels, self.kernel)(p, *given)


class Leg(Constraints):
    """Half of a pass of stretch: the chains there, or what comes after them."""

    def __init__(self, stretch: DistanceConstraints, is_back: bool, is_first: bool) -> None:
        self.stretch, self.is_back, self.is_first = stretch, is_back, is_first
        self.name = stretch.name

    @property
    def inverse_masses(self) -> np.ndarray:  # type: ignore[override]
        return self.stretch.inverse_masses

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        return self.stretch.back(True) if self.is_back else self.stretch.there(self.is_first and self.stretch.fresh)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        make(kernels, self.calls(True, True), p, x)
        self.stretch.fresh = False


def ways_between(sequence: Sequence[Constraints]) -> list[Way]:
    """The ways that a sequence measures."""
    return [kind.way for kind in sequence if isinstance(kind, Mark) and kind.kernel == "note"]


def measured(sequence: Sequence[Constraints], bends: Sequence[Constraints], count: int) -> tuple[Constraints, ...]:
    """The sequence, which measures the way of springs after bending; count: of particles."""
    way, after = Way(bends, count), sequence.index(bends[-1]) + 1
    end = 1 + max(k for k, kind in enumerate(sequence) if isinstance(kind, DistanceConstraints))
    noted = *sequence[:after], Mark(way, "note", 0.0), *sequence[after:end]
    return (*noted, Mark(way, "lean", 0.0), *sequence[end:])


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
    sheared = (shear,) if shear in kinds else ()
    far = [kind for kind in kinds[first:end] if kind not in bends and kind is not shear]
    there, back = Leg(stretch, False, False), Leg(stretch, True, False)
    springs = (
        (*sheared, *far, Leg(stretch, False, True)),
        (*sheared, there),
        (*sheared, *far, there, back),
    )
    found: list[Constraints] = [*kinds[:first], *bends]
    for gain, others in zip((LEAN, 0.0, 0.0), springs):
        way = Way(bends, count)
        found += [Mark(way, "note", gain), *others, Mark(way, "lean", gain)]
        found += bends if others is not springs[-1] else []
        found += [Mark(way, "straighten", gain)] if gain else []
    return (*found, *kinds[end + 1 :])
