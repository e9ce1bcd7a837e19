"""Rounds of the crossing guard: what it clamps can cross other things in turn, and colliders pass pinched cloth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import FACE, Kernels
from .candidate_list import CandidateList
from .candidates import Candidates, concatenate
from .crossing_guard import RigidGroups, find_rigid_groups, guard_crossings
from .narrow_phase import NearSearch

MAX_GUARD_ROUNDS = 4
"""Rounds of clamping and querying again, since clamped particles leave their motion bounds."""

MAX_LAYERS = 20
"""Rounds in which pinched cloth stops colliding with moving colliders, layer by layer from the one that stands."""

ROUNDING = 1e-6
"""Share of the guard margin by which particles may be outside of a box around their motion."""


def guard(
    kernels: Kernels,
    candidate_list: CandidateList,
    near_search: NearSearch,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    pieces: Sequence[np.ndarray],
    keeps_unresolved: bool,
) -> bool:
    """Keep everything from crossing, in place.

    Only moving colliders may pass through cloth, and only where it is pinched and `keeps_unresolved`; such cloth still
    crosses neither cloth nor what stands still.

    Args:
        kernels: Module of kernels.
        candidate_list: The candidates, updated.
        near_search: Which of them may be near.
        p: Positions after the substep, (3, N) [m]; changed.
        x: Positions before it, (3, N) [m], free of crossings.
        w: Inverse masses, (N,); colliders and rigid pieces have 0.
        pieces: Particles of each rigid piece, (k,) int each.
        keeps_unresolved: Whether the substep is kept even if something crosses; otherwise it is repeated in halves.

    Returns:
        Whether nothing crosses, and no collider had to pass.
    """
    start, moves = p.copy(), np.zeros(p.shape[1], bool)
    parts: list[slice | np.ndarray] = [*candidate_list.moving_parts, *pieces]
    for part in parts:
        moves[part] = True
    groups = find_rigid_groups(p, x, w, parts, candidate_list.least_distance)
    ignores_moving = np.zeros_like(moves)
    for number in range(MAX_LAYERS):
        may_cross = _clamp(
            kernels, candidate_list, near_search, p, x, w, groups, ignores_moving, moves, keeps_unresolved
        )
        if not may_cross.any():
            return number == 0
        if not keeps_unresolved or not moves.any() or ignores_moving[may_cross].all():
            break
        ignores_moving |= may_cross
        p[:] = start
    return False


def hold_back(
    kernels: Kernels,
    candidate_list: CandidateList,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    first: np.ndarray,
) -> np.ndarray:
    """Shorten displacements x -> p (3, N) of particles that become one so that they cross nothing, in place.

    first: particle that stands for each, (N,) int; what shares one then does not meet. The others are as in `guard`,
    but no collider moves. Returns what was held back, or may cross something, (N,) bool.
    """
    before, nothing = p.copy(), np.zeros(p.shape[1], bool)
    still = RigidGroups(np.zeros(p.shape[1], int), np.zeros((1, 3, 3)))
    may_cross = _clamp(kernels, candidate_list, NearSearch(), p, x, w, still, nothing, nothing, True, first)
    return np.asarray(may_cross | (p != before).any(axis=0))


def _clamp(
    kernels: Kernels,
    candidate_list: CandidateList,
    near_search: NearSearch,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    groups: RigidGroups,
    ignores_moving: np.ndarray,
    moves: np.ndarray,
    keeps_unresolved: bool,
    first: np.ndarray | None = None,
) -> np.ndarray:
    """Clamp what would cross, then query what the clamped particles can cross in turn, until nothing does.

    groups: which colliders move together. ignores_moving: particles that collide with no moving collider, (N,) bool.
    moves: particles of colliders that move, (N,) bool. first: as in `hold_back`. The others are as in `guard`. Returns
    which may cross something, (N,) bool.
    """

    def counting(candidates: Candidates) -> Candidates:
        if first is not None:
            ids = first.take(candidates.particles)
            same = (ids[:1] == ids[2:]).any(axis=0)
            same |= np.where(candidates.kind == FACE, ids[0] == ids[1], (ids[1] == ids[2:]).any(axis=0))
            candidates = candidates.take(np.flatnonzero(~same))
        if not ignores_moving.any():
            return candidates
        through = ignores_moving.take(candidates.particles).any(axis=0) & moves.take(candidates.particles).any(axis=0)
        return candidates.take(np.flatnonzero(~through))

    candidates, known = counting(candidate_list.rows), np.zeros_like(moves)
    low, high = x, x
    may_cross = np.zeros_like(moves)
    for _ in range(MAX_GUARD_ROUNDS):
        search = near_search if candidates is candidate_list.rows else NearSearch()
        near = search.find(kernels, candidates, p)
        crossing = guard_crossings(kernels, p, x, candidates, near, w, groups, ignores_moving)
        may_cross[crossing] = True
        late = candidate_list.violating(kernels, p) & ~known
        if known.any():
            late |= ((p < low) | (p > high)).any(axis=0)
        if not late.any() or (may_cross.any() and not keeps_unresolved):
            return may_cross
        candidates = concatenate([candidates, counting(candidate_list.late_candidates(kernels, p, x, late))])
        known |= late
        low = np.minimum(x, p) - ROUNDING * candidate_list.guard_margin
        high = np.maximum(x, p) + ROUNDING * candidate_list.guard_margin
    return may_cross | late & (w > 0.0)
