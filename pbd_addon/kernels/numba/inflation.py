"""Skins under pressure compiled by Numba."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .compile import helper, kernel


@helper
def _pull(force: np.ndarray, a: int, b: int, by: tuple[float, float, float]) -> None:
    for axis in range(3):
        force[axis, a] += by[axis]
        force[axis, b] -= by[axis]


@kernel(
    "Tuple((f8[::1], f8[:,::1], f8[:,::1]))"
    "(f8[:,::1], f8[:,:], i4[:,:], f8[:], f8[:,:], f8[:], f8[:], i8[:], i8[:], b1[:])"
)
def tension_pattern(
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
    m, n, pushed = len(rest_lengths), p.shape[1], len(alpha) - 1
    pattern, force, sums = np.zeros(m), np.zeros((3, n)), np.zeros((4, len(works)))
    normals = np.empty((3, n))
    for i in range(n):
        gx, gy, gz = gradients[0, i], gradients[1, i], gradients[2, i]
        scale = 1.0 / max(sqrt(gx * gx + gy * gy + gz * gz), 1e-300)
        normals[0, i], normals[1, i], normals[2, i] = gx * scale, gy * scale, gz * scale
    for r in range(m):
        piece = np.uint64(row_pieces[r])
        if not works[piece]:
            continue
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, a] - p[0, b], p[1, a] - p[1, b], p[2, a] - p[2, b]
        length = max(sqrt(dx * dx + dy * dy + dz * dz), 1e-300)
        dx, dy, dz = dx / length, dy / length, dz / length
        growth = (
            dx * (normals[0, a] - normals[0, b])
            + dy * (normals[1, a] - normals[1, b])
            + dz * (normals[2, a] - normals[2, b])
        )
        if not growth > 0.0:
            continue
        error = length - rest_lengths[r]
        give = alpha[np.uint64(pushed if error < 0.0 else 0), r]
        share = growth / alpha[0, r]
        pattern[r] = share
        sums[0, piece] += give * share * share
        sums[3, piece] += share * (error + give * multipliers[r])
        _pull(force, a, b, (dx * share, dy * share, dz * share))
    for i in range(n):
        own = np.uint64(pieces[i])
        fx, fy, fz = force[0, i], force[1, i], force[2, i]
        gx, gy, gz = gradients[0, i], gradients[1, i], gradients[2, i]
        sums[0, own] += w[i] * (fx * fx + fy * fy + fz * fz)
        sums[1, own] += w[i] * (fx * gx + fy * gy + fz * gz)
        sums[2, own] += w[i] * (gx * gx + gy * gy + gz * gz)
    return pattern, force, sums


@kernel("f8[:,::1](f8[:,::1], i4[:,:], f8[:])")
def edge_forces(p: np.ndarray, indices: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    force = np.zeros_like(p)
    for r in range(len(multipliers)):
        if multipliers[r] == 0.0:
            continue
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, a] - p[0, b], p[1, a] - p[1, b], p[2, a] - p[2, b]
        share = multipliers[r] / max(sqrt(dx * dx + dy * dy + dz * dz), 1e-300)
        _pull(force, a, b, (dx * share, dy * share, dz * share))
    return force
