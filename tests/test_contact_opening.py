"""What starts too close is pushed apart without being thrown: the opening is no part of the velocity."""

from __future__ import annotations

import numpy as np

from helpers.meshes import grid
from pbd_addon import Body, Material, Plane, Simulation

DT = 1 / 24


def test_layers_that_start_too_close_open_without_speed():
    """Two sheets a third of their distance apart, without gravity, get to their distance and stay there: what opens
    them, at up to 0.5 m/s, leaves no speed but that of their bending."""
    vertices, quads = grid(6, 6, 0.2, 0.2)
    material = Material(self_distance=0.006, damping=0.0)
    low, high = Body(vertices, quads, material), Body(vertices + np.array([0.013, 0.007, 0.002]), quads, material)
    simulation = Simulation([low, high], gravity=(0.0, 0.0, 0.0))
    for _ in range(3):
        simulation.step(DT)
        assert max(np.abs(simulation.velocities(body)).max() for body in (low, high)) < 0.05
    gap = simulation.positions(high)[:, 2].mean() - simulation.positions(low)[:, 2].mean()
    assert 0.0055 < gap < 0.0065


def test_what_starts_below_a_floor_comes_up_without_speed():
    """A sheet below the height that a plane keeps, without gravity, is lifted to it and stays there."""
    vertices, quads = grid(4, 4, 0.2, 0.2)
    body = Body(vertices + np.array([0.0, 0.0, 0.001]), quads, Material(thickness=0.02, damping=0.0))
    simulation = Simulation([body], [Plane()], gravity=(0.0, 0.0, 0.0))
    for _ in range(3):
        simulation.step(DT)
        assert np.abs(simulation.velocities(body)).max() < 1e-3
    np.testing.assert_allclose(simulation.positions(body)[:, 2], 0.02, atol=1e-6)
