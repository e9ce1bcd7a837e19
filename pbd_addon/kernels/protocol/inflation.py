"""A skin that responds to pressure as a whole; see `constraints.inflation`.

Common arguments: p (3, n) [m]; gradients of the volume at every particle, (3, n) [m²]; w (n,) [1/kg]; pieces (n,) and
row_pieces (m,) int, the closed piece of each particle and of each edge, numbered from 0 to k - 1.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Inflation(Protocol):
    """Skins under pressure."""

    def sum_by_piece(self, pieces: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
        """Sums of values (m,) over the pieces (m,) int that they belong to, (count,)."""

    def enclosed_volumes(
        self, q: np.ndarray, triangles: np.ndarray, pieces: np.ndarray, piece_count: int
    ) -> np.ndarray:
        """The volumes of `volume_gradients` alone, (pieces,) [m³]."""

    def carried_shares(
        self,
        w: np.ndarray,
        indices: np.ndarray,
        stiffness: np.ndarray,
        free: np.ndarray,
        h: float,
        carried: float,
        swept: float,
        own: float,
    ) -> tuple[np.ndarray, np.ndarray]:
        """The shares of `carried_tensions` for rows (2, m) of this stiffness (m,) [N/m] in a substep of h [s].

        With s = 1 / (h² stiffness sum w), they are carried min(1, sqrt(s / swept)) and, for `free` rows (m,) bool,
        own s, so that both make up 1 at most; 0 for others.
        """

    def carried_tensions(
        self,
        x: np.ndarray,
        indices: np.ndarray,
        rest_lengths: np.ndarray,
        compliance: np.ndarray,
        tensions: np.ndarray,
        kept: np.ndarray,
        share: np.ndarray,
        own: np.ndarray,
        most: np.ndarray,
        row_pieces: np.ndarray,
        h: float,
    ) -> np.ndarray:
        """Multipliers with which rows begin a substep of h [s], -h² (kept share tensions + own tensions by length).

        x (3, n) [m] and compliance [m/N] take the place of p and alpha; tensions (m,) [N]; kept (k,), share and own
        (m,) are fractions; most (m,): the largest absolute value of the result.
        """

    def tension_pattern(
        self,
        p: np.ndarray,
        gradients: np.ndarray,
        indices: np.ndarray,
        rest_lengths: np.ndarray,
        alpha: np.ndarray,
        multipliers: np.ndarray,
        carried: np.ndarray,
        pull: np.ndarray,
        w: np.ndarray,
        pieces: np.ndarray,
        row_pieces: np.ndarray,
        works: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """How growth along the normals stretches the edges of a skin, once carried multipliers have acted.

        indices, rest_lengths, alpha and multipliers of the skin's edges are as in `project_distance`; works (k,) bool:
        which pieces have a pressure. The multipliers grow by `carried` (m,), and `pull` (3, n), what other carried
        multipliers do to the particles, becomes the displacement W (pull + J^T carried); without any, both are empty.

        Returns:
            mu, the proportion of the edges' multipliers, (m,), 0 where growth does not stretch; J^T mu, (3, n); and for
            each piece the sums mu . (J W J^T + alpha) mu, mu . J W grad V, grad V . W grad V, mu . (C + alpha lambda)
            and the change of V, the last two after that displacement, (5, k).
        """

    def balance(
        self,
        stretch: np.ndarray,
        cross: np.ndarray,
        back: np.ndarray,
        swell: np.ndarray,
        wrong: np.ndarray,
        error: np.ndarray,
        works: np.ndarray,
        fixed: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Size and push of each piece, (k,) each, the solution of the equations in `constraints.inflation`.

        stretch, cross, back and swell (k,) are their matrix, row by row, wrong and error (k,) their right side; where
        `fixed` (k,) bool, the multiplier itself is set and `error` is what is missing of it. Both are 0 where nothing
        `works` (k,) bool.
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
        moved: np.ndarray,
        size: np.ndarray,
        push: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """Move p by W (J^T mu size + grad V push) and by `moved`, (3, n) or (3, 0); multipliers by mu size.

        size and push (k,) are of each piece.
        """

    def project_volume(
        self,
        p: np.ndarray,
        gradients: np.ndarray,
        push: np.ndarray,
        pieces: np.ndarray,
        error: np.ndarray,
        give: np.ndarray,
        k: np.ndarray,
        works: np.ndarray,
        fixed: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """One step on the volume of each piece that `works`, where its error and the compliance `give` (k,) are known.

        push (n,): inverse mass times the map of pressure; k (k,): relaxation; fixed: as for `balance`.

        Returns:
            The steps of the multipliers and the changes of volume by p, which moves, (k,) each.
        """

    def edge_forces(self, p: np.ndarray, indices: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
        """J^T lambda of distance constraints, (3, n): the effect of multipliers (m,) of rows (2, m) on particles."""
