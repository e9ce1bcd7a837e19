"""Candidates: pairs of primitives that may touch, each with the plane that last separated them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Candidates(NamedTuple):
    """Vertex-triangle and edge-edge pairs, as columns; see `kernels.protocol.closest`.

    Attributes:
        particles: The four vertices of each pair, (4, m) int.
        weights: Barycentric weights of the closest points: 1 in sum on the first side, -1 on the second, (4, m).
        normals: Unit vectors from the second side to the first, (3, m).
        min_distance: Distance to keep, (m,) [m].
        kind: `FACE`, `EDGES` or `POINTS` of `kernels`, (m,) int8.
        pair: Number of the pair of surfaces, (m,) int.
        is_exit: Whether the vertex is on the wrong side of a closed collider and `normals` lead out of it, (m,) bool.
    """

    particles: np.ndarray
    weights: np.ndarray
    normals: np.ndarray
    min_distance: np.ndarray
    kind: np.ndarray
    pair: np.ndarray
    is_exit: np.ndarray

    @property
    def size(self) -> int:
        """Number of pairs."""
        return len(self.min_distance)

    def take(self, which: np.ndarray) -> Candidates:
        """Some of the pairs: (k,) int or (m,) bool."""
        # Taking by number is several times faster than by bool or with brackets.
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        return Candidates(*(column.take(numbers, axis=-1) for column in self))


def no_candidates() -> Candidates:
    """Not a single pair."""
    return Candidates(
        np.zeros((4, 0), int), np.zeros((4, 0)), np.zeros((3, 0)), np.zeros(0), np.zeros(0, np.int8),
        np.zeros(0, int), np.zeros(0, bool),
    )  # fmt: skip


def concatenate(parts: Sequence[Candidates]) -> Candidates:
    """The pairs of several, one after the other."""
    if len(parts) == 1:
        return parts[0]
    return Candidates(*(np.concatenate(columns, axis=-1) for columns in zip(*parts))) if parts else no_candidates()
