"""Numba's kernel for whole chains of edges, by elimination: the functions of `numpy_chains`."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .numba_compile import helper, kernel

TINY = 1e-12


@helper
def _go_back(inverse: np.ndarray, factor: np.ndarray, right: np.ndarray, count: int) -> None:
    """The second half of solving with L D L^T, for one right hand side, in place."""
    following = right[count - 1] * inverse[count - 1]
    right[count - 1] = following
    for e in range(count - 2, -1, -1):
        following = right[e] * inverse[e] - factor[e + 1] * following
        right[e] = following


@kernel("void(f8[:,::1], f8[:,::1], i8[:], i8[:], i8[:], i8, i8[:,:], i8[:], f8[:], f8[:], f8[:,:], f8[:], f8[:])")
def project_chains(
    p: np.ndarray,
    x: np.ndarray,
    vertices: np.ndarray,
    links: np.ndarray,
    rows: np.ndarray,
    levels: int,
    rings: np.ndarray,
    joints: np.ndarray,
    weights: np.ndarray,
    rest_lengths: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    """As `numpy_chains.project_chains`; each chain is eliminated from its first edge to its last."""
    size, damped, pushed = len(links), len(gamma) > 0, len(alpha) - 1
    n, right, extra = np.empty((3, size)), np.empty(size), np.empty(size)
    inverse, factor = np.empty(size), np.empty(size)  # of L D L^T: 1 / D, and L beside its diagonal
    stop, ring = 0, 0
    while stop < size:
        start, stop = stop, stop + 1
        while stop < size and links[stop] == links[stop - 1] + 1:
            stop += 1
        count, place = stop - start, links[start]
        closed = ring < rings.shape[1] and rings[0, ring] == place
        ring += closed
        pivot, corner = 0.0, 0.0
        i, weight = np.uint64(vertices[place]), weights[place]
        px, py, pz = p[0, i], p[1, i], p[2, i]
        above, right_above, bx, by, bz = 0.0, 0.0, 0.0, 0.0, 0.0
        for e in range(count):
            step, row = np.uint64(place + e), np.uint64(rows[np.uint64(start + e)])
            j = np.uint64(vertices[np.uint64(place + e + 1)])
            dx, dy, dz = p[0, j] - px, p[1, j] - py, p[2, j] - pz
            length = sqrt(dx * dx + dy * dy + dz * dz) + TINY
            scale = 1.0 / length
            dx, dy, dz = dx * scale, dy * scale, dz * scale
            error = length - rest_lengths[step]
            give = alpha[np.uint64(pushed if error < 0.0 else 0), step]
            residual = error + give * multipliers[row]
            if damped:
                before = dx * (x[0, j] - x[0, i]) + dy * (x[1, j] - x[1, i]) + dz * (x[2, j] - x[2, i])
                brake = 1.0 / (1.0 + gamma[step])
                residual = (residual + gamma[step] * (length - before)) * brake
                give *= brake
            next_weight = weights[np.uint64(place + e + 1)]
            diagonal = next_weight + weight + give
            if closed and e == 0:
                last = np.uint64(vertices[place + count - 1])
                lx, ly, lz = px - p[0, last], py - p[1, last], pz - p[2, last]
                across = (lx * dx + ly * dy + lz * dz) / (sqrt(lx * lx + ly * ly + lz * lz) + TINY)
                corner, pivot = -weight * across, -diagonal
                diagonal -= pivot
            if closed and e == count - 1:
                diagonal -= corner * corner / pivot
            coupling = -weight * (bx * dx + by * dy + bz * dz)  # 0 at the first edge
            factor[e] = coupling * above
            right_above = -residual - coupling * above * right_above
            above = 1.0 / (diagonal - coupling * coupling * above)
            inverse[e], right[e] = above, right_above
            n[0, e], n[1, e], n[2, e] = dx, dy, dz
            bx, by, bz = dx, dy, dz
            i, weight, px, py, pz = j, next_weight, p[0, j], p[1, j], p[2, j]
        if closed:
            # Two more entries in the corners, by the formula of Sherman and Morrison as in NumPy.
            extra[:count] = 0.0
            extra[0], extra[count - 1] = pivot, corner
            for e in range(1, count):
                extra[e] -= factor[e] * extra[e - 1]
            _go_back(inverse, factor, extra, count)
            _go_back(inverse, factor, right, count)
            ratio = corner / pivot
            much = (right[0] + ratio * right[count - 1]) / (1.0 + extra[0] + ratio * extra[count - 1])
            for e in range(count):
                right[e] -= much * extra[e]
            inverse[:count], factor[:count] = 1.0, 0.0  # solved
        change, share, bx, by, bz = 0.0, 0.0, 0.0, 0.0, 0.0
        for e in range(count - 1, -1, -1):
            j = np.uint64(vertices[np.uint64(place + e + 1)])
            weight = weights[np.uint64(place + e + 1)]
            change = right[e] * inverse[e] - share * change
            share = factor[e]
            multipliers[np.uint64(rows[np.uint64(start + e)])] += change
            dx, dy, dz = n[0, e] * change, n[1, e] * change, n[2, e] * change
            p[0, j] += weight * (dx - bx)
            p[1, j] += weight * (dy - by)
            p[2, j] += weight * (dz - bz)
            bx, by, bz = dx, dy, dz
        j, weight = np.uint64(vertices[place]), weights[place]
        p[0, j] -= weight * bx
        p[1, j] -= weight * by
        p[2, j] -= weight * bz


@kernel("f8[:,::1](f8[:], f8[:], f8[:,:])")
def _solve_many(diagonal: np.ndarray, coupling: np.ndarray, right: np.ndarray) -> np.ndarray:
    count = len(diagonal)
    inverse, factor, solution = diagonal.copy(), np.zeros(count), right.copy()
    for e in range(count):
        if e:
            factor[e] = coupling[e - 1] * inverse[e - 1]
            inverse[e] -= factor[e] * coupling[e - 1]
        inverse[e] = 1.0 / inverse[e]
    for row in range(len(solution)):
        for e in range(1, count):
            solution[row, e] -= factor[e] * solution[row, e - 1]
        _go_back(inverse, factor, solution[row], count)
    return solution


def solve_tridiagonal(diagonal: np.ndarray, coupling: np.ndarray, right: np.ndarray, levels: int) -> np.ndarray:
    """As `numpy_chains.solve_tridiagonal`; `levels` does not matter."""
    return np.asarray(_solve_many(diagonal, coupling, right.reshape(-1, len(diagonal)))).reshape(right.shape)
