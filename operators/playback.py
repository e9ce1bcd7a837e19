"""Step one frame, go back to the start, throw the cache away."""

import bpy

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.timeline import session
from . import checks
from .base import NO_UNDO, Action, rpt


class OBJECT_OT_pbd_step(Action, bpy.types.Operator):
    """Go to the next frame and simulate it"""

    bl_idname = "object.pbd_step"
    bl_label = "Step"
    bl_options = NO_UNDO
    needs = checks.FREE_AND_LIVE

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
            return self.fail(context, PBDError(running.message))
        return {"FINISHED"}


class OBJECT_OT_pbd_reset(Action, bpy.types.Operator):
    """Go to the first frame and start again from the mesh as it is now"""

    bl_idname = "object.pbd_reset"
    bl_label = "Reset"
    needs = checks.FREE_AND_LIVE

    def run(self, context: Context) -> None:
        scene = context.scene
        session.drop(scene)  # So that the jump to the first frame has nothing to show or to complain about.
        session.go_to_first(scene)
        session.reset(scene, context.evaluated_depsgraph_get())


class OBJECT_OT_pbd_clear_cache(Action, bpy.types.Operator):
    """Discard the simulated frames; the next playback simulates them again and replaces those on disk"""

    bl_idname = "object.pbd_clear_cache"
    bl_label = "Clear Cache"
    bl_options = NO_UNDO

    @staticmethod
    def has_frames(context: Context) -> checks.Why:
        running = session.get(context.scene)
        return "" if running is not None and (running.cache_bytes or running.disk_bytes) else "The cache is empty"

    needs = (has_frames, checks.is_free)

    def run(self, context: Context) -> None:
        session.clear_cache(context.scene)
