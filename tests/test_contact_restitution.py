"""Restitution: what a bounce gives back."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Collider, Material, Simulation

DT = 1 / 24


def patch(height: float, speed: float, restitution: float, gravity: float = 0.0) -> tuple[Simulation, Body]:
    """A small, stiff sheet that flies level at a floor of two triangles at a speed [m/s], from a height [m]."""
    vertices, quads = grid(3, 3, 0.1, 0.1)
    stiff = Material(drag=0.0, damping=0.0, stretch=5e4, compression=5e4, shear=2e4, bend=1e-3, thickness=0.001)
    body = Body(vertices + np.array([0.0, 0.0, height]), quads, stiff)
    floor = Collider(*grid(1, 1, 2.0, 2.0), 0.001, friction=0.0, restitution=restitution)
    simulation = Simulation([body], [floor], gravity=(0.0, 0.0, -gravity))
    simulation.velocities(body)[:, 2] = -speed
    return simulation, body


@pytest.mark.parametrize("speed", [0.5, 5.0])
@pytest.mark.parametrize("restitution", [0.0, 0.9])
def test_a_bounce_gives_back_its_share(restitution, speed):
    """Without gravity, a patch leaves at the restitution times the speed that it came with."""
    simulation, body = patch(0.03, speed, restitution)
    touched = False
    for _ in range(8):
        touched |= simulation.step(DT).contacts > 0
        speeds = simulation.velocities(body)[:, 2]
        if speeds.mean() > -0.5 * speed:
            break
    simulation.step(DT)
    speeds = simulation.velocities(body)[:, 2]
    assert speeds.mean() == pytest.approx(restitution * speed, abs=0.05 * speed)
    assert np.ptp(speeds) < 0.1 * speed
    assert simulation.positions(body)[:, 2].min() > 0.0019


@pytest.mark.newest
def test_a_bouncing_patch_comes_to_rest():
    """Dropped from 10 cm with half of the speed back each time, it lies still after a second and a half."""
    simulation, body = patch(0.102, 0.0, 0.5, gravity=9.81)
    heights = []
    for _ in range(48):
        simulation.step(DT)
        heights.append(simulation.positions(body)[:, 2].mean())
    falling = int(np.argmin(heights[:6]))
    # A quarter of the height; a frame sees it up to 1/48 s off the top, which is 2 mm.
    assert max(heights[falling:]) - 0.002 == pytest.approx(0.025, abs=0.004)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], 0.002, atol=2e-4)
    assert np.abs(simulation.velocities(body)).max() < 5e-3


def test_restitution_may_be_changed_while_it_runs():
    """The floor becomes springy before the sheet arrives."""
    simulation, body = patch(0.2, 2.0, 0.0)
    simulation.step(DT)
    next(iter(simulation._collider_number)).restitution = 0.5
    for _ in range(4):
        simulation.step(DT)
    assert simulation.velocities(body)[:, 2].mean() == pytest.approx(1.0, abs=0.1)
