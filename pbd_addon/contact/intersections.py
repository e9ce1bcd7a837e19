"""Faces that intersect at the start of a simulation: contact cannot separate those."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..meshes.mesh import Polygons, fans
from .crossings import crossing_faces, inside

if TYPE_CHECKING:
    from ..bodies.body import Body


def intersecting_faces(bodies: Sequence[Body]) -> list[np.ndarray]:
    """The faces of each body that an edge of any body intersects at the start, ascending (k,) int."""
    offsets = np.cumsum([0, *(len(body.vertices) for body in bodies)])
    x = np.concatenate([body.vertices for body in bodies])
    meshes = [body.whole.mesh for body in bodies]
    triangles = [mesh.triangles + offset for mesh, offset in zip(meshes, offsets)]
    crossed = np.split(crossing_faces(x, np.concatenate(triangles)), np.cumsum([len(part) for part in triangles])[:-1])
    return [np.unique(mesh.triangle_faces[part]) for mesh, part in zip(meshes, crossed)]


def kept_faces(faces: Polygons) -> np.ndarray:
    """Numbers (f,) int of the faces that a `TriMesh` keeps: the first of those with the same corners."""
    sizes = np.diff(faces.starts)
    keep = np.zeros(len(sizes), bool)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        corners = np.sort(faces.corners[faces.starts[rows][:, None] + np.arange(size)], axis=1)
        keep[rows[np.unique(corners, axis=0, return_index=True)[1]]] = True
    return np.flatnonzero(keep)


ON_SURFACE = 1e-6
"""Points closer to a surface than this fraction of its size are on it."""


def on_wrong_side(points: np.ndarray, x: np.ndarray, faces: Polygons, is_container: bool) -> np.ndarray:
    """Indices (j,) int of the points (k, 3) [m] on the wrong side of a closed surface at x (n, 3), and not on it."""
    low, high = x.min(axis=0), x.max(axis=0)
    within = ((points > low) & (points < high)).all(axis=1)
    rows = np.arange(len(points)) if is_container else np.flatnonzero(within)
    if not len(rows) or not is_closed(faces):
        return rows[:0]
    triangles = fans(faces).T
    aside = ON_SURFACE * (high - low).max() * np.array([1.0, 0.7, 0.4])  # A direction that is parallel to few faces.
    for way in (0.0, aside, -aside):
        if not len(rows):
            break
        rows = rows[inside((points[rows] + way).T, x.T, triangles) != is_container]
    return rows


def is_closed(faces: Polygons) -> bool:
    """Whether an even number of faces meets at every edge."""
    corners, starts = faces
    following = np.arange(len(corners)) + 1
    following[starts[1:] - 1] = starts[:-1]
    sides = np.sort(np.stack([corners, corners[following]], axis=1).astype(np.int64), axis=1)
    counts = np.unique(sides @ np.array([corners.max() + 1, 1]), return_counts=True)[1]
    return bool((counts % 2 == 0).all())
