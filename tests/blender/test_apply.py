"""Apply Shape after settling, after a hand was at work and with the heat map on; every result in one undo step."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import go, play, shown

pytestmark = pytest.mark.usefixtures("few_substeps")

OURS = {"pbd_strain", "pbd_pin_offset"}


@pytest.fixture
def cloth(extension):
    """A settled curtain at frame 4, colored, with a pin that a hand has left."""
    scene = bpy.context.scene
    scene.pbd.substeps = 6
    scene.pbd.collisions = "OFF"
    obj = scenes.add_grid(rx=6, ry=6, width=0.5, height=0.5, drag=3.0)
    scenes.pin(obj, range(30, 36))
    scene.pbd.settle = 20
    play([obj], 1, 4)
    bpy.ops.object.pbd_heat_map(kind="STRAIN")
    depsgraph = bpy.context.evaluated_depsgraph_get()
    hand = extension.bridge("timeline.grab").GrabSession(scene, depsgraph)
    place = shown(obj)[8].astype(float)
    origin, direction = place + np.array([0.0, -1.0, 0.3]), np.array([0.0, 1.0, -0.3])
    assert hand.take(scene, origin, direction, 0.12)
    for share in np.linspace(0.0, 0.2, 8):
        hand.move(origin + np.array([share, 0.0, 0.0]), direction)
        hand.rest(scene, depsgraph)
    assert hand.let_go(scene, pin=True) > 0
    hand.finish(scene)
    obj.select_set(True)
    bpy.ops.ed.undo_push(message="Before")
    return obj


def key_names(obj):
    keys = obj.data.shape_keys
    return [block.name for block in keys.key_blocks] if keys else []


def test_base(cloth):
    seen, before = shown(cloth), np.array([vertex.co for vertex in cloth.data.vertices])
    assert OURS <= set(cloth.data.attributes.keys())
    bpy.context.scene.pbd.settle = 0
    assert bpy.ops.object.pbd_apply(result="BASE") == {"FINISHED"}
    assert np.allclose(shown(cloth), seen, atol=1e-5)
    assert "pbd_pin_offset" not in cloth.data.attributes
    go(2)
    held = [vertex.index for vertex in cloth.data.vertices if vertex.groups]
    assert np.allclose(shown(cloth)[held], seen[held], atol=1e-5)
    bpy.ops.ed.undo_push(message="Applied")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Flag"]
    assert np.array_equal([vertex.co for vertex in obj.data.vertices], before)
    assert "pbd_pin_offset" in obj.data.attributes


def test_shape_key(cloth):
    seen, names = shown(cloth), key_names(cloth)
    assert bpy.ops.object.pbd_apply(result="SHAPE_KEY") == {"FINISHED"}
    assert key_names(cloth) == [*names, "PBD Shape"]
    kept = np.array([point.co for point in cloth.data.shape_keys.key_blocks["PBD Shape"].points])
    assert np.allclose(kept, seen, atol=1e-5)
    assert np.allclose(shown(cloth), seen, atol=1e-6)
    bpy.ops.ed.undo_push(message="Applied")
    bpy.ops.ed.undo()
    assert key_names(bpy.data.objects["Flag"]) == names


def test_new_mesh(cloth):
    seen = shown(cloth)
    assert bpy.ops.object.pbd_apply(result="MESH") == {"FINISHED"}
    copy = bpy.context.view_layer.objects.active
    assert copy != cloth
    assert np.allclose(shown(copy), seen, atol=1e-5)
    assert not OURS & set(copy.data.attributes.keys())
    assert not copy.pbd.enabled
    assert OURS <= set(cloth.data.attributes.keys())
    go(5)
    assert np.allclose(shown(copy), seen, atol=1e-5)
    bpy.ops.ed.undo_push(message="Applied")
    bpy.ops.ed.undo()
    assert [obj.name for obj in bpy.data.objects] == ["Flag"]


@pytest.mark.parametrize("rigged", [False, True])
@pytest.mark.parametrize("mode", ["MESH_CACHE", "ABSOLUTE"])
def test_new_mesh_of_a_bake(extension, tmp_path, mode, rigged):
    scene = bpy.context.scene
    scene.frame_end, scene.pbd.bake_folder = 6, str(tmp_path)
    obj = scenes.add_grid(rx=6, ry=6, width=0.5, height=0.5)
    if mode == "MESH_CACHE":
        obj.shape_key_add(name="Basis")
        obj.shape_key_add(name="Mine").value = 0.5
    if rigged:
        lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
        scene.collection.objects.link(lattice)
        lattice.location.x = 0.1
        obj.modifiers.new("Lattice", "LATTICE").object = lattice
    obj.modifiers.new("Finer", "SUBSURF").levels = 1
    assert bpy.ops.object.pbd_bake(mode=mode) == {"FINISHED"}
    go(4, 0.5)
    seen = shown(obj)
    assert bpy.ops.object.pbd_apply(result="MESH") == {"FINISHED"}
    copy = bpy.context.view_layer.objects.active
    assert copy != obj and [modifier.name for modifier in copy.modifiers] == ["Finer"]
    assert copy.modifiers["Finer"].show_viewport and copy.data.shape_keys is None
    for frame in (4, 6):
        go(frame)
        assert np.abs(shown(copy) - seen).max() < 1e-6, frame
    assert np.abs(shown(obj) - seen).max() > 1e-3


def test_new_mesh_of_a_bake_whose_file_is_gone(tmp_path):
    bpy.context.scene.frame_end, bpy.context.scene.pbd.bake_folder = 3, str(tmp_path)
    scenes.add_grid()
    bpy.ops.object.pbd_bake(mode="MESH_CACHE")
    next(tmp_path.iterdir()).unlink()
    with pytest.raises(RuntimeError, match="The file of the bake of 'Flag' cannot be read: No such file"):
        bpy.ops.object.pbd_apply(result="MESH")
    assert [one.name for one in bpy.data.objects] == ["Flag"]
