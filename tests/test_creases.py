"""Creases: folds that a body has at rest, and how much they resist."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Creases, Material, Simulation
from pbd_addon.kernels import available
from pbd_addon.kernels.numpy import dihedral_angles

DT = 1 / 24


def column(vertices: np.ndarray, number: int) -> np.ndarray:
    """The edges along a column of a grid, (c, 2) int."""
    across = np.unique(vertices[:, 0].round(9))[number]
    ids = np.flatnonzero(np.abs(vertices[:, 0] - across) < 1e-6)
    return np.column_stack([ids[:-1], ids[1:]])


def creased(preset: str, cells: int, cell: float, at: int, angle: float, factor: float = 1.0, **settings) -> Body:
    """A strip along x, four cells wide, with one crease across it."""
    pins = settings.pop("pins", ())
    still = {"air_normal": 0.0, "air_tangent": 0.0, "tethers": False, "self_collision": False}
    vertices, faces = grid(cells, 4, cells * cell, 4 * cell)
    edges = column(vertices, at)
    creases = Creases(edges, np.full(len(edges), angle), np.full(len(edges), factor))
    material = dataclasses.replace(Material.preset(preset), **still, **settings)
    held = np.flatnonzero(vertices[:, 0] < vertices[:, 0].min() + (pins[0] + 0.1) * cell) if pins else []
    return Body(vertices, faces, material, pins=held, creases=creases)


def folds(body: Body, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angles of the creases, and of all other hinges [rad]."""
    hinges = body.mesh.hinges
    angles = dihedral_angles(x.T[:, hinges.T], with_gradients=False)[0]
    is_crease = ~np.isnan(body.creases.of_edges(hinges[:, :2], len(x))[0])
    return angles[is_crease], angles[~is_crease]


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize(
    ("preset", "model", "kind", "degrees"),
    [("Cotton", "AUTO", "dihedral bend", -120.0), ("Paper", "ISOMETRIC", "plate bend", 70.0)],
)
@pytest.mark.newest
def test_a_flat_sheet_folds_to_its_crease(preset, model, kind, degrees, kernels):
    """All else stays flat."""
    body = creased(preset, 12, 0.01, 6, np.radians(degrees), drag=3.0, damping=10.0, bend_model=model)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), kernels=kernels)
    assert kind in [one.name for one in simulation.constraints]
    for _ in range(60):
        simulation.step(DT)
    crease, others = folds(body, simulation.positions(body))
    np.testing.assert_allclose(np.degrees(crease), degrees, atol=0.1)
    assert np.degrees(np.abs(others)).max() < 0.1


def balance(body: Body, cells: int, cell: float) -> float:
    """Where a flap of so many cells hangs on its crease [rad]: B f / cell (angle - rest) = rho g L²/2 cos angle."""
    material, length = body.material, cells * cell
    stiffness = material.bend * body.creases.factors[0] / cell
    moment = 0.5 * material.density * 9.81 * length**2
    low, high = -np.pi, np.pi
    for _ in range(50):
        middle = 0.5 * (low + high)
        over = stiffness * (middle - body.creases.angles[0]) > moment * np.cos(middle)
        low, high = (low, middle) if over else (middle, high)
    return high


@pytest.mark.parametrize(
    ("preset", "cells", "cell", "at", "pinned", "degrees", "factor", "error"),
    [
        ("Cotton", 4, 0.02, 3, 3, -60.0, 3.0, 1.0),
        ("Cotton", 4, 0.02, 3, 3, -60.0, 0.1, 1.0),
        ("Denim", 4, 0.02, 3, 3, 0.0, 0.99, 1.0),
        ("Paper", 8, 0.01, 3, 2, -60.0, 0.1, 1.0),
        ("Leather", 5, 0.01, 3, 2, -60.0, 10.0, 1.0),
    ],
)
@pytest.mark.newest
def test_a_flap_hangs_on_its_crease(preset, cells, cell, at, pinned, degrees, factor, error):
    """Hinges of cotton and denim, plates of paper and leather; the error is in degrees. A valley lifts the flap. Plates
    are clamped a cell before the crease, because a triangle whose corners are all pinned does not bend."""
    body = creased(preset, cells, cell, at, np.radians(degrees), factor, pins=(pinned,), drag=15.0)
    simulation = Simulation([body], substeps=40)
    for _ in range(80):
        simulation.step(DT)
    assert np.abs(simulation.velocities(body)).max() < 1e-6
    crease, _ = folds(body, simulation.positions(body))
    assert np.degrees(crease.mean()) == pytest.approx(np.degrees(balance(body, cells - at, cell)), abs=error)


def test_creases_that_stiffen_cloth_much_make_it_a_plate():
    """The mean factor decides, because hinges of one pass would be too soft."""
    bodies = [creased("Cotton", 12, 0.01, 6, 1.0, factor) for factor in (1.0, 100.0)]
    names = [[kind.name for kind in Simulation([body]).constraints] for body in bodies]
    assert ["plate bend" in own for own in names] == [False, True]


def test_an_edge_that_folds_nothing_has_no_effect():
    vertices, faces = grid(4, 4, 0.1, 0.1)
    border = Creases([[0, 1], [0, 24]], [1.0, 1.0], [1.0, 1.0])
    runs = []
    for creases in (None, border):
        body = Body(vertices, faces, Material.preset("Cotton"), pins=[0], creases=creases)
        simulation = Simulation([body])
        simulation.step(DT)
        runs.append(simulation.positions(body).copy())
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize(
    ("creases", "sentence"),
    [
        (([[0, 99]], [0.0], [1.0]), "Body: edges of creases names vertex 99, but there are 9 vertices"),
        (([[0, 1]], [4.0], [1.0]), "Body: angles of creases must be at most pi rad, not 4"),
        (([[0, 1]], [-4.0], [1.0]), r"Body: angles of creases\[0\] must be at least -3.14159 rad, not -4"),
        (([[0, 1]], [0.0], [0.0]), r"Body: factors of creases\[0\] must be above 0, not 0"),
        (([[0, 1]], [0.0, 1.0], [1.0]), r"Body: angles of creases must have shape \(1,\), not \(2,\)"),
    ],
)
def test_wrong_creases_are_refused(creases, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}$"):
        Body(*grid(2, 2, 0.1, 0.1), creases=Creases(*creases))
