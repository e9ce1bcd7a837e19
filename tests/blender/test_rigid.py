"""A ball in a hammock, by the buttons: a sphere becomes a rigid body, plays, is baked, and can be cloth again."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

LAST = 16


def hammock():
    """Blender's own sphere above a grid that is pinned at two ends; both as their buttons make them."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=16, y_subdivisions=8, size=1.0)
    cloth = bpy.context.object
    cloth.scale = (2.0, 1.0, 1.0)
    bpy.ops.object.pbd_add(type="CLOTH")
    ends = [vertex.index for vertex in cloth.data.vertices if abs(vertex.co.x) > 0.49]
    scenes.pin(cloth, ends)
    bpy.ops.mesh.primitive_uv_sphere_add(segments=16, ring_count=8, radius=0.15, location=(0.1, 0.05, 0.3))
    ball = bpy.context.object
    bpy.ops.object.pbd_add(type="RIGID")
    return cloth, ball


def distances(positions):
    return np.linalg.norm(positions[::7, None] - positions[None, ::7], axis=2)


@pytest.mark.newest
def test_a_ball_in_a_hammock_plays_and_is_baked(extension):
    cloth, ball = hammock()
    assert (ball.pbd.type, ball.pbd.rigid, ball.pbd.mass, ball.pbd.drag) == ("RIGID", True, 1.0, 0.0)
    shape = distances(shown(ball))
    seen = play([ball, cloth], 1, LAST)
    heights = [seen[frame][0][:, 2].mean() for frame in seen]
    sag = min(seen[frame][1][:, 2].min() for frame in seen)
    assert min(heights) < 0.0 and sag < -0.15
    assert heights[-1] > min(heights) + 0.05  # the cloth throws it back
    for frame in seen:
        assert np.abs(distances(seen[frame][0]) - shape).max() < 1e-6, frame
    go(1)
    bpy.context.scene.frame_end = LAST
    bpy.ops.object.select_all(action="SELECT")
    assert bpy.ops.object.pbd_bake(mode="ABSOLUTE") == {"FINISHED"}
    extension.disable()
    for frame in (1, 8, LAST):
        go(frame)
        assert np.abs(shown(ball) - seen[frame][0]).max() < 1e-5, frame
        assert np.abs(shown(cloth) - seen[frame][1]).max() < 1e-5, frame


@pytest.mark.newest
def test_mass_counts_at_once_and_shows_in_kilograms():
    """Changed on the first frame: ten times as heavy, it sinks deeper."""
    _, ball = hammock()
    light = play([ball], 1, 10)
    go(1)
    ball.pbd.mass = 10.0
    heavy = play([ball], 1, 10)
    assert heavy[10][0][:, 2].mean() < light[10][0][:, 2].mean() - 0.03
    assert "kg" in ball.pbd.bl_rna.properties["mass"].description


@pytest.mark.usefixtures("few_substeps")
def test_it_can_be_cloth_and_a_balloon_again():
    bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=6, radius=0.15)
    ball = bpy.context.object
    bpy.ops.object.pbd_add(type="RIGID")
    assert np.ptp(play([ball], 1, 4)[4][0], axis=0) == pytest.approx(np.ptp(shown(ball), axis=0))
    bpy.ops.object.pbd_add(type="BALLOON")
    assert not ball.pbd.rigid and ball.pbd.pressure_mode == "VOLUME"
    bpy.ops.object.pbd_add(type="RIGID")
    assert ball.pbd.rigid and ball.pbd.pressure_mode == "OFF"
    bpy.ops.object.pbd_add(type="CLOTH")
    assert not ball.pbd.rigid


@pytest.mark.usefixtures("few_substeps")
def test_cloth_that_becomes_a_solid_on_the_way_has_the_shape_of_the_first_frame():
    """It starts from there: the shape that cloth has sunk into would leap back."""
    bpy.context.scene.pbd.use_floor = True
    bpy.ops.mesh.primitive_uv_sphere_add(segments=8, ring_count=6, radius=0.15, location=(0.0, 0.0, 0.16))
    ball = bpy.context.object
    bpy.ops.object.pbd_add(type="CLOTH")
    shape = distances(shown(ball))
    sunk = play([ball], 1, 8)[8][0]
    assert np.abs(distances(sunk) - shape).max() > 1e-3
    bpy.ops.object.pbd_add(type="RIGID")
    for frame in (9, 12, 5):
        go(frame)
        assert np.abs(distances(shown(ball)) - shape).max() < 1e-6, frame
        assert shown(ball)[:, 2].max() < 0.32, frame


def test_panels_show_what_a_solid_has(extension):
    """No stiffness, pressure, seams or layers; weight, pins and what it meets."""
    hammock()
    polls = {}
    for name in dir(bpy.types):
        if name.startswith("VIEW3D_PT_pbd_"):
            polls[name.removeprefix("VIEW3D_PT_pbd_")] = getattr(bpy.types, name).poll(bpy.context)
    hidden = {"stiffness", "plasticity", "damping", "self_collisions", "pressure", "sewing", "tearing"}
    assert not any(polls[name] for name in (*hidden, "internal_springs"))
    assert all(polls[name] for name in ("main", "physical", "shape", "object_collisions", "initial_velocity"))
