"""Settle: cloth hangs for some frames before the first one, which the timeline does not show."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def curtain(**settings):
    bpy.context.scene.pbd.substeps = 8
    bpy.context.scene.pbd.collisions = "OFF"
    obj = scenes.add_grid(rx=7, ry=7, width=0.6, height=0.6, **{"drag": 3.0, **settings})
    scenes.pin(obj, range(42, 49))
    return obj


def test_the_first_frame_hangs_already(session):
    obj = curtain()
    bpy.context.scene.pbd.settle = 80
    mesh = np.array([vertex.co for vertex in obj.data.vertices])
    go(2)
    go(1)
    first = shown(obj)
    assert first[:7, 2].mean() < -0.5
    assert np.array_equal([vertex.co for vertex in obj.data.vertices], mesh)
    moved = np.abs(play([obj], 1, 8)[8][0] - first).max()
    assert moved < 0.05
    assert session.get(bpy.context.scene).first_frame == 1


def test_it_is_the_same_as_to_simulate_the_frames_before():
    plain, settled = curtain(), None
    seen = play([plain], 1, 12)
    plain.name = "Plain"
    bpy.ops.object.pbd_clear_cache()
    bpy.data.objects.remove(plain)
    settled = curtain()
    bpy.context.scene.pbd.settle = 8
    after = play([settled], 1, 4)
    for frame in range(1, 5):
        assert np.allclose(after[frame][0], seen[frame + 8][0], atol=1e-4), frame


def test_what_moves_stands_still_while_it_settles():
    obj = curtain()
    scenes.animate_location(obj, 1, 11, (1.0, 0.0, 0.0))
    bpy.context.scene.pbd.settle = 40
    seen = play([obj], 1, 3)
    assert np.abs(seen[1][0][:, 0]).max() < 0.31
    assert seen[3][0][42:, 0].min() == pytest.approx(-0.3 + 0.2, abs=1e-4)


def test_the_start_is_shown_at_once_when_the_first_frame_is_visited():
    obj = curtain()
    bpy.context.scene.pbd.settle = 60
    go(5)
    go(1)
    assert shown(obj)[:7, 2].mean() < -0.4


def test_another_number_takes_effect_at_the_first_frame(session):
    obj = curtain()
    bpy.context.scene.pbd.settle = 5
    play([obj], 1, 4)
    bpy.context.scene.pbd.settle = 60
    go(1)
    assert shown(obj)[:7, 2].mean() < -0.4
    assert session.get(bpy.context.scene).settled == 60
    bpy.context.scene.pbd.settle = 0
    go(2)
    go(1)
    assert shown(obj)[:7, 2].mean() == pytest.approx(0.0, abs=1e-6)


def test_another_stiffness_settles_anew_at_the_first_frame():
    obj = curtain(tethers=False)
    bpy.context.scene.pbd.settle = 50
    go(1)
    go(3)
    go(1)
    stiff = shown(obj)[:7, 2].mean()
    obj.pbd.stretch = obj.pbd.compression = obj.pbd.shear = 5.0
    go(2)
    go(1)
    assert shown(obj)[:7, 2].mean() < stiff - 0.01


def test_a_bake_begins_settled():
    obj = curtain()
    scene = bpy.context.scene
    scene.frame_end = 3
    scene.pbd.settle = 60
    bpy.ops.object.pbd_bake()
    go(1)
    assert shown(obj)[:7, 2].mean() < -0.4


@pytest.mark.parametrize("before", ["nothing", "not settled", "not settled to the end", "other settings"])
def test_a_bake_settles_with_progress(extension, session, monkeypatch, before):
    """However long it takes: in a window a frame change would stop after some seconds, here after none."""
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 0.0)
    obj = curtain()
    scene = bpy.context.scene
    scene.frame_end = 3
    if before == "not settled":
        play([obj], 1, 3)
    elif before != "nothing":
        scene.pbd.settle = 5
        go(2)
        assert session.get(scene).message == "Settled 1 of 5 frames in 0 s: press Settle for all of them"
        if before == "other settings":
            bpy.ops.object.pbd_settle(frames=5)
            obj.pbd.drag = 2.0
    scene.pbd.settle = 60
    steps = count_rests(extension, monkeypatch)
    seen = list(extension.bridge("baking.bake").start(scene, [obj], "ABSOLUTE", 1, 3))
    assert [progress.settled for progress in seen] == [*range(1, 61), 0, 0, 0]
    assert [progress.share for progress in seen] == pytest.approx([*np.arange(1, 61) / 60, 0.0, 0.5, 1.0])
    assert all(progress.eta_seconds > 0.0 for progress in seen[:-1])
    assert len(steps) == 60
    assert obj.pbd.baked and session.get(scene).message == "" and not session.get(scene).disturbed_by
    go(1)
    assert shown(obj)[:7, 2].mean() < -0.5


def count_rests(extension, monkeypatch):
    """A list that grows by one with every frame that is settled."""
    shaping, steps = extension.bridge("timeline.step"), []
    rest = shaping.step_in_place

    def counted(running, scene):
        steps.append(scene.frame_current)
        rest(running, scene)

    monkeypatch.setattr(shaping, "step_in_place", counted)
    return steps


def test_esc_while_a_bake_settles(extension, session, monkeypatch):
    """What is half done says so, and the next bake does it anew; a settled frame is taken as it is."""
    obj = curtain()
    scene, bake = bpy.context.scene, extension.bridge("baking.bake")
    scene.frame_end, scene.pbd.settle = 3, 20
    run = bake.start(scene, [obj], "ABSOLUTE", 1, 3)
    for _ in range(4):
        next(run)
    run.close()
    running = session.get(scene)
    assert not obj.pbd.baked and running.bake is None
    assert (running.settled, running.first_disturbed, running.disturbed_by) == (4, 1, "SETTLE")
    steps = count_rests(extension, monkeypatch)
    assert len(list(bake.start(scene, [obj], "ABSOLUTE", 1, 3))) == 23
    assert len(steps) == 20
    bpy.ops.object.pbd_delete_bake()
    assert len(list(bake.start(scene, [obj], "ABSOLUTE", 1, 3))) == 3
    assert len(steps) == 20


def test_the_words_for_a_bake_that_settles(extension):
    """In the status bar, in the panel, and of a bake in the background."""
    progress = extension.bridge("timeline.session").BakeProgress(1, 1, 250, 83.4, 7, 50)
    tool = extension.module("operators.bake").OBJECT_OT_pbd_bake
    assert tool.status(tool, progress) == "PBD settles: 7 of 50 frames, Esc cancels"
    assert progress.describe() == "Settles: 7 of 50, 1:23 left"


def test_the_operator_settles_and_sets_the_number(session):
    obj = curtain()
    scene = bpy.context.scene
    go(4)
    assert bpy.ops.object.pbd_settle(frames=60) == {"FINISHED"}
    assert (scene.frame_current, scene.pbd.settle) == (1, 60)
    hung = shown(obj)
    assert hung[:7, 2].mean() < -0.4
    built = session.get(scene).scene_sim
    go(2)
    go(1)
    assert session.get(scene).scene_sim is built  # Nothing had to be settled again.
    assert np.allclose(shown(obj), hung, atol=1e-6)
    scene.frame_end = 2
    bpy.ops.object.pbd_bake()
    go(1)
    assert np.allclose(shown(obj), hung, atol=1e-5)


def test_the_operator_can_be_undone(session):
    curtain()
    bpy.ops.ed.undo_push(message="Before")
    bpy.ops.object.pbd_settle(frames=30)
    bpy.ops.ed.undo_push(message="Settled")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert bpy.context.scene.pbd.settle == 0
    go(2)
    go(1)
    assert shown(obj)[:7, 2].mean() == pytest.approx(0.0, abs=1e-6)


def test_esc_takes_it_back(extension, session):
    obj = curtain()
    scene = bpy.context.scene
    scene.pbd.settle = 3
    settle = extension.module("operators.settle").OBJECT_OT_pbd_settle

    begin_and_press_esc(settle)
    assert scene.pbd.settle == 3
    assert session.get(scene) is None
    assert np.allclose(shown(obj)[:, 2], 0.0)


def begin_and_press_esc(settle):
    """What the operator does until Esc is pressed after ten frames, and then."""

    class Tool:
        """Blender makes no operators by hand; the functions that Esc calls need only these."""

        frames = 50
        report = staticmethod(lambda *_: None)

    tool = Tool()
    run = settle.start(tool, bpy.context)
    for _ in range(10):
        next(run)
    run.close()
    assert settle.give_up(tool, bpy.context) == {"CANCELLED"}


def test_esc_in_a_second_settle_gives_back_the_first(extension, session):
    obj = curtain()
    scene = bpy.context.scene
    bpy.ops.object.pbd_settle(frames=30)
    first = shown(obj)
    assert first[:7, 2].mean() < -0.2
    for frame in range(2, 5):
        go(frame)
    before, running, steps = shown(obj), session.get(scene), scenes.count_steps(session.get(scene))
    begin_and_press_esc(extension.module("operators.settle").OBJECT_OT_pbd_settle)
    assert (scene.frame_current, scene.pbd.settle) == (4, 30)
    assert session.get(scene) is running
    assert np.allclose(shown(obj), before, atol=1e-6)
    go(1)
    assert np.allclose(shown(obj), first, atol=1e-6)
    go(4)
    assert np.allclose(shown(obj), before, atol=1e-6)
    assert steps == []
    go(5)
    assert steps == [5]


def test_esc_goes_back_to_the_users_frame_and_simulates_nothing(extension, session):
    obj = curtain()
    go(30)
    bpy.ops.object.pbd_clear_cache()
    begin_and_press_esc(extension.module("operators.settle").OBJECT_OT_pbd_settle)
    assert bpy.context.scene.frame_current == 30
    assert session.get(bpy.context.scene) is None
    assert np.allclose(shown(obj)[:, 2], 0.0)
