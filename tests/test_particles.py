"""Single particles, springs and chains against what a pencil gives: fall, sag, swing, tension, drag."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.batches import find
from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation

GRAVITY = 9.81


def spring(stiffness: float, mass: float, length: float = 1.0, **settings) -> Body:
    """A mass below a pinned point, on a spring of some N/m."""
    return Body(
        [[0.0, 0.0, 0.0], [0.0, 0.0, -length]], edges=[[0, 1]], pins=[0], masses=[1.0, mass],
        compliances=[1.0 / stiffness], material=Material(**{"drag": 0.0, "damping": 0.0, **settings}),
    )  # fmt: skip


@pytest.mark.usefixtures("first_order")
@pytest.mark.parametrize("substeps", [1, 7, 20])
@pytest.mark.parametrize("method", ["XPBD", "PBD"])
def test_free_fall(substeps, method):
    """After N substeps of symplectic Euler, z = -g h² N (N + 1) / 2: 1/2 g t² and a remainder of g h t / 2."""
    body = Body(*grid(3, 3, 1.0, 1.0), Material(drag=0.0, damping=0.0))
    simulation = Simulation([body], substeps=substeps, method=method)
    for _ in range(24):
        simulation.step(1 / 24)
    count, h = 24 * substeps, 1 / (24 * substeps)
    fallen = body.vertices[:, 2] - simulation.positions(body)[:, 2]
    np.testing.assert_allclose(fallen, GRAVITY * h**2 * count * (count + 1) / 2, rtol=1e-11)
    np.testing.assert_allclose(fallen, GRAVITY / 2, rtol=h * 1.001)  # 1/2 g t², t = 1 s
    np.testing.assert_allclose(simulation.velocities(body)[:, 2], -GRAVITY, rtol=1e-11)


def test_a_throw_is_a_parabola():
    """Sideways motion stays while the fall goes on."""
    body = Body(*grid(2, 2, 0.1, 0.1), Material(drag=0.0, damping=0.0))
    simulation = Simulation([body], substeps=100)
    simulation.velocities(body)[:] = [3.0, 0.0, 4.0]
    for _ in range(12):
        simulation.step(1 / 24)
    moved = (simulation.positions(body) - body.vertices).mean(axis=0)
    np.testing.assert_allclose(moved, [1.5, 0.0, 2.0 - GRAVITY / 8], atol=0.5 * GRAVITY * 0.5 / 2400 * 1.001)


@pytest.mark.usefixtures("first_order")
@pytest.mark.parametrize("drag", [3.0, 20.0])
@pytest.mark.parametrize("substeps", [1, 20])
@pytest.mark.newest
def test_terminal_velocity(drag, substeps):
    """Drag c ends a fall at g / c; substeps of h make it g h / (1 - exp(-c h)) = g / c (1 + c h / 2 + (c h)² / 12)."""
    body = Body(*grid(1, 1, 1.0, 1.0), Material(drag=drag, damping=0.0))
    simulation = Simulation([body], substeps=substeps)
    for _ in range(int(24 * 15 / drag)):
        simulation.step(1 / 24)
    h = 1 / (24 * substeps)
    speed = -simulation.velocities(body)[:, 2]
    np.testing.assert_allclose(speed, GRAVITY * h / -np.expm1(-drag * h), rtol=1e-6)
    np.testing.assert_allclose(speed, GRAVITY / drag, rtol=drag * h / 2 + (drag * h) ** 2 / 12)


def test_drag_without_gravity_is_exponential():
    """v = v0 exp(-c t), for any substep."""
    for substeps in (1, 13):
        body = Body(*grid(2, 2, 1.0, 1.0), Material(drag=3.0, damping=0.0))
        simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=substeps)
        simulation.velocities(body)[:] = [1.0, 2.0, 3.0]
        for _ in range(12):
            simulation.step(1 / 24)
        np.testing.assert_allclose(simulation.velocities(body)[3], np.exp(-1.5) * np.array([1.0, 2.0, 3.0]), rtol=1e-10)


@pytest.mark.parametrize(
    ("substeps", "iterations", "stiffness", "tethers"),
    [(1, 1, 20.0, False), (20, 1, 1000.0, True), (1, 4, 1000.0, True), (5, 4, 20.0, False)],
)
def test_a_mass_on_a_spring_sags(substeps, iterations, stiffness, tethers):
    """The sag is m g / k at any number of substeps and iterations, with tethers too, and the spring pulls with m g."""
    mass = 0.1
    body = spring(stiffness, mass, drag=8.0, tethers=tethers)
    simulation = Simulation([body], substeps=substeps, iterations=iterations)
    for _ in range(120):
        simulation.step(1 / 24)
    sag = -1.0 - simulation.positions(body)[1, 2]
    assert sag == pytest.approx(mass * GRAVITY / stiffness, rel=1e-5)
    assert find(simulation, "stretch").forces() == pytest.approx(mass * GRAVITY, rel=1e-5)


def swing(substeps: int, iterations: int, frames: int, omega: float, start: float, **settings) -> np.ndarray:
    """Elongation of a spring after each frame without gravity, (frames + 1,) [m]."""
    mass = 0.1
    body = spring(mass * omega**2, mass, tethers=False, **settings)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=substeps, iterations=iterations)
    simulation.positions(body)[1, 2] -= start
    elongation = [start]
    for _ in range(frames):
        simulation.step(1 / 24)
        elongation.append(-1.0 - simulation.positions(body)[1, 2])
    return np.array(elongation)


@pytest.mark.usefixtures("first_order")
@pytest.mark.parametrize("substeps", [1, 4, 20])
@pytest.mark.parametrize("iterations", [1, 3])
def test_oscillator_is_implicit_euler(substeps, iterations):
    """A spring is x_n+1 - 2 x_n + x_n-1 = -(w h)² x_n+1, so x_n = Re A r^n with 1 / r = 1 - i w h: it swings with
    arctan(w h) / h, and its amplitude falls by 1 / sqrt(1 + w² h²) in each substep."""
    omega, h, frames = 10.0, 1 / (24 * substeps), 30
    found = swing(substeps, iterations, frames, omega, 0.2)
    # At rest at first, hence x_-1 = x_0, which is Re(A / r) = Re A.
    r = 1.0 / (1.0 - 1j * omega * h)
    amplitude = 0.2 - 1j * 0.2 * (1.0 - (1.0 / r).real) / (1.0 / r).imag
    expected = (amplitude * r ** (substeps * np.arange(frames + 1))).real
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.newest
@pytest.mark.usefixtures("first_order")
def test_oscillator_period_is_that_of_theory():
    """T = 2 pi sqrt(m / k), to (w h)² / 3, by the zero crossings of five periods."""
    omega, substeps = 10.0, 20
    found = swing(substeps, 1, 24 * 4, omega, 0.2)
    time = np.arange(len(found)) / 24
    crossings = np.flatnonzero((found[:-1] > 0.0) & (found[1:] <= 0.0))
    # A cosine between two frames is not a line: the crossing's phase from both samples and the known frequency.
    before, after = found[crossings], found[crossings + 1]
    fine = time[crossings] + np.arctan2(before * np.sin(omega / 24), before * np.cos(omega / 24) - after) / omega
    period = np.diff(fine).mean()
    assert len(crossings) >= 5
    assert period == pytest.approx(2.0 * np.pi / omega, rel=(omega / 480) ** 2)


@pytest.mark.newest
@pytest.mark.usefixtures("first_order")
def test_oscillator_decay_falls_with_the_substep():
    """Implicit Euler's damping rate is w² h / 2: at twice the substeps, half the decay."""
    omega, frames = 10.0, 48
    rates = []
    for substeps in (20, 40):
        found = np.abs(swing(substeps, 1, frames, omega, 0.2))
        rates.append(np.log(found[:8].max() / found[-8:].max()) / (frames / 24))
        assert rates[-1] == pytest.approx(omega**2 / (24 * substeps) / 2, rel=0.2)  # the maxima lie between frames
    assert rates[0] / rates[1] == pytest.approx(2.0, rel=0.2)


@pytest.mark.parametrize("iterations", [1, 4])
def test_constraint_damping_is_a_dashpot(iterations):
    """Rayleigh time b stands for a force -b k dC/dt: x_n+1 - 2 x_n + x_n-1 = -(w h)² (x_n+1 + b (x_n+1 - x_n) / h)
    (Macklin et al. 2016, eq. 26)."""
    omega, substeps, b, frames = 20.0, 4, 0.02, 20
    found = swing(substeps, iterations, frames, omega, 0.1, stretch_damping=b)
    h = 1 / (24 * substeps)
    stiff, damped = (omega * h) ** 2, (omega * h) ** 2 * b / h
    before = x = 0.1
    expected = [x]
    for count in range(1, frames * substeps + 1):
        before, x = x, ((2.0 + damped) * x - before) / (1.0 + stiff + damped)
        if count % substeps == 0:
            expected.append(x)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.newest
@pytest.mark.parametrize(("compliance", "iterations"), [(0.0, 1), (1e-5, 4), (1e-3, 1)])
def test_a_chain_carries_its_weight(compliance, iterations):
    """In a hanging chain every link pulls with the weight below it, the top one with all of it (that of the pinned
    particle apart); lambda / h² says so, in newtons."""
    count = 9
    vertices = np.column_stack([np.zeros(count), np.zeros(count), -0.1 * np.arange(count)])
    masses = np.linspace(0.05, 0.2, count)
    body = Body(vertices, edges=[[k, k + 1] for k in range(count - 1)], pins=[0], masses=masses,
                compliances=[compliance] * (count - 1), material=Material(drag=10.0, tethers=False))  # fmt: skip
    simulation = Simulation([body], iterations=iterations)
    for _ in range(48):
        simulation.step(1 / 24)
    stretch = find(simulation, "stretch")
    below = np.cumsum(masses[::-1])[::-1] * GRAVITY
    np.testing.assert_allclose(stretch.forces(), below[stretch.rows.indices.max(axis=0)], rtol=1e-4)
    assert stretch.forces().max() == pytest.approx((masses.sum() - masses[0]) * GRAVITY, rel=1e-4)


@pytest.mark.newest
def test_a_soft_chain_is_as_long_as_its_springs_say():
    """The end of a chain of n springs hangs lower by the sum of weight below / k of each."""
    count, stiffness, mass = 9, 50.0, 0.1
    vertices = np.column_stack([np.zeros(count), np.zeros(count), -0.1 * np.arange(count)])
    body = Body(vertices, edges=[[k, k + 1] for k in range(count - 1)], pins=[0], masses=[mass] * count,
                compliances=[1 / stiffness] * (count - 1), material=Material(drag=4.0))  # fmt: skip
    simulation = Simulation([body])
    for _ in range(120):
        simulation.step(1 / 24)
    expected = mass * GRAVITY / stiffness * sum(range(1, count))
    assert -0.8 - simulation.positions(body)[-1, 2] == pytest.approx(expected, rel=1e-3)


@pytest.mark.newest
def test_a_pendulum_keeps_its_energy_and_time():
    """A rope's end swings with 2 pi sqrt(l / g) (1 + a² / 16), and a stiff rope does not lengthen."""
    angle = 0.2
    body = Body([[0.0, 0.0, 0.0], [np.sin(angle), 0.0, -np.cos(angle)]], edges=[[0, 1]], pins=[0], masses=[1.0, 0.1],
                compliances=[0.0], material=Material(drag=0.0, damping=0.0))  # fmt: skip
    simulation = Simulation([body], substeps=40)
    place, lengths = [], []
    for _ in range(24 * 6):
        simulation.step(1 / 24)
        place.append(simulation.positions(body)[1, 0])
        lengths.append(np.linalg.norm(simulation.positions(body)[1]))
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)
    place = np.array(place)
    crossings = np.flatnonzero((place[:-1] > 0.0) & (place[1:] <= 0.0))
    exact = crossings + place[crossings] / (place[crossings] - place[crossings + 1])
    period = np.diff(exact).mean() / 24
    assert period == pytest.approx(2 * np.pi / np.sqrt(GRAVITY) * (1 + angle**2 / 16), rel=2e-3)
    # Without drag the only loss is that of the method: of (w h)² order for a rigid rope.
    assert place[-48:].max() > 0.97 * np.sin(angle)


def test_masses_decide_who_moves():
    """Two free particles meet at their centre of mass: w_i / (w_1 + w_2) of the way each (Mueller 2007, eq. 10)."""
    body = Body([[0.0, 0, 0], [1.0, 0, 0]], edges=[[0, 1]], masses=[3.0, 1.0], compliances=[0.0],
                rest_vertices=[[0.0, 0, 0], [0.6, 0, 0]], material=Material(drag=0.0, damping=0.0))  # fmt: skip
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=1)
    simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body)[:, 0], [0.1, 0.7], atol=1e-10)


def test_compression_has_its_own_stiffness():
    """A spring that is pushed together answers with `compression`, one that is pulled with `stretch`."""
    answers = {}
    for start in (0.1, -0.1):
        material = Material(stretch=30.0, compression=6.0, drag=0.0, damping=0.0, tethers=False)
        body = Body([[0.0, 0, 0], [0, 0, 1.0]], edges=[[0, 1]], pins=[0], masses=[1.0, 0.1], material=material)
        simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), substeps=1)
        simulation.positions(body)[1, 2] += start
        simulation.step(1 / 24)
        answers[start] = find(simulation, "stretch").forces()[0] / (simulation.positions(body)[1, 2] - 1.0)
    assert answers[0.1] / answers[-0.1] == pytest.approx(30.0 / 6.0, rel=1e-9)
