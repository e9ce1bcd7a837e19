"""Pin and unpin the vertices that are selected in Edit Mode."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.kinds import Context, Object, Result
from ..pbd_addon.blender.read.pins import PIN_OFFSET, ensure_group
from ..pbd_addon.blender.settings import field_properties
from ..pbd_addon.blender.timeline import session
from . import checks
from .checks import rpt


def edited_body(cls: type[bpy.types.Operator], context: Context) -> bool:
    """Poll: a PBD object is in Edit Mode."""
    if not checks.is_active_body(cls, context):
        return False
    if context.object.mode != "EDIT":
        cls.poll_message_set("Select vertices in Edit Mode")
        return False
    return True


def assign(context: Context, obj: Object, setting: str, weight: float) -> None:
    """Put the selected vertices into the group that a setting names, see `ensure_group`."""
    obj.vertex_groups.active_index = ensure_group(obj, setting).index
    # Blender's own operator assigns in one go, which a script in Edit Mode can only do vertex by vertex.
    tools = context.scene.tool_settings
    weight_of_user = tools.vertex_group_weight
    tools.vertex_group_weight = weight
    bpy.ops.object.vertex_group_assign()
    tools.vertex_group_weight = weight_of_user


def forget_places(obj: Object) -> None:
    """Hold the selected vertices of an object in Edit Mode at their places in the mesh again, wherever a hand was."""
    geometry = bmesh.from_edit_mesh(obj.data)
    layer = geometry.verts.layers.float_vector.get(PIN_OFFSET)
    if layer is not None:
        for vertex in geometry.verts:
            if vertex.select:
                vertex[layer] = (0.0, 0.0, 0.0)
        bmesh.update_edit_mesh(obj.data)


class OBJECT_OT_pbd_pin_selected(bpy.types.Operator):
    """Pin the selected vertices: they follow the object and its animation. A weight below 1 holds them softly"""

    bl_idname = "object.pbd_pin_selected"
    bl_label = "Pin Selected"
    bl_options = {"REGISTER", "UNDO"}

    weight: bpy.props.FloatProperty(
        name="Weight",
        description="1 holds firmly; less is a spring, 0.5 has the Pin Stiffness",
        default=1.0,
        min=0.001,
        max=1.0,
        subtype="FACTOR",
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return edited_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        count = obj.data.total_vert_sel
        if count == 0:
            self.report({"ERROR"}, error_sentences.in_users_language("Select the vertices to pin first"))
            return {"CANCELLED"}
        assign(context, obj, "pin_group", self.weight)
        forget_places(obj)
        session.clear_cache(context.scene)
        said = rpt("{count} vertices pinned in group '{group}'")
        self.report({"INFO"}, said.format(count=count, group=obj.pbd.pin_group))
        return {"FINISHED"}


class OBJECT_OT_pbd_unpin_selected(bpy.types.Operator):
    """Take the selected vertices out of the pin group"""

    bl_idname = "object.pbd_unpin_selected"
    bl_label = "Unpin Selected"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not edited_body(cls, context):
            return False
        if context.object.pbd.pin_group not in context.object.vertex_groups:
            cls.poll_message_set("There is no pin group yet")
            return False
        return True

    def execute(self, context: Context) -> Result:
        obj = context.object
        if obj.data.total_vert_sel == 0:
            self.report({"ERROR"}, error_sentences.in_users_language("Select the vertices to unpin first"))
            return {"CANCELLED"}
        obj.vertex_groups.active_index = obj.vertex_groups[obj.pbd.pin_group].index
        bpy.ops.object.vertex_group_remove_from()
        forget_places(obj)
        session.clear_cache(context.scene)
        return {"FINISHED"}


def note_cleared() -> None:
    """A vertex group was cleared in a panel: make the undo step that Blender leaves out for its cross."""
    if not bpy.app.background and not bpy.app.timers.is_registered(push_undo):
        bpy.app.timers.register(push_undo, first_interval=0.0)  # Not in the middle of what sets it.


def push_undo() -> None:
    """Timer: an undo step, so that the next redo panel, which undoes first, does not bring the group back."""
    for window in bpy.context.window_manager.windows:
        with bpy.context.temp_override(window=window):
            undo: Any = bpy.ops.ed
            if undo.undo_push.poll():
                undo.undo_push(message="Vertex Group")
                return


register_classes, unregister_classes = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_pin_selected, OBJECT_OT_pbd_unpin_selected)
)


def register() -> None:
    """Register the operators, and listen to cleared groups."""
    register_classes()
    field_properties.cleared_listeners.append(note_cleared)


def unregister() -> None:
    """Undo `register`."""
    field_properties.cleared_listeners.remove(note_cleared)
    if bpy.app.timers.is_registered(push_undo):
        bpy.app.timers.unregister(push_undo)
    unregister_classes()
