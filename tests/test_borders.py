"""Borders at the same place, as at UV seams of imported meshes, are one cloth unless they are to part."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from helpers.crossings import crossing_pairs
from helpers.inside import model_of, state_of
from helpers.meshes import grid, icosphere
from pbd_addon import Body, Collider, Material, Plane, Simulation
from pbd_addon.kernels import available
from pbd_addon.meshes.joints import coincident
from pbd_addon.meshes.mesh import as_polygons
from pbd_addon.parts.tearing import follow

COTTON = Material.preset("Cotton")


def tube(around: int, rings: int, merged: bool, radius: float = 0.1, length: float = 0.4):
    """A tube about x, whose first and last columns of vertices lie at the same place, or are one; vertices, quads."""
    columns = around if merged else around + 1
    angle, x = np.meshgrid(np.arange(columns) * math.tau / around, np.linspace(0.0, length, rings))
    vertices = np.stack([x, radius * np.cos(angle), radius * np.sin(angle)], axis=-1).reshape(-1, 3)
    ids = np.arange(rings * columns).reshape(rings, columns)
    there = np.roll(ids, -1, axis=1) if merged else ids[:, 1:]
    ids = ids if merged else ids[:, :-1]
    return vertices, np.stack([ids[:-1], ids[1:], there[1:], there[:-1]], axis=-1).reshape(-1, 4).tolist()


def in_merged(around: int, rings: int) -> np.ndarray:
    """The vertex of the merged tube that each one of the other is, (n,) int."""
    return (np.arange(rings)[:, None] * around + np.arange(around + 1) % around).ravel()


@pytest.mark.parametrize("kernels", available())
def test_a_tube_with_unmerged_borders_moves_like_the_merged_one(kernels):
    """It falls on its side, on a floor, and folds flat."""
    around, rings = 16, 13
    was, runs = in_merged(around, rings), []
    for merged in (True, False):
        vertices, quads = tube(around, rings, merged)
        body = Body(vertices + np.array([0.0, 0.0, 0.13]), quads, COTTON)
        simulation = Simulation([body], [Plane()], kernels=kernels)
        for _ in range(10):
            report = simulation.step(1 / 24)
            x = simulation.positions(body)
            assert not len(crossing_pairs(x, body.mesh.triangles))
        assert report.crossings == 0
        runs.append(x.copy())
    fallen = runs[0][:, 2].mean()
    assert fallen < 0.08  # it lies, flattened: a round tube would have its axis at 0.1
    # The order of particles differs, and with it rounding and the order of projection.
    assert np.linalg.norm(runs[1] - runs[0][was], axis=1).mean() < 0.005
    np.testing.assert_array_equal(runs[1][:: around + 1], runs[1][around :: around + 1])


def test_a_balloon_that_is_cut_at_its_uv_seams_holds_its_air():
    vertices, faces = icosphere(2, 0.2)
    upper = vertices[faces].mean(axis=1)[:, 2] > 0.0
    second = np.unique(faces[upper])
    twin = np.arange(len(vertices))
    twin[second] = len(vertices) + np.arange(len(second))
    both, cut = np.concatenate([vertices, vertices[second]]), np.where(upper[:, None], twin[faces], faces)
    used, cut = np.unique(cut, return_inverse=True)
    parts, cut = both[used], cut.reshape(-1, 3)
    body = Body(parts, cut, dataclasses.replace(COTTON, pressure_mode="VOLUME"))
    assert body.volume(body.vertices) == pytest.approx(4.0 / 3.0 * math.pi * 0.2**3, rel=0.06)
    assert body.notes == ("24 vertices of borders are one with others at the same place",)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    for _ in range(3):
        simulation.step(1 / 24)
    assert body.volume(simulation.positions(body)) == pytest.approx(body.volume(body.vertices), rel=0.01)


def test_with_the_switch_off_borders_part():
    vertices, quads = tube(8, 5, False)
    loose = dataclasses.replace(COTTON, join_borders=False)
    body = Body(vertices, quads, loose, pins=[0, 9, 18, 27, 36])
    assert not body.notes
    simulation = Simulation([body])
    for _ in range(4):
        simulation.step(1 / 24)
    gap = simulation.positions(body)[::9] - simulation.positions(body)[8::9]
    assert np.linalg.norm(gap, axis=1).min() > 0.05


def test_keyed_off_it_lets_what_was_one_go():
    vertices, quads = tube(8, 5, False)
    body = Body(vertices, quads, COTTON, pins=[0, 9, 18, 27, 36])
    simulation = Simulation([body])
    simulation.step(1 / 24)
    x = simulation.positions(body)
    np.testing.assert_array_equal(x[::9], x[8::9])
    simulation.set_material(body, dataclasses.replace(COTTON, join_borders=False))
    for _ in range(4):
        simulation.step(1 / 24)
    x = simulation.positions(body)
    assert np.linalg.norm(x[::9] - x[8::9], axis=1).min() > 0.05


def test_both_copies_may_be_pinned():
    vertices, quads = tube(8, 5, False)
    ends = np.flatnonzero(vertices[:, 0] == 0.0)
    body = Body(vertices, quads, COTTON, pins=ends)
    simulation = Simulation([body])
    simulation.set_pin_targets(body, body.vertices[body.pin_ids] + [0.0, 0.0, 0.05])
    for _ in range(3):
        simulation.step(1 / 24)
    x = simulation.positions(body)
    np.testing.assert_allclose(x[ends], vertices[ends] + [0.0, 0.0, 0.05])
    np.testing.assert_array_equal(x[::9], x[8::9])


def test_panels_that_only_rest_or_only_start_at_the_same_place_stay_apart():
    vertices, quads = grid(3, 3, 0.3, 0.3)
    two, faces = (
        np.concatenate([vertices, vertices + np.array([0.3, 0.0, 0.0])]),
        quads + [[v + 16 for v in q] for q in quads],
    )
    apart = two + np.repeat([[0.0, 0.0, 0.0], [0.05, 0.0, 0.0]], 16, axis=0)
    count = np.arange(32)
    assert (Body(two, faces).merged_borders != count).sum() == 4
    assert (Body(apart, faces, rest_vertices=two).merged_borders == count).all()
    assert (Body(two, faces, rest_vertices=apart).merged_borders == count).all()


def test_what_is_sewn_stays_a_seam_though_it_starts_closed():
    vertices, quads = grid(3, 3, 0.3, 0.3)
    two, faces = (
        np.concatenate([vertices, vertices + np.array([0.3, 0.0, 0.0])]),
        quads + [[v + 16 for v in q] for q in quads],
    )
    seams = [[4 * row + 3, 16 + 4 * row] for row in range(4)]
    body = Body(two, faces, dataclasses.replace(COTTON, sewing=True), edges=seams)
    assert (body.merged_borders == np.arange(32)).all()
    assert len(body.seams) == 4


def test_coordinates_that_were_rounded_are_the_same_place():
    """As of a matrix in float32, far from the origin, and whatever grid they are compared on."""
    random = np.random.default_rng(1)
    vertices, quads = tube(40, 30, False)
    for _ in range(5):
        moved = vertices + random.uniform(-1.0, 1.0, 3) + random.normal(0.0, 1e-7, vertices.shape)
        first = coincident(moved, as_polygons("faces", quads, len(moved)))
        assert (first[40::41] == np.arange(30) * 41).all()
    edge = 0.4 / 29
    vertices[40, 0] += 0.01 * edge
    assert coincident(vertices, as_polygons("faces", quads, len(vertices)))[40] == 40


def test_own_constraints_find_the_particle_that_moves():
    vertices, quads = tube(8, 5, False)
    body = Body(vertices, quads, COTTON)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0))
    height = simulation.add_constraints(body, [[8]], lambda p, rows: (p[:, 0, 2] - 0.02, np.eye(3)[None, None, 2]))
    for _ in range(4):
        simulation.step(1 / 24)
    assert height.values(state_of(simulation).x.T)[0] == pytest.approx(0.0, abs=2e-3)
    assert simulation.positions(body)[0, 2] == simulation.positions(body)[8, 2]


def test_copies_follow_without_a_step():
    body = Body(*tube(8, 5, False), COTTON)
    state = model_of(Simulation([body])).initial_state()
    state.x[:, 0] += 1.0
    follow(state)
    np.testing.assert_array_equal(state.x[:, 8], state.x[:, 0])


def cut_open(vertices: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A mesh in which each face has vertices of its own; vertices, faces."""
    corners = np.asarray(faces)
    return vertices[corners.ravel()], np.arange(corners.size).reshape(corners.shape)


@pytest.mark.parametrize("kernels", available())
def test_a_figure_that_is_cut_at_its_uv_seams_is_a_solid_body(kernels):
    """Cloth that begins inside of it is led out, as from the body in one piece; with the switch off, it stays."""
    vertices, faces = icosphere(2, 0.2)
    ends = []
    for solid in (Collider(vertices, faces), Collider(*cut_open(vertices, faces))):
        assert solid.closed
        start = solid.vertices.copy()
        sheet, quads = grid(6, 6, 0.2, 0.2)
        body = Body(sheet + np.array([-0.1, -0.1, 0.15]), quads, COTTON)
        simulation = Simulation([body], [solid], kernels=kernels)
        for frame in range(12):
            shift = np.array([0.0, 0.0, 0.002 * frame])
            simulation.move_collider(solid, start + shift)
            simulation.step(1 / 24)
        height = np.linalg.norm(simulation.positions(body) - shift, axis=1)
        assert height.min() > 0.19
        ends.append(simulation.positions(body).copy())
    np.testing.assert_allclose(ends[1], ends[0], atol=0.003)  # faces, and so rows, are in another order
    assert not Collider(*cut_open(vertices, faces), join_borders=False).closed


def test_a_pane_with_a_front_and_a_back_stays_two_sheets():
    vertices, quads = grid(2, 2, 1.0, 1.0)
    front, back = np.asarray(quads), np.asarray(quads)[:, ::-1] + len(vertices)
    pane = Collider(np.concatenate([vertices, vertices]), np.concatenate([front, back]))
    assert not pane.closed
    cut, faces = cut_open(*icosphere(1, 0.2))
    both = Collider(
        np.concatenate([cut, vertices + 1.0, vertices + 1.0]),
        [*faces.tolist(), *(np.concatenate([front, back]) + len(cut)).tolist()],
    )
    assert len(both.mesh.boundary_loops) == 2
