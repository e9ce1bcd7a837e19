"""Stretch and contact together: what contact holds back is not torn, and what starts inside leaves as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import count_between, crossing_pairs, is_inside
from helpers.inside import state_of
from helpers.meshes import box, grid, icosphere, turned
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.kernels import available

DT = 1 / 24


@pytest.fixture(params=available()[-1:])
def kernels(request):
    return request.param


def largest_strain(simulation: Simulation, body: Body) -> float:
    return float(np.abs(body.edge_strain(simulation.positions(body))).max())


@pytest.mark.newest
def test_a_sheet_that_falls_on_a_spike_is_not_torn(kernels):
    """The whole sheet hangs on the one face that the tip is under, and is then dragged off it by an edge."""
    vertices, quads = grid(20, 20, 0.4, 0.4)
    body = Body(vertices + np.array([0.003, 0.005, 0.42]), quads, pins=range(0, 21 * 21, 21))
    tip = np.array([[0.0, 0.0, 0.4], [0.025, 0.0, 0.0], [-0.0125, 0.0217, 0.0], [-0.0125, -0.0217, 0.0]])
    spike = Collider(tip, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])
    simulation = Simulation([body], [spike], kernels=kernels)
    for frame in range(1, 17):
        shift = max(frame - 6, 0) * DT
        simulation.set_pin_targets(body, body.vertices[body.pin_ids] - [shift, 0.0, 0.0])
        simulation.step(DT)
        assert largest_strain(simulation, body) < 0.4, f"frame {frame}"
        assert not count_between(simulation.positions(body), body.mesh.triangles, spike.vertices, spike.mesh.triangles)


@pytest.mark.newest
def test_a_ball_that_flies_into_a_curtain_does_not_tear_it(kernels):
    """At 5 m/s, into the middle of a curtain and on."""
    vertices, quads = grid(16, 16, 0.6, 0.6)
    body = Body(turned(vertices, np.pi / 2, 0), quads, pins=range(17 * 16, 17 * 17))
    middle = body.vertices.mean(axis=0)
    sphere, faces = icosphere(2, 0.1)
    ball = Collider(sphere + middle - [0.0, 0.15, 0.0], faces)
    simulation = Simulation([body], [ball], kernels=kernels)
    for frame in range(1, 7):
        simulation.move_collider(ball, ball.vertices + np.array([0.0, 5.0 * DT * min(frame, 3), 0.0]))
        simulation.step(DT)
        assert largest_strain(simulation, body) < 0.4, f"frame {frame}"
    x = simulation.positions(body)
    assert not len(crossing_pairs(x, body.mesh.triangles))
    assert not count_between(x, body.mesh.triangles, ball.vertices + np.array([0.0, 15.0 * DT, 0.0]), faces)


@pytest.mark.newest
def test_a_curtain_that_a_fast_ball_has_hit_does_not_tear_as_it_whips(kernels):
    """At 20 m/s, through the middle and past it: the largest strain was where nothing touched any more."""
    vertices, quads = grid(20, 20, 1.0, 1.0)
    body = Body(turned(vertices, np.pi / 2, 0), quads, pins=range(21 * 20, 21 * 21))
    sphere, faces = icosphere(2, 0.15)
    ball = Collider(sphere + body.vertices.mean(axis=0) - [0.0, 0.3, 0.0], faces)
    simulation = Simulation([body], [ball], kernels=kernels)
    for frame in range(1, 5):
        simulation.move_collider(ball, ball.vertices + np.array([0.0, min(20.0 * DT * frame, 3.0), 0.0]))
        simulation.step(DT)
        assert largest_strain(simulation, body) < 0.4, f"frame {frame}"
    assert not len(crossing_pairs(simulation.positions(body), body.mesh.triangles))


@pytest.mark.newest
@pytest.mark.parametrize("seed", [2, 4])
def test_what_a_ball_at_50_m_s_hits_does_not_tear_in_its_wake(seed):
    """Cloth that it threw folds at many edges a substep, where the crossing guard holds single vertices back."""
    pytest.importorskip("numba")
    vertices, quads = grid(30, 30, 1.0, 1.0)
    upright = turned(vertices, np.pi / 2, 0)
    noise = np.random.default_rng(seed).normal(0.0, 1e-6, upright.shape)
    body = Body(upright + noise, quads, pins=range(31 * 30, 31 * 31), rest_vertices=vertices)
    sphere, faces = icosphere(2, 0.15)
    ball = Collider(sphere + upright.mean(axis=0) - [0.0, 0.3, 0.0], faces)
    simulation = Simulation([body], [ball], kernels="numba")
    for frame in range(1, 4):
        simulation.move_collider(ball, ball.vertices + np.array([0.0, min(50.0 * DT * frame, 3.0), 0.0]))
        simulation.step(DT)
        assert largest_strain(simulation, body) < 0.4, f"frame {frame}"
    assert not len(crossing_pairs(simulation.positions(body), body.mesh.triangles))


@pytest.mark.newest
def test_a_sheet_through_the_middle_of_a_ball_leaves_it_in_one_piece(kernels):
    """Its nearest faces are on all sides; it goes out on one, no faster than 0.5 m/s, and lies on the ball."""
    vertices, quads = grid(12, 12, 0.2, 0.2)
    sphere, faces = icosphere(2, 0.2)
    body = Body(vertices, quads)
    simulation = Simulation([body], [Collider(sphere, faces)], kernels=kernels)
    for frame in range(1, 15):
        before = simulation.positions(body).copy()
        held = is_inside(before, sphere, faces)
        simulation.step(DT)
        moved = np.linalg.norm(simulation.positions(body) - before, axis=1)
        assert moved[held].max(initial=0.0) < 1.2 * 0.5 * DT, f"frame {frame}"
        assert largest_strain(simulation, body) < 0.2, f"frame {frame}"
    assert not is_inside(simulation.positions(body), sphere, faces).any()


def test_a_sheet_half_through_a_floor_comes_up_without_tearing(kernels):
    """It stands upright with its lower half in a box; what is above crumples onto what comes up."""
    vertices, quads = grid(12, 12, 0.3, 0.3)
    corners, triangles = box((1.0, 1.0, 1.0))
    body = Body(turned(vertices, np.pi / 2, 0), quads, rest_vertices=vertices)
    simulation = Simulation([body], [Collider(corners - [0.0, 0.0, 0.5], triangles)], kernels=kernels)
    for frame in range(1, 17):
        simulation.step(DT)
        assert largest_strain(simulation, body) < 0.2, f"frame {frame}"
    x = simulation.positions(body)
    assert x[:, 2].min() > 0.0
    assert not len(crossing_pairs(x, body.mesh.triangles))


@pytest.mark.newest
def test_a_frame_repeats_to_the_bit_from_its_state(kernels):
    """Going back to a state while cloth hangs on a spike gives the same frame, whatever was known before."""
    vertices, quads = grid(16, 16, 0.4, 0.4)
    body = Body(vertices + np.array([0.003, 0.005, 0.42]), quads)
    tip = np.array([[0.0, 0.0, 0.4], [0.025, 0.0, 0.0], [-0.0125, 0.0217, 0.0], [-0.0125, -0.0217, 0.0]])
    simulation = Simulation([body], [Collider(tip, [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]])], kernels=kernels)
    for _ in range(4):
        simulation.step(DT)
    state = state_of(simulation).copy()
    simulation.step(DT)
    first = simulation.positions(body).copy()
    simulation.restore(4, state)
    simulation.step(DT)
    np.testing.assert_array_equal(simulation.positions(body), first)


@pytest.mark.newest
def test_the_forces_of_all_rounds_carry_the_weight(kernels):
    """A hollow ball of cloth that stands on a plate: what the plate pushes is the change of momentum, in each substep.

    Few vertices carry all of it, so that stretch and contact are solved in several rounds.
    """
    sphere, faces = icosphere(3, 0.15)
    body = Body(sphere + np.array([0.0, 0.0, 0.153]), faces, Material(drag=0.0, damping=0.0, friction=0.0))
    plate, quads = grid(1, 1, 1.0, 1.0)
    simulation = Simulation([body], [Collider(plate, quads, friction=0.0)], kernels=kernels, substeps=1)
    contact, masses = find(simulation, "contact"), body.masses()
    several, h, weight = 0, 1 / 480, 9.81 * masses.sum()
    short = []
    for number in range(160):
        before = masses @ simulation.velocities(body)[:, 2]
        simulation.step(h)
        if number < 120:
            continue
        particles, gradients = contact.gradients(simulation.positions(body))
        up = np.where(particles < len(sphere), gradients[:, :, 2], 0.0).sum(axis=1)
        change = (masses @ simulation.velocities(body)[:, 2] - before) / h
        short.append((contact.forces() @ up - change) / weight - 1.0)
        several += len(np.unique(particles, axis=0)) < len(particles)
    assert several > 10
    assert np.mean(np.abs(short)) < 0.01
    assert np.max(np.abs(short)) < 0.05
