"""Floors and walls: a distance is kept, friction follows Coulomb, what moves carries what lies on it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.inside import model_of
from helpers.meshes import grid
from pbd_addon import Body, Material, Plane, Simulation
from pbd_addon.kernels import available, load

GRAVITY = 9.81
SLACK = {"drag": 0.0, "damping": 0.0}


def sheet(friction: float = 0.4, thickness: float = 0.0, **settings) -> Body:
    return Body(*grid(2, 2, 0.2, 0.2), Material(friction=friction, thickness=thickness, **(SLACK | settings)))


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.3, -0.2, 2.0), (1.0, 0.0, 0.0)])
def test_the_thickness_is_kept(normal):
    """No vertex comes nearer to a plane than the plane's and the material's thickness together, at any frame."""
    unit = np.array(normal) / np.linalg.norm(normal)
    body = Body(*grid(4, 4, 0.5, 0.5), Material(thickness=0.01, self_collision=False))
    simulation = Simulation([body], [Plane(-0.4 * unit, normal, thickness=0.02)], gravity=tuple(-9.81 * unit))
    touched = 0
    for _ in range(24):
        report = simulation.step(1 / 24)
        assert (simulation.positions(body) @ unit).min() >= -0.4 + 0.03 - 1e-12
        touched += report.contacts
    assert touched > 0


@pytest.mark.parametrize("kernels", available())
def test_positions_may_be_a_part_of_an_array(kernels):
    """In rounds with contact they are: those of colliders come after them."""
    body = Body(*grid(2, 2, 1.0, 1.0))
    simulation = Simulation([body], [Plane((0.0, 0.0, 0.1))], kernels=kernels)
    simulation.step(1 / 24)
    plane, module = model_of(simulation).plane_constraints[0], load(kernels)
    every = np.zeros((3, 14))
    every[:, :9] = body.vertices.T
    moved = []
    for x in (every[:, :9], every[:, :9].copy()):
        moved.append(np.ascontiguousarray(body.vertices.T) - 0.05)
        plane.begin_substep(0.01, 1.0)
        plane.project(module, moved[-1], x)
    assert np.array_equal(*moved) and (moved[0][2] > -0.05).all()


def test_bodies_at_rest_on_a_floor_stay_at_rest():
    """Lying cloth neither creeps nor jumps, and all of its vertices are counted as contacts."""
    body = sheet(thickness=0.01)
    simulation = Simulation([body], [Plane((0.0, 0.0, -0.01))])
    for _ in range(24):
        report = simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body), body.vertices, atol=1e-12)
    assert report.contacts == 9


def incline(angle: float, friction: float, plane_friction: float, frames: int = 24, substeps: int = 20):
    """Way that a sheet has slid down an incline, and its speed [m], [m/s]; it starts at rest on it."""
    gravity = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
    body = sheet(friction)
    simulation = Simulation([body], [Plane(friction=plane_friction)], gravity=gravity, substeps=substeps)
    for _ in range(frames):
        simulation.step(1 / 24)
    moved = simulation.positions(body) - body.vertices
    return moved[:, 0].mean(), simulation.velocities(body)[:, 0].mean()


@pytest.mark.parametrize(("own", "plane"), [(0.2, 0.2), (0.1, 0.9), (1.0, 0.6)])
@pytest.mark.newest
def test_friction_holds_up_to_its_angle(own, plane):
    """A sheet slides on an incline steeper than arctan mu and rests on a flatter one; mu is the mean of both."""
    critical = np.arctan(0.5 * (own + plane))
    assert incline(critical - 0.01, own, plane)[0] == pytest.approx(0.0, abs=1e-9)
    assert incline(critical + 0.02, own, plane)[0] > 0.01


@pytest.mark.newest
@pytest.mark.parametrize("mu", [0.0, 0.3, 0.8])
def test_sliding_accelerates_by_what_friction_leaves(mu):
    """a = g (sin - mu cos) on an incline that is steeper than the friction angle."""
    angle = 1.0
    way, speed = incline(angle, mu, mu)
    acceleration = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
    assert speed == pytest.approx(acceleration, rel=1e-6)
    assert way == pytest.approx(0.5 * acceleration, rel=0.003)  # t (t + h) / 2 at h = 1/480 s


@pytest.mark.newest
@pytest.mark.parametrize("mu", [0.2, 0.5, 1.0])
@pytest.mark.parametrize("substeps", [5, 20])
def test_sliding_ends_after_its_distance(mu, substeps):
    """From a speed v, a body slides v² / (2 mu g); a substep more or less is v h."""
    body = sheet(mu)
    simulation = Simulation([body], [Plane(friction=mu)], substeps=substeps)
    simulation.velocities(body)[:, 1] = 2.0
    for _ in range(int(24 * 2.0 / (mu * GRAVITY)) + 4):
        simulation.step(1 / 24)
    slid = (simulation.positions(body) - body.vertices)[:, 1].mean()
    assert slid == pytest.approx(2.0**2 / (2.0 * mu * GRAVITY), abs=2.0 / (24 * substeps))
    np.testing.assert_allclose(simulation.velocities(body), 0.0, atol=1e-9)


@pytest.mark.newest
def test_friction_does_not_depend_on_iterations():
    """Friction is taken once in a substep: more iterations do not brake more."""
    ways = []
    for iterations in (1, 5):
        body = sheet(0.3)
        simulation = Simulation([body], [Plane(friction=0.3)], iterations=iterations)
        simulation.velocities(body)[:, 0] = 1.0
        for _ in range(12):
            simulation.step(1 / 24)
        ways.append((simulation.positions(body) - body.vertices)[:, 0].mean())
    assert ways[0] == pytest.approx(ways[1], rel=1e-9)


def test_a_moving_floor_carries_what_lies_on_it():
    """With enough friction, a sheet rides on a plane that moves sideways, and sinks with one that is lowered."""
    body = sheet(1.0)
    floor = Plane(friction=1.0)
    simulation = Simulation([body], [floor])
    for frame in range(1, 25):
        # From rest and back to rest, at less than mu g.
        way = 0.25 * (1.0 - np.cos(np.pi * frame / 24))
        simulation.move_plane(floor, (way, 0.0, -0.2 * way), (0.0, 0.0, 1.0))
        simulation.step(1 / 24)
    moved = simulation.positions(body) - body.vertices
    np.testing.assert_allclose(moved[:, 0], 0.5, atol=0.01)
    np.testing.assert_allclose(moved[:, 2], -0.1, atol=1e-3)


def test_a_moving_floor_without_friction_slips_away():
    """Without friction the same sheet stays behind."""
    body = sheet(0.0)
    floor = Plane(friction=0.0)
    simulation = Simulation([body], [floor])
    for frame in range(1, 13):
        simulation.move_plane(floor, (0.05 * frame, 0.0, 0.0), (0.0, 0.0, 1.0))
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body)[:, :2], body.vertices[:, :2], atol=1e-9)


def test_a_rising_floor_lifts():
    """A plane that comes up takes a body with it, never passing through."""
    body = sheet()
    floor = Plane((0.0, 0.0, -0.05))
    simulation = Simulation([body], [floor])
    for frame in range(1, 13):
        height = -0.05 + 0.05 * frame
        simulation.move_plane(floor, (0.0, 0.0, height), (0.0, 0.0, 1.0))
        simulation.step(1 / 24)
        assert simulation.positions(body)[:, 2].min() >= height - 1e-9


def test_a_tilting_plane_keeps_its_side():
    """A plane whose normal turns within a frame pushes along the turned normal."""
    body = sheet(0.0)
    wall = Plane((0.0, 0.0, -0.11))
    simulation = Simulation([body], [wall])
    for frame in range(1, 25):
        angle = 0.02 * frame
        normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
        simulation.move_plane(wall, (0.0, 0.0, -0.11), normal)
        simulation.step(1 / 24)
        assert ((simulation.positions(body) - [0.0, 0.0, -0.11]) @ normal).min() >= -1e-9


@pytest.mark.newest
def test_a_corner_of_two_walls_holds():
    """Where several planes meet, all distances are kept."""
    body = Body(*grid(4, 4, 0.4, 0.4), Material(thickness=0.005))
    planes = [Plane((0.0, 0.0, -0.3)), Plane((-0.21, 0.0, 0.0), (1.0, 0.0, 0.0))]
    simulation = Simulation([body], planes, gravity=(-6.0, 0.0, -6.0))
    for _ in range(24):
        simulation.step(1 / 24)
        x = simulation.positions(body)
        assert x[:, 2].min() >= -0.3 + 0.005 - 1e-9
        assert x[:, 0].min() >= -0.21 + 0.005 - 1e-9


def test_landing_gives_no_bounce():
    """A floor takes the falling speed and gives none back."""
    body = sheet()
    simulation = Simulation([body], [Plane((0.0, 0.0, -0.1))])
    heights = []
    for _ in range(24):
        simulation.step(1 / 24)
        heights.append(simulation.positions(body)[:, 2].max())
    landed = int(np.argmax(np.array(heights) < -0.1 + 1e-6))
    assert landed > 0
    np.testing.assert_allclose(heights[landed:], -0.1, atol=1e-6)


def test_pinned_vertices_pass_through_planes():
    """What is pinned firmly goes where its target is: a plane has no say."""
    body = Body(*grid(1, 1, 0.2, 0.2), Material(), pins=range(4))
    simulation = Simulation([body], [Plane()])
    simulation.set_pin_targets(body, body.vertices - [0.0, 0.0, 1.0])
    simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], -1.0)


@pytest.mark.parametrize("normal", [(0.0, 0.0, 1.0), (0.3, -0.2, 2.0)])
def test_what_starts_behind_a_plane_comes_out_at_one_metre_a_second(normal):
    """A sheet 10 cm behind a plane takes a tenth of a second to its surface, not a substep."""
    unit = np.array(normal) / np.linalg.norm(normal)
    body = sheet(0.0, 0.01, tethers=False)
    simulation = Simulation([body], [Plane(0.1 * unit, normal)], gravity=(0.0, 0.0, 0.0))
    lowest = int(np.argmin(body.vertices @ unit))
    simulation.step(1 / 24)
    assert simulation.positions(body)[lowest] @ unit == pytest.approx(body.vertices[lowest] @ unit + 1 / 24, abs=1e-9)
    for _ in range(5):
        simulation.step(1 / 24)
        assert np.abs(simulation.velocities(body) @ unit).max() <= 1.0 + 1e-9
    assert (simulation.positions(body) @ unit).min() >= 0.11 - 1e-9


def test_a_plane_that_comes_faster_than_it_pushes_still_takes_along():
    """The bounded speed is for what was behind before; what a fast plane meets in its way, it pushes as fast as it
    goes."""
    body = sheet(thickness=0.01)
    floor = Plane((0.0, 0.0, -0.3))
    simulation = Simulation([body], [floor], gravity=(0.0, 0.0, 0.0))
    for frame in range(1, 7):
        height = -0.3 + 0.2 * frame
        simulation.move_plane(floor, (0.0, 0.0, height), (0.0, 0.0, 1.0))
        simulation.step(1 / 24)
        assert simulation.positions(body)[:, 2].min() >= height + 0.01 - 1e-9
    np.testing.assert_allclose(simulation.velocities(body)[:, 2], 24 * 0.2, rtol=1e-6)
