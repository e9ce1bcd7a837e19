"""What is drawn over the 3D View: where it is, and what it costs. Drawing itself needs a window."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.calls import entered
from helpers.scenes import go, shown


@pytest.fixture
def overlay(extension):
    found = extension.bridge("overlay")
    found.forget()
    return found


def all_points(overlay):
    return list(overlay.points(bpy.context.scene, bpy.context.view_layer))


def test_pins_are_where_the_cloth_shows_them(overlay):
    """Before the first frame, while it plays, and where the object was moved in between."""
    obj = scenes.add_grid(rx=9, ry=9)
    scenes.pin(obj, [0, 8])
    obj.location = (0.3, 0.0, 2.0)
    obj.keyframe_insert("location", frame=1)
    obj.location.x = 1.0
    obj.keyframe_insert("location", frame=10)
    for frame in (1, 2, 5, 10, 4):
        go(frame)
        ((pinned, attached),) = all_points(overlay)
        assert pinned == pytest.approx(shown(obj)[[0, 8]], abs=1e-5)
        assert len(attached) == 0 and pinned.dtype == np.float32


def test_attached_vertices_are_told_from_pins(overlay):
    obj, mast = scenes.add_grid(rx=9, ry=9), scenes.add_grid("Mast", pbd=False)
    mast.location.z = 0.2
    scenes.pin(obj, [0, 8])
    obj.vertex_groups.new(name="Attach").add([8, 80], 1.0, "REPLACE")
    obj.pbd.attach_object, obj.pbd.attach_group = mast, "Attach"
    go(1)
    go(3)
    ((pinned, attached),) = all_points(overlay)
    assert pinned == pytest.approx(shown(obj)[[0]], abs=1e-5)
    assert attached == pytest.approx(shown(obj)[[8, 80]], abs=1e-5)


def test_new_weights_are_seen_after_an_edit(overlay):
    obj = scenes.add_grid()
    scenes.pin(obj, [0])
    scene = bpy.context.scene
    overlay.notice(scene)
    assert [len(pinned) for pinned, _attached in all_points(overlay)] == [1]
    scenes.pin(obj, [1, 2])
    overlay.notice(scene)
    assert [len(pinned) for pinned, _attached in all_points(overlay)] == [3]
    obj.hide_set(True)
    assert all_points(overlay) == []
    obj.hide_set(False)
    obj.pbd.active = False
    assert all_points(overlay) == []


def test_the_floor_is_a_grid_where_it_is(overlay):
    obj = scenes.add_grid(width=4.0, height=4.0)
    obj.location = (7.0, -3.0, 5.0)
    bpy.context.view_layer.update()
    scene = bpy.context.scene
    assert len(overlay.floor_lines(scene)) == 0
    scene.pbd.use_floor, scene.pbd.floor_height = True, -1.1
    lines = overlay.floor_lines(scene)
    assert len(lines) % 2 == 0
    assert set(lines[:, 2]) == {np.float32(-1.1)}
    assert (lines[:, :2].min(axis=0) < (5.0, -5.0)).all() and (lines[:, :2].max(axis=0) > (9.0, -1.0)).all()
    obj.pbd.baked = True
    assert (overlay.floor_lines(scene) == lines).all()


@pytest.mark.parametrize("width", [1.0, 2.0, 4.0])
def test_the_floors_cells_stay_while_cloth_moves_a_little(overlay, width):
    scene = bpy.context.scene
    obj = scenes.add_grid(width=width, height=width)
    scene.pbd.use_floor = True
    seen = []
    for scale in (1.0, 0.8, 1.2):
        obj.scale = (scale, scale, scale)
        bpy.context.view_layer.update()
        seen.append(np.ptp(overlay.floor_lines(scene), axis=0))
    assert (seen[0] == seen[1]).all() and (seen[0] == seen[2]).all()


@pytest.mark.newest
def test_a_redraw_reads_as_much_for_many_vertices(extension, overlay):
    """What it calls does not grow with the mesh."""

    def calls(size):
        bpy.ops.wm.read_homefile(use_empty=True)
        obj = scenes.add_grid(rx=size, ry=size)
        scenes.pin(obj, range(size * size // 10))
        go(1), go(2)
        scene = bpy.context.scene
        scene.pbd.use_floor = True
        overlay.notice(scene)
        all_points(overlay)
        return entered(lambda: (overlay.floor_lines(scene), all_points(overlay)))

    assert calls(10) == calls(100)


def test_nothing_is_drawn_without_a_window(extension):
    assert extension.module("panels.overlay")._handles == []
