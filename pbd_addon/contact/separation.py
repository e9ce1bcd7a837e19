"""Separation: the last word of a substep, which lets nothing pass through anything.

Where a row's two sides are not seen to be apart, a plane is laid between them where they were before the substep, and
each of its particles stops on its way at that plane. A side that starts on its own side of a plane that stands still
and ends there has not crossed it in between, and a shorter way can only do the same: what was free of crossings stays
free of them. A collider does not stop. Its planes go with it, and so do the particles that they stop: their way is
measured from where it carries them.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from .rows import FACE, POINTS, Rows, clearance, closest

ROUNDS, LAST_ROUNDS = 12, 60
"""Rounds after which what must still stop does not move at all, and all rounds."""

LEAST = 0.02
"""Share of the distance that is left between a particle and the plane that stops it."""

GRAZE = 0.1
"""Share of the distance up to which colliders push particles ahead of them."""


def keep_separate(
    kernels: ModuleType, p: np.ndarray, x: np.ndarray, rows: Rows, near: np.ndarray, w: np.ndarray
) -> bool:
    """Shorten the ways x -> p (3, N) of particles that would make a row cross; in place.

    Args:
        kernels: Module of kernels.
        p: Positions after the substep, (3, N) [m]; changed.
        x: Positions before it, (3, N) [m], free of crossings.
        rows: All rows that can come into contact in this substep.
        near: Those of them that are not known to be apart at p, (k,) int.
        w: Inverse masses, (N,); colliders have 0.

    Returns:
        Whether all is separate: colliders that turn, or that squeeze cloth between them, can leave it no place.
    """
    done = rows.solid | (rows.kind == POINTS)
    base, carried = x.copy(), np.zeros(x.shape[1], bool)
    separate = True
    todo = near[~done[near]]
    for number in range(LAST_ROUNDS):
        some = rows.chosen(todo)
        apart = clearance(kernels.heights(p, some.particles, some.normals), some.kind) > 0.0
        apart &= clearance(kernels.heights(x, some.particles, some.normals), some.kind) > 0.0
        doubtful = todo[~apart]
        if not len(doubtful):
            break
        done[doubtful] = True
        some = rows.chosen(doubtful)
        before = p.copy()
        separate &= _stop(kernels, p, x, base, carried, some, w)
        if number >= ROUNDS:
            ids = np.unique(some.particles)
            ids = ids[w[ids] > 0.0]
            p[:, ids] = base[:, ids]
        # Whoever stops may now be in the way of others.
        changed = (p != before).any(axis=0)
        todo = np.flatnonzero(changed.take(rows.particles).any(axis=0) & ~done)
    return separate


def _stop(
    kernels: ModuleType, p: np.ndarray, x: np.ndarray, base: np.ndarray, carried: np.ndarray, rows: Rows, w: np.ndarray
) -> bool:
    """Lay planes between the sides of rows at x and stop particles there; whether all had a place to stop.

    base (3, N): where the way of each particle is measured from; carried (N,): which of them a collider has moved.
    """
    q = x.take(rows.particles, axis=1)
    share = closest(kernels, q, rows.kind)
    gap, normals = kernels.separation(q, share)
    before = np.einsum("ijm,im->jm", q, normals)
    after = kernels.heights(p, rows.particles, normals)
    first = np.ones((4, rows.size), bool)
    first[1] = rows.kind != FACE
    first[2:] = False
    low, high = np.where(first, before, np.inf).min(axis=0), np.where(first, -np.inf, before).max(axis=0)
    fall = np.maximum(low - np.where(first, after, np.inf).min(axis=0), 0.0)
    rise = np.maximum(np.where(first, -np.inf, after).max(axis=0) - high, 0.0)
    # The faster side gets more of the gap.
    plane = high + gap * (rise / np.maximum(fall + rise, 1e-300)).clip(0.1, 0.9)
    sign = np.where(first, 1.0, -1.0)
    least = LEAST * rows.distance

    free = w.take(rows.particles) > 0.0
    led = np.flatnonzero(~free.any(axis=0, where=first) | ~free.any(axis=0, where=~first))
    if len(led):
        second_led = ~free[:, led].any(axis=0, where=~first[:, led])
        room = np.minimum(least[led], 0.5 * gap[led])
        plane[led] = np.where(second_led, high[led] + room, low[led] - room)
        theirs = np.abs(share[:, led]) * ~free[:, led]
        way = p.take(rows.particles[:, led], axis=1) - q[:, :, led]
        carry = np.einsum("ijm,jm->im", way, theirs) / np.maximum(theirs.sum(axis=0), 1e-300)
        ahead = np.where(second_led, 0.5, -0.5) * np.maximum(GRAZE * rows.distance[led] - gap[led], 0.0)
        plane[led] += np.einsum("im,im->m", normals[:, led], carry)
        carry += ahead * normals[:, led]
        _carry(base, carried, x, rows.particles[:, led], free[:, led], carry)

    start = kernels.heights(base, rows.particles, normals)
    room, left = sign * (start - plane), sign * (after - plane)
    homeless = bool(((room < 0.0) & (left < 0.0) & free).any())
    least = np.minimum(room, least)
    over = (left < least) & free & (gap > 0.0)
    if not over.any():
        return not homeless
    way = np.ones(p.shape[1])
    share_of_way = ((room - least) / np.maximum(room - left, 1e-300)).clip(0.0, 1.0)
    np.minimum.at(way, rows.particles[over], share_of_way[over])
    stopped = np.flatnonzero(way < 1.0)
    p[:, stopped] = base[:, stopped] + way[stopped] * (p[:, stopped] - base[:, stopped])
    return not homeless


def _carry(
    base: np.ndarray, carried: np.ndarray, x: np.ndarray, particles: np.ndarray, free: np.ndarray, carry: np.ndarray
) -> None:
    """Move the bases of free particles by the mean way of the colliders that lead their rows, (3, m), once."""
    flat, weight = particles.ravel(), (free & ~carried.take(particles)).ravel().astype(float)
    count = np.bincount(flat, weight, x.shape[1])
    new = np.flatnonzero(count)
    for axis in range(3):
        moves = np.bincount(flat, weight * np.tile(carry[axis], 4), x.shape[1])
        base[axis, new] = x[axis, new] + moves[new] / count[new]
    carried[new] = True
