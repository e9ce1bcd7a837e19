"""Evaluated surfaces of other objects: colliders and attachment targets.

They are read at every simulated frame, after modifiers, armatures and shape keys. Arrays that did not change since the
last read are shared, so a static collider takes no memory and hardly any time.
"""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ... import Polygons
from ..errors import PBDError
from ..kinds import Depsgraph, Mesh, Object, Scene
from . import linked, poses, user_keys
from .arrays import edge_vertices, face_corners
from .scene_objects import is_body

SURFACE_TYPES = ("MESH", "CURVE", "SURFACE", "FONT", "META")
"""Types of objects that Blender can convert to faces, so that cloth can collide with them."""


class Surface(NamedTuple):
    """The evaluated mesh of an object at one frame."""

    name: str  # of the object
    matrix: np.ndarray  # (4, 4) float64, object to world
    points: np.ndarray  # (n, 3) float32, object space [m]
    faces: Polygons  # where there are none, the edges, with two corners each
    group: str = ""  # the vertex group whose faces these are; "" for all
    takes_part: np.ndarray | None = None  # vertices of that group (n,) bool

    @property
    def has_faces(self) -> bool:
        """Whether there are faces, not only edges."""
        return bool((np.diff(self.faces.starts) > 2).any())

    @property
    def mirrored(self) -> bool:
        """Whether the transform turns the surface inside out."""
        return bool(np.linalg.det(self.matrix[:3, :3]) < 0.0)

    def world(self) -> np.ndarray:
        """World positions (n, 3) float64 [m]."""
        return poses.to_world(self.points, self.matrix)

    def fits(self, other: Surface) -> bool:
        """Whether both have the same faces, so that moving vertices turns one into the other."""
        same = self.faces is other.faces or all(map(np.array_equal, self.faces, other.faces))
        return same and len(self.points) == len(other.points) and self.mirrored == other.mirrored

    def is_like(self, other: Surface) -> bool:
        """Whether both have the same transform, points and faces."""
        return (
            self.fits(other)
            and np.array_equal(self.matrix, other.matrix)
            and (self.points is other.points or np.array_equal(self.points, other.points))
        )

    def blend(self, other: Surface, fraction: float) -> Surface:
        """The linear interpolation to `other`, or `other` itself if its faces differ."""
        if not self.fits(other):
            return other
        matrix = (1 - fraction) * self.matrix + fraction * other.matrix
        if self.points is other.points:
            return other._replace(matrix=matrix)
        share = np.float32(fraction)
        return other._replace(matrix=matrix, points=(1 - share) * self.points + share * other.points)


def takes_part(obj: Object, depsgraph: Depsgraph) -> bool:
    """Whether an object collides: it is neither disabled in viewports nor excluded from the view layer.

    An object hidden by its eye icon or in renders does. Being evaluated is no criterion, because everything that a
    property points to is evaluated.
    """
    layer = depsgraph.view_layer
    if obj.hide_viewport or not (layer.objects.get(obj.name) == obj or obj in layer.objects[:]):
        return False
    # `users_collection` scans the objects of all collections, so it is read only if it can matter.
    if not any(collection.hide_viewport for collection in bpy.data.collections):
        return True
    return not all(collection.hide_viewport for collection in obj.users_collection)


def read(obj: Object, depsgraph: Depsgraph, known: Surface | None = None) -> Surface:
    """The evaluated surface of an object of a type in `SURFACE_TYPES`; equal arrays are shared with a `known` one.

    Of a collider with a vertex group, the faces whose vertices are all in it; that is read once, not at each frame.
    Raises a `PBDError` if a vertex has invalid coordinates, or there is no such group.
    """
    evaluated = obj.evaluated_get(depsgraph)
    group = obj.pbd_collider.group if obj.pbd_collider.enabled and obj.type == "MESH" else ""
    chosen = None
    mesh = evaluated.to_mesh()
    try:
        points = np.empty((0, 3), np.float32) if mesh is None else user_keys.read_vertices(mesh)
        faces = _faces(mesh, known)
        if group:
            chosen = _in_group(obj, mesh, group, known)
            faces = _among(faces, chosen, known)
    finally:
        evaluated.to_mesh_clear()
    if known is not None and np.array_equal(known.points, points):
        points = known.points
    elif not np.isfinite(points).all():
        bad = np.flatnonzero(~np.isfinite(points).all(axis=1))[0]
        raise PBDError(f"Vertex {bad} of '{obj.name}' has invalid coordinates (NaN): delete or move it")
    return Surface(obj.name, np.array(evaluated.matrix_world), points, faces, group, chosen)


def _in_group(obj: Object, mesh: Mesh | None, group: str, known: Surface | None) -> np.ndarray:
    """Which vertices of an evaluated mesh are in a group, (n,) bool; those of the known surface if it is the same."""
    if group not in obj.vertex_groups:
        raise PBDError(f"'{obj.name}' has no vertex group '{group}' to collide with: choose another group")
    count = 0 if mesh is None else len(mesh.vertices)
    if known is not None and known.group == group and known.takes_part is not None and len(known.takes_part) == count:
        return known.takes_part
    return user_keys.read_weights(obj, group, mesh) > 0.0


def _among(faces: Polygons, chosen: np.ndarray, known: Surface | None) -> Polygons:
    """The faces with chosen vertices (n,) bool alone; those of the known surface if they are equal."""
    sizes = np.diff(faces.starts)
    of_face = np.repeat(np.arange(len(sizes)), sizes)
    kept = np.bincount(of_face, ~chosen[faces.corners], len(sizes)) == 0
    starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int32)
    found = Polygons(faces.corners[kept[of_face]], starts)
    return known.faces if known is not None and all(map(np.array_equal, known.faces, found)) else found


def _faces(mesh: Mesh | None, known: Surface | None) -> Polygons:
    """Faces of a mesh, or of None, and without any its edges; those of the known surface if they are equal.

    Only corners are compared: reading where faces start takes fifty times as long.
    """
    corners = np.empty(0, np.int32) if mesh is None else face_corners(mesh)
    count = 0 if mesh is None else len(mesh.polygons)
    if mesh is not None and not count and len(mesh.edges):
        return _edges(mesh, known)
    if known is not None and len(known.faces.starts) == count + 1 and np.array_equal(known.faces.corners, corners):
        return known.faces
    starts = np.empty(count + 1, np.int32)
    if count:
        mesh.polygons.foreach_get("loop_start", starts[:-1])
    starts[-1] = len(corners)
    return Polygons(corners, starts)


def _edges(mesh: Mesh, known: Surface | None) -> Polygons:
    corners = edge_vertices(mesh).ravel()
    edges = Polygons(corners, np.arange(0, len(corners) + 1, 2, np.int32))
    return known.faces if known is not None and all(map(np.array_equal, known.faces, edges)) else edges


def is_simulated(obj: Object) -> bool:
    """Whether the object is a PBD object that is switched on, local and not baked."""
    return is_body(obj) and obj.pbd.active and not obj.pbd.baked and not linked.problem(obj)


def colliders(scene: Scene) -> list[Object]:
    """The colliders of a scene: marked objects, and those in its collider collection."""
    marked = [obj for obj in scene.objects if obj.pbd_collider.enabled]
    collection = scene.pbd.collider_collection
    chosen = {obj.session_uid: obj for obj in (*marked, *(collection.all_objects if collection else ()))}
    return [obj for obj in chosen.values() if obj.type in SURFACE_TYPES and not is_simulated(obj)]
