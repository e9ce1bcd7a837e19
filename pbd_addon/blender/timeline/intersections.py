"""Faces that other faces go through at the start of a simulation: contact cannot pull those apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import Body, Polygons
from ...contact import crossing_faces


def tangled_faces(bodies: Sequence[Body]) -> list[np.ndarray]:
    """Faces of each body that an edge of itself or of another body goes through at the start.

    Returns:
        One array of the numbers of `TriMesh.triangle_faces` for each body, ascending, (k,) int.
    """
    offsets = np.cumsum([0, *(len(body.vertices) for body in bodies)])
    x = np.concatenate([body.vertices for body in bodies])
    triangles = [body.mesh.triangles + offset for body, offset in zip(bodies, offsets)]
    crossed = np.split(crossing_faces(x, np.concatenate(triangles)), np.cumsum([len(part) for part in triangles])[:-1])
    return [np.unique(body.mesh.triangle_faces[part]) for body, part in zip(bodies, crossed)]


def kept_faces(faces: Polygons) -> np.ndarray:
    """Numbers of the faces that a `TriMesh` keeps: of those with the same corners the first, (f,) int."""
    sizes = np.diff(faces.starts)
    keep = np.zeros(len(sizes), bool)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        corners = np.sort(faces.corners[faces.starts[rows][:, None] + np.arange(size)], axis=1)
        keep[rows[np.unique(corners, axis=0, return_index=True)[1]]] = True
    return np.flatnonzero(keep)
