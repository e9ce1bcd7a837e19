"""Maps: a factor on each vertex does what the same factor on the material does, and only where it is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.constraints.base import NO_STIFFNESS

STILL = {"drag": 0.0, "damping": 0.0, "tethers": False}


def run(bodies, frames, dt=1 / 24, **settings):
    """A simulation after some frames."""
    simulation = Simulation(bodies, self_collision=False, **settings)
    for _ in range(frames):
        simulation.step(dt)
    return simulation


def ropes(maps=None, tethers=False):
    """Two ropes of ten pieces that hang side by side, one body; vertices 0 to 10 and 11 to 21."""
    z = -0.1 * np.arange(11)
    vertices = np.concatenate([np.column_stack([np.full(11, x), np.zeros(11), z]) for x in (0.0, 1.0)])
    edges = [[k + i, k + i + 1] for k in (0, 11) for i in range(10)]
    material = Material(density=2.0, stretch=200.0, compression=200.0, drag=5.0, tethers=tethers, stretch_damping=0.05)
    return Body(vertices, edges=edges, material=material, pins=[0, 11], maps=maps)


@pytest.mark.newest
def test_a_stiffer_half_sags_less_by_its_factor():
    body = ropes({"stretch": np.repeat([1.0, 5.0], 11)})
    x = run([body], 80, substeps=20).positions(body)
    sag = -1.0 - x[[10, 21], 2]
    # A rope of N pieces: the weight below each, m g (N - i) with half at the end, over the piece's stiffness.
    mass = 2.0 * 0.01 * 0.1
    expected = mass * 9.81 * sum(10 - i - 0.5 for i in range(10)) / (200.0 * 0.01 / 0.1)
    assert sag[0] == pytest.approx(expected, rel=0.01)
    assert sag[0] == pytest.approx(5.0 * sag[1], rel=0.01)


@pytest.mark.newest
def test_tethers_do_not_hold_what_a_map_softens():
    maps = {"stretch": np.repeat([1.0, 0.2], 11)}
    ends = [run([body], 80, substeps=20).positions(body)[21, 2] for body in (ropes(maps), ropes(maps, tethers=True))]
    assert ends[0] < -1.1
    assert ends[1] == pytest.approx(ends[0], abs=2e-3)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [("stretch", ("stretch", "compression", "shear")), ("bend", ("bend",)), ("density", ("density",))],
)
@pytest.mark.newest
def test_the_same_factor_everywhere_is_another_material(kind, fields):
    vertices, quads = grid(6, 6, 1.0, 1.0)
    plain = Material(stretch=300.0, compression=300.0, shear=100.0, bend=1e-3)
    other = Material(**{**vars(plain), **{field: 3.0 * getattr(plain, field) for field in fields}})
    shapes = []
    for material, maps in ((plain, {kind: 3.0}), (other, None), (plain, None)):
        body = Body(vertices, quads, material, pins=[42, 48], maps=maps)
        shapes.append(run([body], 12).positions(body))
    assert np.allclose(shapes[0], shapes[1], atol=1e-9)
    assert np.abs(shapes[0] - shapes[2]).max() > 1e-4


def test_bending_of_zero_frees_only_those_hinges():
    vertices, quads = grid(8, 2, 0.8, 0.2)
    half = (vertices[:, 0] > 0.0).astype(float)
    body = Body(vertices, quads, Material(bend=0.1), maps={"bend": half})
    bends = [kind for kind in Simulation([body]).constraints if "bend" in kind.name]
    free = np.concatenate([kind.compliance >= NO_STIFFNESS for kind in bends])
    none = np.concatenate([(half[kind.rows.indices] == 0.0).all(axis=0) for kind in bends])
    assert 0 < free.sum() < len(free)
    assert np.array_equal(free, none)


@pytest.mark.newest
def test_a_limp_half_hangs_and_a_stiff_half_stands_out():
    vertices, quads = grid(12, 1, 1.0, 0.1)
    held = np.flatnonzero(np.abs(vertices[:, 0]) < 0.09)
    maps = {"bend": np.where(vertices[:, 0] < 0.01, 0.0, 1.0)}
    body = Body(vertices, quads, Material(bend=1.0, drag=3.0), pins=held.tolist(), maps=maps)
    z = run([body], 80, substeps=40).positions(body)[:, 2]
    assert z[vertices[:, 0] == -0.5].mean() < -0.35
    assert z[vertices[:, 0] == 0.5].mean() > -0.1


@pytest.mark.newest
def test_shrunken_cloth_comes_to_rest_shorter():
    vertices, quads = grid(8, 8, 1.0, 1.0)
    body = Body(vertices, quads, Material(drag=5.0), maps={"shrink": 0.8})
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))  # layers must not hold it open
    for _ in range(48):
        report = simulation.step(1 / 24)
    assert np.allclose(body.edge_strain(simulation.positions(body)), -0.2, atol=1e-3)
    assert report.strain_max < 1e-3
    assert report.self_contacts == 0


@pytest.mark.newest
def test_shrinking_while_it_runs_pulls_neighbours_together():
    vertices, quads = grid(8, 8, 1.0, 1.0)
    body = Body(vertices, quads, Material(drag=5.0))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    simulation.step(1 / 24)
    for factor in np.linspace(1.0, 0.5, 24):
        simulation.set_maps(body, {"shrink": factor})
        simulation.step(1 / 24)
    for _ in range(24):
        simulation.step(1 / 24)
    assert np.allclose(body.edge_strain(simulation.positions(body)), -0.5, atol=2e-3)


@pytest.mark.newest
def test_mass_loads_a_soft_pin():
    """Vertices on springs of their own, k = pin stiffness: each sinks by m g / k."""
    count = 3
    vertices = np.column_stack([np.arange(2.0 * count), np.zeros(2 * count), np.zeros(2 * count)])
    edges = np.arange(2 * count).reshape(-1, 2)
    material = Material(density=10.0, pin_stiffness=20.0, drag=5.0, tethers=False)
    factors = np.repeat([1.0, 2.0, 0.5], 2)
    body = Body(vertices, edges=edges, material=material, pins=dict.fromkeys(range(6), 0.5), maps={"density": factors})
    sink = -run([body], 100).positions(body)[:, 2]
    assert sink == pytest.approx(10.0 * 0.5 * 0.01 * factors * 9.81 / 20.0, rel=1e-3)


def test_given_masses_are_not_changed_by_a_density_map():
    vertices, quads = grid(2, 2, 1.0, 1.0)
    body = Body(vertices, quads, masses=np.full(9, 0.5), maps={"density": 4.0})
    light = Body(vertices, quads, masses=np.full(9, 0.5))
    assert np.array_equal(*(run([one], 3).positions(one) for one in (body, light)))


@pytest.mark.newest
@pytest.mark.parametrize("obstacle", ["plane", "collider"])
def test_only_the_rough_part_holds_on_a_slope(obstacle):
    """Two flat pieces of one body on a slope of 20 degrees; one has the friction of the map at 1, one at 0."""
    vertices, quads = grid(2, 2, 0.2, 0.2)
    both = np.concatenate([vertices, vertices + np.array([0.0, 1.0, 0.0])]) + np.array([0.0, 0.0, 0.002])
    faces = [*quads, *(np.array(quads) + 9).tolist()]
    material = Material(friction=1.6, **STILL)
    body = Body(both, faces, material, maps={"friction": np.repeat([1.0, 0.0], 9)})
    if obstacle == "plane":
        floor = Plane(friction=0.0)
    else:
        ground, sides = grid(4, 4, 20.0, 20.0)
        floor = Collider(ground, sides, thickness=0.0, friction=0.0, static_friction=0.0)
    angle = math.radians(20.0)
    gravity = (9.81 * math.sin(angle), 0.0, -9.81 * math.cos(angle))
    simulation = run([body], 24, colliders=[floor], gravity=gravity)
    way = (simulation.positions(body) - both)[:, 0]
    assert np.abs(way[:9]).max() < 2e-3
    assert way[9:] == pytest.approx(0.5 * 9.81 * math.sin(angle), rel=0.05)


def ball(**maps):
    vertices, triangles = icosphere(3, 0.5)
    material = Material(density=0.5, stretch=2e4, pressure_mode="OVERPRESSURE", overpressure=400.0, **STILL)
    masses = np.full(len(vertices), 1.0 / len(vertices))
    return Body(vertices, triangles, material, masses=masses, maps={k: f(vertices) for k, f in maps.items()})


def test_pressure_on_one_half_pushes_with_its_projected_area():
    body = ball(pressure=lambda x: (x[:, 2] > 1e-9).astype(float))
    simulation = run([body], 5, dt=1e-4, gravity=(0.0, 0.0, 0.0))
    momentum = simulation.velocities(body).mean(axis=0)  # of one kilogram
    x = body.vertices
    areas = np.zeros((len(x), 3))  # of each vertex: a third of the faces around it
    corners = x[body.mesh.triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 6.0
    for corner in range(3):
        np.add.at(areas, body.mesh.triangles[:, corner], faces)
    push = 400.0 * areas[x[:, 2] > 1e-9].sum(axis=0)
    assert push[2] == pytest.approx(400.0 * math.pi * 0.25, rel=0.1)
    assert momentum == pytest.approx(push * 5e-4, rel=0.01, abs=1e-6)


@pytest.mark.newest
def test_half_the_pressure_everywhere_is_half_the_pressure():
    half = ball(pressure=lambda x: np.full(len(x), 0.5))
    low = ball()
    low.material = Material(**{**vars(low.material), "overpressure": 200.0})
    shapes = [run([body], 6).positions(body) for body in (half, low)]
    assert np.allclose(*shapes, atol=1e-9)


@pytest.mark.slow
@pytest.mark.newest
def test_a_balloon_with_a_map_still_holds_its_volume():
    vertices, triangles = icosphere(3, 0.5)
    material = Material(pressure_mode="VOLUME", pressure=1.3, stretch=500.0, compression=500.0, drag=2.0)
    upper = np.where(vertices[:, 2] > 0.0, 1.0, 0.2)
    body = Body(vertices, triangles, material, maps={"pressure": upper})
    simulation = run([body], 60, gravity=(0.0, 0.0, 0.0))
    assert body.volume(simulation.positions(body)) == pytest.approx(1.3 * body.volume(vertices), rel=0.01)


@pytest.mark.newest
def test_maps_can_be_set_and_taken_back_while_it_runs():
    vertices, quads = grid(6, 6, 1.0, 1.0)
    factors = {"stretch": 0.1, "bend": 4.0, "shrink": 0.9, "density": 2.0}
    built, told, plain = (Body(vertices, quads, pins=[42, 48], maps=maps) for maps in (factors, None, None))
    simulations = [Simulation([body]) for body in (built, told, plain)]
    simulations[1].set_maps(told, factors)
    for simulation in simulations:
        for _ in range(6):
            simulation.step(1 / 24)
    shapes = [one.positions(body).copy() for one, body in zip(simulations, (built, told, plain))]
    assert np.array_equal(shapes[0], shapes[1])
    assert np.abs(shapes[0] - shapes[2]).max() > 1e-3
    simulations[1].set_maps(told, {})
    simulations[1].begin(0)
    for _ in range(6):
        simulations[1].step(1 / 24)
    assert np.array_equal(simulations[1].positions(told), shapes[2])


@pytest.mark.parametrize(
    ("maps", "words"),
    [
        ({"colour": 1.0}, "Body: a map's name must be one of .*stretch.*, not 'colour'"),
        ({"bend": np.ones(3)}, r"Body: map 'bend' must have shape \(9,\), not \(3,\)"),
        ({"stretch": -1.0}, "at least 0, not -1"),
        ({"shrink": 0.0}, "above 0, not 0"),
        ({"density": np.nan}, "finite"),
    ],
)
def test_bad_maps_are_refused(maps, words):
    vertices, quads = grid(2, 2, 1.0, 1.0)
    with pytest.raises(ValueError, match=words):
        Body(vertices, quads, maps=maps)
    with pytest.raises(ValueError, match=words):
        body = Body(vertices, quads)
        Simulation([body]).set_maps(body, maps)
