"""Colliders that leave cloth no place: they overlap where its border hangs. It comes free when they part."""

from __future__ import annotations

import numpy as np
import pytest

from crossings import count_between, crossing_pairs, is_inside
from meshes import grid, icosphere, turned
from pbd_addon import Body, Collider, Material, Simulation

DT = 1 / 24
RADIUS, APART, DEEP = 0.06, 0.04, 0.01
"""Of the balls, how far each stands from the cloth at first, and how deep it goes beyond the cloth's plane [m]."""

PATH = (1.0, 0.5, 0.0, 0.0, 0.0, 0.3, 0.6, 1.0, 1.0, 1.0, 1.0, 1.0)
"""Where the balls are at the end of each frame, from overlapping (0) to apart (1)."""


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
@pytest.mark.parametrize("one_mesh", [True, False], ids=["one mesh", "two colliders"])
def test_cloth_pinched_between_balls_that_overlap_comes_free(one_mesh, kernels):
    if kernels == "numba":
        pytest.importorskip("numba")
    vertices, quads = grid(16, 16, 0.4, 0.4)
    body = Body(turned(vertices, np.pi / 2, 0), quads, Material(), pins=range(17 * 16, 17 * 17))
    ball, faces = icosphere(2, RADIUS)

    def balls(place: float) -> list[np.ndarray]:
        off = RADIUS - DEEP + place * (DEEP + APART)
        return [ball + np.array([0.2, side * off, -0.03]) for side in (-1.0, 1.0)]

    both = np.concatenate([faces, faces + len(ball)])
    if one_mesh:
        colliders = [Collider(np.concatenate(balls(1.0)), both)]
    else:
        colliders = [Collider(each, faces) for each in balls(1.0)]
    simulation = Simulation([body], colliders, kernels=kernels)
    for place in PATH:
        there = balls(place)
        for collider, each in zip(colliders, [np.concatenate(there)] if one_mesh else there):
            simulation.move_collider(collider, each)
        simulation.step(DT)
        x = simulation.positions(body)
        assert not len(crossing_pairs(x, body.mesh.triangles))
        assert np.linalg.norm(simulation.velocities(body), axis=1).max() < 3.0
        assert np.abs(body.edge_strain(x)).max() < 0.4
        if place > 0.5:
            assert not count_between(x, body.mesh.triangles, np.concatenate(there), both)
            assert not any(is_inside(x, each, faces).any() for each in there)
    assert np.abs(body.edge_strain(x)).max() < 0.01
    between = np.linalg.norm(x[:, [0, 2]] - [0.2, -0.03], axis=1) < 0.5 * RADIUS
    assert between.any()
    assert np.abs(x[between, 1]).max() < APART + RADIUS * (1.0 - np.sqrt(0.75))  # not behind a ball
