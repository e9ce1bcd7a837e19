"""Cloth that begins where contact cannot help it.

That is on the wrong side of a collider, inside a closed one or outside one that keeps it inside; or on the surface of
a collider or of other cloth, where the sides cannot be told apart.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from mathutils.bvhtree import BVHTree

from ... import Polygons
from ...contact import intersections
from ...meshes.mesh import fans
from ..errors import PBDError
from ..kinds import Object, Scene
from ..read import mesh_io
from ..read.snapshot import SceneSnapshot, read_snapshot, read_surroundings
from ..scene import poses, user_keys
from ..scene.scene_objects import layer_of, live_bodies
from ..scene.simulated_range import last_shown
from ..settings import raw_settings
from ..timeline import session

TOUCH = 1e-4
"""Points closer to a surface than this fraction of the median edge length are on it."""


class Misplaced(NamedTuple):
    """Vertices on the wrong side or on the surface of another object."""

    other: str  # its name
    ids: np.ndarray  # (k,) int
    is_container: bool = False  # whether it is a collider that keeps cloth inside


def beginning(scene: Scene) -> SceneSnapshot:
    """The snapshot of the simulation's first frame, or of the scene as it is now."""
    running, layer = session.get(scene), layer_of(scene)
    if running is not None and running.scene_sim is not None and last_shown(scene) != running.first_frame:
        return running.snapshots[running.first_frame]
    layer.update()
    objects = [obj for obj in live_bodies(scene) if obj.mode != "EDIT"]
    snapshot = read_snapshot(scene, layer.depsgraph, objects)
    try:
        return read_surroundings(scene, layer.depsgraph, snapshot, objects, {})
    except PBDError:  # The panel shows this error as soon as a frame is stepped.
        return snapshot


def on_wrong_side(obj: Object, snapshot: SceneSnapshot) -> Misplaced | None:
    """Free vertices of an object on the wrong side of a collider, of the one with the most of them, or None."""
    x, rows = start_shape(obj, snapshot), np.flatnonzero(free_vertices(obj))
    found = []
    for uid in snapshot.uids("collider"):
        surface = snapshot.surfaces[uid]
        is_container = raw_settings.collider_from(snapshot.settings["collider", uid])["inside"]
        found.append(
            Misplaced(
                surface.name,
                rows[intersections.on_wrong_side(x[rows], surface.world(), surface.faces, is_container)],
                is_container,
            )
        )
    return _worst(found)


def on_a_surface(obj: Object, usual_edge: float, snapshot: SceneSnapshot) -> Misplaced | None:
    """Free vertices of an object on a surface, of the one with the most of them, or None."""
    rows = np.flatnonzero(free_vertices(obj))
    points = start_shape(obj, snapshot)[rows]
    found = []
    for name, places, faces in _others(obj, snapshot):
        low, high = places.min(axis=0) - TOUCH * usual_edge, places.max(axis=0) + TOUCH * usual_edge
        near = np.flatnonzero(((points >= low) & (points <= high)).all(axis=1))
        tree: Any = BVHTree.FromPolygons(places.tolist(), fans(faces).tolist(), all_triangles=True)
        on = [tree.find_nearest(point, TOUCH * usual_edge)[0] is not None for point in points[near].tolist()]
        found.append(Misplaced(name, rows[near[np.array(on, bool)]]))
    return _worst(found)


def _worst(found: list[Misplaced]) -> Misplaced | None:
    worst = max(found, key=lambda one: len(one.ids), default=None)
    return worst if worst is not None and len(worst.ids) else None


def _others(obj: Object, snapshot: SceneSnapshot) -> Iterator[tuple[str, np.ndarray, Polygons]]:
    """Name, world positions (n, 3) [m] and faces of the colliders and of all other cloth."""
    for uid in snapshot.uids("collider"):
        surface = snapshot.surfaces[uid]
        yield surface.name, surface.world(), surface.faces
    for other in live_bodies(obj.users_scene[0]):
        if other != obj and other.mode != "EDIT" and other.data.polygons:
            yield other.name, start_shape(other, snapshot), mesh_io.read_polygons(other.data)


def start_shape(obj: Object, snapshot: SceneSnapshot) -> np.ndarray:
    """World positions (n, 3) float64 [m] of an object's vertices in a snapshot."""
    pose = snapshot.poses.get(obj.session_uid) or poses.read_last_pose(obj)
    shape = snapshot.deformed.get(obj.session_uid)
    if shape is None or len(shape) != len(obj.data.vertices):
        shape = user_keys.user_shape(obj, pose.key_values, user_keys.read_masks(obj))
    return poses.to_world(shape, pose.matrix)


def free_vertices(obj: Object) -> np.ndarray:
    """Which vertices are not pinned with weight 1, (n,) bool."""
    free = np.ones(len(obj.data.vertices), bool)
    try:
        pins = mesh_io.read_pins(obj)
    except PBDError:  # Either no vertex is free, or a group is missing, which another check reports.
        return ~free
    free[[vertex for vertex, weight in pins.items() if weight >= 1.0]] = False
    return free
