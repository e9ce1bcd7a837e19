"""Pins within the distance of a collider: what hangs on them is not thrown."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import box, grid, turned
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.kernels import available, load
from pbd_addon.kernels.protocol.contact import LEVER

NO_PLANES = np.zeros((0, 3)), np.zeros((0, 0)), np.zeros((0, 0))


@pytest.mark.parametrize("name", available())
@pytest.mark.parametrize("share", [0.8, 0.5, 0.1, 1e-3, 1e-6, 0.0])
def test_a_contact_moves_no_particle_far(name, share):
    """A face of which one corner is free, above a fixed vertex: as far as `LEVER` allows, in any number of passes."""
    p = np.array([[0.0, 1.0, 0.0, 0.2], [0.0, 0.0, 1.0, 0.2], [0.0, 0.0, 0.0, 0.0]])
    weights = np.array([[share], [1.0 - share], [0.0], [-1.0]])
    normals, masses = np.array([[0.0], [0.0], [1.0]]), np.array([[2.0], [0.0], [0.0], [0.0]])
    gap, multipliers = np.array([0.01]), np.zeros(1)
    load(name).project_contacts(
        p, np.arange(4)[:, None], weights, normals, masses, gap, gap, np.array([1.3, 1.0]), 200, multipliers, *NO_PLANES
    )
    moved = p[2, 0]
    assert not p[2, 1:].any()
    if share >= 1.0 / LEVER:
        assert share * moved == pytest.approx(0.01)
    else:
        # C + give m = 0 with give = w share / LEVER - w share²
        assert moved == pytest.approx(0.01 * LEVER if share else 0.0, rel=1e-6)
    assert multipliers[0] * 2.0 * share == pytest.approx(moved)


@pytest.mark.newest
def test_what_is_pinned_beside_a_wall_hangs_calmly():
    """The upper rows are pinned a millimeter from it, where three are kept."""
    vertices, quads = grid(9, 9, 0.3, 0.3)
    random = np.random.default_rng(3)
    upright = turned(vertices, np.pi / 2, 0) + random.uniform(-0.006, 0.006, vertices.shape) * [1.0, 0.0, 1.0]
    corners, triangles = box((1.0, 0.2, 1.0), 9)
    corners = corners - np.array([0.0, corners[:, 1].min() - 0.001, 0.0])
    pins = np.flatnonzero(upright[:, 2] > 0.05)
    body = Body(upright, quads, Material(thickness=0.001), pins.tolist())
    simulation = Simulation([body], [Collider(corners, triangles, thickness=0.002)])
    fastest = 0.0
    for _ in range(8):
        simulation.step(1 / 24)
        fastest = max(fastest, np.abs(simulation.velocities(body)).max())
    assert fastest < 0.5
