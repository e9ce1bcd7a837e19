"""Narrow phase: the candidates that are too close, and the gaps that they are to reach in a substep."""

from __future__ import annotations

import numpy as np

from ..constraints import RigidConstraints
from ..constraints.rigid_contacts import ContactPasses
from ..kernels import Kernels
from .candidates import Candidates, no_candidates

OPENING_RATE = 0.25
"""Share of an overlap that opens in a substep, no faster than `DEPENETRATION_SPEED`: opened at once, it explodes."""

DEPENETRATION_SPEED = 0.5
"""Overlaps open no faster than this [m/s]."""


ROUNDING = 1e-6
"""Share of its distance by which a contact may be open and still count: one that was just projected touches, and
rounding must not decide whether friction knows of it."""


class NearSearch:
    """Which candidates may be closer than their distance, asked for again and again as particles move.

    Sides that are apart along any direction are at least that far apart, so that an old normal will do. A candidate
    that was farther apart than its distance is measured again only when particles can have come closer by the rest.
    """

    def __init__(self) -> None:
        self._candidates = no_candidates()
        self._distance, self._spare, self._before, self._closed = np.zeros(0), np.zeros(0), np.zeros((3, 0)), 0.0

    def find(self, kernels: Kernels, candidates: Candidates, p: np.ndarray) -> np.ndarray:
        """Candidates that may be closer than their distance at positions p (3, N), (k,) int."""
        closing = kernels.closing_motion(p, self._before) if candidates is self._candidates else np.inf
        if closing < np.inf:
            self._closed += closing
            self._before[:] = p
        else:
            self._candidates, self._distance = candidates, (1.0 + ROUNDING) * candidates.min_distance
            self._spare, self._before, self._closed = np.full(candidates.size, -np.inf), p.copy(), 0.0
        return kernels.near_candidates(
            p, candidates.particles, candidates.normals, candidates.kind, self._distance, self._spare, self._closed
        )


class Contacts:
    """The active candidates of a substep, with planes of that substep.

    Attributes:
        number: Their numbers among the candidates that they were found in, (m,) int.
        particles, weights, normals, inverse_masses: As `kernels.protocol.contact` has them.
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

    @staticmethod
    def find(
        kernels: Kernels,
        candidates: Candidates,
        near: np.ndarray,
        p: np.ndarray,
        x: np.ndarray,
        w: np.ndarray,
        h: float,
        is_stuck: np.ndarray,
    ) -> Contacts:
        """The contacts among candidates for the motion x -> p (3, N) of a substep of h seconds.

        near: Candidates that may be closer than their distance, (k,) int. w: inverse masses, (N,). is_stuck: Particles
        whose overlaps must not open, (N,) bool, or (0,) for none: beside an intersection, layers are held together by
        what goes through them, and to push would only stretch.
        """
        if not len(near):
            return Contacts.none()
        columns = kernels.find_contacts(
            p, x, w, near, candidates.particles, candidates.kind, candidates.weights, candidates.normals,
            candidates.min_distance, candidates.is_exit, is_stuck, 1.0 + ROUNDING, OPENING_RATE,
            DEPENETRATION_SPEED * h,
        )  # fmt: skip
        return Contacts(candidates, *columns)

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
        self.withheld += kernels.carried_loads(
            self.particles, self.weights, self.normals, self.pushes, first, load
        )  # fmt: skip

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
