"""Automatic quality: a frame takes the substeps that its motion and its residuals ask for."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from helpers.skins import inner_motion
from pbd_addon import PRESETS, Body, Material, Plane, Simulation

pytestmark = pytest.mark.usefixtures("fastest_kernels")

DT = 1 / 24
QUALITY = 20


def curtain(n: int, material: Material = PRESETS["Cotton"]) -> Body:
    """A square of 1 m that hangs by two corners, n x n vertices."""
    return Body(*grid(n - 1, n - 1, 1.0, 1.0), material, pins=(n * (n - 1), n * n - 1))


def run(body: Body, frames: int, automatic: bool = True, **settings) -> tuple[Simulation, list[int], list[float]]:
    """The simulation, and substeps and mean strain of every frame."""
    simulation = Simulation([body], self_collision=False, automatic=automatic, **settings)
    reports = [simulation.step(DT) for _ in range(frames)]
    return simulation, [report.substeps for report in reports], [report.strain_mean for report in reports]


def test_a_cloth_at_rest_takes_few_substeps():
    """A curtain that has hung for ten seconds takes fewer than the quality steps, and has its shape and no strain."""
    body = curtain(20, Material(**{**vars(PRESETS["Cotton"]), "damping": 2.0}))
    simulation, counts, strains = run(body, 240)
    assert counts[0] == QUALITY  # nothing is known yet
    assert max(counts[-24:]) <= 0.8 * QUALITY
    assert max(strains[-24:]) < 0.001
    assert max(report.shape_error for report in list(simulation.reports.values())[-24:]) < 0.05


@pytest.mark.parametrize("accepted", [0.1, 0.05])
def test_it_reaches_the_shape_that_is_asked_for(accepted):
    """A strip that hangs over takes the steps that bring its error below what is accepted, and not many more."""
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 25), np.linspace(0.0, 0.05, 7))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    quads = grid(24, 6, 0.2, 0.05)[1]
    pins = np.flatnonzero(np.abs(vertices[:, 0]) < 0.013)
    material = Material(**{**vars(PRESETS["Leather"]), "drag": 5.0, "bend": 1e-4})
    simulation, _, _ = run(Body(vertices, quads, material, pins=pins), 72, shape_error=accepted)
    errors = [report.shape_error for report in list(simulation.reports.values())[-12:]]
    assert 0.4 * accepted < max(errors) <= accepted


def test_what_moves_keeps_its_energy():
    """A double pendulum of rope loses no more than with the quality steps: with few, in first order, it lost 19 %."""
    lost = []
    for automatic in (True, False):
        vertices = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]])
        body = Body(vertices, edges=[[0, 1], [1, 2]], masses=[0.1] * 3, compliances=[1e-7] * 2, pins=[0],
                    material=Material(damping=0.0, drag=0.0))  # fmt: skip
        simulation = Simulation([body], automatic=automatic, air_density=0.0)
        for _ in range(48):
            simulation.step(DT)
        x, v = simulation.positions(body), simulation.velocities(body)
        lost.append(-(0.05 * (v**2).sum() + 0.981 * x[1:, 2].sum()) / (0.981 * 1.5))
    assert lost[0] <= 0.031
    assert lost[0] <= 1.05 * lost[1]


def whipped(automatic: bool) -> tuple[list[int], list[float]]:
    """A curtain whose pins swing 0.8 m to and fro, one and a half times a second.

    It is so fine that its strain is not mostly elastic.
    """
    body = curtain(40)
    simulation = Simulation([body], self_collision=False, automatic=automatic)
    counts, strains = [], []
    for frame in range(60):
        way = 0.8 * np.sin(1.5 * 2.0 * np.pi * max(0, frame - 12) * DT)
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] + [way, 0.0, 0.0])
        report = simulation.step(DT)
        counts.append(report.substeps)
        strains.append(report.strain_mean)
    return counts, strains


@pytest.mark.slow
def test_a_cloth_that_whips_about_takes_many():
    """More substeps than the quality steps while it is jerked, and less strain than with rounds there."""
    counts, strains = whipped(automatic=True)
    _, fixed = whipped(automatic=False)
    assert min(counts[:12]) <= QUALITY < np.mean(counts[16:])
    assert max(counts) <= 4 * QUALITY
    assert np.mean(strains[16:]) < np.mean(fixed[16:]) < 0.002
    assert max(strains) < max(fixed)


def test_the_motion_stays_that_of_many_substeps():
    """A curtain that drops swings as with 160 substeps: its center of mass is within 0.04 m (root mean square)."""
    ways = []
    for automatic, substeps in ((True, QUALITY), (False, 160)):
        body = curtain(24)
        simulation = Simulation([body], substeps=substeps, self_collision=False, automatic=automatic)
        way = []
        for _ in range(50):
            simulation.step(DT)
            way.append(simulation.positions(body).mean(axis=0))
        ways.append(np.array(way))
    assert np.sqrt(((ways[0] - ways[1]) ** 2).sum(axis=1).mean()) <= 0.04


def test_a_fall_needs_few():
    """What falls and turns as a whole asks for no more than its turning does."""
    body = Body(*grid(10, 10, 1.0, 1.0), PRESETS["Cotton"])
    _, counts, _ = run(body, 24)
    assert counts[-1] == QUALITY // 4


def test_a_frame_depends_on_its_state_alone():
    """Frames that were thrown away and stepped again take the same substeps to the same place: 1 mm, for float32."""
    body = curtain(16)
    simulation, counts, _ = run(body, 40)
    there = simulation.cached_positions(body, 40)
    simulation.truncate(20)
    again = [simulation.step(DT).substeps for _ in range(20)]
    assert again == counts[20:]
    np.testing.assert_allclose(simulation.cached_positions(body, 40), there, atol=1e-3)


@pytest.mark.parametrize("mode", ["VOLUME", "GAS", "OVERPRESSURE"])
def test_a_balloon_takes_the_quality_steps_at_least(mode):
    """What holds a pressure rests the flatter the fewer substeps it has."""
    vertices, triangles = icosphere(2, 0.3)
    body = Body(vertices, triangles, Material(pressure_mode=mode, pressure=1.1))
    simulation = Simulation([body], [Plane((0.0, 0.0, -0.3))], automatic=True)
    assert min(simulation.step(DT).substeps for _ in range(24)) >= QUALITY


def test_a_dropped_ball_comes_to_rest():
    """Substeps that grew at once in an impact would stiffen a ball while it expands again, and throw it up.

    With 160 fixed substeps it rebounds to 0.118 m.
    """
    vertices, triangles = icosphere(2, 0.3)
    body = Body(vertices + np.array([0.0, 0.0, 0.5]), triangles, PRESETS["Beach Ball"])
    simulation = Simulation([body], [Plane()], automatic=True, self_collision=False)
    heights, motions = [], []
    for _ in range(108):
        simulation.step(DT)
        x, v = simulation.positions(body), simulation.velocities(body)
        heights.append(x[:, 2].min())
        motions.append(inner_motion(body, x, v)[0])
    assert max(heights[12:24]) < 0.12
    assert max(heights[-12:]) < body.material.thickness + 0.001
    assert np.sqrt(np.mean(np.square(motions[-12:]))) < 0.02


def test_pbd_keeps_its_substeps():
    """With PBD the number of substeps is a part of the stiffness, so that it stays as it was set."""
    _, counts, _ = run(curtain(12), 12, method="PBD")
    assert set(counts) == {QUALITY}


def test_without_it_nothing_changes():
    """The default takes the quality steps in every frame."""
    _, counts, _ = run(curtain(12), 12, automatic=False)
    assert set(counts) == {QUALITY}
