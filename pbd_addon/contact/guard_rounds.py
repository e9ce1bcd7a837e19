"""Rounds of the crossing guard: what it clamps can cross other things in turn, and what has no place gives way."""

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
"""Rounds in which cloth without a place gives way, layer by layer from the collider that stands still."""

ROUNDING = 1e-6
"""Share of the final margin by which particles may be outside of a box around their motion."""


def guard(
    kernels: Kernels,
    found: CandidateList,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    pieces: Sequence[np.ndarray],
    is_final: bool,
) -> bool:
    """Keep everything from crossing, in place; what colliders leave no place, those that move may go through.

    They alone: cloth that has no place crosses neither cloth nor what stands still.

    Args:
        kernels: Module of kernels.
        found: The candidates, updated.
        p: Positions after the substep, (3, N) [m]; changed.
        x: Positions before it, (3, N) [m], free of crossings.
        w: Inverse masses, (N,); colliders and rigid pieces have 0.
        pieces: Particles of each rigid piece, (k,) int each.
        is_final: Whether the result counts even where something has no place: else nothing has to give way.

    Returns:
        Whether everything has a place.
    """
    start, moves = p.copy(), np.zeros(p.shape[1], bool)
    parts: list[slice | np.ndarray] = [*found.moving_parts, *pieces]
    for part in parts:
        moves[part] = True
    groups = find_rigid_groups(p, x, w, parts, min(pair.distance for pair in found.pairs))
    gives_way = np.zeros_like(moves)
    for number in range(MAX_LAYERS):
        without_place = _clamp(kernels, found, p, x, w, groups, gives_way, moves, is_final)
        if not without_place.any():
            return number == 0
        if not is_final or not moves.any() or gives_way[without_place].all():
            break
        gives_way |= without_place
        p[:] = start
    return False


def _clamp(
    kernels: Kernels,
    found: CandidateList,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    groups: RigidGroups,
    gives_way: np.ndarray,
    moves: np.ndarray,
    is_final: bool,
) -> np.ndarray:
    """Clamp what would cross, then query what the clamped particles can cross in turn, until nothing does.

    groups: which colliders move together. gives_way: particles that meet no collider that moves, (N,) bool. moves:
    particles of colliders that move, (N,) bool. The others are as in `guard`. Returns which found no place, (N,) bool.
    """

    def counting(candidates: Candidates) -> Candidates:
        if not gives_way.any():
            return candidates
        through = gives_way.take(candidates.particles).any(axis=0) & moves.take(candidates.particles).any(axis=0)
        return candidates.take(np.flatnonzero(~through))

    candidates, known = counting(found.rows), np.zeros_like(moves)
    low, high = x, x
    without_place = np.zeros_like(moves)
    for _ in range(MAX_GUARD_ROUNDS):
        near = active(kernels, candidates, p)
        squeezed = guard_crossings(kernels, p, x, candidates, near, w, groups, gives_way)
        without_place[squeezed] = True
        late = found.violating(kernels, p) & ~known
        if known.any():
            late |= ((p < low) | (p > high)).any(axis=0)
        if not late.any() or (without_place.any() and not is_final):
            return without_place
        candidates = concatenate([candidates, counting(found.late_candidates(kernels, p, x, late))])
        known |= late
        low = np.minimum(x, p) - ROUNDING * found.final_margin
        high = np.maximum(x, p) + ROUNDING * found.final_margin
    return without_place | late & (w > 0.0)
