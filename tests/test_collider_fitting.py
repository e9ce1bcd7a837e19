"""Fit: what begins inside of a closed collider, or goes through it, is outside at the first frame."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import count_between
from helpers.meshes import box, grid
from helpers.shapes import tube, uv_sphere
from pbd_addon import Body, Collider, Material, Simulation
from pbd_addon.kernels import available

COTTON = Material.preset("Cotton")
NOWHERE = (0.0, 0.0, 0.0)
KERNELS = available()[-1]

ellipsoid, BALL_FACES = uv_sphere(24, 12, 1.0)


def limb(radii=(0.1, 0.1, 0.4)):
    """A closed solid."""
    return Collider(ellipsoid * radii, BALL_FACES)


def skirt(radius, **options):
    vertices, faces = tube(32, 10, radius, 0.3)
    return Body(vertices, faces, COTTON, **{"fit": True, **options})


def begin(body, *colliders, kernels=KERNELS):
    return Simulation([body], list(colliders), gravity=NOWHERE, kernels=kernels)


def crossing(simulation, body, collider):
    """Edges of one that go through faces of the other."""
    return count_between(simulation.positions(body), body.mesh.triangles, collider.vertices, collider.mesh.triangles)


def depth(points, radii):
    """Below 1: inside of an ellipsoid."""
    return np.linalg.norm(points / radii, axis=1)


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available())
def test_a_skirt_that_is_too_narrow(kernels):
    """2 cm inside of the hips all around: at the first frame it is outside, in lengths as near to its own as can be."""
    hips, body = limb(), skirt(0.085)
    simulation = begin(body, hips, kernels=kernels)
    x = simulation.positions(body)
    assert crossing(simulation, body, hips) == 0
    assert depth(x, (0.1, 0.1, 0.4)).min() > 1.0
    assert not simulation.velocities(body).any()
    moved, left = simulation.brought_out(body)
    assert len(moved) > 100 and not len(left)
    assert body.edge_strain(x).mean() < 0.12 and body.edge_strain(x).max() < 0.4  # 0.104 / 0.085 around is 0.22
    report = simulation.step(1 / 24)
    assert crossing(simulation, body, hips) == 0 and not report.inside and not report.pierced


@pytest.mark.newest
def test_half_through():
    """A skirt beside the hips: half of it is inside, the other half hangs free and stays where it is."""
    hips = limb()
    vertices, faces = tube(32, 10, 0.12, 0.3)
    body = Body(vertices + np.array([0.03, 0.0, 0.0]), faces, COTTON, fit=True)
    simulation = begin(body, hips)
    assert crossing(simulation, body, hips) == 0
    assert depth(simulation.positions(body), (0.1, 0.1, 0.4)).min() > 1.0
    assert not len(simulation.brought_out(body)[1])


def test_edges_that_go_through_a_ridge():
    """No vertex is inside: the edges of a coarse sheet go through the corner of a box."""
    corners, triangles = box((0.2, 0.2, 0.2))
    block = Collider(corners, triangles)
    vertices, faces = grid(7, 7, 0.6, 0.6)
    body = Body(vertices + np.array([0.02, 0.03, np.max(corners[:, 2]) - 0.01]), faces, COTTON, fit=True)
    assert count_between(body.vertices, body.mesh.triangles, corners, triangles) > 0
    simulation = begin(body, block)
    assert crossing(simulation, body, block) == 0


def test_what_is_outside_stays():
    hips, body = limb(), skirt(0.12)
    simulation = begin(body, hips)
    assert np.array_equal(simulation.positions(body), body.vertices)
    assert not any(map(len, simulation.brought_out(body)))


def test_only_where_it_is_wanted():
    hips, body = limb(), skirt(0.085, fit=False)
    assert np.array_equal(begin(body, hips).positions(body), body.vertices)


@pytest.mark.newest
def test_pins_stay_and_are_told():
    """A waistband inside of the belly: it stays there, and the hem is brought out."""
    top = np.arange(10 * 32, 11 * 32)
    hips, body = limb(), skirt(0.085, pins=top.tolist())
    simulation = begin(body, hips)
    x = simulation.positions(body)
    assert np.array_equal(x[top], body.vertices[top])
    _, left = simulation.brought_out(body)
    assert set(top) <= set(left) and not np.isin(np.arange(7 * 32), left).any()
    assert depth(x[: 7 * 32], (0.1, 0.1, 0.4)).min() > 1.0


@pytest.mark.newest
def test_into_a_container():
    """What belongs inside is put there."""
    bowl = Collider(0.2 * ellipsoid, BALL_FACES, inside=True)
    vertices, faces = grid(10, 10, 0.3, 0.3)
    body = Body(vertices + np.array([0.04, 0.0, 0.0]), faces, COTTON, fit=True)
    assert (np.linalg.norm(body.vertices, axis=1) > 0.2).any()
    simulation = begin(body, bowl)
    assert np.linalg.norm(simulation.positions(body), axis=1).max() < 0.2
    assert crossing(simulation, body, bowl) == 0


def test_an_open_sheet_has_no_inside():
    """A wall without a back: which side is meant nobody knows."""
    vertices, faces = grid(6, 6, 1.0, 1.0)
    wall, body = Collider(vertices, faces), skirt(0.1)
    assert np.array_equal(begin(body, wall).positions(body), body.vertices)


def test_what_would_be_torn_is_left_to_be_led_out():
    """A sheet through the middle of a thick solid."""
    vertices, faces = grid(12, 12, 1.0, 1.0)
    body = Body(vertices, faces, COTTON, fit=True, pins=[0, 11, 132, 143])
    simulation = begin(body, Collider(0.3 * ellipsoid, BALL_FACES))
    moved, left = simulation.brought_out(body)
    assert np.array_equal(simulation.positions(body), body.vertices)
    assert len(left) > 30 and not len(moved)


@pytest.mark.slow
def test_it_begins_the_same_again():
    hips, body = limb(), skirt(0.085)
    simulation = begin(body, hips)
    start = simulation.positions(body).copy()
    simulation.step(1 / 24)
    simulation.reset()
    assert np.array_equal(simulation.positions(body), start)


def test_where_nothing_helps_nothing_is_moved():
    """Between two solids that overlap, out of one is into the other."""
    one = Collider(ellipsoid * 0.1 + np.array([0.08, 0.0, 0.0]), BALL_FACES)
    other = Collider(ellipsoid * 0.1 - np.array([0.08, 0.0, 0.0]), BALL_FACES)
    vertices, faces = grid(4, 4, 0.03, 0.03)
    body = Body(vertices[:, [2, 0, 1]], faces, COTTON, fit=True)
    simulation = begin(body, one, other)
    moved, left = simulation.brought_out(body)
    assert np.array_equal(simulation.positions(body), body.vertices)
    assert len(left) == len(body.vertices) and not len(moved)
