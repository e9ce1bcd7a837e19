"""Files for other programs, read back into Blender and compared vertex by vertex, frame by frame."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import FIRST, LAST, flag, keyed_flag, run
from helpers.exports import SHARED, counterparts, read_back
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")


@pytest.fixture
def bake(extension):
    return extension.bridge("baking.bake")


def stage(obj):
    """Select the object alone, make the scene as long as the test, and play it; returns what was seen."""
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FIRST, LAST
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return play([obj], FIRST, LAST)


def state(obj):
    """What an export must leave as it was."""
    scene, layer = bpy.context.scene, bpy.context.view_layer
    selected = [other.name for other in layer.objects if other.select_get()]
    about_scene = scene.frame_current, scene.frame_start, scene.frame_end, scene.use_preview_range
    kinds = ("meshes", "shape_keys", "actions", "objects")
    data = {kind: sorted(item.name for item in getattr(bpy.data, kind)) for kind in kinds}
    return scenes.mesh_bytes(obj), selected, layer.objects.active.name, about_scene, data, obj.data.name


def off(obj, seen, shift=0, ids=slice(None)):
    """Largest distance of a vertex from where it was seen, over all frames [m]."""
    errors = []
    for frame in range(FIRST, LAST + 1):
        go(frame + shift)
        errors.append(np.linalg.norm(shown(obj) - seen[frame][0][ids], axis=1).max())
    return max(errors)


@pytest.mark.parametrize(
    ("file_format", "how"),
    [("ALEMBIC", "LIVE"), ("USD", "LIVE"), ("ALEMBIC", "ABSOLUTE"), ("USD", "RELATIVE"), ("USD", "MESH_CACHE")],
)
def test_every_vertex_of_every_frame_comes_back(extension, bake, tmp_path, file_format, how):
    obj = flag()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    seen = stage(obj)
    if how != "LIVE":
        run(bake, [obj], how)
    go(5)
    before = state(obj)
    path = tmp_path / ("flag.abc" if file_format == "ALEMBIC" else "flag.usdc")
    assert bpy.ops.object.pbd_export(format=file_format, filepath=str(path)) == {"FINISHED"}
    assert state(obj) == before
    back = read_back(extension, path)
    assert off(back, seen) < SHARED


@pytest.mark.parametrize("how", ["LIVE", "ABSOLUTE", "RELATIVE", "REDUCED", "MESH_CACHE"])
def test_gltf_comes_back_within_the_error(extension, bake, tmp_path, how):
    obj = flag()
    obj.pbd.reduce_error = 0.004
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    seen = stage(obj)
    if how != "LIVE":
        run(bake, [obj], how)
    go(5)
    before = state(obj)
    baked = len(obj.data.shape_keys.key_blocks)
    rest = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    path = tmp_path / "flag.glb"
    assert bpy.ops.object.pbd_export(format="GLTF", filepath=str(path)) == {"FINISHED"}
    assert state(obj) == before
    go(9)
    assert np.abs(shown(obj) - seen[9][0]).max() < (0.004 if how == "REDUCED" else SHARED)
    back = read_back(extension, path)
    keys = back.data.shape_keys.key_blocks
    ids = counterparts(np.array([point.co for point in keys[0].points], np.float32), rest)
    assert 1e-5 < off(back, seen, -FIRST, ids) < 0.004 + 2 * SHARED
    assert 2 < len(keys) - 1 < LAST
    if how == "REDUCED":
        assert len(keys) == baked


@pytest.mark.parametrize("suffix", ["usdz", "gltf"])
def test_files_that_name_others_come_back(extension, tmp_path, suffix):
    """They are written elsewhere first; the second time there are old ones to replace."""
    obj = flag()
    obj.pbd.reduce_error = 0.001
    seen = stage(obj)
    rest = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    path, file_format = tmp_path / f"my flag.{suffix}", "USD" if suffix == "usdz" else "GLTF"
    for _ in range(2):
        assert bpy.ops.object.pbd_export(format=file_format, filepath=str(path)) == {"FINISHED"}
        names = sorted(entry.name for entry in tmp_path.iterdir())
        assert names == (["my flag.usdz"] if suffix == "usdz" else ["my flag.bin", "my flag.gltf"])
    back = read_back(extension, path)
    if suffix == "usdz":
        assert off(back, seen) < SHARED
    else:
        points = np.array([point.co for point in back.data.shape_keys.key_blocks[0].points], np.float32)
        assert off(back, seen, -FIRST, counterparts(points, rest)) < 0.001 + SHARED


def test_gltf_of_a_cloth_with_keys_of_its_own(extension, tmp_path):
    obj = keyed_flag()
    obj.pbd.reduce_error = 0.002
    seen = stage(obj)
    go(FIRST)
    before = state(obj)
    rest = np.array([vertex.co for vertex in obj.data.vertices], np.float32)
    assert bpy.ops.object.pbd_export(format="GLTF", filepath=str(tmp_path / "flag.glb")) == {"FINISHED"}
    assert state(obj) == before
    back = read_back(extension, tmp_path / "flag.glb")
    ids = counterparts(np.array([point.co for point in back.data.shape_keys.key_blocks[0].points], np.float32), rest)
    assert off(back, seen, -FIRST, ids) < 0.002 + SHARED


def test_missing_frames_are_simulated_and_the_cache_stays(extension, tmp_path):
    obj = flag()
    seen = stage(obj)
    session = extension.bridge("timeline.session")
    session.clear_cache(bpy.context.scene)
    go(FIRST)
    assert bpy.ops.object.pbd_export(format="ALEMBIC", filepath=str(tmp_path / "flag.abc")) == {"FINISHED"}
    assert session.get(bpy.context.scene).last_frame == LAST
    back = read_back(extension, tmp_path / "flag.abc")
    assert off(back, seen) < SHARED


def test_two_cloths_and_a_body_in_one_file(extension, tmp_path):
    scenes.let_through()
    obj, other, body = flag(), scenes.add_grid("Other", rx=3), scenes.add_grid("Body", pbd=False)
    scenes.add_grid("Elsewhere")
    stage(obj)
    seen = play([obj, other], FIRST, LAST)
    rest = [np.array([vertex.co for vertex in one.data.vertices], np.float32) for one in (obj, other)]
    for one in (other, body):
        one.select_set(True)
    extension.bridge("timeline.session").clear_cache(bpy.context.scene)
    assert bpy.ops.object.pbd_export(format="GLTF", filepath=str(tmp_path / "all.glb")) == {"FINISHED"}
    extension.disable()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / "all.glb"))
    assert {one.name for one in bpy.data.objects if one.type == "MESH"} == {"Flag", "Other", "Body"}
    for place, name in enumerate(("Flag", "Other")):
        back = bpy.data.objects[name]
        points = np.array([point.co for point in back.data.shape_keys.key_blocks[0].points], np.float32)
        ids = counterparts(points, rest[place])
        assert off(back, {frame: [shapes[place]] for frame, shapes in seen.items()}, -FIRST, ids) < 0.005 + SHARED


def test_the_extension_is_that_of_the_format(extension, tmp_path):
    obj = flag()
    bpy.context.scene.frame_end = 2
    obj.select_set(True)
    bpy.ops.object.pbd_export(format="ALEMBIC", filepath=str(tmp_path / "v1.2"))
    bpy.ops.object.pbd_export(format="USD", filepath=str(tmp_path / "flag.abc"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flag.usdc", "v1.2.abc"]


def refusal(**options):
    with pytest.raises(RuntimeError) as raised:
        bpy.ops.object.pbd_export(**options)
    return str(raised.value)


def test_refusals_are_one_sentence_and_change_nothing(tmp_path):
    obj = flag()
    seen = stage(obj)
    before = state(obj)
    assert "Choose a file to export to" in refusal(format="USD", filepath="")
    assert "Save the file first" in refusal(format="GLTF", filepath="//flag.glb")
    (tmp_path / "file").write_text("in the way")
    for file_format in ("ALEMBIC", "USD", "GLTF"):
        said = refusal(format=file_format, filepath=str(tmp_path / "file" / "flag"))
        assert "could not be written" in said and said.strip().count("\n") == 0
    assert state(obj) == before
    go(7)
    assert np.abs(shown(obj) - seen[7][0]).max() < SHARED
    obj.hide_set(True)
    bpy.context.view_layer.objects.active = obj
    assert "'Flag' is hidden: show it" in refusal(format="USD", filepath=str(tmp_path / "flag"))
