"""Contacts of rigid pieces: whoever pushes one of their particles meets the whole piece.

A contact at the arm r along n meets the inverse mass 1 / M + (r x n) . I^-1 (r x n). In a Jacobi pass all contacts of
a piece share its mass (mass splitting, Tonge et al. 2012); what they push adds up to an impulse and a turn of it. The
kernels are those of cloth: they see a piece as one particle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from .rigid import RigidConstraints, cross, inverse_inertia, limited, turned

RIGID_PASSES = 8
"""Most Jacobi passes over contacts of rigid pieces: a box on its face takes a third of the slip in each."""

FRICTION_TOLERANCE = 1e-2
"""Share of the largest friction of a contact by which a last pass may change any."""


NO_PLANES = np.zeros((0, 3)), np.zeros((0, 0)), np.zeros((0, 0))
"""For passes over contacts alone."""


class _Side(NamedTuple):
    """The sides of contacts, first or second ones, that are rigid.

    Attributes:
        rows: Their numbers among those with any rigid side, (k,) int; piece: of each, (k,) int.
        own: Which of the four particles are of that side, (4, k) bool.
        sign: 1 for first sides, -1 for second ones, (k,).
        arm: From the center of the piece, (3, k) [m].
        gradients: Of the gap, by a shift and a turn of the piece, (6, k).
    """

    rows: np.ndarray
    piece: np.ndarray
    own: np.ndarray
    sign: np.ndarray
    arm: np.ndarray
    gradients: np.ndarray


class ContactPasses:
    """Jacobi passes over contacts (4, m), as of `kernels.project_contacts`, with rigid pieces among the particles.

    A piece is where `_motion` takes it from its pose at the beginning.

    Args:
        rigid: Which particles are rigid.
        q: Positions, (3, N) [m], in which the pieces have their shapes.
        particles, weights, normals, inverse_masses: As for the kernels.
    """

    def __init__(
        self,
        rigid: RigidConstraints,
        q: np.ndarray,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        inverse_masses: np.ndarray,
    ) -> None:
        self.rigid, self._particles, self._weights, self._normals = rigid, particles, weights, normals
        self._inverse_masses = inverse_masses
        self.some = np.zeros(0, int)
        if rigid.active:
            is_body = particles < len(rigid.number)  # those of colliders come behind
            pieces = np.where(is_body, rigid.number.take(np.where(is_body, particles, 0)), -1)
            self.some = np.flatnonzero((pieces >= 0).any(axis=0))
        if len(self.some):
            self._prepare(q, pieces.take(self.some, axis=1))

    def _prepare(self, q: np.ndarray, pieces: np.ndarray) -> None:
        """Note the pose of the pieces at q, and the sides of contacts that are theirs."""
        rigid = self.rigid
        self._pieces, self._is_rigid = pieces, pieces >= 0
        self._center, self._arms = rigid.about_centers(q)
        self._inverse_inertia = inverse_inertia(rigid.inertia(self._arms))
        self._motion = np.zeros((6, len(rigid.mass)))
        particles, weights = (each.take(self.some, axis=1) for each in (self._particles, self._weights))
        firsts = np.where(self._is_rigid, rigid.firsts[pieces], particles)
        self._ids = self._particles.copy()
        self._ids[:, self.some] = firsts
        self._first_places = q.take(rigid.firsts, axis=1)
        self._along = self._normals.take(self.some, axis=1)
        offsets = q.take(particles, axis=1) - q.take(firsts, axis=1)
        self._offset = np.einsum("jm,ijm,im->m", weights, offsets, self._along)
        self._shift = self._offset
        self._sides = []
        for end in (0, 3) if (pieces[0] != pieces[3]).any() else (0,):
            rows = np.flatnonzero(self._is_rigid[end])
            piece, own = pieces[end, rows], pieces[:, rows] == pieces[end, rows]
            share = weights[:, rows] * own  # 1 in sum on the first side, -1 on the second
            places = q.take(particles[:, rows], axis=1)
            arm = np.einsum("jm,ijm->im", np.abs(share), places) - self._center.take(piece, axis=1)
            along = share.sum(axis=0) * self._along.take(rows, axis=1)
            gradients = np.concatenate([along, cross(arm, along)])
            self._sides.append(_Side(rows, piece, own, share.sum(axis=0), arm, gradients))
        self._masses_along = self._masses_of_sides(across=False)

    def project(
        self, kernels: Kernels, q: np.ndarray, target_gap: np.ndarray, relaxation: float, multipliers: np.ndarray
    ) -> None:
        """One pass of `kernels.project_contacts`, in place, but for the particles of pieces: `place` follows."""
        once = np.array([relaxation]), 1, multipliers, *NO_PLANES
        if not len(self.some):
            kernels.project_contacts(
                q, self._particles, self._weights, self._normals, self._inverse_masses, target_gap, target_gap, *once
            )
            return
        target_gap, before = target_gap.copy(), multipliers[self.some]
        target_gap[self.some] -= self._shift
        q[:, self.rigid.firsts] = self._first_places
        kernels.project_contacts(
            q, self._ids, self._weights, self._normals, self._masses_along, target_gap, target_gap, *once
        )
        q[:, self.rigid.firsts] = self._first_places
        pushed = multipliers[self.some] - before
        self._push([(side.piece, side.gradients * pushed.take(side.rows)) for side in self._sides])

    def gaps(self, kernels: Kernels, q: np.ndarray) -> np.ndarray:
        """Gaps along the normals after a pass, (m,) [m]."""
        ids = self._ids if len(self.some) else self._particles
        if len(self.some):
            q[:, self.rigid.firsts] = self._first_places
        gaps = kernels.gaps(q, ids, self._weights, self._normals)
        if len(self.some):
            gaps[self.some] += self._shift
        return gaps

    def apply_friction(
        self,
        kernels: Kernels,
        p: np.ndarray,
        x: np.ndarray,
        static: np.ndarray,
        sliding: np.ndarray,
        multipliers: np.ndarray,
        count: int,
    ) -> None:
        """`count` passes of `kernels.apply_contact_friction`, in place; with rigid pieces as many as they need."""
        tangential = np.zeros((3, len(multipliers)))
        inverse_masses = self._masses_across() if len(self.some) else self._inverse_masses
        rows = self._particles, self._weights, self._normals, inverse_masses, static, sliding, multipliers
        if not len(self.some):
            kernels.apply_contact_friction(p, x, *rows, count, tangential)
            return
        for _ in range(RIGID_PASSES):
            before = tangential.copy()
            kernels.apply_contact_friction(p, x, *rows, 1, tangential)
            self._rub(p, (tangential - before)[:, self.some])
            if np.abs(tangential - before).max() <= FRICTION_TOLERANCE * (static * multipliers).max():
                break

    def _rub(self, p: np.ndarray, rubbed: np.ndarray) -> None:
        """Let friction (3, k) [kg m] on the first sides of the contacts move the pieces, in p (3, N), in place."""
        pushes = []
        for side in self._sides:
            push = side.sign * rubbed.take(side.rows, axis=1)
            pushes.append((side.piece, np.concatenate([push, cross(side.arm, push)])))
        self._push(pushes)
        self.place(p)

    def place(self, q: np.ndarray) -> None:
        """Put the particles of pieces where the passes have taken these, in q (3, N), in place."""
        if len(self.some):
            arms = turned(self._arms, limited(self._motion[3:]), self.rigid.piece)
            self._placed = (self._center + self._motion[:3]).take(self.rigid.piece, axis=1) + arms
            q[:, self.rigid.particles] = self._placed

    def follow(self, q: np.ndarray) -> None:
        """Go on from positions q (3, N), to which something else has moved pieces since they were placed."""
        if len(self.some) and not np.array_equal(self._placed, q.take(self.rigid.particles, axis=1)):
            self._prepare(q, self._pieces)

    def _push(self, pushes: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        """Let impulses [kg m] and their moments [kg m²] (6, k) move the pieces (k,) that they act on."""
        count = len(self.rigid.mass)
        for piece, push in pushes:
            flat = (np.arange(6)[:, None] * count + piece).ravel()
            sums = np.bincount(flat, push.ravel(), 6 * count).reshape(6, count)
            self._motion[:3] += sums[:3] / self.rigid.mass
            self._motion[3:] += np.einsum("bij,jb->ib", self._inverse_inertia, sums[3:])
        self._shift = self._offset.copy()
        for side in self._sides:
            moved = side.gradients * self._motion.take(side.piece, axis=1)
            self._shift[side.rows] += moved.sum(axis=0)

    def _masses_across(self) -> np.ndarray:
        """Inverse masses (4, m) across the normals, for kernels that see each particle by itself.

        They divide by the contacts of a particle, where they should by those of its piece.
        """
        sizes, count = np.abs(self._weights.take(self.some, axis=1)), len(self.rigid.mass)
        ids = self._particles.take(self.some, axis=1)
        _, number = np.unique(ids, return_inverse=True)
        of_particles = np.bincount(number.ravel(), sizes.ravel())[number.reshape(ids.shape)]
        pieces = np.where(self._is_rigid, self._pieces, count)
        of_pieces = np.bincount(pieces.ravel(), sizes.ravel(), count + 1)[pieces]
        shares = np.where(self._is_rigid & (of_particles > 0.0), of_pieces / np.maximum(of_particles, 1e-300), 1.0)
        found = self._masses_of_sides(across=True)
        found[:, self.some] *= shares
        return found

    def _masses_of_sides(self, across: bool) -> np.ndarray:
        """Inverse masses (4, m), of rigid particles that of their side along the normals, or the largest across."""
        found = self._inverse_masses.copy()
        for side in self._sides:
            inverse, arm = self._inverse_inertia.take(side.piece, axis=0), side.arm
            turning = side.gradients[3:]
            about = np.einsum("im,mij,jm->m", turning, inverse, turning)
            if across:
                most = np.einsum("im,im->m", arm, arm) * np.trace(inverse, axis1=1, axis2=2)
                about = most - np.einsum("im,mij,jm->m", arm, inverse, arm) - about
            at = self.some[side.rows]
            found[:, at] = np.where(side.own, 1.0 / self.rigid.mass[side.piece] + about, found[:, at])
        return found
