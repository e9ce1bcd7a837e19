"""Rounds of bending and springs: where they come, that they reach the shape of the limit, and that they are sound."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from benchmarks.truth import drapes, loops
from helpers.inside import model_of, state_of
from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation, constraints
from pbd_addon.kernels import available
from pbd_addon.parts import rounds

DT = 1 / 24


def wanted(simulation: Simulation) -> bool:
    return bool(state_of(simulation).memory["rounds"]["wanted"][0])


def overhang(n: int = 31, **changes: object) -> Body:
    """A square of 30 cm of cotton, held level within a circle of 16 cm: it hangs over in folds."""
    vertices, quads = grid(n - 1, n - 1, 0.3, 0.3)
    material = dataclasses.replace(Material.preset("Cotton"), drag=5.0, **changes)
    return Body(vertices, quads, material, pins=np.flatnonzero(np.linalg.norm(vertices, axis=1) < 0.08))


def hung() -> Body:
    vertices, quads = grid(32, 32, 1.0, 1.0)
    return Body(vertices, quads, Material.preset("Cotton"), pins=(32 * 33, 33 * 33 - 1))


@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("preset", ["Paper", "Leather", "Silk"])
def test_a_loop_has_the_shape_of_the_elastica(preset, monkeypatch):
    """Width and height within 5 %; one round leaves a loop of paper shut, of leather swinging, of silk 4 % narrow."""
    width, height = (
        check.value for check in list(loops.looped(preset, Material.preset(preset), 24, "quads", "auto", False))[:2]
    )
    assert max(abs(width), abs(height)) < 5.0
    for limit in ("MOST_UNDONE", "MOST_SHEARED"):
        monkeypatch.setattr(rounds, limit, np.inf)
    plain = next(loops.looped(preset, Material.preset(preset), 24, "quads", "auto", False)).value
    assert abs(plain) > abs(width) + 3.0


@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("n", [31, 17])
def test_rounds_come_where_cloth_comes_to_rest_and_stay(n):
    """In fine cells for bending, in coarse ones for shear; not while a curtain swings, where it would not show."""
    simulation = Simulation([overhang(n)], self_collision=False)
    found = [simulation.step(DT) and wanted(simulation) for _ in range(96)]
    assert not found[1]
    assert all(found[24:])
    assert np.abs(simulation.velocities(simulation.bodies[0])).max() < 1e-3
    swung = Simulation([hung()], self_collision=False)
    assert not any(swung.step(DT) and wanted(swung) for _ in range(48))


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize(("size", "mesh", "most"), [(0.02, "quads", 4.0), (0.01, "Delaunay", 8.0)])
def test_coarse_quads_and_triangles_drape_as_with_many_steps(size, mesh, most, monkeypatch):
    """Within 2.9 and 3.7 points of cover; 10 and 16 without gains of shear and sweeps between rounds."""
    drape = next(each for each in drapes.DRAPES if (each.size, each.mesh) == (size, mesh))
    assert abs(drapes.hung(drape, 0, "auto", False).share - drape.converged) < most
    monkeypatch.setattr(constraints.rounds, "GAINS", ((0.0, 0.0), (1.2, 0.0), (None, 0.0), (0.0, 0.0)))
    monkeypatch.setattr(constraints.distance.DistanceConstraints, "between", lambda self, is_first: [])
    assert drapes.hung(drape, 0, "auto", False).share < drape.converged - most


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("mesh", ["quads", "Delaunay"])
def test_stiff_discs_lie_still(mesh):
    """Of paper, which is hardly bent: it flutters where the last round looks ahead."""
    body = drapes.disc(drapes.Drape("Paper", 0.015, mesh, 0.0, 0.15, 0.06), 0, drag=5.0)
    simulation = Simulation([body], self_collision=False)
    for _ in range(72):
        simulation.step(DT)
    assert np.abs(simulation.velocities(body)).max() < 2e-3


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_what_sweeps_leave_asks_for_rounds():
    """Of irregular triangles, with so many steps that bending does not ask."""
    drape = next(each for each in drapes.DRAPES if each.mesh == "Delaunay")
    simulation = Simulation([drapes.disc(drape, 0, drag=5.0)], substeps=80, self_collision=False)
    found = [simulation.step(DT) and wanted(simulation) for _ in range(72)]
    assert all(found[48:])


@pytest.mark.usefixtures("fastest_kernels")
def test_rounds_that_came_go_on_with_more_steps():
    """With 90, one round would leave too much again: they came and went, each time with a jerk."""
    simulation = Simulation([overhang(17)], substeps=90, self_collision=False)
    for _ in range(48):
        simulation.step(DT)
    state_of(simulation).memory["rounds"]["wanted"] = np.ones(1)
    assert all(simulation.step(DT) and wanted(simulation) for _ in range(24))


@pytest.mark.parametrize(
    ("settings", "changes"),
    [({"iterations": 2}, {}), ({"method": "PBD"}, {}), ({}, {"bend": 0.0}), ({}, {"stretch": 0.0, "compression": 0.0})],
)
def test_no_rounds_where_there_is_nothing_to_gain(settings, changes):
    simulation = Simulation([overhang(9, **changes)], self_collision=False, **settings)
    assert not model_of(simulation).rounds


@pytest.mark.skipif(len(available()) < 2, reason="needs both backends")
@pytest.mark.parametrize("bend", [1.2e-5, 1e-3])
def test_both_backends_agree(bend):
    """With hinges and with plates, to 1e-9 m."""
    ways = []
    for kernels in available():
        simulation = Simulation([overhang(13, bend=bend)], kernels=kernels, self_collision=False)
        state_of(simulation).memory["rounds"]["wanted"] = np.ones(1)
        for _ in range(3):
            simulation.step(DT)
            state_of(simulation).memory["rounds"]["wanted"] = np.ones(1)
        ways.append(simulation.positions(simulation.bodies[0]).copy())
    assert np.abs(ways[0] - ways[1]).max() < 1e-9


@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("bend", [1.2e-5, 1e-3])
def test_a_free_sheet_keeps_its_momentum_and_comes_to_rest(bend):
    """Rolled at the start, without gravity or air: looking ahead pushes nothing from outside, and nothing grows."""
    vertices, quads = grid(16, 16, 0.2, 0.2)
    along, across = (vertices[:, :2] @ np.array([[2.0, -1.0], [1.0, 2.0]]) / np.sqrt(5.0)).T
    bent = np.column_stack([0.06 * np.sin(along / 0.06), across, 0.06 * (1.0 - np.cos(along / 0.06))])
    plain = dataclasses.replace(Material.preset("Cotton"), bend=bend, air_normal=0.0, air_tangent=0.0, drag=0.0)
    body = Body(bent, quads, plain, rest_vertices=vertices)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), self_collision=False)
    energies = []
    for _ in range(48):
        state_of(simulation).memory["rounds"]["wanted"] = np.ones(1)
        simulation.step(DT)
        v, m = simulation.velocities(body), model_of(simulation).masses[:, None]
        energies.append(0.5 * float((m * v**2).sum()))
    x = simulation.positions(body)
    inertia = float((m * (x - x.mean(axis=0)) ** 2).sum())
    assert np.abs((m * v).sum(axis=0)).max() < 1e-12
    assert np.abs(np.cross(x - x.mean(axis=0), m * v).sum(axis=0)).max() < 0.1 * inertia  # rad/s
    assert energies[-1] < 0.1 * max(energies)


def tip_of_strip(model: str, substeps: int) -> float:
    """How steeply a clamped strip of cotton, five cells of 10 mm, hangs from its clamp, in one round [deg]."""
    rest, quads = grid(6, 3, 0.06, 0.03)
    along = rest[:, 0] - rest[:, 0].min()
    material = dataclasses.replace(Material.preset("Cotton"), drag=5.0, bend_model=model)
    body = Body(rest, quads, material, pins=np.flatnonzero(along < 0.015))
    simulation = Simulation([body], substeps=substeps, self_collision=False, air_density=0.0)
    for _ in range(72):
        simulation.step(DT)
    x = simulation.positions(body)
    way = x[along > 0.055].mean(axis=0) - x[np.abs(along - 0.01) < 1e-6].mean(axis=0)
    return float(np.degrees(np.arctan2(-way[2], way[0])))


@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("model", ["ISOMETRIC", "DIHEDRAL"])
def test_one_pass_over_hinges_resists_as_many_steps_do(model, monkeypatch):
    """Within 0.0 and 0.6 degrees, as each hinge counts on what its neighbors take back; else 2.6 and 2.3."""
    monkeypatch.setattr(rounds, "MOST_UNDONE", np.inf)
    monkeypatch.setattr(rounds, "MOST_SHEARED", np.inf)
    assert abs(tip_of_strip(model, 20) - tip_of_strip(model, 160)) < 1.0
