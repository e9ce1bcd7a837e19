"""Plates: stiff sheets hang as the elastica says at the default settings, and keep what must be kept."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np
import pytest

from helpers.meshes import clamped_strip, grid, icosphere
from pbd_addon import Body, Material, Simulation
from pbd_addon.constraints import PlateConstraints, plate
from pbd_addon.constraints.plate_blocks import block_entries
from pbd_addon.kernels import available, numpy as numpy_kernels
from pbd_addon.kernels.protocol.blocks import Factors

DT = 1 / 24
FREE = {"drag": 0.0, "damping": 0.0, "air_normal": 0.0, "air_tangent": 0.0}
PAPER = dataclasses.replace(Material.preset("Paper"), **FREE)
ROTATION = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))[0]


@functools.cache
def elastica(length: float, load: float) -> float:
    """Depth of the tip of a beam that is clamped level, theta'' = -load (length - s) cos theta with theta = 0 at the
    clamp and theta' = 0 at the tip, by shooting with the midpoint rule; load is weight per area over B [1/m³]."""
    steps = 1000
    ds = length / steps

    def shoot(curvature: float) -> tuple[float, float]:
        angle = depth = 0.0
        for k in range(steps):
            s = (k + 0.5) * ds
            half = angle + 0.5 * ds * curvature
            bend = curvature - 0.5 * ds * load * (length - s) * np.cos(angle)
            curvature -= ds * load * (length - s) * np.cos(half)
            depth += ds * np.sin(half)
            angle += ds * bend
        return curvature, depth

    low, high = 0.0, load * length**2
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if shoot(middle)[0] > 0.0 else (middle, high)
    return shoot(0.5 * (low + high))[1]


def test_the_elastica_is_a_beam_where_it_bends_little():
    assert elastica(1.0, 0.01) == pytest.approx(0.01 / 8.0, rel=1e-4)


def hang(preset: str, length: float, segments: int, mesh: str, **settings) -> float:
    """How far the tip of a clamped strip comes down, over the elastica's, at rest."""
    model, rotation = settings.pop("model", "ISOMETRIC"), settings.pop("rotation", np.eye(3))
    # More drag only brings it to rest sooner.
    material = dataclasses.replace(Material.preset(preset), bend_model=model, drag=15.0)
    vertices, faces, pins = clamped_strip(segments, length, mesh)
    body = Body(vertices @ rotation.T, faces, material, pins=pins)
    simulation = Simulation([body], gravity=rotation @ [0.0, 0.0, -9.81], **settings)
    for _ in range(30):
        simulation.step(DT)
    assert np.abs(simulation.velocities(body)).max() < 0.05 * length
    x = simulation.positions(body) @ rotation
    depth = -x[vertices[:, 0] > length * (1.0 - 1e-6), 2].mean()
    return depth / elastica(length, 9.81 * material.density / material.bend)


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize(
    ("preset", "length", "segments", "mesh", "model"),
    [
        ("Paper", 0.1, 10, "quads", "ISOMETRIC"),
        ("Paper", 0.1, 20, "irregular", "DIHEDRAL"),
        ("Leather", 0.05, 20, "quads", "DIHEDRAL"),
        ("Denim", 0.03, 10, "irregular", "ISOMETRIC"),
        ("Cotton", 0.03, 10, "crossed", "ISOMETRIC"),
    ],
)
@pytest.mark.newest
def test_a_clamped_strip_hangs_as_the_elastica(preset, length, segments, mesh, model, kernels):
    """5 % for the mesh; the errors that were measured are 0 to 3 %."""
    found = hang(preset, length, segments, mesh, model=model, kernels=kernels)
    assert found == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("substeps", [7, 40])
@pytest.mark.newest
def test_neither_place_nor_substeps_change_how_it_hangs(substeps):
    found = hang("Leather", 0.05, 10, "irregular", rotation=ROTATION, substeps=substeps)
    assert found == pytest.approx(hang("Leather", 0.05, 10, "irregular"), rel=0.01)


def plates_of(simulation: Simulation) -> PlateConstraints | None:
    return next((kind for kind in simulation.constraints if isinstance(kind, PlateConstraints)), None)


@pytest.mark.parametrize(
    ("preset", "edge", "settings", "is_plate"),
    [
        ("Cotton", 0.01, {}, False),
        ("Cotton", 0.003, {}, True),
        ("Cotton", 0.01, {"substeps": 5}, False),
        ("Leather", 0.01, {"substeps": 80}, True),
        ("Denim", 0.01, {}, False),
        ("Leather", 0.01, {}, True),
        ("Paper", 0.01, {"method": "PBD"}, False),
    ],
)
def test_only_what_hinges_are_too_soft_for_is_a_plate(preset, edge, settings, is_plate):
    """h² B / (rho l⁴) > 0.1 with 20 steps, whatever they are; usual cloth keeps its hinges."""
    body = Body(*grid(6, 6, 6 * edge, 6 * edge), Material.preset(preset))
    names = [kind.name for kind in Simulation([body], **settings).constraints]
    assert ("plate bend" in names) == is_plate
    assert ("isometric bend" in names) != is_plate


def test_bodies_are_judged_one_by_one():
    """A stiff sheet beside a soft one and beside another stiff one does what it does alone."""
    stiff = [Body(*grid(6, 4, 0.06, 0.04), Material.preset("Paper"), pins=[0, 7]) for _ in range(2)]
    soft = Body(grid(6, 4, 0.6, 0.4)[0] + np.array([3.0, 0.0, 0.0]), grid(6, 4, 1.0, 1.0)[1], Material.preset("Cotton"))
    moved = Body(stiff[1].vertices + np.array([1.0, 0.0, 0.0]), grid(6, 4, 1.0, 1.0)[1], PAPER, pins=[3])
    together, alone = Simulation([soft, stiff[0], moved]), Simulation([stiff[1]])
    together.step(DT)
    assert {"plate bend", "isometric bend"} <= {kind.name for kind in together.constraints}
    assert (next(kind for kind in together.constraints if kind.name == "isometric bend").forces() != 0.0).any()
    poses = []
    for simulation, body in ((together, stiff[0]), (alone, stiff[1])):
        wave = 0.002 * np.sin(300.0 * np.concatenate([b.vertices for b in simulation.bodies]).T)
        x = np.concatenate([b.vertices for b in simulation.bodies]).T + wave
        plates = plates_of(simulation)
        plates.begin_substep(DT / 20, 1.0)
        plates.project(numpy_kernels, x, x)
        start = sum(len(b.vertices) for b in simulation.bodies[: simulation.bodies.index(body)])
        poses.append(x[:, start : start + len(body.vertices)])
    np.testing.assert_array_equal(*poses)


def folded(kind: str) -> tuple[np.ndarray, np.ndarray | list[list[int]]]:
    """Rest shapes of some 5 cm."""
    vertices, quads = grid(12, 8, 0.06, 0.04)
    x, y, _ = vertices.T
    if kind == "V":
        return np.column_stack([x * np.sqrt(0.5), y, np.abs(x) * np.sqrt(0.5)]), quads
    if kind == "half cylinder":
        return np.column_stack([0.02 * np.sin(x / 0.02), y, 0.02 * np.cos(x / 0.02)]), quads
    if kind == "ring":
        turn = 2.0 * np.pi * np.arange(24) / 24
        rows = [np.column_stack([0.02 * np.cos(turn), 0.02 * np.sin(turn), 0.0 * turn + 0.005 * j]) for j in range(7)]
        a = np.arange(6 * 24)
        b = a + 1 - 24 * (a % 24 == 23)
        return np.concatenate(rows), np.column_stack([a, b, b + 24, a + 24])
    return icosphere(2, 0.02) if kind == "sphere" else (vertices, quads)


SHAPES = ("flat", "V", "half cylinder", "ring", "sphere")


def fly(kind: str, material: Material, frames: int = 24, dents: float = 0.0, **settings):
    """A body that flies and wobbles; momentum, angular momentum and energy of motion before and after each frame."""
    vertices, faces = folded(kind)
    body = Body(vertices, faces, material)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), self_collision=False, **settings)
    random = np.random.default_rng(3)
    wave = np.sin(60.0 * vertices @ random.normal(size=(3, 3)) + random.normal(size=3))
    simulation.positions(body)[:] += dents * wave
    simulation.velocities(body)[:] = [0.3, 0.2, -0.1] + 0.1 * wave[:, ::-1] + np.cross([0.5, 0.0, 1.0], vertices)
    masses, found = body.masses(), []
    for frame in range(frames + 1):
        if frame:
            simulation.step(DT)
        v, x = simulation.velocities(body), simulation.positions(body)
        found.append((masses @ v, masses @ np.cross(x, v), 0.5 * masses @ (v**2).sum(axis=1)))
    return simulation, body, [np.array(column) for column in zip(*found)]


@pytest.mark.newest
def test_a_body_too_large_for_a_plate_is_told_to_be_too_soft(monkeypatch):
    vertices, faces, pins = clamped_strip(20, 0.1, "quads")
    body = Body(vertices, faces, Material.preset("Paper"), pins=pins)
    monkeypatch.setattr(plate, "MOST_ENTRIES", 1000)
    simulation = Simulation([body], kernels="numpy")
    report = [simulation.step(1.0 / 24.0) for _ in range(24)][-1]
    assert plates_of(simulation) is None
    assert (report.advice.kind, report.advice.substeps) == ("bend", 0)
    assert report.shape_error > 0.4


def test_what_is_folded_at_rest_may_be_only_a_fraction_as_large(monkeypatch):
    """It is solved several times in a substep: a fine monkey took more than 20 s a frame."""
    flat, faces, pins = clamped_strip(20, 0.1, "quads")
    rolled = np.column_stack([0.05 * np.sin(flat[:, 0] / 0.05), flat[:, 1], 0.05 * np.cos(flat[:, 0] / 0.05)])
    bodies = [Body(vertices, faces, Material.preset("Paper"), pins=pins) for vertices in (flat, rolled)]
    entries = block_entries(
        plates_of(Simulation(bodies[:1], kernels="numpy")).sheets[0].levels, bodies[0].mesh.triangles
    )
    for most, is_plate in ((entries, [True, False]), (plate.MOST_TURNS * entries, [True, True])):
        monkeypatch.setattr(plate, "MOST_ENTRIES", most)
        assert plates_of(Simulation(bodies, kernels="numpy")).stiff.tolist() == is_plate


@pytest.mark.newest
def test_a_fine_ball_of_cotton_keeps_hinges():
    """Of 10,242 vertices, 0.3 m across; one of 2562 and 0.1 m, which is as stiff, is a plate."""
    for subdivisions, radius, is_plate in ((5, 0.15, False), (4, 0.05, True)):
        body = Body(*icosphere(subdivisions, radius), Material.preset("Cotton"))
        assert (plates_of(Simulation([body], kernels="numpy")) is not None) == is_plate


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.newest
def test_a_free_plate_keeps_its_momenta_and_gains_no_energy(kind, order, request):
    """It begins at rest length, so that all of its energy is that of motion. Momentum stays to rounding, angular
    momentum in first order at first order in h, as with every projection (see test_momentum)."""
    losses = []
    if order == 1:
        request.getfixturevalue("first_order")
    for substeps in (20, 80):
        _, _, (momentum, angular, energy) = fly(kind, PAPER, frames=12, substeps=substeps)
        assert np.abs(momentum - momentum[0]).max() <= 1e-11 * np.abs(momentum[0]).max()
        assert (energy <= energy[0] * (1.0 + 1e-9)).all()
        losses.append(np.linalg.norm(angular - angular[0], axis=1).max())
    assert max(losses) < 5e-7
    assert order == 2 or losses[1] < losses[0] / 2.0


@pytest.mark.newest
@pytest.mark.parametrize("kind", SHAPES)
def test_a_dented_plate_springs_back_to_its_rest_shape(kind):
    """Every dihedral angle does, also that of a fold of 90 degrees. Damping leaves rigid motion alone."""
    material = dataclasses.replace(PAPER, damping=5.0, bend_damping=0.002)
    simulation, body, _ = fly(kind, material, frames=36, dents=5e-4)
    plates = plates_of(simulation)
    assert plates is not None
    dented = body.vertices + np.random.default_rng(0).normal(0.0, 5e-4, body.vertices.shape)
    start = np.abs(plates.values(dented)).max()
    assert np.abs(plates.values(body.vertices)).max() < 1e-12
    assert np.abs(plates.values(simulation.positions(body))).max() < 0.01 * start


def test_isometric_plates_forget_a_rest_fold():
    """As isometric hinges do: the model is for sheets that are flat at rest."""
    material = dataclasses.replace(PAPER, bend_model="ISOMETRIC", damping=20.0)
    simulation, body, _ = fly("V", material, frames=24)
    assert np.abs(plates_of(simulation).values(simulation.positions(body))).max() < 0.01


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.newest
def test_film_that_nothing_can_bend_is_calm(kind):
    """1 N·m on 5 g/m² at 2 to 5 mm is millions of times above what rows could hold."""
    film = Material(density=0.005, bend=1.0, stretch=1e4, compression=1e4, **FREE)
    _, _, (momentum, _, energy) = fly(kind, film, frames=12)
    assert np.abs(momentum - momentum[0]).max() <= 1e-5 * np.abs(momentum[0]).max()
    assert (energy <= energy[0] * (1.0 + 1e-6)).all()


@pytest.mark.parametrize("kind", SHAPES)
def test_gradients_are_derivatives(kind):
    simulation, body, _ = fly(kind, PAPER, frames=1, dents=1e-3)
    plates, x = plates_of(simulation), simulation.positions(body).copy()
    particles, gradients = plates.gradients(x)
    direction = np.random.default_rng(1).normal(size=x.shape)
    expected = (plates.values(x + 1e-9 * direction) - plates.values(x - 1e-9 * direction)) / 2e-9
    np.testing.assert_allclose((gradients * direction[particles]).sum(axis=(1, 2)), expected, rtol=1e-4, atol=1e-2)


def test_hinges_of_a_rolled_sheet_carry_its_moment():
    """Rolled to the curvature c along x, inner edges along y carry B c per length, against their angles' growth."""
    vertices, faces, _ = clamped_strip(20, 0.1, "right")
    body = Body(vertices, faces, PAPER)
    plates = plates_of(Simulation([body]))
    c = 1.0
    x, y, _ = vertices.T
    for sign in (1.0, -1.0):
        pose = np.column_stack([np.sin(c * x) / c, y, sign * (1.0 - np.cos(c * x)) / c])
        moments = plates.plates[0].moments(pose)
        start, end = vertices[plates.plates[0].elements.hinges[:, :2].T]
        upright = (np.abs(start[:, 0] - end[:, 0]) < 1e-9) & (np.abs(start[:, 0] - 0.05) < 0.03)
        length = np.abs(start - end)[upright, 1]
        assert np.abs(moments[upright]) == pytest.approx(PAPER.bend * c * length, rel=0.01)
        assert (np.sign(moments[upright]) == np.sign(plates.values(pose)[upright])).all()


def test_forces_are_those_of_the_last_substep():
    simulation, body, _ = fly("flat", PAPER, frames=1)
    plates = plates_of(simulation)
    assert plates.values(body.vertices).shape == plates.forces().shape == plates.multipliers.shape
    assert np.abs(plates.forces()).max() > 0.0


@pytest.mark.newest
def test_a_map_is_the_same_as_another_material():
    """A factor everywhere, and a factor of 0 that frees a half."""
    vertices, faces, pins = clamped_strip(10, 0.05, "irregular")
    poses = []
    for bend, factor in ((5e-4, 1.0), (1e-3, 0.5)):
        material = dataclasses.replace(Material.preset("Leather"), bend=bend)
        body = Body(vertices, faces, material, pins=pins, maps={"bend": np.full(len(vertices), factor)})
        simulation = Simulation([body])
        simulation.step(DT)
        poses.append(simulation.positions(body).copy())
    np.testing.assert_allclose(poses[0], poses[1], rtol=0.0, atol=1e-12)
    simulation.set_maps(body, {"bend": np.where(vertices[:, 0] > 0.0251, 0.0, 1.0)})
    for _ in range(24):
        simulation.step(DT)
    x = simulation.positions(body)
    assert x[np.isclose(vertices[:, 0], 0.05), 2].mean() < -0.018
    assert x[np.abs(vertices[:, 0] - 0.02) < 0.004, 2].mean() > -0.006


@pytest.mark.newest
def test_held_corners_are_clamped_where_they_go():
    """A strip whose clamp is lifted and turned by 90 degrees stands up, but for what its weight bends it."""
    vertices, faces, pins = clamped_strip(10, 0.03, "quads")
    body = Body(vertices, faces, Material.preset("Leather"), pins=pins)
    simulation = Simulation([body])
    for angle in np.linspace(0.0, 0.5 * np.pi, 24):
        turned = vertices[pins] @ np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0],
                                            [-np.sin(angle), 0.0, np.cos(angle)]])  # fmt: skip
        simulation.set_pin_targets(body, turned + np.array([0.0, 0.0, angle]))
        simulation.step(DT)
    for _ in range(24):
        simulation.step(DT)
    tip = simulation.positions(body)[vertices[:, 0] > 0.0299].mean(axis=0)
    np.testing.assert_allclose(tip, [0.0, 0.0, 0.5 * np.pi + 0.03], atol=0.001)


@pytest.mark.newest
def test_passes_and_halves_of_substeps_agree():
    """Further passes go on with what the first one did, and another h takes other factors."""
    assert hang("Leather", 0.05, 10, "quads", iterations=4) == pytest.approx(1.0, abs=0.05)
    body = Body(*grid(6, 4, 0.06, 0.04), PAPER, pins=[0, 7])
    simulation = Simulation([body])
    for dt in (DT, DT / 2, DT / 4, DT / 8, DT):
        simulation.step(dt)
    assert len(plates_of(simulation).plates[0].blocks._factors) == 3


def test_blocks_are_solved():
    """A random symmetric block tridiagonal matrix, with an empty block."""
    random = np.random.default_rng(0)
    starts = np.array([0, 4, 4, 9, 12])
    dense = np.zeros((12, 12))
    for low, high in ((0, 9), (4, 12)):
        dense[low:high, low:high] += (lambda a: a @ a.T)(random.normal(size=(high - low, high - low)))
    dense += np.eye(12)
    inverses, couplings = [], []
    for k in range(4):
        own = slice(starts[k], starts[k + 1])
        block = dense[own, own].copy()
        if k:
            beside = dense[starts[k - 1] : starts[k], own]
            couplings.append(beside.T @ inverses[-1])
            block -= couplings[-1] @ beside
        inverses.append(np.linalg.inv(block))
    dense[:4, 4:9] = dense[4:9, :4] = 0.0  # what lies beyond the empty block is not beside it
    b = random.normal(size=(12, 3))
    answer = b.copy()
    factors = Factors(starts, *(np.concatenate([each.ravel() for each in some]) for some in (inverses, couplings)))
    numpy_kernels.solve_blocks(answer, factors)
    np.testing.assert_allclose(dense @ answer, b, atol=1e-10)
