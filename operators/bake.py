"""Bake the simulation into what plays without the add-on, and take the bake away again."""

from __future__ import annotations

from collections.abc import Generator

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.baking import bake
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object, Result
from ..pbd_addon.blender.settings import properties
from ..pbd_addon.blender.timeline import session
from . import checks
from .checks import rpt
from .frame_by_frame import FrameByFrame, is_free


def to_bake(context: Context) -> list[Object]:
    """The live PBD objects among the active and the selected, or all of the scene when there is none."""
    chosen = checks.bodies(context) or session.bodies(context.scene)
    return [obj for obj in chosen if obj.pbd.active and not obj.pbd.baked]


def frames_to_bake(context: Context) -> tuple[int, int]:
    """First and last frame; raises `PBDError` if there are none."""
    first, last = session.frame_range(context.scene)
    if last < first:
        raise PBDError(f"The simulation range is empty ({first} to {last})")
    return first, last


def can_bake(cls: type[bpy.types.Operator], context: Context) -> bool:
    """Poll: something of what is chosen is live, and no bake is running."""
    if not is_free(cls, context) or not checks.has_live_body(cls, context):
        return False
    if not to_bake(context):
        cls.poll_message_set("Baked: delete the bake first")
        return False
    return True


class OBJECT_OT_pbd_bake(FrameByFrame, bpy.types.Operator):
    """Simulate the frame range and keep it as shape keys or a PC2 file. The result plays without this extension"""

    bl_idname = "object.pbd_bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    mode: bpy.props.EnumProperty(
        name="Mode", description="How the bake is kept and played", items=properties.BAKE_MODES, default="ABSOLUTE"
    )

    _done = ""

    @classmethod
    def poll(cls, context: Context) -> bool:
        return can_bake(cls, context)

    def start(self, context: Context) -> Generator[session.BakeProgress, None, None]:
        first, last = frames_to_bake(context)
        objects = to_bake(context)
        said = rpt("{count} frames of {objects} baked")
        self._done = said.format(count=last - first + 1, objects=checks.describe(objects))
        return bake.start(context.scene, objects, self.mode, first, last)

    def done(self, _context: Context) -> str:
        return self._done


class OBJECT_OT_pbd_delete_bake(bpy.types.Operator):
    """Remove the baked shape keys with their animation, or the modifier of the bake; the objects are live again"""

    bl_idname = "object.pbd_delete_bake"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}

    with_files: bpy.props.BoolProperty(
        name="Delete Files",
        description="Remove the PC2 files of Mesh Cache bakes from the disk as well; undo does not bring them back",
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not any(obj.pbd.baked for obj in checks.bodies(context)):
            cls.poll_message_set("No bake to delete")
            return False
        return checks.in_object_mode(cls, context)

    def execute(self, context: Context) -> Result:
        objects = [obj for obj in checks.bodies(context) if obj.pbd.baked]
        try:
            bake.delete(context.scene, objects, self.with_files)
        except PBDError as error:
            if any(obj.pbd.baked for obj in objects):
                self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
                return {"CANCELLED"}
            self.report({"WARNING"}, error_sentences.in_users_language(str(error)))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_bake, OBJECT_OT_pbd_delete_bake))
