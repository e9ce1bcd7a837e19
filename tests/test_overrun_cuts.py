"""A substep that overstretches cloth is cut in halves only as far as anything goes fast."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.inside import model_of, state_of, targets_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.stepping import adaptive, cutting

CELLS, SIZE, DT = 4, 0.4, 1 / 24
EDGE = SIZE / CELLS
"""Also the usual edge: diagonals are fewer than the sides of cells."""


def scene(pins=()) -> tuple[Simulation, Body, Collider]:
    """A sheet that hovers level, and a ball of 0.2 m that touches its box, not the sheet."""
    flat, quads = grid(CELLS, CELLS, SIZE, SIZE)
    ball, faces = icosphere(0, 0.2)
    body, collider = Body(flat, quads, Material(), pins=pins), Collider(ball + np.array([0.0, 0.0, 0.25]), faces)
    return Simulation([body], [collider], gravity=(0.0, 0.0, 0.0)), body, collider


def reach(simulation: Simulation) -> float:
    state = state_of(simulation)
    return adaptive.reach(model_of(simulation), (state.x, state.v), state.memory, targets_of(simulation), DT)


def test_what_is_driven_counts_where_it_can_be_met():
    simulation, body, collider = scene(pins=[0])
    assert reach(simulation) == 0.0
    start = collider.vertices.copy()
    simulation.move_collider(collider, start - [0.0, 0.0, 3.0 * EDGE])
    np.testing.assert_allclose(reach(simulation), 3.0)
    simulation.move_collider(collider, start + np.array([0.0, 0.0, 3.0 * EDGE]))
    np.testing.assert_allclose(reach(simulation), 3.0)  # the lower half of the ball is beside the sheet when it starts
    simulation.move_collider(collider, start)
    simulation.set_pin_targets(body, body.vertices[body.pin_ids] + [5.0 * EDGE, 0.0, 0.0])
    np.testing.assert_allclose(reach(simulation), 5.0)


def test_what_is_driven_elsewhere_does_not_count():
    flat, quads = grid(CELLS, CELLS, SIZE, SIZE)
    ball, faces = icosphere(1, 0.2)
    collider = Collider(ball + np.array([0.0, 0.0, 2.0]), faces)
    simulation = Simulation([Body(flat, quads, Material())], [collider], gravity=(0.0, 0.0, 0.0))
    simulation.move_collider(collider, collider.vertices - [0.0, 0.0, 1.0])
    assert reach(simulation) == 0.0
    simulation.move_collider(collider, collider.vertices - [0.0, 0.0, 5.0])  # right through
    np.testing.assert_allclose(reach(simulation), 5.0 / EDGE)


def test_what_falls_counts_where_it_meets_what_stands():
    flat, quads = grid(CELLS, CELLS, SIZE, SIZE)
    ball, faces = icosphere(0, 0.05)
    bodies = [
        Body(flat + np.array([shift, 0.0, z]), quads, Material()) for shift, z in ((0.0, 0.0), (9.0, 0.0), (9.0, -0.3))
    ]
    simulation = Simulation(bodies, [Collider(ball - np.array([0.0, 0.0, 1.0]), faces)], gravity=(0.0, 0.0, 0.0))
    simulation.velocities(bodies[1])[:] = [0.0, 0.0, -8.0 * EDGE / DT]  # onto the third; the ball is elsewhere
    np.testing.assert_allclose(reach(simulation), 8.0, rtol=1e-6)
    simulation.velocities(bodies[0])[:] = [0.0, 0.0, -11.0 * EDGE / DT]  # onto the ball
    np.testing.assert_allclose(reach(simulation), 11.0, rtol=1e-6)


def test_bodies_count_by_how_they_move_in_themselves():
    simulation, body, collider = scene()
    v = simulation.velocities(body)
    v[:, 1] = 7.0
    v[::2, 2] = 4.0
    share = (len(v) + 1) // 2 / len(v)
    expected = 4.0 * np.sqrt(share * (1.0 - share)) * DT / EDGE
    simulation.move_collider(collider, collider.vertices + DT * v.mean(axis=0))
    np.testing.assert_allclose(reach(simulation), expected, rtol=1e-5)


@pytest.mark.parametrize(("edges", "deepest"), [(0.5, 1), (1.9, 1), (3.9, 2), (4.5, 3)])
def test_cuts_go_as_deep_as_it_takes_until_the_fastest_goes_a_twentieth_of_an_edge(monkeypatch, edges, deepest):
    monkeypatch.setattr(cutting, "excess_of_overrun", lambda *_: 1.0)  # no cut would ever help
    simulation, _, collider = scene()
    simulation.move_collider(collider, collider.vertices - [0.0, 0.0, edges * EDGE])
    shares, old = [], cutting.CutFrame._try

    def noted(self, start: float, stop: float, h: float, couples: bool) -> bool:
        shares.append(self.planned * (stop - start))
        return old(self, start, stop, h, couples)

    monkeypatch.setattr(cutting.CutFrame, "_try", noted)
    simulation.step(DT)
    np.testing.assert_allclose(min(shares), 0.5**deepest, rtol=1e-6)
