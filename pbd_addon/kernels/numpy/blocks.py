"""Block tridiagonal systems in NumPy; the work is in the matrix products."""

from __future__ import annotations


def solve_blocks(b, starts, inverses, couplings):
    parts = [b[start:stop] for start, stop in zip(starts[:-1], starts[1:])]
    for k, coupling in enumerate(couplings):
        parts[k + 1] -= coupling @ parts[k]
    parts[-1][:] = inverses[-1] @ parts[-1]
    for k in range(len(couplings) - 1, -1, -1):
        parts[k][:] = inverses[k] @ parts[k]
        parts[k] -= couplings[k].T @ parts[k + 1]
