"""A quick look at all that frames depend on: while it says the same, nothing has to be read properly and compared.

It is wider than what the simulation takes. What it finds changed may mean nothing; what it finds the same is the same.
"""

from __future__ import annotations

import hashlib
import operator
from typing import Any, NamedTuple

import bpy
import numpy as np

from ..kinds import Depsgraph, Object, Scene
from ..scene import animation
from ..scene.animation import Curves
from ..settings import field_weights, raw_settings
from ..settings.properties import PBD_PG_collider, PBD_PG_object, PBD_PG_scene
from .user_state import Watched


def _values_of(group: Any) -> Any:
    """What reads all properties of one of our groups, but for pointers and those that read other ones."""
    known = group.__annotations__.items()
    stored = [
        name for name, kind in known if kind.function is not bpy.props.PointerProperty and "get" not in kind.keywords
    ]
    return operator.attrgetter(*stored)


_OF_OBJECT = _values_of(PBD_PG_object)
_OF_COLLIDER = _values_of(PBD_PG_collider)
_OF_SCENE = _values_of(PBD_PG_scene)
_SCENE = operator.attrgetter(
    *("use_gravity", "frame_start", "frame_end", "use_preview_range", "frame_preview_start", "frame_preview_end"),
    *("use_custom_simulation_range", "simulation_frame_start", "simulation_frame_end"),
    *("render.fps", "render.fps_base", "render.frame_map_old", "render.frame_map_new"),
)
_OBJECT = operator.attrgetter("name", "type", "mode", "parent_type", "hide_viewport", "session_uid")
_DATA = operator.attrgetter("users", "session_uid")
_WEIGHTS = operator.attrgetter(*field_weights.NAMES)
_FIELD = operator.attrgetter(*raw_settings.FIELD_FIELDS)
_MODIFIER = operator.attrgetter("name", "type", "show_viewport", "show_render")


class QuickLook(NamedTuple):
    """What a scene looked like at one frame."""

    said: bytes  # a digest of all but the animation
    objects: dict[int, Object]  # all that are watched, by uid; not to be kept
    curves: Curves


def look(scene: Scene, depsgraph: Depsgraph, watched: Watched, known: Curves) -> QuickLook | None:
    """A `QuickLook` at a scene as it was just evaluated, or None where one of the objects is gone or has another name.

    Args:
        scene: Not as a render evaluates it.
        depsgraph: What evaluates it.
        watched: What to look at.
        known: The animation as it was known last; without a window Blender may have kept an edit to itself.
    """
    objects: dict[int, Object] = {}
    for names in (watched.members, watched.targets, watched.obstacles, watched.fields):
        for uid, name in names.items():
            obj = scene.objects.get(name)
            if obj is None or obj.session_uid != uid:
                return None
            objects[uid] = obj
    said = [_SCENE(scene), tuple(scene.gravity), _OF_SCENE(scene.pbd)]
    said += [_object(obj, depsgraph) for obj in objects.values()]
    if scene.pbd.wind_object is not None:
        said.append(np.array(scene.pbd.wind_object.matrix_world).tobytes())
    if bpy.app.background:
        said.append([obj.session_uid for obj in scene.objects if obj.field and obj.field.type != "NONE"])
        simulated = [objects[uid] for uid in watched.members]
        moving = [objects[uid] for uid in watched.pinned if not objects[uid].pbd.baked]
        moving += [objects[uid] for uid in (*watched.targets, *watched.obstacles, *watched.fields)]
        moving += [scene.pbd.wind_object] if scene.pbd.wind_object and scene.pbd.wind_speed else []
        known = animation.read(scene, simulated, moving, known.frames, known)
    return QuickLook(hashlib.sha256(repr(said).encode()).digest(), objects, known)


def _object(obj: Object, depsgraph: Depsgraph) -> Any:
    """What one object says."""
    pbd, parent = obj.pbd, obj.parent
    said = [
        _OBJECT(obj),
        obj.data and _DATA(obj.data),
        _OF_OBJECT(pbd),
        _WEIGHTS(pbd.field_weights),
        pbd.attach_object and pbd.attach_object.session_uid,
        _OF_COLLIDER(obj.pbd_collider),
        parent and parent.session_uid,
        len(obj.constraints),
        obj.animation_data is None,
        np.array(obj.matrix_basis).tobytes(),
        np.array(obj.evaluated_get(depsgraph).matrix_world).tobytes(),
        list(map(_MODIFIER, obj.modifiers)),
    ]
    if obj.field and obj.field.type != "NONE":
        said += [_FIELD(obj.field), obj.field.texture and obj.field.texture.session_uid, obj.hide_get()]
    if pbd.field_weights.collection is not None:
        said.append([one.session_uid for one in pbd.field_weights.collection.all_objects])
    if obj.type == "MESH":
        mesh = obj.data
        said += [len(mesh.vertices), len(mesh.edges), len(mesh.loops), len(mesh.polygons)]
        said += _keys(mesh.shape_keys) if mesh.shape_keys else []
    return said


def _keys(keys: Any) -> list:
    """What the shape keys of a mesh say."""
    blocks = keys.key_blocks
    values, mutes = np.empty((2, len(blocks)), np.float32), np.empty(len(blocks), bool)
    blocks.foreach_get("value", values[0])
    blocks.foreach_get("slider_max", values[1])
    blocks.foreach_get("mute", mutes)
    said = keys.session_uid, keys.use_relative, keys.animation_data is None, blocks.keys()
    return [*said, values.tobytes(), mutes.tobytes()]
