"""What operators ask before they touch an object; every refusal is one sentence that says what to do."""

from collections.abc import Collection

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.read import mesh_io
from ..pbd_addon.blender.scene import scene_objects, surfaces
from ..pbd_addon.blender.timeline import session
from .base import rpt

Why = str
"""Why an operator cannot be used, one sentence, or ""."""


def meshes(context: Context, types: Collection[str] = ("MESH",)) -> list[Object]:
    """The meshes, or objects of these types, to act on: the active one, which the panels show, and the selected."""
    found = dict.fromkeys((context.object, *context.selected_objects))
    return [obj for obj in found if obj is not None and obj.type in types]


def bodies(context: Context) -> list[Object]:
    """The PBD objects to act on: the active one and the selected ones."""
    return [obj for obj in meshes(context) if obj.pbd.enabled]


def mesh_problem(obj: Object) -> str:
    """Why this mesh object cannot be simulated and what to do about it, or "" when it can."""
    try:
        mesh_io.check_mesh(obj)
    except PBDError as error:
        return str(error)
    return ""


def in_object_mode(context: Context) -> Why:
    """Nothing is being edited."""
    return "Leave Edit Mode first" if context.mode.startswith("EDIT") else ""


def has_body(context: Context) -> Why:
    """The active object or a selected one is a PBD object."""
    return "" if bodies(context) else "Select a PBD cloth or balloon"


def is_active_body(context: Context) -> Why:
    """The active object is a PBD object."""
    obj = context.object
    return "" if obj is not None and scene_objects.is_body(obj) else "The active object is not PBD"


def is_edited_body(context: Context) -> Why:
    """The active object is a PBD object in Edit Mode."""
    return is_active_body(context) or ("" if context.object.mode == "EDIT" else "Select vertices in Edit Mode")


def has_live_body(context: Context) -> Why:
    """Something of the scene is simulated live, and nothing is being edited."""
    active = context.object  # Nearly always the answer, without a look at all objects of the scene.
    if context.mode.startswith("EDIT") or (active is not None and surfaces.is_simulated(active)):
        return in_object_mode(context)
    found = session.bodies(context.scene)
    if not all(obj.pbd.baked for obj in found):
        return ""
    return "Baked: delete the bake first" if found else "Add a PBD cloth or balloon first"


def is_free(context: Context) -> Why:
    """Nothing else goes through the frames of the scene."""
    running = session.get(context.scene)
    is_busy = running is not None and running.bake is not None
    return "Frames are being simulated: wait, or press Esc" if is_busy else ""


FREE_AND_LIVE = (is_free, has_live_body)
"""What all operators need that simulate frames."""


def describe(objects: list[Object]) -> str:
    """The objects as the subject of a sentence: "'Flag'" or "3 objects"."""
    return f"'{objects[0].name}'" if len(objects) == 1 else rpt("{count} objects").format(count=len(objects))


def warn_of_left_out(operator: bpy.types.Operator, problems: list[str], done: int) -> None:
    """Say which objects an operator could not act on; raises a `PBDError` if it acted on none."""
    if problems and not done:
        raise PBDError(problems[0])
    if problems:
        operator.report({"WARNING"}, left_out(problems))


def left_out(problems: list[str]) -> str:
    """How many objects an operator could not act on, and why the first of them."""
    said = rpt("{count} left out: {reason}")
    return said.format(count=len(problems), reason=error_sentences.in_users_language(problems[0]))


def select_only(context: Context, objects: list[Object]) -> None:
    """Select these objects alone; the first becomes the active one."""
    for obj in context.selected_objects:
        obj.select_set(False)
    for obj in objects:
        obj.select_set(True)
    context.view_layer.objects.active = objects[0]
