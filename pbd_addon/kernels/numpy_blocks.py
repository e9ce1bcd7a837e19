"""Block tridiagonal systems; Numba takes these functions as they are, since the work is in the matrix products."""

from __future__ import annotations

import numpy as np


def solve_blocks(b: np.ndarray, starts: np.ndarray, inverses: list[np.ndarray], couplings: list[np.ndarray]) -> None:
    """Solve a symmetric block tridiagonal system of blocks D_k and O_k = A_{k, k+1} by its block LDL^T factors.

    Args:
        b: Right side, (n, c); replaced by the solution.
        starts: Where each block begins, (blocks + 1,) int.
        inverses: Inverse of each pivot, P_0 = D_0, P_k = D_k - O_{k-1}^T P_{k-1}^-1 O_{k-1}.
        couplings: O_k^T P_k^-1, one less.
    """
    parts = [b[start:stop] for start, stop in zip(starts[:-1], starts[1:])]
    for k, coupling in enumerate(couplings):
        parts[k + 1] -= coupling @ parts[k]
    parts[-1][:] = inverses[-1] @ parts[-1]
    for k in range(len(couplings) - 1, -1, -1):
        parts[k][:] = inverses[k] @ parts[k]
        parts[k] -= couplings[k].T @ parts[k + 1]
