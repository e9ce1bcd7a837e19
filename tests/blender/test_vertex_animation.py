"""Vertex animation textures, read as an engine's shader reads them: pixels by texture coordinates, the mesh moved."""

import json

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.bakes import FIRST, LAST, flag, run
from helpers.exports import counterparts
from helpers.scenes import go

pytestmark = pytest.mark.usefixtures("few_substeps")

MATRICES = {
    "UNREAL": 100.0 * np.array([[1, 0, 0], [0, -1, 0], [0, 0, 1.0]]),
    "UNITY": np.array([[-1, 0, 0], [0, 0, 1.0], [0, -1, 0]]),
    "GODOT": np.array([[1, 0, 0], [0, 0, 1.0], [0, -1, 0]]),
}
"""What an importer makes of our axes, written down a second time."""


def local(obj):
    """The shown vertices in object space, and their normals."""
    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    places, normals = (np.empty(3 * len(mesh.vertices), np.float32) for _ in range(2))
    mesh.vertices.foreach_get("co", places)
    mesh.vertex_normals.foreach_get("vector", normals)
    return places.reshape(-1, 3), normals.reshape(-1, 3)


def stage():
    """A flag with a UV map whose seam splits vertices, selected alone, and its frames."""
    scene, obj = bpy.context.scene, flag()
    scene.frame_start, scene.frame_end = FIRST, LAST
    layer = obj.data.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", np.random.default_rng(1).uniform(size=2 * len(obj.data.loops)).astype(np.float32))
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    seen = []
    for frame in range(FIRST, LAST + 1):
        go(frame)
        seen.append(local(obj))
    return obj, seen


def picture(path):
    """The pixels of a file, (height, width, 3), from the top, as Blender reads them."""
    image = bpy.data.images.load(str(path))
    image.colorspace_settings.name = "Non-Color"
    found = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(found)
    return found.reshape(image.size[1], image.size[0], 4)[::-1, :, :3]


def played(folder, told, what):
    """The values that a shader would read: (frames, vertices, 3), of the vertices of the imported mesh."""
    (described,) = told["objects"]
    mesh = bpy.data.objects[described["node"]].data
    layer = mesh.uv_layers[described["uv_index"]]
    uv, corners = np.empty(2 * len(mesh.loops), np.float32), np.empty(len(mesh.loops), np.int32)
    layer.data.foreach_get("uv", uv)
    mesh.loops.foreach_get("vertex_index", corners)
    u, v = uv.reshape(-1, 2).T
    is_up = told["engine"] == "UNITY"
    said = described[what]
    pixels = picture(folder / said["file"])
    assert pixels.shape[:2] == (described["height"], described["width"])
    frames = []
    for frame in range(told["frames"]):
        at = (v if is_up else 1.0 - v) + frame * described["frame_step_v"]
        row = np.floor((1.0 - at if is_up else at) * described["height"]).astype(int)
        read = pixels[row, np.floor(u * described["width"]).astype(int)]
        found = np.empty((len(mesh.vertices), 3))
        found[corners] = said["min"] + read * np.array(said["size"])
        assert np.allclose(found[corners], said["min"] + read * np.array(said["size"]), atol=1e-6)  # at all corners
        frames.append(found)
    places = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", places)
    return np.array(frames), places.reshape(-1, 3)


@pytest.mark.parametrize(
    ("engine", "texture"), [("UNREAL", "EXR"), ("UNITY", "EXR"), ("GODOT", "EXR"), ("UNITY", "PNG"), ("UNREAL", "PNG")]
)
def test_the_textures_move_the_mesh(extension, tmp_path, engine, texture):
    _obj, seen = stage()
    operator = bpy.ops.object.pbd_export_vertex_animation
    assert operator(filepath=str(tmp_path / "flag"), engine=engine, texture=texture) == {"FINISHED"}
    suffix = texture.lower()
    written = ["flag.glb", "flag.json", f"flag_normal.{suffix}", f"flag_position.{suffix}"]
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    told = json.loads((tmp_path / "flag.json").read_text())
    assert (told["engine"], told["frames"], told["fps"], told["loop"]) == (engine, LAST, 24.0, False)
    extension.disable()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.import_scene.gltf(filepath=str(tmp_path / told["mesh"]))
    matrix = MATRICES[engine]
    moves, base = played(tmp_path, told, "position")
    normals, _base = played(tmp_path, told, "normal")
    ids = counterparts(base, seen[0][0])
    assert len(ids) > len(seen[0][0])  # the seam has split vertices
    meter = 100.0 if engine == "UNREAL" else 1.0
    step = max(told["objects"][0]["position"]["size"]) / 65535 if texture == "PNG" else 0.0
    for frame, (places, up) in enumerate(seen):
        there = base @ matrix.T + moves[frame]
        assert np.abs(there - places[ids] @ matrix.T).max() < step + 1e-5 * meter, frame
        assert np.abs(normals[frame] - up[ids] @ matrix.T / meter).max() < 1e-3, frame
    limits = told["objects"][0]["bounds"]
    every = np.array([places @ matrix.T for places, _up in seen])
    assert np.allclose([limits["min"], limits["max"]], [every.min(axis=(0, 1)), every.max(axis=(0, 1))], atol=1e-4)


def test_a_loop_leaves_out_the_frame_that_repeats_the_first(extension, tmp_path):
    obj, _seen = stage()
    pbd = bpy.context.scene.pbd
    pbd.use_loop, pbd.loop_fade, pbd.loop_length, pbd.loop_gap = True, 3, 8, 10.0
    run(extension.bridge("baking.bake"), [obj], "ABSOLUTE")
    assert bpy.ops.object.pbd_export_vertex_animation(filepath=str(tmp_path / "flag.json")) == {"FINISHED"}
    told = json.loads((tmp_path / "flag.json").read_text())
    assert told["loop"] and told["frames"] == told["objects"][0]["height"] == 8


def test_two_objects_in_one_mesh_file_and_nothing_is_left(tmp_path):
    scenes.let_through()
    obj, _seen = stage()
    other = scenes.add_grid("The Other", rx=3)
    for one in (obj, other):
        one.select_set(True)
    kinds = ("objects", "meshes", "images", "actions")
    before = {kind: sorted(item.name for item in getattr(bpy.data, kind)) for kind in kinds}
    assert bpy.ops.object.pbd_export_vertex_animation(filepath=str(tmp_path / "both.json")) == {"FINISHED"}
    assert {kind: sorted(item.name for item in getattr(bpy.data, kind)) for kind in kinds} == before
    assert sorted(one.name for one in bpy.context.selected_objects) == ["Flag", "The Other"]
    told = json.loads((tmp_path / "both.json").read_text())
    assert {one["name"]: one["vertices"] for one in told["objects"]} == {"Flag": 20, "The Other": 12}
    files = {one[what]["file"] for one in told["objects"] for what in ("position", "normal")}
    assert {path.name for path in tmp_path.iterdir()} == files | {"both.json", "both.glb"}


def test_refusals_write_nothing(extension, tmp_path):
    obj, _seen = stage()

    def refusal(**options):
        with pytest.raises(RuntimeError) as raised:
            bpy.ops.object.pbd_export_vertex_animation(**options)
        assert not list(tmp_path.glob("flag*"))
        return str(raised.value)

    path = str(tmp_path / "flag.json")
    assert "Choose a file to export to" in refusal(filepath="")
    assert "Save the file first" in refusal(filepath="//flag.json")
    (tmp_path / "file").write_text("in the way")
    assert "could not be written" in refusal(filepath=str(tmp_path / "file" / "flag.json"))
    bpy.context.scene.frame_end = 9000
    assert "'Flag': 20 vertices in 9000 frames take a texture of 20 x 9000 pixels" in refusal(filepath=path)
    bpy.context.scene.frame_end = LAST
    for number in range(7):
        obj.data.uv_layers.new(name=f"Other {number}")
    assert "'Flag' has 8 UV maps, as many as Blender holds: remove one" in refusal(filepath=path)
