"""Normals of faces, and cones around them, compiled by Numba."""

from __future__ import annotations

from math import asin, pi, sqrt

import numpy as np

from .compile import helper, kernel


@helper
def _normal(p: np.ndarray, triangles: np.ndarray, face: int) -> tuple[float, float, float]:
    a, b, c = np.uint64(triangles[0, face]), np.uint64(triangles[1, face]), np.uint64(triangles[2, face])
    ux, uy, uz = p[0, b] - p[0, a], p[1, b] - p[1, a], p[2, b] - p[2, a]
    vx, vy, vz = p[0, c] - p[0, a], p[1, c] - p[1, a], p[2, c] - p[2, a]
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx


@kernel("f8[:,::1](f8[:,::1], i4[:,:])")
def unit_normals(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    normals = np.empty((3, triangles.shape[1]))
    for face in range(triangles.shape[1]):
        x, y, z = _normal(p, triangles, face)
        scale = 1.0 / max(sqrt(x * x + y * y + z * z), 1e-300)
        normals[0, face], normals[1, face], normals[2, face] = scale * x, scale * y, scale * z
    return normals


@helper
def _unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    scale = 1.0 / max(sqrt(x * x + y * y + z * z), 1e-300)
    return scale * x, scale * y, scale * z


@helper
def _angle(chord: float) -> float:
    """Angle between unit vectors whose squared distance is `chord`."""
    return 2.0 * asin(min(0.5 * sqrt(chord), 1.0))


@kernel("Tuple((f8[:,::1], f8[:,::1], f8[::1]))(f8[:,::1], i4[::1], i4[::1], i4[::1], b1[::1])")
def normal_cones(
    normals: np.ndarray,
    starts: np.ndarray,
    member_starts: np.ndarray,
    members: np.ndarray,
    is_wanted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(is_wanted)
    is_needed = np.zeros(count, np.bool_)
    for center in range(count):
        if is_wanted[center]:
            for row in range(member_starts[center], member_starts[center + 1]):
                is_needed[members[row]] = True
    angles, axes = np.full((2, count), 2.0 * pi), np.zeros((3, count))
    turn = np.full(len(members), 2.0 * pi)
    boxes = np.full((count, 6), np.inf)
    for patch in range(count):
        if not is_needed[patch]:
            continue
        for face in range(starts[patch], starts[patch + 1]):
            for axis in range(3):
                boxes[patch, axis] = min(boxes[patch, axis], normals[axis, face])
                boxes[patch, 3 + axis] = min(boxes[patch, 3 + axis], -normals[axis, face])
        x, y, z = _unit(
            boxes[patch, 0] - boxes[patch, 3], boxes[patch, 1] - boxes[patch, 4], boxes[patch, 2] - boxes[patch, 5]
        )
        axes[0, patch], axes[1, patch], axes[2, patch] = x, y, z
        chord = 0.0
        for face in range(starts[patch], starts[patch + 1]):
            dx, dy, dz = normals[0, face] - x, normals[1, face] - y, normals[2, face] - z
            chord = max(chord, dx * dx + dy * dy + dz * dz)
        angles[0, patch] = _angle(chord)
    box = np.empty(6)
    for center in range(count):
        if not is_wanted[center]:
            continue
        box[:] = np.inf
        for row in range(member_starts[center], member_starts[center + 1]):
            for side in range(6):
                box[side] = min(box[side], boxes[members[row], side])
        x, y, z = _unit(box[0] - box[3], box[1] - box[4], box[2] - box[5])
        widest = 0.0
        for row in range(member_starts[center], member_starts[center + 1]):
            member = members[row]
            dx, dy, dz = x - axes[0, member], y - axes[1, member], z - axes[2, member]
            turn[row] = _angle(dx * dx + dy * dy + dz * dz)
            widest = max(widest, turn[row] + angles[0, member])
        angles[1, center] = widest
    return angles, axes, turn


@kernel("b1[::1](f8[:,::1], i4[:,::1], i4[::1], i4[::1], f8[:,::1], f8[::1])")
def outside_cones(
    p: np.ndarray,
    triangles: np.ndarray,
    first: np.ndarray,
    stop: np.ndarray,
    axes: np.ndarray,
    cosines: np.ndarray,
) -> np.ndarray:
    outside = np.zeros(len(first), np.bool_)
    for k in range(len(first)):
        for face in range(first[k], stop[k]):
            x, y, z = _normal(p, triangles, face)
            along = x * axes[0, k] + y * axes[1, k] + z * axes[2, k]
            outside[k] |= along * abs(along) < cosines[k] ** 2 * (x * x + y * y + z * z)
    return outside
