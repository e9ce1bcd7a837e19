"""A cloth of 1364 vertices tumbles in a slowly turning barrel (Müller et al. 2007, fig. 9), and nothing gets out."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.figures.folds import LENGTH, RADIUS, SIDES, TURN, circle, paddles, prism, tumble, turned
from helpers.crossings import crossing_pairs, crossing_pairs_between, is_closed

pytestmark = pytest.mark.slow


def test_the_barrel_is_closed_and_faces_out():
    vertices, triangles = prism(circle(RADIUS, SIDES), LENGTH)
    assert is_closed(triangles)
    p, q, r = vertices[triangles].transpose(1, 0, 2)
    area = 0.5 * SIDES * RADIUS**2 * np.sin(2.0 * np.pi / SIDES)
    np.testing.assert_allclose(np.einsum("ij,ij->", p, np.cross(q, r)) / 6.0, area * LENGTH)


def test_cloth_in_a_turning_barrel_stays_inside_and_clear_of_itself():
    """In each frame of a turn: no vertex outside, no crossing of the cloth with itself or with a paddle."""
    apothem = RADIUS * np.cos(np.pi / SIDES)
    normals = circle(1.0, SIDES)
    normals = turned(np.column_stack([normals[:, 1], np.zeros(SIDES), normals[:, 0]]), np.pi / SIDES, 1)
    board_triangles = paddles()[1]
    highest = []
    for frame, seen in enumerate(tumble(96, 30, 43, (0.6, 0.86)), 1):
        x, triangles = seen.simulation.positions(seen.body), seen.body.mesh.triangles
        assert len(x) == 1364
        assert (x @ turned(normals, TURN * frame, 1).T).max() < apothem, f"out of the wall in frame {frame}"
        assert np.abs(x[:, 1]).max() < 0.5 * LENGTH, f"out of an end in frame {frame}"
        assert len(crossing_pairs(x, triangles)) == 0, f"crossings in frame {frame}"
        ours, theirs = crossing_pairs_between(x, triangles, seen.boards, board_triangles)
        assert len(ours) + len(theirs) == 0, f"through a paddle in frame {frame}"
        highest.append(x[:, 2].max())
    # The paddles lift it up above the axis and let it fall: it did tumble.
    assert max(highest[60:]) > 0.1
    assert seen.simulation.reports[96].strain_p95 < 0.05
