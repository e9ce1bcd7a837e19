"""The objects of a scene that take part, and how to find one again.

Blender's objects come and go (undo makes new ones of all), so nothing keeps one: they are found by name and checked by
`session_uid`.
"""

from typing import Any

import bpy

from ..kinds import Object, Scene
from . import linked

FEW = 4
"""So many objects are found sooner by their names than by a look at all objects of a scene."""


def is_body(obj: Object) -> bool:
    """Whether an object is PBD. One that was converted to a curve keeps its settings, and has no mesh to simulate."""
    return obj.type == "MESH" and obj.pbd.enabled


def bodies(scene: Scene) -> list[Object]:
    """The PBD objects of a scene that are switched on, baked or not; linked ones, which cannot be, if all are."""
    found = [obj for obj in scene.objects if is_body(obj) and obj.pbd.active]
    return [obj for obj in found if not linked.problem(obj)] or found


def live_bodies(scene: Scene) -> list[Object]:
    """The PBD objects of a scene that are simulated: switched on and not baked."""
    return [obj for obj in bodies(scene) if not obj.pbd.baked]


def find(scene: Scene, uid: int, name: str) -> Object | None:
    """The object of that uid in the scene, or None; `name` is where to look first."""
    obj = scene.objects.get(name)
    if obj is not None and obj.session_uid == uid:
        return obj
    return next((obj for obj in scene.objects if obj.session_uid == uid), None)


def objects_of(scene: Scene, names: dict[int, str]) -> list[Object]:
    """The objects of these uids, with the names where to look first, that are there."""
    if len(names) < FEW:
        found = (find(scene, uid, name) for uid, name in names.items())
        return [obj for obj in found if obj is not None]
    return [obj for obj in scene.objects if obj.session_uid in names]


def layer_of(scene: Scene) -> Any:
    """The view layer of a scene that is shown."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
