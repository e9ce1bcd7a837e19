"""A cloth of 1364 vertices tumbles in a slowly turning barrel (Müller et al. 2007, fig. 9), and nothing gets out."""

from __future__ import annotations

import numpy as np
import pytest

from crossings import crossing_pairs, crossing_pairs_between, is_closed
from meshes import box, circle, grid, prism, turned
from pbd_addon import Body, Collider, Material, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24
RADIUS, LENGTH, SIDES = 0.4, 0.75, 36
TURN = 2.0 * np.pi / 4.0 * DT
"""Of the barrel in a frame, one round in four seconds [rad]."""


def paddles() -> tuple[np.ndarray, np.ndarray]:
    """Four boards along the barrel that stand inwards from its wall, 10 cm high; they reach through it and its ends."""
    board, triangles = box((0.02, LENGTH + 0.04, 0.14))
    board = board + np.array([0.0, 0.0, RADIUS - 0.03])
    vertices = np.concatenate([turned(board, quarter * np.pi / 2, 1) for quarter in range(4)])
    return vertices, np.concatenate([triangles + k * len(board) for k in range(4)])


def test_the_barrel_is_closed_and_faces_out():
    vertices, triangles = prism(circle(RADIUS, SIDES), LENGTH)
    assert is_closed(triangles)
    p, q, r = vertices[triangles].transpose(1, 0, 2)
    area = 0.5 * SIDES * RADIUS**2 * np.sin(2.0 * np.pi / SIDES)
    np.testing.assert_allclose(np.einsum("ij,ij->", p, np.cross(q, r)) / 6.0, area * LENGTH)


def test_cloth_in_a_turning_barrel_stays_inside_and_clear_of_itself():
    """In each of 250 frames: no vertex outside, no crossing of the cloth with itself or with a paddle."""
    barrel, barrel_triangles = prism(circle(RADIUS, SIDES), LENGTH)
    boards, board_triangles = paddles()
    vertices, quads = grid(30, 43, 0.6, 0.86)
    assert len(vertices) == 1364
    # Rolled to an open U, so that it fits in.
    bent = vertices[:, 1] / 0.25
    rolled = np.column_stack([0.25 * np.sin(bent), vertices[:, 0], -0.25 * np.cos(bent)])
    body = Body(rolled, quads, Material(friction=0.5, thickness=0.001, self_distance=0.008), rest_vertices=vertices)
    wall = Collider(barrel, barrel_triangles, 0.002, friction=0.6, inside=True, name="Barrel")
    lifters = Collider(boards, board_triangles, 0.002, friction=0.6, name="Paddles")
    simulation = Simulation([body], [wall, lifters])
    apothem = RADIUS * np.cos(np.pi / SIDES)
    normals = circle(1.0, SIDES)
    normals = turned(np.column_stack([normals[:, 1], np.zeros(SIDES), normals[:, 0]]), np.pi / SIDES, 1)
    highest = []
    for frame in range(1, 251):
        simulation.move_collider(wall, turned(barrel, TURN * frame, 1))
        simulation.move_collider(lifters, turned(boards, TURN * frame, 1))
        simulation.step(DT)
        x = simulation.positions(body)
        assert (x @ turned(normals, TURN * frame, 1).T).max() < apothem, f"out of the wall in frame {frame}"
        assert np.abs(x[:, 1]).max() < 0.5 * LENGTH, f"out of an end in frame {frame}"
        assert len(crossing_pairs(x, body.mesh.triangles)) == 0, f"crossings in frame {frame}"
        ours, theirs = crossing_pairs_between(x, body.mesh.triangles, turned(boards, TURN * frame, 1), board_triangles)
        assert len(ours) + len(theirs) == 0, f"through a paddle in frame {frame}"
        highest.append(x[:, 2].max())
    # The paddles lift it up above the axis and let it fall: it did tumble.
    assert max(highest[60:]) > 0.1
    assert simulation.reports[250].strain_p95 < 0.05
