"""Pins by vertex group, and the shape keys of the user, live."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import add_key, fallen, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


def base_world(obj, z=0.0):
    """Where the mesh itself stands at this frame, (n, 3), without any key."""
    matrix = np.array(obj.matrix_world)
    positions = np.array([vertex.co for vertex in obj.data.vertices])
    return positions @ matrix[:3, :3].T + matrix[:3, 3]


def test_a_firm_pin_follows_the_object_exactly(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    scenes.animate_location(obj, 1, 12, (1.0, 0.5, 0.2))
    obj.rotation_euler = (0.0, 0.0, 0.0)
    obj.keyframe_insert("rotation_euler", frame=1)
    obj.rotation_euler = (0.3, 0.8, 0.1)
    obj.keyframe_insert("rotation_euler", frame=12)
    for frame in range(1, 13):
        go(frame)
        assert np.allclose(shown(obj)[[0, 4]], base_world(obj)[[0, 4]], atol=1e-6), frame
    assert shown(obj)[10, 2] < base_world(obj)[10, 2] - 0.05


def test_a_firm_pin_follows_an_animated_shape_key(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    block = add_key(obj, "Lift", (0.0, 0.0, 0.4), [0, 4], value=0.0)
    block.keyframe_insert("value", frame=1)
    block.value = 1.0
    block.keyframe_insert("value", frame=10)
    for frame in range(1, 11):
        go(frame)
        assert np.allclose(shown(obj)[[0, 4], 2], 0.4 * block.value, atol=1e-6), frame
    assert block.value == 1.0


@pytest.mark.newest
def test_a_soft_pin_gives(extension):
    scenes.let_through()
    ends = {}
    for weight in (1.0, 0.5, 0.1):
        obj = scenes.add_grid(f"Soft {weight}", drag=5.0)
        scenes.pin(obj, range(20), weight=weight)
        if weight == 1.0:
            obj.vertex_groups["Pin"].remove([19])
        play([obj], 1, 60)
        ends[weight] = shown(obj)[:19, 2].mean()
    assert ends[1.0] == 0.0
    assert -0.5 < ends[0.1] < ends[0.5] - 1e-4 < -1e-4


@pytest.mark.usefixtures("usual_substeps")
def test_the_users_keys_stay_and_are_not_added_twice(extension):
    obj = scenes.add_grid(drag=0.0, damping=0.0)
    add_key(obj, "Wave", (0.0, 0.0, 0.3), [3, 7, 11], value=0.5)
    masked = add_key(obj, "Masked", (0.2, 0.0, 0.0), range(20), value=1.0)
    group = obj.vertex_groups.new(name="Half")
    group.add(list(range(10)), 0.5, "REPLACE")
    masked.vertex_group = "Half"
    go(1)
    start = shown(obj)
    before = scenes.mesh_bytes(obj)
    assert start[3, 2] == pytest.approx(0.15)
    go(2)
    rigid = shown(obj) - start
    assert np.allclose(rigid[:, 2].mean(), -fallen(1), atol=1e-4)
    assert np.abs(rigid).max() < 0.05
    play([obj], 3, 8)
    after = scenes.mesh_bytes(obj)
    assert after[0] == before[0]
    assert after[1][0][: len(before[1][0])] == before[1][0]


def test_muted_and_moved_keys_are_compensated(extension):
    obj = scenes.add_grid()
    wave = add_key(obj, "Wave", (0.0, 0.0, 0.3), [3, 7, 11], value=0.5)
    seen = play([obj], 1, 6)
    wave.value = 0.9
    go(4)
    assert np.allclose(shown(obj), seen[4][0], atol=1e-6)
    wave.mute = True
    go(6)
    assert np.allclose(shown(obj), seen[6][0], atol=1e-6)


def test_a_key_named_like_ours_is_the_users(extension):
    obj = scenes.add_grid()
    mine = add_key(obj, "PBD", (0.0, 0.0, 0.1), [0], value=0.0)
    before = scenes.mesh_bytes(obj)
    play([obj], 1, 4)
    assert obj.pbd.live_key != "PBD"
    assert mine.value == 0.0
    extension.bridge("output.shape_keys").remove_live_key(obj)
    assert scenes.mesh_bytes(obj) == before


def test_removing_the_live_key_leaves_the_mesh_as_it_was(extension):
    plain, keyed = scenes.add_grid("Plain"), scenes.add_grid("Keyed")
    add_key(keyed, "Wave", (0.0, 0.0, 0.3), [3], value=0.5)
    before = [scenes.mesh_bytes(obj) for obj in (plain, keyed)]
    play([plain, keyed], 1, 5)
    for obj in (plain, keyed):
        extension.bridge("output.shape_keys").remove_live_key(obj)
    assert [scenes.mesh_bytes(obj) for obj in (plain, keyed)] == before


@pytest.mark.usefixtures("usual_substeps")
def test_modifiers_stand_after_the_simulation(extension):
    obj = scenes.add_grid(drag=0.0, damping=0.0)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 1
    play([obj], 1, 5)
    assert len(shown(obj)) > 20
    assert shown(obj)[:, 2].mean() == pytest.approx(-fallen(4), rel=1e-3)


def test_pins_are_read_in_bulk_order(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [7, 2, 13], 0.25)
    scenes.pin(obj, [5])
    body = extension.bridge("read.bodies").read_body(obj)
    assert body.pin_ids.tolist() == [2, 5, 7, 13]
    assert body.pin_weights.tolist() == [0.25, 1.0, 0.25, 0.25]


def test_a_keyed_switch_lets_the_cloth_go(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [15, 19])
    for frame, hold in ((1, True), (10, False)):
        obj.pbd.hold_pins = hold
        obj.pbd.keyframe_insert("hold_pins", frame=frame)
    seen = {frame: shown[0] for frame, shown in play([obj], 1, 20).items()}
    np.testing.assert_allclose(seen[9][[15, 19]], seen[1][[15, 19]], atol=1e-6)
    assert (seen[1] - seen[20])[[15, 19], 2].min() > 0.3
    running = extension.bridge("timeline.session")
    obj.pbd.hold_pins = True
    obj.pbd.keyframe_insert("hold_pins", frame=10)
    go(9)
    assert running.valid_frames(bpy.context.scene) == (1, 9)
    again = play([obj], 10, 20)[20][0]
    np.testing.assert_allclose(again[[15, 19]], seen[1][[15, 19]], atol=1e-6)


def hold(obj, **weights):
    """A group of pins that can let go: weights by "v" and the vertex."""
    group = obj.vertex_groups.new(name="Release")
    for name, weight in weights.items():
        group.add([int(name[1:])], weight, "REPLACE")
    obj.pbd.hold_group = "Release"
    assert (obj.pbd.hold_low, obj.pbd.hold_high) == (1.0, 1.0)


def keyed(obj, *keys):
    for frame, high in keys:
        obj.pbd.hold_high = high
        obj.pbd.keyframe_insert("hold_high", frame=frame)
    scenes.straighten(obj)


def test_a_keyed_group_of_pins_lets_go_and_the_others_hold(extension):
    obj = scenes.add_grid(rx=6, ry=6)
    scenes.pin(obj, [30, 33, 35])
    hold(obj, v33=0.8, v35=1.0)
    keyed(obj, (1, 1.0), (4, 1.0), (14, 0.0))
    seen = {frame: points for frame, (points,) in play([obj], 1, 18).items()}
    falls = {v: next((at for at in seen if seen[at][v, 2] < seen[1][v, 2] - 1e-4), None) for v in (30, 33, 35)}
    assert falls == {30: None, 33: 11, 35: 10}
    session = extension.bridge("timeline.session")
    obj.pbd.hold_high = 1.0
    obj.pbd.keyframe_insert("hold_high", frame=14)
    go(9)
    assert session.get(bpy.context.scene).invalidated.first == 5
    again = play([obj], 5, 18)[18][0]
    np.testing.assert_allclose(again[[30, 33, 35]], seen[1][[30, 33, 35]], atol=1e-6)


def test_what_was_attached_lets_go_too_and_goes_on_from_disk(extension, tmp_path):
    mast, obj = scenes.add_grid("Mast", pbd=False), scenes.add_grid()
    obj.vertex_groups.new(name="Attach").add([15, 19], 1.0, "REPLACE")
    obj.pbd.attach_object, obj.pbd.attach_group = mast, "Attach"
    scenes.animate_location(mast, 1, 20, (0.0, 0.0, 0.5))
    hold(obj, v19=1.0)
    keyed(obj, (1, 1.0), (6, 1.0), (7, 0.0))
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "mast.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    seen = play([obj], 1, 14)
    assert seen[14][0][15, 2] > seen[6][0][15, 2] > seen[1][0][15, 2]
    assert seen[14][0][19, 2] < seen[6][0][19, 2]
    session = extension.bridge("timeline.session")
    session.drop(bpy.context.scene)
    play([obj], 1, 9)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Flag"]
    record = session.get(bpy.context.scene)
    assert (record.last_frame, record.disk_note) == (9, "")
    np.testing.assert_allclose(play([obj], 10, 14)[14][0], seen[14][0], atol=2e-5)


def test_the_view_shows_only_pins_that_hold(extension):
    overlay = extension.bridge("overlay")
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    hold(obj, v4=1.0)
    for high, count in ((1.0, 2), (0.0, 1)):
        obj.pbd.hold_high = high
        points = list(overlay.points(bpy.context.scene, bpy.context.view_layer))
        assert [len(pinned) for pinned, _attached in points] == [count]


@pytest.mark.parametrize("pushed", [True, False])
def test_a_group_cleared_by_its_cross_stays_so_when_a_redo_panel_undoes(extension, pushed):
    """A redo panel undoes the last operator before it runs it again; Blender makes no undo step for the cross."""
    obj = scenes.add_grid("Flag")
    scenes.pin(obj, [0, 4])
    bpy.ops.ed.undo_push(message="Pin Selected")
    obj.pbd.pin_group = ""
    if pushed:
        extension.module("operators.pins").push_undo()
    bpy.ops.mesh.primitive_uv_sphere_add()
    bpy.ops.ed.undo_push(message="Add UV Sphere")
    count = len(bpy.data.objects)
    assert bpy.ops.ed.undo() == {"FINISHED"}
    assert len(bpy.data.objects) == count - 1
    assert bpy.data.objects["Flag"].pbd.pin_group == ("" if pushed else "Pin")
