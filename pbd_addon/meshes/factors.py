"""Maps: factors per vertex on a body's material, such as painted weights, as those that use them take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

TAKES_PART = 0.5
"""From this factor of "collision" or "self_collision" on a vertex takes part, and of "hold" on a pin holds."""


def of_particles(kind: str, maps: Sequence[Mapping[str, np.ndarray]], counts: Sequence[int]) -> np.ndarray | None:
    """One map for all bodies, (n,), 1 where a body has none; None if no body has it. counts: vertices of each body."""
    if not any(kind in own for own in maps):
        return None
    return np.concatenate([own.get(kind, np.ones(count)) for own, count in zip(maps, counts)])


def left_out(kind: str, maps: Mapping[str, np.ndarray], total: int) -> np.ndarray | None:
    """Particles that take no part in collisions of this kind, a map of (n,), as (total,) bool; None for none."""
    out = np.flatnonzero(maps[kind] < TAKES_PART) if kind in maps else np.zeros(0, int)
    return np.isin(np.arange(total), out) if len(out) else None


def of_rows(factors: np.ndarray | None, indices: np.ndarray) -> np.ndarray | float:
    """Mean factor of each row's particles, (m,), for indices (k, m); 1 without a map (n,)."""
    return 1.0 if factors is None else factors[indices].mean(axis=0)
