"""Block tridiagonal systems, for plates."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Blocks(Protocol):
    """Block tridiagonal systems."""

    def solve_blocks(
        self, b: np.ndarray, starts: np.ndarray, inverses: list[np.ndarray], couplings: list[np.ndarray]
    ) -> None:
        """Solve a symmetric block tridiagonal system of blocks D_k and O_k = A_{k, k+1} by its block LDL^T factors.

        Args:
            b: Right side, (n, c); replaced by the solution.
            starts: Where each block begins, (blocks + 1,) int.
            inverses: Inverse of each pivot, P_0 = D_0, P_k = D_k - O_{k-1}^T P_{k-1}^-1 O_{k-1}.
            couplings: O_k^T P_k^-1; one fewer.
        """
