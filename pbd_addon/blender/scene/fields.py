"""Blender's force fields as a scene has them: which there are, and where they stand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kinds import Depsgraph, Object, Scene
from . import poses, surfaces, user_keys
from .arrays import values

ON_MESH = ("SURFACE", "POINTS")
"""Shapes of fields that are the object's mesh."""


class FieldPlace(NamedTuple):
    """Where a force field stands at one moment."""

    name: str  # of the object
    matrix: np.ndarray  # (4, 4) float64, object to world
    points: np.ndarray  # of its mesh, for the shapes `ON_MESH`, (m, 3) float32, object space [m]
    normals: np.ndarray  # (m, 3) float32
    triangles: np.ndarray  # (k, 3) int32

    def is_like(self, other: FieldPlace) -> bool:
        """Whether both are in the same place and shape."""
        return all(map(np.array_equal, self[1:], other[1:]))

    def blend(self, other: FieldPlace, fraction: float) -> FieldPlace:
        """The place on the straight way to `other`, with the mesh of that one."""
        return other._replace(matrix=(1.0 - fraction) * self.matrix + fraction * other.matrix)

    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Points and unit normals of the mesh in world space, (m, 3) float64."""
        normals = self.normals @ self.matrix[:3, :3].T
        lengths = np.linalg.norm(normals, axis=1, keepdims=True)
        return poses.to_world(self.points, self.matrix), normals / np.maximum(lengths, 1e-300)


def is_field(obj: Object) -> bool:
    """Whether an object is a force field."""
    return obj.field is not None and obj.field.type != "NONE"


def is_marked(obj: Object) -> bool:
    """Whether an object has Blender's own mark of what absorbs fields, the Collision modifier, and is no cloth."""
    marked = obj.type == "MESH" and any(modifier.type == "COLLISION" for modifier in obj.modifiers)
    return marked and not surfaces.is_simulated(obj)


def absorbers(scene: Scene) -> list[Object]:
    """What may take a share of fields with *Absorption*: objects with the Collision modifier, and our colliders."""
    found = {obj.session_uid: obj for obj in (*filter(is_marked, scene.objects), *surfaces.colliders(scene))}
    return [obj for obj in found.values() if not obj.hide_viewport]


def acting(scene: Scene, depsgraph: Depsgraph) -> list[Object]:
    """The force fields of a scene that are not hidden."""
    layer = depsgraph.view_layer
    found = [obj for obj in scene.objects if is_field(obj)]
    return [obj for obj in found if surfaces.takes_part(obj, depsgraph) and not obj.hide_get(view_layer=layer)]


def read_place(obj: Object, depsgraph: Depsgraph) -> FieldPlace:
    """Where a field stands as evaluated."""
    evaluated = obj.evaluated_get(depsgraph)
    has_mesh = obj.field.shape in ON_MESH and obj.type in surfaces.SURFACE_TYPES
    mesh = _read_mesh(evaluated) if has_mesh else _NO_MESH
    return FieldPlace(obj.name, np.array(evaluated.matrix_world, float), *mesh)


_NO_MESH = np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32)


def _read_mesh(evaluated: Object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, normals and triangles of an evaluated object's mesh."""
    mesh = evaluated.to_mesh()
    try:
        if mesh is None:
            return _NO_MESH
        normals = values(mesh.vertex_normals, "vector", size=3)
        return user_keys.read_vertices(mesh), normals, values(mesh.loop_triangles, "vertices", np.int32, 3)
    finally:
        evaluated.to_mesh_clear()
