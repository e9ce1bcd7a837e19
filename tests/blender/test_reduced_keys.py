"""Reduced keys: few relative keys that play the simulation within an error, without the add-on."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import FIRST, LAST, flag, keyed_flag, run
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


@pytest.fixture
def key_plan(extension):
    return extension.bridge("baking.key_plan")


def off(obj, seen):
    """Largest distance of a vertex from where it was simulated, in the world [m]."""
    errors = []
    for frame in range(FIRST, LAST + 1):
        go(frame)
        errors.append(np.linalg.norm(shown(obj) - seen[frame][0], axis=1).max())
    return max(errors)


@pytest.mark.parametrize("bound", [0.02, 0.002])
def test_the_error_is_held_in_the_world_without_the_extension(extension, bake, bound):
    obj = flag()
    obj.pbd.reduce_error = bound
    seen = play([obj], FIRST, LAST)
    run(bake, [obj], "REDUCED")
    assert 1 < len(obj.data.shape_keys.key_blocks) - 1 < LAST
    extension.disable()
    assert 1e-5 < off(obj, seen) <= bound


def test_a_finer_error_takes_more_keys(bake):
    obj = flag()
    counts = []
    for bound in (0.05, 0.01, 0.001):
        obj.pbd.reduce_error = bound
        run(bake, [obj], "REDUCED")
        counts.append(len(obj.data.shape_keys.key_blocks) - 1)
        bake.delete(bpy.context.scene, [obj])
    assert counts == sorted(counts) and counts[0] < counts[-1] <= LAST


def test_the_users_keys_go_on_playing(extension, bake):
    obj = keyed_flag()
    obj.pbd.reduce_error = 0.003
    before = scenes.mesh_bytes(obj)
    seen = play([obj], FIRST, LAST)
    go(FIRST)
    run(bake, [obj], "REDUCED")
    assert off(obj, seen) <= 0.003
    go(FIRST)
    bake.delete(bpy.context.scene, [obj])
    extension.bridge("output.shape_keys").remove_live_key(obj)
    assert scenes.mesh_bytes(obj) == before


def test_deleting_restores_every_byte(bake):
    obj = flag()
    actions = set(bpy.data.actions)
    play([obj], FIRST, LAST)
    go(FIRST)
    before = scenes.mesh_bytes(obj)
    run(bake, [obj], "REDUCED")
    bake.delete(bpy.context.scene, [obj])
    assert scenes.mesh_bytes(obj) == before
    assert set(bpy.data.actions) == actions


def test_what_is_counted_is_what_is_baked(bake, key_plan):
    obj = flag()
    scene = bpy.context.scene
    scene.frame_end = LAST
    assert key_plan.get(scene, obj) is None
    assert bpy.ops.object.pbd_count_keys() == {"FINISHED"}
    plan = key_plan.get(scene, obj)
    assert not obj.pbd.baked
    seen = play([obj], FIRST, LAST)
    assert key_plan.get(scene, obj) == plan
    run(bake, [obj], "REDUCED")
    assert len(obj.data.shape_keys.key_blocks) - 1 == plan.total
    assert off(obj, seen) <= plan.error + 1e-6 <= obj.pbd.reduce_error + 1e-6


def test_a_count_is_forgotten_when_something_has_changed(key_plan):
    obj = flag()
    scene = bpy.context.scene
    scene.frame_end = LAST
    for change in ("error", "range", "simulation"):
        bpy.ops.object.pbd_count_keys()
        assert key_plan.get(scene, obj) is not None
        if change == "error":
            obj.pbd.reduce_error *= 0.5
        elif change == "range":
            scene.frame_end = LAST - 1
        else:
            go(3)
            obj.pbd.drag = 9.0
            go(LAST - 1)
        assert key_plan.get(scene, obj) is None, change


def test_by_number(bake):
    obj = flag()
    obj.pbd.reduce_by, obj.pbd.reduce_count = "COUNT", 4
    run(bake, [obj], "REDUCED")
    assert len(obj.data.shape_keys.key_blocks) - 1 == 4
    values = [value for _, points in scenes.curve_values(obj.data.shape_keys) for _, value in points]
    assert min(values) >= 0.0 and max(values) == 1.0
