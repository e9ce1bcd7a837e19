"""Block tridiagonal systems in NumPy; the work is in the matrix products."""

from __future__ import annotations

import numpy as np


def solve_blocks(b, factors):
    starts, inverses, couplings = factors
    bounds = starts.tolist()
    sizes = np.diff(starts)
    parts = [b[start:stop] for start, stop in zip(bounds[:-1], bounds[1:])]
    inverses, couplings = _matrices(inverses, sizes, sizes), _matrices(couplings, sizes[1:], sizes[:-1])
    for k, coupling in enumerate(couplings):
        parts[k + 1] -= coupling @ parts[k]
    parts[-1][:] = inverses[-1] @ parts[-1]
    for k in range(len(couplings) - 1, -1, -1):
        parts[k][:] = inverses[k] @ parts[k]
        parts[k] -= couplings[k].T @ parts[k + 1]


def _matrices(values, heights, widths):
    ends = np.cumsum(heights * widths).tolist()
    shapes = zip([0, *ends], ends, heights.tolist(), widths.tolist())
    return [values[start:stop].reshape(height, width) for start, stop, height, width in shapes]


def bend_sheet(p, sheet, factors, work, stiffness, is_first):
    particles, arms, fit, unknown, rows, masses, held_rows, held_by, held = sheet
    known, start, moved, reached = work
    q = p.take(particles, axis=1)
    if is_first:
        center = q.mean(axis=1, keepdims=True)
        fitted = center + ((q - center) @ fit.T) @ arms
        ahead = stiffness * held * (q - fitted).take(held_by, axis=1)
        for axis in range(3):
            known[axis] = -np.bincount(held_rows, ahead[axis], known.shape[1])
        start[:], moved[:] = fitted.take(unknown, axis=1), 0.0
    here = q.take(unknown, axis=1)
    b = known.T.copy()
    b[rows] += (masses * (here - start - moved)).T
    solve_blocks(b, factors)
    there = b[rows].T + start
    moved += there - here
    q[:, unknown] = there
    p[:, particles] = q
    reached[:, particles] = q
