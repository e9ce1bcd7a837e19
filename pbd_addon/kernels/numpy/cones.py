"""Normal cones in NumPy, level by level from the top."""

from __future__ import annotations

import numpy as np


def find_flat_patches(
    p: np.ndarray, triangles: np.ndarray, leaves: np.ndarray, can_be_flat: np.ndarray, cosine: float
) -> tuple[np.ndarray, np.ndarray]:
    patch, axes = np.zeros(triangles.shape[1], int), np.zeros((3, triangles.shape[1]))
    places = np.flatnonzero(leaves >= 0)
    faces = leaves[places]
    normals = face_normals(p, triangles).take(faces, axis=1)
    normals /= np.maximum(np.sqrt(np.einsum("im,im->m", normals, normals)), 1e-300)
    height, depth = len(leaves).bit_length() - 1, len(can_be_flat).bit_length() - 2
    for level in range(depth + 1):
        if not len(places):
            break
        first, node = 1 << level, places >> (height - level)
        axis: np.ndarray = np.stack([np.bincount(node, component, first) for component in normals])
        axis /= np.maximum(np.sqrt(np.einsum("im,im->m", axis, axis)), 1e-300)
        own = axis.take(node, axis=1)
        outside = np.einsum("im,im->m", normals, own) < cosine
        flat = (np.bincount(node, outside, first) == 0) & can_be_flat[first : 2 * first]
        chosen = flat.take(node)
        if chosen.any():
            patch[faces[chosen]] = first + node[chosen]
            axes[:, faces[chosen]] = own[:, chosen]
            left = np.flatnonzero(~chosen)
            places, faces, normals = places[left], faces[left], normals.take(left, axis=1)
    return patch, axes


def outside_cones(p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosine: float) -> np.ndarray:
    normals = face_normals(p, triangles)
    along = np.einsum("im,im->m", normals, axes)
    return np.asarray(along * np.abs(along) < cosine**2 * np.einsum("im,im->m", normals, normals))


def face_normals(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of triangles (3, t) at p (3, n), twice as long as their areas, (3, t) [m²]."""
    a, b, c = (p.take(corner, axis=1) for corner in triangles)
    b -= a
    c -= a
    return np.stack([b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]])
