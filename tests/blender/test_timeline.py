"""The strip in the timeline: what it shows, and when it is there. To be drawn it needs a window."""

import bpy
import pytest
import scenes
from scenes import go, play


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


def test_without_a_window_nothing_is_hung_up(timeline):
    assert bpy.app.background
    assert timeline._handles == []


def test_with_a_window_it_is_taken_down_again(extension, timeline, monkeypatch):
    """Blender takes a handler without a window too; nothing calls it there."""
    monkeypatch.setattr(timeline, "HANGS", True)
    timeline.register()
    (handle,) = timeline._handles
    timeline.unregister()
    assert timeline._handles == []
    with pytest.raises(ValueError):
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(handle, "WINDOW")
