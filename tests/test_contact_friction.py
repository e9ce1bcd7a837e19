"""Coulomb's friction on a mesh and on cloth: what holds, what slides, and how fast."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid, turned
from pbd_addon import Body, Collider, Material, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24
GRAVITY = 9.81
FREE = {"drag": 0.0, "damping": 0.0}


class Incline:
    """A slope down along +x with a sheet that lies on it, at the distance that contact keeps.

    Args:
        angle: Of the slope [rad].
        own: Friction of the sheet.
        ground: Friction of the slope.
        static: Static friction of the slope.
        of_cloth: The slope is a sheet that is held, not a collider.
    """

    def __init__(
        self, angle: float, own: float, ground: float, static: float | None = None, of_cloth: bool = False
    ) -> None:
        self.up = turned(np.array([[0.0, 0.0, 1.0]]), angle, 1)[0]
        self.down = turned(np.array([[1.0, 0.0, 0.0]]), angle, 1)[0]
        vertices, quads = grid(6, 5, 0.3, 0.25)
        self.gap = 0.01 if of_cloth else 0.004
        lying = turned(turned(vertices, 0.4, 2), angle, 1) + self.gap * self.up
        material = Material(**FREE, friction=own, thickness=0.003, self_distance=0.01)
        self.body = Body(lying, quads, material)
        if of_cloth:
            vertices, quads = grid(30, 16, 1.5, 0.8)
            held = Material(**FREE, friction=ground, self_distance=0.01)
            slope = Body(turned(vertices + np.array([0.4, 0.0, 0.0]), angle, 1), quads, held, pins=range(len(vertices)))
            self.simulation = Simulation([self.body, slope])
        else:
            vertices, quads = grid(1, 1, 4.0, 4.0)
            slope = Collider(turned(vertices, angle, 1), quads, 0.001, friction=ground, static_friction=static)
            assert len(slope.mesh.triangles) == 2
            self.simulation = Simulation([self.body], [slope])

    def speeds(self, frames: int) -> np.ndarray:
        """Mean speed down the slope after each of some frames, (frames,) [m/s]; the sheet must not leave it."""
        result = []
        for _ in range(frames):
            self.simulation.step(DT)
            result.append(self.simulation.velocities(self.body).mean(axis=0) @ self.down)
        heights = self.simulation.positions(self.body) @ self.up
        assert heights.mean() == pytest.approx(self.gap, abs=0.25 * self.gap)  # it lies on the slope
        return np.array(result)


TWO_DEGREES = np.radians(2.0)


@pytest.mark.parametrize(("own", "ground"), [(0.1, 0.5), (0.6, 0.6)])
def test_friction_of_a_mesh_holds_below_its_angle(own, ground):
    """Two degrees below arctan mu a sheet stays where it is; mu is the mean of both sides."""
    slope = Incline(np.arctan(0.5 * (own + ground)) - TWO_DEGREES, own, ground)
    speeds = slope.speeds(24)
    assert abs(speeds[-1]) < 1e-4
    assert np.linalg.norm(slope.simulation.positions(slope.body) - slope.body.vertices, axis=1).max() < 1e-3


@pytest.mark.parametrize(("own", "ground"), [(0.1, 0.5), (0.6, 0.6)])
def test_a_sliding_sheet_comes_to_rest_below_its_angle(own, ground):
    """Pushed down the slope at 0.3 m/s, it is braked by g (mu cos a - sin a) and then rests."""
    mu = 0.5 * (own + ground)
    angle = np.arctan(mu) - TWO_DEGREES
    slope = Incline(angle, own, ground)
    slope.simulation.velocities(slope.body)[:] = 0.3 * slope.down
    brake = GRAVITY * (mu * np.cos(angle) - np.sin(angle))
    frames = int(np.ceil(0.3 / brake / DT))
    speeds = slope.speeds(frames + 6)
    half = frames // 2
    assert speeds[half - 1] == pytest.approx(0.3 - brake * half * DT, abs=0.05 * brake * half * DT)
    np.testing.assert_allclose(speeds[-4:], 0.0, atol=1e-4)


@pytest.mark.parametrize(("own", "ground"), [(0.1, 0.5), (0.6, 0.6)])
@pytest.mark.parametrize("above", [TWO_DEGREES, np.radians(15.0)])
def test_a_sheet_slides_above_its_angle_as_coulomb_says(own, ground, above):
    """Its speed grows by g (sin a - mu cos a), within 5 %."""
    mu = 0.5 * (own + ground)
    angle = np.arctan(mu) + above
    speeds = Incline(angle, own, ground).speeds(24)
    expected = GRAVITY * (np.sin(angle) - mu * np.cos(angle))
    assert speeds[-1] == pytest.approx(expected, rel=0.05)
    assert speeds[11] == pytest.approx(0.5 * expected, rel=0.05)


def test_without_friction_a_mesh_is_slippery():
    """g sin a, at an angle where any friction would hold."""
    speeds = Incline(0.1, 0.0, 0.0).speeds(24)
    assert speeds[-1] == pytest.approx(GRAVITY * np.sin(0.1), rel=0.01)


@pytest.mark.parametrize("cuts", [1, 7])
def test_the_edges_within_a_flat_mesh_are_not_felt(cuts):
    """A sheet that slides at 1 m/s over a level floor without friction keeps its speed and its height over all edges
    of the floor's triangles."""
    vertices, quads = grid(6, 5, 0.3, 0.25)
    material = Material(**FREE, friction=0.0, thickness=0.003)
    body = Body(turned(vertices, 0.4, 2) + np.array([-0.6, 0.013, 0.004]), quads, material)
    simulation = Simulation([body], [Collider(*grid(cuts, cuts, 4.0, 4.0), 0.001, friction=0.0)])
    simulation.velocities(body)[:, 0] = 1.0
    for frame in range(1, 25):
        simulation.step(DT)
        heights = simulation.positions(body)[:, 2]
        assert np.abs(heights - 0.004).max() < 0.0004, f"{1e3 * np.ptp(heights):.2f} mm in frame {frame}"
        assert simulation.velocities(body)[:, 0].mean() == pytest.approx(1.0, abs=0.01)


def test_static_friction_holds_what_rests_and_not_what_slides():
    """Between both angles a sheet that rests stays, and one that was pushed goes on, faster and faster.

    Dynamic 0.2 and static 0.8 on the slope with 0.2 on the cloth: whether the static one is the mean or not, an angle
    of arctan 0.35 lies between.
    """
    angle = np.arctan(0.35)
    resting = Incline(angle, 0.2, 0.2, static=0.8)
    assert abs(resting.speeds(24)[-1]) < 1e-4
    pushed = Incline(angle, 0.2, 0.2, static=0.8)
    pushed.simulation.velocities(pushed.body)[:] = 0.5 * pushed.down
    speeds = pushed.speeds(24)
    expected = GRAVITY * (np.sin(angle) - 0.2 * np.cos(angle))
    assert speeds[-1] - speeds[0] == pytest.approx(expected * 23 * DT, rel=0.05)


def test_friction_may_be_changed_while_it_runs():
    """A sheet that slides is held from the frame on in which the ground becomes rough."""
    slope = Incline(0.3, 0.0, 0.0)
    assert slope.speeds(6)[-1] > 0.5
    ground = next(iter(slope.simulation._collider_number))
    ground.friction = ground.static_friction = 4.0
    np.testing.assert_allclose(slope.speeds(12)[-3:], 0.0, atol=1e-4)


@pytest.mark.parametrize("mu", [0.2, 0.6])
def test_cloth_rests_on_cloth_below_its_angle(mu):
    """Two degrees below arctan mu, a sheet lies still on one that is held."""
    slope = Incline(np.arctan(mu) - TWO_DEGREES, mu, mu, of_cloth=True)
    speeds = slope.speeds(24)
    assert abs(speeds[-1]) < 1e-3
    assert np.linalg.norm(slope.simulation.positions(slope.body) - slope.body.vertices, axis=1).max() < 5e-3


@pytest.mark.parametrize(("own", "ground"), [(0.1, 0.5), (0.6, 0.6)])
def test_cloth_slides_on_cloth_as_coulomb_says(own, ground):
    """Ten degrees above arctan mu its speed grows by g (sin a - mu cos a), within 10 %; mu is the mean of both."""
    mu = 0.5 * (own + ground)
    angle = np.arctan(mu) + np.radians(10.0)
    speeds = Incline(angle, own, ground, of_cloth=True).speeds(16)
    expected = GRAVITY * (np.sin(angle) - mu * np.cos(angle)) * 16 * DT
    assert speeds[-1] == pytest.approx(expected, rel=0.10)


@pytest.mark.parametrize(("mu", "carried", "within"), [(1.0, 1.0, 0.005), (0.0, 0.0, 0.01)])
def test_cloth_carries_cloth(mu, carried, within):
    """A sheet that is moved sideways takes along what lies on it by friction.

    Without any it stays, but for a twentieth of the way: vertices that pass under its border push it to the side.
    """
    vertices, quads = grid(6, 6, 0.3, 0.3)
    upper = Body(vertices + np.array([0.0, 0.0, 0.01]), quads, Material(**FREE, friction=mu, self_distance=0.01))
    vertices, quads = grid(16, 12, 0.8, 0.6)
    lower = Body(vertices, quads, Material(**FREE, friction=mu, self_distance=0.01), pins=range(len(vertices)))
    simulation = Simulation([upper, lower])
    for frame in range(1, 25):
        # From rest and back to rest, at less than mu g.
        way = 0.1 * (1.0 - np.cos(np.pi * frame / 24))
        simulation.set_pin_targets(lower, lower.vertices + np.array([way, 0.0, 0.0]))
        simulation.step(DT)
    moved = simulation.positions(upper) - upper.vertices
    np.testing.assert_allclose(moved[:, 0].mean(), 0.2 * carried, atol=within)
    np.testing.assert_allclose(moved[:, 2], 0.0, atol=0.002)


def test_a_moving_mesh_carries_what_lies_on_it():
    """A tray that moves sideways, and turns, takes a sheet along."""
    vertices, quads = grid(6, 6, 0.2, 0.2)
    body = Body(vertices + np.array([0.0, 0.0, 0.004]), quads, Material(**FREE, friction=1.0, thickness=0.003))
    tray, quad = grid(1, 1, 1.0, 1.0)
    collider = Collider(tray, quad, 0.001, friction=1.0)
    simulation = Simulation([body], [collider])
    for frame in range(1, 25):
        way = 0.5 * (1.0 - np.cos(np.pi * frame / 24))
        simulation.move_collider(collider, turned(tray, 0.6 * way, 2) + np.array([0.3 * way, 0.0, 0.0]))
        simulation.step(DT)
    expected = turned(body.vertices, 0.6, 2) + np.array([0.3, 0.0, 0.0])
    assert np.linalg.norm(simulation.positions(body) - expected, axis=1).max() < 0.01
