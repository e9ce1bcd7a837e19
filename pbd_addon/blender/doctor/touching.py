"""Cloth that begins on the surface of a collider or of other cloth, where contact cannot tell the sides apart."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from mathutils.bvhtree import BVHTree

from ... import Polygons
from ..kinds import Object
from ..read import mesh_io
from ..read.snapshot import SceneSnapshot
from ..scene import surfaces
from ..scene.scene_objects import live_bodies
from . import misplaced

TOUCH = 1e-4
"""Points closer to a surface than this fraction of the median edge length are on it."""


class Touching(NamedTuple):
    """Vertices on the surface of another object."""

    other: str  # name of that object
    ids: np.ndarray  # (k,) int


def find(obj: Object, usual_edge: float, snapshot: SceneSnapshot) -> Touching | None:
    """Free vertices of an object on a surface, of the one with the most of them, or None."""
    rows = np.flatnonzero(misplaced.free_vertices(obj))
    points = misplaced.start_shape(obj, snapshot)[rows]
    found = []
    for name, places, faces in _others(obj, snapshot):
        low, high = places.min(axis=0) - TOUCH * usual_edge, places.max(axis=0) + TOUCH * usual_edge
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        tree: Any = BVHTree.FromPolygons(places.tolist(), surfaces.fans(faces).tolist(), all_triangles=True)
        on = [tree.find_nearest(point, TOUCH * usual_edge)[0] is not None for point in points[near].tolist()]
        found.append(Touching(name, rows[near[np.array(on, bool)]]))
    worst = max(found, key=lambda one: len(one.ids), default=None)
    return worst if worst is not None and len(worst.ids) else None


def _others(obj: Object, snapshot: SceneSnapshot) -> Iterator[tuple[str, np.ndarray, Polygons]]:
    """Name, world positions (n, 3) [m] and faces of the colliders and of all other cloth."""
    for uid in snapshot.collider_uids:
        surface = snapshot.surfaces[uid]
        yield surface.name, surface.world(), surface.faces
    for other in live_bodies(obj.users_scene[0]):
        if other != obj and other.mode != "EDIT" and other.data.polygons:
            yield other.name, misplaced.start_shape(other, snapshot), mesh_io.read_polygons(other.data)
