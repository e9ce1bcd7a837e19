"""Bad input: figures with wrong faces, colliders that vanish or jump, seams that do not fit. Nothing is lost by it."""

from __future__ import annotations

import dataclasses
import time

import numpy as np
import pytest

from benchmarks.bodies import figure, pattern
from helpers.crossings import crossing_pairs
from helpers.inside import state_of
from helpers.meshes import grid, icosphere, turned
from pbd_addon import PRESETS, Body, Collider, Material, Plane, Simulation

DT = 1 / 24


def worn(triangles: np.ndarray, copies: int = 1) -> np.ndarray:
    """A cape on the figure, whose faces are these, after three frames: its positions, (n, 3) [m]."""
    given = figure.worn("cape", frames=3, detail=0.5)
    collider = Collider(np.concatenate([given.body] * copies), triangles)
    body = Body(given.vertices, given.faces, Material(**given.material), given.pins)
    simulation = Simulation([body], [collider])
    for place, pins in zip(given.body_frames, given.pin_frames):
        simulation.move_collider(collider, np.concatenate([place] * copies))
        simulation.set_pin_targets(body, pins)
        report = simulation.step(DT)
        assert report.substeps <= 40
    x = simulation.positions(body)
    assert not len(crossing_pairs(x, body.mesh.triangles))
    assert np.abs(body.edge_strain(x)).max() < 0.4
    return x


@pytest.mark.slow
def test_a_figure_may_have_faces_that_look_in_are_doubled_or_share_edges():
    """What looks in or is there twice changes nothing; a fin, and a second skin, only add surface."""
    triangles = figure.worn("cape", frames=3, detail=0.5).triangles
    count = triangles.max() + 1
    half = np.random.default_rng(0).random(len(triangles)) < 0.5
    fine = worn(triangles)
    assert worn(triangles[:, ::-1]) == pytest.approx(fine, abs=1e-3)
    assert worn(np.concatenate([triangles, triangles[:, ::-1]])) == pytest.approx(fine, abs=1e-3)
    fins = np.column_stack([triangles[::9, 0], triangles[::9, 1], np.roll(triangles[::9, 2], 5)])
    for faces, copies in (
        (np.where(half[:, None], triangles[:, ::-1], triangles), 1),
        (np.concatenate([triangles, triangles + count]), 2),
        (np.concatenate([triangles, fins]), 1),
    ):
        assert np.linalg.norm(worn(faces, copies) - fine, axis=1).mean() < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("closed", [True, False])
def test_a_ball_may_shrink_to_a_point_and_grow_again(closed):
    """Cloth that lay on it falls on the floor, and is lifted when it grows."""
    vertices, quads = grid(8, 8, 0.5, 0.5)
    ball, faces = icosphere(2, 0.15)
    body, collider = Body(vertices + np.array([0.0, 0.0, 0.17]), quads), Collider(ball, faces)
    collider.closed = closed
    simulation = Simulation([body], [collider, Plane((0.0, 0.0, -0.3))])
    for size in (*np.linspace(1.0, 0.0, 4), *[0.0] * 8, 0.0, 0.5, 1.0):
        simulation.move_collider(collider, size * ball)
        report = simulation.step(DT)
        x = simulation.positions(body)
        assert np.abs(body.edge_strain(x)).max() < 0.4
        assert report.crossings == 0
    assert x[:, 2].min() > -0.31


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
@pytest.mark.parametrize("way", [5.0, 50.0, 500.0])
def test_a_collider_may_be_somewhere_else_in_the_next_frame(way):
    """In front of a curtain, then far behind it. What is faster than any cloth may be was never in between."""
    vertices, quads = grid(10, 10, 0.8, 0.8)
    ball, faces = icosphere(2, 0.15)
    body = Body(turned(vertices, np.pi / 2, 0), quads, pins=range(110, 121))
    collider = Collider(ball + body.vertices.mean(axis=0) - [0.0, 0.25, 0.0], faces)
    simulation = Simulation([body], [collider])
    for frame in range(6):
        simulation.move_collider(collider, collider.vertices + np.array([0.0, way * (frame >= 2), 0.0]))
        report = simulation.step(DT)
        x = simulation.positions(body)
        assert np.abs(body.edge_strain(x)).max() < 0.8
        assert not len(crossing_pairs(x, body.mesh.triangles))
    assert report.crossings == 0
    if way >= 50.0:
        assert np.abs(x - body.vertices).max() < 0.01  # it was not touched


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_a_pattern_whose_stitches_do_not_fit_is_sewn_all_the_same():
    """The back is a third larger than the front: most pairs close, and nothing goes through anything."""
    specification = figure.shirt()
    back = specification["pattern"]["panels"]["back"]
    back["vertices"] = [[1.3 * x, 1.3 * y] for x, y in back["vertices"]]
    sewn = pattern.sew(specification, 0.05)
    standing, triangles, bone = figure.figure(detail=0.5)
    material = dataclasses.replace(PRESETS["Cotton"], sewing=True)
    body = Body(
        sewn.vertices, sewn.triangles, material, rest_vertices=np.pad(sewn.flat, ((0, 0), (0, 1))), edges=sewn.seams
    )
    collider = Collider(figure.pose(swing=0.0, raised=figure.STANDING).place(standing, bone), triangles)
    simulation = Simulation([body], [collider], gravity=(0.0, 0.0, 0.0))
    for _ in range(25):
        report = simulation.step(DT)
    assert report.crossings == 0
    assert (state_of(simulation).memory["sewing"]["pairs"][2] > 0.0).mean() > 0.6
    assert np.isfinite(simulation.positions(body)).all()


@pytest.mark.newest
@pytest.mark.usefixtures("fastest_kernels")
def test_three_hundred_cloths_and_three_hundred_colliders_are_a_scene_like_others():
    """A frame of either takes seconds at most; when every pair of objects was asked in Python, minutes."""
    vertices, quads = grid(3, 3, 0.1, 0.1)
    places = np.array([[0.15 * (number % 18), 0.15 * (number // 18), 0.02] for number in range(300)])
    bodies = [Body(vertices + place, quads, name=f"Leaf {number}") for number, place in enumerate(places)]
    ball, faces = icosphere(1, 0.05)
    balls = [Collider(ball + place, faces, name=f"Ball {number}") for number, place in enumerate(places)]
    above, cover = grid(30, 30, 2.7, 2.7)
    blanket = Body(above + np.array([1.3, 1.3, 0.09]), cover, name="Blanket")
    for some, obstacles in ((bodies, [Plane()]), ([blanket], balls)):
        simulation = Simulation(some, obstacles)
        simulation.step(DT)  # what is compiled is no part of it
        start = time.process_time()
        for _ in range(2):
            report = simulation.step(DT)
        assert time.process_time() - start < 30.0
        assert report.crossings == 0
        assert min(simulation.positions(body)[:, 2].mean() for body in some) > 0.0  # they lie on what is below
