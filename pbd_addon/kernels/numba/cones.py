"""Normal cones compiled by Numba."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .compile import helper, kernel


@helper
def _normal(p: np.ndarray, triangles: np.ndarray, face: int) -> tuple[float, float, float]:
    a, b, c = np.uint64(triangles[0, face]), np.uint64(triangles[1, face]), np.uint64(triangles[2, face])
    ux, uy, uz = p[0, b] - p[0, a], p[1, b] - p[1, a], p[2, b] - p[2, a]
    vx, vy, vz = p[0, c] - p[0, a], p[1, c] - p[1, a], p[2, c] - p[2, a]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@kernel("Tuple((i8[::1], f8[:,::1]))(f8[:,::1], i8[:,:], i8[:], b1[:], f8)")
def find_flat_patches(
    p: np.ndarray, triangles: np.ndarray, leaves: np.ndarray, can_be_flat: np.ndarray, cosine: float
) -> tuple[np.ndarray, np.ndarray]:
    width, patches = len(leaves), len(can_be_flat)
    normals, sums = np.zeros((width, 3)), np.zeros((patches, 3))
    below = 2 * width // patches  # leaves of each cell
    for leaf in range(width):
        if leaves[leaf] >= 0:
            x, y, z = _normal(p, triangles, leaves[leaf])
            scale = 1.0 / max(sqrt(x * x + y * y + z * z), 1e-300)
            normals[leaf, 0], normals[leaf, 1], normals[leaf, 2] = scale * x, scale * y, scale * z
            for axis in range(3):
                sums[patches // 2 + leaf // below, axis] += normals[leaf, axis]
    for node in range(patches // 2 - 1, 0, -1):
        for axis in range(3):
            sums[node, axis] = sums[2 * node, axis] + sums[2 * node + 1, axis]
    patch, axes = np.zeros(triangles.shape[1], np.int64), np.zeros((3, triangles.shape[1]))
    is_covered = np.zeros(patches, np.bool_)
    span, first = width, 1
    for node in range(1, patches):
        if node == 2 * first:
            span, first = span // 2, node
        if node > 1 and is_covered[node // 2]:
            is_covered[node] = True
            continue
        if not can_be_flat[node]:
            continue
        x, y, z = sums[node, 0], sums[node, 1], sums[node, 2]
        scale = 1.0 / max(sqrt(x * x + y * y + z * z), 1e-300)
        x, y, z = scale * x, scale * y, scale * z
        start, leaf = (node - first) * span, 0
        while leaf < span:
            place = start + leaf
            along = normals[place, 0] * x + normals[place, 1] * y + normals[place, 2] * z
            if leaves[place] >= 0 and along < cosine:
                break
            leaf += 1
        if leaf == span:
            is_covered[node] = True
            for place in range(start, start + span):
                if leaves[place] >= 0:
                    face = leaves[place]
                    patch[face] = node
                    axes[0, face], axes[1, face], axes[2, face] = x, y, z
    return patch, axes


@kernel("b1[::1](f8[:,::1], i8[:,:], f8[:,:], f8)")
def outside_cones(p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosine: float) -> np.ndarray:
    outside = np.empty(triangles.shape[1], np.bool_)
    for face in range(len(outside)):
        x, y, z = _normal(p, triangles, face)
        along = x * axes[0, face] + y * axes[1, face] + z * axes[2, face]
        outside[face] = along * abs(along) < cosine**2 * (x * x + y * y + z * z)
    return outside
