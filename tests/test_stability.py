"""A bad substep is undone and retried in halves; if nothing helps, the error says where, and the last frame stays."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.inside import model_of, set_model
from helpers.meshes import grid
from pbd_addon import Body, FrameInputs, Material, Plane, Simulation, UnstableError
from pbd_addon.building.build import with_constraints
from pbd_addon.constraints import Constraints
from pbd_addon.stepping.cutting import RETRIES

H = 1 / 24


class Fragile(Constraints):
    """Spoils a particle in every substep that is longer than `limit`, from substep number `after` on."""

    name = "fragile"

    def __init__(self, particle: int, limit: float, after: int = 0, value: float = np.nan) -> None:
        self.particle, self.limit, self.after, self.value = particle, limit, after, value
        self.tried: list[tuple[float, float]] = []
        self.multipliers = np.zeros(0)

    def set_materials(self, materials, settings, w) -> None:
        pass

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h = h
        self.tried.append((h, fraction))

    def project(self, kernels, p, x) -> None:
        if self.h > self.limit * (1.0 + 1e-9) and len(self.tried) > self.after:
            p[1, self.particle] = self.value

    def end_substep(self, kernels, p, x) -> None:
        pass


def sheet(**more) -> Body:
    return Body(*grid(2, 2, 1.0, 1.0), Material(drag=0.0), name="Flag", **more)


def fragile_scene(limit: float, particle: int = 4, after: int = 0, substeps: int = 1, value: float = np.nan):
    body = sheet()
    simulation = Simulation([body], substeps=substeps)
    fragile = Fragile(particle, limit, after, value)
    set_model(simulation, with_constraints(model_of(simulation), fragile))
    return body, simulation, fragile


@pytest.mark.usefixtures("first_order")
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e6])
@pytest.mark.parametrize("halvings", range(1, RETRIES + 1))
def test_a_bad_substep_is_retried_in_halves(halvings, value):
    """Numbers that are none, and speeds beyond reason, are undone; the frame is made of halves that work, and is as
    long as it should be."""
    body, simulation, fragile = fragile_scene(H / 2**halvings, value=value)
    simulation.step(H)
    good = [(h, fraction) for h, fraction in fragile.tried if h <= fragile.limit * (1.0 + 1e-9)]
    assert len(good) == 2**halvings
    np.testing.assert_allclose([fraction for _, fraction in good], np.arange(1, 2**halvings + 1) / 2**halvings)
    assert sum(h for h, _ in good) == pytest.approx(H)
    expected = Simulation([other := sheet()], substeps=2**halvings)
    expected.step(H)
    np.testing.assert_allclose(simulation.positions(body), expected.positions(other), rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(simulation.velocities(body), expected.velocities(other), rtol=0.0, atol=1e-9)


@pytest.mark.usefixtures("first_order")
def test_only_the_bad_substep_is_cut():
    """The substeps before and after a bad one keep their length."""
    _, simulation, fragile = fragile_scene(0.0, substeps=4)
    fragile.limit = H / 8
    calls = []
    project = fragile.project

    def once(kernels, p, x):
        calls.append(fragile.h)
        if len(calls) == 2:
            project(kernels, p, x)

    fragile.project = once
    simulation.step(H)
    np.testing.assert_allclose(calls, np.array([1 / 4, 1 / 4, 1 / 8, 1 / 8, 1 / 4, 1 / 4]) * H)


@pytest.mark.usefixtures("first_order")
def test_all_retries_are_made_before_giving_up():
    """The halves are halved again as often as is allowed; then the error names the body and a vertex of it."""
    body, simulation, fragile = fragile_scene(0.0, particle=7)
    with pytest.raises(UnstableError, match="Flag became unstable at vertex 7: use more substeps") as error:
        simulation.step(H)
    np.testing.assert_allclose([h for h, _ in fragile.tried], H / 2.0 ** np.arange(RETRIES + 1))
    assert error.value.body is body
    assert error.value.vertex == 7


def test_the_error_names_the_body_that_broke():
    """In a scene of several bodies, it is the one with the bad vertex, by its own number there."""
    bodies = [Body(*grid(2, 2, 1.0, 1.0), name=name) for name in ("One", "Two", "Three")]
    simulation = Simulation(bodies, substeps=1)
    set_model(simulation, with_constraints(model_of(simulation), Fragile(9 + 5, 0.0)))
    with pytest.raises(UnstableError, match="Two became unstable at vertex 5") as error:
        simulation.step(H)
    assert error.value.body is bodies[1]


def test_the_last_good_frame_is_kept():
    """After the error, positions, velocities, cache and reports are those of the last frame that was sound, and the
    simulation can go on from there."""
    body, simulation, fragile = fragile_scene(0.0, after=3, substeps=1)
    simulation.begin(10)
    with pytest.raises(UnstableError):
        simulation.advance_to(20, lambda frame: FrameInputs(), H)
    assert (simulation.frames.first, simulation.frames.last) == (10, 13)
    assert sorted(simulation.reports) == [11, 12, 13]
    expected = Simulation([other := sheet()], substeps=1)
    for _ in range(3):
        expected.step(H)
    np.testing.assert_array_equal(simulation.positions(body), expected.positions(other))
    np.testing.assert_array_equal(simulation.velocities(body), expected.velocities(other))
    fragile.limit = np.inf
    simulation.step(H)
    expected.step(H)
    np.testing.assert_array_equal(simulation.positions(body), expected.positions(other))


def test_pins_and_planes_of_a_failed_frame_are_asked_for_again():
    """A failed frame leaves nothing behind: the next try starts from where pins and planes stood before it."""
    body = sheet(pins=[0])
    floor = Plane((0.0, 0.0, -0.2))
    simulation = Simulation([body], [floor], substeps=2)
    fragile = Fragile(4, 0.0, after=2)
    set_model(simulation, with_constraints(model_of(simulation), fragile))
    simulation.step(H)
    simulation.set_pin_targets(body, body.vertices[:1] + np.array([0.0, 0.0, 1.0]))
    simulation.move_plane(floor, (0.0, 0.0, -0.1), (0.0, 0.0, 1.0))
    with pytest.raises(UnstableError):
        simulation.step(H)
    np.testing.assert_array_equal(simulation.positions(body)[0], body.vertices[0])
    fragile.limit = np.inf
    simulation.step(H)
    np.testing.assert_allclose(simulation.velocities(body)[0], [0.0, 0.0, 24.0], rtol=1e-9)


def test_a_retry_does_not_spoil_friction_on_a_moving_floor():
    """A floor that moves carries a body through a retried substep as through others."""
    places = []
    for retry in (False, True):
        body = Body(*grid(2, 2, 0.2, 0.2), Material(thickness=0.0, friction=1.0, drag=0.0, damping=0.0))
        floor = Plane(friction=1.0)
        simulation = Simulation([body], [floor], substeps=8)
        fragile = Fragile(4, H / 16 if retry else np.inf)
        set_model(simulation, with_constraints(model_of(simulation), fragile))
        for frame in range(1, 7):
            fragile.after = 0 if retry and frame in (3, 5) else 10**9
            simulation.move_plane(floor, (0.004 * frame**2, 0.0, 0.0), (0.0, 0.0, 1.0))
            simulation.step(H)
        places.append(simulation.positions(body)[:, 0].copy())
    np.testing.assert_allclose(places[1], places[0], rtol=0.0, atol=2e-3)


@pytest.mark.newest
@pytest.mark.parametrize("method", ["XPBD", "PBD"])
@pytest.mark.parametrize("substeps", [1, 3])
def test_rough_treatment_is_survived(method, substeps):
    """Pins that leap by metres, extreme stiffness and crumpled starts give sound numbers or an error, never NaN."""
    rng = np.random.default_rng(0)
    vertices, quads = grid(5, 5, 1.0, 1.0)
    material = Material(stretch=1e8, compression=1e8, shear=1e7, bend=10.0, bend_model="DIHEDRAL",
                        pressure_mode="VOLUME", pressure=5.0)  # fmt: skip
    crumpled = vertices + rng.normal(0.0, 0.3, vertices.shape)
    body = Body(crumpled, quads, material, pins=[0, 35], rest_vertices=vertices)
    simulation = Simulation([body], [Plane((0.0, 0.0, -0.1))], method=method, substeps=substeps)
    for _ in range(6):
        simulation.set_pin_targets(body, rng.normal(0.0, 3.0, (2, 3)))
        try:
            simulation.step(H)
        except UnstableError:
            break
        assert np.isfinite(simulation.positions(body)).all()
    assert np.isfinite(simulation.positions(body)).all()
    assert np.isfinite(simulation.cached_positions(body, simulation.frames.last)).all()
