"""Friction and restitution: what surfaces that touch do to each other along the plane between them, and across it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..settings import Material
from .collider import Collider
from .rows import Rows


class Coefficients(NamedTuple):
    """Coefficients of all pairs of surfaces.

    Attributes:
        sticking: Of friction at rest, (pairs,).
        sliding: Of friction in motion, (pairs,).
        restitution: Share of the approach that is given back, (pairs,).
        rough: Of friction at rest and in motion of each particle, (2, N), where a map makes them differ; else None.
    """

    sticking: np.ndarray
    sliding: np.ndarray
    restitution: np.ndarray
    rough: np.ndarray | None

    def friction(self, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
        """Friction at rest and in motion of rows, (k,) each: with a map, at the points that touch."""
        if self.rough is None:
            return self.sticking[rows.pair], self.sliding[rows.pair]
        halves = 0.5 * np.abs(rows.share)
        sticking, sliding = np.einsum("jm,ijm->im", halves, self.rough.take(rows.particles, axis=1))
        return np.maximum(sticking, sliding), sliding


def read_coefficients(
    sides: Sequence[tuple[Material, Material | Collider]], colliders: Sequence[Collider], of_bodies: np.ndarray | None
) -> Coefficients:
    """The coefficients as they are now: those of colliders may change.

    Args:
        sides: What touches in each pair.
        colliders: All colliders, in the order of their particles.
        of_bodies: Friction of each particle of the bodies, (n,), where a map makes them differ; else None.
    """
    figures = []
    for mine, other in sides:
        static = other.static_friction if isinstance(other, Collider) else other.friction
        sliding = 0.5 * (mine.friction + other.friction)
        restitution = other.restitution if isinstance(other, Collider) else 0.0
        figures.append((max(sliding, 0.5 * (mine.friction + static)), sliding, restitution))
    rough = None
    if of_bodies is not None:
        own = [np.tile([[one.static_friction], [one.friction]], len(one.vertices)) for one in colliders]
        rough = np.concatenate([np.stack([of_bodies, of_bodies]), *own], axis=1)
    columns = np.array(figures).reshape(-1, 3)
    return Coefficients(columns[:, 0], columns[:, 1], columns[:, 2], rough)
