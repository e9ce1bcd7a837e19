"""Simulate what is missing up to the frame on show, with progress and Esc, where that takes long."""

from collections.abc import Generator
from typing import Any

import bpy

from ..pbd_addon.blender.baking import recording
from ..pbd_addon.blender.kinds import Context, Event, Result, Scene
from ..pbd_addon.blender.timeline import session
from . import checks
from .base import NO_UNDO, rpt
from .frame_by_frame import FrameByFrame

PLAYBACK_KEYS = frozenset({"ESC", "SPACE"})
"""What stops playback, also while it waits for a frame."""


class OBJECT_OT_pbd_catch_up(FrameByFrame, bpy.types.Operator):
    """Simulate all frames from the first one to the one on show"""

    bl_idname = "object.pbd_catch_up"
    bl_label = "Catch Up"
    bl_options = NO_UNDO
    needs = checks.FREE_AND_LIVE

    _verb = "catch-up"
    _played = False

    def invoke(self, context: Context, event: Event) -> Result:
        self._played = context.screen.is_animation_playing
        if self._played:
            self._stop_keys, self._panels_react = PLAYBACK_KEYS, True
        return super().invoke(context, event)

    def start(self, context: Context) -> Generator[session.BakeProgress, None, None]:
        return recording.catching_up(context.scene)

    def tick(self, context: Context) -> Result:
        if self._played and context.screen.is_animation_playing:  # By the button in the panel, which means to stop it.
            bpy.ops.screen.animation_cancel(restore_frame=False)
            return self._stop(context)
        return super().tick(context)

    def done(self, context: Context) -> str:
        if self._played and not bpy.app.background:
            bpy.ops.screen.animation_play()
            return ""  # It plays on, which needs no words, and soon would say so again.
        return rpt("Simulated up to frame {frame}").format(frame=session.last_shown(context.scene))

    def stopped(self) -> str:
        return "" if self._played else super().stopped()  # Who stops playback knows of no catch-up.

    def give_up(self, context: Context) -> Result:
        if self._played:  # In the middle of a frame cloth is still that of the one before, and nothing else is.
            session.go_to_last_simulated(context.scene)
        return {"CANCELLED"}


def begin_where_late(scene: Scene) -> None:
    """After a frame change: catch up with the frame on show, if that is to be done with progress and Esc."""
    if session.expect_late_frame(scene) and not bpy.app.timers.is_registered(catch_up_in_window):
        bpy.app.timers.register(catch_up_in_window, first_interval=0.0)  # A handler must not begin what takes events.


def catch_up_in_window() -> None:
    """Timer: begin in the first window that shows a late scene."""
    for window in bpy.context.window_manager.windows:
        if session.take_late_frame(window.scene):
            with bpy.context.temp_override(window=window):
                if OBJECT_OT_pbd_catch_up.poll(bpy.context):
                    catch_up: Any = bpy.ops.object
                    catch_up.pbd_catch_up("INVOKE_DEFAULT")
            return


def register() -> None:
    """Listen to frame changes, where there is a window to show progress."""
    if not bpy.app.background:
        session.listeners.append(begin_where_late)


def unregister() -> None:
    """Undo `register`."""
    if begin_where_late in session.listeners:
        session.listeners.remove(begin_where_late)
    if bpy.app.timers.is_registered(catch_up_in_window):
        bpy.app.timers.unregister(catch_up_in_window)
