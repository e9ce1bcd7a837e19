"""Block tridiagonal systems by Numba, for all three axes at once: what takes the time is to read the matrices."""

from __future__ import annotations

import numpy as np

from ..protocol.arrays import Vectors
from ..protocol.blocks import Factors
from .compile import kernel


@kernel(in_any_order=True)
def _solve_axes(b: Vectors, factors: Factors) -> None:
    """As `solve_blocks`, for b (3, unknowns)."""
    starts, inverses, couplings = factors
    x, y, z = b[0], b[1], b[2]
    last = len(starts) - 2
    at, of_inverse = 0, 0
    for k in range(last):
        first, middle, stop = starts[k], starts[k + 1], starts[k + 2]
        m = middle - first
        u, v, w = x[first:middle], y[first:middle], z[first:middle]
        for i in range(middle, stop):
            row = couplings[at : at + m]
            s, t, r = 0.0, 0.0, 0.0
            for j in range(m):
                q = np.uint64(j)
                s += row[q] * u[q]
                t += row[q] * v[q]
                r += row[q] * w[q]
            x[i] -= s
            y[i] -= t
            z[i] -= r
            at += m
        of_inverse += m * m
    for k in range(last, -1, -1):
        first, middle = starts[k], starts[k + 1]
        m = middle - first
        own = np.empty((3, m))
        c, d, e = own[0], own[1], own[2]
        u, v, w = x[first:middle], y[first:middle], z[first:middle]
        for i in range(m):
            row = inverses[of_inverse + i * m : of_inverse + (i + 1) * m]
            s, t, r = 0.0, 0.0, 0.0
            for j in range(m):
                q = np.uint64(j)
                s += row[q] * u[q]
                t += row[q] * v[q]
                r += row[q] * w[q]
            c[i], d[i], e[i] = s, t, r
        if k < last:
            stop = starts[k + 2]
            at -= m * (stop - middle)
            for i in range(middle, stop):
                here = at + (i - middle) * m
                row = couplings[here : here + m]
                s, t, r = x[i], y[i], z[i]
                for j in range(m):
                    q = np.uint64(j)
                    c[q] -= row[q] * s
                    d[q] -= row[q] * t
                    e[q] -= row[q] * r
        for i in range(m):
            u[i], v[i], w[i] = c[i], d[i], e[i]
        if k:
            of_inverse -= (first - starts[k - 1]) ** 2


@kernel()
def bend_sheet(p, sheet, factors, work, stiffness, is_first):
    particles, arms, fit, unknown, rows, masses, held_rows, held_by, held = sheet
    known, start, moved, reached = work
    n = len(particles)
    if is_first:
        center, turn, fitted = np.zeros(3), np.zeros((3, 3)), np.empty((3, n))
        for axis in range(3):
            for k in range(n):
                center[axis] += p[axis, particles[k]]
            center[axis] /= n
            for k in range(n):
                off = p[axis, particles[k]] - center[axis]
                for other in range(3):
                    turn[axis, other] += off * fit[other, k]
            for k in range(n):
                there = turn[axis, 0] * arms[0, k] + turn[axis, 1] * arms[1, k] + turn[axis, 2] * arms[2, k]
                fitted[axis, k] = center[axis] + there
        known[:] = 0.0
        for axis in range(3):
            for k in range(len(held)):
                ahead = p[axis, particles[held_by[k]]] - fitted[axis, held_by[k]]
                known[axis, held_rows[k]] -= stiffness * held[k] * ahead
            for k in range(len(unknown)):
                start[axis, k] = fitted[axis, unknown[k]]
        moved[:] = 0.0
    b = known.copy()
    for axis in range(3):
        for k in range(len(unknown)):
            here = p[axis, particles[unknown[k]]]
            b[axis, rows[k]] += masses[k] * (here - start[axis, k] - moved[axis, k])
    _solve_axes(b, factors)
    for axis in range(3):
        for k in range(len(unknown)):
            i, there = particles[unknown[k]], b[axis, rows[k]] + start[axis, k]
            moved[axis, k] += there - p[axis, i]
            p[axis, i] = there
        for k in range(n):
            reached[axis, particles[k]] = p[axis, particles[k]]
