"""Cloth that meets cloth pushes back as hard as it is pushed: nothing else changes the momentum of both."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid, turned
from pbd_addon import Body, Material, Simulation

DT = 1 / 24
FREE = {"drag": 0.0, "damping": 0.0}
DISTANCE = 0.01


def momenta(simulation: Simulation, bodies: list[Body]) -> tuple[np.ndarray, np.ndarray]:
    """Momentum [kg m/s] and angular momentum about the origin [kg m²/s] of each body, (bodies, 3)."""
    linear = [body.masses() @ simulation.velocities(body) for body in bodies]
    angular = [body.masses() @ np.cross(simulation.positions(body), simulation.velocities(body)) for body in bodies]
    return np.array(linear), np.array(angular)


def sheet(cuts: tuple[int, int], place, tilt: float, friction: float, density: float) -> Body:
    vertices, quads = grid(*cuts, 0.5, 0.4)
    material = Material(**FREE, friction=friction, density=density, self_distance=DISTANCE)
    return Body(turned(turned(vertices, tilt, 0), 2.0 * tilt, 2) + place, quads, material)


@pytest.mark.parametrize("friction", [0.0, 0.6])
@pytest.mark.newest
def test_two_sheets_that_collide_keep_their_momentum(friction):
    """A heavy sheet with spin and sideways motion hits a light one that is finer: the sum stays, to rounding.

    Position corrections at w-weighted points conserve the linear momentum exactly. They act along the contact's
    normal (and, with friction, across it) at two points that are the distance h apart, not at one point, so each
    impulse J may leave behind a turning of at most |J| h; the impulses are at least what went from one to the other.
    """
    bodies = [
        sheet((12, 10), (0.0, 0.0, 0.05), 0.05, friction, 0.3),
        sheet((18, 14), (0.06, 0.03, 0.0), -0.04, friction, 0.15),
    ]
    simulation = Simulation(bodies, gravity=(0.0, 0.0, 0.0))
    v = simulation.velocities(bodies[0])
    v[:] = [1.0, 0.5, -3.0]
    v += np.cross([1.0, 0.0, 3.0], bodies[0].vertices)
    linear, angular = momenta(simulation, bodies)
    scale = bodies[0].masses() @ np.linalg.norm(v, axis=1)
    first, last, exchanged, touched = linear, linear, 0.0, 0
    for _ in range(12):
        touched += simulation.step(DT).self_contacts
        now, turning = momenta(simulation, bodies)
        exchanged += np.linalg.norm(now[1] - last[1])
        last = now
        np.testing.assert_allclose(now.sum(axis=0), first.sum(axis=0), rtol=0.0, atol=1e-9 * scale)
        drift = np.linalg.norm(turning.sum(axis=0) - angular.sum(axis=0))
        assert drift <= 2.0 * DISTANCE * exchanged + 1e-9 * scale
    assert touched > 0
    assert exchanged > 0.2 * scale


@pytest.mark.parametrize("friction", [0.0, 0.6])
@pytest.mark.newest
def test_a_sheet_that_claps_onto_itself_keeps_its_momentum(friction):
    """Two halves of one sheet fly at each other like a book that shuts: no push comes from outside."""
    vertices, quads = grid(20, 10, 0.6, 0.3)
    half = 0.9
    folded = vertices.copy()
    folded[:, 0] = np.abs(vertices[:, 0]) * np.sin(half)
    folded[:, 2] = vertices[:, 0] * np.cos(half)
    material = Material(**FREE, friction=friction, self_distance=DISTANCE, bend=1e-6)
    body = Body(folded, quads, material, rest_vertices=vertices)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    v = simulation.velocities(body)
    v[:, 2] = -8.0 * folded[:, 2]
    v[:, 1] = 0.7 * np.sign(folded[:, 2])
    v[:, 0] = 0.3
    (first,), (turning,) = momenta(simulation, [body])
    scale = body.masses() @ np.linalg.norm(v, axis=1)
    # What both halves together can take from each other: all that they bring along, and as much again.
    most = 2.0 * scale
    touched = 0
    for _ in range(12):
        touched += simulation.step(DT).self_contacts
        (now,), (turned_by,) = momenta(simulation, [body])
        np.testing.assert_allclose(now, first, rtol=0.0, atol=1e-9 * scale)
        assert np.linalg.norm(turned_by - turning) <= DISTANCE * most
    assert touched > 0
