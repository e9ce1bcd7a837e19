"""Laws do not depend on where one stands: turned, shifted and repeated scenes give turned, shifted, equal results."""

from __future__ import annotations

import functools
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.meshes import box, grid, icosphere, turned as turned_about
from pbd_addon import Body, Collider, Material, Plane, Simulation


def rotation(seed: int) -> np.ndarray:
    matrix = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return matrix * np.sign(np.linalg.det(matrix))


@functools.cache
def plain_scene(method: str = "XPBD") -> list[np.ndarray]:
    return scene(np.eye(3), np.zeros(3), method)


def scene(turn: np.ndarray, shift: np.ndarray, method: str = "XPBD", frames: int = 4) -> list[np.ndarray]:
    """Positions at the end of a scene with every kind of constraint, which stands turned and shifted."""

    def place(points):
        return np.asarray(points) @ turn.T + shift

    vertices, quads = grid(5, 4, 1.0, 0.8)
    ball, triangles = icosphere(1, 0.2)
    wave = np.column_stack([np.zeros((30, 2)), 0.05 * np.sin(5.0 * vertices[:, 0] + 3.0 * vertices[:, 1])])
    sheet = Body(place(vertices + wave), quads, Material(bend=1e-3, damping=1.0), {0: 1.0, 5: 0.6, 29: 1.0},
                 rest_vertices=place(vertices))  # fmt: skip
    balloon = Body(
        place(ball + np.array([0.0, 0.0, -0.3])), triangles, Material(pressure_mode="GAS", overpressure=200.0)
    )
    floor = Plane(place([[0.0, 0.0, -0.55]])[0], turn @ [0.1, 0.0, 1.0])
    simulation = Simulation([sheet, balloon], [floor], gravity=turn @ [0.0, 0.0, -9.81], method=method, iterations=2)
    simulation.velocities(balloon)[:] = turn @ [0.5, 0.0, 0.0]
    targets = vertices[[0, 5, 29]] + [0.0, 0.1, 0.0]
    for _ in range(frames):
        simulation.set_pin_targets(sheet, place(targets))
        simulation.step(1 / 24)
    return [simulation.positions(body).copy() for body in simulation.bodies]


@pytest.mark.newest
@pytest.mark.parametrize(("seed", "method"), [(0, "XPBD"), (2, "PBD")])
def test_a_turned_scene_gives_the_turned_result(seed, method):
    """Rotating everything rotates the result, to 1e-9 m."""
    turn = rotation(seed)
    for plain, turned in zip(plain_scene(method), scene(turn, np.zeros(3), method)):
        np.testing.assert_allclose(turned, plain @ turn.T, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("distance", [10.0, 100_000.0])
@pytest.mark.newest
def test_a_scene_far_away_gives_the_same_result(distance):
    """Shifting everything shifts the result: positions far out lose digits (1e-16 x distance in each of 120 substeps,
    times 1e4 for what the motion makes of it), nothing more."""
    shift = distance * np.array([1.0, -0.7, 0.4])
    for plain, shifted in zip(plain_scene(), scene(np.eye(3), shift)):
        np.testing.assert_allclose(shifted - shift, plain, rtol=0.0, atol=1e-9 + 1e-10 * distance)


@pytest.mark.newest
def test_a_mirrored_scene_gives_the_mirrored_result():
    """Nothing in the laws knows left from right."""
    mirror = np.diag([-1.0, 1.0, 1.0])
    for plain, mirrored in zip(plain_scene(), scene(mirror, np.zeros(3))):
        np.testing.assert_allclose(mirrored, plain @ mirror, rtol=0.0, atol=1e-9)


@pytest.mark.newest
def test_two_simulations_agree_to_the_bit():
    """The same input gives the same bits, in the same process."""
    for one, other in zip(plain_scene(), scene(np.eye(3), np.zeros(3))):
        np.testing.assert_array_equal(one, other)


def digest() -> str:
    return hashlib.sha256(b"".join(x.tobytes() for x in scene(np.eye(3), np.zeros(3)))).hexdigest()


@pytest.mark.newest
def test_processes_agree_to_the_bit():
    """The same input gives the same bits in another process, whatever its hash seed."""
    tests = Path(__file__).resolve().parent
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
    environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": f"{tests.parent}{os.pathsep}{tests}"}
    command = [sys.executable, "-c", "import test_invariance; print(test_invariance.digest())"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == digest()


def test_a_reset_simulation_repeats_itself():
    """After `reset`, the same steps give the same bits as the first time."""
    body = Body(*grid(4, 4, 1.0, 1.0), pins=[0, 4])
    simulation = Simulation([body])
    runs = []
    for _ in range(2):
        for _ in range(4):
            simulation.step(1 / 24)
        runs.append(simulation.positions(body).copy())
        simulation.reset()
    np.testing.assert_array_equal(*runs)


@pytest.mark.usefixtures("first_order")  # as all are beside a balloon
@pytest.mark.parametrize(("self_collision", "away"), [(False, 0.0), (True, 2.0)])
@pytest.mark.newest
def test_bodies_do_not_disturb_each_other(self_collision, away):
    """A body moves in company as it does alone, to rounding: through another if they may not meet, or away from it."""
    vertices, quads = grid(4, 3, 1.0, 0.8)
    ball, triangles = icosphere(1, 0.3)

    def cloth() -> Body:
        return Body(vertices, quads, Material(damping=2.0), pins=[0, 4])

    alone, together = cloth(), cloth()
    balloon = Body(
        ball + np.array([away, 0.0, 0.0]), triangles, Material(stretch=100.0, pressure_mode="VOLUME", pressure=1.3)
    )
    for bodies in ([alone], [balloon, together]):
        simulation = Simulation(bodies, self_collision=self_collision)
        for _ in range(8):
            simulation.step(1 / 24)
        if alone in simulation.bodies:
            expected = simulation.positions(alone).copy()
    np.testing.assert_allclose(simulation.positions(together), expected, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("damping", [1.0, 10.0, 1000.0])
def test_damping_does_not_brake_flight(damping):
    """A cloth that flies without deforming goes on as if there were no damping (Mueller 2007, sec. 3.5)."""
    ways = []
    for rate in (0.0, damping):
        body = Body(*grid(3, 3, 1.0, 1.0), Material(damping=rate, drag=0.0))
        simulation = Simulation([body])
        simulation.velocities(body)[:] = [4.0, 0.0, 2.0]
        for _ in range(12):
            simulation.step(1 / 24)
        ways.append(simulation.positions(body) - body.vertices)
    np.testing.assert_allclose(ways[1], ways[0], atol=1e-9)
    np.testing.assert_allclose(ways[0], np.tile([2.0, 0.0, 1.0 - 9.81 / 8.0], (16, 1)), atol=9.81 / 8.0 / 240)


@pytest.mark.parametrize("damping", [1.0, 100.0])
@pytest.mark.parametrize("shape", ["sheet", "ball", "rope"])
def test_damping_does_not_brake_spin(damping, shape):
    """In a rigid rotation, any damping leaves every velocity as it is, to rounding."""
    nothing = {"stretch": 0.0, "compression": 0.0, "shear": 0.0, "bend": 0.0, "drag": 0.0}
    vertices, faces, edges = (*grid(3, 3, 1.0, 1.0), ())
    if shape == "ball":
        vertices, faces = icosphere(1, 0.5)
    if shape == "rope":
        vertices, faces, edges = np.outer(np.arange(5), [0.1, 0.2, 0.3]), [], [[k, k + 1] for k in range(4)]
    body = Body(vertices, faces, Material(damping=damping, **nothing), edges=edges)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=1)
    velocities = np.cross([3.0, -2.0, 5.0], vertices - vertices.mean(axis=0)) + np.array([1.0, 2.0, 3.0])
    simulation.velocities(body)[:] = velocities
    simulation.step(1e-3)
    np.testing.assert_allclose(simulation.velocities(body), velocities, rtol=0.0, atol=1e-12)


@pytest.mark.newest
def test_a_spinning_ball_spins_on_under_damping():
    """A stiff ball keeps the spin that it has without damping, through many frames: the lost share differs by less
    than 0.1 %."""
    spins = []
    for damping in (0.0, 20.0):
        vertices, triangles = icosphere(1, 0.5)
        body = Body(vertices, triangles, Material(damping=damping, drag=0.0))
        simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
        simulation.velocities(body)[:] = np.cross([0.0, 0.0, 4.0], vertices)
        for _ in range(12):
            simulation.step(1 / 24)
        moment = body.masses() @ np.cross(simulation.positions(body), simulation.velocities(body))
        spins.append(moment[2] / (body.masses() @ np.cross(vertices, np.cross([0.0, 0.0, 4.0], vertices)))[2])
    assert spins[0] > 0.9
    assert spins[1] == pytest.approx(spins[0], abs=1e-3)


def test_damping_ends_wobble():
    """What is no rigid motion dies out with the damping's rate: exp(-c t) for free particles."""
    nothing = {"stretch": 0.0, "compression": 0.0, "shear": 0.0, "bend": 0.0, "drag": 0.0}
    vertices, triangles = icosphere(1, 0.5)
    body = Body(vertices, triangles, Material(damping=3.0, **nothing))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=5)
    simulation.velocities(body)[:] = 0.01 * vertices  # growing: neither flight nor spin
    for _ in range(24):
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.velocities(body), 0.01 * np.exp(-3.0) * vertices, rtol=1e-2, atol=1e-15)


def contact_scene(shift: np.ndarray, self_collision: bool | str = True) -> np.ndarray:
    """Where two sheets that fall onto the edge of a turning box, and one onto the other, are after each of some
    frames."""
    vertices, quads = grid(10, 8, 0.3, 0.24)
    material = Material(bend=1e-5, self_distance=0.01)
    sheets = [Body(vertices + shift + place, quads, material) for place in ([0.06, 0.02, 0.11], [0.05, 0.01, 0.125])]
    corners, triangles = box((0.2, 0.2, 0.2), 2)
    block = Collider(corners + shift, triangles, friction=0.5)
    simulation = Simulation(sheets, [block], self_collision=self_collision)
    frames = []
    for frame in range(1, 7):
        simulation.move_collider(block, turned_about(corners, 0.05 * frame, 2) + shift)
        simulation.step(1 / 24)
        frames.append(np.concatenate([simulation.positions(sheet) for sheet in sheets]) - shift)
    assert simulation.reports[6].contacts > 10
    assert (simulation.reports[6].self_contacts > 0) == bool(self_collision)
    return np.array(frames)


@pytest.mark.newest
@pytest.mark.parametrize(
    "self_collision", [True, pytest.param("FAST", marks=pytest.mark.slow), pytest.param(False, marks=pytest.mark.slow)]
)
def test_contact_a_kilometre_away_is_the_same(self_collision):
    """1 km from the origin the same contact takes place, to a micrometre, with obstacles and of cloth with itself."""
    expected = contact_scene(np.zeros(3), self_collision)
    for direction in ([1.0, 0.0, 0.0], [0.6, -0.5, 0.624]):
        frames = contact_scene(1000.0 * np.array(direction), self_collision)
        np.testing.assert_allclose(frames, expected, rtol=0.0, atol=1e-6)


@pytest.mark.parametrize("self_distance", [0.01, 0.1])
@pytest.mark.newest
def test_contact_does_not_know_of_strangers(self_distance):
    """A sheet claps onto itself in the same way if another one lies far away, whatever distance that one keeps."""
    vertices, quads = grid(20, 10, 0.6, 0.3)
    folded = vertices.copy()
    folded[:, 0], folded[:, 2] = np.abs(vertices[:, 0]) * np.sin(0.9), vertices[:, 0] * np.cos(0.9)
    places = []
    for company in (False, True):
        body = Body(folded, quads, Material(self_distance=0.01, bend=1e-6), rest_vertices=vertices)
        other, squares = grid(4, 4, 0.5, 0.5)
        stranger = Body(other + np.array([5.0, 0.0, 0.0]), squares, Material(self_distance=self_distance))
        simulation = Simulation([body, stranger] if company else [body], gravity=(0.0, 0.0, 0.0))
        simulation.velocities(body)[:, 2] = -8.0 * folded[:, 2]
        for _ in range(6):
            report = simulation.step(1 / 24)
        assert report.self_contacts > 0
        places.append(simulation.positions(body).copy())
    np.testing.assert_allclose(*places, rtol=0.0, atol=1e-9)
