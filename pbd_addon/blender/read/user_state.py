"""What a user sets and edits, as it is while a frame is shown: what `changes` compares with the record."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..errors import PBDError
from ..kinds import Depsgraph, Object, Scene
from ..output import output_choice
from ..scene import animation, fields, poses, surfaces, user_keys
from ..scene.animation import Curves
from ..scene.poses import Pose
from ..scene.scene_objects import bodies, find, is_body, layer_of, objects_of
from ..scene.simulated_range import frame_range, shown_frame
from ..scene.surfaces import Surface
from ..settings import maps, raw_settings
from ..settings.raw_settings import Key, as_collider, as_field
from . import mesh_io

TRANSFORM = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class Watched(NamedTuple):
    """What a record depends on, by uid: where to look."""

    members: dict[int, str] = {}  # names of the simulated objects
    pinned: frozenset[int] = frozenset()  # of these, those whose place matters
    targets: dict[int, str] = {}  # names of what cloth is attached to
    obstacles: dict[int, str] = {}  # names of the colliders
    fields: dict[int, str] = {}  # names of the force fields


class Place(NamedTuple):
    """Where a hand has put an object, and how it has set the object's keys."""

    name: str
    channels: Any  # of the transform, those that are not animated; comparable
    keys: dict[str, float]  # of the user's shape keys, those that are not animated
    carried: Any  # the transform of what a parent or constraints place; comparable at one frame alone
    is_free: bool  # whether nothing but a hand moves it
    is_still: bool  # nor sets its keys
    matrix: np.ndarray  # (4, 4), object to world


class Role(NamedTuple):
    """What an object must do to be simulated as it was, and whether it does."""

    name: str
    attached_to: tuple[int, str] | None
    by_modifier: bool
    posed_after: bool
    baked: bool


class Beginning(NamedTuple):
    """What of an object decides about the first frame."""

    shape: np.ndarray  # (n, 3) float32, the user's at the keys of the first frame, object space [m]
    follows: tuple  # as from `followed`
    weights: dict[str, np.ndarray]  # of its maps
    pins: dict[int, float]  # weights by vertex, where they were asked for


class Heard(NamedTuple):
    """What Blender has told of edits since a frame is shown."""

    curves: bool = False  # F-curves may have been edited
    cast: bool = False  # an object may have become a collider or stopped being one
    surfaces: dict[int, Surface | None] = {}  # of edited objects, by uid; None is no surface
    carried: dict[int, Any] = {}  # transforms of what parents and constraints have put elsewhere, by uid
    fields: bool = False  # an object may have become a force field or stopped being one


class UserState(NamedTuple):
    """All that a user has set, at one time."""

    frame: float  # that is shown
    first: int  # frame of the range
    settings: dict[Key, Any]  # raw, by key
    animated: dict[Key, tuple[str, ...] | None]  # beginnings of the data paths that animation may change; None is any
    names: dict[int, str]  # of the owners of settings, by uid; "" is the scene
    colliders: dict[int, Place]  # where they are put, by uid
    holders: dict[int, Place]  # where what holds pins or is attached to is put, by uid
    roles: dict[int, Role]  # of the simulated objects, by uid
    bodies: frozenset[int]  # uids of all that are to be simulated, where the first frame is shown and one is not baked
    cast: frozenset[int] | None  # uids of the objects that are colliders; None while nobody has edited that
    hand_count: int  # how often a hand was used
    heard: Heard  # what Blender has told since the last frame was shown
    curves: Curves | None = None  # the animation; None while nobody has edited it
    fields: dict[int, Place] = {}  # where force fields are put, by uid
    blowing: frozenset[int] | None = None  # uids of all force fields; None while nobody has edited that


def read(
    scene: Scene, watched: Watched, heard: Heard, known: Curves | None = None, frames: range | None = None
) -> UserState:
    """The `UserState` of a scene as its original objects have it: at any time, whatever is evaluated.

    The animation is read over `frames`, where they are given and Blender has told of an edit of curves, or, without a
    window, may have kept one to itself. It is `known` if it was not edited.
    """
    members = [obj for obj in objects_of(scene, watched.members) if is_body(obj)]
    obstacles, frame, first = objects_of(scene, watched.obstacles), shown_frame(scene), frame_range(scene)[0]
    blowing = [obj for obj in objects_of(scene, watched.fields) if _blows(obj, scene)] if watched.fields else []
    found = bodies(scene) if math.floor(frame) == first else []  # To look at all objects takes long in large scenes.
    holders = [obj for obj in members if obj.session_uid in watched.pinned and not obj.pbd.baked]
    holders += objects_of(scene, watched.targets)
    owners: dict[Key, Any] = {obj.session_uid: obj for obj in members}
    owners[scene.session_uid] = scene
    owners.update((as_collider(obj.session_uid), obj) for obj in obstacles)
    settings = {
        key: collider_settings(obj) if isinstance(key, tuple) else raw_settings.raw_material(obj.pbd)
        for key, obj in owners.items()
        if obj != scene
    }
    settings[scene.session_uid] = raw_settings.raw_scene(scene)
    names = {obj.session_uid: obj.name for obj in (*members, *obstacles, *blowing)}
    for obj in blowing:
        owners[as_field(obj.session_uid)] = obj
        settings[as_field(obj.session_uid)] = raw_settings.raw_field(obj.field)
    vane = [scene.pbd.wind_object] if scene.pbd.wind_object and scene.pbd.wind_speed else []
    animated = {key: animation.beginnings(owner) for key, owner in owners.items()}
    if vane and animated[scene.session_uid] is not None and not place(vane[0]).is_free:
        animated[scene.session_uid] += ("pbd.wind_direction",)
    return UserState(
        frame=frame,
        first=first,
        settings=settings,
        animated=animated,
        names={**names, scene.session_uid: ""},
        colliders={obj.session_uid: place(obj) for obj in obstacles},
        holders={obj.session_uid: place(obj) for obj in holders},
        roles={obj.session_uid: role(obj) for obj in members},
        bodies=frozenset(obj.session_uid for obj in found if any(not one.pbd.baked for one in found)),
        cast=frozenset(obj.session_uid for obj in surfaces.colliders(scene)) if heard.cast else None,
        hand_count=scene.pbd.hand_count,
        heard=heard,
        curves=animation.read(scene, members, [*holders, *obstacles, *blowing, *vane], frames, known)
        if frames and (heard.curves or bpy.app.background)
        else None,
        fields={obj.session_uid: place(obj) for obj in blowing},
        blowing=all_blowing(scene) if heard.fields or bpy.app.background else None,
    )


def all_blowing(scene: Scene) -> frozenset[int]:
    """Uids of the force fields of a scene that are switched on."""
    return frozenset(obj.session_uid for obj in scene.objects if fields.is_field(obj) and _blows(obj, scene))


def _blows(obj: Object, scene: Scene) -> bool:
    """Whether an object is a force field that is not hidden, or whose hiding is animated."""
    if not fields.is_field(obj) or obj.hide_get(view_layer=layer_of(scene)):
        return False
    return not obj.hide_viewport or ("hide_viewport", 0) in animation.channels(obj)


def place(obj: Object) -> Place:
    """Where a hand has put an object."""
    is_carried, data = obj.parent is not None or bool(obj.constraints), obj.animation_data
    keys = obj.data.shape_keys if obj.type == "MESH" else None
    animated = () if data is None else {channel for channel in animation.channels(obj) if channel[0] in TRANSFORM}
    is_free = not (is_carried or animated or (data is not None and data.nla_tracks))
    matrix = poses.last_matrix(obj).copy()
    return Place(
        obj.name,
        obj.matrix_basis.copy() if data is None else _own_channels(obj, animated),
        {} if keys is None else _set_keys(obj, keys),
        matrix if is_carried else None,
        is_free,
        is_free and (keys is None or keys.animation_data is None),
        matrix,
    )


def _own_channels(obj: Object, animated: Any) -> list[tuple[str, int, float]]:
    """The transform of an animated object but for what is animated, which goes back to its curve by itself."""
    return [
        (path, at, value)
        for path in TRANSFORM
        for at, value in enumerate(getattr(obj, path))
        if (path, at) not in animated and not obj.animation_data.nla_tracks
    ]


def _set_keys(obj: Object, keys: Any) -> dict[str, float]:
    values = user_keys.key_values(obj)
    if not values or keys.animation_data is None:
        return values
    animated = {path for path, _ in animation.channels(keys)}
    return {
        name: value
        for name, value in values.items()
        if animation.value_path(name) not in animated and not keys.animation_data.nla_tracks
    }


def role(obj: Object) -> Role:
    """What decides whether an object can go on being simulated as it was."""
    by_modifier = output_choice.choose(obj).modifier
    posed_after = not by_modifier and output_choice.is_posed_after(obj)
    return Role(obj.name, mesh_io.attached_to(obj), by_modifier, posed_after, obj.pbd.baked)


def followed(obj: Object) -> tuple[bool, str]:
    """What decides of the shape in which a simulation of an object begins: whether of modifiers, and the rest shape."""
    follows = output_choice.choose(obj).modifier
    return (follows, obj.pbd.rest_shape) if follows else (False, "BASIS")


def read_beginning(obj: Object, pose: Pose, masks: dict[str, np.ndarray], with_pins: bool = False) -> Beginning:
    """The `Beginning` of an object under the pose of the first frame; raises `PBDError`."""
    painted = maps.groups(raw_settings.maps_from(raw_settings.raw_material(obj.pbd)))
    shape = user_keys.user_shape(obj, pose.key_values, masks)
    pins = mesh_io.read_pins(obj) if with_pins else {}
    return Beginning(shape, followed(obj), maps.read(obj, painted), pins)


def collider_settings(obj: Object, depsgraph: Depsgraph | None = None) -> Any:
    """The raw settings of an object as a collider: its own if it is marked as one, else the defaults."""
    if not obj.pbd_collider.enabled:
        return raw_settings.default_collider()
    return raw_settings.raw_collider(animation.animated(obj, depsgraph).pbd_collider)


def hear(scene: Scene, depsgraph: Depsgraph, watched: Watched, heard: Heard, known: UserState | None) -> Heard:
    """What was heard, with an edit that Blender has just evaluated; places count at the frame that `known` is of."""
    animation_data = [getattr(update.id, "animation_data", None) for update in depsgraph.updates]
    has_rules = any(data is not None and (data.drivers or data.nla_tracks) for data in animation_data)
    curves_edited = depsgraph.id_type_updated("ACTION") or has_rules  # These may be what was edited.
    edited: list[Any] = [update.id.original for update in depsgraph.updates if update.is_updated_transform]
    blows = heard.fields or any(isinstance(one, bpy.types.Object) and fields.is_field(one) for one in edited)
    if known is None or shown_frame(scene) != known.frame:
        return heard._replace(curves=heard.curves or curves_edited, fields=blows)
    around = {**watched.obstacles, **watched.targets}
    shapes = dict(heard.surfaces)
    reshaped: list[Any] = [update.id.original for update in depsgraph.updates if update.is_updated_geometry]
    for obj in reshaped:
        is_near = isinstance(obj, bpy.types.Object) and obj.session_uid in around
        if is_near and obj.type in surfaces.SURFACE_TYPES and find(scene, obj.session_uid, obj.name) is not None:
            try:
                shapes[obj.session_uid] = surfaces.read(obj, depsgraph)
            except PBDError:
                shapes[obj.session_uid] = None
    stood = {**known.colliders, **known.holders, **known.fields}
    carried = {
        obj.session_uid: obj.matrix_world.copy()
        for obj in objects_of(scene, {uid: place.name for uid, place in stood.items()})
        if (obj.parent is not None or obj.constraints) and obj.matrix_world != stood[obj.session_uid].carried
    }
    return Heard(heard.curves or curves_edited, heard.cast, shapes, carried, blows)
