"""Struts: which sides of a mesh they connect, what they carry, and that they carry it each way by its own stiffness."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from helpers.agreement import backends_agree
from helpers.batches import find, momentum
from helpers.meshes import box, grid
from pbd_addon import Body, Material, Plane, Simulation
from pbd_addon.kernels import available
from pbd_addon.model import struts
from pbd_addon.model.struts import Recipe, struts_of

UPRIGHT = {"internal_springs": True, "internal_spring_diversion": 0.0}
BARE = Material(density=1.0, drag=0.0, self_collision=False, **UPRIGHT)
"""Of 1 kg/m², without air."""
THICK = 0.1
GRAVITY = 9.81
NOWHERE = (0.0, 0.0, 0.0)
DT = 1 / 24


def slab(cuts=8, size=0.5):
    """Two sheets above each other that face out: vertices, quads, and the vertices of the lower one."""
    flat, quads = grid(cuts, cuts, size, size)
    above, n = flat + np.array([0.0, 0.0, THICK]), len(flat)
    faces = np.array(quads)
    return np.concatenate([flat, above]), np.concatenate([faces[:, ::-1], faces + n]).tolist(), np.arange(n)


def pressed(material=BARE, gravity=(0.0, 0.0, -GRAVITY), maps=None, kernels="auto", frames=48, **settings):
    """A slab on its pinned lower side after some frames: the simulation and its body."""
    vertices, faces, lower = slab()
    body = Body(vertices, faces, dataclasses.replace(material, **settings), pins=lower, maps=maps)
    simulation = Simulation([body], gravity=gravity, kernels=kernels)
    for _ in range(frames):
        simulation.step(DT)
    return simulation, body


def recipe(length=0.0, diversion=0.0, check_normals=True):
    return Recipe(length, diversion, check_normals)


# ------------------------------------------------------------------------------------------ which


def test_each_vertex_of_a_slab_is_connected_with_the_one_above():
    vertices, faces, lower = slab()
    body = Body(vertices, faces)
    found = struts_of(body, recipe())
    np.testing.assert_array_equal(found.pairs, np.column_stack([lower, lower + len(lower)]))
    np.testing.assert_allclose(found.areas.sum(axis=0), [0.25, 0.25])
    assert not len(struts_of(body, recipe(length=0.99 * THICK)).pairs)
    assert len(struts_of(body, recipe(length=1.01 * THICK)).pairs) == len(lower)


def test_a_sheet_has_none_and_sides_that_face_each_other_only_unchecked():
    vertices, quads = grid(6, 6, 1.0, 1.0)
    assert not len(struts_of(Body(vertices, quads), recipe(diversion=0.5)).pairs)
    vertices, faces, _ = slab()
    up = len(faces) // 2
    folded = Body(vertices, [face[::-1] for face in faces[:up]] + faces[up:])  # both face up
    assert not len(struts_of(folded, recipe()).pairs)
    assert len(struts_of(folded, recipe(check_normals=False)).pairs) == len(vertices) // 2


@pytest.mark.parametrize("diversion", [0.2, math.pi / 4])
def test_struts_lean_by_up_to_the_diversion(diversion):
    """Within half an edge of the far side; they lean in all directions, and reach the limit."""
    vertices, faces = box((1.0, 1.0, 0.2), 40)
    found = struts_of(Body(vertices, faces), recipe(diversion=diversion))
    way = vertices[found.pairs[:, 1]] - vertices[found.pairs[:, 0]]
    across = (np.abs(vertices[found.pairs, 2]) > 0.0999).all(axis=1)  # from top to bottom
    across &= (np.abs(vertices[found.pairs, :2]) < 0.49).all(axis=(1, 2))
    lean = way[across, :2] / way[across, 2:]
    assert across.sum() > 1000
    reach = math.tan(diversion)
    assert np.linalg.norm(lean, axis=1).max() < reach + math.hypot(0.0125, 0.0125) / 0.2
    assert np.linalg.norm(lean, axis=1).max() > 0.9 * reach
    assert np.abs(lean.mean(axis=0)).max() < 0.05 * reach


def test_they_end_at_the_first_face_of_an_uneven_mesh():
    """As a search through all pairs of rays and faces finds them."""
    rng = np.random.default_rng(4)
    vertices, faces = box((1.0, 0.7, 0.3), 6)
    vertices = vertices + rng.normal(0.0, 0.01, vertices.shape)
    body = Body(vertices, faces)
    ways = struts._directions(body.mesh, vertices, np.arange(len(vertices)), 0.6)
    rays, hit, places = struts._first_hits(body.mesh, vertices, np.arange(len(vertices)), ways, 2.0, 1e-6)
    ray, face = (one.ravel() for one in np.indices((len(vertices), len(faces))))
    apart = (body.mesh.triangles[face] != ray[:, None]).all(axis=1)
    ray, face, far = struts._meet(vertices, ways, vertices[body.mesh.triangles], ray[apart], face[apart])
    nearest = np.full(len(vertices), np.inf)
    np.minimum.at(nearest, ray[far > 0.0], far[far > 0.0])
    np.testing.assert_array_equal(np.sort(rays), np.flatnonzero(np.isfinite(nearest)))
    np.testing.assert_allclose(np.linalg.norm(places - vertices[rays], axis=1), nearest[rays], rtol=1e-9)
    assert len(hit) > 0.99 * len(vertices)


# ------------------------------------------------------------------------------------------ what they carry


@pytest.mark.parametrize("kernels", available())
@pytest.mark.parametrize("modulus", [500.0, 20_000.0])
@pytest.mark.newest
def test_a_slab_holds_its_height_under_its_weight(kernels, modulus):
    """density · g · height / E, as a bar of that Young's modulus; the struts together carry just the upper sheet."""
    simulation, body = pressed(kernels=kernels, internal_compression=modulus, drag=5.0)
    sunk = THICK - simulation.positions(body)[81:, 2]
    np.testing.assert_allclose(sunk, BARE.density * GRAVITY * THICK / modulus, rtol=0.02)
    assert -find(simulation, "struts").forces().sum() == pytest.approx(0.25 * BARE.density * GRAVITY, rel=0.01)


@pytest.mark.newest
@pytest.mark.slow
def test_a_cube_holds_its_height_on_a_floor():
    """What is upright in it carries the middle of its upper side; with steps enough that its skin does not sag."""
    side, modulus = 0.2, 5000.0
    vertices, faces = box((side, side, side), 8)
    material = dataclasses.replace(
        BARE, internal_tension=modulus, internal_compression=modulus, damping=5.0, thickness=0.0
    )
    body = Body(vertices + np.array([0.0, 0.0, side / 2]), faces, material)
    simulation = Simulation([body], [Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))], substeps=80)
    for _ in range(48):
        simulation.step(DT)
    inner = (np.abs(vertices[:, :2]) < 0.49 * side).all(axis=1) & (vertices[:, 2] > 0.0)
    held = find(simulation, "struts")
    upright = inner[held.rows.indices].any(axis=0) & (np.ptp(vertices[held.rows.indices, 2], axis=0) > 0.19)
    assert inner.sum() == upright.sum() == 49
    weight = GRAVITY * body.masses()[inner].sum()
    assert -held.forces()[upright].sum() == pytest.approx(weight, rel=0.01)
    sunk = side - simulation.positions(body)[inner, 2]
    assert np.median(sunk) == pytest.approx(material.density * GRAVITY * side / modulus, rel=0.03)


@pytest.mark.newest
def test_a_finer_mesh_sinks_as_deep():
    sunk = []
    for cuts in (4, 16):
        vertices, faces, lower = slab(cuts)
        body = Body(vertices, faces, dataclasses.replace(BARE, internal_compression=500.0, drag=5.0), pins=lower)
        simulation = Simulation([body])
        for _ in range(48):
            simulation.step(DT)
        sunk.append(THICK - simulation.positions(body)[len(lower) :, 2].mean())
    assert sunk[0] == pytest.approx(sunk[1], rel=0.01)


@pytest.mark.parametrize(
    ("side", "up"), [("internal_tension", 1.0), ("internal_compression", -1.0)], ids=["pulled", "pressed"]
)
def test_a_stiffness_of_zero_resists_nothing(side, up):
    """The upper sheet falls freely, to or fro; with only that stiffness it stays."""
    gravity = (0.0, 0.0, up * GRAVITY)
    other = {"internal_tension", "internal_compression"} - {side}
    frames, seconds = 4, 4 * DT
    simulation, body = pressed(gravity=gravity, frames=frames, damping=0.0, **{side: 0.0})
    way = simulation.positions(body)[81:, 2] - THICK
    np.testing.assert_allclose(way, up * 0.5 * GRAVITY * seconds**2, rtol=0.1)
    simulation, body = pressed(gravity=gravity, frames=frames, **{other.pop(): 0.0})
    assert np.abs(simulation.positions(body)[81:, 2] - THICK).max() < 1e-3


@pytest.mark.newest
def test_they_swing_at_the_frequency_of_a_bar():
    """sqrt(E / (density · height)). The error is of second order in the substep; 3.4 and 0.8 % of the sag."""
    modulus = 20.0
    material = dataclasses.replace(BARE, internal_tension=modulus, internal_compression=modulus, damping=0.0)
    omega = math.sqrt(modulus / (material.density * THICK))
    sag = 0.5 / omega**2
    errors = []
    for substeps in (20, 40):
        vertices, faces, lower = slab()
        body = Body(vertices, faces, material, pins=lower)
        simulation = Simulation([body], gravity=(0.0, 0.0, -0.5), substeps=substeps)
        heights = [THICK]
        for _ in range(24):
            simulation.step(DT)
            heights.append(simulation.positions(body)[81:, 2].mean())
        expected = THICK - sag * (1.0 - np.cos(omega * DT * np.arange(25)))
        errors.append(np.abs(np.array(heights) - expected).max() / sag)
    assert errors[0] < 0.04
    assert errors[1] < errors[0] / 3.5


def test_a_map_says_where_they_are():
    """Where neither end counts there are none, and where one does, half as many."""
    maps = np.zeros(162)
    maps[[40, 40 + 81, 20]] = 1.0
    simulation, body = pressed(maps={"internal": maps}, internal_compression=500.0, frames=2)
    held = find(simulation, "struts")
    stiffness = np.zeros(81)
    stiffness[held.rows.indices.min(axis=0)] = held.geometry
    assert set(np.flatnonzero(stiffness)) == {20, 40}
    assert stiffness[20] == 0.5 * stiffness[40]
    assert simulation.positions(body)[40 + 81, 2] > simulation.positions(body)[81:, 2].mean() + 0.01


def test_backends_agree_and_frames_come_back():
    backends_agree(lambda kernels: pressed(kernels=kernels, internal_compression=300.0, frames=0), 10)


@pytest.mark.parametrize("method", ["XPBD", "PBD"])
def test_they_keep_the_momentum(method):
    """A block that is let go compressed swells, and its center of mass stays."""
    vertices, faces = box((0.4, 0.3, 0.2), 5)
    material = dataclasses.replace(BARE, internal_spring_diversion=0.7, internal_compression=5000.0)
    body = Body(vertices * [1.0, 1.0, 0.7], faces, material, rest_vertices=vertices)
    simulation = Simulation([body], gravity=NOWHERE, method=method)
    for _ in range(6):
        simulation.step(DT)
    assert np.ptp(simulation.positions(body)[:, 2]) > 0.15
    assert np.abs(simulation.velocities(body)).max() > 0.01
    speed = body.masses() @ np.linalg.norm(simulation.velocities(body), axis=1)
    assert np.abs(momentum(simulation, body)).max() < 1e-12 * max(speed, 1.0)


@pytest.mark.newest
def test_shrunk_cloth_has_shorter_struts():
    vertices, faces = box((0.4, 0.3, 0.2), 5)
    body = Body(vertices, faces, dataclasses.replace(BARE, damping=20.0), maps={"shrink": np.full(len(vertices), 0.98)})
    simulation = Simulation([body], gravity=NOWHERE)
    for _ in range(24):
        simulation.step(DT)
    one, other = simulation.positions(body)[struts_of(body, recipe()).pairs.T]
    rest = np.linalg.norm(np.subtract(*vertices[struts_of(body, recipe()).pairs.T]), axis=1)
    np.testing.assert_allclose(np.linalg.norm(one - other, axis=1), 0.98 * rest, rtol=0.001)


# ------------------------------------------------------------------------------------------ with all else


@pytest.mark.newest
def test_what_is_split_and_holds_together_has_the_same_struts():
    vertices, faces, lower = slab()
    number = np.array(faces).ravel()  # of the vertex that each corner was
    parts, pieces = vertices[number], np.arange(len(number)).reshape(-1, 4)
    material = dataclasses.replace(BARE, internal_compression=500.0, drag=5.0, tear_strength=1e6)
    body = Body(parts, pieces, material, pins=np.flatnonzero(np.isin(number, lower)))
    simulation = Simulation([body])
    for _ in range(48):
        simulation.step(DT)
    upper = parts[:, 2] > 0.0
    sunk = THICK - simulation.positions(body)[upper, 2]
    np.testing.assert_allclose(sunk, material.density * GRAVITY * THICK / 500.0, rtol=0.02)


@pytest.mark.slow
@pytest.mark.newest
def test_straps_carry_the_pressure_and_keep_the_thickness():
    """Each in the middle pulls with pressure times area; without any, the same skin is twice as thick or more."""
    pressure, thick = 300.0, 0.16
    vertices, faces = box((0.8, 0.8, thick), 8)
    middle = (np.abs(vertices[:, :2]) < 0.21).all(axis=1) & (np.abs(vertices[:, 2]) > 0.07)
    heights = {}
    for on in (True, False):
        material = dataclasses.replace(
            Material.preset("Air Mattress"), pressure_mode="OVERPRESSURE", overpressure=pressure,
            **UPRIGHT | {"internal_springs": on}, internal_spring_length=0.2, internal_tension=1e7,
            internal_compression=0.0,
        )  # fmt: skip
        body = Body(vertices, faces, material)
        simulation = Simulation([body], gravity=NOWHERE)
        for _ in range(18):
            simulation.step(DT)
        x = simulation.positions(body)
        heights[on] = np.ptp(x[middle, 2])
        if on:
            straps = find(simulation, "struts")
            across = middle[straps.rows.indices].all(axis=0)
            assert across.sum() == 25
            area = body.mesh.corner_areas[straps.rows.indices[0, across]]
            assert straps.forces()[across].sum() == pytest.approx(pressure * area.sum(), rel=0.05)
    assert heights[True] == pytest.approx(thick, rel=0.05)
    assert heights[False] > 2.0 * thick


def test_they_can_be_switched_on_and_off_while_it_runs():
    """From then on it moves as one that began there with that material."""
    simulation, body = pressed(internal_compression=500.0, frames=4)
    off = dataclasses.replace(body.material, internal_springs=False)
    simulation.set_material(body, off)
    assert "struts" not in [kind.name for kind in simulation.constraints]
    simulation.set_material(body, body.material)
    for _ in range(4):
        simulation.step(DT)
    again, same = pressed(internal_compression=500.0, frames=8)
    np.testing.assert_array_equal(simulation.positions(body), again.positions(same))
    simulation.set_material(body, dataclasses.replace(body.material, internal_spring_length=0.5 * THICK))
    assert "struts" not in [kind.name for kind in simulation.constraints]
