"""Rounds of the crossing guard: what it clamps can cross other things in turn, and colliders pass pinched cloth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import Kernels
from .candidate_list import CandidateList
from .candidates import Candidates, concatenate
from .crossing_guard import RigidGroups, find_rigid_groups, guard_crossings
from .narrow_phase import active

MAX_GUARD_ROUNDS = 4
"""Rounds of clamping and querying again, since clamped particles leave their motion bounds."""

MAX_LAYERS = 20
"""Rounds in which pinched cloth stops colliding with moving colliders, layer by layer from the one that stands."""

ROUNDING = 1e-6
"""Share of the guard margin by which particles may be outside of a box around their motion."""


def guard(
    kernels: Kernels,
    candidate_list: CandidateList,
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
        may_cross = _clamp(kernels, candidate_list, p, x, w, groups, ignores_moving, moves, keeps_unresolved)
        if not may_cross.any():
            return number == 0
        if not keeps_unresolved or not moves.any() or ignores_moving[may_cross].all():
            break
        ignores_moving |= may_cross
        p[:] = start
    return False


def _clamp(
    kernels: Kernels,
    candidate_list: CandidateList,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    groups: RigidGroups,
    ignores_moving: np.ndarray,
    moves: np.ndarray,
    keeps_unresolved: bool,
) -> np.ndarray:
    """Clamp what would cross, then query what the clamped particles can cross in turn, until nothing does.

    groups: which colliders move together. ignores_moving: particles that collide with no moving collider, (N,) bool.
    moves: particles of colliders that move, (N,) bool. The others are as in `guard`. Returns which may cross something,
    (N,) bool.
    """

    def counting(candidates: Candidates) -> Candidates:
        if not ignores_moving.any():
            return candidates
        through = ignores_moving.take(candidates.particles).any(axis=0) & moves.take(candidates.particles).any(axis=0)
        return candidates.take(np.flatnonzero(~through))

    candidates, known = counting(candidate_list.rows), np.zeros_like(moves)
    low, high = x, x
    may_cross = np.zeros_like(moves)
    for _ in range(MAX_GUARD_ROUNDS):
        near = active(kernels, candidates, p)
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
