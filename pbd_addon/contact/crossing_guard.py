"""Crossing guard: the last stage of a substep, which lets nothing pass through anything.

Every particle has a safe position, where it can always be: where it was before the substep or, if a moving collider
takes it along, where the collider's motion advects it. The safe positions do not cross. Where the two sides of a
candidate are not known to be apart, a plane is laid between their safe positions, and each of their particles is
clamped at that plane on its way from there. A side that starts and ends on its own side of a plane that stands still
has not crossed it in between, and a shorter way cannot either: what is free of crossings stays free of them.

This is the "divide and truncate" of planar offset methods (Offset Geometric Contact, Chen et al. 2025, sec. 3) instead
of a time of impact for each pair as in continuous collision detection (Provot 1997; Bridson et al. 2002), and it
replaces their rigid impact zones: it needs no root finding and always ends, but what it clamps is stretched.

Particles that an advected one would meet are advected as well. What one affine motion advects keeps its order, so that
cloth between the parts of one rotating body is never pinched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays.distinct import distinct
from ..kernels import FACE, POINTS, Kernels
from .candidates import Candidates

CLAMP_ROUNDS, MAX_ROUNDS = 12, 60
"""Rounds after which what must still be clamped does not move at all, and all rounds."""

CLEARANCE = 0.02
"""Share of the distance that is left between a particle and the plane that clamps it."""

AFFINE_TOLERANCE = 1e-3
"""Share of the distance by which a collider may differ from an affine motion that counts as its own."""

FLAT = 1e-9
"""Squared aspect ratio below which a collider is flat."""

PLANE_TURN = 0.98
"""Cosine of the most that a plane may turn while its particles are advected in different ways."""

UNGROUPED = -1
"""Number of no group: what moves in its own way."""


class RigidGroups(NamedTuple):
    """Which particles move together in a substep.

    Attributes:
        number: Group of each particle, (N,) int: 0 stands still, `UNGROUPED` moves in its own way.
        displacement_gradients: Of each group, (k, 3, 3); that of group 0 is 0.
    """

    number: np.ndarray
    displacement_gradients: np.ndarray


def find_rigid_groups(
    p: np.ndarray, x: np.ndarray, w: np.ndarray, parts: Sequence[slice | np.ndarray], distance: float
) -> RigidGroups:
    """Fit affine motions to moving colliders, by least squares; those with the same motion form a group.

    Args:
        p: Positions after the substep, (3, N) [m].
        x: Positions before it, (3, N) [m].
        w: Inverse masses, (N,); colliders have 0.
        parts: Particles of each collider that moves, and of each rigid piece.
        distance: Smallest kept distance [m].
    """
    number = np.where((w > 0.0) | (p == x).all(axis=0), 0, UNGROUPED)
    motions: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for part in parts:
        here, displacement = x[:, part], p[:, part] - x[:, part]
        center, drift = here.mean(axis=1, keepdims=True), displacement.mean(axis=1, keepdims=True)
        off = here - center
        # A flat collider is not turned across its plane: the least gradient that fits will do.
        gradient = displacement @ off.T @ np.linalg.pinv(off @ off.T, rcond=FLAT, hermitian=True)
        motions.append((center, drift, gradient))
        for k, (center, drift, gradient) in enumerate(motions):
            if np.abs(drift + gradient @ (here - center) - displacement).max() < AFFINE_TOLERANCE * distance:
                number[part] = k + 1
                break
    return RigidGroups(number, np.array([np.zeros((3, 3)), *(gradient for _, _, gradient in motions)]))


def guard_crossings(
    kernels: Kernels,
    p: np.ndarray,
    x: np.ndarray,
    candidates: Candidates,
    near: np.ndarray,
    w: np.ndarray,
    groups: RigidGroups,
    ignores_moving: np.ndarray,
) -> np.ndarray:
    """Shorten the displacements x -> p (3, N) of particles that would make a candidate cross; in place.

    Args:
        kernels: Module of kernels.
        p: Positions after the substep, (3, N) [m]; changed.
        x: Positions before it, (3, N) [m], free of crossings.
        candidates: All pairs that can come into contact in this substep.
        near: Those of them that are not known to be apart at p, (k,) int.
        w: Inverse masses, (N,); colliders have 0.
        groups: Which colliders move together.
        ignores_moving: Particles that collide with no moving collider, (N,) bool.

    Returns:
        Particles that may cross something, (k,) int: where colliders pinch cloth, nothing can keep it from that.
    """
    never = candidates.is_exit | (candidates.kind == POINTS)
    done, safe = never.copy(), _SafePositions(p, x, w, groups, ignores_moving)
    may_cross, is_lost = np.zeros(p.shape[1], bool), np.zeros(candidates.size, bool)
    nothing_moves = not groups.number.any()
    todo = near[~done[near]]
    for number in range(MAX_ROUNDS):
        unresolved = _unresolved(kernels, p, x, candidates, todo, nothing_moves)
        if not len(unresolved):
            todo = unresolved  # all are known to be apart
            break
        while (advected := safe.advect(kernels, candidates.take(unresolved))).any():
            # Planes for the way from another safe position say nothing.
            again = advected.take(candidates.particles).any(axis=0) & ~never
            done[again] = False
            again[unresolved] = True
            unresolved = _unresolved(kernels, p, x, candidates, np.flatnonzero(again), nothing_moves)
        done[unresolved] = True
        some = candidates.take(unresolved)
        before = p.copy()
        found, is_lost[unresolved] = safe.clamp(kernels, p, some)
        may_cross[found] = True
        if number >= CLAMP_ROUNDS:
            ids = distinct(some.particles)
            p[:, ids] = safe.positions[:, ids]
        # Clamped particles may now be in the way of others.
        changed = (p != before).any(axis=0)
        todo = np.flatnonzero(changed.take(candidates.particles).any(axis=0) & ~done)
    lost = candidates.take(np.append(todo, np.flatnonzero(is_lost)))
    planes = kernels.closest_points(x, lost.particles, lost.kind)[2]
    crossed = kernels.clearances(p, lost.particles, planes, lost.kind) <= 0.0
    may_cross[lost.particles[:, crossed]] = True
    return np.flatnonzero(may_cross & (w > 0.0))


def _unresolved(
    kernels: Kernels, p: np.ndarray, x: np.ndarray, candidates: Candidates, which: np.ndarray, nothing_moves: bool
) -> np.ndarray:
    """Those of the candidates `which` (k,) whose sides are not known to be apart on x -> p, (j,) int.

    Sides that are apart along one direction at both ends are so in between. It is the candidate's, which may be of some
    substeps ago, or, where no collider moves and takes anything along, that between the closest points at p.
    """
    for at_p in (False, True)[: 1 + nothing_moves]:
        some = candidates.take(which)
        along = kernels.closest_points(p, some.particles, some.kind)[2] if at_p else some.normals
        apart = kernels.clearances(p, some.particles, along, some.kind) > 0.0
        apart &= kernels.clearances(x, some.particles, along, some.kind) > 0.0
        which = which[~apart]
    return which


class _SafePositions:
    """Where particles can always be; arguments as in `guard_crossings`.

    Attributes:
        positions: (3, N) [m].
    """

    def __init__(
        self, p: np.ndarray, x: np.ndarray, w: np.ndarray, groups: RigidGroups, ignores_moving: np.ndarray
    ) -> None:
        self._x, self._free = x, w > 0.0
        self.positions = np.where(self._free, x, p)
        self._group, self._gradients = groups.number.copy(), groups.displacement_gradients
        self._can_advect = self._free & ~ignores_moving  # not advected yet

    def advect(self, kernels: Kernels, rows: Candidates) -> np.ndarray:
        """Move the safe positions of what colliders take along, or else of what advected ones would cross; once.

        Returns:
            Whose safe positions were moved by this call, (N,) bool.
        """
        advected = np.zeros(len(self._can_advect), bool)
        uneven = (self._group.take(rows.particles) != 0).any(axis=0) & self._can_advect.take(rows.particles).any(axis=0)
        if not uneven.any():
            return advected
        free, moves, first = self._free.take(rows.particles), self._group.take(rows.particles) != 0, _is_first(rows)
        has_collider_side = ~free.any(axis=0, where=first) | ~free.any(axis=0, where=~first)
        leading, moved = ~free & has_collider_side, (moves & ~free & has_collider_side).any(axis=0)
        if not (self._can_advect.take(rows.particles) & moved).any():
            crossed = np.flatnonzero(uneven & ~has_collider_side)
            crossed = crossed[self._planes(kernels, rows.take(crossed))[1] <= 0.0]
            moved[:] = False
            moved[crossed] = True
            leading = moves & moved
        advected[rows.particles[:, moved]] = True
        advected &= self._can_advect
        # Colliders that stand still have a say too.
        taking_part = np.flatnonzero(leading.any(axis=0) & advected.take(rows.particles).any(axis=0))
        self._move(advected, rows.take(taking_part), leading[:, taking_part])
        self._can_advect &= ~advected
        return advected

    def _move(self, advected: np.ndarray, rows: Candidates, leading: np.ndarray) -> None:
        """Move safe positions (N,) bool as the leading particles (4, m) bool of their rows move: the mean of rows."""
        ids = rows.particles
        is_advected = advected.take(ids)
        weight = (np.abs(rows.weights) + 1e-9) * leading
        weight /= weight.sum(axis=0)
        group = self._group.take(ids)
        one = np.where(leading, group, UNGROUPED).max(axis=0)
        one = np.where(((group == one) | ~leading).all(axis=0), one, UNGROUPED)
        q = self._x.take(ids, axis=1)
        displacement = np.einsum("ijm,jm->im", self.positions.take(ids, axis=1) - q, weight)
        off = q - np.einsum("ijm,jm->im", q, weight)[:, None]
        displacements = displacement[:, None] + np.einsum("mik,kjm->ijm", self._gradients[np.maximum(one, 0)], off)
        count = np.bincount(ids[is_advected], minlength=len(advected))[advected]
        for axis in range(3):
            total = np.bincount(ids[is_advected], displacements[axis][is_advected], len(advected))[advected]
            self.positions[axis, advected] = self._x[axis, advected] + total / count
        of, theirs = ids[is_advected], np.broadcast_to(one, ids.shape)[is_advected]
        self._group[of] = theirs
        self._group[of[self._group[of] != theirs]] = UNGROUPED

    def clamp(self, kernels: Kernels, p: np.ndarray, rows: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Lay planes between safe positions and clamp the particles of rows there.

        Returns:
            Particles that may cross something, (k,) int, and rows whose safe positions may have crossed, (m,) bool: the
            way to them is none into safety.
        """
        normals, gap = self._planes(kernels, rows)
        before = kernels.heights(self.positions, rows.particles, normals)
        after = kernels.heights(p, rows.particles, normals)
        first = _is_first(rows)
        low, high = np.where(first, before, np.inf).min(axis=0), np.where(first, -np.inf, before).max(axis=0)
        fall = np.maximum(low - np.where(first, after, np.inf).min(axis=0), 0.0)
        rise = np.maximum(np.where(first, -np.inf, after).max(axis=0) - high, 0.0)
        # The faster side gets more of the gap, and a collider no more than it needs.
        plane = high + (low - high) * (rise / np.maximum(fall + rise, 1e-300)).clip(0.1, 0.9)
        least = CLEARANCE * rows.min_distance
        free = self._free.take(rows.particles)
        close = np.minimum(least, 0.5 * (low - high))
        plane = np.where(free.any(axis=0, where=~first), plane, high + close)
        plane = np.where(free.any(axis=0, where=first), plane, low - close)

        sign = np.where(first, 1.0, -1.0)
        room, left = sign * (before - plane), sign * (after - plane)
        least = np.minimum(room, least)
        over = (left < least) & free & (gap != 0.0)
        fraction = np.ones(p.shape[1])
        to_plane = ((room - least) / np.maximum(room - left, 1e-300)).clip(0.0, 1.0)
        np.minimum.at(fraction, rows.particles[over], to_plane[over])
        clamped = np.flatnonzero(fraction < 1.0)
        start = self.positions[:, clamped]
        p[:, clamped] = start + fraction[clamped] * (p[:, clamped] - start)
        return np.asarray(rows.particles[(room < 0.0) & (left < 0.0) & free]), np.asarray(gap < 0.0)

    def _planes(self, kernels: Kernels, rows: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Normals of planes between the safe positions of rows, (3, m), and the gaps there, (m,) [m].

        A gap is below 0 where the sides are not known to have come there without crossing.
        """
        _, gap, normals = kernels.closest_points(self.positions, rows.particles, rows.kind)
        group = self._group.take(rows.particles)
        uneven = np.flatnonzero((group != group[0]).any(axis=0) | (group[0] == UNGROUPED))
        if len(uneven):
            some = rows.take(uneven)
            old = kernels.closest_points(self._x, some.particles, some.kind)[2]
            now = normals[:, uneven]
            now = np.where(np.einsum("im,im->m", old, now) < PLANE_TURN, old, now)
            normals[:, uneven] = now
            gap[uneven] = kernels.clearances(self.positions, some.particles, now, some.kind)
        return normals, gap


def _is_first(rows: Candidates) -> np.ndarray:
    """Which particles of rows belong to the first side, (4, m) bool."""
    first = np.ones((4, rows.size), bool)
    first[1] = rows.kind != FACE
    first[2:] = False
    return first
