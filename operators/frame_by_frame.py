"""Work that goes through the frames: in pieces between redraws of the window, with progress and Esc."""

import time
from collections.abc import Generator

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.errors import Interruption, PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.blender.timeline import cost_estimate
from ..pbd_addon.blender.timeline.session import BakeProgress
from .base import Action, rpt

TICK_SECONDS = 0.05
"""Longest work between two redraws of the window; a longer single frame is not cut."""


PANEL_EVENTS = frozenset(
    {"MOUSEMOVE", "LEFTMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE", "RET", "NUMPAD_ENTER", "BACK_SPACE"}
)
"""What panels get during playback that waits for a frame, beside what is typed."""


def panels(screen: bpy.types.Screen) -> list[bpy.types.Region]:
    """Its sidebars and editors of properties."""
    return [
        region
        for area in screen.areas
        for region in area.regions
        if region.type == "UI" or (area.type == "PROPERTIES" and region.type == "WINDOW")
    ]


def is_for_panels(screen: bpy.types.Screen, event: Event) -> bool:
    """Whether the pointer is over one of them, and clicks, scrolls or types; undo, say, is nothing for panels."""
    types = (bool(event.unicode) and event.unicode.isprintable()) or (event.ctrl and event.type in {"A", "C", "V", "X"})
    return (types or event.type in PANEL_EVENTS) and any(
        0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
        for region in panels(screen)
    )


def is_transforming(window: bpy.types.Window, event: Event) -> bool:
    """Whether an object is being moved, turned or scaled with the mouse, or a key is pressed that begins it."""
    begins = event.type in {"G", "R", "S"} and not (event.ctrl or event.alt or event.shift)
    return begins or any(operator.bl_idname.startswith("TRANSFORM_OT_") for operator in window.modal_operators)


def redraw(context: Context) -> None:
    """Draw all panels again, so that they show the progress; a scene is not drawn in vain, which may take long."""
    for window in context.window_manager.windows:
        for region in panels(window.screen):
            region.tag_redraw()


class FrameByFrame(Action):
    """Base of operators whose work is a generator, of `BakeProgress` where `status` is not overridden."""

    _run: Generator | None = None
    _timer = None
    _verb = "bake"
    _stop_keys = frozenset({"ESC"})
    _panels_react = False

    def start(self, context: bpy.types.Context) -> Generator:
        """Make the generator that does the work; raises `PBDError` on bad input."""
        raise NotImplementedError

    def done(self, context: bpy.types.Context) -> str:
        """Finish, and say what was done, one sentence, or "" where that is seen."""
        raise NotImplementedError

    def status(self, progress: BakeProgress | None) -> str:
        """How far it is, for the status bar; `progress` is None before anything is done."""
        work = iface(self._verb)
        if progress is None:
            return iface("PBD {work} starts, Esc cancels").format(work=work)
        if progress.to_prepare:
            line = iface("PBD prepares {count} vertices, about {seconds} s, Esc cancels")
            seconds = cost_estimate.rounded(progress.eta_seconds)
            return line.format(count=f"{progress.to_prepare:,}", seconds=seconds)
        if progress.to_settle:
            line = iface("PBD settles: {done} of {frames} frames, Esc cancels")
            return line.format(done=progress.settled, frames=progress.to_settle)
        line = iface("PBD {work}: frame {frame} of {last}, {time} left, Esc cancels")
        return line.format(work=work, frame=progress.frame, last=progress.end, time=progress.left)

    def stopped(self) -> str:
        """What Esc leaves behind, one sentence, or "" where that is seen."""
        said = rpt("{work} cancelled; the frames simulated so far stay in the cache")
        return said.format(work=iface(self._verb).capitalize())

    def run(self, context: Context) -> str:
        for _progress in self.start(context):
            pass
        return self.done(context)

    def invoke(self, context: Context, _event: Event) -> Result:
        if bpy.app.background:
            return self.execute(context)
        if context.screen.is_animation_playing:
            bpy.ops.screen.animation_cancel(restore_frame=False)
        try:
            self._run = self.start(context)
        except PBDError as error:
            return self.fail(context, error)
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.001, window=context.window)
        manager.modal_handler_add(self)
        context.workspace.status_text_set(self.status(None))
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> Result:
        if self._panels_react and event.type != "TIMER" and is_transforming(context.window, event):
            return {"PASS_THROUGH"}  # Or the click that ends a move would be lost, and the move go on.
        if event.type in self._stop_keys and event.value == "PRESS":
            return self._stop(context)
        if event.type == "TIMER":
            return self.tick(context)
        if self._panels_react and is_for_panels(context.screen, event):
            return {"PASS_THROUGH"}  # As in playback of quick frames; a frame keeps the settings that it began with.
        # Looking around is free; a changed frame or setting in the middle would spoil it.
        return {"PASS_THROUGH"} if event.type == "MIDDLEMOUSE" else {"RUNNING_MODAL"}

    def tick(self, context: Context) -> Result:
        """Work for `TICK_SECONDS`, show how far it is."""
        stop = time.perf_counter() + TICK_SECONDS
        progress = None
        try:
            while time.perf_counter() < stop:
                progress = next(self._run)
                if getattr(progress, "to_prepare", 0):
                    break  # It is told before the scene is read, which is not cut.
        except StopIteration:
            self.cancel(context)
            return self.finish(self.done(context))
        except Interruption:
            return self._stop(context)
        except PBDError as error:
            self.cancel(context)
            return self.fail(context, error)
        if progress is not None:
            context.workspace.status_text_set(self.status(progress))
            redraw(context)
        return {"RUNNING_MODAL"}

    def cancel(self, context: Context) -> None:
        """Stop the generator, which puts the objects back when it was not finished, and clear the status bar."""
        if self._run is not None:
            self._run.close()
            self._run = None
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
            context.workspace.status_text_set(None)
        redraw(context)

    def _stop(self, context: Context) -> Result:
        """End by Esc, or as a script changed the scene in the middle of a frame."""
        self.cancel(context)
        self.finish(self.stopped())
        return self.give_up(context)
