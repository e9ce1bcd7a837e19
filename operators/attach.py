"""Attach vertices of cloth to the surface of another object."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.kinds import Context, Object, Result
from ..pbd_addon.blender.scene import surfaces
from ..pbd_addon.blender.timeline import session
from . import checks, pins
from .checks import rpt


def pair(context: Context) -> tuple[list[Object], list[Object]]:
    """The cloths to attach and the objects that may be what to attach them to, of the active and the selected."""
    objects = checks.meshes(context)
    if context.mode == "EDIT_MESH":  # Several objects may be edited at once; the panel shows the active one.
        cloths = [context.object] if context.object.pbd.enabled else []
    else:
        cloths = [obj for obj in objects if surfaces.is_simulated(obj)]
    curves = [obj for obj in context.selected_objects if obj.type == "CURVE"]
    return cloths, [obj for obj in (*objects, *curves) if not surfaces.is_simulated(obj)]


class OBJECT_OT_pbd_attach_selected(bpy.types.Operator):
    """Let the selected vertices, or those of the attach or the pin group, follow the surface of the other object"""

    bl_idname = "object.pbd_attach_selected"
    bl_label = "Attach Selected"
    bl_options = {"REGISTER", "UNDO"}

    weight: bpy.props.FloatProperty(
        name="Weight",
        description="1 holds firmly; less is a spring, 0.5 has the Pin Stiffness. For vertices selected in Edit Mode",
        default=1.0,
        min=0.001,
        max=1.0,
        subtype="FACTOR",
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        cloths, targets = pair(context)
        if not cloths:
            cls.poll_message_set("Select a PBD cloth or balloon and the object to attach it to")
            return False
        if len(targets) != 1:
            cls.poll_message_set("Select one mesh that is not simulated too, to attach the vertices to")
            return False
        return True

    def execute(self, context: Context) -> Result:
        cloths, (target,) = pair(context)
        problem = self.assign(context, cloths[0]) if context.mode == "EDIT_MESH" else self.choose(cloths)
        if problem:
            self.report({"ERROR"}, error_sentences.in_users_language(problem))
            return {"CANCELLED"}
        for obj in cloths:
            obj.pbd.attach_object = target
        session.clear_cache(context.scene)
        said = rpt("{objects} attached to '{other}'")
        self.report({"INFO"}, said.format(objects=checks.describe(cloths), other=target.name))
        return {"FINISHED"}

    def choose(self, cloths: list[Object]) -> str:
        """Take the groups that there are; the reason why not, or ""."""
        groups = {obj: obj.pbd.attach_group or obj.pbd.pin_group for obj in cloths}
        for obj, name in groups.items():
            if name not in obj.vertex_groups:
                return f"'{obj.name}' has no attach group and no pin group: select vertices in Edit Mode"
        for obj, name in groups.items():
            obj.pbd.attach_group = name
        return ""

    def assign(self, context: Context, obj: Object) -> str:
        """Put the selected vertices into the attach group; the reason why not, or ""."""
        if obj.data.total_vert_sel == 0:
            return "Select the vertices to attach first"
        pins.assign(context, obj, "attach_group", self.weight)
        return ""


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_attach_selected,))
