"""Viscosity: where substeps cannot resolve how cloth flaps, neighbors move more alike; bodies keep their momentum."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import grid
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.stepping import cutting
from pbd_addon.stepping.viscosity import Viscosity

SOFT = Material(bend=1e-5)


def hung(n: int, shift: float = 0.0) -> Body:
    """A curtain of n x n cells and 0.5 m that is pinned along its upper edge."""
    flat, quads = grid(n, n, 0.5, 0.5)
    return Body(flat[:, [0, 2, 1]] + np.array([shift, 0.0, 0.0]), quads, SOFT, pins=range(n * (n + 1), (n + 1) ** 2))


def bar(y: float) -> np.ndarray:
    """The corners of a bar along x at y."""
    return np.array([[x, y + dy, dz] for x in (-0.3, 0.3) for dy in (-0.03, 0.03) for dz in (-0.05, 0.05)])


SIDES = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def struck(evens_out: bool, monkeypatch) -> tuple[int, Simulation]:
    """A bar at 24 m/s strikes one of two curtains: substeps that were repeated, the scene."""
    monkeypatch.setattr(cutting, "VIOLENT", 1.5 if evens_out else np.inf)
    bodies, struck_by = [hung(20), hung(4, 2.0)], Collider(bar(-0.2), SIDES)
    simulation, repeated = Simulation(bodies, [struck_by]), 0
    for frame in range(1, 6):
        simulation.move_collider(struck_by, bar(-0.2 + min(frame, 4)))
        repeated += sum(simulation.step(1 / 24).retries)
    return repeated, simulation


@pytest.mark.slow
@pytest.mark.newest
def test_what_is_struck_is_cut_less_often_and_nothing_else_moves_differently(monkeypatch):
    (repeated, simulation), (often, other) = struck(True, monkeypatch), struck(False, monkeypatch)
    assert repeated < 0.85 * often
    calm = [each.positions(each.bodies[1]) for each in (simulation, other)]
    np.testing.assert_allclose(*calm, rtol=0.0, atol=1e-3)


def test_bodies_keep_their_momentum_and_come_no_nearer_to_rest():
    flat, quads = grid(8, 8, 0.4, 0.4)
    maps = {"density": np.linspace(0.5, 3.0, len(flat))}
    bodies = [Body(flat + np.array([0.0, k, 0.0]), quads, SOFT, maps=maps) for k in (0.0, 1.0)]
    simulation = Simulation(bodies)
    model = model_of(simulation)
    v = np.random.default_rng(1).normal(2.0, 3.0, (3, len(model.w)))
    viscosity = Viscosity(model, np.array([True, False]))
    after, still = v, model.slices[1]
    for _ in range(100):
        after = viscosity.even_out(after)
        np.testing.assert_array_equal(after[:, still], v[:, still])
    own = model.slices[0]
    share = model.masses[own] / model.masses[own].sum()
    np.testing.assert_allclose(after[:, own] @ share, v[:, own] @ share, rtol=1e-12)
    np.testing.assert_allclose(after[:, own], np.repeat((v[:, own] @ share)[:, None], len(flat), axis=1), atol=0.05)


@pytest.mark.parametrize("pins", [(), (0, 1, 2)])
def test_no_velocity_leaves_the_range_of_its_neighbors(pins):
    """So that it is stable, whatever the masses are, and nothing that is held pulls."""
    flat, quads = grid(6, 6, 0.4, 0.4)
    body = Body(flat, quads, SOFT, pins=pins, maps={"density": np.geomspace(0.1, 10.0, len(flat))})
    model = model_of(Simulation([body]))
    v = np.random.default_rng(2).normal(0.0, 3.0, (3, len(flat)))
    v[:, list(pins)] = 50.0
    after = Viscosity(model, np.array([True])).even_out(v)
    free = np.setdiff1d(np.arange(len(flat)), pins)
    np.testing.assert_array_equal(after[:, list(pins)], v[:, list(pins)])
    assert (after[:, free].max(axis=1) <= v[:, free].max(axis=1)).all()
    assert (after[:, free].min(axis=1) >= v[:, free].min(axis=1)).all()
    assert after[:, free].std() < 0.5 * v[:, free].std()


def test_what_is_one_moves_as_one_and_what_is_rigid_is_left_alone():
    flat, quads = grid(4, 4, 0.2, 0.2)
    material = dataclasses.replace(SOFT, sewing=True, closing_time=0.05)
    ends = np.arange(5) * 5
    pairs = np.column_stack([ends + 4, ends + 25])
    faces = np.concatenate([quads, np.array(quads) + 25]).tolist()
    sewn = Body(np.concatenate([flat, flat + np.array([0.202, 0.0, 0.0])]), faces, material, edges=pairs)
    rigid = Body(flat + np.array([0.0, 2.0, 0.0]), quads, dataclasses.replace(SOFT, rigid=True))
    simulation = Simulation([sewn, rigid], gravity=(0.0, 0.0, 0.0))
    for _ in range(6):
        simulation.step(1 / 24)
    model = model_of(simulation)
    assert model.welds.active
    v = np.random.default_rng(3).normal(0.0, 3.0, (3, len(model.w)))
    after = Viscosity(model, np.array([True, True])).even_out(v)
    np.testing.assert_array_equal(after[:, pairs[:, 0]], after[:, pairs[:, 1]])
    np.testing.assert_array_equal(after[:, 50:], v[:, 50:])
