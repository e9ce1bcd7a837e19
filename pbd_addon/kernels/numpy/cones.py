"""Normals of faces and cones around them in NumPy."""

from __future__ import annotations

import numpy as np


def fold_cosines(p: np.ndarray, triangles: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    one, other = (_normals(p, triangles.take(side, axis=1)) for side in (left, right))
    return np.where(right < 0, -1.0, np.einsum("im,im->m", one, other))


def patch_cones(p: np.ndarray, triangles: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    normals = _normals(p, triangles)
    axes = np.add.reduceat(normals, starts, axis=1)
    axes /= np.maximum(np.sqrt(np.einsum("im,im->m", axes, axes)), 1e-300)
    counts = np.diff(np.append(starts, triangles.shape[1]))
    cosines = np.einsum("im,im->m", normals, np.repeat(axes, counts, axis=1))
    return axes, np.minimum.reduceat(cosines, starts)


def outside_cones(p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    normals = _crosses(p, triangles)
    along = np.einsum("im,im->m", normals, axes)
    return np.asarray(along * np.abs(along) < cosines**2 * np.einsum("im,im->m", normals, normals))


def _normals(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Unit normals of triangles, (3, t); 0 for one without area."""
    normals = _crosses(p, triangles)
    normals /= np.maximum(np.sqrt(np.einsum("im,im->m", normals, normals)), 1e-300)
    return normals


def _crosses(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of triangles, twice as long as their areas, (3, t) [m²]."""
    a, b, c = (p.take(corner, axis=1) for corner in triangles)
    b -= a
    c -= a
    return np.stack([b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]])
