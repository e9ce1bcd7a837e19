"""Vertex groups of what collides: painted, keyed, undone, kept on disk."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def add_towel(height=0.1):
    """A level towel above the floor, and the group "Right" of its half of x > 0."""
    towel = scenes.add_grid("Towel", rx=9, ry=7, width=0.8, height=0.6)
    towel.location.z = height
    bpy.context.scene.pbd.use_floor = True
    right = [vertex.index for vertex in towel.data.vertices if vertex.co.x > -1e-4]
    towel.vertex_groups.new(name="Right").add(right, 1.0, "REPLACE")
    return towel, np.isin(np.arange(63), right)


def test_what_is_not_in_the_group_sinks_into_the_floor(session):
    towel, right = add_towel()
    towel.pbd.collision_group = "Right"
    seen = play([towel], 1, 9)[9][0][:, 2]
    assert seen[right].min() > 0.0
    assert seen[~right].min() < -0.1


def test_low_and_high_exchanged_leave_the_group_out():
    towel, right = add_towel()
    towel.pbd.collision_group, towel.pbd.collision_low, towel.pbd.collision_high = "Right", 1.0, 0.0
    seen = play([towel], 1, 9)[9][0][:, 2]
    assert seen[~right].min() > 0.0
    assert seen[right].min() < -0.1


def test_a_key_lets_go(session):
    """It lies on a table until frame 12 and falls through it then."""
    towel, _right = add_towel(0.05)
    table = scenes.add_grid("Table", width=4.0, height=4.0, pbd=False)
    table.pbd_collider.enabled = True
    bpy.context.scene.pbd.use_floor = False
    towel.pbd.collision_group = "Right"
    towel.vertex_groups["Right"].add(range(63), 1.0, "REPLACE")
    for frame, high in ((11, 1.0), (12, 0.0)):
        towel.pbd.collision_high = high
        towel.pbd.keyframe_insert("collision_high", frame=frame)
    seen = play([towel], 1, 18)
    assert seen[11][0][:, 2].min() > 0.0
    assert seen[18][0][:, 2].max() < 0.0


def test_self_collisions_of_a_group():
    """Two layers, one above the other: the upper one lies on the lower one, or falls through it."""
    flat = [(x, y, z) for z in (0.0, 0.1) for y in np.linspace(0, 0.4, 5) for x in np.linspace(0, 0.4, 5)]
    quads = [(k, k + 1, k + 6, k + 5) for layer in (0, 25) for k in layer + np.arange(20) if (k - layer) % 5 < 4]
    heights = []
    for chosen in (range(50), range(25)):
        layers = scenes.add_mesh("Layers", flat, quads)
        scenes.pin(layers, range(25))
        layers.vertex_groups.new(name="Meets").add(list(chosen), 1.0, "REPLACE")
        layers.pbd.self_collision_group = "Meets"
        go(1)
        heights.append(play([layers], 1, 8)[8][0][25:, 2].min())
        bpy.data.objects.remove(layers)
    assert heights[0] > 0.0
    assert heights[1] < -0.1


def test_a_change_acts_after_the_shown_frame_and_undo_takes_it_back(session):
    towel, right = add_towel()
    bpy.ops.ed.undo_push(message="made")
    before = play([towel], 1, 8)
    go(3)
    towel.pbd.collision_group = "Right"
    bpy.ops.ed.undo_push(message="chosen")
    go(4)
    record = session.get(bpy.context.scene)
    assert (record.last_frame, record.invalidated.why) == (4, "Object Collisions of 'Towel' changed")
    assert play([towel], 4, 8)[8][0][~right, 2].min() < -0.05
    bpy.ops.ed.undo()
    again = play([bpy.data.objects["Towel"]], 4, 8)
    np.testing.assert_allclose(again[8][0], before[8][0], atol=1e-6)


def test_the_disk_cache_knows_the_group(session, tmp_path):
    towel, _right = add_towel()
    towel.pbd.collision_group = "Right"
    bpy.context.scene.pbd.use_disk_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "towel.blend"))
    whole = play([towel], 1, 9)
    session.drop(bpy.context.scene)
    play([towel], 1, 4)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    towel = bpy.data.objects["Towel"]
    assert (session.get(bpy.context.scene).last_frame, session.get(bpy.context.scene).disk_note) == (4, "")
    np.testing.assert_allclose(play([towel], 5, 9)[9][0], whole[9][0], atol=1e-4)


def test_the_brush_makes_a_group_of_all():
    towel, _ = add_towel()
    bpy.context.view_layer.objects.active = towel
    for which, name in (("COLLISION", "collision_group"), ("SELF_COLLISION", "self_collision_group")):
        assert bpy.ops.object.pbd_paint_map(map=which) == {"FINISHED"}
        group = towel.vertex_groups[getattr(towel.pbd, name)]
        assert {group.weight(vertex) for vertex in range(63)} == {1.0}
        bpy.ops.object.mode_set(mode="OBJECT")
    assert shown(towel)[:, 2].min() > 0.0
