"""Second-order time stepping: its order, what it keeps, and that only smooth motion looks back."""

from __future__ import annotations

import math

import numpy as np
import pytest

from meshes import grid
from pbd_addon import Body, Material, Plane, Simulation, adaptive, time_stepping

DT = 1 / 24


def pendulum(substeps: int) -> float:
    """The error of a pendulum of 1 m, dropped from the horizontal, after a quarter of a second [m]."""
    body = Body([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [], Material(damping=0.0, drag=0.0), [0], edges=[[0, 1]],
                compliances=[0.0], masses=[1.0, 1.0])  # fmt: skip
    simulation = Simulation([body], substeps=substeps, self_collision=False)
    for _ in range(6):
        simulation.step(DT)
    x = simulation.positions(body)[1]
    # theta'' = 9.81 cos(theta), by many small steps of Verlet
    theta, rate, h = 0.0, 0.0, 0.25 / 20000
    for _ in range(20000):
        rate += 0.5 * h * 9.81 * math.cos(theta)
        theta += h * rate
        rate += 0.5 * h * 9.81 * math.cos(theta)
    return float(np.linalg.norm(x - [math.cos(theta), 0.0, -math.sin(theta)]))


def test_the_error_of_a_swing_falls_with_the_square_of_the_steps():
    """By 2.8 to 4 for twice as many; the first substep of each frame is of first order, so that it is not quite 4."""
    errors = [pendulum(substeps) for substeps in (20, 40, 80)]
    assert errors[0] > 2.8 * errors[1] > 2.8**2 * errors[2]


@pytest.mark.parametrize("substeps", [20, 40])
def test_a_swing_is_more_exact_than_in_first_order(substeps, monkeypatch):
    second = pendulum(substeps)
    monkeypatch.setattr(adaptive, "looks_back", lambda *_: False)
    assert second < 0.2 * pendulum(substeps)


def test_all_substeps_have_one_effective_length():
    """By the formula of variable steps, for every substep after the first."""
    lengths = time_stepping.lengths(24, True)
    w = lengths[1:] / lengths[:-1]
    np.testing.assert_allclose(lengths[1:] * (1.0 + w) / (1.0 + 2.0 * w), 1.0, rtol=1e-14)
    assert lengths[0] == 1.0
    np.testing.assert_array_equal(time_stepping.lengths(3, False), np.ones(3))


def test_a_frame_that_meets_something_is_one_of_first_order(monkeypatch):
    """To the last bit, although it began in second order."""
    ends = []
    for order in (2, 1):
        vertices, quads = grid(4, 4, 0.4, 0.4)
        body = Body(vertices, quads)
        simulation = Simulation([body], [Plane((0.0, 0.0, -0.02))], substeps=20)
        simulation.velocities(body)[:] = [0.3, 0.0, -1.0]
        if order == 1:
            monkeypatch.setattr(adaptive, "looks_back", lambda *_: False)
        assert adaptive.looks_back(simulation._model, simulation._state, simulation.settings, DT) == (order == 2)
        simulation.step(DT)
        assert len(simulation.touching(body))
        ends.append((simulation.positions(body).copy(), simulation.velocities(body).copy()))
    np.testing.assert_array_equal(*(x for x, _ in ends))
    np.testing.assert_array_equal(*(v for _, v in ends))


def test_a_free_sheet_keeps_its_momentum():
    """Linear to 1e-13; it moves and turns on as it was thrown, whatever it does inside."""
    vertices, quads = grid(6, 6, 0.5, 0.5)
    body = Body(vertices, quads, Material(drag=0.0))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), self_collision=False, substeps=20, air_density=0.0)
    v = np.random.default_rng(3).normal(size=vertices.shape)
    simulation.velocities(body)[:] = v
    masses = simulation._model.masses
    for _ in range(10):
        simulation.step(DT)
    np.testing.assert_allclose(masses @ simulation.velocities(body), masses @ v, atol=1e-13)
