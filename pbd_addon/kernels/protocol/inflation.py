"""A skin that responds to pressure as a whole; see `constraints.inflation`.

Common arguments: p (3, n) [m]; gradients of the volume at every particle, (3, n) [m²]; w (n,) [1/kg]; pieces (n,) and
row_pieces (m,) int, the closed piece of each particle and of each edge, numbered from 0 to k - 1.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Inflation(Protocol):
    """Skins under pressure."""

    def tension_pattern(
        self,
        p: np.ndarray,
        gradients: np.ndarray,
        indices: np.ndarray,
        rest_lengths: np.ndarray,
        alpha: np.ndarray,
        multipliers: np.ndarray,
        w: np.ndarray,
        pieces: np.ndarray,
        row_pieces: np.ndarray,
        works: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How growth along the normals stretches the edges of a skin.

        indices, rest_lengths, alpha and multipliers of the skin's edges are as in `project_distance`; works (k,) bool:
        which pieces have a pressure.

        Returns:
            mu, the proportion of the edges' multipliers, (m,), 0 where growth does not stretch; J^T mu, (3, n); and for
            each piece the sums mu . (J W J^T + alpha) mu, mu . J W grad V, grad V . W grad V and
            mu . (C + alpha lambda), (4, k).
        """

    def inflate(
        self,
        p: np.ndarray,
        gradients: np.ndarray,
        w: np.ndarray,
        pieces: np.ndarray,
        row_pieces: np.ndarray,
        pattern: np.ndarray,
        force: np.ndarray,
        size: np.ndarray,
        push: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """Move p by W (J^T mu size + grad V push) and multipliers by mu size; size and push (k,) are of each piece."""

    def edge_forces(self, p: np.ndarray, indices: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """J^T lambda of distance constraints, (3, n): the effect of multipliers (m,) of rows (2, m) on particles."""
