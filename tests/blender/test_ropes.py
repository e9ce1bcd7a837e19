"""Strings of loose edges in Blender: they bend with the material, their map and its keys, and lie on colliders."""

import bpy
import numpy as np
import pytest

from helpers import scenes
from helpers.scenes import play, shown

CELLS, LENGTH = 10, 0.1


def add_string(**settings):
    """A pinned square of 2 cm from which a string of paper sticks out along X, with its first edge clamped."""
    square = [[-0.02, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.02, 0.0], [-0.02, 0.02, 0.0]]
    points = [[0.01 * k, 0.0, 0.0] for k in range(1, CELLS + 2)]
    edges = [(k, k + 1) for k in range(4, 4 + CELLS)]
    paper = {"density": 0.08, "bend": 2.7e-4, "drag": 5.0, "damping": 5.0, "stretch": 20000.0}
    obj = scenes.add_mesh("Tag", [*square, *points], [[0, 1, 2, 3]], edges=[(1, 4), *edges], **(paper | settings))
    scenes.pin(obj, range(5))
    scenes.let_through()
    return obj


def depth(obj, frames=40):
    play([obj], 1, frames)
    return -float(shown(obj)[-1, 2])


@pytest.mark.parametrize(("settings", "expected"), [({}, 0.0331), ({"bend": 0.0}, LENGTH)])
def test_a_string_hangs_as_its_bending_says(extension, settings, expected):
    """The elastica of paper of 10 cm, or straight down."""
    assert depth(add_string(**settings)) == pytest.approx(expected, rel=0.05)


def test_the_bending_map_makes_a_string_limp(extension):
    obj = add_string()
    obj.vertex_groups.new(name="Stiff").add([4, 5, 6, 7], 1.0, "REPLACE")
    obj.pbd.bend_group, obj.pbd.bend_low = "Stiff", 0.0
    assert 0.04 < depth(obj) < 0.09


def test_a_string_follows_a_dynamic_mesh(extension):
    """It grows with the object, and hangs as deep as the elastica of its length with half the weight per length."""
    obj = add_string(rest_shape="DYNAMIC")
    obj.scale = 3 * [1.0]
    obj.keyframe_insert("scale", frame=1)
    obj.scale = 3 * [2.0]
    obj.keyframe_insert("scale", frame=10)
    depth_grown = depth(obj, 50)
    points = shown(obj)[4:]
    np.testing.assert_allclose(np.linalg.norm(np.diff(points, axis=0), axis=1), 0.02, rtol=0.01)
    assert depth_grown == pytest.approx(0.1471, rel=0.05)


def add_table():
    """A collider, a square of 3 m at z = 0."""
    corners = [[-1.5, -1.5, 0.0], [1.5, -1.5, 0.0], [1.5, 1.5, 0.0], [-1.5, 1.5, 0.0]]
    table = scenes.add_mesh("Table", corners, [[0, 1, 2, 3]], pbd=False)
    bpy.ops.object.select_all(action="DESELECT")
    table.select_set(True)
    bpy.ops.object.pbd_collider_add()


def add_curve(points):
    """A curve through points that is converted to a mesh, as the menu does it."""
    curve = bpy.data.curves.new("Rope", "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    spline.points.foreach_set("co", np.column_stack([points, np.ones(len(points))]).ravel())
    obj = bpy.data.objects.new("Rope", curve)
    bpy.context.scene.collection.objects.link(obj)
    bpy.ops.object.select_all(action="DESELECT")
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    bpy.ops.object.convert(target="MESH")
    return bpy.context.view_layer.objects.active


@pytest.mark.newest
def test_a_chain_of_edges_lies_on_a_table(extension):
    """From a curve with two points at one place; by the buttons alone, with the settings that they give."""
    add_table()
    way = np.linspace(-1.0, 1.0, 100)
    points = np.column_stack([way, 0.1 * np.sin(4.0 * way), 0.2 + 0.05 * np.cos(7.0 * way)])
    obj = add_curve(np.insert(points, 50, points[50], axis=0))
    assert not len(obj.data.polygons) and len(obj.data.vertices) == 101
    bpy.ops.object.pbd_add(type="CLOTH")
    bpy.ops.object.pbd_doctor_check()
    assert [finding.check for finding in extension.bridge("doctor.doctor").findings(bpy.context.scene)] == ["doubles"]
    play([obj], 1, 30)
    before = shown(obj)
    assert before[:, 2].min() > 0.001 and before[:, 2].max() < 0.006
    play([obj], 31, 40)
    assert np.abs(shown(obj) - before).max() < 0.002
    lengths = np.linalg.norm(np.diff(shown(obj), axis=0), axis=1)
    rest = np.linalg.norm(np.diff(np.insert(points, 50, points[50], axis=0), axis=0), axis=1)
    np.testing.assert_allclose(lengths, rest, rtol=0.01, atol=1e-5)


@pytest.mark.newest
def test_ropes_meet_nothing_where_cloth_is_off(extension):
    """Collisions between cloth can be off: a rope falls through another one, and not through a table."""
    add_table()
    points = [[0.02 * k, 0.0, 0.1] for k in range(-10, 11)]
    below = scenes.add_mesh("Below", points, [], edges=[(k, k + 1) for k in range(20)])
    across = np.array(points)[:, [1, 0, 2]] + [0.0, 0.0, 0.05]
    above = scenes.add_mesh("Above", across, [], edges=[(k, k + 1) for k in range(20)])
    heights = []
    for collisions in ("ACCURATE", "OFF"):
        bpy.context.scene.pbd.collisions = collisions
        bpy.ops.object.pbd_reset()
        play([below, above], 1, 25)
        heights.append(shown(above)[:, 2].max())
    assert heights[0] > 2.0 * heights[1] > 0.0
