"""Bake in a second Blender, so that work goes on in this one."""

from __future__ import annotations

import os

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.baking import background_bake
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.settings import properties
from .bake import can_bake, frames_to_bake, to_bake


class OBJECT_OT_pbd_bake_background(bpy.types.Operator):
    """Bake a copy of the file in a second Blender while you keep working. Later changes are not included"""

    bl_idname = "object.pbd_bake_background"
    bl_label = "Bake in Background"
    bl_options = {"REGISTER"}

    mode: bpy.props.EnumProperty(
        name="Mode", description="How the bake is kept and played", items=properties.BAKE_MODES, default="ABSOLUTE"
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        if background_bake.job() is not None:
            cls.poll_message_set("A bake is running in the background")
            return False
        if not os.path.isfile(bpy.app.binary_path):
            cls.poll_message_set("There is no Blender program to start: use Bake")
            return False
        return can_bake(cls, context)

    def execute(self, context: Context) -> Result:
        try:
            frames = frames_to_bake(context)
            background_bake.start(context.scene, to_bake(context), self.mode, *frames)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        return {"FINISHED"}


class OBJECT_OT_pbd_cancel_background(bpy.types.Operator):
    """Cancel the bake in the background; nothing of it is kept"""

    bl_idname = "object.pbd_cancel_background"
    bl_label = "Cancel"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, _context: Context) -> bool:
        if background_bake.job() is None:
            cls.poll_message_set("No bake is running in the background")
            return False
        return True

    def execute(self, _context: Context) -> Result:
        background_bake.cancel()
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_bake_background, OBJECT_OT_pbd_cancel_background)
)
