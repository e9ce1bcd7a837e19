"""The floor, pins and attached vertices, drawn into the 3D View among its overlays."""

from typing import cast

import bpy

from ..pbd_addon.blender import gpu_drawing, overlay
from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.timeline import session

HANGS = not bpy.app.background
"""Whether there are windows to draw into."""

FLOOR_COLOR = (0.35, 0.6, 0.9, 0.35)
PINNED_COLOR = (1.0, 0.6, 0.1, 1.0)
ATTACHED_COLOR = (0.2, 0.85, 0.9, 1.0)
"""Colors, red, green, blue and opacity."""


def is_on(context: Context) -> bool:
    """Whether the view that is drawn wants it; a render reads and writes the same cloth, and is left alone."""
    view = context.space_data
    shown = context.scene.pbd.show_overlay and isinstance(view, bpy.types.SpaceView3D) and view.overlay.show_overlays
    return bool(shown) and not bpy.app.is_job_running("RENDER")


def draw() -> None:
    """Draw into the view that is being drawn."""
    context = bpy.context
    if not is_on(context):
        return
    gpu_drawing.draw_lines(overlay.floor_lines(context.scene), FLOOR_COLOR)
    for pinned, attached in overlay.points(context.scene, context.view_layer):
        gpu_drawing.draw_points(pinned, PINNED_COLOR)
        gpu_drawing.draw_points(attached, ATTACHED_COLOR)


def draw_switch(self: bpy.types.Panel, context: Context) -> None:
    """The row among the overlays."""
    col = self.layout.column()
    col.active = cast(bpy.types.SpaceView3D, context.space_data).overlay.show_overlays
    col.prop(context.scene.pbd, "show_overlay")


_handles: list[object] = []


def register() -> None:
    """Draw from now on; without a window there is nothing to draw into."""
    bpy.types.VIEW3D_PT_overlay.append(draw_switch)
    if HANGS:
        _handles.append(bpy.types.SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW"))
        session.listeners.append(overlay.notice)


def unregister() -> None:
    """Undo `register`."""
    bpy.types.VIEW3D_PT_overlay.remove(draw_switch)
    while _handles:
        session.listeners.remove(overlay.notice)
        bpy.types.SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    overlay.forget()
