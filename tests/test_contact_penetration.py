"""Starts that should not be: cloth in an obstacle, behind a floor, through itself. It gets out gently or stays calm."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from helpers.batches import find
from helpers.crossings import crossing_pairs, deepest_penetration, is_inside
from helpers.meshes import box, circle, grid, icosphere, prism, turned
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.contact.penetration import penetrating
from pbd_addon.kernels import numpy as kernels

pytestmark = pytest.mark.slow

DT = 1 / 24
GENTLE = 2.0
"""Nothing is pushed out faster than this [m/s]."""


def fastest(simulation: Simulation, body: Body) -> float:
    return float(np.linalg.norm(simulation.velocities(body), axis=1).max())


def balloon(place, radius: float = 0.15) -> Body:
    ball, faces = icosphere(2, radius)
    material = Material(stretch=500.0, compression=500.0, shear=100.0, damping=1.0, pressure_mode="VOLUME")
    return Body(ball + place, faces, material)


@pytest.mark.parametrize(("depth", "cuts"), [(0.0, 6), (0.1, 1)])
def test_a_balloon_half_in_a_box_is_pushed_out(depth, cuts):
    """Its center stands on the top of a box, or below; it comes out at a bounded speed and stays out."""
    corners, triangles = box((0.8, 0.8, 0.8), cuts)
    body = balloon([0.03, 0.02, 0.4 - depth])
    simulation = Simulation([body], [Collider(corners, triangles)], gravity=(0.0, 0.0, 0.0))
    assert is_inside(body.vertices, corners, triangles).sum() > 70
    for frame in range(1, 37):
        simulation.step(DT)
        assert fastest(simulation, body) < GENTLE, f"{fastest(simulation, body):.1f} m/s in frame {frame}"
    x = simulation.positions(body)
    assert deepest_penetration(x, body.mesh.triangles, corners, triangles) < 0.001
    assert body.volume(x) == pytest.approx(body.volume(body.vertices), rel=0.05)


@pytest.mark.parametrize(("standing", "cuts"), [(False, 1), (True, 6)])
def test_a_sheet_in_a_box_is_pushed_out(standing, cuts):
    """All of it lies 3 cm below the top, or half of it hangs into it."""
    corners, triangles = box((0.8, 0.8, 0.8), cuts)
    vertices, quads = grid(10, 10, 0.3, 0.3)
    vertices = turned(vertices, np.pi / 2, 0) if standing else vertices - [0.0, 0.0, 0.03]
    body = Body(
        vertices + np.array([0.01, 0.02, 0.4]), quads, Material(bend=1e-6), rest_vertices=grid(10, 10, 0.3, 0.3)[0]
    )
    simulation = Simulation([body], [Collider(corners, triangles)], gravity=(0.0, 0.0, 0.0))
    assert is_inside(body.vertices, corners, triangles).sum() > 50
    for frame in range(1, 37):
        simulation.step(DT)
        assert fastest(simulation, body) < GENTLE, f"{fastest(simulation, body):.1f} m/s in frame {frame}"
    assert not is_inside(simulation.positions(body), corners, triangles).any()
    assert deepest_penetration(simulation.positions(body), body.mesh.triangles, corners, triangles) < 0.001


def test_a_balloon_half_out_of_its_container_is_pushed_in():
    """A container that keeps things inside takes back what sticks out."""
    vertices, triangles = prism(circle(0.5, 32), 1.0)
    body = balloon([0.5, 0.0, 0.02])
    wall = Collider(vertices, triangles, inside=True)
    simulation = Simulation([body], [wall], gravity=(0.0, 0.0, 0.0))
    assert (~is_inside(body.vertices, vertices, triangles)).sum() > 70
    for frame in range(1, 37):
        simulation.step(DT)
        assert fastest(simulation, body) < GENTLE, f"{fastest(simulation, body):.1f} m/s in frame {frame}"
    assert is_inside(simulation.positions(body), vertices, triangles).all()


@pytest.mark.parametrize("depth", [0.05, 0.5])
def test_a_sheet_deep_behind_a_plane_is_lifted_out(depth):
    """A floor in which a sheet starts pushes it up at a bounded speed, not at once."""
    vertices, quads = grid(8, 8, 0.4, 0.4)
    body = Body(vertices - [0.0, 0.0, depth], quads)
    simulation = Simulation([body], [Plane()])
    for frame in range(1, 37):
        simulation.step(DT)
        assert fastest(simulation, body) < GENTLE, f"{fastest(simulation, body):.1f} m/s in frame {frame}"
    assert simulation.positions(body)[:, 2].min() > -1e-3


def test_a_balloon_half_behind_a_plane_is_lifted_out():
    """The same with a body that reaches to both sides."""
    body = balloon([0.0, 0.0, 0.0])
    simulation = Simulation([body], [Plane()])
    for frame in range(1, 37):
        simulation.step(DT)
        assert fastest(simulation, body) < GENTLE, f"{fastest(simulation, body):.1f} m/s in frame {frame}"
    assert simulation.positions(body)[:, 2].min() > -1e-3


def both(bodies: list[Body], simulation: Simulation) -> int:
    """Crossing pairs of all bodies, with themselves and each other."""
    starts = np.cumsum([0, *(len(body.vertices) for body in bodies[:-1])])
    triangles = np.concatenate([body.mesh.triangles + start for body, start in zip(bodies, starts)])
    return len(crossing_pairs(np.concatenate([simulation.positions(body) for body in bodies]), triangles))


@pytest.mark.parametrize("tilt", [0.1, np.pi / 2])
def test_sheets_that_start_through_each_other_stay_calm(tilt):
    """Two sheets that cross, at a slant or straight, neither explode nor get more entangled."""
    vertices, quads = grid(14, 14, 0.4, 0.4)
    one = Body(vertices, quads)
    other = Body(turned(turned(vertices, tilt, 1), 0.3, 2) + np.array([0.011, 0.007, 0.003]), quads)
    simulation = Simulation([one, other], gravity=(0.0, 0.0, 0.0))
    count = start = both([one, other], simulation)
    touched = 0
    assert start > 20
    for frame in range(1, 25):
        report = simulation.step(DT)
        touched += report.self_contacts
        speed = max(fastest(simulation, body) for body in (one, other))
        assert speed < GENTLE, f"{speed:.1f} m/s in frame {frame}"
        before, count = count, both([one, other], simulation)
        assert count <= 1.2 * start, f"{count} crossings in frame {frame}, {start} at the start"
        assert report.crossings <= max(before, count)
    assert count <= start
    assert report.strain_p95 < 0.05
    assert touched > 0


@pytest.mark.parametrize("inside", [True, False])
def test_a_tangle_beside_a_solid_that_it_is_clear_of_is_no_trouble(inside):
    """Sheets that cross each other in a container, or over a box, of which no vertex is on the wrong side."""
    vertices, quads = grid(6, 6, 0.2, 0.2)
    bodies = [Body(vertices, quads), Body(turned(vertices, 1.2, 1) + np.array([0.011, 0.007, 0.003]), quads)]
    solid = prism(circle(0.5, 32), 1.0) if inside else box((0.2, 0.2, 0.2))
    collider = Collider(solid[0] - np.array([0.0, 0.0, 0.0 if inside else 0.4]), solid[1], inside=inside)
    simulation = Simulation(bodies, [collider], gravity=(0.0, 0.0, 0.0))
    for _ in range(3):
        assert simulation.step(DT).crossings > 0
    assert max(fastest(simulation, body) for body in bodies) < GENTLE


@functools.cache
def tangle() -> tuple[Body, np.ndarray]:
    """A sheet, and where it lies after it fell from its edge onto the floor without self collision.

    A millionth of noise keeps layers on the floor from lying in one plane to the last bit, where touching and crossing
    are the same.
    """
    vertices, quads = grid(20, 20, 0.4, 0.4)
    noise = np.random.default_rng(1).normal(0.0, 1e-3, vertices.shape)
    standing = turned(vertices, np.pi / 2, 0) + np.array([0.0, 0.0, 0.22]) + noise
    body = Body(standing, quads, Material(bend=1e-6), rest_vertices=vertices)
    simulation = Simulation([body], [Plane()], self_collision=False)
    for _ in range(11):
        simulation.step(DT)
    return body, simulation.positions(body) + 1e-3 * noise


def test_a_folded_tangle_stays_calm():
    """A heap with hundreds of crossings, let go with self collision, sinks to rest; the crossings do not grow.

    Of three starts that differ in the last digits, one may still slip in a fold.
    """
    flat, heap = tangle()
    count = start = len(crossing_pairs(heap, flat.mesh.triangles))
    assert start > 100
    speeds = []
    for seed in range(3):
        noise = np.random.default_rng(seed).normal(0.0, 1e-9, heap.shape)
        body = Body(heap + noise, flat.mesh.triangles, flat.material, rest_vertices=flat.rest_vertices)
        simulation = Simulation([body], [Plane()])
        touched = 0
        for frame in range(1, 37):
            report = simulation.step(DT)
            touched += report.self_contacts
            assert fastest(simulation, body) < GENTLE, f"{fastest(simulation, body):.1f} m/s in frame {frame}"
            before, count = count, both([body], simulation)
            assert count <= 1.2 * start, f"{count} crossings in frame {frame}, {start} at the start"
            assert report.crossings <= max(before, count)
        assert count <= start
        assert touched > 0
        speeds.append(np.sqrt((simulation.velocities(body) ** 2).sum(axis=1).mean()))
        count = start
    assert np.median(speeds) < 0.1


def test_a_tangle_is_reported():
    """The report counts the crossings that a run began with, and none where there are none."""
    flat, heap = tangle()
    tangled = Body(heap, flat.mesh.triangles, flat.material, rest_vertices=flat.rest_vertices)
    assert Simulation([tangled], [Plane()]).step(DT).crossings > 0
    clean = Body(flat.rest_vertices, flat.mesh.triangles, flat.material)
    assert Simulation([clean]).step(DT).crossings == 0


@pytest.mark.parametrize("seed", range(3))
def test_crossing_faces_are_those_with_an_edge_through_them(seed):
    """`crossing_faces` marks the faces of all crossing pairs, and no others."""
    from pbd_addon.contact import crossing_faces

    rng = np.random.default_rng(seed)
    vertices, quads = grid(12, 12, 0.4, 0.4)
    triangles = Body(vertices, quads).mesh.triangles
    x = vertices + rng.normal(0.0, 0.02, vertices.shape)
    expected = np.zeros(len(triangles), bool)
    expected[crossing_pairs(x, triangles)[:, 1]] = True
    assert 10 < expected.sum() < 0.9 * len(triangles)
    np.testing.assert_array_equal(crossing_faces(x, triangles), expected)
    assert not crossing_faces(vertices, triangles).any()


def test_crossing_faces_of_a_heap():
    """The same where many layers lie in a thin pile, and where there is no face."""
    from pbd_addon.contact import crossing_faces

    flat, heap = tangle()
    triangles = flat.mesh.triangles
    expected = np.zeros(len(triangles), bool)
    expected[crossing_pairs(heap, triangles)[:, 1]] = True
    np.testing.assert_array_equal(crossing_faces(heap, triangles), expected)
    assert crossing_faces(heap, triangles[:0]).shape == (0,)


@pytest.mark.parametrize(("height", "is_led_out"), [(-1e-9, True), (0.0, True), (1e-9, False), (1e-7, False)])
def test_what_is_pressed_close_to_a_plate_is_not_in_it(height, is_led_out):
    """Only what is inside, or exactly on the surface, is led out, and not guarded: the rest would sink in."""
    vertices, quads = grid(4, 4, 0.1, 0.1)
    corners, triangles = box((1.0, 1.0, 0.1))
    body, plate = Body(vertices + np.array([0.013, 0.007, 0.05 + height]), quads), Collider(corners, triangles)
    contact = find(Simulation([body], [plate], kernels="numpy"), "contact")
    pair = contact.candidate_list.pair(0, 1)
    x = np.concatenate([body.vertices, plate.vertices]).T
    assert len(penetrating(kernels, x, pair, pair.one.vertices)) == (len(vertices) if is_led_out else 0)


@pytest.mark.parametrize("height", [1e-9, 1e-7])
@pytest.mark.parametrize("one_body", [True, False])
def test_what_is_pressed_close_to_cloth_is_not_in_it(one_body, height):
    """A small sheet starts hardly above the middle of a pinned one, and does not fall through."""
    lower, faces = grid(6, 6, 0.12, 0.12)
    upper, few = grid(3, 3, 0.04, 0.04)
    above = turned(upper, 0.3, 2) + np.array([0.0031, 0.0017, height])
    if one_body:
        x, rest = np.concatenate([lower, above]), np.concatenate([lower, upper + np.array([0.5, 0.0, 0.0])])
        quads = np.concatenate([np.array(faces), np.array(few) + len(lower)])
        bodies = [Body(x, quads, rest_vertices=rest, pins=range(len(lower)))]
    else:
        bodies = [Body(lower, faces, pins=range(len(lower))), Body(above, few)]
    simulation = Simulation(bodies, kernels="numpy")
    for _ in range(2):
        simulation.step(DT)
    assert simulation.positions(bodies[-1])[-len(above) :, 2].min() > 0.0
