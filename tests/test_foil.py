"""Foil that is blown up from flat sheets: calm, hardly stretched, and of the shape that is known for it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.shapes import flat_discs
from pbd_addon import Body, Material, Simulation
from pbd_addon.settings.solver_settings import ATMOSPHERE

pytestmark = pytest.mark.usefixtures("fastest_kernels")

RADIUS = 0.225
"""Of the discs [m]: a usual foil balloon."""

MYLAR = 1.2185
"""Volume over the cube of the discs' radius of skin that does not stretch and folds freely (Paulsen 1994)."""


def foil(pascals: float, rings: int = 9, **settings) -> tuple[Body, Simulation]:
    """Two discs of foil, weightless, with a pressure."""
    return filled({"pressure_mode": "OVERPRESSURE", "overpressure": pascals}, rings, **settings)


def filled(inside: dict[str, object], rings: int = 9, **settings) -> tuple[Body, Simulation]:
    """Two discs of foil, weightless, with something inside."""
    body = Body(*flat_discs(rings, RADIUS), dataclasses.replace(Material.preset("Foil Balloon"), **inside))
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


def test_a_pump_fills_flat_sheets():
    """14 liters in a second: half of them after half a second, without a pressure; then the foil resists, with the
    pressure that so much air has in what it encloses."""
    body, simulation = filled({"pressure_mode": "GAS", "pump": 14.0}, self_collision=False)
    assert "Pump" in body.notes[0]
    run(simulation, 12)
    assert body.volume(simulation.positions(body)) == pytest.approx(7e-3, rel=0.02)
    assert 0.0 <= simulation.pressure(body)[0] < 100.0
    run(simulation, 13)
    simulation.set_material(body, dataclasses.replace(body.material, pump=0.0))
    run(simulation, 35)
    x, pressure = simulation.positions(body), simulation.pressure(body)[0]
    assert (ATMOSPHERE + pressure) * body.volume(x) == pytest.approx(ATMOSPHERE * 14.6e-3, rel=0.01)
    assert pressure > 2000.0
    assert speed(body, simulation) < 0.02
    assert np.abs(body.edge_strain(x)).mean() < 0.015


@pytest.mark.parametrize("mode", ["GAS", "VOLUME"])
def test_flat_sheets_hold_so_many_liters(mode):
    """12 of the 13.9 that fit: they have that volume within 1 %, next to no pressure, and come to rest."""
    body, simulation = filled({"pressure_mode": mode, "contents": 12.0}, self_collision=False)
    run(simulation, 40)
    assert body.volume(simulation.positions(body)) == pytest.approx(0.012, rel=0.01)
    assert -200.0 < simulation.pressure(body)[0] < 1000.0
    assert speed(body, simulation) < 0.01


def test_pieces_share_the_contents_by_their_size():
    """Of two discs, one twice as wide, it gets eight times as much; a ball holds liters instead of a multiple too."""
    vertices, triangles = flat_discs(4, RADIUS)
    both = np.concatenate([vertices, 0.5 * vertices + np.array([1.0, 0.0, 0.0])])
    material = dataclasses.replace(Material.preset("Foil Balloon"), contents=9.0)
    body = Body(both, np.concatenate([triangles, triangles + len(vertices)]), material)
    volume = Simulation([body])._model.volume
    np.testing.assert_allclose(volume.target, [8e-3, 1e-3], rtol=1e-9)
    assert volume.holds_volume.all()


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
