"""Gas that lifts, water that weighs, what is pumped in, and bursting."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.meshes import icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.settings.solver_settings import AIR_DENSITY, ATMOSPHERE

G = 9.81
HELIUM = 0.17
TWELVE_LITERS = (0.75 * 0.012 / np.pi) ** (1 / 3)
STILL = {"air_normal": 0.0, "air_tangent": 0.0, "drag": 0.0, "damping": 0.0}
pytestmark = pytest.mark.usefixtures("fastest_kernels")
KERNELS = pytest.mark.parametrize("kernels", ["numpy", "numba"])


def balloon(radius: float, preset: str = "Party Balloon", fineness: int = 2, **settings: object) -> Body:
    vertices, triangles = icosphere(fineness, radius)
    return Body(vertices, triangles, dataclasses.replace(Material.preset(preset), **settings))


def momentum_given(body: Body, **settings: object) -> np.ndarray:
    """Force on a body in its first frame, from the momentum of skin, gas and air after it [N]."""
    simulation = Simulation([body], self_collision=False, **settings)
    simulation.step(1 / 240)
    inertia = body.masses() + body.air_masses(air_density=settings.get("air_density", AIR_DENSITY))
    return 240.0 * inertia @ simulation.velocities(body)


@KERNELS
def test_twelve_liters_of_helium_lift_a_dozen_grams(kernels):
    if kernels == "numba":
        pytest.importorskip("numba")
    body = balloon(TWELVE_LITERS, gas_density=HELIUM, **STILL)
    volume = body.volume(body.vertices)
    force = momentum_given(body, kernels=kernels)
    lift = force[2] + G * body.masses().sum()
    assert lift == pytest.approx((AIR_DENSITY - HELIUM) * G * volume, rel=1e-9)
    assert np.abs(force[:2]).max() < 1e-9 * lift
    assert lift / G * (0.012 / volume) == pytest.approx(0.01236, rel=1e-3)  # what a mesh inside the ball leaves out


def test_a_balloon_pulls_its_string_by_what_it_lifts():
    """A string from its lowest vertex to a pin: at rest it bears lift less weight, and the balloon stands above it."""
    vertices, triangles = icosphere(3, TWELVE_LITERS)
    lowest = int(vertices[:, 2].argmin())
    string = vertices[lowest] - np.outer(np.arange(1, 11), [0.0, 0.0, 0.05])
    points = np.concatenate([vertices, string])
    ends = np.array([lowest, *range(len(vertices), len(points))])
    material = dataclasses.replace(Material.preset("Party Balloon"), gas_density=HELIUM, damping=20.0)
    body = Body(points, triangles, material, pins=[len(points) - 1], edges=np.column_stack([ends[:-1], ends[1:]]))
    simulation = Simulation([body], self_collision=False)
    stretch = next(kind for kind in simulation.constraints if kind.name == "stretch")
    last = np.flatnonzero((stretch.rows.indices == len(points) - 1).any(axis=0))
    pulls = []
    for _ in range(60):
        simulation.step(1 / 24)
        pulls.append(float(stretch.forces()[last].sum()))
    lift = (AIR_DENSITY - HELIUM) * G * body.volume(simulation.positions(body))
    top = simulation.positions(body)[: len(vertices)].mean(axis=0)
    assert np.hypot(*top[:2]) < 0.01
    weight = G * (body.masses().sum() - body.masses()[-1])
    assert np.mean(pulls[-12:]) == pytest.approx(lift - weight, rel=0.02)


def test_air_inside_lifts_nothing_and_changes_no_bit():
    """A density of 0 says that inside is as outside; so does that of the air, to rounding."""
    runs = []
    for density in (0.0, AIR_DENSITY):
        body = balloon(0.14, gas_density=density)
        simulation = Simulation([body], self_collision=False)
        for _ in range(6):
            simulation.step(1 / 24)
        runs.append(simulation.positions(body).copy())
    assert np.array_equal(*runs)


def test_gravity_lifts_away_from_where_it_pulls_and_none_lifts_not():
    body = balloon(0.14, gas_density=HELIUM, **STILL)
    lift = (AIR_DENSITY - HELIUM) * body.volume(body.vertices) - body.masses().sum()
    sideways = np.array([3.0, -4.0, 2.0])
    np.testing.assert_allclose(momentum_given(body, gravity=sideways), -lift * sideways, rtol=1e-9)
    assert np.abs(momentum_given(body, gravity=(0.0, 0.0, 0.0))).max() < 1e-12


def test_normals_that_point_inwards_lift_as_well():
    vertices, triangles = icosphere(3, 0.14)
    material = dataclasses.replace(Material.preset("Party Balloon"), gas_density=HELIUM, **STILL)
    out, inward = Body(vertices, triangles, material), Body(vertices, triangles[:, ::-1], material)
    np.testing.assert_allclose(momentum_given(inward), momentum_given(out), rtol=1e-9, atol=1e-9)


def test_a_ball_of_water_falls_in_air_and_one_of_air_rises_in_water():
    """The mass that is moved is what is inside and half of what is outside, as of a ball in a fluid."""
    for inside, outside in ((1000.0, AIR_DENSITY), (AIR_DENSITY, 1000.0)):
        body = balloon(0.1, "Beach Ball", gas_density=inside, **STILL)
        volume, skin = body.volume(body.vertices), body.masses().sum()
        simulation = Simulation([body], self_collision=False, air_density=outside)
        for _ in range(4):
            simulation.step(1 / 48)
        inertia = skin + (inside + 0.5 * outside) * volume
        expected = G * ((outside - inside) * volume - skin) / inertia * 4 / 48
        assert simulation.velocities(body)[:, 2].mean() == pytest.approx(expected, rel=0.01)


def test_an_open_envelope_is_blown_up_by_hot_air():
    """Inside and outside are one at its mouth: the pressure grows from 0 there, and the lift is that of all of it."""
    vertices, triangles = icosphere(4, 3.0)
    kept = (vertices[triangles][:, :, 2] > -2.7).all(axis=1)
    used, faces = np.unique(triangles[kept], return_inverse=True)
    material = dataclasses.replace(Material.preset("Ripstop Nylon"), gas_density=0.95, **STILL)
    body = Body(vertices[used], faces.reshape(-1, 3), material)
    force = momentum_given(body)
    assert force[2] + G * body.masses().sum() == pytest.approx(0.25 * G * body.volume(body.vertices), rel=0.02)
    simulation = Simulation([body], self_collision=False)
    for _ in range(48):
        simulation.step(1 / 24)
    assert body.volume(simulation.positions(body)) > 0.97 * body.volume(body.vertices)


def test_a_pump_blows_as_many_liters_as_it_says_and_a_leak_ends_when_all_is_even():
    body = balloon(0.2, "Beach Ball", pressure_mode="GAS", overpressure=0.0, pump=6.0, stretch=5e4, compression=5e4)
    simulation = Simulation([body], self_collision=False, gravity=(0.0, 0.0, 0.0))
    volume = body.volume(body.vertices)

    def amount() -> float:
        return (ATMOSPHERE + simulation.pressure(body)[0]) * body.volume(simulation.positions(body))

    for _ in range(12):
        simulation.step(1 / 24)
    assert amount() == pytest.approx(ATMOSPHERE * (volume + 0.003), rel=1e-4)
    assert simulation.pressure(body)[0] > 1000.0
    simulation.set_material(body, dataclasses.replace(body.material, pump=0.0))
    for _ in range(12):
        simulation.step(1 / 24)
    assert amount() == pytest.approx(ATMOSPHERE * (volume + 0.003), rel=1e-4)  # it stays inside
    simulation.set_material(body, dataclasses.replace(body.material, pump=-12.0))
    for _ in range(24):
        simulation.step(1 / 24)
    assert abs(simulation.pressure(body)[0]) < 100.0
    assert amount() == pytest.approx(ATMOSPHERE * volume, rel=2e-3)


BURSTS = {
    "pressure": {"pressure_mode": "GAS", "overpressure": 0.0, "pump": 8.0, "burst_pressure": 150.0},
    "strain": {"pressure_mode": "GAS", "overpressure": 0.0, "pump": 8.0, "burst_strain": 0.06},
}


@pytest.mark.parametrize("by", BURSTS)
def test_it_bursts_at_what_was_said_and_falls_as_its_skin(by):
    body = balloon(0.14, gas_density=HELIUM, **(STILL | BURSTS[by]))
    simulation = Simulation([body], self_collision=False)
    before, frames = (0.0,), 0
    while simulation.pressure(body) or not frames:
        before, frames = simulation.pressure(body), frames + 1
        simulation.step(1 / 24)
        assert frames < 48
    assert frames > 1
    if by == "pressure":
        assert 75.0 < before[0] <= 150.0
    speed = simulation.velocities(body)[:, 2] @ body.masses() / body.masses().sum()
    for _ in range(6):
        simulation.step(1 / 24)
    fallen = simulation.velocities(body)[:, 2] @ body.masses() / body.masses().sum() - speed
    assert fallen == pytest.approx(-G * 6 / 24, rel=0.02)  # neither gas nor the air's inertia is left


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
def test_it_goes_on_from_any_frame_with_the_same_bits_also_across_the_burst(kernels):
    if kernels == "numba":
        pytest.importorskip("numba")
    settings = BURSTS["pressure"] | {"gas_density": HELIUM}
    first, second = balloon(0.14, fineness=2, **settings), balloon(0.14, fineness=2, **settings)
    one = Simulation([first], self_collision=False, kernels=kernels)
    states = []
    for _ in range(16):
        one.step(1 / 24)
        states.append(one.frames.state(one.frames.last))
    burst = [bool(state.memory["gas"]["inside"][1].any()) for state in states]
    assert not burst[1] and burst[-3]
    at = burst.index(True)
    for begin in (at - 2, at, at + 1):
        other = Simulation([second], self_collision=False, kernels=kernels)
        other.step(1 / 24)
        other.restore(1, states[begin])
        for expected in states[begin + 1 : begin + 4]:
            other.step(1 / 24)
            assert np.array_equal(other.frames.state(other.frames.last).x, expected.x)
        other.reset()
        other.step(1 / 24)
        assert other.pressure(second)  # whole again
