"""Strings of loose edges in Blender: they bend with the material, their map and its keys."""

import numpy as np
import pytest
import scenes
from scenes import play, shown

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
