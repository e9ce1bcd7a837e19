"""Step one frame, go back to the start, throw the cache away."""

from __future__ import annotations

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.timeline import session
from . import checks
from .checks import rpt
from .frame_by_frame import is_free


class OBJECT_OT_pbd_step(bpy.types.Operator):
    """Go to the next frame and simulate it"""

    bl_idname = "object.pbd_step"
    bl_label = "Step"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_free(cls, context) and checks.has_live_body(cls, context)

    def execute(self, context: Context) -> Result:
        scene = context.scene
        start, end = session.timeline_frames(scene, *session.frame_range(scene))
        if scene.frame_current >= end:
            said = rpt("Frame {frame} is the last one of the simulation range")
            self.report({"INFO"}, said.format(frame=end))
            return {"CANCELLED"}
        scene.frame_set(max(scene.frame_current + 1, start))
        running = session.get(scene)
        if running is not None and running.message and not running.is_late:
            self.report({"ERROR"}, error_sentences.in_users_language(running.message))
            return {"CANCELLED"}
        return {"FINISHED"}


class OBJECT_OT_pbd_reset(bpy.types.Operator):
    """Go to the first frame and start again from the mesh as it is now"""

    bl_idname = "object.pbd_reset"
    bl_label = "Reset"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_free(cls, context) and checks.has_live_body(cls, context)

    def execute(self, context: Context) -> Result:
        scene = context.scene
        session.drop(scene)  # So that the jump to the first frame has nothing to show or to complain about.
        session.go_to_first(scene)
        try:
            session.reset(scene, context.evaluated_depsgraph_get())
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        return {"FINISHED"}


class OBJECT_OT_pbd_clear_cache(bpy.types.Operator):
    """Discard the simulated frames; the next playback simulates them again and replaces those on disk"""

    bl_idname = "object.pbd_clear_cache"
    bl_label = "Clear Cache"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        running = session.get(context.scene)
        if running is None or not (running.cache_bytes or running.disk_bytes):
            cls.poll_message_set("The cache is empty")
            return False
        return is_free(cls, context)

    def execute(self, context: Context) -> Result:
        session.clear_cache(context.scene)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_step, OBJECT_OT_pbd_reset, OBJECT_OT_pbd_clear_cache)
)
