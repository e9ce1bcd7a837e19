"""Ropes: chains of loose edges bend as a ribbon of their material does, by the elastica and by finite differences."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.agreement import backends_agree
from helpers.batches import angular_momentum, find, momentum
from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation
from pbd_addon.constraints import rope_rows
from pbd_addon.kernels import available

DT, GRAVITY = 1 / 24, 9.81
QUIET = {"air_normal": 0.0, "air_tangent": 0.0, "self_collision": False}


def chain(count: int) -> np.ndarray:
    return np.column_stack([np.arange(count), np.arange(1, count + 1)])


def rope(points: np.ndarray, preset: str = "Paper", pins=(), rest=None, maps=None, **more) -> Body:
    """A rope along points; what is no setting of the material is an argument of the body."""
    settings = {name: more.pop(name) for name in list(more) if name in Material.__dataclass_fields__}
    material = dataclasses.replace(Material.preset(preset), **{**QUIET, **settings})
    edges = chain(len(points) - 1)
    return Body(points, [], material, pins, rest_vertices=rest, edges=edges, maps=maps, **more)


def line(cells: int, length: float, before: int = 0) -> np.ndarray:
    """Points along x from 0 on, and some before."""
    return np.outer(np.arange(-before, cells + 1) * length / cells, [1.0, 0.0, 0.0])


def arc(cells: int, length: float, angle: float) -> np.ndarray:
    """Points on a circle of which this length is an angle, in the plane of x and z."""
    turn = np.linspace(0.0, angle, cells + 1)
    return length / angle * np.column_stack([np.sin(turn), np.zeros(cells + 1), 1.0 - np.cos(turn)])


def elastica(load: float, length: float, steps: int = 1000) -> float:
    """How far the end of a clamped elastica of a weight per length over EI [1/m³] hangs [m], by shooting."""
    ds, low, high = length / steps, 0.0, load * length**2
    for _ in range(50):
        curvature = 0.5 * (low + high)
        turn, bend, depth = 0.0, curvature, 0.0
        for k in range(steps):
            bend -= ds * load * (length - (k + 0.5) * ds) * np.cos(turn + 0.5 * ds * bend)
            turn += ds * bend
            depth += ds * np.sin(turn)
        low, high = (low, curvature) if bend > 0.0 else (curvature, high)
    return depth


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize(("preset", "length"), [("Cotton", 0.03), ("Paper", 0.1), ("Paper", 0.2)])
@pytest.mark.parametrize(("cells", "within"), [(10, 0.02), (20, 0.012)])
def test_a_clamped_rope_hangs_as_deep_as_the_elastica(preset, length, cells, within, kernels):
    body = rope(line(cells, length, before=1), preset, [0, 1], drag=5.0, damping=5.0)
    simulation = Simulation([body], kernels=kernels)
    for _ in range(60):
        simulation.step(DT)
    expected = elastica(body.material.density * GRAVITY / body.material.bend, length)
    assert -simulation.positions(body)[-1, 2] == pytest.approx(expected, rel=within)


@pytest.mark.parametrize("kernels", available())
def test_a_rope_curls_as_at_rest_and_keeps_its_place(kernels):
    body = rope(line(20, 0.2) + [[0.0, 0.0, 1e-4 * (k % 3)] for k in range(21)], rest=arc(20, 0.2, 2.0), damping=5.0)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), kernels=kernels)
    middle = np.average(body.vertices, axis=0, weights=body.masses())
    for _ in range(48):
        simulation.step(DT)
    along = np.diff(simulation.positions(body), axis=0)
    along /= np.linalg.norm(along, axis=1)[:, None]
    np.testing.assert_allclose(np.arccos((along[1:] * along[:-1]).sum(axis=1)), 0.1, rtol=0.01)
    np.testing.assert_allclose(np.average(simulation.positions(body), axis=0, weights=body.masses()), middle, atol=1e-9)
    assert np.abs(momentum(simulation, body)).max() < 1e-12


def test_a_rope_that_springs_open_neither_moves_nor_turns():
    body = rope(arc(20, 0.3, 3.0), rest=line(20, 0.3), damping=0.0, drag=0.0)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    for _ in range(6):
        simulation.step(DT)
    speeds = np.linalg.norm(simulation.velocities(body), axis=1)
    assert speeds.max() > 0.1
    assert np.abs(momentum(simulation, body)).max() < 1e-12
    arms = np.abs(simulation.positions(body) - simulation.positions(body).mean(axis=0)).max()
    whole = body.masses().sum() * arms * speeds.max()
    assert np.abs(angular_momentum(simulation, body, simulation.positions(body).mean(axis=0))).max() < 0.01 * whole


def test_gradients_are_those_of_the_values():
    body = rope(arc(6, 0.3, 2.0), rest=arc(6, 0.3, 1.0))
    kind = find(Simulation([body]), "rope bend")
    x = body.vertices + np.random.default_rng(3).normal(0.0, 0.01, body.vertices.shape)
    rows, gradients = kind.gradients(x)
    for row in range(len(rows)):
        for k in range(3):
            for axis in range(3):
                ends = []
                for way in (1e-6, -1e-6):
                    moved = x.copy()
                    moved[rows[row, k], axis] += way
                    ends.append(kind.values(moved)[row])
                assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradients[row, k, axis], abs=1e-5)


def test_only_where_just_two_edges_meet_a_rope_is_stiff():
    """Not at its ends and not where it branches, however its edges are given."""
    edges = np.array([[1, 0], [1, 2], [3, 2], [3, 4], [3, 5]])
    np.testing.assert_array_equal(rope_rows(edges, 7), [[0, 1, 2], [1, 2, 3]])
    assert len(rope_rows(edges[:0], 7)) == 0
    np.testing.assert_array_equal(rope_rows(np.array([[0, 1], [1, 2], [2, 0]]), 3), [[1, 0, 2], [0, 1, 2], [0, 2, 1]])


def names(body: Body, **settings) -> list[str]:
    return [kind.name for kind in Simulation([body], **settings).constraints]


def test_what_has_no_bending():
    points = line(5, 0.1)
    assert "rope bend" in names(rope(points))
    assert "rope bend" not in names(rope(points), method="PBD")
    assert "rope bend" not in names(rope(points, bend=0.0))
    assert "rope bend" not in names(rope(points, masses=np.ones(6)))
    assert "rope bend" not in names(rope(points, compliances=np.zeros(5)))
    assert "rope bend" not in names(Body(*grid(2, 2, 0.1, 0.1)))


@pytest.mark.newest
def test_a_map_makes_a_rope_limp():
    ends = []
    for factors in (np.ones(12), np.where(np.arange(12) > 5, 0.0, 1.0), np.zeros(12)):
        body = rope(line(10, 0.1, before=1), pins=[0, 1], maps={"bend": factors}, drag=5.0, damping=5.0)
        simulation = Simulation([body])
        for _ in range(48):
            simulation.step(DT)
        ends.append(-simulation.positions(body)[-1, 2])
    assert ends[0] < 0.04 < ends[1] < 0.08 < ends[2]


def test_backends_agree_and_frames_come_back():
    def scene(kernels: str) -> tuple[Simulation, Body]:
        body = rope(arc(12, 0.2, 1.0), rest=line(12, 0.2), pins=[0, 1])
        return Simulation([body], kernels=kernels), body

    backends_agree(scene, 8)


def test_a_rope_with_a_dynamic_mesh_grows_and_curls():
    body = rope(arc(20, 0.2, 0.2), dynamic_mesh=True, damping=5.0)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    for k in range(1, 49):
        share = min(k / 24, 1.0)
        simulation.set_rest_shape(body, arc(20, 0.2 * (1.0 + share), 0.2 + 1.8 * share))
        report = simulation.step(DT)
    along = np.diff(simulation.positions(body), axis=0)
    lengths = np.linalg.norm(along, axis=1)
    along /= lengths[:, None]
    np.testing.assert_allclose(lengths, 0.02, rtol=0.002)
    np.testing.assert_allclose(np.arccos((along[1:] * along[:-1]).sum(axis=1)), 0.1, rtol=0.06)
    assert report.strain_max < 0.002
