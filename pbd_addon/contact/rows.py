"""Rows: pairs of primitives that may touch, each with the plane that lay between them at the last look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Contact rows; see `kernels.numpy_contact`.

    Attributes:
        particles: (4, m) int.
        share: Shares of the particles in the relative position of the closest points, (4, m).
        normals: From the second side to the first, (3, m).
        distance: That is to be kept, (m,) [m].
        kind: `FACE`, `EDGES` or `POINTS` of `kernels`, (m,) int8.
        pair: Number of the pair of surfaces, (m,) int.
        solid: Rows whose vertex is on the wrong side of a solid collider, (m,) bool; `normals` lead out.
    """

    particles: np.ndarray
    share: np.ndarray
    normals: np.ndarray
    distance: np.ndarray
    kind: np.ndarray
    pair: np.ndarray
    solid: np.ndarray

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.distance)

    def chosen(self, which: np.ndarray) -> Rows:
        """Some of the rows: (k,) int or (m,) bool."""
        # Taking by number is several times faster than choosing by bool or with brackets.
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        return Rows(*(column.take(numbers, axis=-1) for column in self))


def no_rows() -> Rows:
    """Rows of nothing."""
    return Rows(
        np.zeros((4, 0), int), np.zeros((4, 0)), np.zeros((3, 0)), np.zeros(0), np.zeros(0, np.int8),
        np.zeros(0, int), np.zeros(0, bool),
    )  # fmt: skip


def joined(parts: Sequence[Rows]) -> Rows:
    """All rows of several."""
    if len(parts) == 1:
        return parts[0]
    return Rows(*(np.concatenate(columns, axis=-1) for columns in zip(*parts))) if parts else no_rows()
