"""Drivers and strips of the NLA: when one is changed, frames from before go, with the reason, wherever one looks."""

import bpy
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

WHY = "animation of 'Flag' changed"


@pytest.fixture
def flag(extension):
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    return obj


def drive(obj, expression):
    """A driver of the object's place along X, with the variable `far` of the object "Far"."""
    far = bpy.data.objects.get("Far")
    if far is None:
        far = bpy.data.objects.new("Far", None)
        bpy.context.scene.collection.objects.link(far)
        far["way"] = 1.0
        far.keyframe_insert('["way"]', frame=1)
    curve = obj.driver_add("location", 0)
    variable = curve.driver.variables.new()
    variable.name, variable.targets[0].id, variable.targets[0].data_path = "far", far, '["way"]'
    curve.driver.expression = expression
    return curve.driver, far


def strip_of(obj):
    """An NLA strip, frames 5 to 15, that moves the object along X."""
    scenes.animate_location(obj, 5, 15, (1.0, 0.0, 0.0))
    data = obj.animation_data
    action = data.action
    track = data.nla_tracks.new()
    strip = track.strips.new("Move", 5, action)
    if bpy.app.version >= (4, 4):
        strip.action_slot = action.slots[0]
    data.action = None
    return track, strip


def loss(extension):
    return extension.bridge("timeline.session").get(bpy.context.scene).invalidated


def change_expression(driver, _far):
    driver.expression = "0.02 * frame * far"


def change_variable(driver, _far):
    driver.variables[0].name = "near"


def change_target(driver, _far):
    driver.variables[0].targets[0].data_path = "location.x"


def change_keys_of_target(_driver, far):
    far["way"] = 2.0
    far.keyframe_insert('["way"]', frame=9)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (change_expression, WHY),
        (change_variable, WHY),
        (change_target, WHY),
        (change_keys_of_target, "animation of 'Far' changed"),
    ],
)
def test_a_driver_is_changed(extension, flag, change, why):
    driver, far = drive(flag, "0.01 * frame * far")
    play([flag], 1, 12)
    play([flag], 1, 12)
    assert loss(extension) is None
    bpy.context.view_layer.update()
    running = extension.bridge("timeline.session").get(bpy.context.scene)
    change(driver, far)
    flag.update_tag()  # As the editor of drivers does.
    bpy.context.view_layer.update()
    assert running.edits.curves
    go(12)
    assert tuple(loss(extension)) == (2, 12, why)
    assert shown(flag)[0, 0] == pytest.approx(-0.5 + flag.matrix_world.translation.x, abs=1e-5)


def shift(_track, strip):
    strip.frame_start_ui += 2


def scale(_track, strip):
    strip.scale = 2.0


def mute(track, _strip):
    track.mute = True


def weaken(_track, strip):
    strip.influence = 0.5


def bend(_track, strip):
    curves = (
        strip.action.fcurves if bpy.app.version < (4, 4) else strip.action.layers[0].strips[0].channelbags[0].fcurves
    )
    curves[0].keyframe_points[1].co.y = 3.0


@pytest.mark.parametrize("change", [shift, scale, mute, weaken, bend])
def test_a_strip_is_changed(extension, flag, change):
    track, strip = strip_of(flag)
    play([flag], 1, 12)
    play([flag], 1, 12)
    assert loss(extension) is None
    change(track, strip)
    go(3)  # Where nothing is seen of it.
    assert tuple(loss(extension)) == (2, 12, WHY)


def test_a_cache_on_disk_is_of_these_drivers(extension, flag, tmp_path):
    scene, path = bpy.context.scene, str(tmp_path / "flag.blend")
    drive(flag, "0.01 * frame * far")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    scene.pbd.use_disk_cache = True
    play([flag], 1, 6)
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=path)
    session = extension.bridge("timeline.session")
    assert session.get(bpy.context.scene).last_frame == 6
    session.drop_all()
    bpy.data.objects["Flag"].animation_data.drivers[0].driver.expression = "0.0"
    assert "animation of 'Flag' changed" in session.load_from_disk(bpy.context.scene)
