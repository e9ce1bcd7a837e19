"""Rigid bodies: they fly, spin, slide and roll as such, keep their shape, and push cloth as cloth pushes them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.batches import angular_momentum, momentum
from helpers.crossings import count_between
from helpers.meshes import CUBE, CUBE_QUADS, grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.kernels import available

DT = 1 / 24
BOX = (CUBE - 0.5) * np.array([0.6, 0.4, 0.1])
UPRIGHT = Material(rigid=True, drag=0.0)
FLOOR = np.array([[-3.0, -3.0, 0.0], [3.0, -3.0, 0.0], [3.0, 3.0, 0.0], [-3.0, 3.0, 0.0]])


def shape_error(x: np.ndarray, shape: np.ndarray) -> float:
    """Largest change of a distance between two vertices, both (n, 3) [m]."""
    some = slice(None, None, max(len(x) // 40, 1))
    distances = [np.linalg.norm(q[some, None] - q[None, some], axis=2) for q in (x, shape)]
    return float(np.abs(distances[0] - distances[1]).max())


def run(simulation: Simulation, frames: int) -> None:
    for _ in range(frames):
        simulation.step(DT)


def center(simulation: Simulation, body: Body) -> np.ndarray:
    return body.masses() @ simulation.positions(body) / body.masses().sum()


def energy_of_turning(simulation: Simulation, body: Body) -> float:
    drift = momentum(simulation, body) / body.masses().sum()
    return float(0.5 * body.masses() @ ((simulation.velocities(body) - drift) ** 2).sum(axis=1))


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
def test_a_brick_tumbles_without_loss(kernels):
    """About its middle axis, where any spin is unstable: for 2 s at 10 rad/s it keeps momentum to rounding, energy to a
    thousandth, and falls as g t² / 2 with the 0.05 frames that first order is ahead."""
    if kernels == "numba":
        pytest.importorskip("numba")
    body = Body(BOX, CUBE_QUADS, dataclasses.replace(UPRIGHT, mass=2.0), angular_velocity=(0.3, 10.0, 0.5))
    simulation = Simulation([body], kernels=kernels)
    assert body.masses().sum() == pytest.approx(2.0)
    turning, energy = angular_momentum(simulation, body, center(simulation, body)), energy_of_turning(simulation, body)
    run(simulation, 48)
    after = angular_momentum(simulation, body, center(simulation, body))
    np.testing.assert_allclose(after, turning, atol=1e-9 * np.abs(turning).max())
    assert energy_of_turning(simulation, body) == pytest.approx(energy, rel=1e-3)
    assert center(simulation, body)[2] == pytest.approx(-0.5 * 9.81 * 48 * 48.05 * DT**2, rel=1e-9)
    assert shape_error(simulation.positions(body), BOX) < 1e-12


@pytest.mark.newest
@pytest.mark.parametrize("surface", ["plane", "mesh"])
def test_a_box_slides_to_a_halt_and_rests(surface):
    """From v = 1 m/s after v² / (2 mu g); then it neither creeps nor sinks."""
    floor = Plane(friction=0.4) if surface == "plane" else Collider(FLOOR, [[0, 1, 2, 3]], thickness=0.0, friction=0.4)
    box = Body(BOX + np.array([0.0, 0.0, 0.052]), CUBE_QUADS, UPRIGHT, velocity=(1.0, 0.0, 0.0))
    simulation = Simulation([box], [floor])
    run(simulation, 10)
    assert center(simulation, box)[0] == pytest.approx(1.0 / (2.0 * 0.4 * 9.81), rel=0.03)
    before = simulation.positions(box).copy()
    run(simulation, 4)
    assert np.abs(simulation.positions(box) - before).max() < 1e-5
    assert simulation.positions(box)[:, 2].min() == pytest.approx(0.002, abs=3e-4)


def test_a_box_stays_on_a_slope_that_friction_holds():
    """At 17° with mu = 0.4, which holds up to 22°: after half a second it has not moved by 0.1 mm along it."""
    turn = np.array([[np.cos(0.3), 0.0, np.sin(0.3)], [0.0, 1.0, 0.0], [-np.sin(0.3), 0.0, np.cos(0.3)]])
    box = Body((BOX + np.array([0.0, 0.0, 0.052])) @ turn.T, CUBE_QUADS, UPRIGHT)
    simulation = Simulation([box], [Plane(normal=turn[:, 2], friction=0.4)])
    start = center(simulation, box)
    run(simulation, 12)
    assert abs((center(simulation, box) - start) @ turn[:, 0]) < 1e-4
    assert np.abs(simulation.velocities(box)).max() < 1e-3


def test_a_shell_that_slides_begins_to_roll():
    """A thin shell that is thrown along the floor rolls at 3/5 of its speed, whatever the friction."""
    vertices, triangles = icosphere(2, 0.15)
    ball = Body(vertices + np.array([0.0, 0.0, 0.153]), triangles, UPRIGHT, velocity=(1.0, 0.0, 0.0))
    simulation = Simulation([ball], [Plane(friction=0.4)])
    run(simulation, 5)
    drift = momentum(simulation, ball) / ball.masses().sum()
    assert drift[0] == pytest.approx(0.6, rel=0.03)
    spin = angular_momentum(simulation, ball, center(simulation, ball))[1] / (2 / 3 * 0.15**2)
    assert spin == pytest.approx(drift[0] / 0.15, rel=0.05)


@pytest.mark.newest
def test_boxes_stand_on_each_other():
    lower = Body(BOX + np.array([0.0, 0.0, 0.0525]), CUBE_QUADS, UPRIGHT)
    upper = Body(0.6 * BOX + np.array([0.02, 0.01, 0.1375]), CUBE_QUADS, UPRIGHT, name="upper")
    simulation = Simulation([lower, upper], [Collider(FLOOR, [[0, 1, 2, 3]])])
    run(simulation, 12)
    for body in (lower, upper):
        assert np.abs(simulation.positions(body) - body.vertices).max() < 0.002
        assert np.abs(simulation.velocities(body)).max() < 1e-3


@pytest.mark.newest
def test_what_it_gives_to_cloth_it_loses():
    """A ball flies into a free sheet: nothing goes through, and the momentum of both stays to 0.1 %."""
    sheet = Body(*grid(14, 14, 1.0, 1.0), Material(drag=0.0))
    vertices, triangles = icosphere(2, 0.15)
    start = vertices + np.array([0.1, 0.05, 0.2])
    ball = Body(start, triangles, dataclasses.replace(UPRIGHT, mass=0.2), velocity=(0.0, 0.0, -2.0))
    simulation = Simulation([sheet, ball], gravity=(0.0, 0.0, 0.0))
    for _ in range(8):
        simulation.step(DT)
        apart = count_between(simulation.positions(sheet), sheet.mesh.triangles, simulation.positions(ball), triangles)
        assert apart == 0
    of_ball, of_sheet = momentum(simulation, ball), momentum(simulation, sheet)
    np.testing.assert_allclose(of_ball + of_sheet, [0.0, 0.0, -0.4], atol=4e-4)
    assert -of_sheet[2] > 0.1
    assert shape_error(simulation.positions(ball), vertices) < 1e-9


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_a_hammock_catches_a_ball():
    """1 kg from half a meter into cotton of 2 m x 1 m at default settings: in no frame does anything go through, the
    ball keeps its shape, sinks by less than 0.25 m, and comes back to less than 0.2 m, as cotton keeps half."""
    vertices, quads = grid(20, 10, 2.0, 1.0)
    ends = np.flatnonzero(np.abs(vertices[:, 0]) > 0.999)
    cloth = Body(vertices, quads, Material.preset("Cotton"), pins=ends.tolist(), name="cloth")
    shape, triangles = icosphere(2, 0.15)
    ball = Body(shape + np.array([0.0, 0.0, 0.65]), triangles, Material(rigid=True, mass=1.0), name="ball")
    simulation = Simulation([cloth, ball])
    heights, strains = [], []
    for _ in range(22):
        simulation.step(DT)
        x = simulation.positions(cloth)
        assert count_between(x, cloth.mesh.triangles, simulation.positions(ball), triangles) == 0
        assert shape_error(simulation.positions(ball), shape) < 1e-9
        heights.append(center(simulation, ball)[2])
        strains.append(cloth.edge_strain(x).max())
    lowest = int(np.argmin(heights))
    assert -0.25 < heights[lowest] < -0.1
    assert 0.05 < max(heights[lowest:]) < 0.2
    assert max(strains) < 0.2


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_a_curtain_stops_no_ball_and_lets_none_through():
    """At 20 m/s the crossing guard has to hold cloth back: it clamps the curtain and not the ball."""
    vertices, quads = grid(15, 15, 1.5, 1.5)
    hung = vertices[:, [0, 2, 1]]
    top = np.flatnonzero(hung[:, 2] > 0.749)
    curtain = Body(hung, quads, Material.preset("Cotton"), pins=top.tolist(), name="curtain")
    shape, triangles = icosphere(2, 0.15)
    thrown = {"velocity": (0.0, 20.0, 0.0), "name": "ball"}
    ball = Body(shape + np.array([0.03, -0.6, 0.02]), triangles, Material(rigid=True, mass=1.0), **thrown)
    simulation = Simulation([curtain, ball])
    for _ in range(2):
        simulation.step(DT)
        x, y = simulation.positions(curtain), simulation.positions(ball)
        assert count_between(x, curtain.mesh.triangles, y, triangles) == 0
        assert shape_error(y, shape) < 1e-9
    assert 5.0 < momentum(simulation, ball)[1] < 17.0


@pytest.mark.slow
@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_balloons_carry_a_tray():
    """2 kg, laid onto four party balloons of 23 g each: more substeps than set keep it from pressing them flat."""
    shape, triangles = icosphere(2, 0.14)
    places = [(x, y, 0.142) for x in (-0.2, 0.2) for y in (-0.16, 0.16)]
    balloons = [Body(shape + np.array(at), triangles, Material.preset("Party Balloon")) for at in places]
    board = (CUBE - 0.5) * np.array([0.8, 0.6, 0.02]) + np.array([0.0, 0.0, 0.295])
    tray = Body(board, CUBE_QUADS, Material(rigid=True, mass=2.0), name="tray")
    simulation = Simulation([*balloons, tray], [Plane()])
    heights = []
    for _ in range(8):
        report = simulation.step(DT)
        heights.append(center(simulation, tray)[2])
        for balloon in balloons:
            x = simulation.positions(balloon)
            assert count_between(x, triangles, simulation.positions(tray), tray.mesh.triangles) == 0
            assert balloon.volume(x) == pytest.approx(balloon.volume(balloon.vertices), rel=0.02)
    assert report.reason == "rigid"
    assert report.substeps > 30
    assert 0.12 < min(heights) < 0.2
    assert heights[-1] > min(heights) + 0.02
    assert shape_error(simulation.positions(tray), board) < 1e-9


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("beside", [[], [Plane((0.0, 0.0, -1e6))]])
def test_a_mesh_floor_holds_it_also_where_there_is_a_plane(beside, kernels):
    box = Body(BOX + np.array([0.03, 0.06, 0.6]), CUBE_QUADS, UPRIGHT)
    simulation = Simulation([box], [Collider(FLOOR, [[0, 1, 2, 3]], 0.002), *beside], substeps=5, kernels=kernels)
    run(simulation, 24)
    assert simulation.positions(box)[:, 2].min() > 0.0


@pytest.mark.newest
@pytest.mark.parametrize("seed", range(3))
def test_a_corner_at_30_m_s_does_not_go_through_a_floor(seed):
    axis = np.random.default_rng(seed).normal(size=3)
    spin = tuple(8.0 * axis / np.linalg.norm(axis))
    box = Body(BOX + np.array([0.03, 0.06, 0.7]), CUBE_QUADS, UPRIGHT, velocity=(0, 0, -30), angular_velocity=spin)
    simulation = Simulation([box], [Collider(FLOOR, [[0, 1, 2, 3]], 0.002)])
    run(simulation, 8)
    assert simulation.positions(box)[:, 2].min() > 0.0


@pytest.mark.newest
def test_parts_of_one_mesh_stay_together():
    """As the eyes of a monkey in its head."""
    both = np.concatenate([BOX, BOX + np.array([0.0, 0.0, 0.4])]) + np.array([0.0, 0.0, 1.0])
    quads = np.concatenate([CUBE_QUADS, np.array(CUBE_QUADS) + len(BOX)])
    pair = Body(both, quads, UPRIGHT, angular_velocity=(1, 2, 0))
    simulation = Simulation([pair], [Plane()])
    run(simulation, 24)
    assert shape_error(simulation.positions(pair), both) < 1e-9


def test_layers_leave_it_where_it_is():
    sheet = Body(*grid(7, 7, 1.0, 1.0), Material.preset("Cotton"), layer=1)
    box = Body(BOX, CUBE_QUADS, UPRIGHT, layer=2)
    simulation = Simulation([sheet, box], gravity=(0.0, 0.0, 0.0))
    np.testing.assert_array_equal(simulation.positions(box), BOX)
    np.testing.assert_array_equal(simulation.positions(sheet), sheet.vertices)


def test_pins_hold_it():
    """Two pinned vertices are a hinge, about which it swings by a quarter turn; pins that move take it along."""
    door = Body(BOX, CUBE_QUADS, UPRIGHT, pins=[0, 2])
    simulation = Simulation([door])
    run(simulation, 6)
    assert shape_error(simulation.positions(door), BOX) < 1e-6
    np.testing.assert_array_equal(simulation.positions(door)[[0, 2]], BOX[[0, 2]])
    assert center(simulation, door)[2] < -0.1
    carried = Body(BOX, CUBE_QUADS, UPRIGHT, pins=[0, 1, 2])
    simulation = Simulation([carried])
    for frame in range(1, 7):
        simulation.set_pin_targets(carried, BOX[[0, 1, 2]] + np.array([0.1 * frame, 0.0, 0.0]))
        simulation.step(DT)
    np.testing.assert_allclose(simulation.positions(carried), BOX + np.array([0.6, 0.0, 0.0]), atol=1e-3)


def test_it_can_become_soft_and_rigid_again():
    """A material of another kind makes another model: soft, it is cloth, and then rigid again."""
    body = Body(BOX + np.array([0.0, 0.0, 0.5]), CUBE_QUADS, UPRIGHT)
    simulation = Simulation([body])
    simulation.step(DT)
    simulation.set_material(body, Material(drag=0.0))
    simulation.step(DT)
    assert "rigid" not in [kind.name for kind in simulation.constraints]
    simulation.set_material(body, UPRIGHT)
    simulation.step(DT)
    assert [kind.name for kind in simulation.constraints] == ["rigid"]
    assert shape_error(simulation.positions(body), body.vertices) < 1e-9


def test_nothing_else_of_a_rigid_material_counts():
    """It has no stiffness, pressure or seams, so that no other kind of constraint works against its shape."""
    material = Material(
        rigid=True, mass=3.0, pressure_mode="VOLUME", stretch=6000.0, sewing=True, internal_springs=True
    )
    assert material.stretch == material.bend == 0.0
    assert material.pressure_mode == "OFF"
    simulation = Simulation([Body(*icosphere(1, 0.2), material)])
    assert [kind.name for kind in simulation.constraints] == ["rigid"]
