"""The test meshes are what they say: the physics tests rest on their counts, sides and sizes."""

import numpy as np
import pytest

from helpers.meshes import grid, icosphere, jittered_sheet, skirt, uneven_sheet


def test_grid_has_its_size_faces_up_and_ends_with_its_upper_edge():
    vertices, quads = grid(3, 2, 1.5, 1.0)
    assert vertices.shape == (12, 3)
    assert len(quads) == 6
    np.testing.assert_allclose(np.ptp(vertices, axis=0), [1.5, 1.0, 0.0])
    np.testing.assert_allclose(vertices[-4:, 1], 0.5)
    corners = vertices[np.array(quads)]
    normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1]) / 2
    np.testing.assert_allclose(normals, [[0.0, 0.0, 0.25]] * 6)


@pytest.mark.parametrize("subdivisions", [0, 1, 3])
def test_icosphere_is_closed_and_faces_out(subdivisions):
    vertices, triangles = icosphere(subdivisions, 0.5)
    assert vertices.shape == (10 * 4**subdivisions + 2, 3)
    assert triangles.shape == (20 * 4**subdivisions, 3)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), 0.5)
    directed = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)
    assert {tuple(edge) for edge in directed} == {tuple(edge) for edge in directed[:, ::-1]}
    p, q, r = vertices[triangles].transpose(1, 0, 2)
    volume = np.einsum("ij,ij->", p, np.cross(q, r)) / 6
    ball = 4 / 3 * np.pi * 0.5**3
    assert 0.6 * ball < volume < ball
    if subdivisions == 3:
        assert volume == pytest.approx(ball, rel=0.01)


def sheets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {"jittered": jittered_sheet(20, seed=3), "uneven": uneven_sheet(600, seed=3), "skirt": skirt(9, 40)}


@pytest.mark.parametrize("kind", sheets())
def test_unstructured_sheets_are_whole(kind):
    """No triangle is upside down, each inner edge has two, and the areas add up to that of the sheet."""
    vertices, triangles = sheets()[kind]
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    areas = 0.5 * np.cross(b - a, c - a)
    assert areas[:, 2].min() > 0.0
    directed = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)
    edges = np.unique(np.sort(directed, axis=1), axis=0)
    assert len(vertices) - len(edges) + len(triangles) == (0 if kind == "skirt" else 1)
    if kind != "skirt":
        assert areas[:, 2].sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["jittered", "uneven"])
def test_sheets_are_delaunay(kind):
    """No vertex lies in the circle around a triangle."""
    vertices, triangles = sheets()[kind]
    a, b, c = vertices[triangles, :2].transpose(1, 0, 2)
    lengths = ((b - a) ** 2).sum(axis=1), ((c - a) ** 2).sum(axis=1)
    area = 2.0 * ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0])
    to_center = np.column_stack([
        (c - a)[:, 1] * lengths[0] - (b - a)[:, 1] * lengths[1], (b - a)[:, 0] * lengths[1] - (c - a)[:, 0] * lengths[0]
    ]) / area[:, None]  # fmt: skip
    radius = np.linalg.norm(to_center, axis=1)
    nearest = np.linalg.norm(vertices[:, None, :2] - (a + to_center), axis=2).min(axis=0)
    assert (nearest >= radius * (1.0 - 1e-6)).all()


def test_unstructured_sheets_are_repeatable_and_irregular():
    """The same seed gives the same mesh; edges of the uneven one differ more than tenfold."""
    for (vertices, triangles), again in zip(sheets().values(), sheets().values()):
        np.testing.assert_array_equal(vertices, again[0])
        np.testing.assert_array_equal(triangles, again[1])
    assert not np.array_equal(jittered_sheet(20, seed=3)[0], jittered_sheet(20, seed=4)[0])
    vertices, triangles = sheets()["uneven"]
    lengths = np.linalg.norm(vertices[triangles] - vertices[np.roll(triangles, 1, axis=1)], axis=2)
    assert np.percentile(lengths, 99) > 10.0 * np.percentile(lengths, 1)
    assert 450 < len(vertices) < 800
