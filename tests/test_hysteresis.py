"""Bending friction: what is folded keeps a part of it, and swings lose the same amount at each turn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pbd_addon import Body, Material, Simulation

DT = 1 / 24

KEPT = 0.5
"""Curvature that friction keeps [1/m]; 0.05 rad of the hinge below."""


def hinge(model: str, friction: float = 6e-5 * KEPT, **more: float) -> tuple[Simulation, Body]:
    """Two triangles of 0.1 m, of which only one tip is free; it begins at 0.5 rad and swings at 1 Hz."""
    flat = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.0], [-0.1, 0.05, 0.0], [0.1, 0.05, 0.0]])
    bent = flat.copy()
    bent[3] = 0.1 * math.cos(0.5), 0.05, 0.1 * math.sin(0.5)
    material = Material(
        density=0.1, bend=6e-5, bend_friction=friction, bend_model=model, **{"damping": 0.0, "drag": 0.0, **more}
    )
    body = Body(bent, [[0, 2, 1], [0, 1, 3]], material, pins=[0, 1, 2], rest_vertices=flat)
    return Simulation([body], gravity=(0.0, 0.0, 0.0), air_density=0.0, self_collision=False, substeps=40), body


def angle(simulation: Simulation, body: Body) -> float:
    x = simulation.positions(body)[3]
    return math.atan2(x[2], x[0])


@pytest.mark.newest
@pytest.mark.parametrize("model", ["ISOMETRIC", "DIHEDRAL"])
def test_a_swing_loses_the_same_at_each_turn(model):
    """Twice the angle that friction keeps, 0.05 rad, at each half of it: Coulomb's law. Without it, 2 %."""
    simulation, body = hinge(model)
    found = [0.5]
    for _ in range(60):
        simulation.step(DT)
        found.append(angle(simulation, body))
    turns = [b for a, b, c in zip(found, found[1:], found[2:]) if (b - a) * (c - b) < 0.0]
    losses = -np.diff(np.abs([0.5, *turns[:3]]))
    np.testing.assert_allclose(losses, 0.1, atol=0.01)
    simulation, body = hinge(model, 0.0)
    free = []
    for _ in range(24):
        simulation.step(DT)
        free.append(angle(simulation, body))
    assert max(free[12:]) > 0.45


@pytest.mark.newest
@pytest.mark.parametrize("model", ["ISOMETRIC", "DIHEDRAL"])
def test_what_is_let_go_keeps_the_curvature_of_friction(model):
    """Moved through honey, it stops at HB / B from above, 0.05 rad, and stays; without friction it is flat."""
    for friction, kept in ((6e-5 * KEPT, 0.05), (0.0, 0.0)):
        simulation, body = hinge(model, friction, drag=15.0)
        found = []
        for _ in range(120):
            simulation.step(DT)
            found.append(angle(simulation, body))
        assert abs(found[-1] - kept) < 0.005
        assert abs(found[-1] - found[-24]) < 1e-3


def test_friction_goes_on_where_it_was():
    """A frame that is stepped again comes out the same, and friction holds where it did."""
    simulation, body = hinge("AUTO")
    for _ in range(10):
        simulation.step(DT)
    state = simulation.frames.state(10)
    simulation.step(DT)
    once = simulation.positions(body).copy()
    simulation.restore(10, state)
    simulation.step(DT)
    assert np.array_equal(simulation.positions(body), once)
    state.memory["hysteresis"]["held"] = np.zeros(0, np.float32)  # begins anew: no friction acts now
    simulation.restore(10, state)
    simulation.step(DT)
    assert np.abs(simulation.positions(body) - once).max() > 1e-5


def test_stiff_sheets_that_rub_are_hinges():
    """Plates know no friction."""
    for friction, name in ((0.0, "plate bend"), (1e-3, "isometric bend")):
        x, y = np.meshgrid(np.arange(5) * 0.01, np.arange(5) * 0.01)
        corner = (5 * np.arange(4)[:, None] + np.arange(4)).ravel()
        quads = corner[:, None] + [0, 1, 6, 5]
        body = Body(
            np.column_stack([x.ravel(), y.ravel(), 0 * x.ravel()]), quads, Material(bend=1e-3, bend_friction=friction)
        )
        assert name in [kind.name for kind in Simulation([body], self_collision=False).constraints]
