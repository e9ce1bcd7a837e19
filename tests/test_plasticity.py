"""Plasticity: what is bent or stretched too far stays so, as elastic-plastic theory says, and comes back the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.building.tear import split
from pbd_addon.kernels import available
from pbd_addon.parts.plasticity import _ends

DT = 1 / 24
CELL, CELLS = 0.01, 20
QUIET = {"air_normal": 0.0, "air_tangent": 0.0, "tethers": False, "self_collision": False, "damping": 20.0}


def strip(preset: str, by_its_ends: bool = False, **settings) -> Body:
    """A strip along x, four cells wide, pinned everywhere or by its ends; it moves slowly when it is let go."""
    vertices, faces = grid(CELLS, 4, CELLS * CELL, 4 * CELL)
    material = dataclasses.replace(Material.preset(preset), drag=40.0, **QUIET, **settings)
    held = np.abs(vertices[:, 0]) > 0.5 * CELLS * CELL - 1e-9 if by_its_ends else np.ones(len(vertices), bool)
    return Body(vertices, faces, material, pins=np.flatnonzero(held))


def pull(simulation: Simulation, body: Body, factor: float, frames: int = 18) -> None:
    """Move the ends apart, and wait for six frames."""
    for k in range(1, frames + 7):
        now = body.vertices[body.pin_ids]
        simulation.set_pin_targets(body, now * (1.0 + (factor - 1.0) * min(k / frames, 1.0), 1.0, 1.0))
        simulation.step(DT)


def let_go(simulation: Simulation, body: Body, frames: int = 50) -> np.ndarray:
    simulation.set_material(body, dataclasses.replace(body.material, hold_pins=False))
    for _ in range(frames):
        simulation.step(DT)
    return simulation.positions(body)


def roll(simulation: Simulation, body: Body, curvature: float, back: float = 0.0, frames: int = 12) -> None:
    """Bend the strip around the y axis, wait, and bend it back by so much [1/m].

    Let go at once, its moment is at the limit everywhere, and the wave from its ends bends the middle further.
    """
    x, _, _ = body.vertices.T
    way = [
        *(curvature * np.minimum(np.arange(1, frames + 7) / frames, 1.0)),
        *(curvature - back * np.linspace(0, 1, 7)),
    ]
    for now in way if back else way[:-7]:
        rolled = body.vertices.copy()
        rolled[:, 0], rolled[:, 2] = np.sin(now * x) / now, (1.0 - np.cos(now * x)) / now
        simulation.set_pin_targets(body, rolled)
        simulation.step(DT)


def curvatures(body: Body, x: np.ndarray) -> np.ndarray:
    """Angles between the cells of the middle row over the cells' length [1/m]."""
    along = np.diff(x[np.abs(body.vertices[:, 1]) < 1e-9], axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    return np.arccos((along[1:] * along[:-1]).sum(axis=1).clip(-1.0, 1.0)) / CELL


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.parametrize(("preset", "model"), [("Paper", "AUTO"), ("Cotton", "AUTO"), ("Denim", "DIHEDRAL")])
def test_a_rolled_strip_springs_back_by_the_yield_curvature(preset, model, kernels):
    """Elastic and perfectly plastic: of 25 per m, 25 - 10 stay. The sheet is a plate of paper and hinges of cloth."""
    body = strip(preset, bend_yield=10.0, bend_model=model)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), kernels=kernels)
    roll(simulation, body, 25.0, back=9.0)
    left = curvatures(body, let_go(simulation, body))
    np.testing.assert_allclose(left[2:-2], 15.0, atol=0.5)


@pytest.mark.newest
def test_a_strip_bent_less_than_that_springs_back_whole():
    body = strip("Paper", bend_yield=30.0)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    roll(simulation, body, 25.0, back=20.0)
    assert curvatures(body, let_go(simulation, body, 80)).max() < 0.5
    assert not simulation.frames.state(simulation.frames.last).memory["plasticity"]["yielded"].any()


@pytest.mark.newest
def test_a_slow_rate_lets_less_stay():
    """In t seconds at rate r, 1 - exp(-r t) of what is beyond the limit."""
    body = strip("Paper", bend_yield=10.0, plastic_rate=1.0)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    roll(simulation, body, 25.0, frames=1, back=1e-9)
    left = curvatures(body, let_go(simulation, body))
    expected = 15.0 * -np.expm1(-14.0 * DT)
    assert left[2:-2].mean() == pytest.approx(expected, rel=0.1)


def lengths(body: Body, x: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.diff(x[np.abs(body.vertices[:, 1]) < 1e-9], axis=0), axis=1)


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.parametrize(("factor", "stays"), [(1.10, 1.10 / 1.02), (1.015, 1.0)])
def test_a_stretched_strip_keeps_what_is_beyond_the_yield_strain(factor, stays, kernels):
    """As a whole: without hardening, any part of it may yield."""
    body = strip("Rubber Sheet", by_its_ends=True, stretch_yield=0.02)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), kernels=kernels)
    pull(simulation, body, factor)
    left = lengths(body, let_go(simulation, body)) / CELL
    assert left.mean() == pytest.approx(stays, abs=0.003)


@pytest.mark.newest
@pytest.mark.slow
def test_rest_lengths_stay_within_twice_the_first_ones():
    body = strip("Denim", by_its_ends=True, stretch_yield=0.02)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    pull(simulation, body, 4.0)
    changed = simulation.frames.state(simulation.frames.last).memory["plasticity"]["yielded"]
    assert changed.max() == 1.0
    assert changed.min() >= -0.5


def crumpled(split: bool = False, tear_strength: float = 0.0, **settings) -> tuple[Simulation, Body]:
    """A sheet falls on a ball, over which it is creased; `split`: each face has vertices of its own."""
    vertices, faces = grid(16, 16, 0.3, 0.3)
    if split:
        vertices = vertices[np.ravel(faces)]
        faces = np.arange(len(vertices)).reshape(-1, 4)
    yields = {"bend_yield": 5.0, "stretch_yield": 1e-4}
    material = dataclasses.replace(Material.preset("Paper"), tear_strength=tear_strength, **yields)
    body = Body(vertices + np.array([0.0, 0.0, 0.12]), faces, material)
    ball = Collider(*icosphere(2, 0.1))
    return Simulation([body], [ball], **settings), body


@pytest.mark.slow
@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.newest
def test_the_same_frames_come_back(kernels):
    """Going on from a frame gives the same bits each time, also from before anything has yielded."""
    simulation, body = crumpled(kernels=kernels)
    for _ in range(14):
        simulation.step(DT)
    count = [np.count_nonzero(simulation.frames.state(k).memory["plasticity"]["yielded"]) for k in range(15)]
    assert count[1] == 0 < count[14]
    for frame in (count.index(next(filter(None, count))) - 1, 11):
        seen: list[np.ndarray] = []
        for _ in range(2):
            simulation.truncate(frame)
            for _ in range(frame, 14):
                simulation.step(DT)
            seen += [simulation.positions(body).copy(), simulation.frames.state(14).memory["plasticity"]["yielded"]]
        np.testing.assert_array_equal(seen[0], seen[2])
        np.testing.assert_array_equal(seen[1], seen[3])


@pytest.mark.newest
def test_folds_stay_when_cloth_tears():
    """Of a crumpled sheet whose vertices come apart along a line, every fold that is left keeps what it had."""
    simulation, body = crumpled(split=True, tear_strength=1e6)
    for _ in range(14):
        simulation.step(DT)
    model, state = model_of(simulation), simulation.frames.state(14).copy()
    before = plastic_by_place(model, state, body)
    left = np.repeat(body.rest_vertices.reshape(-1, 4, 3).mean(axis=1)[:, 0] < 0.0, 4)
    joined = np.unique(2 * state.memory["tearing"]["joined"] + left, return_index=True, return_inverse=True)
    after = split(model, state, joined[1][joined[2].reshape(-1)])
    now = plastic_by_place(after, state, body)
    assert len(now) == len(before) - 16
    assert now.items() <= before.items()
    assert np.count_nonzero(list(now.values())) > 100


def plastic_by_place(model, state, body) -> dict:
    """`State.plastic` by where the ends of hinges, edges and diagonals are at rest; both lips of a tear are one."""
    places = [tuple(sorted(map(tuple, body.rest_vertices[row].round(6)))) for rows in _ends(model) for row in rows]
    assert len(places) == len(state.memory["plasticity"]["yielded"])
    return dict(zip(places, state.memory["plasticity"]["yielded"].tolist()))


def test_what_cannot_yield_has_nothing_to_remember():
    body = strip("Paper")
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    roll(simulation, body, 25.0)
    assert simulation.frames.state(simulation.frames.last).memory["plasticity"]["yielded"].size == 0


@pytest.mark.newest
def test_folds_stay_when_yielding_is_switched_off():
    body = strip("Cotton", bend_yield=10.0)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    roll(simulation, body, 25.0, back=9.0)
    before = simulation.frames.state(simulation.frames.last).memory["plasticity"]["yielded"]
    body.material = dataclasses.replace(body.material, bend_yield=1e3)
    left = curvatures(body, let_go(simulation, body))
    np.testing.assert_array_equal(
        simulation.frames.state(simulation.frames.last).memory["plasticity"]["yielded"], before
    )
    np.testing.assert_allclose(left[2:-2], 15.0, atol=0.5)
