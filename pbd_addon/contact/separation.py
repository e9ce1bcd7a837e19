"""Separation: the last word of a substep, which lets nothing pass through anything.

Every particle has a base, which is where it can always go. It is where the particle was before the substep, or, if a
collider that moves leads it, where that carries it. In their bases the particles do not cross. Where a row's two sides
are not seen to be apart, a plane is laid between their bases, and each of its particles stops on its way from the base
at that plane. A side that starts on its own side of a plane that stands still and ends there has not crossed it in
between, and a shorter way can only do the same: what was free of crossings stays free of them.

Whom a carried particle would meet in its base is carried as well. All that one affine motion carries keeps its order,
so that cloth that is squeezed between the parts of one body that turns always has a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ..kernels import FACE, POINTS
from .rows import Rows

ROUNDS, LAST_ROUNDS = 12, 60
"""Rounds after which what must still stop does not move at all, and all rounds."""

LEAST = 0.02
"""Share of the distance that is left between a particle and the plane that stops it."""

EXACT = 1e-3
"""Share of the distance up to which a collider may differ from an affine motion that is said to be its own."""

FLAT = 1e-9
"""A collider is flat below this squared share of its width."""

ALONG = 0.98
"""Cosine of the most that the plane of a row may turn while its particles are carried in different ways."""

OTHER = -1
"""Number of no frame: what moves in its own way."""


class Frames(NamedTuple):
    """Which particles move together in a substep.

    Attributes:
        number: Frame of each particle, (N,) int: 0 stands still, `OTHER` moves in its own way.
        turns: Gradient of the displacement in each frame, (k, 3, 3); that of frame 0 is 0.
    """

    number: np.ndarray
    turns: np.ndarray


def frames(p: np.ndarray, x: np.ndarray, w: np.ndarray, parts: Sequence[slice], distance: float) -> Frames:
    """Find the affine motions of colliders, by least squares; those that move as one share a frame.

    Args:
        p: Positions after the substep, (3, N) [m].
        x: Positions before it, (3, N) [m].
        w: Inverse masses, (N,); colliders have 0.
        parts: Particles of each collider that moves.
        distance: Least distance that is kept [m].
    """
    number = np.where((w > 0.0) | (p == x).all(axis=0), 0, OTHER)
    motions: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    for part in parts:
        here, way = x[:, part], p[:, part] - x[:, part]
        middle, drift = here.mean(axis=1, keepdims=True), way.mean(axis=1, keepdims=True)
        off = here - middle
        # A flat collider is not turned across its plane: the least turn that fits is as good.
        motions.append((middle, drift, way @ off.T @ np.linalg.pinv(off @ off.T, rcond=FLAT, hermitian=True)))
        for k, (middle, drift, turn) in enumerate(motions):
            if np.abs(drift + turn @ (here - middle) - way).max() < EXACT * distance:
                number[part] = k + 1
                break
    return Frames(number, np.array([np.zeros((3, 3)), *(turn for _, _, turn in motions)]))


def keep_separate(
    kernels: ModuleType, p: np.ndarray, x: np.ndarray, rows: Rows, near: np.ndarray, w: np.ndarray, moving: Frames
) -> bool:
    """Shorten the ways x -> p (3, N) of particles that would make a row cross; in place.

    Args:
        kernels: Module of kernels.
        p: Positions after the substep, (3, N) [m]; changed.
        x: Positions before it, (3, N) [m], free of crossings.
        rows: All rows that can come into contact in this substep.
        near: Those of them that are not known to be apart at p, (k,) int.
        w: Inverse masses, (N,); colliders have 0.
        moving: Which colliders move together.

    Returns:
        Whether all is separate: colliders that squeeze cloth between them can leave it no place.
    """
    never = rows.solid | (rows.kind == POINTS)
    done, bases = never.copy(), _Bases(p, x, w, moving)
    separate = True
    todo = near[~done[near]]
    for number in range(LAST_ROUNDS):
        doubtful = _doubtful(kernels, p, x, rows, todo)
        if not len(doubtful):
            return separate
        while (carried := bases.carry(kernels, rows.chosen(doubtful))).any():
            # Planes for the way from another base say nothing.
            again = carried.take(rows.particles).any(axis=0) & ~never
            done[again] = False
            again[doubtful] = True
            doubtful = _doubtful(kernels, p, x, rows, np.flatnonzero(again))
        done[doubtful] = True
        some = rows.chosen(doubtful)
        before = p.copy()
        separate &= bases.stop(kernels, p, some)
        if number >= ROUNDS:
            ids = np.unique(some.particles)
            p[:, ids] = bases.positions[:, ids]
        # Whoever stops may now be in the way of others.
        changed = (p != before).any(axis=0)
        todo = np.flatnonzero(changed.take(rows.particles).any(axis=0) & ~done)
    return False


def _doubtful(kernels: ModuleType, p: np.ndarray, x: np.ndarray, rows: Rows, which: np.ndarray) -> np.ndarray:
    """Those of the rows `which` (k,) whose sides are not seen to be apart on the ways x -> p, (j,) int."""
    some = rows.chosen(which)
    apart = kernels.clearances(p, some.particles, some.normals, some.kind) > 0.0
    apart &= kernels.clearances(x, some.particles, some.normals, some.kind) > 0.0
    return which[~apart]


class _Bases:
    """Where particles can always go; arguments as in `keep_separate`.

    Attributes:
        positions: The bases, (3, N) [m].
    """

    def __init__(self, p: np.ndarray, x: np.ndarray, w: np.ndarray, moving: Frames) -> None:
        self._x, self._free = x, w > 0.0
        self.positions = np.where(self._free, x, p)
        self._frame, self._turns = moving.number.copy(), moving.turns
        self._late = self._free.copy()  # not carried yet

    def carry(self, kernels: ModuleType, rows: Rows) -> np.ndarray:
        """Move the bases of those that colliders lead in rows, or else of those that carried ones would cross; once.

        Returns:
            Whose bases have been moved now, (N,) bool.
        """
        carried = np.zeros(len(self._late), bool)
        uneven = (self._frame.take(rows.particles) != 0).any(axis=0) & self._late.take(rows.particles).any(axis=0)
        if not uneven.any():
            return carried
        free, moves, first = self._free.take(rows.particles), self._frame.take(rows.particles) != 0, _first(rows)
        led = ~free.any(axis=0, where=first) | ~free.any(axis=0, where=~first)
        leading, moved = ~free & led, (moves & ~free & led).any(axis=0)
        if not (self._late.take(rows.particles) & moved).any():
            crossed = np.flatnonzero(uneven & ~led)
            crossed = crossed[self._planes(kernels, rows.chosen(crossed))[1] <= 0.0]
            moved[:] = False
            moved[crossed] = True
            leading = moves & moved
        carried[rows.particles[:, moved]] = True
        carried &= self._late
        # What stands still and leads has a say too.
        at_work = np.flatnonzero(leading.any(axis=0) & carried.take(rows.particles).any(axis=0))
        self._move(carried, rows.chosen(at_work), leading[:, at_work])
        self._late &= ~carried
        return carried

    def _move(self, carried: np.ndarray, rows: Rows, leading: np.ndarray) -> None:
        """Move the bases of particles, (N,) bool, as those that lead their rows go, (4, m) bool: the mean of rows."""
        ids = rows.particles
        led = carried.take(ids)
        weight = (np.abs(rows.share) + 1e-9) * leading
        weight /= weight.sum(axis=0)
        frame = self._frame.take(ids)
        one = np.where(leading, frame, OTHER).max(axis=0)
        one = np.where(((frame == one) | ~leading).all(axis=0), one, OTHER)
        q = self._x.take(ids, axis=1)
        way = np.einsum("ijm,jm->im", self.positions.take(ids, axis=1) - q, weight)
        off = q - np.einsum("ijm,jm->im", q, weight)[:, None]
        ways = way[:, None] + np.einsum("mik,kjm->ijm", self._turns[np.maximum(one, 0)], off)
        count = np.bincount(ids[led], minlength=len(carried))[carried]
        for axis in range(3):
            total = np.bincount(ids[led], ways[axis][led], len(carried))[carried]
            self.positions[axis, carried] = self._x[axis, carried] + total / count
        of, theirs = ids[led], np.broadcast_to(one, ids.shape)[led]
        self._frame[of] = theirs
        self._frame[of[self._frame[of] != theirs]] = OTHER

    def stop(self, kernels: ModuleType, p: np.ndarray, rows: Rows) -> bool:
        """Lay planes between the bases of the sides of rows and stop particles there; whether all had a place."""
        normals, gap = self._planes(kernels, rows)
        before = kernels.heights(self.positions, rows.particles, normals)
        after = kernels.heights(p, rows.particles, normals)
        first = _first(rows)
        low, high = np.where(first, before, np.inf).min(axis=0), np.where(first, -np.inf, before).max(axis=0)
        fall = np.maximum(low - np.where(first, after, np.inf).min(axis=0), 0.0)
        rise = np.maximum(np.where(first, -np.inf, after).max(axis=0) - high, 0.0)
        # The faster side gets more of the gap, and the one that leads no more than it needs.
        plane = high + (low - high) * (rise / np.maximum(fall + rise, 1e-300)).clip(0.1, 0.9)
        least = LEAST * rows.distance
        free = self._free.take(rows.particles)
        close = np.minimum(least, 0.5 * (low - high))
        plane = np.where(free.any(axis=0, where=~first), plane, high + close)
        plane = np.where(free.any(axis=0, where=first), plane, low - close)

        sign = np.where(first, 1.0, -1.0)
        room, left = sign * (before - plane), sign * (after - plane)
        least = np.minimum(room, least)
        over = (left < least) & free & (gap != 0.0)
        way = np.ones(p.shape[1])
        share_of_way = ((room - least) / np.maximum(room - left, 1e-300)).clip(0.0, 1.0)
        np.minimum.at(way, rows.particles[over], share_of_way[over])
        stopped = np.flatnonzero(way < 1.0)
        base = self.positions[:, stopped]
        p[:, stopped] = base + way[stopped] * (p[:, stopped] - base)
        return not ((room < 0.0) & (left < 0.0) & free).any()

    def _planes(self, kernels: ModuleType, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Normals of planes between the bases of the sides of rows, (3, m), and the gaps there, (m,) [m].

        A gap is below 0 where the sides are not known to have come there without crossing.
        """
        _, gap, normals = kernels.closest_points(self.positions, rows.particles, rows.kind)
        frame = self._frame.take(rows.particles)
        uneven = np.flatnonzero((frame != frame[0]).any(axis=0) | (frame[0] == OTHER))
        if len(uneven):
            some = rows.chosen(uneven)
            old = kernels.closest_points(self._x, some.particles, some.kind)[2]
            now = normals[:, uneven]
            now = np.where(np.einsum("im,im->m", old, now) < ALONG, old, now)
            normals[:, uneven] = now
            gap[uneven] = kernels.clearances(self.positions, some.particles, now, some.kind)
        return normals, gap


def _first(rows: Rows) -> np.ndarray:
    """Which particles of rows are of the first side, (4, m) bool."""
    first = np.ones((4, rows.size), bool)
    first[1] = rows.kind != FACE
    first[2:] = False
    return first
