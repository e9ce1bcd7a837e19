"""Time Stretching of the output: a frame of the timeline shows another one of the animation."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.exports import read_back
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

LAST = 24


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def waving():
    """A flag whose pinned corners move steadily, so that a place between two frames is the mean of both."""
    obj = scenes.add_grid(drag=1.0)
    scenes.pin(obj, [0, 4])
    scenes.animate_location(obj, 0, LAST + 10, (1.0, 0.0, 0.0))
    return obj


def simulated(first):
    """What a flag looks like at frames of the animation, when it is simulated from `first` on at the usual pace."""
    scene, obj = bpy.context.scene, waving()
    scene.frame_start, scene.frame_end = first, LAST
    go(first)
    seen = play([obj], first, LAST)
    go(first)
    bpy.ops.object.pbd_clear_cache()
    return obj, {frame: shapes[0] for frame, shapes in seen.items()}


def between(seen, frame):
    """What is seen at a frame that may lie between two."""
    before = int(np.floor(frame))
    after = min(before + 1, LAST)
    return seen[before] + (frame - before) * (seen[after] - seen[before])


def stretch(old, new):
    """Stretch time, and let the timeline end where the animation does; returns its first and last frame."""
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = old, new
    scene.frame_start, scene.frame_end = 1, LAST * new // old
    return scene.frame_start, scene.frame_end


FACTORS = [(200, 100, 2), (150, 100, 1), (24, 25, 0), (100, 200, 0)]
"""Old, new, and the frame of the animation with which the simulation begins."""


@pytest.mark.parametrize(("old", "new", "begin"), FACTORS)
def test_cloth_moves_to_the_end_of_the_timeline(session, old, new, begin):
    obj, seen = simulated(begin)
    first, last = stretch(old, new)
    assert session.frame_range(bpy.context.scene) == (begin, LAST)
    go(first)
    # Where playback meets no whole frame at first, pins begin less than a frame's way from where they were.
    off = 1e-4 if old == 200 else 1.0 / (LAST + 10)
    for frame in range(first, last + 1):
        go(frame)
        assert np.abs(shown(obj) - seen[int(frame * old / new + 1e-3)]).max() < off, frame
    running = session.get(bpy.context.scene)
    assert (running.first_frame, running.last_frame) == (begin, LAST)
    steps = scenes.count_steps(running)
    for frame in range(last, first - 1, -1):
        go(frame)
        assert np.abs(shown(obj) - between(seen, frame * old / new)).max() < off, frame
    assert steps == []
    go(last + 5)
    assert steps == []


@pytest.mark.parametrize(
    ("old", "new", "begin", "mode"),
    [
        (*FACTORS[0], "MESH_CACHE"),
        (*FACTORS[0], "RELATIVE"),
        (*FACTORS[1], "ABSOLUTE"),
        (*FACTORS[2], "MESH_CACHE"),
        (*FACTORS[3], "ABSOLUTE"),
        (*FACTORS[3], "RELATIVE"),
    ],
)
def test_a_bake_shows_what_is_simulated(session, tmp_path, old, new, begin, mode):
    obj, seen = simulated(begin)
    first, last = stretch(old, new)
    bpy.context.scene.pbd.bake_folder = str(tmp_path)
    go(3)
    assert bpy.ops.object.pbd_bake(mode=mode) == {"FINISHED"}
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (3, 0.0)
    assert (obj.pbd.bake_start, obj.pbd.bake_end) == (begin, LAST)
    for frame in range(first, last + 1):
        go(frame)
        assert np.abs(shown(obj) - between(seen, frame * old / new)).max() < 1e-4, frame


@pytest.mark.parametrize(
    ("old", "new", "begin", "file_format", "suffix"),
    [
        (*FACTORS[0], "ALEMBIC", "abc"),
        (*FACTORS[1], "USD", "usdc"),
        (*FACTORS[2], "USD", "usdc"),
        (*FACTORS[3], "ALEMBIC", "abc"),
    ],
)
def test_an_export_is_stretched_too(extension, tmp_path, old, new, begin, file_format, suffix):
    obj, seen = simulated(begin)
    first, last = stretch(old, new)
    obj.select_set(True)
    path = tmp_path / f"flag.{suffix}"
    assert bpy.ops.object.pbd_export(format=file_format, filepath=str(path)) == {"FINISHED"}
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (first, last)
    back = read_back(extension, path)
    for frame in range(first, last + 1):
        go(frame)
        assert np.abs(shown(back) - between(seen, frame * old / new)).max() < 1e-4, frame


@pytest.mark.parametrize(("old", "new", "begin"), FACTORS)
def test_buttons_count_in_frames_of_the_timeline(session, old, new, begin):
    scene, _obj = bpy.context.scene, waving()
    first, last = stretch(old, new)
    go(10)
    bpy.ops.object.pbd_reset()
    running = session.get(scene)
    assert (scene.frame_current, scene.frame_subframe, running.first_frame) == (first, 0.0, begin)
    bpy.ops.object.pbd_step()
    assert scene.frame_current == first + 1 and running.last_frame == int((first + 1) * old / new)
    assert bpy.ops.object.pbd_settle(frames=3) == {"FINISHED"}
    assert (scene.frame_current, session.get(scene).first_frame, session.get(scene).settled) == (first, begin, 3)
    settled = session.get(scene).scene_sim
    go(4)
    go(first)
    assert session.get(scene).scene_sim is settled
    go(last)
    assert bpy.ops.object.pbd_step() == {"CANCELLED"}


def test_a_range_of_its_own_is_one_of_the_animation(session):
    """As with Blender's own caches."""
    scene, obj = bpy.context.scene, waving()
    stretch(200, 100)
    scene.use_custom_simulation_range = True
    scene.simulation_frame_start, scene.simulation_frame_end = 11, 20
    bpy.ops.object.pbd_reset()
    assert scene.frame_current == 6
    seen = play([obj], 6, 12)
    running = session.get(scene)
    assert (running.first_frame, running.last_frame) == (11, 20)
    assert not np.allclose(seen[9][0], seen[10][0], atol=1e-4)


def test_a_hand_takes_hold_of_the_frame_that_is_shown(extension, session):
    scene, obj = bpy.context.scene, scenes.add_grid()
    stretch(200, 100)
    play([obj], 1, 6)
    hand = extension.bridge("timeline.grab").GrabSession(scene, bpy.context.evaluated_depsgraph_get())
    assert hand.take(scene, (0.01, 0.02, 1.0), (0.0, 0.0, -1.0), 0.2)
    running = session.get(scene)
    assert running.first_disturbed == running.last_frame == 12
    hand.put_back(scene, bpy.context.evaluated_depsgraph_get())
