"""Foil that is blown up from flat sheets: calm, hardly stretched, and of the shape that is known for it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.shapes import flat_discs
from pbd_addon import Body, Material, Simulation

pytestmark = pytest.mark.usefixtures("fastest_kernels")

RADIUS = 0.225
"""Of the discs [m]: a usual foil balloon."""

MYLAR = 1.2185
"""Volume over the cube of the discs' radius of skin that does not stretch and folds freely (Paulsen 1994)."""


def foil(pascals: float, rings: int = 9, **settings) -> tuple[Body, Simulation]:
    """Two discs of foil, weightless, with a pressure."""
    material = Material.preset("Foil Balloon")
    material = dataclasses.replace(material, pressure_mode="OVERPRESSURE", overpressure=pascals)
    body = Body(*flat_discs(rings, RADIUS), material)
    return body, Simulation([body], gravity=(0.0, 0.0, 0.0), **settings)


def speed(body: Body, simulation: Simulation) -> float:
    """Root mean square of the velocities [m/s]."""
    return float(np.sqrt((simulation.velocities(body) ** 2).sum(axis=1).mean()))


def run(simulation: Simulation, frames: int) -> None:
    """Make frames."""
    for _ in range(frames):
        simulation.step(1.0 / 24.0)


@pytest.mark.parametrize("pascals", [50.0, 300.0, 1500.0])
def test_two_discs_become_a_mylar_balloon(pascals):
    """After 2 s they move by less than 1 cm/s, their mean strain is below 0.6 %, and their volume up to a tenth below
    that of a skin that folds as finely as it wants; a fifth at 50 Pa, which hardly bends edges of 25 mm."""
    body, simulation = foil(pascals, self_collision=False)
    run(simulation, 48)
    x = simulation.positions(body)
    assert speed(body, simulation) < 0.01
    assert np.abs(body.edge_strain(x)).mean() < 0.006
    assert (0.8 if pascals < 100.0 else 0.9) * MYLAR < body.volume(x) / RADIUS**3 < 1.02 * MYLAR


@pytest.mark.newest
def test_foil_that_meets_itself_does_not_begin_to_turn():
    """Contact at its crimps takes no momentum from nothing: after a second it rests, and turns by less than 2 mm/s."""
    body, simulation = foil(300.0, self_collision=True)
    run(simulation, 24)
    x, v = simulation.positions(body), simulation.velocities(body)
    masses = body.masses() + body.air_masses()
    turning = np.linalg.norm(masses @ np.cross(x - masses @ x / masses.sum(), v))
    assert speed(body, simulation) < 0.01
    assert turning / (masses.sum() * RADIUS) < 2e-3


def test_ends_of_edges_without_a_length_are_one():
    """A vertex beside another one, as Voxel Remesh leaves some, changes nothing of how foil fills up, and is told."""
    vertices, triangles = flat_discs(6, RADIUS)
    one, other = triangles[0, :2]
    beside = len(vertices)
    split = [
        [beside if corner == old else corner for corner in triangle]
        for triangle in triangles
        if {one, other} <= set(triangle)
        for old in (one, other)
    ]
    kept = [triangle for triangle in triangles.tolist() if not {one, other} <= set(triangle)]
    near = vertices[one] + 1e-4 * (vertices[other] - vertices[one])
    material = dataclasses.replace(Material.preset("Foil Balloon"), pressure_mode="OVERPRESSURE", overpressure=300.0)
    ends = []
    for x, faces in ((vertices, triangles), (np.concatenate([vertices, near[None]]), kept + split)):
        body = Body(x, faces, material)
        simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), self_collision=False)
        run(simulation, 2)
        ends.append(simulation.positions(body))
    assert body.notes[0] == "1 vertices are one with others that are closer than 2 % of an edge"
    np.testing.assert_array_equal(ends[1][beside], ends[1][one])
    np.testing.assert_allclose(ends[1][:beside], ends[0], atol=1e-5)
