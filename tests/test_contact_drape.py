"""The drape over a sphere, the scene that every cloth solver is shown with."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import count_between, crossing_pairs, deepest_penetration
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation

pytestmark = pytest.mark.slow

DT = 1 / 24


@pytest.mark.parametrize(("subdivisions", "starts"), [(2, 3), (4, 1)])
def test_a_sheet_drapes_over_a_sphere(subdivisions, starts):
    """22 x 22 vertices, 1 m, over a ball of 0.3 m that is coarser or finer than the cloth: no crossing with the ball or
    with itself in any frame, no sampled point deeper than 1 mm, and it hangs on the ball and around it. At the end
    it is at rest; of three starts that differ in the last digits, one may still slip in a fold."""
    vertices, quads = grid(21, 21, 1.0, 1.0)
    ball, triangles = icosphere(subdivisions, 0.3)
    speeds = []
    for seed in range(starts):
        start = vertices + np.array([0.013, 0.007, 0.32])
        start += np.random.default_rng(seed).normal(0.0, 1e-7, vertices.shape)
        body = Body(start, quads, Material(damping=3.0, drag=1.0, friction=0.6), rest_vertices=vertices)
        simulation = Simulation([body], [Collider(ball, triangles, 0.002, friction=0.6)])
        for frame in range(1, 91):
            report = simulation.step(DT)
            x = simulation.positions(body)
            assert count_between(x, body.mesh.triangles, ball, triangles) == 0, f"crossings in frame {frame}"
            assert len(crossing_pairs(x, body.mesh.triangles)) == 0, f"crossings with itself in frame {frame}"
            if frame % 10 == 0:
                assert deepest_penetration(x, body.mesh.triangles, ball, triangles) < 0.001
        speeds.append(np.sqrt((simulation.velocities(body) ** 2).sum(axis=1).mean()))
        assert report.contacts > 50
        assert 0.3 < x[:, 2].max() < 0.32
        assert x[:, 2].min() < -0.1
        assert report.strain_p95 < 0.03
    assert np.median(speeds) < 0.001
    assert max(speeds) < 0.05


def test_a_sheet_lies_still_on_a_mesh():
    """Laid on a table at the distance that contact keeps, a sheet neither creeps nor trembles."""
    vertices, quads = grid(10, 10, 0.3, 0.3)
    body = Body(vertices + np.array([0.0, 0.0, 0.005]), quads, Material(thickness=0.003))
    table = Collider(*grid(3, 3, 1.0, 1.0), 0.002)
    simulation = Simulation([body], [table])
    for _ in range(24):
        report = simulation.step(DT)
    np.testing.assert_allclose(simulation.positions(body), body.vertices, atol=1e-4)
    assert np.abs(simulation.velocities(body)).max() < 1e-3
    assert report.contacts == len(vertices)


def test_a_mesh_holds_as_a_plane_does():
    """A sheet that lands level on a floor of two triangles ends where it does on the plane z = 0."""
    vertices, quads = grid(8, 8, 0.4, 0.4)
    ends = []
    for floor in (Plane(thickness=0.002), Collider(*grid(1, 1, 3.0, 3.0), 0.002)):
        body = Body(vertices + np.array([0.0, 0.0, 0.1]), quads, Material(thickness=0.003))
        simulation = Simulation([body], [floor])
        for _ in range(12):
            simulation.step(DT)
        ends.append(simulation.positions(body).copy())
    np.testing.assert_allclose(ends[0][:, 2], 0.005, atol=1e-9)
    np.testing.assert_allclose(*ends, atol=2e-4)


@pytest.mark.parametrize("flip", [False, True])
def test_it_does_not_matter_which_way_the_faces_look(flip):
    """A closed collider is solid whether its faces look out or in."""
    ball, triangles = icosphere(2, 0.2)
    vertices, quads = grid(10, 10, 0.3, 0.3)
    body = Body(vertices + np.array([0.01, 0.02, 0.25]), quads)
    collider = Collider(ball, triangles[:, ::-1] if flip else triangles)
    assert collider.closed
    simulation = Simulation([body], [collider])
    for _ in range(12):
        simulation.step(DT)
        assert count_between(simulation.positions(body), body.mesh.triangles, ball, triangles) == 0
    assert simulation.positions(body)[:, 2].max() > 0.15


@pytest.mark.parametrize("above", [True, False])
def test_cloth_stays_on_its_side_of_an_open_surface(above):
    """A sheet on either side of an open one is held on that side, pressed against it by gravity from there."""
    way = 1.0 if above else -1.0
    vertices, quads = grid(8, 8, 0.3, 0.3)
    body = Body(vertices + np.array([0.01, 0.02, 0.05 * way]), quads)
    collider = Collider(*grid(5, 5, 0.6, 0.6))
    assert not collider.closed
    simulation = Simulation([body], [collider], gravity=(0.0, 0.0, -9.81 * way))
    for _ in range(18):
        simulation.step(DT)
        assert (way * simulation.positions(body)[:, 2]).min() > 0.003
    assert (way * simulation.positions(body)[:, 2]).max() < 0.01


def test_both_distances_add():
    """The collider's thickness and the material's together are kept; both may be changed while it runs."""
    vertices, quads = grid(6, 6, 0.2, 0.2)
    body = Body(vertices + np.array([0.0, 0.0, 0.03]), quads, Material(thickness=0.006))
    table = Collider(*grid(1, 1, 1.0, 1.0), 0.004)
    simulation = Simulation([body], [table])
    for _ in range(24):
        simulation.step(DT)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], 0.010, atol=2e-4)
    table.thickness = 0.014
    for _ in range(24):
        simulation.step(DT)
        assert np.abs(simulation.velocities(body)).max() < 2.0
    np.testing.assert_allclose(simulation.positions(body)[:, 2], 0.020, atol=2e-4)
    simulation.set_material(body, Material(thickness=0.001))
    for _ in range(24):
        simulation.step(DT)
    np.testing.assert_allclose(simulation.positions(body)[:, 2], 0.015, atol=2e-4)
