"""Initial velocity: what is thrown flies on the parabola of its center of mass, and what spins keeps its spin."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from pbd_addon import Body, Material, Simulation

COTTON = dataclasses.replace(Material.preset("Cotton"), drag=0.0, air_normal=0.0, air_tangent=0.0)
"""Without air, which would take momentum."""
THROW, SPIN = np.array([2.0, -1.0, 5.0]), np.array([0.3, 0.2, 4.0])


def center(simulation, body, masses):
    return np.average(simulation.positions(body), axis=0, weights=masses)


@pytest.mark.newest
@pytest.mark.parametrize("steps", [20, 10])
def test_a_thrown_towel_is_where_one_is_that_is_dropped(steps):
    """Its error is that of a fall without the throw, whatever the velocity: stepping is linear in it."""
    vertices, faces = grid(12, 8, 0.6, 0.4)
    thrown, dropped = (
        Simulation([Body(vertices, faces, COTTON, velocity=velocity, angular_velocity=SPIN)], substeps=steps)
        for velocity in (THROW, np.zeros(3))
    )
    masses = thrown.bodies[0].masses()
    start = center(thrown, thrown.bodies[0], masses)
    for frame in range(1, 25):
        thrown.step(1 / 24)
        dropped.step(1 / 24)
        fallen = center(dropped, dropped.bodies[0], masses) - start
        wanted = start + THROW * (frame / 24) + fallen
        np.testing.assert_allclose(center(thrown, thrown.bodies[0], masses), wanted, atol=1e-12)
        np.testing.assert_allclose(fallen[:2], 0.0, atol=1e-12)
    assert fallen[2] == pytest.approx(-9.81 / 2, abs=0.004 if steps == 20 else 0.21)  # of second order, of first


@pytest.mark.newest
def test_a_balloon_keeps_its_spin():
    """Half a turn in half a second: a vertex is then where it should be, but for what BDF2 takes of the spin."""
    vertices, triangles = icosphere(2, 0.15)
    material = dataclasses.replace(Material.preset("Party Balloon"), drag=0.0, air_normal=0.0, air_tangent=0.0)
    body = Body(vertices, triangles, material, angular_velocity=(0.0, 0.0, 2.0 * np.pi))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), self_collision=False)
    for _ in range(12):
        simulation.step(1 / 24)
    x = simulation.positions(body)
    turned = np.arctan2(x[:, 1], x[:, 0]) - np.arctan2(vertices[:, 1], vertices[:, 0])
    off = np.abs(turned % (2.0 * np.pi) - np.pi)[np.hypot(*vertices[:, :2].T) > 0.05]
    assert np.degrees(off.max()) < 2.0


def test_pinned_and_isolated_vertices_do_not_start():
    vertices, faces = grid(4, 4, 1.0, 1.0)
    alone = np.append(vertices, [[3.0, 0.0, 0.0]], axis=0)
    simulation = Simulation([body := Body(alone, faces, pins={0: 1.0, 4: 0.5}, velocity=THROW)])
    moves = (simulation.velocities(body) == THROW).all(axis=1)
    assert np.flatnonzero(~moves).tolist() == [0, len(alone) - 1]
    assert not simulation.velocities(body)[~moves].any()


def test_reset_throws_it_again():
    simulation = Simulation([body := Body(*grid(4, 4, 1.0, 1.0), velocity=THROW)])
    simulation.step(1 / 24)
    once = simulation.positions(body).copy()
    simulation.reset()
    simulation.step(1 / 24)
    np.testing.assert_array_equal(simulation.positions(body), once)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"velocity": (1.0, 2.0)}, "Body: velocity must be three finite numbers"),
        ({"angular_velocity": (0.0, 0.0, np.nan)}, "Body: angular_velocity must be three finite numbers"),
        ({"velocity": (0.0, 2e3, 0.0)}, "Body: a vertex would start at 2000 m/s; lower"),
        ({"angular_velocity": (0.0, 0.0, 2e3)}, "Body: a vertex would start at 1414 m/s; lower"),
    ],
)
def test_a_velocity_that_cannot_be(given, said):
    with pytest.raises(ValueError, match=said):
        Body(*grid(4, 4, 1.0, 1.0), **given)
