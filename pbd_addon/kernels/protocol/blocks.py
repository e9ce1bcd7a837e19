"""Block tridiagonal systems, for plates."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from .arrays import DenseIds, DenseNumbers, Vectors


class Factors(NamedTuple):
    """Factors L D L^T of a symmetric matrix of blocks D_k and O_k = A_{k, k+1}, one behind the other, row by row.

    starts: Where each block begins, (blocks + 1,) int.
    inverses: Inverse of each pivot, P_0 = D_0, P_k = D_k - O_{k-1}^T P_{k-1}^-1 O_{k-1}.
    couplings: O_k^T P_k^-1; one fewer.
    """

    starts: DenseIds
    inverses: DenseNumbers
    couplings: DenseNumbers


class FlatSheet(NamedTuple):
    """A sheet of plate elements that is flat at rest.

    particles: Its own, (n,) int.
    arms: Their rest positions from the mean of all, (3, n) [m], in the plane; 0 where it is not at rest there.
    fit: Pseudoinverse of these, (3, n) [1/m]: `fit` times the positions turns and stretches `arms` to fit them.
    unknown: Which of them move, (f,) int, and rows, where these are among the unknowns, (f,) int.
    masses: Of these, (f,) [kg].
    held_rows, held_by, held: What couples unknowns to those that do not move, (e,) each: the unknown, which of the
        particles, and their entry of the matrix for a stiffness of 1.
    """

    particles: DenseIds
    arms: Vectors
    fit: Vectors
    unknown: DenseIds
    rows: DenseIds
    masses: DenseNumbers
    held_rows: DenseIds
    held_by: DenseIds
    held: DenseNumbers


class SheetWork(NamedTuple):
    """What passes of a substep share.

    known: Right side of what does not move, (3, unknowns).
    start: Where the fit has those that move, (3, f) [m].
    moved: How far all passes so far have moved them, (3, f) [m].
    reached: Where the last pass has left all particles of the scene that are in sheets, (3, at least these) [m].
    """

    known: Vectors
    start: Vectors
    moved: Vectors
    reached: Vectors


class Blocks(Protocol):
    """Block tridiagonal systems."""

    def solve_blocks(self, b: np.ndarray, factors: Factors) -> None:
        """Solve a system for a right side b (n, c), which is replaced by the solution."""

    def bend_sheet(
        self, p: Vectors, sheet: FlatSheet, factors: Factors, work: SheetWork, stiffness: float, is_first: bool
    ) -> None:
        """Solve M (p - p') + stiffness · energy(p - fit) = 0 for the unknowns of a sheet, p' before all passes.

        The fit is that of the first pass of a substep. It is affine: the energy is 0 there.
        """
