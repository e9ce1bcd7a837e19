"""A fine mesh follows a coarse one: exact where it is bound, turned and stretched with it, smooth where it is bent."""

import time

import numpy as np
import pytest

from pbd_addon.meshes import grids, proxy
from pbd_addon.meshes.surface_points import nearest_points


def sheet(n, shape=lambda u, v: (u, v, 0.0 * u)):
    """Vertices (n², 3), unit normals and triangles of a sheet over the unit square."""
    u, v = (axis.ravel() for axis in np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n)))
    ids = np.arange(n * n).reshape(n, n)
    a, b, c, d = (part.ravel() for part in (ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]))
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    x = np.column_stack(shape(u, v))
    return x, normals(x, triangles), triangles


def normals(x, triangles):
    p, q, r = x[triangles].transpose(1, 0, 2)
    every = np.zeros_like(x)
    for corner in range(3):
        np.add.at(every, triangles[:, corner], np.cross(q - p, r - p))
    return every / np.linalg.norm(every, axis=1, keepdims=True)


def hills(u, v):
    return u, v, 0.05 * np.sin(9 * u) * np.cos(7 * v) + 0.004 * np.sin(80 * u) * np.sin(80 * v)


def test_points_are_where_they_were_bound():
    x, n, triangles = sheet(9, lambda u, v: (u, v, 0.05 * np.sin(9 * u) * np.cos(7 * v)))
    points = sheet(60, hills)[0]
    found = proxy.follow(proxy.bind(points, x, n, triangles), x, n)
    assert np.abs(found - points).max() < 1e-6  # weights have 32 bits


def test_points_turn_and_move_and_scale_with_it():
    x, n, triangles = sheet(9, lambda u, v: (u, v, 0.05 * np.sin(9 * u) * np.cos(7 * v)))
    points = sheet(40, hills)[0]
    bound = proxy.bind(points, x, n, triangles)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    assert np.abs(proxy.follow(bound, x @ turn.T + 3.0, n @ turn.T) - (points @ turn.T + 3.0)).max() < 2e-6
    wide = [2.0, 1.0, 1.0]
    flat, up, triangles = sheet(9)
    points = sheet(40)[0]
    bound = proxy.bind(points, flat, up, triangles)
    assert np.abs(proxy.follow(bound, flat * wide, up) - points * wide).max() < 1e-6


def test_a_bent_coarse_mesh_shows_no_facets():
    """Around a cylinder of 1/3 m with an edge every 0.3 rad, flat facets would be off by 3.7 mm."""
    flat, up, triangles = sheet(11)
    fine = sheet(101)[0]
    fine[:, 2] += 0.004

    def roll(x, radius=1.0 / 3.0):
        angle, r = x[:, 0] / radius, radius + x[:, 2]
        return np.column_stack([r * np.sin(angle), x[:, 1], r * np.cos(angle)])

    bent = roll(flat)
    found = proxy.follow(proxy.bind(fine, flat, up, triangles), bent, bent * [3.0, 0.0, 3.0])
    assert np.linalg.norm(found - roll(fine), axis=1).max() < 0.00035
    facets = 1.0 / 3.0 * (1.0 - np.cos(0.15))
    assert facets > 0.0037


def test_details_keep_their_height():
    flat, up, triangles = sheet(11)
    fine = sheet(101, lambda u, v: (u, v, 0.01 * np.sin(60 * u)))[0]
    bound = proxy.bind(fine, flat, up, triangles)
    turn = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    found = proxy.follow(bound, flat @ turn.T, up @ turn.T)
    assert np.abs(found - fine @ turn.T).max() < 1e-6
    stretched = proxy.follow(bound, flat * [2.0, 1.0, 1.0], up)
    assert np.ptp(stretched[:, 2]) == pytest.approx(np.ptp(fine[:, 2]), rel=1e-6)


def test_nearest_triangles_of_cells_are_those_of_all():
    x, _, triangles = sheet(15, hills)
    points = np.random.default_rng(2).uniform(-0.2, 1.2, (3000, 3)) * [1, 1, 0.2]
    for found, known in zip(proxy._nearest(points, x, triangles), nearest_points(points, x, triangles)):
        np.testing.assert_allclose(found, known, atol=1e-12)


def test_a_blade_has_no_heights_and_flat_triangles_are_left_out():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [2, 0, 0]])
    n = np.tile([1.0, 0.0, 0.1], (4, 1)) / np.sqrt(1.01)
    bound = proxy.bind(np.array([[0.2, 0.2, 0.1]]), x, n, np.array([[0, 1, 3], [0, 1, 2]]))
    assert not bound.heights.any()
    assert set(bound.corners[0]) == {0, 1, 2}
    found = proxy.follow(bound, x, n)[0]
    np.testing.assert_allclose(found[:2], [0.2, 0.2], atol=1e-6)
    with pytest.raises(ValueError, match="no faces with an area"):
        proxy.bind(x, x, n, np.array([[0, 1, 3]]))
    with pytest.raises(ValueError, match="no faces with an area"):
        proxy.bind(x, x, n, np.zeros((0, 3), int))


@pytest.mark.newest
def test_a_hundred_thousand_points_are_bound_in_seconds():
    x, n, triangles = sheet(46)
    points = sheet(317, hills)[0]
    start = time.process_time()
    proxy.bind(points, x, n, triangles)
    assert time.process_time() - start < 8.0


def quads_of(rows, columns, seed=None):
    """Quads of a grid; with a seed, its vertices, its faces and their first corners in any order."""
    ids = np.arange(rows * columns)
    random = np.random.default_rng(seed)
    ids = (random.permutation(ids) if seed is not None else ids).reshape(rows, columns)
    corners = (ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1])
    quads = np.stack(corners, axis=-1).reshape(-1, 4)
    if seed is not None:
        quads = random.permutation(quads)
        quads = np.array([np.roll(quad, turn) for quad, turn in zip(quads, random.integers(0, 4, len(quads)))])
    return ids, quads


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_a_grid_is_found_however_it_is_numbered(seed):
    ids, quads = quads_of(7, 12, seed)
    grid = grids.rows_and_columns(quads, ids.size)
    turns = [np.rot90(some, k) for some in (ids, ids.T) for k in range(4)]
    assert any(np.array_equal(grid, one) for one in turns)
    coarse = grids.coarser(ids, 20)
    assert coarse.shape == (3, 6)
    np.testing.assert_array_equal(coarse[[0, 0, -1, -1], [0, -1, 0, -1]], ids[[0, 0, -1, -1], [0, -1, 0, -1]])
    assert set(np.diff(np.unique(np.argwhere(np.isin(ids, coarse))[:, 1]))) <= {2, 3}


def test_what_is_no_rectangular_grid_is_none():
    ids, quads = quads_of(5, 6)
    ring = np.concatenate([quads, np.column_stack([ids[:-1, -1], ids[:-1, 0], ids[1:, 0], ids[1:, -1]])])
    flipped = quads.copy()
    flipped[7] = flipped[7, ::-1]
    for some, count in ((quads[:-1], 30), (quads[1:], 30), (ring, 30), (flipped, 30), (quads, 31), (quads[:0], 0)):
        assert grids.rows_and_columns(some, count) is None
