"""Initial velocity in Blender: a thrown towel, after settling and grabbing too, and what a change of it does."""

import math

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import fallen, go, play, shown


@pytest.fixture
def session(extension):
    return extension.bridge("timeline.session")


def add_towel(**settings):
    scenes.let_through()
    return scenes.add_grid("Towel", rx=7, ry=5, width=0.6, height=0.4, **{"drag": 0.0, **settings})


def test_a_thrown_towel_flies_on_a_parabola():
    towel = add_towel(velocity=(2.0, 0.0, 4.0), angular_velocity=(0.0, 0.0, math.radians(90.0)))
    towel.rotation_euler.z = 0.7  # The axes are those of the world.
    seen = play([towel], 1, 25)
    for frame, (points,) in seen.items():
        seconds = (frame - 1) / 24
        center = np.average(points, axis=0, weights=weights(towel))
        np.testing.assert_allclose(center, (2.0 * seconds, 0.0, 4.0 * seconds - fallen(frame - 1)), atol=1e-5)
    before, after = ((seen[frame][0][-1] - seen[frame][0][0])[:2] for frame in (1, 25))
    turned = math.degrees(math.atan2(*np.flip(after)) - math.atan2(*np.flip(before)))
    assert turned == pytest.approx(90.0, abs=1.0)


def weights(obj):
    """The part of each vertex in the area: a quarter of each face around it."""
    return np.bincount(np.array([polygon.vertices[:] for polygon in obj.data.polygons]).ravel())


def test_firm_pins_stay():
    towel = add_towel(velocity=(0.0, 0.0, 3.0))
    scenes.pin(towel, [0])
    start = shown(towel)[0]
    seen = play([towel], 1, 4)
    np.testing.assert_allclose([points[0] for (points,) in seen.values()], [start] * 4, atol=1e-6)
    assert seen[4][0][-1, 2] > 0.2


@pytest.mark.parametrize("spin", [0.0, 3.0])
def test_it_settles_first_and_is_thrown_then(spin):
    towel = add_towel(velocity=(3.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, spin))
    bpy.context.scene.use_gravity = False
    bpy.context.scene.pbd.settle = 10
    go(2)
    go(1)
    np.testing.assert_allclose(shown(towel)[:, 0].mean(), 0.0, atol=1e-5)
    seen = play([towel], 1, 7)
    np.testing.assert_allclose(seen[7][0][:, 0].mean(), 3.0 * 6 / 24, atol=1e-3)


def throw_anew(towel):
    towel.pbd.velocity = (0.0, 0.0, 6.0)


def spin_anew(towel):
    towel.pbd.angular_velocity.z = 9.0


@pytest.mark.parametrize("edit", [throw_anew, spin_anew])
def test_a_change_shows_from_the_first_frame_on_and_undo_takes_it_back(session, edit):
    towel = add_towel(velocity=(1.0, 0.0, 2.0))
    bpy.ops.ed.undo_push(message="thrown")
    first = play([towel], 1, 6)
    edit(towel)
    bpy.ops.ed.undo_push(message="thrown anew")
    go(7)
    assert session.get(bpy.context.scene).last_frame == 7  # Simulated frames stay until the first one is shown.
    other = play([towel], 1, 6)
    assert np.abs(other[6][0] - first[6][0]).max() > 0.1
    bpy.ops.ed.undo()
    towel = bpy.data.objects["Towel"]
    again = play([towel], 1, 6)
    for frame in first:
        np.testing.assert_array_equal(again[frame][0], first[frame][0])


def test_the_disk_cache_knows_it(session, tmp_path):
    towel = add_towel(velocity=(1.0, 0.0, 2.0))
    bpy.context.scene.pbd.use_disk_cache = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "towel.blend"))
    seen = play([towel], 1, 6)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    towel = bpy.data.objects["Towel"]
    assert (session.get(bpy.context.scene).last_frame, session.get(bpy.context.scene).disk_note) == (6, "")
    np.testing.assert_allclose(play([towel], 1, 6)[6][0], seen[6][0], atol=1e-6)
    towel.pbd.velocity = (1.0, 0.0, 3.0)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    note = session.get(bpy.context.scene).disk_note
    assert note.endswith("the mesh, Output, Rest Shape, Initial Velocity or Layer of 'Towel' changed")


def test_what_is_too_fast_is_told(session):
    towel = add_towel(velocity=(1000.0, 1000.0, 0.0))
    go(2)
    assert session.get(bpy.context.scene).message.startswith("Towel: a vertex would start at 1414 m/s; lower")
    assert np.isfinite(shown(towel)).all()
