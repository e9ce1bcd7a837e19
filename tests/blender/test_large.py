"""Half a million vertices: what it will take is said before a window stands still for it."""

import bpy
import pytest

from helpers import scenes


@pytest.fixture(autouse=True)
def numpy_kernels(monkeypatch):
    """What is told depends on them."""
    monkeypatch.setenv("PBD_KERNELS", "numpy")


def add_fine_grid(extension):
    """A plain grid of 700 x 700 vertices, active and selected."""
    mesh = extension.module("operators.primitives").grid_mesh("Fine", 700, 700, 2.0, 2.0)
    obj = bpy.data.objects.new("Fine", mesh)
    bpy.context.scene.collection.objects.link(obj)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


SENTENCE = "490,000 vertices: the first frame takes about 100 s and 2.9 GB of memory, each one after it 8 s or more"


def test_it_is_told_what_half_a_million_vertices_take(extension, capfd):
    scene, expected_cost = bpy.context.scene, extension.bridge("timeline.cost_estimate")
    scene.pbd.collisions = "OFF"
    scenes.add_grid(rx=20, ry=20)
    assert expected_cost.sentence(scene) == ""
    obj = add_fine_grid(extension)
    bpy.data.objects.remove(bpy.data.objects["Flag"])
    assert expected_cost.sentence(scene) == ""
    assert expected_cost.sentence(scene, [obj]) == SENTENCE
    assert bpy.ops.object.pbd_add("INVOKE_DEFAULT") == {"FINISHED"}
    assert SENTENCE in capfd.readouterr().out
    assert expected_cost.sentence(scene) == SENTENCE
    scene.pbd.substeps = 40
    assert expected_cost.sentence(scene).endswith("each one after it 20 s or more")
    obj.pbd.active = False
    assert expected_cost.sentence(scene) == ""


def test_the_time_of_a_frame_decides_not_the_number_of_vertices(extension):
    """Cloth on a floor takes several times as long as cloth that hangs; few substeps take little."""
    scene, expected_cost = bpy.context.scene, extension.bridge("timeline.cost_estimate")
    scenes.add_grid(rx=100, ry=100)
    said = "10,000 vertices: the first frame takes about 2 s and 0.1 GB of memory, each one after it 1 s or more"
    assert scene.pbd.collisions == "ACCURATE" and expected_cost.sentence(scene) == ""
    scene.pbd.use_floor = True
    assert expected_cost.sentence(scene) == said
    scene.pbd.substeps = 4
    assert expected_cost.sentence(scene) == ""
    scene.pbd.substeps, scene.pbd.collisions = 20, "OFF"
    assert expected_cost.sentence(scene) == said


def test_a_fine_primitive_tells_it_too(capfd):
    bpy.ops.mesh.primitive_pbd_cloth_add(rx=230, ry=230)
    said = "52,900 vertices: the first frame takes about 5 s and 0.3 GB of memory, each one after it 1 s or more"
    assert said in capfd.readouterr().out
