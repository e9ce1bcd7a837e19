"""The simulated frames as a strip along the foot of the timeline, as Blender draws its own caches."""

from collections.abc import Callable

import bpy

from ..pbd_addon.blender.kinds import Scene
from ..pbd_addon.blender.timeline import session

HEIGHT = 4.0
"""Of the strip, at the interface scale 1 [pixels]."""

HANGS = not bpy.app.background
"""Whether there are windows to draw into."""

Color = tuple[float, float, float, float]

SIMULATED: Color = (0.24, 0.62, 0.9, 0.9)
OUTDATED: Color = (0.9, 0.35, 0.2, 0.5)
"""Colors of frames that hold, and of those that did not hold any more and wait to be simulated again."""


def spans(scene: Scene) -> list[tuple[int, int, Color]]:
    """What is to be drawn: first frame, last frame and color of each part of the strip."""
    running = session.get(scene)
    if running is None or running.is_pristine:
        return []
    first, last = session.valid_frames(scene)
    lost = session.invalidated_frames(scene)
    parts = [(first, last, SIMULATED)] if first <= last else []
    return parts if lost is None else [*parts, (lost.first, lost.last, OUTDATED)]


def redraw(scene: Scene) -> None:
    """Draw again if there are other frames than before: while it plays Blender moves the playhead alone."""
    running = session.get(scene)
    frames = None if running is None else (running.first_frame, running.last_frame)
    if _drawn == [frames] or bpy.app.is_job_running("RENDER"):
        return
    _drawn[:] = [frames]
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "DOPESHEET_EDITOR":
                area.tag_redraw()


_drawn: list[tuple[int, int] | None] = []


def draw() -> None:
    """Draw the strip into the region that is being drawn."""
    context = bpy.context
    view, height = context.region.view2d, HEIGHT * context.preferences.system.ui_scale
    draw_spans(spans(context.scene), lambda frame: view.view_to_region(frame, 0.0, clip=False)[0], height)


def draw_spans(parts: list[tuple[int, int, Color]], place: Callable[[float], float], height: float) -> None:
    """Draw `parts`, as of `spans`, along the foot of a region; `place` says where a frame is from the left [pixels]."""
    import gpu
    from gpu_extras.batch import batch_for_shader

    shader = gpu.shader.from_builtin("UNIFORM_COLOR")
    gpu.state.blend_set("ALPHA")
    for first, last, color in parts:
        left, right = place(first - 0.5), place(last + 0.5)
        corners = ((left, 0.0), (right, 0.0), (right, height), (left, height))
        batch = batch_for_shader(shader, "TRIS", {"pos": corners}, indices=((0, 1, 2), (0, 2, 3)))
        shader.uniform_float("color", color)
        batch.draw(shader)
    gpu.state.blend_set("NONE")


_handles: list[object] = []


def register() -> None:
    """Draw from now on; without a window there is nothing to draw into."""
    if HANGS:
        _handles.append(bpy.types.SpaceDopeSheetEditor.draw_handler_add(draw, (), "WINDOW", "POST_PIXEL"))
        session.listeners.append(redraw)


def unregister() -> None:
    """Undo `register`."""
    while _handles:
        session.listeners.remove(redraw)
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handles.pop(), "WINDOW")
