"""Bakes that repeat themselves: every way to keep them plays on without a seam, and their exports too."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import run
from helpers.exports import SHARED, read_back
from helpers.meshes import icosphere
from helpers.scenes import go, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

LAST, FADE = 40, 6
MODES = (
    "ABSOLUTE",
    pytest.param("RELATIVE", marks=pytest.mark.slow),
    pytest.param("REDUCED", marks=pytest.mark.slow),
    "MESH_CACHE",
)


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


def flag(length=0):
    """Cloth in gusts on a pole, turned and scaled, to be baked as a loop."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, LAST
    scene.pbd.wind_speed, scene.pbd.wind_turbulence, scene.pbd.wind_eddy = 4.0, 30.0, 2.0
    scene.pbd.use_loop, scene.pbd.loop_fade, scene.pbd.loop_gap, scene.pbd.loop_length = True, FADE, 1.0, length
    scene.pbd.settle = 20
    obj = scenes.add_grid("Flag")
    scenes.pin(obj, [0, 5, 10, 15])
    obj.scale, obj.rotation_euler = (1.5, 0.8, -1.2), (0.5, 0.2, 0.1)
    return obj


def steps(obj, first, last):
    """Largest step of a vertex from each frame to the next one (k,) [m]."""
    seen = []
    for frame in range(first, last + 1):
        go(frame)
        seen.append(shown(obj))
    return np.linalg.norm(np.diff(seen, axis=0), axis=2).max(axis=1)


def lengths(obj):
    ends = np.array([edge.vertices for edge in obj.data.edges])
    places = shown(obj)[ends]
    return np.linalg.norm(places[:, 0] - places[:, 1], axis=1)


@pytest.mark.parametrize("mode", MODES)
def test_a_bake_repeats_itself_without_a_seam(bake, tmp_path, mode):
    obj = flag()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    go(1)
    at_rest = lengths(obj)
    run(bake, [obj], mode, 1, LAST)
    pbd, length = obj.pbd, obj.pbd.bake_loop
    assert LAST // 3 <= length <= LAST - FADE and (pbd.bake_start, pbd.bake_end) == (1, 1 + length)
    assert 0.0 < pbd.bake_apart < 1.0
    tolerance = 1.1 * pbd.reduce_error if mode == "REDUCED" else SHARED
    for frame in (1, 5, 12):
        go(frame)
        here = shown(obj)
        for other in (frame + length, frame + 3 * length, frame - length):
            go(other)
            assert np.abs(shown(obj) - here).max() < tolerance, other
    go(3, 0.5)
    between = shown(obj)
    go(3 + length, 0.5)
    assert np.abs(shown(obj) - between).max() < tolerance
    moved = steps(obj, 1, 1 + 2 * length)
    seams = moved[length - 1 :: length]
    assert seams.max() <= 1.3 * np.delete(moved, [length - 1, 2 * length - 1]).max()
    if mode != "REDUCED":
        worst = []
        for frame in range(1, 1 + length):
            go(frame)
            worst.append(np.abs(lengths(obj) / at_rest - 1.0))
        assert np.percentile(worst, 95) < 0.005
    bake.delete(bpy.context.scene, [obj], with_files=True)
    assert not obj.pbd.baked and not obj.pbd.bake_loop and obj.animation_data is None
    assert not bpy.data.actions and not obj.modifiers and not list(tmp_path.glob("cache_pbd/*"))


def test_the_length_that_is_asked_for_in_time_with_the_range(bake):
    """Where nothing fades, the loop shows what was simulated."""
    obj = flag(length=20)
    seen = scenes.play([obj], 1, LAST)
    run(bake, [obj], "ABSOLUTE", 1, LAST)
    assert obj.pbd.bake_loop == 20
    same = []
    for frame in range(1, LAST + 1):
        go(frame)
        same.append(np.abs(shown(obj) - seen[frame][0]).max() < SHARED)
    assert sum(same) >= 20 - FADE


def test_cloth_that_fades_goes_around_what_stands_there(bake):
    """It lies on a ball, and later on the floor: the mean would be in the ball, which is there in those frames."""
    scene = bpy.context.scene
    scene.pbd.use_loop, scene.pbd.loop_fade, scene.pbd.loop_length, scene.pbd.loop_gap = True, 4, 18, 10.0
    scene.pbd.use_floor, scene.pbd.floor_height, scene.pbd.settle = True, -0.5, 8
    points, faces = icosphere(3, 0.2)
    ball = scenes.add_mesh("Ball", points, faces, pbd=False)
    ball.location.z = -0.21
    ball.pbd_collider.enabled = True
    ball.keyframe_insert("location", frame=8)
    scenes.animate_location(ball, 9, 10, (0.0, 0.0, -5.0))
    rug = scenes.add_grid("Rug", rx=11, ry=11, height=1.0)
    run(bake, [rug], "ABSOLUTE", 1, 22)
    for frame in range(1, 9):
        go(frame)
        assert np.linalg.norm(shown(rug) - [0.0, 0.0, -0.21], axis=1).min() > 0.199, frame
    go(18)
    assert -0.5 < shown(rug)[:, 2].min() and shown(rug)[:, 2].max() < -0.2


def test_an_export_is_one_cycle(extension, bake, tmp_path):
    obj = flag()
    obj.pbd.reduce_error = 0.002
    run(bake, [obj], "ABSOLUTE", 1, LAST)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    length = obj.pbd.bake_loop
    go(1)
    begin = shown(obj)
    for file_format in ("GLTF", "ALEMBIC"):
        path = tmp_path / f"flag{'.glb' if file_format == 'GLTF' else '.abc'}"
        assert bpy.ops.object.pbd_export(format=file_format, filepath=str(path)) == {"FINISHED"}
    back = read_back(extension, tmp_path / "flag.abc")
    for frame in (1, 1 + length):
        go(frame)
        assert np.abs(shown(back) - begin).max() < SHARED
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "flag.glb"))
    (back,) = (one for one in bpy.data.objects if one.type == "MESH")
    assert round(back.data.shape_keys.animation_data.action.frame_range[1]) == length
    places = []
    for frame in (0, length):
        go(frame)
        places.append(shown(back))
    assert np.abs(places[1] - places[0]).max() < SHARED


def test_refusals(bake):
    obj = flag(length=30)
    pbd = bpy.context.scene.pbd
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    assert bpy.ops.object.pbd_find_loop() == {"FINISHED"}

    def refusal():
        with pytest.raises(RuntimeError) as raised:
            bpy.ops.object.pbd_bake(mode="ABSOLUTE")
        assert not obj.pbd.baked
        return str(raised.value)

    pbd.loop_fade = 12
    assert "No loop: 40 frames with a fade of 12 hold a loop of 28 at most, not of 30" in refusal()
    pbd.loop_fade = 24
    assert "No loop: 40 frames are too few to fade over 24: it takes 48 at least" in refusal()
    pbd.loop_fade, pbd.loop_length, pbd.loop_gap = 6, 0, 0.0001
    assert "are the most alike, and " in refusal() and " m apart, more than Largest Gap, 0.0001 m" in refusal()
    pbd.loop_length, pbd.wind_loop = 30, 24
    assert "A loop of 30 frames does not fit the wind, which repeats itself every 24" in refusal()
    with pytest.raises(RuntimeError, match="'Flag' is not baked: an export repeats itself as its bake does"):
        bpy.ops.object.pbd_export(format="ALEMBIC", filepath="/nowhere/flag.abc")
