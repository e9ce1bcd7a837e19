"""The test meshes are what they say: the physics tests rest on their counts, sides and sizes."""

import numpy as np
import pytest

from meshes import grid, icosphere


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
