"""Baked shape keys: they play what was simulated, without the add-on, and go without a trace."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import FIRST, LAST, flag, keyed_flag, run
from helpers.calls import entered
from helpers.scenes import fallen, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

MODES = ("ABSOLUTE", "RELATIVE")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


@pytest.mark.parametrize("mode", MODES)
def test_the_bake_plays_the_same_without_the_extension(extension, bake, mode):
    obj = flag()
    other = scenes.add_grid("Other", rx=3)
    seen = play([obj, other], FIRST, LAST)
    run(bake, [obj, other], mode)
    extension.disable()
    for frame in range(FIRST, LAST + 1):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-5, frame
        assert np.abs(shown(other) - seen[frame][1]).max() < 1e-5, frame
    for frame, end in ((FIRST - 5, FIRST), (LAST + 20, LAST)):
        go(frame)
        assert np.abs(shown(other) - seen[end][1]).max() < 1e-5, frame
    go(4, 0.5)
    assert np.abs(shown(other) - (seen[4][1] + seen[5][1]) / 2).max() < 1e-5
    assert obj.data.shape_keys.use_relative == (mode == "RELATIVE")


def test_a_bake_steps_by_itself_what_playback_steps(extension, bake, session):
    """Pins, a driver, a keyed setting and a collider give the same bits; others' handlers see each frame once."""
    obj, ball = flag(), scenes.add_grid("Ball", pbd=False)
    ball.pbd_collider.enabled, ball.location.z = True, -0.3
    scenes.animate_location(ball, FIRST, LAST, (0.0, 0.1, 0.2))
    ball.driver_add("rotation_euler", 0).driver.expression = "0.02 * frame"
    for frame, bend in ((FIRST, 1e-5), (LAST, 1e-3)):
        obj.pbd.bend = bend
        obj.pbd.keyframe_insert("bend", frame=frame)
    go(FIRST)

    def cached():
        frames = session.get(bpy.context.scene).scene_sim.simulation.frames
        return [frames.state(frame).x.tobytes() for frame in range(FIRST, LAST + 1)]

    play([obj], FIRST, LAST)
    want = cached()
    session.clear_cache(bpy.context.scene)
    go(7)
    session.clear_cache(bpy.context.scene)
    seen = []

    def note(scene, _depsgraph):
        seen.append(scene.frame_current)

    bpy.app.handlers.frame_change_post.append(note)
    try:
        calls = entered(lambda: run(bake, [obj], "RELATIVE"))
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    assert cached() == want
    assert seen[-1] == 7 == bpy.context.scene.frame_current
    assert [frame for frame in range(FIRST + 1, LAST + 1) if seen[:-1].count(frame) != 1] == []
    assert calls["session.py", "show"] == calls["session.py", "replay"] == 0


def test_a_long_absolute_bake_is_on_time(bake):
    obj = scenes.add_grid(rx=2, ry=2, drag=0.0, damping=0.0)
    bpy.context.scene.pbd.substeps = 1
    run(bake, [obj], "ABSOLUTE", 1, 250)
    blocks = obj.data.shape_keys.key_blocks
    assert [block.frame for block in blocks] == [12.5 * place for place in range(251)]
    for frame in (2, 97, 249):
        go(frame)
        want = -0.5 * 9.81 * (frame - 1) / 24 * frame / 24
        assert shown(obj)[:, 2].mean() == pytest.approx(want, rel=2e-5), frame


@pytest.mark.parametrize("mode", MODES)
def test_deleting_the_bake_restores_every_byte(bake, mode):
    obj = flag()
    actions = set(bpy.data.actions)
    play([obj], FIRST, LAST)
    go(FIRST)
    before = scenes.mesh_bytes(obj)
    run(bake, [obj], mode)
    assert obj.pbd.baked and (obj.pbd.bake_start, obj.pbd.bake_end) == (FIRST, LAST)
    assert len(obj.data.shape_keys.key_blocks) == LAST + 1
    go(FIRST)
    bake.delete(bpy.context.scene, [obj])
    assert not obj.pbd.baked
    assert scenes.mesh_bytes(obj) == before
    assert set(bpy.data.actions) == actions
    assert obj.data.shape_keys.animation_data is None


def test_deleting_and_removing_leaves_nothing(extension, bake):
    obj = scenes.add_grid()
    before = scenes.mesh_bytes(obj)
    run(bake, [obj], "ABSOLUTE")
    bake.delete(bpy.context.scene, [obj])
    extension.bridge("output.shape_keys").remove_live_key(obj)
    assert scenes.mesh_bytes(obj) == before == (before[0], None)
    assert not obj.pbd.bake_keys


def test_relative_keys_stand_beside_the_users(extension, bake):
    obj = keyed_flag()
    before = scenes.mesh_bytes(obj)
    seen = play([obj], FIRST, LAST)
    go(FIRST)
    run(bake, [obj], "RELATIVE")
    assert len(scenes.curve_values(obj.data.shape_keys)) == 1 + LAST
    extension.disable()
    for frame in range(FIRST, LAST + 1):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-5, frame
    extension.enable()
    go(FIRST)
    bake.delete(bpy.context.scene, [obj])
    extension.bridge("output.shape_keys").remove_live_key(obj)
    assert scenes.mesh_bytes(obj) == before


def test_absolute_keys_are_refused_beside_the_users(extension, bake):
    obj = keyed_flag()
    before = scenes.mesh_bytes(obj)
    with pytest.raises(extension.bridge("errors").PBDError, match=r"'Keyed' has shape keys of its own.*bake relative"):
        run(bake, [obj], "ABSOLUTE")
    assert scenes.mesh_bytes(obj) == before


def test_a_basis_of_the_users_stays(extension, bake):
    obj = flag()
    obj.shape_key_add(name="Rest")
    before = scenes.mesh_bytes(obj)
    run(bake, [obj], "ABSOLUTE")
    bake.delete(bpy.context.scene, [obj])
    extension.bridge("output.shape_keys").remove_live_key(obj)
    assert scenes.mesh_bytes(obj) == before


def test_closing_early_keeps_the_cache_and_writes_nothing(bake, session):
    scene = bpy.context.scene
    obj = flag()
    go(FIRST)
    work = bake.start(scene, [obj], "ABSOLUTE", FIRST, LAST)
    progress = next(one for one in work if one.frame == FIRST + 4)  # A slow frame says so more than once.
    assert (progress.frame, progress.start, progress.end) == (5, FIRST, LAST)
    assert progress.eta_seconds > 0.0
    assert session.get(scene).bake == progress
    work.close()
    assert session.get(scene).bake is None
    assert scene.frame_current == FIRST
    assert not obj.pbd.baked
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "PBD"]
    assert (session.get(scene).first_frame, session.get(scene).last_frame) == (1, 5)


def test_closing_early_simulates_nothing_more(bake, session):
    """Also where the playhead stood further on."""
    scene = bpy.context.scene
    obj = flag()
    go(LAST)
    seen = shown(obj)
    bpy.ops.object.pbd_clear_cache()
    work = bake.start(scene, [obj], "ABSOLUTE", FIRST, LAST)
    assert any(one.frame == FIRST + 4 for one in work)
    work.close()
    running = session.get(scene)
    assert (scene.frame_current, running.last_frame) == (LAST, FIRST + 4)
    go(FIRST + 4)
    fifth = shown(obj)
    go(LAST)
    assert running.last_frame == LAST
    assert np.abs(shown(obj) - fifth).max() > 0.01
    assert np.abs(shown(obj) - seen).max() < 1e-5


def test_a_bake_reads_the_cache(bake, session):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    running = session.get(bpy.context.scene)
    simulation = running.scene_sim.simulation
    go(6)
    run(bake, [obj], "ABSOLUTE")
    assert bpy.context.scene.frame_current == 6
    assert session.get(bpy.context.scene).scene_sim.simulation is simulation
    go(9)
    assert np.abs(shown(obj) - seen[9][0]).max() < 1e-5


def test_a_bake_is_of_one_cast(bake):
    """Frames that were simulated with other settings, or with guessed pins, are simulated again."""
    scenes.let_through()
    obj, twin = flag(), flag("Twin")
    twin.pbd.drag = 12.0
    play([obj, twin], FIRST, LAST)
    go(8)
    obj.pbd.drag = 12.0
    go(9)
    run(bake, [obj, twin], "ABSOLUTE")
    for frame in (3, 8, LAST):
        go(frame)
        assert np.allclose(shown(obj), shown(twin), atol=1e-5), frame


@pytest.mark.usefixtures("usual_substeps")
def test_a_part_of_the_range_is_simulated_from_its_start(bake):
    obj = scenes.add_grid(drag=0.0, damping=0.0)
    go(5)
    run(bake, [obj], "ABSOLUTE", 6, 8)
    assert len(obj.data.shape_keys.key_blocks) == 4
    go(6)
    assert shown(obj)[:, 2].mean() == pytest.approx(-fallen(5), rel=1e-4)


def test_one_frame(bake):
    obj = scenes.add_grid()
    for mode in MODES:
        run(bake, [obj], mode, 1, 1)
        go(7)
        assert np.abs(shown(obj)[:, 2]).max() < 1e-6
        bake.delete(bpy.context.scene, [obj])


def test_the_other_cloth_stays_live(bake):
    scenes.let_through()
    one, two = scenes.add_grid("One"), scenes.add_grid("Two")
    play([one, two], FIRST, 4)
    run(bake, [one], "ABSOLUTE")
    assert one.pbd.baked and not two.pbd.baked
    seen = play([one, two], FIRST, LAST)
    assert np.allclose(seen[LAST][0], seen[LAST][1], atol=1e-5)
    bake.delete(bpy.context.scene, [one])
    again = play([one, two], FIRST, LAST)
    assert np.allclose(again[LAST][0], seen[LAST][0], atol=1e-5)


@pytest.mark.parametrize("mode", MODES)
def test_a_baked_file_plays_after_reload(bake, extension, tmp_path, mode):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    run(bake, [obj], mode)
    path = str(tmp_path / "baked.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Flag"]
    handlers = extension.bridge("handlers")
    assert handlers.on_frame_change not in bpy.app.handlers.frame_change_post
    for frame in (FIRST, 7, LAST):
        go(frame)
        assert np.abs(shown(obj) - seen[frame][0]).max() < 1e-5
    go(FIRST)
    bake.delete(bpy.context.scene, [obj])
    assert handlers.on_frame_change in bpy.app.handlers.frame_change_post
    again = play([obj], FIRST, LAST)
    assert np.allclose(again[LAST][0], seen[LAST][0], atol=1e-6)


def test_a_user_curve_in_our_action_survives(bake):
    obj = flag()
    run(bake, [obj], "RELATIVE")
    keys = obj.data.shape_keys
    mine = obj.shape_key_add(name="Mine", from_mix=False)
    mine.keyframe_insert("value", frame=3)
    bake.delete(bpy.context.scene, [obj])
    keys = obj.data.shape_keys
    assert "Mine" in keys.key_blocks
    assert [path for path, _ in scenes.curve_values(keys)] == ['key_blocks["Mine"].value']


@pytest.mark.usefixtures("usual_substeps")
def test_frames_that_are_asked_for_are_baked_beyond_the_range(bake):
    obj = scenes.add_grid(drag=0.0, damping=0.0)
    bpy.context.scene.frame_end = 5
    run(bake, [obj], "ABSOLUTE", 1, 9)
    go(9)
    assert shown(obj)[:, 2].mean() == pytest.approx(-fallen(8), rel=1e-4)


@pytest.mark.parametrize("edit", ["vertex", "pin", "place"])
def test_a_bake_after_an_edit_is_of_the_edited_mesh(bake, session, edit):
    scenes.let_through()
    obj, twin = scenes.add_grid(), scenes.add_grid("Twin")
    play([obj, twin], FIRST, 6)
    for changed in (obj, twin):
        if edit == "vertex":
            for block in (changed.data.vertices, changed.data.shape_keys.key_blocks["Basis"].data):
                block[7].co.z += 0.2
        elif edit == "pin":
            scenes.pin(changed, [0])
        else:
            changed.location.x += 2.0
        if changed is obj:
            go(6)
            run(bake, [obj], "ABSOLUTE")
    go(1)
    session.reset(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    play([twin], FIRST, LAST)
    assert np.allclose(shown(obj), shown(twin), atol=1e-5)


def test_undo_and_redo_of_a_bake(bake, session):
    obj = flag()
    seen = play([obj], FIRST, LAST)
    bpy.ops.ed.undo_push(message="before")
    run(bake, [obj], "ABSOLUTE")
    bpy.ops.ed.undo_push(message="bake")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert not obj.pbd.baked
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "PBD"]
    go(5)
    assert np.allclose(shown(obj), seen[5][0], atol=1e-6)
    bpy.ops.ed.redo()
    obj = bpy.data.objects["Flag"]
    assert obj.pbd.baked
    go(9)
    assert np.abs(shown(obj) - seen[9][0]).max() < 1e-5
