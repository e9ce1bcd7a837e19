"""Let cloth hang for some frames before the first one."""

from collections.abc import Generator

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender import handlers
from ..pbd_addon.blender.baking import recording
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.timeline import session
from ..pbd_addon.blender.timeline.session import BakeProgress
from . import checks
from .base import rpt
from .frame_by_frame import FrameByFrame


class OBJECT_OT_pbd_settle(FrameByFrame, bpy.types.Operator):
    """Let cloth hang at the first frame for some frames, hidden from the timeline; simulation begins with the result"""

    bl_idname = "object.pbd_settle"
    bl_label = "Settle"
    needs = checks.FREE_AND_LIVE

    frames: bpy.props.IntProperty(
        name="Frames",
        description="Frames to hang; 0 takes those of the scene's Settle, or 50. A curtain 50, a dress 100",
        default=0,
        min=0,
        soft_max=250,
    )

    _running: session.Record | None = None
    _before: tuple[int, int, float, session.Record | None] = (0, 1, 0.0, None)

    def start(self, context: Context) -> Generator[int, None, None]:
        """Begin anew at the first frame, unsettled; raises `PBDError`."""
        scene = context.scene
        frame = scene.frame_current, scene.frame_subframe
        self._before = (scene.pbd.settle, *frame, session.drop(scene))
        self.frames = self.frames or scene.pbd.settle or 50
        scene.pbd.settle = 0
        session.go_to_first(scene)
        session.drop(scene)
        self._running = session.ensure(scene, context.evaluated_depsgraph_get())
        return recording.settle(self._running, scene, self.frames)

    def done(self, context: Context) -> str:
        """Show the result, and let the scene say how it came about."""
        scene = context.scene
        self._forget_earlier()
        recording.keep_settled(session.of(scene), scene, self.frames)
        return rpt("Settled for {frames} frames").format(frames=self.frames)

    def give_up(self, context: Context) -> Result:
        """Everything as it was before: frame, simulated frames, and what an earlier Settle has made."""
        scene = context.scene
        scene.pbd.settle, frame, subframe, earlier = self._before
        session.clear_cache(scene)
        with handlers.asleep():
            scene.frame_set(frame, subframe=subframe)
        if earlier is not None and earlier.scene_sim is not None:
            session.put_back(scene, earlier)
        return {"CANCELLED"}

    def _forget_earlier(self) -> None:
        """The simulation before this one is not wanted any more; Blender keeps operators for a while."""
        self._before = (*self._before[:3], None)

    def status(self, progress: BakeProgress | None) -> str:
        line = iface("PBD settles: {done} of {frames} frames, Esc cancels")
        return line.format(done=progress or 0, frames=self.frames)

    def stopped(self) -> str:
        return rpt("Settle cancelled")

    def tick(self, context: Context) -> Result:
        """Work for a moment, show the cloth as it hangs by now."""
        if session.of(context.scene) is not self._running:
            self.cancel(context)
            self._forget_earlier()
            return self.fail(context, PBDError("The simulation was reset while it settled"))
        result = super().tick(context)
        if result == {"RUNNING_MODAL"}:
            recording.show_again(self._running, context.scene)
        return result
