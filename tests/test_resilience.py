"""Resilience: of the work that stretches cloth, RT comes back, and no shape at rest knows of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation

DT = 1.0 / 24.0
pytestmark = pytest.mark.newest


def strip(resilience: float, **settings: object) -> tuple[Simulation, Body, np.ndarray]:
    """A strip of cotton that is held at both ends, and where it is held."""
    vertices, quads = grid(4, 2, 0.4, 0.2)
    ends = np.flatnonzero(np.abs(vertices[:, 0]) > 0.199)
    material = dataclasses.replace(Material.preset("Cotton"), resilience=resilience, tethers=False, damping=20.0)
    body = Body(vertices, quads, material, pins=ends.tolist())
    return Simulation([body], self_collision=False, **settings), body, vertices[ends]


def pull(simulation: Simulation, body: Body, ends: np.ndarray, strain: float) -> float:
    """Step a frame, at the end of which a strip is strained so much: what its threads store then [J]."""
    simulation.set_pin_targets(body, ends * [1.0 + strain, 1.0, 1.0])
    simulation.step(DT)
    stretch = next(kind for kind in simulation.constraints if kind.name == "stretch")
    return float(stretch.forces() @ (stretch.rest_lengths * (stretch.stretches(simulation.positions(body).T) - 1.0)))


@pytest.mark.parametrize("frames", [6, 24])
def test_so_much_of_the_work_comes_back(frames):
    """A strip is strained by 5 % and let go, in a quarter of a second and in a second each; a spring gives back all."""
    for resilience in (1.0, 0.5):
        simulation, body, ends = strip(resilience, gravity=(0.0, 0.0, 0.0))
        way = np.concatenate([np.linspace(0.0, 0.05, frames + 1), np.linspace(0.05, 0.0, frames + 1)[1:]])
        # The pull is what is stored over half the strain.
        pulls = [0.0, *(pull(simulation, body, ends, at) / max(at, 1e-9) for at in way[1:])]
        work = np.diff(way) * 0.5 * (np.array(pulls)[1:] + pulls[:-1])
        assert abs(-work[frames:].sum() / work[:frames].sum() - resilience) < 0.06


def test_what_holds_still_pulls_as_a_spring():
    """Some seconds after a way back."""
    found = []
    for resilience in (1.0, 0.5):
        simulation, body, ends = strip(resilience, gravity=(0.0, 0.0, 0.0))
        pulls = [pull(simulation, body, ends, at) for at in (0.02, 0.04, 0.05, 0.04, 0.03, *[0.03] * 120)]
        found.append((pulls[4], pulls[-1]))
    assert found[1][0] < 0.7 * found[0][0]
    assert found[1][1] == pytest.approx(found[0][1], rel=0.02)


def test_cloth_that_hangs_knows_nothing_of_it():
    """To the last bit: what it stores is too little."""
    found = []
    for resilience in (1.0, 0.5):
        material = dataclasses.replace(Material.preset("Cotton"), resilience=resilience)
        body = Body(*grid(8, 8, 0.5, 0.5), material, pins=[72, 80])
        simulation = Simulation([body], self_collision=False)
        for _ in range(12):
            simulation.step(DT)
        found.append(simulation.positions(body).copy())
    assert np.array_equal(*found)


def test_a_frame_goes_on_where_it_was():
    simulation, body, ends = strip(0.5)
    for at in (0.02, 0.04, 0.05, 0.04):
        pull(simulation, body, ends, at)
    state = simulation.frames.state(4)
    assert state.memory["resilience"]["back"][0].max() > 0.5
    once = pull(simulation, body, ends, 0.03)
    simulation.restore(4, state)
    assert pull(simulation, body, ends, 0.03) == once
    state.memory["resilience"]["back"] = np.zeros((2, 0), np.float32)
    simulation.restore(4, state)
    assert pull(simulation, body, ends, 0.03) > 1.2 * once
