"""What is new in a version, and how to report a bug."""

import bpy

from ..pbd_addon.blender import about
from ..pbd_addon.blender.kinds import Context
from .base import NO_UNDO, Action, rpt


class OBJECT_OT_pbd_whats_new(Action, bpy.types.Operator):
    """Open the list of changes in the web browser"""

    bl_idname = "object.pbd_whats_new"
    bl_label = "What's New"
    bl_options = NO_UNDO
    needs = (lambda _context: "" if about.website() else about.NO_HOME,)

    def run(self, _context: Context) -> None:
        bpy.ops.wm.url_open(url=about.changes_address())


class OBJECT_OT_pbd_report_bug(Action, bpy.types.Operator):
    """Copy the versions of Blender and of this extension, the backend and the last frame, and open the page for bugs"""

    bl_idname = "object.pbd_report_bug"
    bl_label = "Report a Bug"
    bl_options = NO_UNDO

    def run(self, context: Context) -> str:
        context.window_manager.clipboard = about.report(context.scene)
        address = about.report_address(context.scene)
        if not address:
            return rpt("Copied to the clipboard. {reason}").format(reason=about.NO_HOME)
        bpy.ops.wm.url_open(url=address)
        return rpt("Copied to the clipboard, in case the page does not open")
