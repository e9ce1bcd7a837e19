"""What judges contact is judged first: against brute force by other formulas, and against cases known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import (
    ODD_TURN,
    box_pairs,
    count_between,
    crossing_pairs,
    crossing_pairs_between,
    deepest_penetration,
    distances,
    faces_above,
    is_closed,
    is_inside,
    surface_samples,
    unique_edges,
)
from helpers.meshes import grid, icosphere

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


def halves(quads: list[list[int]]) -> np.ndarray:
    """Both triangles of every quad, (t, 3)."""
    a, b, c, d = np.array(quads).T
    return np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])


def sheet(n: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    vertices, quads = grid(n, n, width, width)
    return vertices, halves(quads)


def cube(size: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed cube around the origin that faces out."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.5 * size
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    return corners, halves(quads)


def brute_force(x, edges, y, triangles, one_mesh):
    """The same pairs from p + t (q - p) = a + u (b - a) + v (c - a), solved for every pair by itself."""
    pairs = []
    for e, (p, q) in enumerate(edges):
        for f, (a, b, c) in enumerate(triangles):
            if one_mesh and {p, q} & {a, b, c}:
                continue
            matrix = np.column_stack([x[q] - x[p], y[a] - y[b], y[a] - y[c]])
            if abs(np.linalg.det(matrix)) < 1e-30:
                continue
            t, u, v = np.linalg.solve(matrix, y[a] - x[p])
            if 0.0 < t < 1.0 and u > 0.0 and v > 0.0 and u + v < 1.0:
                pairs.append((e, f))
    return np.array(pairs, int).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("flatness", [1.0, 0.01])
def test_tangles_are_counted_as_by_brute_force(seed, flatness):
    """Random triangle soups and crumpled sheets, round and flat as a pile."""
    rng = np.random.default_rng(seed)
    vertices, triangles = sheet(6, 1.0)
    crumpled = rng.normal(0.0, 0.2, vertices.shape) * [1.0, 1.0, flatness]
    edges = unique_edges(triangles)
    expected = brute_force(crumpled, edges, crumpled, triangles, True)
    assert len(expected) > 50
    np.testing.assert_array_equal(crossing_pairs(crumpled, triangles), expected)
    some = edges[rng.permutation(len(edges))[:30]]
    np.testing.assert_array_equal(
        crossing_pairs(crumpled, triangles, some), brute_force(crumpled, some, crumpled, triangles, True)
    )


@pytest.mark.parametrize("seed", range(4))
def test_meshes_of_unlike_size_are_counted_as_by_brute_force(seed):
    """A crumpled sheet in a coarse cube that is many times as large as its faces, both ways."""
    rng = np.random.default_rng(seed)
    vertices, triangles = sheet(8, 0.5)
    cloth = vertices @ ODD_TURN + rng.normal(0.0, 0.02, vertices.shape) + rng.normal(0.0, 0.2, 3)
    box, box_triangles = cube(0.6)
    box = box @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    ours, theirs = crossing_pairs_between(cloth, triangles, box, box_triangles)
    edges, box_edges = unique_edges(triangles), unique_edges(box_triangles)
    np.testing.assert_array_equal(ours, brute_force(cloth, edges, box, box_triangles, False))
    np.testing.assert_array_equal(theirs, brute_force(box, box_edges, cloth, triangles, False))
    assert count_between(cloth, triangles, box, box_triangles) == len(ours) + len(theirs)
    assert len(ours) > 0


@pytest.mark.parametrize("shift", [0.0, 1000.0])
@pytest.mark.parametrize(
    ("p", "q", "expected"),
    [
        ((0.25, 0.25, -1.0), (0.25, 0.25, 1.0), 1),
        ((0.25, 0.25, 1.0), (0.25, 0.25, -1.0), 1),
        ((0.25, 0.25, 0.0), (0.25, 0.25, 1.0), 0),  # ends on the face
        ((0.25, 0.25, 0.5), (0.25, 0.25, 1.0), 0),  # ends above it
        ((0.5, -1.0, -1.0), (0.5, 1.0, 1.0), 0),  # over the side, without entering
        ((0.5, 0.0, -1.0), (0.5, 0.0, 1.0), 0),  # through the side
        ((0.0, 0.0, -1.0), (0.0, 0.0, 1.0), 0),  # through a corner
        ((-1.0, 0.25, 0.0), (2.0, 0.25, 0.0), 0),  # in the plane of the face
        ((0.5, -0.0009765625, -1.0), (0.5, -0.0009765625, 1.0), 0),  # just beside it
        ((0.5, 0.0009765625, -1.0), (0.5, 0.0009765625, 1.0), 1),  # just within
        ((2.0, 2.0, -1.0), (2.0, 2.0, 1.0), 0),
        ((0.25, 0.25, 0.0009765625), (1.75, 0.25, -0.0009765625), 0),  # grazes along, leaves before it is through
        ((0.25, 0.25, 0.0009765625), (0.375, 0.25, -0.0009765625), 1),  # dips through at a slant
    ],
)
def test_touching_is_not_crossing(p, q, expected, shift):
    """One edge and one face, all placed on numbers that a float64 holds exactly."""
    x = np.concatenate([TRIANGLE, [p, q]]) + shift
    assert len(crossing_pairs(x, [[0, 1, 2]], [[3, 4]])) == expected
    turned = x[:, [1, 2, 0]]
    assert len(crossing_pairs(turned, [[0, 2, 1]], [[4, 3]])) == expected


def test_neighbors_do_not_cross():
    """An edge and a face with a common vertex are left out, however a sheet is folded."""
    x = np.concatenate([TRIANGLE, [[0.25, 0.25, 1.0]]])
    assert len(crossing_pairs(x, [[0, 1, 2]], [[0, 3]])) == 0
    vertices, triangles = sheet(5, 1.0)
    assert len(crossing_pairs(vertices, triangles)) == 0
    folded = vertices.copy()
    folded[:, 2], folded[:, 0] = np.abs(folded[:, 0]) * 0.01, np.abs(folded[:, 0])
    assert len(crossing_pairs(folded, triangles)) == 0


def test_layers_that_lie_on_each_other_do_not_cross():
    """Two sheets in one plane, or one rounding error apart, touch."""
    vertices, triangles = sheet(5, 1.0)
    x = np.concatenate([vertices, np.roll(vertices, 1, axis=1)[:, [1, 2, 0]] * 0.9])
    both = np.concatenate([triangles, triangles + len(vertices)])
    assert len(crossing_pairs(x, both)) == 0
    assert len(crossing_pairs(x @ ODD_TURN, both)) == 0


def test_nothing_has_no_crossings():
    """No faces, no edges, and meshes far apart."""
    vertices, triangles = sheet(2, 1.0)
    assert crossing_pairs(vertices, np.zeros((0, 3), int)).shape == (0, 2)
    assert crossing_pairs(vertices, triangles, np.zeros((0, 2), int)).shape == (0, 2)
    assert count_between(vertices, triangles, vertices + 5.0, triangles) == 0


@pytest.mark.parametrize("seed", range(5))
def test_every_pair_of_boxes_is_found_once(seed):
    """Boxes of all sizes, some of them flat, against every pair tried."""
    rng = np.random.default_rng(seed)
    sizes = (np.exp(rng.normal(-2.0, 1.5, (count, 1))) * rng.uniform(0.0, 1.0, (count, 3)) for count in (150, 90))
    (low, high), (other_low, other_high) = (
        (low, low + size) for size in sizes for low in [rng.normal(size=size.shape)]
    )
    found = np.concatenate([np.column_stack(pair) for pair in box_pairs(low, high, other_low, other_high)])
    overlap = ((low[:, None] <= other_high) & (high[:, None] >= other_low)).all(axis=2)
    np.testing.assert_array_equal(found[np.lexsort(found.T[::-1])], np.argwhere(overlap))


def pile() -> tuple[np.ndarray, np.ndarray]:
    """A sheet of 8192 triangles, folded to six layers of 3 mm and jumbled."""
    vertices, triangles = sheet(64, 1.0)
    layer = np.floor((vertices[:, 0] + 0.5) * 6.0 - 1e-9)
    along = (vertices[:, 0] + 0.5) * 6.0 - layer
    x = np.where(layer % 2 == 0, along, 1.0 - along) / 6.0
    folded = np.column_stack([x, vertices[:, 1], 0.003 * layer])
    return folded + np.random.default_rng(0).normal(0.0, 0.001, folded.shape), triangles


def test_the_search_in_a_pile_is_short():
    """Of 12416 x 8192 pairs, few get to the exact test: this is what keeps it under a second."""
    x, triangles = pile()
    ends, corners = x[unique_edges(triangles)], x[triangles]
    boxes = (ends.min(axis=1), ends.max(axis=1), corners.min(axis=1), corners.max(axis=1))
    assert sum(len(i) for i, _ in box_pairs(*boxes)) < 30 * len(ends)
    assert len(crossing_pairs(x, triangles)) > 100


def test_a_closed_mesh_is_told_from_an_open_one():
    triangles = cube(1.0)[1]
    assert is_closed(triangles)
    assert not is_closed(triangles[1:])
    assert not is_closed(np.concatenate([triangles[:1, ::-1], triangles[1:]]))
    with pytest.raises(ValueError, match="closed"):
        is_inside(np.zeros((1, 3)), *sheet(1, 1.0))


@pytest.mark.parametrize("flip", [False, True])
def test_inside_of_a_cube_and_of_a_ball(flip):
    """By the largest coordinate, and by the planes of the faces of a convex mesh; whichever way the faces look."""
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (3000, 3))
    corners, triangles = cube(1.0)
    np.testing.assert_array_equal(
        is_inside(points, corners, triangles[:, ::-1] if flip else triangles), np.abs(points).max(axis=1) < 0.5
    )
    ball, triangles = icosphere(2, 0.8)
    np.testing.assert_array_equal(
        is_inside(points, ball, triangles[:, ::-1] if flip else triangles), depth_in_convex(points, ball, triangles) > 0
    )


def depth_in_convex(points: np.ndarray, x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Distance to the surface of a convex mesh that faces out, below 0 outside: the nearest of its planes."""
    a, b, c = x[triangles].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return (np.einsum("ij,ij->i", normals, a) - points @ normals.T).min(axis=1)


def test_the_way_up_is_seen():
    """Under a sheet there is a face above, over it there is none; in a cube one, below it two, which cancel."""
    vertices, triangles = sheet(4, 1.0)
    up = np.array([0.0, 0.0, 1.0])
    points = np.array([[0.1, 0.23, -0.2], [0.1, 0.23, 0.2], [0.7, 0.0, -0.2]])
    for flipped in (triangles, triangles[:, ::-1]):
        assert faces_above(points, vertices, flipped, up)[0].tolist() == [1, 0, 0]
    counts, signed = faces_above(points * [1, 1, 4], *cube(1.0), up)
    assert (counts.tolist(), signed.tolist()) == ([2, 0, 0], [0, 0, 0])
    counts, signed = faces_above(points, *cube(1.0), up)
    assert (counts.tolist(), signed.tolist()) == ([1, 1, 0], [1, 1, 0])
    assert faces_above(points, *cube(1.0), -up)[1].tolist() == [1, 1, 0]


def test_distances_are_those_of_the_nearest_point():
    """Over the face, beside each side and beyond each corner of one triangle; and around a cube."""
    points = np.array([
        [0.25, 0.25, 0.5], [0.25, 0.25, -0.5], [0.5, -1.0, 0.0], [-3.0, 0.5, 4.0], [1.0, 1.0, 0.0],
        [-3.0, -4.0, 0.0], [4.0, -4.0, 0.0], [0.0, 2.0, 0.0],
    ])  # fmt: skip
    expected = [0.5, 0.5, 1.0, 5.0, np.sqrt(0.5), 5.0, 5.0, 1.0]
    np.testing.assert_allclose(distances(points, TRIANGLE, [[0, 1, 2]]), expected)
    around = np.random.default_rng(1).uniform(-1.0, 1.0, (500, 3))
    outside = np.linalg.norm(np.maximum(np.abs(around) - 0.5, 0.0), axis=1)
    within = 0.5 - np.abs(around).max(axis=1)
    np.testing.assert_allclose(distances(around, *cube(1.0)), np.where(within > 0.0, within, outside), atol=1e-12)


def test_samples_cover_a_mesh():
    """Vertices, edges and seven points in each face; all of them on the mesh."""
    vertices, triangles = sheet(3, 1.0)
    loose = np.concatenate([vertices, [[9.0, 9.0, 9.0]]])  # a vertex without a face is no part of the surface
    points = surface_samples(loose, triangles)
    assert len(points) == len(vertices) + len(unique_edges(triangles)) + 7 * len(triangles)
    np.testing.assert_allclose(distances(points, vertices, triangles), 0.0, atol=1e-12)


@pytest.mark.parametrize("depth", [0.0, 0.001, 0.05, 0.3])
@pytest.mark.parametrize("turn", [np.eye(3), ODD_TURN])
def test_depth_in_a_cube_is_exact(depth, turn):
    """A sheet that dips into the top of a cube is as deep in it as it dips; one that lies on top is not in it."""
    vertices, triangles = sheet(5, 0.3)
    corners, faces = cube(1.0)
    cloth = vertices + np.array([0.01, 0.02, 0.5 - depth + (1e-9 if depth == 0.0 else 0.0)])
    found = deepest_penetration(cloth @ turn, triangles, corners @ turn, faces)
    assert found == pytest.approx(depth, abs=1e-12)


@pytest.mark.parametrize("height", [0.0, 0.2, 0.45, 0.6])
def test_depth_in_a_ball_is_exact(height):
    """A sheet across a ball of flat faces: the deepest sample by the planes of the faces, and about R - height."""
    ball, faces = icosphere(3, 0.5)
    vertices, triangles = sheet(7, 1.4)
    cloth = vertices + np.array([0.013, 0.007, height])
    expected = max(depth_in_convex(surface_samples(cloth, triangles), ball, faces).max(), 0.0)
    found = deepest_penetration(cloth, triangles, ball, faces)
    assert found == pytest.approx(expected, abs=1e-12)
    assert found == pytest.approx(max(0.5 - height, 0.0), abs=0.02)


def test_a_point_of_a_solid_that_dips_into_a_face_is_seen_by_crossings():
    """A thin spike between the samples of a coarse sheet is not deep in it by samples, but it crosses."""
    vertices, triangles = sheet(1, 1.0)
    spike = np.array([[-0.01, -0.01, -1.0], [0.01, -0.01, -1.0], [0.0, 0.01, -1.0], [0.0, 0.0, 0.3]]) + np.array(
        [0.1, 0.2, 0.0]
    )
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    assert is_closed(faces)
    assert deepest_penetration(vertices, triangles, spike, faces) == 0.0
    ours, theirs = crossing_pairs_between(vertices, triangles, spike, faces)
    assert (len(ours), len(theirs)) == (0, 3)
