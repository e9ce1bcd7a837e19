"""The same cloth in the world moves the same, however its object is turned, scaled and parented."""

import math

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix

from helpers import scenes
from helpers.meshes import icosphere
from helpers.scenes import play

pytestmark = pytest.mark.usefixtures("few_substeps")


def matrix_of(location=(0, 0, 0), rotation=(0, 0, 0), scale=(1, 1, 1)):
    return Matrix.LocRotScale(location, Euler(rotation), scale)


TRANSFORMS = {
    "turned": matrix_of((1, 2, 3), (0.4, -1.1, 2.0)),
    "small": matrix_of(scale=(0.1, 0.1, 0.1)),
    "uneven": matrix_of((0, 0, 1), (0, 0.5, 0), (2.0, 0.5, 4.0)),
    "mirrored": matrix_of(scale=(-1, 1, 1)),
    "turned inside out": matrix_of((0, 1, 0), (1, 0, 0), (-2, -0.5, -1)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_cloth_hangs_the_same(extension, name):
    scenes.let_through()
    # Without resistance to compression nothing buckles, so that rounding does not decide where the cloth goes.
    plain, turned = (scenes.add_grid(name, compression=0.0, drag=2.0) for name in ("Plain", "Turned"))
    scenes.pin(plain, [0, 4])
    scenes.pin(turned, [0, 4])
    matrix = TRANSFORMS[name]
    turned.data.transform(matrix.inverted())
    turned.matrix_world = matrix
    seen = play([plain, turned], 1, 16)
    a, b = seen[16]
    assert np.ptp(a[:, 2]) > 0.1
    assert np.allclose(a, b, atol=2e-4), np.abs(a - b).max()


@pytest.mark.parametrize("name", ["mirrored", "turned inside out"])
def test_a_balloon_swells_outwards(extension, name):
    scenes.let_through()
    vertices, faces = icosphere(2, 0.5)
    settings = {"pressure_mode": "OVERPRESSURE", "overpressure": 500.0, "stretch": 2000.0, "drag": 5.0}
    bpy.context.scene.use_gravity = False
    plain = scenes.add_mesh("Plain", vertices, faces, **settings)
    turned = scenes.add_mesh("Turned", vertices, faces, **settings)
    matrix = TRANSFORMS[name]
    turned.data.transform(matrix.inverted())
    if matrix.determinant() < 0:
        turned.data.flip_normals()
    turned.matrix_world = matrix
    a, b = play([plain, turned], 1, 24)[24]
    radius = [np.linalg.norm(x - x.mean(axis=0), axis=1).mean() for x in (a, b)]
    # A membrane of springs: strain = P r / (3 E), as in the physics tests.
    assert radius[0] == pytest.approx(0.5 * (1.0 + 500.0 * 0.522 / (3.0 * 2000.0)), rel=0.01)
    assert radius[1] == pytest.approx(radius[0], rel=1e-2)


def test_a_parent_counts(extension):
    parent = bpy.data.objects.new("Pole", None)
    bpy.context.scene.collection.objects.link(parent)
    obj = scenes.add_grid()
    scenes.pin(obj, [0, 4])
    obj.parent = parent
    parent.rotation_euler.z = 0.0
    parent.keyframe_insert("rotation_euler", frame=1)
    parent.rotation_euler.z = math.pi / 2
    parent.keyframe_insert("rotation_euler", frame=12)
    seen = play([obj], 1, 12)
    ends = np.array([[-0.5, -0.3, 0.0], [0.5, -0.3, 0.0]])
    quarter = np.stack((-ends[:, 1], ends[:, 0], ends[:, 2]), axis=-1)
    assert np.allclose(seen[1][0][[0, 4]], ends, atol=1e-6)
    assert np.allclose(seen[12][0][[0, 4]], quarter, atol=1e-5)


def test_an_unpinned_cloth_does_not_follow_its_object(extension):
    scenes.let_through()
    obj = scenes.add_grid()
    still = scenes.add_grid("Still")
    scenes.animate_location(obj, 1, 10, (3.0, 0.0, 0.0))
    a, b = play([obj, still], 1, 10)[10]
    assert np.allclose(a, b, atol=1e-5)


def test_far_from_the_origin(extension):
    near, far = scenes.add_grid("Near"), scenes.add_grid("Far")
    for obj in (near, far):
        scenes.pin(obj, [0, 4])
    far.location = (1000.0, 0.0, 0.0)
    a, b = play([near, far], 1, 16)[16]
    assert np.allclose(a, b - (1000.0, 0.0, 0.0), atol=1e-3)
