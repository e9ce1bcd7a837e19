"""Normals of faces and cones around them compiled by Numba."""

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


@kernel("f8[::1](f8[:,::1], i8[:,:], i8[:], i8[:])")
def fold_cosines(p: np.ndarray, triangles: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    cosines = np.full(len(left), -1.0)
    for edge in range(len(left)):
        if right[edge] >= 0:
            ax, ay, az = _normal(p, triangles, left[edge])
            bx, by, bz = _normal(p, triangles, right[edge])
            squares = (ax * ax + ay * ay + az * az) * (bx * bx + by * by + bz * bz)
            cosines[edge] = (ax * bx + ay * by + az * bz) / max(sqrt(squares), 1e-300)
    return cosines


@kernel("Tuple((f8[:,::1], f8[::1]))(f8[:,::1], i8[:,:], i8[:])")
def patch_cones(p: np.ndarray, triangles: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    count, faces = len(starts), triangles.shape[1]
    axes, cosines, normals = np.empty((3, count)), np.empty(count), np.empty((faces, 3))
    for patch in range(count):
        end = starts[patch + 1] if patch + 1 < count else faces
        sx, sy, sz = 0.0, 0.0, 0.0
        for face in range(starts[patch], end):
            x, y, z = _normal(p, triangles, face)
            length = max(sqrt(x * x + y * y + z * z), 1e-300)
            x, y, z = x / length, y / length, z / length
            normals[face, 0], normals[face, 1], normals[face, 2] = x, y, z
            sx, sy, sz = sx + x, sy + y, sz + z
        length = max(sqrt(sx * sx + sy * sy + sz * sz), 1e-300)
        sx, sy, sz = sx / length, sy / length, sz / length
        axes[0, patch], axes[1, patch], axes[2, patch] = sx, sy, sz
        least = 1.0
        for face in range(starts[patch], end):
            least = min(least, sx * normals[face, 0] + sy * normals[face, 1] + sz * normals[face, 2])
        cosines[patch] = least
    return axes, cosines


@kernel("b1[::1](f8[:,::1], i8[:,:], f8[:,:], f8[:])")
def outside_cones(p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    outside = np.empty(triangles.shape[1], np.bool_)
    for face in range(len(outside)):
        x, y, z = _normal(p, triangles, face)
        along = x * axes[0, face] + y * axes[1, face] + z * axes[2, face]
        outside[face] = along * abs(along) < cosines[face] ** 2 * (x * x + y * y + z * z)
    return outside
