"""Sliding pins: they stay on their rail, move along it as if there were no friction, and go where the rail goes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.batches import find
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Material, Rail, Simulation

GRAVITY = 9.81
FREE = Material(drag=0.0, damping=0.0)


def rod(start, end, parts=1):
    """A straight line in so many parts."""
    return Rail(np.linspace(start, end, parts + 1), edges=np.stack([np.arange(parts), np.arange(parts) + 1], axis=1))


def line_of(vertices, start, end):
    """Distances of vertices from the line through two points."""
    along = np.subtract(end, start) / np.linalg.norm(np.subtract(end, start))
    d = vertices - np.asarray(start)
    return np.linalg.norm(d - np.outer(d @ along, along), axis=1)


@pytest.mark.parametrize("parts", [1, 40])
@pytest.mark.parametrize("kernels", ["numpy", "numba"])
def test_beads_run_down_a_slope(parts, kernels):
    """s = g sin(slope) t² / 2, over corners of the wire too, to the error of a step: g h t / 2."""
    start, end = np.array([0.0, 0.0, 0.0]), np.array([8.0, 0.0, -6.0])
    along = (end - start) / 10.0
    body = Body(
        [start, 0.3 * along], material=FREE, edges=[[0, 1]], masses=[0.1, 0.1], rail=rod(start, end, parts),
        slides=[0, 1],
    )  # fmt: skip
    simulation = Simulation([body], kernels=kernels)
    for _ in range(24):
        simulation.step(1 / 24)
    x = simulation.positions(body)
    assert line_of(x, start, end).max() < 1e-9
    np.testing.assert_allclose(x @ along, [0.6 * GRAVITY / 2, 0.6 * GRAVITY / 2 + 0.3], atol=0.6 * GRAVITY / 480 / 2)


@pytest.mark.newest
def test_a_bob_on_a_free_bead_swings_faster():
    """With mass m on a frictionless rod and M below it on a thread l, T = 2 pi sqrt(l / g m / (m + M)), and their
    common center stays where it is along the rod."""
    m, M, length, angle = 0.3, 0.1, 0.5, 0.05
    bob = [length * np.sin(angle), 0.0, -length * np.cos(angle)]
    material = dataclasses.replace(FREE, stretch=1e5, compression=1e5)
    body = Body([[0.0, 0, 0], bob], material=material, edges=[[0, 1]], masses=[m, M], rail=rod([-1, 0, 0], [1, 0, 0]),
                slides=[0])  # fmt: skip
    simulation = Simulation([body], substeps=40)
    ways = [bob[0]]
    for _ in range(72):
        simulation.step(1 / 24)
        x = simulation.positions(body)
        ways.append(x[1, 0] - x[0, 0])
        assert abs((m * x[0, 0] + M * x[1, 0]) - M * bob[0]) < 1e-9
    ways = np.array(ways)
    down = np.flatnonzero((ways[:-1] > 0.0) & (ways[1:] <= 0.0))
    at = (down + ways[down] / (ways[down] - ways[down + 1])) / 24
    assert np.diff(at).mean() == pytest.approx(2 * np.pi * np.sqrt(length / GRAVITY * m / (m + M)), rel=0.01)


@pytest.mark.newest
def test_a_vertex_keeps_its_distance_from_a_surface():
    """Dropped beside the top of a ball, it slides down around it, at the distance of the start, to the lowest point."""
    ball, triangles = icosphere(3, 0.5)
    top = np.array([[0.02, 0.0, 0.53], [0.03, 0.0, 0.53]])
    body = Body(
        top, material=dataclasses.replace(FREE, drag=2.0), edges=[[0, 1]], rail=Rail(ball, triangles), slides=[0, 1]
    )
    simulation = Simulation([body])
    start = find_gaps(simulation, body)
    for _ in range(144):
        simulation.step(1 / 24)
        np.testing.assert_allclose(find_gaps(simulation, body), start, atol=1e-4)
    assert simulation.positions(body)[:, 2].max() < -0.52


def find_gaps(simulation, body):
    kind = find(simulation, "sliding pin")
    return kind.values(simulation.positions(body)) + kind.distances


def test_it_stays_on_its_side_of_a_fast_surface():
    """A sheet that moves by 20 times the distance in a substep takes a vertex along and does not pass through it."""
    sheet, quads = grid(4, 4, 2.0, 2.0)
    body = Body(
        [[0.0, 0, 0.002], [0.1, 0, 0.002]], material=FREE, edges=[[0, 1]], rail=Rail(sheet, quads), slides=[0, 1]
    )
    simulation = Simulation([body])
    for frame in range(1, 7):
        height = 0.8 * np.sin(frame)
        simulation.move_rail(body, sheet + np.array([0.0, 0.0, height]))
        simulation.step(1 / 24)
        np.testing.assert_allclose(simulation.positions(body)[:, 2], height + 0.002, atol=1e-9)


def test_a_rail_carries_across_and_not_along():
    """A rod that moves along itself leaves what slides on it; where it moves or turns across, that goes along."""
    body = Body(
        [[0.0, 0, 0], [0.1, 0, 0]], material=FREE, edges=[[0, 1]], rail=rod([-2, 0, 0], [2, 0, 0]), slides=[0, 1]
    )
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    rail = body.rail.vertices
    for frame in range(1, 13):
        simulation.move_rail(body, rail + np.array([0.1 * frame, 0.0, 0.0]))
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body), body.vertices, atol=1e-9)
    for frame in range(1, 13):
        simulation.move_rail(body, rail + np.array([1.2, 0.05 * frame, 0.02 * frame]))
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body), body.vertices + np.array([0.0, 0.6, 0.24]), atol=1e-9)


def curtain(frames, kernels="auto", **settings):
    """A curtain of cotton on nine rings, its first vertex pinned, its last one drawn along the rod by 0.6 m in 2 s."""
    vertices, quads = grid(40, 60, 1.0, 1.5)
    vertices = vertices[:, [0, 2, 1]] + np.random.default_rng(0).normal(0.0, 1e-4, vertices.shape) * [1.0, 1.0, 0.0]
    hung = np.arange(60 * 41, 61 * 41)[::4]
    vertices[hung, 1] = 0.0
    height = vertices[hung, 2].max()
    rail = rod([-2.0, 0.0, height], [2.0, 0.0, height])
    body = Body(vertices, quads, Material.preset("Cotton"), pins=hung[[0, -1]], rail=rail, slides=hung[1:-1])
    simulation = Simulation([body], kernels=kernels, **settings)
    seen = []
    for frame in range(frames):
        share = min(frame / 48, 1.0)
        drawn = vertices[hung[-1]] - [0.6 * share**2 * (3.0 - 2.0 * share), 0.0, 0.0]
        simulation.set_pin_targets(body, [vertices[hung[0]], drawn])
        report = simulation.step(1 / 24)
        seen.append((simulation.positions(body)[hung] - [0.0, 0.0, height], report))
    return simulation, body, seen


@pytest.mark.slow
@pytest.mark.newest
def test_a_curtain_is_drawn():
    """Its rings stay on the rod to a millimeter and in their order, with less than half of the way between the drawn
    ones; cloth crosses nowhere and is strained by less than 10 % in any frame."""
    _, _, seen = curtain(30)
    for rings, report in seen:
        assert np.abs(rings[:, 1:]).max() < 1e-3
        assert (np.diff(rings[:, 0]) > 0.0).all()
        assert report.crossings == 0
        assert report.strain_max < 0.1
    assert np.diff(seen[-1][0][:, 0])[-3:].max() < 0.05


@pytest.mark.newest
def test_a_curtain_hangs_from_rings_as_from_pins():
    """Rings take 0.6 mm at the rod, and no other difference: it hangs as deep, and is as little stretched."""
    ends = []
    for slides in (False, True):
        vertices, quads = grid(20, 30, 1.0, 1.5)
        vertices = vertices[:, [0, 2, 1]]
        hung = np.arange(30 * 21, 31 * 21)[::4]
        held = {"rail": rod([-2, 0, 0.75], [2, 0, 0.75]), "slides": hung} if slides else {"pins": hung}
        body = Body(vertices, quads, Material.preset("Cotton"), **held)
        simulation = Simulation([body])
        for _ in range(48):
            report = simulation.step(1 / 24)
        ends.append((simulation.positions(body)[:, 2].min(), report.strain_max))
    assert ends[1][0] == pytest.approx(ends[0][0], abs=1e-3)
    assert ends[1][1] < ends[0][1] + 0.01


def test_it_is_let_go_and_caught_again():
    """Not held, a vertex falls freely; held again, it is back at its distance at the end of that frame."""
    body = Body(
        [[0.0, 0, 0], [0.1, 0, 0]], material=FREE, edges=[[0, 1]], rail=rod([-2, 0, 0], [2, 0, 0]), slides=[0, 1]
    )
    simulation = Simulation([body])
    loose = dataclasses.replace(FREE, hold_pins=False)
    simulation.set_material(body, loose)
    for _ in range(6):
        simulation.step(1 / 24)
    assert simulation.positions(body)[:, 2].max() < -0.28
    simulation.set_material(body, FREE)
    simulation.step(1 / 24)
    assert np.abs(simulation.positions(body)[:, 1:]).max() < 1e-9
    simulation.step(1 / 24)
    simulation.set_maps(body, {"hold": [0.0, 1.0]})
    for _ in range(6):
        simulation.step(1 / 24)
    x = simulation.positions(body)
    assert x[0, 2] < -0.02
    assert abs(x[1, 2]) < 1e-4


@pytest.mark.newest
def test_soft_ones_are_springs_across_the_rail():
    """The stiffness is that of a soft pin: with weight 0.5 and 50 N/m, a mass of 0.1 kg sags by m g / k."""
    material = Material(pin_stiffness=50.0, drag=6.0)
    body = Body([[0.0, 0, 0], [0.1, 0, 0]], material=material, edges=[[0, 1]], masses=[0.1, 0.1],
                rail=rod([-2, 0, 0], [2, 0, 0]), slides={0: 0.5, 1: 0.5})  # fmt: skip
    simulation = Simulation([body])
    for _ in range(96):
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], -0.1 * GRAVITY / 50.0, rtol=1e-3)


@pytest.mark.newest
def test_a_frame_comes_out_the_same_again_and_with_both_kernels():
    simulation, body, _ = curtain(4, "numba")
    first = simulation.positions(body).copy()
    other, twin, _ = curtain(4, "numpy")
    np.testing.assert_allclose(other.positions(twin), first, rtol=0.0, atol=1e-9)
    runs = []
    for _ in range(2):
        simulation.truncate(2)
        simulation.step(1 / 24)
        runs.append(simulation.positions(body).copy())
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"slides": [0]}, "slides need a rail"),
        ({"slides": [0], "pins": [0], "rail": rod([0, 0, 0], [1, 0, 0])}, "vertex 0 cannot both be pinned and slide"),
        ({"slides": {0: 1.5}, "rail": rod([0, 0, 0], [1, 0, 0])}, "slide weights must be at most 1, not 1.5"),
        ({"slides": [9], "rail": rod([0, 0, 0], [1, 0, 0])}, "names vertex 9"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ValueError, match=message):
        Body(*grid(1, 1, 1.0, 1.0), **given)


def test_bad_rails():
    with pytest.raises(ValueError, match="neither faces nor edges to slide along"):
        Rail([[0.0, 0.0, 0.0]])
    body = Body(*grid(1, 1, 1.0, 1.0))
    with pytest.raises(ValueError, match="must have a rail"):
        Simulation([body]).move_rail(body, [[0.0, 0.0, 0.0]])
