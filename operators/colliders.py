"""Make objects colliders, which cloth meets, and take that away again."""

import bpy
import numpy as np

from ..pbd_addon.blender.doctor import shown
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.scene import surfaces
from ..pbd_addon.blender.settings.field_properties import unset
from ..pbd_addon.blender.timeline import causes, session
from . import checks, doctor
from .base import NO_UNDO, Action, rpt

LISTED = {"HIDDEN", "SKIP_SAVE"}
"""Options of a name that a row of a list hands over."""


def solids(context: Context) -> list[Object]:
    """The objects with a surface to act on: the active one, which the panels show, and the selected ones."""
    return checks.meshes(context, surfaces.SURFACE_TYPES)


def problem(obj: Object) -> str:
    """Why this object cannot be a collider, or ""."""
    if obj.library is not None:
        return f"'{obj.name}' is linked: make a library override of it, or put it into the collider collection"
    return f"'{obj.name}' is simulated, so that cloth meets it already" if surfaces.is_simulated(obj) else ""


class OBJECT_OT_pbd_collider_add(Action, bpy.types.Operator):
    """Let PBD cloth and balloons collide with the active and the selected objects, which may move and deform"""

    bl_idname = "object.pbd_collider_add"
    bl_label = "Add Collider"

    @staticmethod
    def has_solid(context: Context) -> checks.Why:
        if not solids(context):
            return "Select a mesh object"
        if all(map(surfaces.is_simulated, solids(context))):
            return "Cloth already collides with other cloth: select an object that is not simulated"
        return ""

    needs = (has_solid,)

    def run(self, context: Context) -> str | None:
        objects = solids(context)
        problems = list(filter(None, map(problem, objects)))
        fit = [obj for obj in objects if not problem(obj)]
        if not fit:
            raise PBDError(problems[0])
        for obj in fit:
            obj.pbd_collider.enabled = True
        return checks.left_out(problems) if problems else None


class OBJECT_OT_pbd_collider_remove(Action, bpy.types.Operator):
    """Let cloth pass through these objects again, and forget their collider settings"""

    bl_idname = "object.pbd_collider_remove"
    bl_label = "Remove Collider"

    body: bpy.props.StringProperty(
        name="Object", description="Name of the collider; none: the active and the selected ones", options=LISTED
    )

    @staticmethod
    def has_collider(context: Context) -> checks.Why:
        return "" if any(obj.pbd_collider.enabled for obj in context.scene.objects) else "Select a collider"

    needs = (has_collider,)

    def run(self, context: Context) -> str | None:
        named: Object | None = context.scene.objects.get(self.body)
        objects = [obj for obj in ([named] if named else solids(context)) if obj.pbd_collider.enabled]
        if not objects:
            raise PBDError(rpt("Select a collider"))
        for obj in objects:
            obj.pbd_collider.enabled = False  # Tells the simulation, which `property_unset` does not.
            unset(obj.pbd_collider)
        collection = context.scene.pbd.collider_collection
        left = [obj for obj in objects if collection is not None and obj in collection.all_objects[:]]
        if not left:
            return None
        said = rpt("{objects} still in the collider collection '{collection}'")
        return said.format(objects=checks.describe(left), collection=collection.name)


class OBJECT_OT_pbd_select_in_colliders(Action, bpy.types.Operator):
    """Select the vertices in Edit Mode that begin in colliders and cannot be brought out"""

    bl_idname = "object.pbd_select_in_colliders"
    bl_label = "Show Vertices in Colliders"
    needs = (checks.is_active_body, checks.in_object_mode)

    def run(self, context: Context) -> str:
        running = session.get(context.scene)
        if running is None or running.scene_sim is None:
            raise PBDError(rpt("Nothing is simulated yet"))
        _, left = running.scene_sim.brought_out(context.object.session_uid)
        doctor.select(context, context.object, "VERT", left)
        return rpt("{count} vertices begin in colliders").format(count=len(left))


class OBJECT_OT_pbd_count_crossings(Action, bpy.types.Operator):
    """Count what goes through what in the meshes as they are shown, after all modifiers"""

    bl_idname = "object.pbd_count_crossings"
    bl_label = "Count Crossings"
    bl_options = NO_UNDO
    needs = (checks.is_active_body, checks.in_object_mode)

    def run(self, context: Context) -> str:
        found = shown.count(context.scene, context.evaluated_depsgraph_get(), context.object)
        if not found:
            return rpt("Nothing crosses '{name}' as it is shown").format(name=context.object.name)
        said = rpt("{count} faces of '{name}' cross something as it is shown")
        return said.format(count=sum(one.faces for one in found), name=context.object.name)


class OBJECT_OT_pbd_show_crossings(Action, bpy.types.Operator):
    """Select these vertices in Edit Mode"""

    bl_idname = "object.pbd_show_crossings"
    bl_label = "Show Crossings"
    needs = (checks.is_active_body, checks.in_object_mode)

    counted: bpy.props.BoolProperty(
        name="Counted", description="What Count Crossings found, instead of what the last frame met"
    )

    def run(self, context: Context) -> str:
        obj, running = context.object, session.get(context.scene)
        if self.counted:
            counted = shown.counted(obj)
            found = [one.vertices for one in counted.crossings] if counted else []
        else:
            found = [cause.vertices for cause in causes.colliders(running, obj)] if running else []
        if not found:
            raise PBDError(rpt("Nothing crosses '{name}'").format(name=obj.name))
        vertices = np.unique(np.concatenate(found))
        vertices = vertices[vertices < len(obj.data.vertices)]  # The mesh may have been edited since.
        doctor.select(context, obj, "VERT", vertices)
        return rpt("{count} vertices selected").format(count=len(vertices))


class OBJECT_OT_pbd_raise_quality(Action, bpy.types.Operator):
    """Set Quality Steps to what the last frame would have needed for a shape within Shape Error"""

    bl_idname = "object.pbd_raise_quality"
    bl_label = "Raise Quality"

    @staticmethod
    def has_advice(context: Context) -> checks.Why:
        running = session.get(context.scene)
        report = None if running is None else running.report
        helps = report is not None and report.advice is not None and report.advice.substeps
        return "" if helps else "More steps would not help"

    needs = (checks.is_free, has_advice)

    def run(self, context: Context) -> str:
        steps = session.get(context.scene).report.advice.substeps
        context.scene.pbd.substeps = steps
        return rpt("Quality Steps are {steps} from the next frame on").format(steps=steps)


class OBJECT_OT_pbd_collider_select(Action, bpy.types.Operator):
    """Select this collider and show its settings"""

    bl_idname = "object.pbd_collider_select"
    bl_label = "Select Collider"
    needs = (checks.in_object_mode,)

    body: bpy.props.StringProperty(name="Object", description="Name of the collider", options=LISTED)

    def run(self, context: Context) -> None:
        obj: Object | None = context.view_layer.objects.get(self.body)
        if obj is None:
            raise PBDError(rpt("There is no object '{name}' in this view layer").format(name=self.body))
        checks.select_only(context, [obj])
