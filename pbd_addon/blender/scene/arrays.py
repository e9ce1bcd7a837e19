"""Blender's collections as arrays."""

import bpy
import numpy as np

from ..kinds import Mesh


def values(items: bpy.types.bpy_prop_collection, name: str, kind: type = np.float32, size: int = 1) -> np.ndarray:
    """An attribute of all items of a collection: (n,), or (n, size) where each has several numbers."""
    found: np.ndarray = np.empty(size * len(items), kind)
    if len(found):
        items.foreach_get(name, found)
    return found if size == 1 else found.reshape(-1, size)


def face_corners(mesh: Mesh) -> np.ndarray:
    """The vertex (c,) int32 of each face corner; other than loops and where faces start, it is read at once."""
    return values(mesh.attributes[".corner_vert"].data, "value", np.int32) if len(mesh.loops) else np.empty(0, np.int32)


def edge_vertices(mesh: Mesh) -> np.ndarray:
    """The vertices (e, 2) int32 of the edges of a mesh."""
    return values(mesh.edges, "vertices", np.int32, 2)
