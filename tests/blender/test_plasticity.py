"""Plasticity in Blender: what is bent stays bent, and frames come back the same from memory and from disk."""

import bpy
import numpy as np
import pytest

from helpers.scenes import go, play, shown

pytestmark = [pytest.mark.newest, pytest.mark.usefixtures("few_substeps")]


def add_paper(**settings):
    """Blender's own grid of 0.2 m as paper above a ball."""
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.05)
    bpy.ops.object.pbd_collider_add()
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=16, y_subdivisions=16, size=0.2, location=(0.0, 0.0, 0.09))
    paper = bpy.context.object
    paper.pbd.enabled = True
    paper.pbd.bend, paper.pbd.bend_yield = 3e-5, 5.0
    for name, value in settings.items():
        setattr(paper.pbd, name, value)
    return paper


def plastic(extension, frame):
    session = extension.bridge("timeline.session")
    return session.get(bpy.context.scene).scene_sim.simulation.frames.state(frame).memory["plasticity"]["yielded"]


def test_paper_stays_bent_over_a_ball(extension):
    """When the ball is gone and nothing pulls any more, springy paper is flat again and the other is not."""
    left = []
    for curvature in (0.0, 5.0):
        bpy.ops.wm.read_homefile(app_template="", use_empty=True)
        paper = add_paper(bend_yield=curvature, drag=3.0, damping=5.0)
        ball = bpy.data.objects["Sphere"]
        for frame, height in ((20, 0.0), (21, -5.0)):
            ball.location.z = height
            ball.keyframe_insert("location", frame=frame)
        scene = bpy.context.scene
        for frame, gravity in ((20, -9.81), (21, 0.0)):
            scene.gravity[2] = gravity
            scene.keyframe_insert("gravity", frame=frame)
        play([paper], 1, 60)
        left.append(np.linalg.svd(shown(paper) - shown(paper).mean(axis=0))[1][2])
    assert left[0] < 0.1 * left[1]


def test_scrubbing_back_gives_the_same_frames(extension):
    paper = add_paper()
    play([paper], 1, 16)
    assert plastic(extension, 2).size == 0 < np.count_nonzero(plastic(extension, 16))
    runs = []
    for drag in (0.5, 0.2, 0.5, 0.2):
        go(3)
        paper.pbd.drag = drag
        runs.append((play([paper], 4, 16)[16][0], plastic(extension, 16)))
    for one, other in zip(runs[1], runs[3], strict=True):
        np.testing.assert_array_equal(one, other)
    assert (runs[0][0] != runs[1][0]).any()


@pytest.mark.parametrize("last", [2, 14])
def test_the_disk_cache_remembers_what_is_bent(extension, tmp_path, last):
    """From before anything has yielded, and from after."""
    paper = add_paper()
    bpy.context.scene.pbd.use_disk_cache = True
    path = str(tmp_path / "paper.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    seen = play([paper], 1, last)
    bpy.ops.wm.save_mainfile()
    before = plastic(extension, last)
    assert bool(before.size) == (last > 2)
    session, runs = extension.bridge("timeline.session"), []
    for _ in range(2):
        bpy.ops.wm.open_mainfile(filepath=path)
        again = bpy.data.objects["Grid"]
        assert session.get(bpy.context.scene).disk_note == ""
        assert session.valid_frames(bpy.context.scene) == (1, last)
        np.testing.assert_array_equal(plastic(extension, last), before)
        for frame in range(1, last + 1):
            go(frame)
            np.testing.assert_array_equal(shown(again), seen[frame][0])
        bpy.context.scene.pbd.use_disk_cache = False
        runs.append((play([again], last + 1, last + 12)[last + 12][0], plastic(extension, last + 12)))
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, other)
    assert runs[0][1].any()
