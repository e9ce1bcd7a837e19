"""Take hold of cloth in the viewport: drag it, let it go, or pin it where it is."""

from __future__ import annotations

from typing import Any, cast

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender import error_sentences, gpu_drawing
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.blender.timeline.grab import GrabSession
from . import checks
from .base import Action, rpt

RADIUS = 0.15
"""Radius of the grip at first, as a share of the size of the cloth."""

WHEEL = 1.2
"""Factor of the radius for a click of the wheel."""

AFTERWARDS = 1.0
"""How long cloth goes on moving after it was let go while the frame stands still [s]."""

Region = bpy.types.Region
RegionView = bpy.types.RegionView3D

HELP = "Drag cloth    Ctrl: pin it there    Wheel: radius    Space: play    Enter: keep    Esc: put back"


SEEN = 0.05
"""What is held at least so firmly, where the middle of the grip has 1, is drawn as held."""

HELD_COLOR = (1.0, 0.8, 0.2, 1.0)
"""Color of what is held, red, green, blue and opacity; that of the circle, too."""


def view_at(context: Context, x: float, y: float) -> tuple[Region, RegionView] | None:
    """The 3D View under a point of the window, as (region, region_data), or None."""
    for area in context.screen.areas:
        if area.type == "VIEW_3D":
            for region in area.regions:
                inside = 0 <= x - region.x < region.width and 0 <= y - region.y < region.height
                if region.type == "WINDOW" and inside:
                    return region, cast(bpy.types.SpaceView3D, area.spaces.active).region_3d
    return None


def ray(region: Region, region_data: RegionView, x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """Where the ray of a point of the window begins and its unit direction, each (3,) [m]."""
    from bpy_extras import view3d_utils

    at = (x - region.x, y - region.y)
    origin = view3d_utils.region_2d_to_origin_3d(region, region_data, at)
    direction = view3d_utils.region_2d_to_vector_3d(region, region_data, at)
    return np.array(origin), np.array(direction)


def pixels(region: Region, region_data: RegionView, point: np.ndarray, radius: float) -> float:
    """How large a radius [m] at a point looks in a view [pixels]."""
    from bpy_extras import view3d_utils

    aside = np.array(region_data.view_matrix)[0, :3]
    ends = (
        view3d_utils.location_3d_to_region_2d(region, region_data, place)
        for place in (point.tolist(), (point + radius * aside).tolist())
    )
    a, b = ends
    return (b - a).length if a is not None and b is not None else 0.0


def draw_circle(tool: OBJECT_OT_pbd_grab) -> None:
    """Draw the grip around the pointer, in the view that it is in."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    region = bpy.context.region
    if tool.circle is None or region != tool.circle[0]:
        return
    _, x, y, radius = tool.circle
    angles = np.linspace(0.0, 2.0 * np.pi, 49)
    points = np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], axis=1)
    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    batch = batch_for_shader(shader, "LINE_STRIP", {"pos": [tuple(point) for point in points.tolist()]})
    shader.uniform_float("color", HELD_COLOR if tool.hand.held else (1.0, 1.0, 1.0, 0.8))
    batch.draw(shader)


def draw_patch(tool: OBJECT_OT_pbd_grab) -> None:
    """Draw the vertices that are held, in all views."""
    if tool.hand is not None and tool.hand.held is not None:
        gpu_drawing.draw_points(held_places(tool.hand), HELD_COLOR)


def held_places(hand: GrabSession) -> np.ndarray:
    """Where the vertices are that a hand holds firmly enough to be seen, (m, 3) float32 [m]."""
    hit, _normal, _grab, ids, weights = hand.held
    return hand.simulation.positions(hit.member.body)[ids[weights > SEEN]].astype(np.float32)


class OBJECT_OT_pbd_grab(Action, bpy.types.Operator):
    """Drag cloth with the mouse, while it plays or stands still. Ctrl pins it where you let go, Esc undoes it all"""

    bl_idname = "object.pbd_grab"
    bl_label = "Grab"
    needs = checks.FREE_AND_LIVE
    bl_translation_context = "PBD"  # Blender has a Grab of its own, which means another thing in some languages.

    radius: bpy.props.FloatProperty(
        name="Radius",
        description="How far around the pointer cloth is held, softer towards the border; 0 takes a part of its size. "
        "A corner 0.05 m, a handful 0.2 m",
        default=0.0,
        min=0.0,
        soft_max=1.0,
        subtype="DISTANCE",
        precision=4,
    )

    hand: GrabSession | None = None
    circle = None
    _timer = _drawing = _patch = None
    _pinned = 0
    _left = 0

    def run(self, _context: Context) -> None:
        raise PBDError(rpt("Grab works with the mouse in a 3D View"))

    def invoke(self, context: Context, event: Event) -> Result:
        if bpy.app.background or not any(area.type == "VIEW_3D" for area in context.screen.areas):
            return self.execute(context)
        undo: Any = bpy.ops.ed
        undo.undo_push(message="Change Frame")  # Playback makes no step: Ctrl+Z would also go to an earlier frame.
        try:
            self.hand = GrabSession(context.scene, context.evaluated_depsgraph_get())
        except PBDError as error:
            return self.fail(context, error)
        if not self.radius:
            sizes = [float(np.ptp(member.body.vertices, axis=0).max()) for member in self.hand.record.scene_sim.members]
            self.radius = RADIUS * min(sizes)
        render = context.scene.render
        manager = context.window_manager
        self._timer = manager.event_timer_add(render.fps_base / render.fps, window=context.window)
        self._drawing = bpy.types.SpaceView3D.draw_handler_add(draw_circle, (self,), "WINDOW", "POST_PIXEL")
        self._patch = bpy.types.SpaceView3D.draw_handler_add(draw_patch, (self,), "WINDOW", "POST_VIEW")
        manager.modal_handler_add(self)
        context.workspace.status_text_set(iface(HELP))
        self.track_pointer(context, event)
        return {"RUNNING_MODAL"}

    def modal(self, context: Context, event: Event) -> Result:
        try:
            if not self.hand.is_valid:
                self.hand = self.hand.renewed(context.scene, context.evaluated_depsgraph_get())
            return self.answer(context, event)
        except PBDError as error:
            self.fail(context, error)
            return self.keep(context)

    def answer(self, context: Context, event: Event) -> Result:
        """Do what an event asks for."""
        scene, hand = context.scene, self.hand
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            hand.put_back(scene, context.evaluated_depsgraph_get())
            return self.end(context, {"CANCELLED"})
        if event.type in {"RET", "NUMPAD_ENTER"} and event.value == "PRESS":
            return self.keep(context)
        if event.type == "TIMER":
            self.tick(context)
            return {"PASS_THROUGH"}
        if event.type in {"WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            self.radius *= WHEEL if event.type == "WHEELUPMOUSE" else 1.0 / WHEEL
        elif event.type == "LEFTMOUSE" and event.value == "PRESS":
            self.press(context, event)
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._pinned += hand.let_go(scene, pin=event.ctrl)
            self._left = round(AFTERWARDS / self._timer.time_step)
        self.track_pointer(context, event)
        if event.type in {"LEFTMOUSE", "WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            return {"RUNNING_MODAL"}
        free = {"MOUSEMOVE", "INBETWEEN_MOUSEMOVE", "MIDDLEMOUSE", "SPACE"}
        return {"PASS_THROUGH"} if event.type in free or event.type.startswith("TIMER") else {"RUNNING_MODAL"}

    def press(self, context: Context, event: Event) -> None:
        """Take hold of what is under the pointer."""
        view = view_at(context, event.mouse_x, event.mouse_y)
        if view is None or not self.hand.take(context.scene, *ray(*view, event.mouse_x, event.mouse_y), self.radius):
            self.report({"INFO"}, error_sentences.in_users_language("No PBD cloth under the pointer"))

    def track_pointer(self, context: Context, event: Event) -> None:
        """Follow the pointer with what is held and with the circle."""
        view = view_at(context, event.mouse_x, event.mouse_y)
        self.circle = None
        if view is not None:
            region, region_data = view
            origin, direction = ray(region, region_data, event.mouse_x, event.mouse_y)
            self.hand.move(origin, direction)
            if self.hand.held is not None:
                place = self.hand.held.hit.point
            else:
                place = origin + direction * float(np.linalg.norm(np.array(region_data.view_location) - origin))
            size = pixels(region, region_data, place, self.radius)
            self.circle = region, event.mouse_x - region.x, event.mouse_y - region.y, size
            region.tag_redraw()

    def tick(self, context: Context) -> None:
        """While the frame stands still, let what is held come along, and what was let go fall for a while."""
        self._left = max(self._left - 1, 0)
        if not context.screen.is_animation_playing and (self.hand.held is not None or self._left):
            self.hand.rest(context.scene, context.evaluated_depsgraph_get())

    def keep(self, context: Context) -> Result:
        """End, and keep what was done."""
        self.hand.finish(context.scene)
        return self.end(context, {"FINISHED"} if self.hand.changed else {"CANCELLED"})

    def end(self, context: Context, result: Result) -> Result:
        """Clean up and end with this result."""
        context.window_manager.event_timer_remove(self._timer)
        bpy.types.SpaceView3D.draw_handler_remove(self._drawing, "WINDOW")
        bpy.types.SpaceView3D.draw_handler_remove(self._patch, "WINDOW")
        context.workspace.status_text_set(None)
        for area in context.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()
        if self._pinned and result == {"FINISHED"}:
            self.report({"INFO"}, rpt("{count} vertices pinned by hand").format(count=self._pinned))
        return result

    def cancel(self, context: Context) -> None:
        """Blender ends the tool: another file, or the window closes."""
        self.end(context, {"CANCELLED"})
