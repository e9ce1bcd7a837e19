"""The strip in the timeline: what it shows, and when it is there. To be drawn it needs a window."""

import bpy
import pytest

from helpers import scenes
from helpers.scenes import go, play

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def timeline(extension):
    return extension.module("panels.timeline")


def test_the_strip_shows_what_holds_and_what_does_not(timeline):
    scene = bpy.context.scene
    obj = scenes.add_grid()
    assert timeline.spans(scene) == []
    go(1)
    assert timeline.spans(scene) == []
    play([obj], 2, 12)
    assert timeline.spans(scene) == [(1, 12, timeline.SIMULATED)]
    go(7)
    obj.pbd.drag = 5.0
    assert timeline.spans(scene) == [(1, 7, timeline.SIMULATED), (8, 12, timeline.OUTDATED)]
    go(9)
    assert timeline.spans(scene) == [(1, 9, timeline.SIMULATED), (10, 12, timeline.OUTDATED)]


def test_an_edit_at_the_first_frame(timeline):
    obj = scenes.add_grid()
    play([obj], 1, 5)
    go(1)
    obj.pbd.drag = 5.0
    assert timeline.spans(bpy.context.scene) == [(1, 1, timeline.SIMULATED), (2, 5, timeline.OUTDATED)]


def test_the_strip_hears_of_each_frame_and_of_a_cleared_cache(extension):
    """After it was simulated, not before: the strip would lag behind."""
    heard = []
    session = extension.bridge("timeline.session")

    def listen(scene):
        running = session.get(scene)
        heard.append(None if running is None else running.last_frame)

    session.listeners.append(listen)
    try:
        play([scenes.add_grid()], 1, 3)
        assert heard[-2:] == [2, 3]
        bpy.ops.object.pbd_clear_cache()
        bpy.context.view_layer.update()
        assert heard[-1] is None
    finally:
        session.listeners.remove(listen)


def test_without_a_window_nothing_is_hung_up(extension, timeline):
    assert bpy.app.background
    assert timeline._handles == []
    assert timeline.redraw not in extension.bridge("timeline.session").listeners


def test_with_a_window_it_is_taken_down_again(extension, timeline, monkeypatch):
    """Blender takes a handler without a window too; nothing calls it there."""
    monkeypatch.setattr(timeline, "HANGS", True)
    timeline.register()
    (handle,) = timeline._handles
    listeners = extension.bridge("timeline.session").listeners
    assert timeline.redraw in listeners
    go(1)
    timeline.unregister()
    assert timeline._handles == []
    assert timeline.redraw not in listeners
    with pytest.raises(ValueError):
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(handle, "WINDOW")


def test_the_strip_is_drawn_where_the_frames_are(timeline):
    """Off the screen, where Blender has graphics without a window: 5.2 on a computer with a driver."""
    import gpu
    from mathutils import Matrix

    try:
        gpu.init()
    except (AttributeError, SystemError, RuntimeError):
        pytest.skip("no graphics without a window here")
    width, height = 40, 8
    offscreen = gpu.types.GPUOffScreen(width, height)
    red, blue = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
    with offscreen.bind():
        gpu.state.active_framebuffer_get().clear(color=(0.0, 0.0, 0.0, 0.0))
        to_pixels = Matrix(((2 / width, 0, 0, -1), (0, 2 / height, 0, -1), (0, 0, 1, 0), (0, 0, 0, 1)))
        with gpu.matrix.push_pop(), gpu.matrix.push_pop_projection():
            gpu.matrix.load_matrix(Matrix.Identity(4))
            gpu.matrix.load_projection_matrix(to_pixels)
            timeline.draw_spans([(1, 3, blue), (4, 4, red)], lambda frame: 10.0 * (frame - 0.5), 4.0)
        pixels = gpu.state.active_framebuffer_get().read_color(0, 0, width, height, 4, 0, "FLOAT").to_list()
    offscreen.free()
    assert [tuple(pixels[1][column]) for column in (2, 15, 27, 33, 38)] == [blue, blue, blue, red, red]
    assert tuple(pixels[6][15]) == (0.0, 0.0, 0.0, 0.0)
