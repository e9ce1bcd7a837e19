"""Objects that become something else while cloth is simulated: a curve, another mesh, another mode."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


def activate(obj):
    """Make it the only selected object, and the active one."""
    for other in bpy.context.view_layer.objects:
        other.select_set(other == obj)
    bpy.context.view_layer.objects.active = obj


def complaints(capfd):
    """What Blender has said of handlers that failed."""
    out, err = capfd.readouterr()
    return [line for line in (out + err).splitlines() if "Traceback" in line or "Error" in line]


@pytest.mark.parametrize(("output", "heat_map"), [("SHAPE_KEY", "OFF"), ("SHAPE_KEY", "STRAIN"), ("MODIFIER", "OFF")])
def test_one_cloth_becomes_a_curve_and_the_others_go_on(capfd, output, heat_map):
    scenes.let_through()
    bpy.context.scene.pbd.heat_map = heat_map
    one, two = scenes.add_grid("One", output=output), scenes.add_grid("Two")
    play([one, two], 1, 4)
    before = shown(two)
    activate(one)
    bpy.ops.object.convert(target="CURVE")
    assert one.type == "CURVE" and one.pbd.enabled
    go(5)
    assert shown(two)[:, 2].mean() < before[:, 2].mean()
    again = play([two], 1, 6)
    assert again[6][0][:, 2].mean() < again[4][0][:, 2].mean() < 0.0
    assert not complaints(capfd)


def test_a_cloth_that_became_a_curve_can_be_a_collider(extension):
    scenes.let_through()
    one, two = scenes.add_grid("One"), scenes.add_grid("Two")
    play([one, two], 1, 3)
    activate(one)
    bpy.ops.object.convert(target="CURVE")
    one.data.splines.new("POLY").points.add(1)  # A mesh whose edges all have faces gives none.
    one.data.splines[0].points[1].co = (1.0, 0.0, 0.0, 1.0)
    one.data.dimensions, one.data.bevel_depth, one.pbd_collider.enabled = "3D", 0.1, True
    bpy.context.view_layer.update()
    go(3), go(4)
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    assert not running.message
    assert [found.surface.name for found in running.scene_sim.colliders.values()] == ["One"]


def test_the_only_cloth_becomes_a_curve(extension, capfd):
    one = scenes.add_grid("One")
    play([one], 1, 4)
    activate(one)
    bpy.ops.object.convert(target="CURVE")
    go(5)
    go(1)
    extension.bridge("handlers").arm_if_needed()
    assert not extension.bridge("handlers").is_needed()
    assert not complaints(capfd)


@pytest.mark.parametrize("mode", ["EDIT", "WEIGHT_PAINT"])
@pytest.mark.parametrize("swap", [False, True])
def test_a_mode_with_a_posing_modifier(capfd, mode, swap):
    obj = scenes.add_grid("One", rx=6, ry=6)
    scenes.pin(obj, range(6))
    twist = obj.modifiers.new("Twist", "SIMPLE_DEFORM")
    twist.deform_method, twist.angle = "TWIST", 0.4
    play([obj], 1, 3)
    activate(obj)
    if swap:
        other = scenes.add_grid("Other", rx=5, ry=7, pbd=False)
        activate(obj)
        obj.data = other.data.copy()
    bpy.ops.object.mode_set(mode=mode)
    go(4), go(5)
    twist.angle = 0.6
    go(1), go(2)
    bpy.ops.object.mode_set(mode="OBJECT")
    go(1), go(2), go(3)
    assert not complaints(capfd)
    assert np.isfinite(shown(obj)).all()


def test_a_shorter_range_than_that_whose_animation_is_known(capfd):
    plate, flag = scenes.add_grid("Plate", pbd=False), scenes.add_grid("Flag")
    plate.pbd_collider.enabled = True
    for frame, height in ((1, -1.0), (100, -2.0)):
        plate.location.z = height
        plate.keyframe_insert("location", frame=frame)
    play([flag], 1, 5)
    bpy.context.scene.frame_end = 50
    play([flag], 3, 6)
    assert not complaints(capfd)


def test_what_joins_at_the_first_frame_shows_its_mesh_there(extension):
    """A copy made in mid-run has the simulated shape; it waits for the first frame, where nothing is stepped."""
    session, obj = extension.bridge("timeline.session"), scenes.add_grid()
    play([obj], 1, 6)
    copy = obj.copy()
    copy.data = obj.data.copy()
    go(1)
    session.reset(bpy.context.scene, bpy.context.evaluated_depsgraph_get())
    bpy.context.scene.collection.objects.link(copy)
    assert np.abs(shown(copy) - shown(obj)).max() > 0.1
    go(1)
    assert np.array_equal(shown(copy), shown(obj))
    go(2)
    assert len(session.get(bpy.context.scene).scene_sim.members) == 2
