"""Split the mesh of a cloth where it can tear."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.doctor.splitting import split
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.timeline import session
from . import checks
from .checks import rpt

ITEMS = (
    ("EVERYWHERE", "Everywhere", "Each face can tear off"),
    ("SELECTED", "Selected Edges", "Along the edges that are selected in Edit Mode"),
    ("SEAM", "Marked Seams", "Along the edges with Mark Seam"),
    ("SHARP", "Sharp Edges", "Along the edges with Mark Sharp"),
    ("GROUP", "Vertex Group", "Along the edges inside of the active vertex group"),
)


class OBJECT_OT_pbd_split(bpy.types.Operator):
    """Split the mesh along edges where it can tear; until its Tear Strength is exceeded, it holds together as before"""

    bl_idname = "object.pbd_split"
    bl_label = "Split for Tearing"
    bl_options = {"REGISTER", "UNDO"}

    where: bpy.props.EnumProperty(name="Where", description="Which edges can tear", items=ITEMS, default="EVERYWHERE")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.is_active_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        before = len(obj.data.vertices)
        try:
            after = split(obj, self.where)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        session.clear_cache(context.scene)
        said = rpt("{before} vertices are {after} now")
        self.report({"INFO"}, said.format(before=f"{before:,}", after=f"{after:,}"))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_split,))
