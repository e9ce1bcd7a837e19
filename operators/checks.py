"""What operators ask before they touch an object; every refusal is one sentence that says what to do."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_rpt

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.read import mesh_io
from ..pbd_addon.blender.scene import surfaces
from ..pbd_addon.blender.timeline import session

EDIT_MODE = "Leave Edit Mode first"


def rpt(text: str) -> str:
    """A report in the user's language."""
    return str(pgettext_rpt(text))  # Blender's stubs say that it returns nothing.


def meshes(context: Context) -> list[Object]:
    """The mesh objects to act on: the active one, which the panels show, and the selected ones."""
    active = context.object
    found = [active] if active is not None and active.type == "MESH" else []
    return found + [obj for obj in context.selected_objects if obj.type == "MESH" and obj != active]


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


def in_object_mode(cls: type[bpy.types.Operator], context: Context) -> bool:
    """Poll: nothing is being edited."""
    if context.mode.startswith("EDIT"):
        cls.poll_message_set(EDIT_MODE)
        return False
    return True


def has_body(cls: type[bpy.types.Operator], context: Context) -> bool:
    """Poll: the active object or a selected one is a PBD object."""
    if not bodies(context):
        cls.poll_message_set("Select a PBD cloth or balloon")
        return False
    return True


def is_active_body(cls: type[bpy.types.Operator], context: Context) -> bool:
    """Poll: the active object is a PBD object."""
    obj = context.object
    if obj is None or obj.type != "MESH" or not obj.pbd.enabled:
        cls.poll_message_set("The active object is not PBD")
        return False
    return True


def has_live_body(cls: type[bpy.types.Operator], context: Context) -> bool:
    """Poll: something of the scene is simulated live."""
    if not in_object_mode(cls, context):
        return False
    active = context.object  # Nearly always the answer, without a look at all objects of the scene.
    if active is not None and surfaces.is_simulated(active):
        return True
    found = session.bodies(context.scene)
    if all(obj.pbd.baked for obj in found):
        cls.poll_message_set("Baked: delete the bake first" if found else "Add a PBD cloth or balloon first")
        return False
    return True


def describe(objects: list[Object]) -> str:
    """The objects as the subject of a sentence: "'Flag'" or "3 objects"."""
    return f"'{objects[0].name}'" if len(objects) == 1 else rpt("{count} objects").format(count=len(objects))


def left_out(problems: list[str]) -> str:
    """How many objects an operator could not act on, and why the first of them."""
    said = rpt("{count} left out: {reason}")
    return said.format(count=len(problems), reason=error_sentences.in_users_language(problems[0]))
