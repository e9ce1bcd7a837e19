"""A frame has one shape, wherever playback was started; what takes long goes on in pieces, with progress and Esc."""

import types

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import count_steps, go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

LAST = 24


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def flag():
    """A flag that hangs by two corners, which move."""
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    scenes.animate_location(obj, 1, LAST, (0.5, 0.0, 0.2))
    return obj


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_file_saved_in_the_middle_goes_on_as_an_unbroken_run(session, tmp_path, on_disk):
    obj, path = flag(), str(tmp_path / "flag.blend")
    bpy.context.scene.pbd.use_disk_cache = on_disk
    bpy.ops.wm.save_as_mainfile(filepath=path)
    seen = play([obj], 1, LAST)
    go(20)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    obj, scene = bpy.data.objects["Flag"], bpy.context.scene
    assert np.abs(shown(obj) - seen[20][0]).max() < 1e-6
    steps = count_steps(session.get(scene)) if on_disk else None
    go(21)
    assert np.abs(shown(obj) - seen[21][0]).max() < 1e-6
    assert (session.get(scene).first_frame, scene.frame_current, scene.frame_subframe) == (1, 21, 0.0)
    assert steps in (None, [])


@pytest.mark.parametrize("start", [2, 7, 20])
def test_wherever_playback_starts(session, start):
    obj = flag()
    want = play([obj], 1, LAST)
    session.clear_cache(bpy.context.scene)
    for frame, (shape,) in play([obj], start, LAST).items():
        assert np.array_equal(shape, want[frame][0]), frame


def test_before_the_range_nothing_is_simulated(session):
    obj, scene = flag(), bpy.context.scene
    scene.frame_start = 10
    play([obj], 3, 9)
    assert session.get(scene) is None
    go(12)
    assert (session.get(scene).first_frame, session.get(scene).last_frame) == (10, 12)


def test_other_handlers_see_the_frame_that_is_shown_at_last(session):
    """The frames that are missing are visited on the way, and then it is the user's frame again."""
    flag()
    seen = []

    def note(scene, _depsgraph):
        seen.append((scene.frame_current, scene.frame_subframe))

    bpy.app.handlers.frame_change_post.append(note)
    try:
        go(4, 0.5)
        go(6)
    finally:
        bpy.app.handlers.frame_change_post.remove(note)
    assert seen[-1] == (6, 0.0)


@pytest.mark.parametrize("settle", [0, 4])
def test_what_takes_long_goes_on_in_pieces(extension, session, monkeypatch, settle):
    """As the operator does it in a window: a piece of work for each frame, and Esc between any two."""
    obj, scene = flag(), bpy.context.scene
    scene.pbd.settle = settle
    want = play([obj], 1, 12)
    session.clear_cache(scene)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 0.0)
    go(12)
    record = session.get(scene)
    assert record.is_late and record.last_frame < 12 and record.message
    work = extension.bridge("baking.recording").catching_up(scene)
    next(work)
    work.close()  # Esc
    assert (scene.frame_current, record.bake) == (12, None)
    done = list(extension.bridge("baking.recording").catching_up(scene))
    assert [progress.frame for progress in done if not progress.to_settle][-1] == 12
    assert (scene.frame_current, record.message, record.is_late, record.last_frame) == (12, "", False, 12)
    assert np.abs(shown(obj) - want[12][0]).max() < 1e-6


def test_a_slow_frame_is_stepped_in_slices(extension, session, monkeypatch):
    """A window that plays is told so before it stands still; Esc in the middle of a frame keeps those before it."""
    monkeypatch.setattr(extension.module("pbd_addon.stepping.fused"), "LONGEST_CALL", 0.0)
    obj, scene = flag(), bpy.context.scene
    want = play([obj], 1, 4)
    session.clear_cache(scene)
    go(1)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 1.0)
    monkeypatch.setattr(extension.bridge("timeline.cost_estimate"), "SLICED", 0.0)
    monkeypatch.setattr(extension.bridge("baking.recording"), "SLICE_SECONDS", 0.0)
    go(2)
    assert session.get(scene).is_late
    list(extension.bridge("baking.recording").catching_up(scene))  # The first frame after the one that is built, too.
    record = session.get(scene)
    go(3)
    assert record.is_late and record.last_frame == 2 and record.message.startswith("Frame 3 takes more than")
    work = extension.bridge("baking.recording").catching_up(scene)
    next(work), next(work)
    assert (record.last_frame, record.bake.frame) == (2, 2)
    assert extension.module("panels.status").line(bpy.context)[0] == "Esc cancels, frames stay"
    work.close()  # Esc
    assert (record.last_frame, record.bake) == (2, None)
    assert [progress.frame for progress in extension.bridge("baking.recording").catching_up(scene)][-1] == 3
    assert (record.last_frame, record.message, record.is_late) == (3, "", False)
    assert np.array_equal(shown(obj), want[3][0])
    monkeypatch.setattr(extension.bridge("timeline.cost_estimate"), "SLICED", 60.0)
    go(4)
    assert np.array_equal(shown(obj), want[4][0])


def test_a_large_first_frame_is_told_before_it_is_built(extension, session, monkeypatch):
    """A window says what comes and is drawn before it is read; Reset leaves it to playback."""
    flag()
    scene = bpy.context.scene
    follow, estimate = extension.bridge("timeline.follow"), extension.bridge("timeline.cost_estimate")
    go(1)
    monkeypatch.setattr(follow, "PATIENCE", 1.0)
    monkeypatch.setattr(estimate, "BUILD", 0.2)
    bpy.ops.object.pbd_reset()
    record = session.get(scene)
    assert record is None or (record.scene_sim is None and record.message == "")
    go(2)
    record = session.get(scene)
    assert (record.scene_sim, record.is_late) == (None, True)
    assert record.message.endswith(" vertices take about 4 s to prepare")
    recording = extension.bridge("baking.recording")
    monkeypatch.setattr(recording, "SLICE_SECONDS", 0.0)
    work = recording.catching_up(scene)
    for _slice in range(4):
        assert (next(work).to_prepare, record.scene_sim) == (20, None)
    work.close()  # Esc in the middle of it
    assert (session.get(scene), record.scene_sim, record.bake) == (None, None, None)
    monkeypatch.setattr(recording, "SLICE_SECONDS", 2.0)
    work = recording.catching_up(scene)
    told = next(work)
    assert (told.to_prepare, record.scene_sim) == (20, None)
    assert told.describe() == "Prepares 20 vertices"
    operator = extension.module("operators.frame_by_frame").FrameByFrame()
    assert operator.status(told) == "PBD prepares 20 vertices, about 4 s, Esc cancels"
    assert (next(work).frame, session.get(scene).last_frame) == (2, 2)
    work.close()  # Esc
    assert (session.get(scene).bake, session.get(scene).message) == (None, "")


def test_the_panel_does_not_complain_of_what_is_about_to_come(extension, session, monkeypatch):
    """While slow frames play it would turn red and jump at each of them."""
    flag()
    scene, status = bpy.context.scene, extension.module("panels.status")
    go(1)
    go(2)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 1.0)
    monkeypatch.setattr(extension.bridge("timeline.cost_estimate"), "SLICED", 0.0)
    go(3)
    assert session.get(scene).is_late and status.line(bpy.context)[2]
    assert session.expect_late_frame(scene)  # As a handler does it in a window.
    assert not status.line(bpy.context)[2]
    assert bpy.ops.object.pbd_catch_up() == {"FINISHED"}
    assert session.get(scene).last_frame == 3


def test_space_stops_playback_that_waits_for_a_frame(extension):
    """It would go on as soon as the frame is there; Space is no key of a catch-up that a button has begun."""
    operator = extension.module("operators.frame_by_frame").FrameByFrame()
    said = []
    operator.report = lambda _kinds, line: said.append(line)
    space, catch_up = types.SimpleNamespace(type="SPACE", value="PRESS"), extension.module("operators.catch_up")
    assert operator.modal(bpy.context, space) == {"RUNNING_MODAL"}
    operator._stop_keys = catch_up.PLAYBACK_KEYS
    assert operator.modal(bpy.context, space) == {"CANCELLED"}
    assert said == [operator.stopped()] != [""]
    operator.stopped = lambda: catch_up.OBJECT_OT_pbd_catch_up.stopped(types.SimpleNamespace(_played=True))
    assert operator.modal(bpy.context, space) == {"CANCELLED"}
    assert len(said) == 1  # Nothing was cancelled that the user has begun.


@pytest.mark.parametrize(
    ("area", "region", "kind", "played", "passes"),
    [
        ("PROPERTIES", "WINDOW", "LEFTMOUSE", True, True),
        ("PROPERTIES", "WINDOW", "MOUSEMOVE", True, True),
        ("PROPERTIES", "WINDOW", "WHEELUPMOUSE", True, True),
        ("VIEW_3D", "UI", "LEFTMOUSE", True, True),
        ("PROPERTIES", "WINDOW", "SEVEN", True, True),
        ("PROPERTIES", "WINDOW", "RET", True, True),
        ("PROPERTIES", "WINDOW", "CTRL A", True, True),
        ("PROPERTIES", "WINDOW", "CTRL Z", True, False),
        ("PROPERTIES", "WINDOW", "F9", True, False),
        ("VIEW_3D", "WINDOW", "SEVEN", True, False),
        ("VIEW_3D", "WINDOW", "G", True, True),
        ("VIEW_3D", "WINDOW", "CTRL S", True, False),
        ("PROPERTIES", "WINDOW", "LEFTMOUSE", False, False),
        ("VIEW_3D", "WINDOW", "LEFTMOUSE", True, False),
        ("OUTLINER", "WINDOW", "LEFTMOUSE", True, False),
    ],
)
def test_panels_can_be_used_while_playback_waits_for_a_frame(extension, area, region, kind, played, passes):
    """As they can while quick frames play, and objects be moved; nothing else reaches the scene meanwhile."""
    operator = extension.module("operators.frame_by_frame").FrameByFrame()
    operator._panels_react = played
    there = next(found for found in bpy.context.screen.areas if found.type == area)
    there = next(found for found in there.regions if found.type == region)
    kind, ctrl = kind.removeprefix("CTRL "), kind.startswith("CTRL ")
    place = {"mouse_x": there.x, "mouse_y": there.y}
    typed = {"SEVEN": "7", "RET": "\r"}.get(kind, "")
    event = types.SimpleNamespace(type=kind, value="PRESS", ctrl=ctrl, alt=False, shift=False, unicode=typed, **place)
    assert (operator.modal(bpy.context, event) == {"PASS_THROUGH"}) == passes


def test_a_setting_that_is_changed_in_the_middle_of_a_frame_counts_from_the_next_one(extension, session, monkeypatch):
    """Frames are those of a run in which it was changed when that frame was done."""
    monkeypatch.setattr(extension.module("pbd_addon.stepping.fused"), "LONGEST_CALL", 0.0)
    monkeypatch.setattr(extension.bridge("baking.recording"), "SLICE_SECONDS", 0.0)
    seen = []
    for in_the_middle in (False, True):
        obj, scene = flag(), bpy.context.scene
        go(1), go(2)
        with monkeypatch.context() as slow:
            slow.setattr(extension.bridge("timeline.follow"), "PATIENCE", 1.0)
            slow.setattr(extension.bridge("timeline.cost_estimate"), "SLICED", 0.0)
            go(3)
            assert session.get(scene).is_late
        work = extension.bridge("baking.recording").catching_up(scene)
        if in_the_middle:
            next(work), next(work)
            assert session.get(scene).last_frame == 2
            obj.pbd.stretch = 20.0
            bpy.context.view_layer.update()
        assert all(progress is not None for progress in work)
        obj.pbd.stretch = 20.0
        assert session.valid_frames(scene) == (1, 3)
        seen.append([shown(obj)])
        go(4)
        assert session.valid_frames(scene) == (1, 4)
        seen[-1].append(shown(obj))
        bpy.data.objects.remove(obj)
        go(1)
    for before, after in zip(*seen, strict=True):
        assert np.array_equal(before, after)


def test_cloth_that_is_deleted_in_the_middle_of_a_frame_ends_it_as_esc_does(extension, session, monkeypatch):
    """Only scripts can do that: events do not reach the scene meanwhile."""
    obj, _other, scene = flag(), flag(), bpy.context.scene
    go(1)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 1.0)
    monkeypatch.setattr(extension.bridge("timeline.cost_estimate"), "SLICED", 0.0)
    monkeypatch.setattr(extension.bridge("baking.recording"), "SLICE_SECONDS", 0.0)
    go(3)
    said = []
    operator = extension.module("operators.frame_by_frame").FrameByFrame()
    operator.report = lambda kinds, line: said.append((kinds, line))
    operator._run = extension.bridge("baking.recording").catching_up(scene)
    next(operator._run), next(operator._run)
    bpy.data.objects.remove(obj)
    bpy.context.view_layer.update()
    go(2)
    ticks = (operator.tick(bpy.context) for _tick in range(1000))
    assert next(result for result in ticks if result != {"RUNNING_MODAL"}) == {"CANCELLED"}
    assert said == [({"INFO"}, operator.stopped())]
    record = session.get(scene)
    assert record is None or (record.bake, record.message) == (None, "")


@pytest.mark.parametrize("played", [True, False])
def test_what_is_stopped_in_the_middle_of_a_frame(extension, session, monkeypatch, played):
    """Playback stands at the last whole frame; who jumped ahead stays there, and the panel says what is shown."""
    obj, scene, status = flag(), bpy.context.scene, extension.module("panels.status")
    go(1)
    go(2)
    before = shown(obj)
    monkeypatch.setattr(extension.bridge("baking.recording"), "SLICE_SECONDS", 0.0)
    monkeypatch.setattr(extension.module("pbd_addon.stepping.fused"), "LONGEST_CALL", 0.0)
    monkeypatch.setattr(extension.bridge("timeline.follow"), "PATIENCE", 1.0)
    monkeypatch.setattr(extension.bridge("timeline.cost_estimate"), "SLICED", 0.0)
    go(3)
    catch_up = extension.module("operators.catch_up").OBJECT_OT_pbd_catch_up
    operator = extension.module("operators.frame_by_frame").FrameByFrame()
    operator.report = lambda _kinds, line: None
    operator.give_up = lambda context: catch_up.give_up(types.SimpleNamespace(_played=played), context)
    operator._run = extension.bridge("baking.recording").catching_up(scene)
    next(operator._run)
    operator._stop(bpy.context)
    assert scene.frame_current == (2 if played else 3)
    assert session.is_behind(scene) != played
    assert (status.line(bpy.context)[0] == "Simulated up to frame 2") != played
    assert np.abs(shown(obj) - before).max() < 1e-6


def test_the_operator_without_a_window(session):
    flag()
    go(5)
    assert bpy.ops.object.pbd_catch_up() == {"FINISHED"}
    assert session.get(bpy.context.scene).last_frame == 5
