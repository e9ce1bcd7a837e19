"""The hand in the viewport: made-up rays take cloth, move it, pin it and put it back."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

DOWN = (0.0, 0.0, -1.0)


@pytest.fixture
def hand(extension):
    return extension.bridge("timeline.grab")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def depsgraph():
    return bpy.context.evaluated_depsgraph_get()


def curtain(**settings):
    """A sheet in the XY plane that is pinned at its far edge, and no gravity."""
    bpy.context.scene.gravity = (0.0, 0.0, 0.0)
    bpy.context.scene.pbd.substeps = 8
    bpy.context.scene.pbd.collisions = "OFF"
    obj = scenes.add_grid(rx=9, ry=9, width=0.8, height=0.8, drag=4.0, **settings)
    scenes.pin(obj, range(72, 81))
    return obj


def drag(worker, way, ticks=12, at=(0.0, -0.3), radius=0.15):
    """Take the cloth below a point and pull it up by a `way` seen from the side; a step in place each tick."""
    scene = bpy.context.scene
    # A view along Y sees X and Z: the ray comes from the front, a little from above.
    direction = np.array([0.0, 0.6, -0.8])
    origin = np.array([at[0], at[1], 0.0]) - 2.0 * direction
    assert worker.take(scene, origin, direction, radius)
    for share in np.linspace(0.0, 1.0, ticks):
        worker.move(origin + share * np.asarray(way), direction)
        worker.rest(scene, depsgraph())


def test_rays_meet_the_nearest_triangle_from_both_sides(hand):
    x = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)], float)
    triangles = np.array([(0, 1, 2), (3, 4, 5)])
    assert hand.first_hit((0.2, 0.2, 5.0), DOWN, x, triangles) == (pytest.approx(4.0), 1)
    assert hand.first_hit((0.2, 0.2, -5.0), (0.0, 0.0, 1.0), x, triangles) == (pytest.approx(5.0), 0)
    assert hand.first_hit((0.8, 0.8, 5.0), DOWN, x, triangles) is None
    assert hand.first_hit((0.2, 0.2, 5.0), (0.0, 0.0, 1.0), x, triangles) is None
    assert hand.first_hit((0.2, 0.2, 5.0), (1.0, 0.0, 0.0), x, triangles) is None


def test_the_pointer_moves_in_the_plane_that_faces_it(hand):
    place = hand.on_plane((1.0, 2.0, 5.0), DOWN, (0.0, 0.0, 1.0), DOWN)
    assert place.tolist() == [1.0, 2.0, 1.0]
    assert hand.on_plane((0.0, 0.0, 5.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0), DOWN) is None
    assert hand.on_plane((0.0, 0.0, 0.0), DOWN, (0.0, 0.0, 1.0), DOWN) is None


def test_the_grip_is_softer_towards_its_border(hand):
    x = np.column_stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)])
    ids, weights = hand.falloff(x, np.zeros(3), 0.45)
    assert ids.tolist() == [0, 1, 2, 3, 4]
    assert weights[0] == 1.0
    assert (np.diff(weights) < 0.0).all()


def test_cloth_follows_while_the_frame_stands_still(hand, session):
    obj = curtain()
    go(1)
    before = shown(obj)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.3), ticks=20)
    for _ in range(20):
        worker.rest(bpy.context.scene, depsgraph())
    moved = shown(obj) - before
    assert moved[13, 2] == pytest.approx(0.3 * 0.36, abs=0.04)  # in the plane that faces the view: 0.3 up is 0.108
    assert np.abs(moved[72:]).max() < 1e-6
    assert bpy.context.scene.frame_current == 1
    assert session.get(bpy.context.scene).last_frame == 1
    assert worker.let_go(bpy.context.scene) == 0
    worker.finish(bpy.context.scene)
    go(2)
    assert np.abs(shown(obj)[13] - before[13]).max() > 0.03


def test_the_mesh_itself_stays_as_it_is(hand):
    obj = curtain()
    go(1)
    before = np.array([vertex.co for vertex in obj.data.vertices])
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.3, 0.0, 0.3))
    worker.finish(bpy.context.scene)
    assert np.array_equal([vertex.co for vertex in obj.data.vertices], before)


def test_put_back_gives_the_cloth_and_the_cache_back(hand, session):
    obj = curtain()
    bpy.context.scene.gravity = (0.0, 0.0, -9.81)
    seen = play([obj], 1, 6)
    go(4)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.2, 0.0, 0.3))
    assert np.abs(shown(obj) - seen[4][0]).max() > 0.02
    worker.let_go(bpy.context.scene, pin=True)
    worker.put_back(bpy.context.scene, depsgraph())
    assert np.allclose(shown(obj), seen[4][0], atol=1e-6)
    assert session.get(bpy.context.scene).first_disturbed is None
    assert sorted(len(vertex.groups) for vertex in obj.data.vertices) == [0] * 72 + [1] * 9
    assert "pbd_pin_offset" not in obj.data.attributes
    go(5)
    assert np.allclose(shown(obj), seen[5][0], atol=1e-5)


def test_frames_after_a_touched_one_are_made_anew(hand, session):
    obj = curtain()
    play([obj], 1, 8)
    go(5)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4))
    worker.finish(bpy.context.scene)
    running = session.get(bpy.context.scene)
    assert (running.last_frame, running.first_disturbed) == (5, 5)
    assert not session.fits(bpy.context.scene)
    touched = shown(obj)
    go(3)
    go(5)
    assert np.allclose(shown(obj), touched, atol=1e-6)


def test_it_works_while_frames_play(hand, session):
    obj = curtain()
    go(1)
    go(2)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    scene = bpy.context.scene
    origin = np.array([0.0, -0.3, 2.0])
    assert worker.take(scene, origin, DOWN, 0.15)
    for frame in range(3, 12):
        worker.move(origin + np.array([0.02 * (frame - 2), 0.0, 0.0]), DOWN)
        go(frame)
    assert shown(obj)[13, 0] > 0.05  # of 0.18, against the pins at the far edge
    assert session.get(scene).last_frame == 11
    worker.let_go(scene)
    for frame in range(12, 40):
        go(frame)
    assert abs(shown(obj)[13, 0]) < 0.05


def test_a_simulation_that_begins_after_the_tool_is_taken_hold_of(hand, extension):
    curtain()
    scene = bpy.context.scene
    go(1)
    worker = hand.GrabSession(scene, depsgraph())
    assert worker.renewed(scene, depsgraph()) is worker
    go(2)  # As nothing was stepped yet, it was built anew.
    assert not worker.is_valid
    other = worker.renewed(scene, depsgraph())
    assert other.take(scene, (0.0, -0.3, 2.0), DOWN, 0.15)
    bpy.ops.object.pbd_reset()
    with pytest.raises(extension.bridge("errors").PBDError, match="began anew"):
        other.renewed(scene, depsgraph())


def test_pins_stay_where_the_hand_left_them(hand, session, extension):
    obj = curtain()
    go(1)
    scene = bpy.context.scene
    worker = hand.GrabSession(scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4), ticks=20)
    count = worker.let_go(scene, pin=True)
    worker.finish(scene)
    pinned = sorted(extension.bridge("read.mesh_io").read_pins(obj))
    ids = [vertex for vertex in pinned if vertex < 72]
    assert count == len(ids) > 0
    assert 13 in ids
    left = shown(obj)[ids]
    assert np.abs(left[:, 2]).max() > 0.05
    for frame in range(2, 30):
        go(frame)
    assert np.allclose(shown(obj)[ids], left, atol=0.01)
    bpy.ops.object.pbd_reset()  # Now they are pins of the simulation, which begins with the mesh.
    assert np.allclose(shown(obj)[ids, 2], 0.0, atol=1e-6)
    for frame in range(2, 30):
        go(frame)
    assert np.allclose(shown(obj)[ids], left, atol=1e-4)


def test_pins_left_by_a_hand_go_to_their_place_no_faster_than_walking(hand):
    obj = curtain()
    go(1)
    scene = bpy.context.scene
    worker = hand.GrabSession(scene, depsgraph())
    drag(worker, (0.0, 0.0, 1.2), ticks=30)
    worker.let_go(scene, pin=True)
    worker.finish(scene)
    bpy.ops.object.pbd_reset()
    places = [shown(obj)[13]]
    for frame in range(2, 12):
        go(frame)
        places.append(shown(obj)[13])
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < 2.0 / 24 * 1.01
    assert steps[0] == pytest.approx(2.0 / 24, rel=0.01)
    assert steps[-1] < 1e-4


def test_pinning_in_edit_mode_forgets_where_a_hand_was(hand, extension):
    obj = curtain()
    go(1)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4))
    worker.let_go(bpy.context.scene, pin=True)
    worker.finish(bpy.context.scene)
    assert extension.bridge("read.pins").read_offsets(obj.data).any()
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.object.pbd_unpin_selected()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert not extension.bridge("read.pins").read_offsets(obj.data).any()


def test_undo_takes_cloth_and_pins_back_in_one_step(hand, session, extension):
    obj = curtain()
    seen = play([obj], 1, 4)
    go(3)
    bpy.ops.ed.undo_push(message="Before")
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4))
    worker.let_go(bpy.context.scene, pin=True)
    worker.finish(bpy.context.scene)
    assert session.disturbed(bpy.context.scene) == (3, "HAND")
    bpy.ops.ed.undo_push(message="Grab")
    bpy.ops.ed.undo()
    assert session.disturbed(bpy.context.scene) == (None, "")  # At once: the panel does not warn of it any more.
    obj = bpy.data.objects["Flag"]
    assert len(extension.bridge("read.mesh_io").read_pins(obj)) == 9
    assert "pbd_pin_offset" not in obj.data.attributes
    go(4)
    assert np.allclose(shown(obj), seen[4][0], atol=1e-5)
    assert session.get(bpy.context.scene).first_disturbed is None


def test_a_use_that_follows_an_undone_one_begins_with_what_the_undo_has_left(hand):
    obj = curtain()
    seen = play([obj], 1, 4)
    go(3)
    bpy.ops.ed.undo_push(message="Before")
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4))
    worker.finish(bpy.context.scene)
    bpy.ops.ed.undo_push(message="Grab")
    bpy.ops.ed.undo()
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.1, 0.0, 0.1))
    worker.put_back(bpy.context.scene, depsgraph())
    assert np.allclose(shown(bpy.data.objects["Flag"]), seen[3][0], atol=1e-5)


def test_a_first_frame_shaped_by_hand_is_baked_as_it_is(hand):
    obj = curtain()
    bpy.context.scene.frame_end = 4
    go(1)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.5), ticks=20)
    worker.finish(bpy.context.scene)
    left = shown(obj)
    assert left[:, 2].max() > 0.1
    bpy.ops.object.pbd_bake()
    go(1)
    assert np.allclose(shown(obj), left, atol=1e-5)


def test_a_bake_in_another_blender_is_refused_for_what_a_hand_has_shaped(hand, extension):
    obj = curtain()
    go(1)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.5))
    worker.finish(bpy.context.scene)
    with pytest.raises(extension.bridge("errors").PBDError, match="use Bake, or Apply Shape as Base first"):
        extension.bridge("baking.background_bake").start(bpy.context.scene, [obj], "ABSOLUTE", 1, 4)
    assert extension.bridge("baking.background_bake").job() is None


def test_undoing_the_second_use_leaves_what_the_first_has_pinned(hand, session):
    curtain()
    go(1)
    scene = bpy.context.scene
    worker = hand.GrabSession(scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4))
    count = worker.let_go(scene, pin=True)
    worker.finish(scene)
    bpy.ops.ed.undo_push(message="First")
    worker = hand.GrabSession(scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.2), at=(0.3, 0.0))
    worker.finish(scene)
    bpy.ops.ed.undo_push(message="Second")
    bpy.ops.ed.undo()
    go(2)
    running = session.get(bpy.context.scene)
    assert [len(grab.particles) for _frame, grab in running.grab_pins] == [count]
    assert running.scene_sim.simulation.is_held


def test_apply_as_base_keeps_what_a_hand_has_shaped(hand, session):
    obj = curtain()
    go(1)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.5), ticks=20)
    worker.finish(bpy.context.scene)
    left = shown(obj)
    obj.select_set(True)
    bpy.ops.object.pbd_apply(result="BASE")
    assert np.allclose(shown(obj), left, atol=1e-5)
    assert not obj.pbd.live_key


def test_cloth_that_replaced_another_is_taken_hold_of_on_the_first_frame(hand):
    old = curtain()
    play([old], 1, 4)
    scene = bpy.context.scene
    go(1)
    bpy.data.objects.remove(old)
    new = curtain()
    worker = hand.GrabSession(scene, depsgraph())
    assert worker.take(scene, (0.0, -0.3, 2.0), DOWN, 0.15)
    assert worker.held[0].member.name == new.name


def test_pinning_by_hand_makes_no_undo_step_of_its_own(hand, extension):
    obj = curtain()
    listeners = extension.bridge("settings.field_properties").cleared_listeners
    calls = []
    listeners.append(lambda: calls.append(obj.pbd.pin_group))
    try:
        go(1)
        worker = hand.GrabSession(bpy.context.scene, depsgraph())
        drag(worker, (0.0, 0.0, 0.4))
        assert worker.let_go(bpy.context.scene, pin=True)
        obj.pbd.stretch_group = obj.pbd.pin_group
        assert not calls  # The tool, and Blender when a group is chosen, make the step.
        obj.pbd.stretch_group = ""
        obj.pbd.pin_group = ""
        assert len(calls) == 2
    finally:
        listeners.pop()


def test_frames_that_are_not_there_are_refused(hand, session, extension):
    scenes.add_grid()
    errors = extension.bridge("errors")
    go(7)
    go(6, 0.5)
    with pytest.raises(errors.PBDError, match="Frame 6 is not simulated: play up to it"):
        hand.GrabSession(bpy.context.scene, depsgraph())
    go(7)
    session.drop(bpy.context.scene)
    with pytest.raises(errors.PBDError, match="Frame 7 is not simulated: go to frame 1, or play"):
        hand.GrabSession(bpy.context.scene, depsgraph())


def test_beside_the_cloth_is_nothing(hand):
    curtain()
    go(1)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    assert not worker.take(bpy.context.scene, (5.0, 5.0, 5.0), DOWN, 0.2)
    worker.finish(bpy.context.scene)
    assert bpy.context.scene.pbd.hand_count == 0


def test_the_tool_needs_a_window(extension):
    scenes.add_grid()
    with pytest.raises(RuntimeError, match="mouse in a 3D View"):
        bpy.ops.object.pbd_grab()


def test_removing_pbd_leaves_no_places_behind(hand):
    obj = curtain()
    go(1)
    worker = hand.GrabSession(bpy.context.scene, depsgraph())
    drag(worker, (0.0, 0.0, 0.4))
    worker.let_go(bpy.context.scene, pin=True)
    obj.select_set(True)
    bpy.ops.object.pbd_remove()
    assert "pbd_pin_offset" not in obj.data.attributes
