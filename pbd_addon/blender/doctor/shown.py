"""What goes through what in the shown meshes: after the simulation, and after all modifiers that act on it."""

from typing import NamedTuple

import numpy as np

from ...contact.crossings import crossing_faces, crossing_pairs
from ...meshes.joints import coincident
from ...meshes.mesh import fans
from ...meshes.surface_points import nearest_points
from ..kinds import Depsgraph, Object, Scene
from ..read import mesh_io
from ..scene import surfaces


class Crossing(NamedTuple):
    """What crosses a mesh."""

    name: str  # of the collider, or of the object itself
    faces: int  # of the shown mesh that something goes through, or that go through something
    vertices: np.ndarray  # of the object's own mesh, (k,) int


class Counted(NamedTuple):
    """What was counted."""

    frame: int
    crossings: tuple[Crossing, ...]


_counted: dict[int, Counted] = {}


def count(scene: Scene, depsgraph: Depsgraph, obj: Object) -> tuple[Crossing, ...]:
    """All that crosses the shown mesh of an object, as `depsgraph` has evaluated it; it is kept. Raises `PBDError`."""
    cloth = surfaces.read(obj, depsgraph)
    points, triangles = cloth.world(), fans(cloth.faces)
    found = {}
    for other in surfaces.colliders(scene):
        if other != obj and surfaces.takes_part(other, depsgraph):
            solid = surfaces.read(other, depsgraph)
            found[other.name] = _crossed(points, triangles, solid.world(), fans(solid.faces))
    # Seams that have closed: what is one place apart by the rounding of float32 does not go through itself there.
    found[obj.name] = crossing_faces(points, coincident(points, cloth.faces)[triangles])
    of_face = np.repeat(np.arange(len(cloth.faces.starts) - 1), np.maximum(np.diff(cloth.faces.starts) - 2, 0))
    crossings = tuple(
        Crossing(name, len(np.unique(of_face[which])), _own_vertices(obj, points, np.unique(triangles[which])))
        for name, which in found.items()
        if which.any()
    )
    _counted[obj.session_uid] = Counted(scene.frame_current, crossings)
    return crossings


def counted(obj: Object) -> Counted | None:
    """What was counted last of an object, or None."""
    return _counted.get(obj.session_uid)


def forget() -> None:
    """Forget what was counted, because another file is loaded or something was undone."""
    _counted.clear()


def _crossed(points: np.ndarray, triangles: np.ndarray, others: np.ndarray, solid: np.ndarray) -> np.ndarray:
    """Which triangles (t, 3) at points (n, 3) cross triangles (s, 3) at others (m, 3) [m], (t,) bool."""
    crossed = np.zeros(len(triangles), bool)
    if not len(triangles) or not len(solid):
        return crossed
    x = np.ascontiguousarray(np.concatenate([points, others]).T)
    solid = solid + len(points)
    crossed[crossing_pairs(x, _sides(triangles), solid.T)[0] % len(triangles)] = True
    crossed[crossing_pairs(x, _sides(solid), triangles.T)[1]] = True
    return crossed


def _sides(triangles: np.ndarray) -> np.ndarray:
    """The sides (2, 3 t) of triangles (t, 3), side k of triangle i at k t + i."""
    return np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]).T


def _own_vertices(obj: Object, points: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The vertices of an object's mesh at shown vertices `ids` (k,), or nearest to those that modifiers have added.

    Modifiers that refine or thicken a mesh put its own vertices first.
    """
    count = len(obj.data.vertices)
    if len(points) == count:
        return ids
    own = fans(mesh_io.read_polygons(obj.data))
    if len(points) < count or not len(own):
        return ids[:0]
    nearest, weights = nearest_points(points[ids], points[:count], own)
    return np.unique(own[nearest, weights.argmax(axis=1)])
