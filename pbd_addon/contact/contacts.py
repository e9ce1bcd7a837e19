"""The contacts of a substep: how they push, what they carry, and how far they let overlaps open."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..constraints import PlaneConstraints, RigidConstraints
from ..constraints.plane import floors
from ..constraints.rigid_contacts import ContactPasses
from ..kernels import Kernels
from .candidates import Candidates, no_candidates

RELAXATIONS = (1.3, 1.0)
"""Over-relaxation of the first Jacobi passes of a substep; the last is exact where a contact is alone."""

MAX_PASSES = 16
"""Most passes, while a gap is short by more than `GAP_TOLERANCE`."""

GAP_TOLERANCE = 0.1
"""Share of the distance."""


class Contacts:
    """The active candidates of a substep, with planes of that substep.

    Attributes:
        number: Their numbers among the candidates that they were found in, (m,) int.
        particles, weights, normals, inverse_masses: As `kernels.protocol.closest` has them.
        min_distance: Distance to keep, (m,) [m].
        gap_before: Gap along the normal before the substep, (m,) [m].
        depenetration: How far an overlap that was there before may open, (m,) [m].
        target_gap: Gap to reach, (m,) [m].
        approach: Change of the gap by the predicted motion, (m,) [m].
        multipliers: Lagrange multipliers, (m,); earlier: those of earlier rounds of the substep, which friction counts.
        withheld: What they carry besides: the pull of springs at what is held, (m,) [kg m].
    """

    def __init__(self, candidates: Candidates, number: np.ndarray, *columns: np.ndarray) -> None:
        self._candidates, self.number = candidates, number
        self.particles, self.weights, self.normals, self.inverse_masses, self.min_distance, lengths = columns
        self.gap_before, self.depenetration, self.target_gap, self.approach = lengths
        self.multipliers, self.earlier, self.withheld = np.zeros((3, len(number)))

    @staticmethod
    def none() -> Contacts:
        """No contact at all."""
        four = np.zeros((4, 0))
        return Contacts(no_candidates(), np.zeros(0, int), np.zeros((4, 0), int), four, four[:3], four, four[0], four)

    @property
    def size(self) -> int:
        """Number of contacts."""
        return len(self.number)

    @property
    def pair(self) -> np.ndarray:
        """Number of the pair of surfaces of each, (m,) int."""
        return self._candidates.pair.take(self.number)

    def follow(self, before: Contacts) -> None:
        """Take over what was pushed in the rounds before; both are found among the same candidates."""
        if not self.size:
            return
        pushed = np.zeros(self._candidates.size)
        pushed[before.number] = before.pushes
        self.earlier = pushed.take(self.number)

    @property
    def pushes(self) -> np.ndarray:
        """Multipliers of this round of the substep or of the earlier ones, (m,)."""
        return np.maximum(self.multipliers, self.earlier)

    @property
    def pushing(self) -> np.ndarray:
        """Contacts with a positive multiplier, in this round of the substep or an earlier one, (k,) int."""
        return np.flatnonzero(self.pushes > 0.0)

    def push(
        self,
        kernels: Kernels,
        p: np.ndarray,
        x: np.ndarray,
        planes: Sequence[PlaneConstraints],
        rigid: RigidConstraints,
    ) -> None:
        """Project the contacts, and planes after each pass, in p; x: positions before the substep, (3, N) [m]."""
        enough = self.target_gap - GAP_TOLERANCE * self.min_distance
        if rigid.active:
            self._push_pieces(kernels, p, x, planes, rigid, enough)
            return
        floor = floors(planes, x)
        kernels.project_contacts(
            p, self.particles, self.weights, self.normals, self.inverse_masses, self.target_gap, enough,
            np.array(RELAXATIONS), MAX_PASSES, self.multipliers, *floor,
        )  # fmt: skip
        for plane, pushed in zip(planes, floor[2]):
            plane.take_pushes(pushed)

    def _push_pieces(
        self,
        kernels: Kernels,
        p: np.ndarray,
        x: np.ndarray,
        planes: Sequence[PlaneConstraints],
        rigid: RigidConstraints,
        enough: np.ndarray,
    ) -> None:
        """As `push`, where there are rigid pieces, until all gaps are `enough`, (m,) [m]."""
        passes = self.passes(rigid, p)
        for number in range(MAX_PASSES):
            relaxation = RELAXATIONS[min(number, len(RELAXATIONS) - 1)]
            passes.project(kernels, p, self.target_gap, relaxation, self.multipliers)
            for plane in planes:
                passes.place(p)
                plane.project(kernels, p, x)
                passes.follow(p)
            if number + 1 >= len(RELAXATIONS) and (passes.gaps(kernels, p) >= enough).all():
                break
        passes.place(p)

    def passes(self, rigid: RigidConstraints, q: np.ndarray, which: np.ndarray | None = None) -> ContactPasses:
        """Jacobi passes over the contacts, or some of them (k,) int, in which rigid pieces have their shapes at q."""
        columns = [self.particles, self.weights, self.normals, self.inverse_masses]
        if which is not None:
            columns = [column.take(which, axis=1) for column in columns]
        return ContactPasses(rigid, q, *columns)

    def gaps(self, kernels: Kernels, positions: np.ndarray) -> np.ndarray:
        """Gaps along the normals at positions (3, N), (m,) [m]."""
        return kernels.gaps(positions, self.particles, self.weights, self.normals)

    def pushed_one_way(self, kernels: Kernels, first: int, count: int) -> np.ndarray:
        """Of `count` particles, those that particles from `first` on push, all of them to one side, (count,) bool."""
        return kernels.pushed_one_way(self.particles, self.weights, self.normals, self.pushes, first, count)

    def withhold(self, kernels: Kernels, first: int, load: np.ndarray) -> None:
        """Let what pushes with particles from `first` on carry the load (3, N) [kg m] of the particles."""
        self.withheld += kernels.carried_loads(self.particles, self.weights, self.normals, self.pushes, first, load)

    def opened(
        self, kernels: Kernels, p: np.ndarray, x: np.ndarray, bounces: np.ndarray, rigid: RigidConstraints
    ) -> np.ndarray:
        """Positions x (3, N) moved by as much as overlaps have opened at p: to be no part of the velocity.

        bounces: pairs of surfaces with restitution, (pairs,) bool; they are left out. rigid: which particles are.
        """
        start = x.copy()
        opens = (self.multipliers > 0.0) & (self.depenetration > 0.0)
        if opens.any() and bounces.any():
            opens &= ~bounces[self.pair]
        some = np.flatnonzero(opens)
        if len(some):
            wider = np.clip(self.gaps(kernels, p) - self.gap_before, 0.0, self.depenetration)
            passes = self.passes(rigid, start, some)
            passes.project(kernels, start, (self.gap_before + wider)[some], 1.0, np.zeros(len(some)))
            passes.place(start)
        return start
