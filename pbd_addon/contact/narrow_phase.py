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


def active(kernels: Kernels, candidates: Candidates, p: np.ndarray) -> np.ndarray:
    """Candidates that may be closer than their distance at positions p (3, N), (k,) int.

    Sides that are apart along any direction are at least that far apart, so that an old normal will do.
    """
    apart = kernels.clearances(p, candidates.particles, candidates.normals, candidates.kind)
    return np.flatnonzero(apart < (1.0 + ROUNDING) * candidates.min_distance)


class Contacts:
    """The active candidates of a substep, with planes of that substep.

    Attributes:
        rows: The candidates.
        number: Their numbers among those that they were found in, (m,) int.
        multipliers: Lagrange multipliers, (m,); earlier: those of earlier rounds of the substep, which friction counts.
        withheld: What they carry besides: the pull of springs at what is held, (m,) [kg m].
        gap_before: Gap along the normal before the substep, (m,) [m].
        depenetration: How far an overlap that was there before may open, (m,) [m].
        target_gap: Gap to reach, (m,) [m].
        approach: Change of the gap by the predicted motion, (m,) [m].
    """

    def __init__(self, rows: Candidates, number: np.ndarray) -> None:
        self.rows, self.number = rows, number
        self.multipliers, self.earlier, self.withheld = np.zeros((3, rows.size))
        self.gap_before = self.depenetration = self.target_gap = self.approach = np.zeros(rows.size)

    @staticmethod
    def none() -> Contacts:
        """No contact at all."""
        return Contacts(no_candidates(), np.zeros(0, int))

    @staticmethod
    def find(
        kernels: Kernels, candidates: Candidates, p: np.ndarray, x: np.ndarray, h: float, is_stuck: np.ndarray
    ) -> Contacts:
        """The contacts among candidates for the motion x -> p (3, N) of a substep of h seconds.

        is_stuck: Particles whose overlaps must not open, (N,) bool, or (0,) for none.
        """
        number = active(kernels, candidates, p)
        if not len(number):
            return Contacts.none()
        near = candidates.take(number)
        close, weights, normals = kernels.separating_planes(
            p, x, near.particles, near.kind, near.normals, (1.0 + ROUNDING) * near.min_distance, near.is_exit
        )
        rows = near.take(close)
        if rows.is_exit.any():  # these keep the way that they were given
            weights = np.where(rows.is_exit, rows.weights, weights)
            normals = np.where(rows.is_exit, rows.normals, normals)
        contacts = Contacts(rows._replace(weights=weights, normals=normals), number[close])
        rows = contacts.rows
        contacts.gap_before = contacts.gaps(kernels, x)
        overlap = np.maximum(rows.min_distance - contacts.gap_before, 0.0)
        contacts.depenetration = np.minimum(OPENING_RATE * overlap, DEPENETRATION_SPEED * h)
        if is_stuck.any():
            # Beside an intersection, layers are held together by what goes through them: to push would only stretch.
            contacts.depenetration[is_stuck.take(rows.particles).any(axis=0)] = 0.0
        contacts.target_gap = rows.min_distance - overlap + contacts.depenetration
        contacts.approach = contacts.gaps(kernels, p) - contacts.gap_before
        return contacts

    def follow(self, before: Contacts, count: int) -> None:
        """Take over what was pushed in the rounds before; both are found among the same `count` candidates."""
        pushed = np.zeros(count)
        pushed[before.number] = np.maximum(before.multipliers, before.earlier)
        self.earlier = pushed.take(self.number)

    @property
    def pushing(self) -> np.ndarray:
        """Contacts with a positive multiplier, in this round of the substep or an earlier one, (k,) int."""
        return np.flatnonzero(np.maximum(self.multipliers, self.earlier) > 0.0)

    def gaps(self, kernels: Kernels, positions: np.ndarray) -> np.ndarray:
        """Gaps along the normals at positions (3, N), (m,) [m]."""
        rows = self.rows
        return np.einsum("jm,jm->m", rows.weights, kernels.heights(positions, rows.particles, rows.normals))

    def pushed_one_way(self, first: int, count: int) -> np.ndarray:
        """Of `count` particles, those that particles from `first` on push, all of them to one side, (count,) bool.

        Unit normals without an obtuse angle among them have a sum whose square is at least their number. What is
        pushed from both sides is pinched.
        """
        rows = self.rows.take(self.pushing)
        rows = rows.take(np.flatnonzero((rows.particles >= first).any(axis=0)))
        ids = rows.particles.ravel()
        normals = np.sign(rows.weights) * rows.normals[:, None]
        sums = np.stack([np.bincount(ids, along.ravel(), count) for along in normals])
        contacts = np.bincount(ids, minlength=count)
        return np.asarray((contacts > 0) & (np.einsum("im,im->m", sums, sums) >= (1.0 - 1e-9) * contacts))

    def opened(
        self,
        kernels: Kernels,
        p: np.ndarray,
        x: np.ndarray,
        w: np.ndarray,
        bounces: np.ndarray,
        rigid: RigidConstraints,
    ) -> np.ndarray:
        """Positions x (3, N) moved by as much as overlaps have opened at p: to be no part of the velocity.

        w: inverse masses (N,). bounces: pairs of surfaces with restitution, (pairs,) bool; they are left out. rigid:
        which particles are.
        """
        start = x.copy()
        some = np.flatnonzero((self.multipliers > 0.0) & (self.depenetration > 0.0) & ~bounces[self.rows.pair])
        if len(some):
            rows = self.rows.take(some)
            wider = np.clip(self.gaps(kernels, p) - self.gap_before, 0.0, self.depenetration)[some]
            passes = ContactPasses(rigid, start, rows.particles, rows.weights, rows.normals, w.take(rows.particles))
            passes.project(kernels, start, self.gap_before[some] + wider, 1.0, np.zeros(rows.size))
            passes.place(start)
        return start
