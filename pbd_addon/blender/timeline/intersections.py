"""Faces that intersect at the start of a simulation: contact cannot separate those."""

from collections.abc import Sequence

import numpy as np

from ... import Body, Polygons
from ...contact import crossing_faces


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
