"""Make objects colliders, which cloth meets, and take that away again."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.kinds import Context, Object, Result
from ..pbd_addon.blender.scene import surfaces
from . import checks
from .checks import rpt

LISTED = {"HIDDEN", "SKIP_SAVE"}
"""Options of a name that a row of a list hands over."""


def solids(context: Context) -> list[Object]:
    """The objects with a surface to act on: the active one, which the panels show, and the selected ones."""
    active = context.object
    found = [active] if active is not None and active.type in surfaces.SURFACE_TYPES else []
    return found + [obj for obj in context.selected_objects if obj.type in surfaces.SURFACE_TYPES and obj != active]


def problem(obj: Object) -> str:
    """Why this object cannot be a collider, or ""."""
    if obj.library is not None:
        return f"'{obj.name}' is linked: make a library override of it, or put it into the collider collection"
    if surfaces.is_simulated(obj):
        return f"'{obj.name}' is simulated, so that cloth meets it already"
    return ""


class OBJECT_OT_pbd_collider_add(bpy.types.Operator):
    """Let PBD cloth and balloons collide with the active and the selected objects, which may move and deform"""

    bl_idname = "object.pbd_collider_add"
    bl_label = "Add Collider"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not solids(context):
            cls.poll_message_set("Select a mesh object")
            return False
        if all(map(surfaces.is_simulated, solids(context))):
            cls.poll_message_set("Cloth already collides with other cloth: select an object that is not simulated")
            return False
        return True

    def execute(self, context: Context) -> Result:
        objects = solids(context)
        problems = [sentence for sentence in map(problem, objects) if sentence]
        fit = [obj for obj in objects if not problem(obj)]
        for obj in fit:
            obj.pbd_collider.enabled = True
        if not fit:
            self.report({"ERROR"}, error_sentences.in_users_language(problems[0]))
            return {"CANCELLED"}
        if problems:
            self.report({"INFO"}, checks.left_out(problems))
        return {"FINISHED"}


class OBJECT_OT_pbd_collider_remove(bpy.types.Operator):
    """Let cloth pass through these objects again, and forget their collider settings"""

    bl_idname = "object.pbd_collider_remove"
    bl_label = "Remove Collider"
    bl_options = {"REGISTER", "UNDO"}

    body: bpy.props.StringProperty(
        name="Object", description="Name of the collider; none: the active and the selected ones", options=LISTED
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not any(obj.pbd_collider.enabled for obj in context.scene.objects):
            cls.poll_message_set("Select a collider")
            return False
        return True

    def execute(self, context: Context) -> Result:
        named = context.scene.objects.get(self.body)
        objects = [obj for obj in ([named] if named else solids(context)) if obj.pbd_collider.enabled]
        if not objects:
            self.report({"ERROR"}, rpt("Select a collider"))
            return {"CANCELLED"}
        for obj in objects:
            obj.pbd_collider.enabled = False  # Tells the simulation, which `property_unset` does not.
            for prop in obj.pbd_collider.bl_rna.properties:
                if not prop.is_readonly:
                    obj.pbd_collider.property_unset(prop.identifier)
        collection = context.scene.pbd.collider_collection
        left = [obj for obj in objects if collection is not None and obj in collection.all_objects[:]]
        if left:
            said = rpt("{objects} still in the collider collection '{collection}'")
            self.report({"INFO"}, said.format(objects=checks.describe(left), collection=collection.name))
        return {"FINISHED"}


class OBJECT_OT_pbd_collider_select(bpy.types.Operator):
    """Select this collider and show its settings"""

    bl_idname = "object.pbd_collider_select"
    bl_label = "Select Collider"
    bl_options = {"REGISTER", "UNDO"}

    body: bpy.props.StringProperty(name="Object", description="Name of the collider", options=LISTED)

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.in_object_mode(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.view_layer.objects.get(self.body)
        if obj is None:
            self.report({"ERROR"}, rpt("There is no object '{name}' in this view layer").format(name=self.body))
            return {"CANCELLED"}
        for other in context.selected_objects:
            other.select_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_collider_add, OBJECT_OT_pbd_collider_remove, OBJECT_OT_pbd_collider_select)
)
