"""Let cloth hang for some frames before the first one."""

from __future__ import annotations

import time
from collections.abc import Generator

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender import session, shaping
from ..pbd_addon.blender.errors import PBDError
from . import checks
from .frame_by_frame import TICK_SECONDS


class OBJECT_OT_pbd_settle(bpy.types.Operator):
    """Let cloth hang at the first frame for some frames, hidden from the timeline; simulation begins with the result"""

    bl_idname = "object.pbd_settle"
    bl_label = "Settle"
    bl_options = {"REGISTER", "UNDO"}

    frames: bpy.props.IntProperty(
        name="Frames",
        description="Frames to hang; 0 takes those of the scene's Settle, or 50. A curtain 50, a dress 100",
        default=0,
        min=0,
        soft_max=250,
    )

    _run: Generator | None = None
    _running: session.Session | None = None
    _timer = None
    _before = 0

    @classmethod
    def poll(cls, context):
        running = session.get(context.scene)
        if running is not None and running.bake is not None:
            cls.poll_message_set("A bake is running")
            return False
        return checks.has_live_body(cls, context)

    def start(self, context):
        """Begin anew at the first frame, unsettled; raises `PBDError`."""
        scene = context.scene
        self._before = scene.pbd.settle
        self.frames = self.frames or self._before or 50
        scene.pbd.settle = 0
        session.drop(scene)
        scene.frame_set(session.frame_range(scene)[0])
        session.drop(scene)
        self._running = session.ensure(scene, context.evaluated_depsgraph_get())
        self._run = shaping.settling(self._running, scene, self.frames)

    def done(self, context):
        """Show the result, and let the scene say how it came about."""
        scene = context.scene
        scene.pbd.settle = self.frames
        running = session.of(scene)
        shaping.take_settings_of_first(running, scene)
        running.show_again(scene, context.evaluated_depsgraph_get())
        self.report({"INFO"}, f"Settled for {self.frames} frames")
        return {"FINISHED"}

    def give_up(self, context):
        """Everything as it was before."""
        session.clear_cache(context.scene)
        context.scene.pbd.settle = self._before
        return {"CANCELLED"}

    def fail(self, context, error):
        """Report why it does not settle."""
        self.report({"ERROR"}, str(error))
        return self.give_up(context)

    def execute(self, context):
        try:
            self.start(context)
            for _done in self._run:
                pass
        except PBDError as error:
            return self.fail(context, error)
        return self.done(context)

    def invoke(self, context, _event):
        if bpy.app.background:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            self.start(context)
        except PBDError as error:
            return self.fail(context, error)
        self._timer = context.window_manager.event_timer_add(0.001, window=context.window)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, "Settle cancelled")
            return self.give_up(context)
        if event.type == "TIMER":
            return self.tick(context)
        return {"PASS_THROUGH"} if event.type == "MIDDLEMOUSE" else {"RUNNING_MODAL"}

    def tick(self, context):
        """Work for a moment, show how far it is."""
        stop = time.perf_counter() + TICK_SECONDS
        done = 0
        try:
            if session.of(context.scene) is not self._running:
                raise PBDError("The simulation was reset while it settled")
            while time.perf_counter() < stop:
                done = next(self._run)
        except StopIteration:
            self.cancel(context)
            return self.done(context)
        except PBDError as error:
            self.cancel(context)
            return self.fail(context, error)
        self._running.show_again(context.scene, context.evaluated_depsgraph_get())
        line = iface("PBD settles: {done} of {frames} frames, Esc cancels")
        context.workspace.status_text_set(line.format(done=done, frames=self.frames))
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        """Clean up."""
        context.window_manager.event_timer_remove(self._timer)
        context.workspace.status_text_set(None)


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_settle,))
