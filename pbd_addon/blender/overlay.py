"""What one cannot see of a simulation, as points and lines for a 3D View: floor, wind, pinned and attached vertices.

Places are in world space [m], float32, as the GPU takes them. Nothing here draws.
"""

from collections.abc import Iterator
from typing import NamedTuple

import bpy
import numpy as np

from ..meshes.factors import TAKES_PART
from .errors import PBDError
from .kinds import Object, Scene
from .output import output_modifier, shape_keys
from .read import mesh_io
from .scene import poses, user_keys
from .scene.scene_objects import bodies, live_bodies
from .settings import wind
from .timeline import session

CELLS = 10
"""Cells of the floor's grid on each side of its middle."""

LEAST_CELL = 0.1
"""Cells are at least so wide [m]; they double until the grid is `WIDER` than what lies on it."""

WIDER = 2.0**0.5
"""The least width of the grid in widths of what lies on it. Then no width of 1, 2 or 4 m, which is usual and which the
motion of the cloth changes a little in each frame, is near one at which the cells double."""

WAY = 0.1
"""The arrow is as long as the way of the air in this time: 1 m at 10 m/s."""

BARBS = 0.2
"""Length of its barbs, as a share of its own."""


class Held(NamedTuple):
    """The held vertices of an object."""

    key: tuple  # what has to be the same for them to hold
    pinned: np.ndarray  # (p,) int
    attached: np.ndarray  # (a,) int
    letting: np.ndarray  # weights of the group that can let go, (n,) float32


_held: dict[int, Held] = {}
_frames: dict[int, int] = {}
"""By scene: the frame at which it was told of last."""


def points(scene: Scene, view_layer: bpy.types.ViewLayer) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of every live object on show: where its pinned and its attached vertices are, (p, 3) and (a, 3)."""
    for obj in live_bodies(scene):
        if obj.mode != "OBJECT" or not (obj.pbd.hold_pins and obj.visible_get(view_layer=view_layer)):
            continue
        held = held_vertices(obj)
        if len(held.pinned) or len(held.attached):
            x = shown_places(scene, obj)
            holds = obj.pbd.hold_low + held.letting * (obj.pbd.hold_high - obj.pbd.hold_low) >= TAKES_PART
            yield x[held.pinned[holds[held.pinned]]], x[held.attached[holds[held.attached]]]


def held_vertices(obj: Object) -> Held:
    """Which vertices are held; kept until an edit, because Blender reads vertex groups slowly."""
    pbd = obj.pbd
    key = (len(obj.data.vertices), pbd.pin_group, pbd.attach_group, pbd.attach_object is None, pbd.hold_group)
    found = _held.get(obj.session_uid)
    if found is None or found.key != key:
        found = _held[obj.session_uid] = _read_held(obj, key)
    return found


def _read_held(obj: Object, key: tuple) -> Held:
    nothing = np.zeros(0, np.int64)
    try:
        attached = np.flatnonzero(mesh_io.read_attached(obj))
    except PBDError:  # The panel says so.
        attached = nothing
    pinned = nothing
    if obj.pbd.pin_group in obj.vertex_groups:
        pinned = np.setdiff1d(np.flatnonzero(user_keys.read_weights(obj, obj.pbd.pin_group)), attached)
    letting = np.zeros(len(obj.data.vertices), np.float32)
    if obj.pbd.hold_group in obj.vertex_groups:
        letting = user_keys.read_weights(obj, obj.pbd.hold_group)
    return Held(key, pinned, attached, letting)


def shown_places(scene: Scene, obj: Object) -> np.ndarray:
    """Where the vertices of an object are shown, (n, 3) float32."""
    running = session.get(scene)
    if running is not None and running.scene_sim is not None:
        frame = min(max(session.last_shown(scene), running.first_frame), running.last_frame)
        for member in running.scene_sim.members:
            if member.uid == obj.session_uid and len(member.body.vertices) == len(obj.data.vertices):
                return running.scene_sim.simulation.cached_positions(member.body, frame).astype(np.float32)
    live = shape_keys.live_key(obj)
    shape = output_modifier.read(obj) if live is None else user_keys.read_points(live)
    if shape is None:
        shape = user_keys.read_vertices(obj.data)
    return poses.to_world(shape, np.array(obj.matrix_world)).astype(np.float32)


def floor_lines(scene: Scene) -> np.ndarray:
    """The floor as a grid of lines around what may fall on it, (2 k, 3), two ends after another; none if it is off."""
    if not scene.pbd.use_floor:
        return np.zeros((0, 3), np.float32)
    boxes = [poses.to_world(np.array(obj.bound_box), np.array(obj.matrix_world)) for obj in bodies(scene)]
    places = np.concatenate([np.zeros((0, 3)), *boxes])[:, :2] if boxes else np.zeros((1, 2))
    middle, reach = places.mean(axis=0), float(np.ptp(places, axis=0).max())
    cell = LEAST_CELL
    while 2 * CELLS * cell < WIDER * reach:
        cell *= 2.0
    middle = cell * np.round(middle / cell)
    at, end = cell * np.arange(-CELLS, CELLS + 1), cell * CELLS
    along = np.stack([np.repeat(at, 2), np.tile([-end, end], len(at))], axis=1)
    lines = np.concatenate([along, along[:, ::-1]]) + middle
    return np.column_stack([lines, np.full(len(lines), scene.pbd.floor_height)]).astype(np.float32)


def wind_lines(scene: Scene) -> np.ndarray:
    """The wind as an arrow, (2 k, 3), two ends after another; none without wind.

    It stands above the middle of what is simulated, or above the origin.
    """
    along = np.array(wind.direction(scene.pbd))
    length, speed = float(np.linalg.norm(along)), scene.pbd.wind_speed
    if not (0.0 < length < np.inf and 0.0 < speed < np.inf):
        return np.zeros((0, 3), np.float32)
    boxes = [poses.to_world(np.array(obj.bound_box), np.array(obj.matrix_world)) for obj in live_bodies(scene)]
    corners = np.concatenate(boxes if boxes else [np.zeros((1, 3))])
    way = WAY * speed * along / length
    middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    middle[2] = corners[:, 2].max() + 0.1
    tail, tip = middle - 0.5 * way, middle + 0.5 * way
    aside = np.cross(way, np.eye(3)[np.argmin(np.abs(way))])
    aside *= BARBS * np.linalg.norm(way) / np.linalg.norm(aside)
    up = np.cross(aside, way) / np.linalg.norm(way)
    barbs = [tip - BARBS * way + 0.5 * side for side in (aside, -aside, up, -up)]
    return np.array([tail, tip, *(end for barb in barbs for end in (tip, barb))], np.float32)


def notice(scene: Scene) -> None:
    """A frame of a scene is shown, or something was edited: perhaps weights, which change no frame."""
    frame = scene.frame_current
    if _frames.get(scene.session_uid) == frame:
        _held.clear()
    _frames[scene.session_uid] = frame


def forget() -> None:
    """Forget what was read: the extension is switched off."""
    _held.clear()
    _frames.clear()
