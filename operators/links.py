"""What is new in a version, and how to report a bug."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender import about
from ..pbd_addon.blender.kinds import Context, Result
from .checks import rpt


class OBJECT_OT_pbd_whats_new(bpy.types.Operator):
    """Open the list of changes in the web browser"""

    bl_idname = "object.pbd_whats_new"
    bl_label = "What's New"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, _context: Context) -> bool:
        if not about.website():
            cls.poll_message_set(about.NO_HOME)
            return False
        return True

    def execute(self, _context: Context) -> Result:
        bpy.ops.wm.url_open(url=about.changes_address())
        return {"FINISHED"}


class OBJECT_OT_pbd_report_bug(bpy.types.Operator):
    """Copy the versions of Blender and of this extension, the backend and the last frame, and open the page for bugs"""

    bl_idname = "object.pbd_report_bug"
    bl_label = "Report a Bug"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.scene is not None

    def execute(self, context: Context) -> Result:
        context.window_manager.clipboard = about.report(context.scene)
        address = about.report_address(context.scene)
        if not address:
            self.report({"INFO"}, rpt("Copied to the clipboard. {reason}").format(reason=about.NO_HOME))
            return {"FINISHED"}
        bpy.ops.wm.url_open(url=address)
        self.report({"INFO"}, rpt("Copied to the clipboard, in case the page does not open"))
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_whats_new, OBJECT_OT_pbd_report_bug))
