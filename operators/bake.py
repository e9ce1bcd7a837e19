"""Bake the simulation into shape keys that play without the add-on, and take the bake away again."""

from __future__ import annotations

import time
from collections.abc import Generator

import bpy

from ..pbd_addon.blender import bake, session
from ..pbd_addon.blender.errors import PBDError
from . import checks

TICK_SECONDS = 0.05
"""Longest work between two redraws of the window; a longer single frame is not cut."""

MODES = (
    ("ABSOLUTE", "Absolute", "One animated value, Evaluation Time, plays the keys in order: small and smooth"),
    ("RELATIVE", "Relative", "Every key has its own animated value: what game engines and glTF import"),
)


def to_bake(context):
    """The live PBD objects among the active and the selected, or all of the scene when there is none."""
    chosen = checks.bodies(context) or session.bodies(context.scene)
    return [obj for obj in chosen if obj.pbd.active and not obj.pbd.baked]


def clock(seconds: float) -> str:
    """A duration as minutes and seconds: "0:07"."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d}"


def redraw(context):
    """Draw all editors again, so that the panels show the progress."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            area.tag_redraw()


class OBJECT_OT_pbd_bake(bpy.types.Operator):
    """Simulate the frame range and write it into shape keys. The result plays without this extension"""

    bl_idname = "object.pbd_bake"
    bl_label = "Bake"
    bl_options = {"REGISTER", "UNDO"}

    mode: bpy.props.EnumProperty(name="Mode", items=MODES, default="ABSOLUTE")

    _run: Generator | None = None
    _timer = None
    _done = ""

    @classmethod
    def poll(cls, context):
        running = session.get(context.scene)
        if running is not None and running.bake is not None:
            cls.poll_message_set("A bake is running")
            return False
        if not checks.has_live_body(cls, context):
            return False
        if not to_bake(context):
            cls.poll_message_set("Baked: delete the bake first")
            return False
        return True

    def start(self, context):
        """Make the generator that does the work; raises `PBDError` on bad input."""
        scene = context.scene
        first, last = session.frame_range(scene)
        if last < first:
            raise PBDError(f"The simulation range is empty ({first} to {last})")
        objects = to_bake(context)
        self._done = f"{last - first + 1} frames of {checks.describe(objects)} baked"
        self._run = bake.start(scene, objects, self.mode, first, last)

    def fail(self, error: Exception) -> set[str]:
        """Report why there is no bake."""
        self.report({"ERROR"}, str(error))
        return {"CANCELLED"}

    def execute(self, context):
        try:
            self.start(context)
            for _progress in self._run:
                pass
        except PBDError as error:
            return self.fail(error)
        self.report({"INFO"}, self._done)
        return {"FINISHED"}

    def invoke(self, context, _event):
        if bpy.app.background:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            self.start(context)
        except PBDError as error:
            return self.fail(error)
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.modal_handler_add(self)
        context.workspace.status_text_set("PBD bake starts, Esc cancels")
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            self.cancel(context)
            self.report({"INFO"}, "Bake cancelled; the frames simulated so far stay in the cache")
            return {"CANCELLED"}
        if event.type == "TIMER":
            return self.tick(context)
        # Looking around is free; a changed frame or setting in the middle of a bake would spoil it.
        return {"PASS_THROUGH"} if event.type == "MIDDLEMOUSE" else {"RUNNING_MODAL"}

    def tick(self, context):
        """Work for `TICK_SECONDS`, show how far it is."""
        stop = time.perf_counter() + TICK_SECONDS
        progress = None
        try:
            while time.perf_counter() < stop:
                progress = next(self._run)
        except StopIteration:
            self.cancel(context)
            self.report({"INFO"}, self._done)
            return {"FINISHED"}
        except PBDError as error:
            self.cancel(context)
            return self.fail(error)
        if progress is not None:
            context.workspace.status_text_set(
                f"PBD bake: frame {progress.frame} of {progress.end}, {clock(progress.eta_seconds)} left, Esc cancels"
            )
            redraw(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context):
        """Stop the generator, which puts the objects back when it was not finished, and clear the status bar."""
        if self._run is not None:
            self._run.close()
            self._run = None
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
            context.workspace.status_text_set(None)
        redraw(context)


class OBJECT_OT_pbd_delete_bake(bpy.types.Operator):
    """Remove the baked shape keys and their animation; the objects are simulated live again"""

    bl_idname = "object.pbd_delete_bake"
    bl_label = "Delete Bake"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context):
        if not any(obj.pbd.baked for obj in checks.bodies(context)):
            cls.poll_message_set("No bake to delete")
            return False
        return checks.in_object_mode(cls, context)

    def execute(self, context):
        objects = [obj for obj in checks.bodies(context) if obj.pbd.baked]
        try:
            bake.delete(context.scene, objects)
        except PBDError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_bake, OBJECT_OT_pbd_delete_bake))
