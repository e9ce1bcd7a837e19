"""Maps of what takes part in collisions: what is left out passes through, and the rest is held as ever."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.crossings import is_inside
from helpers.meshes import box, grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation

COTTON = dataclasses.replace(Material.preset("Cotton"), drag=0.0, air_normal=0.0, air_tangent=0.0)


def sheet(height=0.0, cells=16, size=0.5):
    """A level sheet, and which of its vertices are in the half of x < 0."""
    vertices, quads = grid(cells, cells, size, size)
    vertices = vertices - [*vertices.mean(axis=0)[:2], -height]
    return vertices, quads, vertices[:, 0] < -1e-6


def test_what_is_left_out_falls_as_if_nothing_was_there():
    vertices, quads, _ = sheet(0.2)
    ball = Collider(*icosphere(3, 0.1))
    nothing = np.zeros(len(vertices))
    simulations = [
        Simulation([Body(vertices, quads, COTTON, maps=maps)], colliders, self_collision=False)
        for maps, colliders in (({"collision": nothing}, [ball, Plane((0, 0, -0.05))]), ({}, []))
    ]
    for _ in range(10):
        for simulation in simulations:
            simulation.step(1 / 24)
    through, free = (simulation.positions(simulation.bodies[0]) for simulation in simulations)
    assert free[:, 2].max() < -0.3
    np.testing.assert_allclose(through, free, atol=2e-3)  # Cloth that may meet something looks back less often.


def test_half_a_sheet_lies_on_the_floor_and_half_of_it_sinks():
    vertices, quads, left = sheet(0.05)
    body = Body(vertices, quads, COTTON, maps={"collision": (~left).astype(float)})
    simulation = Simulation([body], [Plane()])
    for _ in range(8):
        simulation.step(1 / 24)
    z = simulation.positions(body)[:, 2]
    assert z[~left].min() > 0.0
    assert z[left].min() < -0.1


@pytest.mark.parametrize("cuts", [1, 6])
@pytest.mark.newest
def test_half_a_sheet_lies_on_a_box_and_half_of_it_goes_through(cuts):
    """The half that takes part is held by the box's top; no edge or face of it alone goes through."""
    vertices, quads, left = sheet(0.23)
    corners, triangles = box((0.8, 0.8, 0.4), cuts)
    body = Body(vertices, quads, COTTON, maps={"collision": np.where(left, 0.49, 0.5)})
    simulation = Simulation([body], [Collider(corners, triangles)])
    for _ in range(12):
        report = simulation.step(1 / 24)
    inside = is_inside(simulation.positions(body), corners, triangles)
    assert not inside[~left].any()
    assert inside[left].sum() > 0.5 * left.sum()
    assert report.crossings == 0
    assert np.abs(simulation.velocities(body)).max() < 3.0


@pytest.mark.newest
def test_what_starts_inside_is_led_out_only_where_it_takes_part():
    vertices, quads, left = sheet(0.19)
    corners, triangles = box((0.8, 0.8, 0.4), 6)
    body = Body(vertices, quads, COTTON, maps={"collision": (~left).astype(float)})
    simulation = Simulation([body], [Collider(corners, triangles)], gravity=(0.0, 0.0, 0.0))
    for _ in range(24):
        simulation.step(1 / 24)
    inside = is_inside(simulation.positions(body), corners, triangles)
    assert not inside[~left].any()
    assert inside[left].any()


def layers(cells=12, size=0.3, apart=0.03):
    """Two level sheets of one body, the upper one above the lower; the lower is pinned all over."""
    vertices, quads = grid(cells, cells, size, size)
    upper = vertices + np.array([0.0, 0.0, apart])
    count = len(vertices)
    return np.concatenate([vertices, upper]), np.concatenate([quads, np.array(quads) + count]), count


@pytest.mark.parametrize("kind", ["collision", "self_collision"])
@pytest.mark.newest
def test_layers_of_a_cloth_pass_through_each_other_by_its_own_map_alone(kind):
    vertices, quads, count = layers()
    factors = np.append(np.ones(count), np.zeros(count))
    body = Body(vertices, quads, COTTON, pins=range(count), maps={kind: factors})
    simulation = Simulation([body])
    for _ in range(6):
        simulation.step(1 / 24)
    z = simulation.positions(body)[count:, 2]
    assert z.max() < -0.1 if kind == "self_collision" else z.min() > 0.0


def test_other_cloth_is_another_object():
    vertices, quads, _ = sheet(0.02, 10, 0.3)
    below = Body(*grid(10, 10, 0.6, 0.6), COTTON, pins=range(121))
    below.vertices[:] -= [*below.vertices.mean(axis=0)[:2], 0.0]
    cloth = Body(vertices, quads, COTTON, maps={"collision": np.zeros(len(vertices))})
    simulation = Simulation([below, cloth])
    for _ in range(6):
        simulation.step(1 / 24)
    assert simulation.positions(cloth)[:, 2].max() < -0.1


def test_a_tangle_that_is_left_out_is_none():
    """A sheet through another one of the same body: counted, unless the map leaves one of them out."""
    flat, quads = grid(8, 8, 0.3, 0.3)
    upright = flat[:, [0, 2, 1]] + np.array([0.011, 0.013, 0.005])
    vertices, faces = np.concatenate([flat, upright]), np.concatenate([quads, np.array(quads) + len(flat)])
    counts = []
    for factors in (np.ones(len(vertices)), np.repeat([1.0, 0.0], len(flat))):
        body = Body(vertices, faces, COTTON, maps={"self_collision": factors})
        counts.append(Simulation([body], gravity=(0.0, 0.0, 0.0)).step(1 / 24).crossings)
    assert counts[0] > 0
    assert counts[1] == 0


@pytest.mark.newest
def test_it_lets_go_and_holds_again_while_it_runs():
    vertices, quads, _ = sheet(0.05)
    body = Body(vertices, quads, COTTON)
    simulation = Simulation([body], [floor := Collider(*box((2.0, 2.0, 0.02), 1))])
    heights = []
    for factor in (1.0, 0.0, 1.0):
        simulation.set_maps(body, {"collision": factor})
        for _ in range(8):
            simulation.step(1 / 24)
        heights.append(simulation.positions(body)[:, 2].mean())
    assert heights[0] > 0.01
    assert heights[1] < -0.1
    assert heights[2] < heights[1]
    assert floor.closed


@pytest.mark.newest
def test_going_on_from_an_earlier_frame_gives_the_same():
    """Frames in memory have 32 bits, which contact makes ten times as many in some frames."""
    vertices, quads, left = sheet(0.23)
    body = Body(vertices, quads, COTTON, maps={"collision": (~left).astype(float)})
    simulation = Simulation([body], [Collider(*box((0.8, 0.8, 0.4), 6))])
    for _ in range(10):
        simulation.step(1 / 24)
    once = simulation.positions(body).copy()
    simulation.truncate(5)
    for _ in range(5):
        simulation.step(1 / 24)
    np.testing.assert_allclose(simulation.positions(body), once, atol=1e-5)
