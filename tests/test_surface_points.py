"""Points bound to a surface: the nearest place is exact, and they move as the surface does."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from helpers import meshes
from pbd_addon.meshes.surface_points import SurfacePoints, closest_weights, nearest_points


def rotation(axis, angle):
    """Rodrigues' rotation matrix (3, 3)."""
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def sampled_distance(point, corners, steps=60):
    """Distance to the nearest of many places of one triangle: never below the true one."""
    grid = [(i / steps, j / steps) for i, j in itertools.product(range(steps + 1), repeat=2) if i + j <= steps]
    v, w = np.array(grid).T
    places = np.stack([1 - v - w, v, w], axis=1) @ corners
    return np.linalg.norm(places - point, axis=1).min()


def random_surface(random, count=60):
    vertices = random.normal(size=(3 * count, 3))
    return vertices, np.arange(3 * count).reshape(-1, 3)


@pytest.mark.parametrize(
    ("point", "weights"),
    [
        ((0.2, 0.3, 1.0), (0.5, 0.2, 0.3)),
        ((-1.0, -1.0, 0.5), (1, 0, 0)),
        ((3.0, -1.0, 0.0), (0, 1, 0)),
        ((-1.0, 4.0, 0.0), (0, 0, 1)),
        ((0.4, -2.0, 1.0), (0.6, 0.4, 0)),
        ((-1.0, 0.25, 0.0), (0.75, 0, 0.25)),
        ((1.0, 1.0, 0.0), (0, 0.5, 0.5)),
    ],
)
def test_nearest_place_of_one_triangle(point, weights):
    corners = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]])
    assert closest_weights(np.array([point]), corners)[0] == pytest.approx(weights, abs=1e-15)


@pytest.mark.newest
def test_no_sample_of_any_triangle_is_nearer():
    random = np.random.default_rng(5)
    vertices, triangles = random_surface(random)
    points = random.normal(size=(25, 3)) * 1.5
    nearest, weights = nearest_points(points, vertices, triangles)
    assert weights.sum(axis=1) == pytest.approx(np.ones(25))
    assert weights.min() >= 0.0
    for point, triangle, weight in zip(points, nearest, weights):
        found = np.linalg.norm(weight @ vertices[triangles[triangle]] - point)
        sampled = min(sampled_distance(point, vertices[corners]) for corners in triangles)
        assert sampled - 0.1 < found <= sampled + 1e-12


def test_chunks_do_not_matter(monkeypatch):
    random = np.random.default_rng(6)
    vertices, triangles = random_surface(random)
    points = random.normal(size=(40, 3))
    whole = nearest_points(points, vertices, triangles)
    monkeypatch.setattr("pbd_addon.meshes.surface_points.CHUNK", 130)
    parts = nearest_points(points, vertices, triangles)
    assert all(np.array_equal(one, other) for one, other in zip(whole, parts))


def test_bound_points_are_where_they_were():
    random = np.random.default_rng(7)
    vertices, triangles = random_surface(random)
    points = random.normal(size=(40, 3))
    assert np.allclose(SurfacePoints(points, vertices, triangles).follow(vertices), points, atol=1e-13)


def test_points_follow_a_rigid_motion():
    random = np.random.default_rng(8)
    vertices, triangles = random_surface(random)
    points = random.normal(size=(40, 3))
    turn, way = rotation((1, 2, -1), 2.4), np.array([3.0, -1.0, 0.5])
    moved = SurfacePoints(points, vertices, triangles).follow(vertices @ turn.T + way)
    assert np.allclose(moved, points @ turn.T + way, atol=1e-12)


def test_distance_stays_and_the_foot_slides_where_the_surface_stretches():
    vertices, faces = meshes.grid(4, 4, 1.0, 1.0)
    vertices = vertices - vertices.mean(axis=0)
    triangles = np.concatenate([np.asarray(faces)[:, [0, 1, 2]], np.asarray(faces)[:, [0, 2, 3]]])
    points = np.array([[0.11, 0.07, 0.02], [-0.21, 0.13, -0.05]])
    stretched = SurfacePoints(points, vertices, triangles).follow(vertices * [3.0, 0.5, 1.0])
    assert np.allclose(stretched, points * [3.0, 0.5, 1.0], atol=1e-13)


def test_triangles_without_area_are_left_out():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 5], [1, 0, 5], [0, 1, 5]])
    bound = SurfacePoints(np.array([[0.5, 0.1, 0.0]]), vertices, np.array([[0, 1, 2], [3, 4, 5]]))
    assert bound.corners.tolist() == [[3, 4, 5]]
    with pytest.raises(ValueError, match="none of them has an area"):
        SurfacePoints(np.zeros((1, 3)), vertices, np.array([[0, 1, 2]]))


def test_a_collapsing_triangle_gives_finite_points():
    vertices, triangles = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]])
    bound = SurfacePoints(np.array([[0.2, 0.2, 0.5]]), vertices, triangles)
    assert np.allclose(bound.follow(np.zeros((3, 3))), 0.0)
