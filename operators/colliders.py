"""Make objects colliders, which cloth meets, and take that away again."""

import bpy

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.scene import surfaces
from ..pbd_addon.blender.settings.field_properties import unset
from ..pbd_addon.blender.timeline import session
from . import checks, doctor
from .base import Action, rpt

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
