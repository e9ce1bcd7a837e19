"""What the user has set and edited while a frame is shown; `changes` compares it with the record."""

import math
from collections.abc import Callable
from typing import NamedTuple

import bpy
import mathutils
import numpy as np

from ..errors import PBDError
from ..kinds import Depsgraph, Keys, Object, Scene
from ..output import output_choice
from ..scene import animation, fields, poses, surfaces, user_keys
from ..scene.animation import Curves
from ..scene.poses import Pose
from ..scene.scene_objects import bodies, find, is_body, layer_of, objects_of
from ..scene.simulated_range import frame_range, shown_frame
from ..scene.surfaces import Surface
from ..settings import maps, raw_settings
from ..settings.raw_settings import Key, Settings
from . import mesh_io, rest_shape, warps

TRANSFORM = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class Dependencies(NamedTuple):
    """The objects that a record depends on, by uid."""

    members: dict[int, str] = {}  # names of the simulated objects
    pinned: frozenset[int] = frozenset()  # those with pins or a Dynamic Mesh: their transforms matter
    targets: dict[int, str] = {}  # names of the attachment targets
    colliders: dict[int, str] = {}  # names of the colliders
    fields: dict[int, str] = {}  # names of the force fields
    absorbers: dict[int, str] = {}  # names of what takes a share of the fields


class Place(NamedTuple):
    """The transform and shape keys of an object, as far as the user sets them by hand."""

    name: str
    channels: mathutils.Matrix | list[tuple[str, int, float]]  # transform channels that are not animated
    keys: dict[str, float]  # values of the user's shape keys that are not animated
    carried: (
        mathutils.Matrix | None
    )  # transform of an object with a parent or constraints, else None; comparable within one frame only
    is_free: bool  # whether only the user moves it
    is_still: bool  # whether its keys are not animated either
    matrix: np.ndarray  # (4, 4), object to world


class Role(NamedTuple):
    """Properties of an object that its simulated frames were made for."""

    name: str
    attached_to: tuple[int, str, bool] | None
    by_modifier: bool
    posed_after: bool
    baked: bool


class FirstFrameInputs(NamedTuple):
    """The inputs of an object's first frame."""

    shape: np.ndarray  # (n, 3) float32, the user's at the key values of the first frame, object space [m]
    follows: tuple  # of `followed`
    weights: dict[str, np.ndarray]  # of its maps
    pins: dict[int, float]  # weights of pinned and sliding vertices, if asked for


class Edits(NamedTuple):
    """Edits that Blender has reported since a frame was shown."""

    curves: bool = False  # F-curves may have been edited
    colliders: bool = False  # an object may have become a collider or stopped being one
    surfaces: dict[int, Surface | None] = {}  # of edited objects, by uid; None is an invalid surface
    carried: dict[int, mathutils.Matrix] = {}  # new transforms of objects that a parent or constraint has moved, by uid
    fields: bool = False  # an object may have become a force field, or absorb one, or have stopped to


class UserState(NamedTuple):
    """Everything that the user has set."""

    frame: float  # the shown one
    first: int  # first frame of the range
    settings: Settings  # raw, by key
    animated: dict[Key, tuple[str, ...] | None]  # data paths that animation may change; None is any
    names: dict[int, str]  # of the owners of settings, by uid; "" is the scene
    places: dict[str, dict[int, Place]]  # of "holder", objects with pins and attachment targets, and `KINDS`, by uid
    roles: dict[int, Role]  # of the simulated objects, by uid
    bodies: frozenset[int]  # uids of all objects to simulate, if the first frame is shown and not all are baked
    uids: dict[str, frozenset[int]]  # of all that there are, by kind, where an edit may have changed them
    hand_count: int  # number of grabs
    edits: Edits  # edits reported since the last frame was shown
    curves: Curves | None = None  # the animation; None if it was not read


def read(
    scene: Scene, dependencies: Dependencies, edits: Edits, known: Curves | None = None, frames: range | None = None
) -> UserState:
    """The `UserState` of a scene, from its original objects; no evaluation is needed.

    The animation is read over `frames`, if given, after a reported edit of curves, and always without a window, where
    Blender may not report edits. It is the object `known` if nothing changed.
    """
    members = [obj for obj in objects_of(scene, dependencies.members) if is_body(obj)]
    frame, first = shown_frame(scene), frame_range(scene)[0]
    found = bodies(scene) if math.floor(frame) == first else []  # Scanning all objects is slow in large scenes.
    holders = [obj for obj in members if obj.session_uid in dependencies.pinned and not obj.pbd.baked]
    holders += objects_of(scene, dependencies.targets)
    around = {
        "collider": objects_of(scene, dependencies.colliders),
        "field": [obj for obj in objects_of(scene, dependencies.fields) if _blows(obj, scene)],
        "absorber": [
            obj
            for obj in objects_of(scene, dependencies.absorbers)
            if not obj.hide_viewport and (fields.is_marked(obj) or obj.session_uid in dependencies.colliders)
        ],
    }
    owners: dict[Key, Object | Scene] = {obj.session_uid: obj for obj in (*members, scene)}
    owners |= {(kind, obj.session_uid): obj for kind, each in around.items() for obj in each}
    others = [obj for each in around.values() for obj in each]
    names = {obj.session_uid: obj.name for obj in (*members, *others)}
    vane = [scene.pbd.wind_object] if scene.pbd.wind_object and scene.pbd.wind_speed else []
    animated = {key: animation.animated_paths(owner) for key, owner in owners.items()}
    paths = animated[scene.session_uid]
    if vane and paths is not None and not place(vane[0]).is_free:
        animated[scene.session_uid] = (*paths, "pbd.wind_direction")
    places = {
        kind: {one.session_uid: place(one) for one in each} for kind, each in {"holder": holders, **around}.items()
    }
    uids = {"collider": frozenset(obj.session_uid for obj in surfaces.colliders(scene))} if edits.colliders else {}
    if edits.fields or bpy.app.background:
        uids |= {"field": field_uids(scene), "absorber": absorber_uids(scene)}
    return UserState(
        frame=frame,
        first=first,
        settings={key: settings_of(key, owner) for key, owner in owners.items()},
        animated=animated,
        names={**names, scene.session_uid: ""},
        places=places,
        roles={obj.session_uid: role(obj) for obj in members},
        bodies=frozenset(obj.session_uid for obj in found if any(not one.pbd.baked for one in found)),
        uids=uids,
        hand_count=scene.pbd.hand_count,
        edits=edits,
        curves=animation.read(scene, members, [*holders, *others, *vane], frames, known)
        if frames and (edits.curves or bpy.app.background)
        else None,
    )


def field_uids(scene: Scene) -> frozenset[int]:
    """Uids of the force fields of a scene that are switched on."""
    return frozenset(obj.session_uid for obj in scene.objects if fields.is_field(obj) and _blows(obj, scene))


def absorber_uids(scene: Scene) -> frozenset[int]:
    """Uids of what takes a share of the force fields of a scene; none if no field is absorbed."""
    absorbed = any(obj.field.use_absorption for obj in scene.objects if fields.is_field(obj) and _blows(obj, scene))
    return frozenset(obj.session_uid for obj in fields.absorbers(scene)) if absorbed else frozenset()


def _blows(obj: Object, scene: Scene) -> bool:
    """Whether an object is a force field that is not hidden, or whose hiding is animated."""
    if not fields.is_field(obj) or obj.hide_get(view_layer=layer_of(scene)):
        return False
    return not obj.hide_viewport or ("hide_viewport", 0) in animation.channels(obj)


def place(obj: Object) -> Place:
    """The `Place` of an object."""
    is_carried, data = obj.parent is not None or bool(obj.constraints), obj.animation_data
    keys = obj.data.shape_keys if obj.type == "MESH" else None
    animated = set() if data is None else {channel for channel in animation.channels(obj) if channel[0] in TRANSFORM}
    is_free = not (is_carried or animated or (data is not None and data.nla_tracks))
    matrix = poses.last_matrix(obj).copy()
    return Place(
        obj.name,
        obj.matrix_basis.copy() if data is None else _own_channels(obj, animated),
        {} if keys is None else _set_keys(obj, keys),
        matrix if is_carried else None,
        is_free,
        is_free and (keys is None or keys.animation_data is None),
        np.array(matrix),
    )


def _own_channels(obj: Object, animated: set[tuple[str, int]]) -> list[tuple[str, int, float]]:
    """The transform channels of an animated object that are not animated; the others return to their curves."""
    return [
        (path, at, value)
        for path in TRANSFORM
        for at, value in enumerate(getattr(obj, path))
        if (path, at) not in animated and not obj.animation_data.nla_tracks
    ]


def _set_keys(obj: Object, keys: Keys | None) -> dict[str, float]:
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
    """The `Role` of an object."""
    outputs = output_choice.by_modifier_and_posed_after(obj)
    return Role(obj.name, mesh_io.attached_to(obj), *outputs, obj.pbd.baked)


def followed(obj: Object) -> tuple[bool, str, int, int, tuple[float, ...]]:
    """Whether the starting shape of an object follows its modifiers, its choice of rest shape, and that's checksum.

    Then the hash of its creases, its initial velocities, its layer, whether it is fitted, and where its warp runs.
    """
    follows, choice = output_choice.is_modifier(obj), obj.pbd.rest_shape
    same = choice == "DEFORMED" and not follows
    thrown = *obj.pbd.velocity, *obj.pbd.angular_velocity, obj.pbd.layer, obj.pbd.fit, warps.checksum(obj)
    return follows, "BASIS" if same else choice, rest_shape.checksum(obj), mesh_io.crease_check(obj), thrown


def read_first_inputs(
    obj: Object, pose: Pose, masks: dict[str, np.ndarray], with_pins: bool = False
) -> FirstFrameInputs:
    """The `FirstFrameInputs` of an object under the pose of the first frame; raises `PBDError`."""
    painted = maps.groups(raw_settings.maps_from(raw_settings.raw_material(obj)))
    shape = user_keys.user_shape(obj, pose.key_values, masks)
    pins = mesh_io.read_pins(obj) | mesh_io.read_slides(obj) if with_pins else {}
    return FirstFrameInputs(shape, followed(obj), maps.read(obj, painted), pins)


def settings_of(key: Key, owner: Object | Scene, depsgraph: Depsgraph | None = None) -> raw_settings.RawSettings:
    """The raw settings of the owner of a key, in a render as animated there; defaults for an unmarked collider."""
    if isinstance(owner, bpy.types.Scene):
        return raw_settings.raw_scene(animation.animated(owner, depsgraph))
    kind = key[0] if isinstance(key, tuple) else ""
    if kind == "collider" and not owner.pbd_collider.enabled:
        return raw_settings.default_collider()
    return READERS[kind](animation.animated(owner, depsgraph))


READERS: dict[str, Callable[[Object], raw_settings.RawSettings]] = {
    "": raw_settings.raw_material,
    "collider": lambda obj: raw_settings.raw_collider(obj.pbd_collider),
    "field": lambda obj: raw_settings.raw_field(obj.field),
    "absorber": raw_settings.raw_absorber,
}
"""What reads settings, by the first part of their `Key`."""


def collect_edits(
    scene: Scene, depsgraph: Depsgraph, dependencies: Dependencies, edits: Edits, known: UserState | None
) -> Edits:
    """Add an edit that Blender has just evaluated; shapes and transforms only at the frame of `known`."""
    animation_data = [getattr(update.id, "animation_data", None) for update in depsgraph.updates]
    has_rules = any(data is not None and (data.drivers or data.nla_tracks) for data in animation_data)
    curves_edited = depsgraph.id_type_updated("ACTION") or has_rules  # Drivers and strips may have been edited.
    edited: list[bpy.types.ID] = [update.id.original for update in depsgraph.updates if update.is_updated_transform]
    reshaped: list[bpy.types.ID] = [update.id.original for update in depsgraph.updates if update.is_updated_geometry]
    blows = edits.fields or any(
        isinstance(one, bpy.types.Object) and (fields.is_field(one) or fields.is_marked(one))
        for one in (*edited, *reshaped)
    )
    if known is None or shown_frame(scene) != known.frame:
        return edits._replace(curves=edits.curves or curves_edited, fields=blows)
    around = {**dependencies.colliders, **dependencies.targets, **dependencies.absorbers}
    shapes = dict(edits.surfaces)
    for obj in reshaped:
        if not isinstance(obj, bpy.types.Object) or obj.session_uid not in around:
            continue
        if obj.type in surfaces.SURFACE_TYPES and find(scene, obj.session_uid, obj.name) is not None:
            try:
                shapes[obj.session_uid] = surfaces.read(obj, depsgraph)
            except PBDError:
                shapes[obj.session_uid] = None
    stood = {uid: one for places in known.places.values() for uid, one in places.items()}
    carried = {
        obj.session_uid: obj.matrix_world.copy()
        for obj in objects_of(scene, {uid: place.name for uid, place in stood.items()})
        if (obj.parent is not None or obj.constraints) and obj.matrix_world != stood[obj.session_uid].carried
    }
    return Edits(edits.curves or curves_edited, edits.colliders, shapes, carried, blows)
