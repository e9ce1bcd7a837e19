"""The objects of a scene that take part, and how to find one again.

References to Blender's objects become invalid (undo replaces all of them), so none is kept: objects are found by name
and verified by `session_uid`.
"""

import bpy

from ..kinds import Object, Scene
from . import linked

FEW = 4
"""For fewer objects than this, looking each up by name is faster than scanning all objects of a scene."""


def is_body(obj: Object) -> bool:
    """Whether an object is PBD; one that was converted to a curve keeps its settings but has no mesh."""
    return obj.type == "MESH" and obj.pbd.enabled


def bodies(scene: Scene) -> list[Object]:
    """The PBD objects of a scene that are switched on, baked or not; linked ones only if there are no others."""
    found = [obj for obj in scene.objects if is_body(obj) and obj.pbd.active]
    return [obj for obj in found if not linked.problem(obj)] or found


def live_bodies(scene: Scene) -> list[Object]:
    """The PBD objects of a scene that are simulated: switched on and not baked."""
    return [obj for obj in bodies(scene) if not obj.pbd.baked]


def find(scene: Scene, uid: int, name: str) -> Object | None:
    """The object of that uid in the scene, or None; `name` is tried first."""
    obj: Object | None = scene.objects.get(name)
    if obj is not None and obj.session_uid == uid:
        return obj
    return next((obj for obj in scene.objects if obj.session_uid == uid), None)


def objects_of(scene: Scene, names: dict[int, str]) -> list[Object]:
    """The objects of these uids that are in the scene; their names are tried first."""
    if len(names) < FEW:
        found = (find(scene, uid, name) for uid, name in names.items())
        return [obj for obj in found if obj is not None]
    return [obj for obj in scene.objects if obj.session_uid in names]


def layer_of(scene: Scene) -> bpy.types.ViewLayer:
    """The shown view layer of a scene."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
