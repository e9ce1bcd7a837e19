"""A quick look at everything that frames depend on: while it stays the same, no full snapshot is needed.

It covers more than the simulation reads. What has changed may mean nothing; where nothing has, nothing did.
"""

import operator
from typing import NamedTuple

import bpy
import numpy as np

from ..kinds import Depsgraph, Object, Scene
from ..scene import animation, fields
from ..scene.animation import Curves
from ..scene.scene_objects import objects_of
from ..settings import raw_settings
from .user_state import Dependencies

_SCENE = operator.attrgetter(
    *("use_gravity", "frame_start", "frame_end", "use_preview_range", "frame_preview_start", "frame_preview_end"),
    *("use_custom_simulation_range", "simulation_frame_start", "simulation_frame_end"),
    *("render.fps", "render.fps_base", "render.frame_map_old", "render.frame_map_new"),
)
_OBJECT = operator.attrgetter("name", "type", "mode", "parent_type", "hide_viewport", "session_uid")
_DATA = operator.attrgetter("users", "session_uid")
_FIELD = operator.attrgetter(*raw_settings.FIELD_FIELDS)
_KEY = operator.attrgetter("name", "value", "slider_max", "mute")
_MODIFIER = operator.attrgetter("name", "type", "show_viewport", "show_render")


class QuickLook(NamedTuple):
    """A scene at one frame."""

    state: list  # everything but the animation, of one object or the scene after another
    objects: dict[int, Object]  # all dependencies, by uid; valid during this frame change only
    same_curves: bool  # whether the animation is the one that was known, as far as that was compared


def read_state(
    scene: Scene, depsgraph: Depsgraph, dependencies: Dependencies, known: Curves | None = None
) -> QuickLook | None:
    """A `QuickLook` at a scene as just evaluated, or None if one of the objects is gone.

    The animation as last read, `known`, is compared only without a window, where Blender may not report edits; if it
    was read at this frame, it need not be given.
    """
    members, _pinned, *others = dependencies
    names = {uid: name for each in (members, *others) for uid, name in each.items()}
    found = {obj.session_uid: obj for obj in objects_of(scene, names)}
    if found.keys() != names.keys():
        return None
    objects = {uid: found[uid] for uid in names}
    state: list = [_SCENE(scene), scene.gravity.to_tuple(), raw_settings.everything_of_scene(scene.pbd)]
    state += [_object(obj, depsgraph) for obj in objects.values()]
    state += [objects[uid].collision and objects[uid].collision.absorption for uid in dependencies.absorbers]
    if scene.pbd.wind_object is not None:
        state.append(np.array(scene.pbd.wind_object.matrix_world).tobytes())
    if bpy.app.background:
        state.append([obj.session_uid for obj in scene.objects if obj.field and obj.field.type != "NONE"])
        if any(objects[uid].field.use_absorption for uid in dependencies.fields):
            state.append([obj.session_uid for obj in fields.absorbers(scene)])
    same = True
    if bpy.app.background and known is not None:
        simulated = [objects[uid] for uid in dependencies.members]
        moving = [objects[uid] for uid in dependencies.pinned if not objects[uid].pbd.baked]
        moving += [objects[uid] for names in others for uid in names]
        moving += [scene.pbd.wind_object] if scene.pbd.wind_object and scene.pbd.wind_speed else []
        same = animation.read(scene, simulated, moving, known.frames, known) is known
    return QuickLook(state, objects, same)


def _object(obj: Object, depsgraph: Depsgraph) -> list:
    """Everything of one object that frames may depend on."""
    pbd, parent = obj.pbd, obj.parent
    state = [
        _OBJECT(obj),
        obj.data and _DATA(obj.data),
        raw_settings.stored(obj),
        pbd.attach_object and pbd.attach_object.session_uid,
        pbd.rest_object and pbd.rest_object.session_uid,
        parent and parent.session_uid,
        len(obj.constraints),
        obj.animation_data is None,
        obj.matrix_basis.copy(),
        obj.evaluated_get(depsgraph).matrix_world.copy(),
        list(map(_MODIFIER, obj.modifiers)),
    ]
    field = obj.field
    if field is not None and field.type != "NONE":
        state += [_FIELD(field), field.texture and field.texture.session_uid, obj.hide_get()]
    if pbd.field_weights.collection is not None:
        state.append([one.session_uid for one in pbd.field_weights.collection.all_objects])
    if obj.type == "MESH":
        mesh = obj.data
        state += [len(mesh.vertices), len(mesh.edges), len(mesh.loops), len(mesh.polygons)]
        keys = mesh.shape_keys
        if keys is not None:
            state += [
                keys.session_uid,
                keys.use_relative,
                keys.animation_data is None,
                list(map(_KEY, keys.key_blocks)),
            ]
    return state
