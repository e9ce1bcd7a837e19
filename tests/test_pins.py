"""Pins: firm ones are where they are told to be, soft ones are springs, tethers keep stiff cloth within reach."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.batches import find
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.constraints import tether_rows
from pbd_addon.stepping import time_stepping

GRAVITY = 9.81


@pytest.mark.parametrize("method", ["XPBD", "PBD"])
def test_firm_pins_reach_their_targets_exactly(method):
    """After each frame, a pin of weight 1 is where it was sent, up to rounding, in the order of `pin_ids`."""
    body = Body(*grid(4, 4, 1.0, 1.0), pins=[24, 0, 4])
    simulation = Simulation([body], method=method, substeps=7)
    rng = np.random.default_rng(0)
    for _ in range(5):
        targets = body.vertices[body.pin_ids] + rng.normal(0.0, 0.1, (3, 3))
        simulation.set_pin_targets(body, targets)
        simulation.step(1 / 24)
        np.testing.assert_allclose(simulation.positions(body)[[0, 4, 24]], targets, rtol=0.0, atol=2e-16)


def test_pins_stay_without_new_targets():
    """A pin that is told nothing more stays at its last target."""
    body = Body(*grid(2, 2, 1.0, 1.0), pins=[0])
    simulation = Simulation([body])
    simulation.set_pin_targets(body, [[0.0, 1.0, 2.0]])
    for _ in range(3):
        simulation.step(1 / 24)
        np.testing.assert_array_equal(simulation.positions(body)[0], [0.0, 1.0, 2.0])


def test_targets_are_reached_on_a_straight_even_path():
    """Within a frame a pin moves evenly, in each substep by its length, and its velocity is way / time: no jerk."""
    body = Body(*grid(2, 2, 1.0, 1.0), pins=[0, 2])
    simulation = Simulation([body], substeps=16)
    places, stretch = [], find(simulation, "stretch")
    project = stretch.project

    def spy(kernels, p, x):
        places.append((p[0, :3] if kernels.PACKED else p[:, 0]).copy())
        project(kernels, p, x)

    stretch.project = spy
    start = body.vertices[[0, 2]]
    simulation.set_pin_targets(body, start + np.array([0.4, -0.2, 0.8]))
    simulation.step(1 / 24)
    steps = np.diff(np.array([body.vertices[0], *places]), axis=0)
    shares = time_stepping.lengths(16, True) / time_stepping.lengths(16, True).sum()
    np.testing.assert_allclose(steps, np.outer(shares, [0.4, -0.2, 0.8]), atol=1e-14)
    np.testing.assert_allclose(simulation.velocities(body)[0], np.array([0.4, -0.2, 0.8]) * 24, rtol=1e-12)


def test_a_body_that_is_carried_along_is_not_shaken():
    """A whole cloth on pins that move evenly moves evenly: after the start, no vertex is jerked from frame to frame."""
    body = Body(*grid(4, 4, 0.5, 0.5), Material(damping=5.0, drag=0.0), pins=range(20, 25))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    speed = np.array([0.0, 1.0, 0.0])
    simulation.velocities(body)[:] = speed
    for frame in range(1, 13):
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] + speed * frame / 24)
        simulation.step(1 / 24)
        np.testing.assert_allclose(simulation.velocities(body), np.tile(speed, (25, 1)), atol=1e-9)


@pytest.mark.parametrize(("weight", "substeps", "iterations"), [(0.1, 1, 3), (0.5, 10, 1), (0.9, 1, 1)])
def test_soft_pins_sag_by_their_spring(weight, substeps, iterations):
    """A pin of weight w is a spring of k = pin stiffness x w / (1 - w): a mass on it sags m g / k."""
    mass, pin_stiffness = 0.2, 50.0
    body = Body([[0.0, 0, 0], [0.0, 1.0, 0]], edges=[[0, 1]], pins={0: weight, 1: weight}, masses=[mass, mass],
                material=Material(pin_stiffness=pin_stiffness, drag=6.0, damping=0.0))  # fmt: skip
    simulation = Simulation([body], substeps=substeps, iterations=iterations)
    for _ in range(24 * 6):
        simulation.step(1 / 24)
    stiffness = pin_stiffness * weight / (1.0 - weight)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], -mass * GRAVITY / stiffness, rtol=1e-3)
    np.testing.assert_allclose(find(simulation, "attachment").forces(), mass * GRAVITY, rtol=1e-3)


def test_soft_pins_swing_with_the_period_of_their_spring():
    """T = 2 pi sqrt(m / k) for a mass on a soft pin."""
    mass, stiffness = 0.2, 20.0
    body = Body([[0.0, 0, 0], [0.0, 1.0, 0]], edges=[[0, 1]], pins={0: 0.5, 1: 0.5}, masses=[mass, mass],
                material=Material(pin_stiffness=stiffness, drag=0.0, damping=0.0))  # fmt: skip
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=40)
    simulation.velocities(body)[:, 2] = 1.0
    heights = [0.0]
    for _ in range(48):
        simulation.step(1 / 24)
        heights.append(simulation.positions(body)[0, 2])
    heights = np.array(heights)
    down = np.flatnonzero((heights[:-1] > 0.0) & (heights[1:] <= 0.0))
    exact = (down + heights[down] / (heights[down] - heights[down + 1])) / 24
    assert np.diff(exact).mean() == pytest.approx(2.0 * np.pi * np.sqrt(mass / stiffness), rel=0.01)


def test_soft_pins_follow_their_targets():
    """The spring of a soft pin pulls towards where the target is, not towards where it was."""
    body = Body(*grid(1, 1, 1.0, 1.0), Material(pin_stiffness=500.0, drag=5.0), pins=dict.fromkeys(range(4), 0.5))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    targets = body.vertices + np.array([1.0, 2.0, 3.0])
    simulation.set_pin_targets(body, targets)
    for _ in range(72):
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body), targets, atol=1e-4)


def test_tethers_know_the_way_along_the_cloth():
    """Their length is the geodesic rest distance: on a flat sheet that from pin to vertex as the crow flies, at most
    8 % more for a path over edges, diagonals and unfolded hinges; over a fold it is longer than the straight line."""
    vertices, quads = grid(10, 10, 1.0, 1.0)
    particles, anchors, lengths = tether_rows(Body(vertices, quads).mesh, vertices, np.array([0]))
    straight = np.linalg.norm(vertices[particles] - vertices[anchors], axis=1)
    assert (lengths >= straight - 1e-12).all()
    assert (lengths <= 1.083 * straight).all()
    assert sorted(particles.tolist()) == list(range(1, 121))
    ball, triangles = icosphere(2, 1.0)
    particles, _, lengths = tether_rows(Body(ball, triangles).mesh, ball, np.array([0]))
    opposite = np.flatnonzero(particles == int(np.linalg.norm(ball + ball[0], axis=1).argmin()))
    assert np.pi * 0.97 < lengths[opposite[0]] < np.pi * 1.09


@pytest.mark.newest
@pytest.mark.parametrize("rx", [8, 20])
def test_no_vertex_of_stiff_cloth_is_beyond_reach(rx):
    """In a hard fall onto its pins, no vertex of stiff cloth ends farther from a pin than the way along the cloth and
    the slack (elastic strain; 1.083 for paths, see above), and 3 % that the sweep after the tethers may add."""
    vertices, quads = grid(rx, rx, 1.0, 1.0)
    pins = np.array([0, rx])
    body = Body(vertices, quads, Material(stretch=20_000.0, compression=20_000.0), pins=pins)
    simulation = Simulation([body], substeps=10)
    straight = np.linalg.norm(vertices[:, None] - vertices[pins], axis=2)
    for _ in range(24):
        simulation.step(1 / 24)
        tether = find(simulation, "tether")
        x = simulation.positions(body)
        distance = np.linalg.norm(x[:, None] - x[pins], axis=2)
        assert (tether.values(x) >= -0.03).all()
        assert (distance <= straight * 1.083 * 1.06 + 0.03).all()


@pytest.mark.newest
def test_tethers_hold_a_fine_stiff_cloth():
    """At few substeps a fine stiff cloth without chains would whip like rubber; with tethers its lowest point is never
    lower than the way to it along edges and unfolded hinges is long, 8.3 % at most, and less than half of without."""
    depths = {False: 0.0, True: 0.0}
    for tethers in (False, True):
        vertices, triangles = grid(24, 24, 1.0, 1.0)
        # Cut into triangles at random, so that no straight chains help.
        rng = np.random.default_rng(0)
        faces = []
        for a, b, c, d in triangles:
            faces += [[a, b, c], [a, c, d]] if rng.random() < 0.5 else [[a, b, d], [b, c, d]]
        inner = np.abs(vertices[:, :2]).max(axis=1) < 0.499
        vertices[inner, :2] += rng.uniform(-0.35, 0.35, (inner.sum(), 2)) / 24
        material = Material(stretch=50_000.0, compression=50_000.0, tethers=tethers, drag=2.0)
        body = Body(vertices[:, [0, 2, 1]], faces, material, pins=range(24 * 25, 25 * 25))
        simulation = Simulation([body], substeps=2)
        for _ in range(24):
            simulation.step(1 / 24)
            depths[tethers] = max(depths[tethers], -0.5 - simulation.positions(body)[:, 2].min())
    assert depths[True] < 0.083
    assert depths[True] < 0.5 * depths[False]


@pytest.mark.parametrize("stretch", [20.0, 100.0, 1000.0])
@pytest.mark.parametrize("substeps", [4, 12])
@pytest.mark.newest
def test_tethers_do_not_stiffen_soft_cloth(stretch, substeps):
    """A soft cloth sags with tethers as without, within 5 %."""
    sags = []
    for tethers in (False, True):
        vertices, quads = grid(6, 6, 1.0, 1.0)
        material = Material(stretch=stretch, compression=stretch, shear=0.2 * stretch, tethers=tethers, drag=4.0)
        body = Body(vertices[:, [0, 2, 1]], quads, material, pins=range(42, 49))
        simulation = Simulation([body], substeps=substeps)
        for _ in range(48):
            simulation.step(1 / 24)
        sags.append(-0.5 - simulation.positions(body)[:7, 2].mean())
    assert sags[1] == pytest.approx(sags[0], rel=0.05)


def test_tethers_of_a_torn_off_piece_do_not_exist():
    """A piece without a pin of its own is free to fall."""
    vertices, quads = grid(2, 2, 1.0, 1.0)
    both = np.concatenate([vertices, vertices + np.array([5.0, 0.0, 0.0])])
    body = Body(both, quads + [[k + 9 for k in quad] for quad in quads], Material(drag=0.0), pins=[0])
    simulation = Simulation([body])
    for _ in range(24):
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body)[9:, 2], -GRAVITY / 2, rtol=0.01)


def falling(pins, hold, frames=12, **settings):
    """Positions, frame by frame, of a cotton sheet of 1 m with or without pins, held or not."""
    material = dataclasses.replace(Material.preset("Cotton"), hold_pins=hold)
    body = Body(*grid(20, 20, 1.0, 1.0), material, pins=pins)
    simulation = Simulation([body], **settings)
    seen = []
    for _ in range(frames):
        simulation.step(1 / 24)
        seen.append(simulation.positions(body))
    return np.array(seen)


@pytest.mark.parametrize("pins", [[0, 20], {0: 1.0, 20: 0.5}])
@pytest.mark.parametrize("automatic", [False, True])
@pytest.mark.newest
def test_pins_that_are_not_held_do_nothing(pins, automatic):
    """The same bits as without pins."""
    loose = falling(pins, False, automatic=automatic)
    np.testing.assert_array_equal(loose, falling((), True, automatic=automatic))
    assert np.abs(loose[-1] - falling(pins, True, automatic=automatic)[-1]).max() > 0.1


@pytest.mark.parametrize("weights", [(1.0, 1.0), (0.5, 1.0), (1.0, 0.5)])
@pytest.mark.parametrize("automatic", [False, True])
@pytest.mark.newest
def test_a_pin_that_the_map_lets_go_does_nothing(weights, automatic):
    """The same bits as without it, firm or soft; one that holds is as ever, at the limit too."""
    ends = []
    for pins, maps in (
        (dict(zip((0, 20), weights)), {"hold": np.where(np.arange(441) == 20, 0.49, 0.5)}),
        ({0: weights[0]}, {}),
        (dict(zip((0, 20), weights)), {"hold": np.zeros(441)}),
        ({}, {}),
    ):
        body = Body(*grid(20, 20, 1.0, 1.0), Material.preset("Cotton"), pins=pins, maps=maps)
        simulation = Simulation([body], automatic=automatic)
        for _ in range(12):
            simulation.step(1 / 24)
        ends.append(simulation.positions(body))
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[2], ends[3])
    assert np.abs(ends[0] - ends[2]).max() > 0.1


@pytest.mark.newest
def test_hooks_let_go_one_after_another_and_take_hold_again():
    body = Body(*grid(20, 20, 1.0, 1.0), Material.preset("Cotton"), pins=range(0, 21, 5))
    simulation = Simulation([body])
    weights = np.zeros(441)
    weights[body.pin_ids] = np.linspace(0.6, 1.0, 5)
    held, runs = [], []
    simulation.step(1 / 24)
    for _ in range(2):
        simulation.truncate(0)
        for k in range(16):
            simulation.set_maps(body, {"hold": 1.0 + weights * (np.interp(k, [2, 12, 13], [1.0, 0.0, 1.0]) - 1.0)})
            simulation.step(1 / 24)
            held.append(np.isclose(simulation.positions(body)[body.pin_ids], body.vertices[body.pin_ids]).all(axis=1))
        runs.append(simulation.positions(body).copy())
    assert [row.sum() for row in held[:14:3]] == [5, 5, 5, 2, 0]
    assert all((one >= other)[:-1].all() for one, other in zip(held[:12], held[1:13])), "none holds again by itself"
    assert held[15].sum() == 0, "loose pins aim at where they have fallen to until they are told otherwise"
    np.testing.assert_array_equal(*runs)


@pytest.mark.slow
@pytest.mark.newest
def test_pins_let_go_and_hold_again_without_a_leap():
    """Let go, a hanging sheet falls; held again, its pins are back in one frame; a second run is the same."""
    held = Material.preset("Cotton")
    body = Body(*grid(20, 20, 1.0, 1.0), held, pins=[0, 20])
    simulation = Simulation([body])
    for _ in range(24):
        simulation.step(1 / 24)
    hanging = simulation.positions(body)
    simulation.set_material(body, dataclasses.replace(held, hold_pins=False))
    for _ in range(6):
        simulation.step(1 / 24)
    fallen = simulation.positions(body)
    assert (hanging - fallen)[[0, 20], 2].min() > 0.2
    simulation.step(1 / 24)
    runs = []
    for _ in range(2):
        simulation.truncate(30)
        simulation.set_material(body, held)
        simulation.set_pin_targets(body, body.vertices[[0, 20]])
        simulation.step(1 / 24)
        np.testing.assert_allclose(simulation.positions(body)[[0, 20]], body.vertices[[0, 20]], rtol=0.0, atol=1e-15)
        for _ in range(24):
            simulation.step(1 / 24)
        runs.append(simulation.positions(body))
    np.testing.assert_array_equal(*runs)
    assert body.edge_strain(runs[0]).max() < 0.05
