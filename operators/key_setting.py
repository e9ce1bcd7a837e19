"""Key a setting that the panel shows in another unit: Blender's own dot knows the shown one only."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.settings import shown_units
from . import checks


class OBJECT_OT_pbd_key_setting(bpy.types.Operator):
    """Insert a key for this setting at this frame, or remove the one that is there"""

    bl_idname = "object.pbd_key_setting"
    bl_label = "Key Setting"
    bl_options = {"REGISTER", "UNDO"}

    setting: bpy.props.EnumProperty(
        name="Setting",
        description="What is keyed",
        items=[("density", "Density", "Mass of one square meter"), ("bend", "Bending", "Resistance to folding")],
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.is_active_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj, path = context.object, f"pbd.{self.setting}"
        if shown_units.key_icon(obj, self.setting, context.scene.frame_current) == shown_units.KEYED_HERE:
            obj.keyframe_delete(path)
        else:
            obj.keyframe_insert(path)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_key_setting,))
