"""Grab: a hand takes cloth, moves it and lets go, while the simulation runs."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation
from pbd_addon.parts.grabs import Grabs

NO_GRAVITY = (0.0, 0.0, 0.0)


def sheet(n=10, pins=(), **settings):
    vertices, quads = grid(n, n, 1.0, 1.0)
    body = Body(vertices, quads, Material(**{"drag": 2.0, **settings}), pins=pins)
    return body, Simulation([body], gravity=NO_GRAVITY, self_collision=False)


def steps(simulation, count):
    for _ in range(count):
        report = simulation.step(1 / 24)
    return report


@pytest.mark.slow
@pytest.mark.newest
def test_cloth_follows_the_hand_and_comes_to_it():
    body, simulation = sheet()
    hand = simulation.grab(body, [60])
    for way in np.linspace(0.0, 0.6, 12):
        hand.move((0.0, 0.0, way))
        steps(simulation, 1)
    steps(simulation, 150)
    x = simulation.positions(body)
    assert x[60] == pytest.approx(body.vertices[60] + np.array([0.0, 0.0, 0.6]), abs=0.01)
    assert x[:, 2].min() > 0.0


@pytest.mark.newest
@pytest.mark.slow
def test_a_grip_sags_by_its_compliance_under_the_weight():
    """m g = F, way = F x compliance, however many vertices share the grip."""
    for ids in ([60], [48, 49, 59, 60, 61, 71, 72]):
        vertices, quads = grid(10, 10, 1.0, 1.0)
        body = Body(vertices, quads, Material(density=1.0, drag=8.0, bend=10.0, tethers=False))
        simulation = Simulation([body], self_collision=False, substeps=60)
        simulation.grab(body, ids, compliance=0.01)
        steps(simulation, 40)
        sag = -simulation.positions(body)[ids, 2].mean()
        assert sag == pytest.approx(0.01 * 9.81, rel=0.02)


@pytest.mark.newest
def test_a_hand_that_runs_away_stretches_nothing_apart():
    body, simulation = sheet(pins=range(11))
    hand = simulation.grab(body, [104, 115, 116])
    hand.move((0.0, 2.0, 0.0))
    report = steps(simulation, 30)
    assert report.strain_max < 0.25
    assert np.isfinite(simulation.positions(body)).all()


def test_the_weights_say_who_is_held_more():
    body, simulation = sheet(stretch=1.0, compression=1.0, shear=0.0, bend=0.0)
    hand = simulation.grab(body, [59, 61], weights=[0.9, 0.1])
    hand.move((0.0, 0.0, 0.3))
    steps(simulation, 1)
    gone = simulation.positions(body)[[59, 61], 2]
    assert gone[0] > gone[1] > 0.0


def test_a_firm_grip_is_exact_and_leaves_pins_alone():
    body, simulation = sheet(pins=[0])
    hand = simulation.grab(body, [0, 120], compliance=0.0)
    hand.move((-0.1, 0.0, 0.2))
    steps(simulation, 5)
    x = simulation.positions(body)
    assert x[120] == pytest.approx(body.vertices[120] + np.array([-0.1, 0.0, 0.2]), abs=0.02)
    assert np.array_equal(x[0], body.vertices[0])


def test_release_frees_and_costs_nothing_afterwards():
    body, simulation = sheet()
    plain_body, plain = sheet()
    kinds = [kind.name for kind in simulation.constraints]
    hand = simulation.grab(body, [60])
    assert "grab" in [kind.name for kind in simulation.constraints]
    hand.release()
    hand.release()
    assert [kind.name for kind in simulation.constraints] == kinds
    steps(simulation, 3)
    steps(plain, 3)
    assert np.array_equal(simulation.positions(body), plain.positions(plain_body))


@pytest.mark.newest
def test_two_hands_and_one_lets_go():
    body, simulation = sheet()
    left, right = simulation.grab(body, [0]), simulation.grab(body, [120])
    left.move((0.0, 0.0, 0.5))
    right.move((0.0, 0.0, 0.5))
    left.release()
    steps(simulation, 60)
    x = simulation.positions(body)
    assert x[120, 2] == pytest.approx(0.5, abs=0.02)
    assert model_of(simulation).part(Grabs).grabs.grabs == [right]


@pytest.mark.newest
def test_settings_can_change_while_something_is_held():
    body, simulation = sheet()
    hand = simulation.grab(body, [60])
    hand.move((0.0, 0.0, 0.2))
    simulation.set_material(body, Material(bend=1e-3, drag=2.0))
    steps(simulation, 60)
    assert simulation.positions(body)[60, 2] == pytest.approx(0.2, abs=0.01)


def test_steps_in_place_keep_the_frame_and_move_the_cloth():
    body, simulation = sheet(pins=range(11))
    steps(simulation, 3)
    hand = simulation.grab(body, [115])
    hand.move((0.0, 0.0, 0.3))
    for _ in range(10):
        simulation.step(1 / 24, in_place=True)
    assert (simulation.frames.first, simulation.frames.last) == (0, 3)
    kept = simulation.cached_positions(body, 3)
    assert kept[115, 2] > 0.2
    assert np.allclose(kept, simulation.positions(body), atol=1e-6)
    assert simulation.cached_positions(body, 2)[115, 2] == 0.0


def test_a_snapshot_is_gone_back_to():
    body, simulation = sheet(pins=range(11))
    steps(simulation, 3)
    before = simulation.frames.state(3)
    places = simulation.positions(body).copy()
    simulation.grab(body, [115]).move((0.0, 0.0, 0.3))
    for _ in range(4):
        simulation.step(1 / 24, in_place=True)
    steps(simulation, 2)
    simulation.restore(3, before)
    assert simulation.frames.last == 3
    assert np.array_equal(simulation.positions(body), places)
    assert np.allclose(simulation.cached_positions(body, 3), places, atol=1e-6)
    assert model_of(simulation).part(Grabs) is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"vertices": []}, "different vertices"),
        ({"vertices": [121]}, "vertices names vertex 121, but there are 121"),
        ({"vertices": [3, 3]}, "different vertices"),
        ({"vertices": [1, 2], "weights": [1.0]}, r"weights must have shape \(2,\), not \(1,\)"),
        ({"vertices": [1], "weights": [0.0]}, "above 0"),
        ({"vertices": [1], "compliance": -1.0}, "at least 0 m/N, not -1"),
    ],
)
def test_bad_grabs_are_refused(arguments, words):
    body, simulation = sheet()
    with pytest.raises(ValueError, match=words):
        simulation.grab(body, **arguments)
    with pytest.raises(ValueError, match="three finite numbers"):
        simulation.grab(body, [0]).move((0.0, np.nan, 0.0))


def test_both_backends_hold_alike():
    pytest.importorskip("numba")
    shapes = []
    for kernels in ("numpy", "numba"):
        vertices, quads = grid(4, 4, 1.0, 1.0)
        body = Body(vertices, quads)
        simulation = Simulation([body], kernels=kernels)
        hand = simulation.grab(body, [3, 4, 5], weights=[0.2, 1.0, 0.2])
        hand.move((0.1, 0.2, 0.3))
        steps(simulation, 4)
        shapes.append(simulation.positions(body).copy())
    assert np.allclose(*shapes, atol=1e-9)
