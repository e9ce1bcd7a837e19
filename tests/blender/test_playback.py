"""Live simulation: what each frame change shows."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import count_steps, fallen, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

FREE = {"drag": 0.0, "damping": 0.0}


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def depth(obj):
    """Mean height of the shown vertices [m]."""
    return float(shown(obj)[:, 2].mean())


@pytest.mark.usefixtures("usual_substeps")
def test_cloth_falls_freely(session):
    obj = scenes.add_grid(**FREE)
    go(1)
    assert depth(obj) == 0.0
    for frame in range(2, 14):
        go(frame)
        assert depth(obj) == pytest.approx(-fallen(frame - 1), abs=2e-5), frame
    assert np.ptp(shown(obj)[:, 2]) < 1e-5


@pytest.mark.usefixtures("usual_substeps")
@pytest.mark.parametrize(("fps", "base", "speed"), [(60, 1.0, 1.0), (30, 1.001, 1.0), (24, 1.0, 0.5)])
def test_time_is_the_scenes(session, fps, base, speed):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base, scene.pbd.speed = fps, base, speed
    obj = scenes.add_grid(**FREE)
    play([obj], 1, 11)
    frame_seconds = speed * base / fps
    assert depth(obj) == pytest.approx(-fallen(10, frame_seconds), rel=1e-4)


@pytest.mark.usefixtures("usual_substeps")
def test_the_first_frame_is_the_one_that_is_left(session):
    obj = scenes.add_grid(**FREE)
    obj.location.z = 3.0
    go(2)
    assert session.get(bpy.context.scene).first_frame == 1
    assert depth(obj) == pytest.approx(3.0 - fallen(1), abs=1e-5)


def test_edits_at_the_first_frame_count(session):
    obj = scenes.add_grid(**FREE)
    go(1)
    obj.location.x = 2.0
    go(2)
    assert shown(obj)[:, 0].mean() == pytest.approx(2.0, abs=1e-6)


def test_scrubbing_reads_the_cache(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    seen = play([obj], 1, 12)
    running = session.get(bpy.context.scene)
    steps = count_steps(running)
    for frame in (3, 12, 1, 7, 2, 11):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame
    assert steps == []
    assert (running.first_frame, running.last_frame) == (1, 12)


def test_sub_frames_are_interpolated_and_never_step(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0])
    seen = play([obj], 1, 6)
    steps = count_steps(session.get(bpy.context.scene))
    go(3, 0.25)
    assert np.allclose(shown(obj), 0.75 * seen[3][0] + 0.25 * seen[4][0], atol=1e-6)
    go(6, 0.5)
    assert np.allclose(shown(obj), seen[6][0], atol=1e-6)
    assert steps == []


def test_render_order_of_motion_blur(session):
    obj = scenes.add_grid()
    seen = play([obj], 1, 5)
    steps = count_steps(session.get(bpy.context.scene))
    for frame, subframe in ((6, 0.0), (5, 0.75), (6, 0.25), (6, 0.0)):
        go(frame, subframe)
    assert steps == [6]
    go(5)
    assert np.array_equal(shown(obj), seen[5][0])


def test_a_jump_steps_through(session):
    scene = bpy.context.scene
    one = scenes.add_grid("One")
    scenes.pin(one, [0, 4])
    want = play([one], 1, 15)[15][0]
    session.reset(scene, to_start())
    go(2)
    go(15)
    assert session.get(scene).last_frame == 15
    assert np.array_equal(shown(one), want)


def to_start():
    go(1)
    return bpy.context.evaluated_depsgraph_get()


def test_dropped_frames_follow_a_moving_pin(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    scenes.animate_location(obj, 1, 21, (2.0, 0.0, 0.0))
    want = play([obj], 1, 21)[21][0]
    session.reset(bpy.context.scene, to_start())
    for frame in (2, 3, 6, 7, 13, 21):
        go(frame)
    assert np.allclose(shown(obj), want, atol=1e-5)
    assert session.get(bpy.context.scene).first_guess is None


def test_a_jump_from_the_first_frame(session):
    obj = scenes.add_grid()
    want = play([obj], 1, 10)[10][0]
    session.reset(bpy.context.scene, to_start())
    go(10)
    assert np.array_equal(shown(obj), want)


def test_a_setting_changed_at_a_frame_keeps_the_frames_before(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    seen = play([obj], 1, 20)
    go(10)
    obj.pbd.drag = 15.0
    go(11)
    running = session.get(bpy.context.scene)
    assert running.last_frame == 11
    assert not np.allclose(shown(obj), seen[11][0], atol=1e-5)
    for frame in range(1, 11):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame
    assert running.last_frame == 11


def test_a_scene_setting_acts_from_the_next_frame(session):
    obj = scenes.add_grid(**FREE)
    play([obj], 1, 5)
    bpy.context.scene.use_gravity = False
    before = depth(obj)
    go(6)
    first = depth(obj) - before
    before = depth(obj)
    go(7)
    assert first == pytest.approx(-9.81 * 4 / 24 / 24, rel=1e-3)
    assert depth(obj) - before == pytest.approx(first, rel=1e-4)


def test_an_animated_setting_does_not_spoil_the_cache(session):
    obj = scenes.add_grid()
    obj.pbd.drag = 0.0
    obj.pbd.keyframe_insert("drag", frame=1)
    obj.pbd.drag = 10.0
    obj.pbd.keyframe_insert("drag", frame=20)
    seen = play([obj], 1, 20)
    steps = count_steps(session.get(bpy.context.scene))
    for frame in (5, 12, 3, 20):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0])
    assert steps == []
    assert depth(obj) > -0.5 * 9.81 * (19 / 24) ** 2 * 0.8


def test_an_edited_curve_is_noticed_at_its_frame(session):
    obj = scenes.add_grid()
    obj.pbd.drag = 1.0
    obj.pbd.keyframe_insert("drag", frame=1)
    obj.pbd.keyframe_insert("drag", frame=10)
    play([obj], 1, 20)
    go(8)
    obj.pbd.drag = 9.0
    obj.pbd.keyframe_insert("drag", frame=15)
    go(16)
    assert session.get(bpy.context.scene).last_frame == 16


def test_the_range_ends_the_simulation(session):
    scene = bpy.context.scene
    scene.frame_end = 8
    obj = scenes.add_grid()
    seen = play([obj], 1, 8)
    go(20)
    assert np.array_equal(shown(obj), seen[8][0])
    assert session.get(scene).last_frame == 8


def test_the_simulation_range_of_the_scene(session):
    scene = bpy.context.scene
    scene.use_custom_simulation_range = True
    scene.simulation_frame_start, scene.simulation_frame_end = 5, 9
    assert session.frame_range(scene) == (5, 9)
    obj = scenes.add_grid()
    play([obj], 5, 12)
    assert (session.get(scene).first_frame, session.get(scene).last_frame) == (5, 9)


@pytest.mark.usefixtures("usual_substeps")
def test_back_to_a_start_that_was_never_simulated(session):
    go(50)
    obj = scenes.add_grid(**FREE)
    seen = play([obj], 51, 55)
    running = session.get(bpy.context.scene)
    assert (running.first_frame, running.last_frame) == (1, 55)
    steps = count_steps(running)
    go(30)
    assert depth(obj) == pytest.approx(-fallen(29), abs=1e-4)
    assert steps == []
    session.clear_cache(bpy.context.scene)
    for frame, (shape,) in play([obj], 1, 55).items():
        assert frame < 51 or np.array_equal(shape, seen[frame][0])


def test_two_cloths_are_one_simulation(session):
    one, two = scenes.add_grid("One", **FREE), scenes.add_grid("Two", rx=3, **FREE)
    two.location.z = 5.0
    play([one, two], 1, 6)
    assert len(session.get(bpy.context.scene).scene_sim.members) == 2
    assert depth(two) - depth(one) == pytest.approx(5.0, abs=1e-5)


def test_a_floor_holds_cloth(session):
    scene = bpy.context.scene
    obj = scenes.add_grid(thickness=0.01)
    obj.location.z = 1.0
    scene.pbd.use_floor, scene.pbd.floor_height = True, 0.8
    play([obj], 1, 24)
    assert shown(obj)[:, 2].min() == pytest.approx(0.81, abs=2e-3)


def test_the_floor_can_be_switched_while_playing(session):
    scene = bpy.context.scene
    obj = scenes.add_grid(thickness=0.01)
    play([obj], 1, 4)
    scene.pbd.use_floor, scene.pbd.floor_height = True, -0.5
    play([obj], 5, 24)
    assert shown(obj)[:, 2].min() == pytest.approx(-0.49, abs=2e-3)
    scene.pbd.use_floor = False
    go(25), go(26)
    assert shown(obj)[:, 2].max() < -0.5


def test_switched_off_objects_stand_still(session):
    obj = scenes.add_grid()
    obj.pbd.active = False
    play([obj], 1, 5)
    assert depth(obj) == 0.0
    assert obj.data.shape_keys is None


def test_nothing_is_armed_without_cloth(extension, session):
    handlers = extension.bridge("handlers")
    scenes.add_grid(pbd=False)
    armed = {function for _, function in handlers.ARMED}
    assert not armed & {*bpy.app.handlers.frame_change_post, *bpy.app.handlers.frame_change_pre}
    obj = scenes.add_grid()
    assert handlers.on_frame_change in bpy.app.handlers.frame_change_post
    obj.pbd.enabled = False
    assert not armed & {*bpy.app.handlers.frame_change_post, *bpy.app.handlers.frame_change_pre}


def test_switching_off_and_on_again(session):
    obj = scenes.add_grid()
    seen = play([obj], 1, 6)
    obj.pbd.active = False
    go(4)
    assert depth(obj) == 0.0
    obj.pbd.active = True
    go(5)
    assert np.array_equal(shown(obj), seen[5][0])


def test_an_edit_at_the_first_frame_starts_anew(session):
    obj = scenes.add_grid(**FREE)
    play([obj], 1, 5)
    go(1)
    for points in (obj.data.vertices, obj.data.shape_keys.key_blocks["Basis"].data):
        points[0].co.x = -0.6
    go(3)
    go(1)
    go(2)
    assert session.get(bpy.context.scene).last_frame == 2
    assert shown(obj)[0, 0] < -0.55


@pytest.mark.usefixtures("usual_substeps")
def test_a_long_jump_gives_the_window_back(extension, session, monkeypatch):
    obj = scenes.add_grid(**FREE)
    go(1)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 0.0)
    go(10)
    running = session.get(bpy.context.scene)
    assert running.message == "Simulated up to frame 2 of 10 in 0 s: go on from there"
    assert depth(obj) == pytest.approx(-fallen(1), abs=1e-5)
    monkeypatch.undo()
    go(10)
    assert (running.message, running.last_frame) == ("", 10)


def test_openings_of_a_balloon_are_told(session):
    obj = scenes.add_grid()
    play([obj], 1, 2)
    running = session.get(bpy.context.scene)
    assert running.notes[obj.session_uid] == ()
    obj.pbd.pressure_mode = "OVERPRESSURE"
    go(3)
    assert running.notes[obj.session_uid] == ("1 opening is closed by a virtual cap",)


def test_a_loose_edge_is_a_string(session):
    quad = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 1, 0), (5, 5, 5)]
    obj = scenes.add_mesh("Kite", quad, [(0, 1, 2, 3)], edges=[(2, 4)])
    scenes.pin(obj, [0, 1, 2, 3])
    play([obj], 1, 48)
    assert shown(obj)[4, 2] < -0.5
    assert np.linalg.norm(shown(obj)[4] - shown(obj)[2]) == pytest.approx(1.0, abs=0.05)
    assert shown(obj)[5].tolist() == [5, 5, 5]
    assert running_notes(session, obj) == ("1 isolated vertex stays where it is",)


def running_notes(session, obj):
    return session.get(bpy.context.scene).notes[obj.session_uid]


def running_of(session):
    return session.get(bpy.context.scene)


def test_reverse_play_reads_the_cache(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    seen = play([obj], 1, 12)
    steps = count_steps(running_of(session))
    for frame in range(12, 0, -1):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame
    assert steps == []


@pytest.mark.parametrize("share", [0.125, 0.5, 0.75])
def test_a_sub_frame_is_the_exact_mean(session, share):
    """Of the two cached frames, in single precision."""
    obj = scenes.add_grid()
    scenes.pin(obj, [0])
    play([obj], 1, 6)
    found = running_of(session)
    before, after = (found.scene_sim.simulation.cached_positions(found.scene_sim.members[0].body, at) for at in (4, 5))
    go(4, share)
    assert np.array_equal(shown(obj), before + np.float32(share) * (after - before))


def test_time_that_is_stretched_reads_the_cache(session):
    """Frames 100 to 200 of the output's settings: each frame that is shown lies half as far on."""
    obj = scenes.add_grid()
    scenes.pin(obj, [0])
    seen = play([obj], 1, 10)
    steps = count_steps(running_of(session))
    render = bpy.context.scene.render
    render.frame_map_old, render.frame_map_new = 100, 200
    for frame in (8, 13, 4, 19):
        go(frame)
        half = frame // 2
        want = seen[half][0] if frame % 2 == 0 else 0.5 * (seen[half][0] + seen[half + 1][0])
        assert np.allclose(shown(obj), want, atol=1e-6), frame
    assert steps == []


def key(owner, path, values):
    """Key a property: values by frame, straight lines between."""
    group, name = path
    for frame, value in values.items():
        setattr(group, name, value)
        group.keyframe_insert(name, frame=frame)
    scenes.straighten(owner)


def test_an_edited_key_takes_the_frames_from_where_it_differs(session):
    """Also when the playhead jumps over them: keys at 1, 10 and 20; the last one is changed."""
    obj = scenes.add_grid()
    key(obj, (obj.pbd, "drag"), {1: 1.0, 10: 1.0, 20: 1.0})
    seen = play([obj], 1, 20)
    go(4)
    key(obj, (obj.pbd, "drag"), {20: 30.0})
    go(5)
    found = running_of(session)
    assert found.last_frame == 10
    assert found.invalidated == (11, 20, "animation of 'Flag' changed")
    go(17)
    assert not np.allclose(shown(obj), seen[17][0], atol=1e-4)
    for frame in range(1, 11):
        go(frame)
        assert np.array_equal(shown(obj), seen[frame][0]), frame


def test_a_key_that_changes_no_value_takes_nothing(session):
    obj = scenes.add_grid()
    key(obj, (obj.pbd, "drag"), {1: 1.0, 20: 1.0})
    play([obj], 1, 20)
    key(obj, (obj.pbd, "drag"), {12: 1.0})
    go(5)
    assert running_of(session).last_frame == 20


def test_a_first_key_that_changes_no_value_takes_nothing(session):
    obj = scenes.add_grid()
    play([obj], 1, 12)
    obj.pbd.keyframe_insert("drag", frame=6)
    obj.keyframe_insert("location", frame=6)
    go(5)
    assert running_of(session).last_frame == 12


def test_a_setting_beside_an_animated_one(session):
    """It is no setting of each frame: what was changed at frame 6 counts from there, also after a jump."""
    obj = scenes.add_grid()
    key(obj, (obj.pbd, "drag"), {1: 1.0, 20: 3.0})
    seen = play([obj], 1, 20)
    go(6)
    obj.pbd.density = 3.0
    go(12)
    found = running_of(session)
    assert (found.last_frame, found.invalidated) == (12, (7, 20, "Density of 'Flag' changed"))
    go(6)
    assert np.array_equal(shown(obj), seen[6][0])


def test_undo_with_animated_settings_keeps_the_frames(session):
    obj = scenes.add_grid()
    key(obj, (obj.pbd, "drag"), {1: 1.0, 20: 3.0})
    bpy.ops.ed.undo_push(message="made")
    play([obj], 1, 12)
    bpy.ops.ed.undo_push(message="played")
    bpy.context.scene.render.resolution_x = 123
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    go(5)
    assert running_of(session).last_frame == 12


def test_moving_a_pinned_object_by_hand(session):
    """It acts from the frame on show; without pins it moves nothing."""
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    seen = play([obj], 1, 15)
    go(8)
    obj.location.x = 1.0
    go(9)
    found = running_of(session)
    assert (found.last_frame, found.invalidated) == (9, (9, 15, "'Flag' was moved"))
    assert shown(obj)[0, 0] == pytest.approx(0.5)
    for frame in range(2, 9):
        go(frame)
        assert np.allclose(shown(obj), seen[frame][0], atol=1e-6), frame
    assert found.last_frame == 9


def test_moving_an_object_without_pins_takes_nothing(session):
    obj = scenes.add_grid()
    seen = play([obj], 1, 10)
    go(5)
    obj.location.x = 1.0
    for frame in (6, 10, 3):
        go(frame)
        assert np.allclose(shown(obj), seen[frame][0], atol=1e-6)
    assert running_of(session).last_frame == 10


def test_edited_animation_of_a_pinned_object(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    key(obj, (obj, "location"), {1: (0, 0, 0), 10: (0.2, 0, 0), 20: (0.4, 0, 0)})
    play([obj], 1, 20)
    go(3)
    key(obj, (obj, "location"), {20: (5.0, 0, 0)})
    go(15)
    found = running_of(session)
    assert found.invalidated == (11, 20, "animation of 'Flag' changed")
    assert shown(obj)[0, 0] == pytest.approx(-0.5 + obj.matrix_world.translation.x, abs=1e-5)


def test_edited_animation_of_a_parent_and_of_a_collider(session):
    obj, parent, ball = scenes.add_grid(), scenes.add_grid("Pole", pbd=False), scenes.add_grid("Ball", pbd=False)
    scenes.pin(obj, [0, 4])
    obj.parent = parent
    ball.location.z, ball.pbd_collider.enabled = -3.0, True
    for moved in (parent, ball):
        key(moved, (moved, "scale"), {1: (1, 1, 1), 9: (1, 1, 1), 20: (1, 1, 1)})
    for moved, name in ((parent, "Pole"), (ball, "Ball")):
        play([obj], 1, 20)
        go(3)
        key(moved, (moved, "scale"), {20: (2, 2, 2)})
        go(4)
        assert running_of(session).invalidated == (
            10,
            20,
            f"animation of '{'Flag' if name == 'Pole' else name}' changed",
        )


def test_a_driver_that_calls_a_script_is_seen_where_it_is_looked_at(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    functions = bpy.app.driver_namespace
    functions["along"] = lambda frame: frame * 0.01
    obj.driver_add("location", 0).driver.expression = "along(frame)"
    play([obj], 1, 12)
    functions["along"] = lambda frame: frame * 0.05
    go(7)
    found = running_of(session)
    assert (found.last_frame, found.invalidated.first) == (7, 7)
    assert shown(obj)[0, 0] == pytest.approx(-0.5 + 0.35, abs=1e-5)


def test_editing_keys_in_a_window_is_noticed(extension, session, monkeypatch):
    """There curves are compared only after an edit."""
    obj = scenes.add_grid()
    key(obj, (obj.pbd, "drag"), {1: 1.0, 10: 1.0, 20: 1.0})
    play([obj], 1, 20)
    found = running_of(session)
    bpy.context.view_layer.update()
    go(4)
    key(obj, (obj.pbd, "drag"), {20: 30.0})
    bpy.context.view_layer.update()
    assert found.edits.curves
    assert extension.bridge("timeline.validity").pending(found, bpy.context.scene) is None


def test_what_the_panel_says_of_the_frames(session):
    """At once, not only when the next frame is shown."""
    scene = bpy.context.scene
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    play([obj], 1, 20)
    found = running_of(session)
    go(12)
    assert (session.valid_frames(scene), session.invalidated_frames(scene)) == ((1, 20), None)
    assert 0 <= found.cache_bytes - 28 * 20 * 20 < 20 * 96  # bytes a vertex, and some of each body and piece a frame
    obj.pbd.stretch = 4000.0
    assert (session.valid_frames(scene), session.invalidated_frames(scene)) == (
        (1, 12),
        (13, 20, "Tension of 'Flag' changed"),
    )
    obj.pbd.stretch = 5000.0
    scene.gravity.z = -5.0
    assert session.invalidated_frames(scene) == (13, 20, "Gravity changed")
    go(15)
    assert (session.valid_frames(scene), session.invalidated_frames(scene)) == ((1, 15), (16, 20, "Gravity changed"))
    play([obj], 16, 20)
    assert (session.valid_frames(scene), session.invalidated_frames(scene)) == ((1, 20), None)


def test_undo_of_a_move_by_hand(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    seen = play([obj], 1, 15)
    go(8)
    bpy.ops.ed.undo_push(message="played")
    obj.location.x = 1.0
    bpy.ops.ed.undo_push(message="moved")
    play([obj], 9, 12)
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    go(9)
    assert running_of(session).invalidated.first == 9
    assert np.allclose(shown(obj), seen[9][0], atol=1e-5)


def test_a_shape_key_set_by_hand_moves_the_pins(session):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    obj.shape_key_add(name="Basis")
    lifted = obj.shape_key_add(name="Lifted")
    for point in lifted.points:
        point.co.z += 0.2
    lifted.value = 0.0
    seen = play([obj], 1, 12)
    go(6)
    obj.data.shape_keys.key_blocks["Lifted"].value = 1.0
    go(7)
    found = running_of(session)
    assert (found.last_frame, found.invalidated) == (7, (7, 12, "'Flag' was moved"))
    assert shown(obj)[0, 2] == pytest.approx(0.2, abs=1e-6)
    go(4)
    assert np.allclose(shown(obj), seen[4][0], atol=1e-6)
    assert found.last_frame == 7


def test_a_jump_takes_animated_settings_of_each_frame(session):
    scene = bpy.context.scene
    obj = scenes.add_grid()
    key(obj, (obj.pbd, "drag"), {1: 0.0, 20: 30.0})
    key(scene, (scene.pbd, "iterations"), {1: 1, 15: 4})
    want = play([obj], 1, 20)[20][0]
    before = [running_of(session).snapshots[frame].settings for frame in (2, 11, 19)]
    session.reset(scene, to_start())
    go(20)
    found = running_of(session)
    assert [found.snapshots[frame].settings for frame in (2, 11, 19)] == before
    assert np.allclose(shown(obj), want, atol=1e-6)
    go(11)
    assert found.last_frame == 20


def test_another_shape_of_a_collider(session):
    """Edited in the middle of the run, as by a modifier; going in and out of Edit Mode changes nothing."""
    obj, ball = scenes.add_grid(), scenes.add_grid("Ball", pbd=False)
    ball.location.z, ball.pbd_collider.enabled = -0.3, True
    wave = ball.modifiers.new("Wave", "WAVE")
    wave.height = 0.0
    play([obj], 1, 15)
    go(8)
    bpy.context.view_layer.objects.active = ball
    for mode in ("EDIT", "OBJECT"):
        bpy.ops.object.mode_set(mode=mode)
    bpy.context.view_layer.update()
    found = running_of(session)
    assert ball.session_uid in found.edits.surfaces
    go(9)
    assert found.last_frame == 15
    go(8)
    wave.height = 0.4
    bpy.context.view_layer.update()
    go(9)
    assert (found.last_frame, found.invalidated, found.first_disturbed) == (
        9,
        (9, 15, "the shape of 'Ball' changed"),
        9,
    )


def test_undo_of_something_else_beside_a_collider(session):
    obj, ball = scenes.add_grid(), scenes.add_grid("Ball", pbd=False)
    ball.location.z, ball.pbd_collider.enabled = -0.3, True
    bpy.ops.ed.undo_push(message="made")
    play([obj], 1, 12)
    go(5)
    bpy.ops.ed.undo_push(message="played")
    bpy.context.scene.render.resolution_x = 123
    bpy.ops.ed.undo_push(message="something else")
    bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    go(6)
    assert running_of(session).last_frame == 12


def test_moving_what_cloth_is_attached_to(session):
    obj, mast = scenes.add_grid(), scenes.add_grid("Mast", pbd=False)
    obj.vertex_groups.new(name="Attach").add([0, 4], 1.0, "REPLACE")
    obj.pbd.attach_object, obj.pbd.attach_group = mast, "Attach"
    play([obj], 1, 12)
    go(7)
    mast.location.z = 0.3
    go(8)
    found = running_of(session)
    assert (found.last_frame, found.invalidated) == (8, (8, 12, "'Mast' was moved"))
    assert shown(obj)[0, 2] == pytest.approx(0.3, abs=1e-5)


@pytest.mark.usefixtures("usual_substeps")
@pytest.mark.parametrize("frame", [1, 10])
def test_what_is_added_after_all_was_deleted_is_simulated(session, frame):
    old = scenes.add_grid("Old", **FREE)
    play([old], 1, 10)
    go(frame)
    bpy.data.objects.remove(old)
    new = scenes.add_grid("New", **FREE)
    play([new], 1, 5)
    assert depth(new) == pytest.approx(-fallen(4), abs=2e-5)
