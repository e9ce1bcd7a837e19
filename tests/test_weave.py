"""Warp and weft: cloth resists along its threads by two values, wherever they run."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.truth.rod import hanging
from pbd_addon import Body, Material, Simulation
from pbd_addon.meshes.weave import Weave, Woven
from tests.helpers.meshes import clamped_strip

ALONG, ACROSS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


def settled(body: Body, frames: int) -> np.ndarray:
    simulation = Simulation([body], self_collision=False)
    for _ in range(frames):
        simulation.step(1 / 24)
    return simulation.positions(body)


def drop(mesh: str, length: float, segments: int, warp: object, **material: float) -> float:
    """Depth of the end of a clamped strip [m]."""
    vertices, faces, pins = clamped_strip(segments, length, mesh)
    body = Body(vertices, faces, Material(density=0.12, drag=6.0, **material), pins=pins, warp=warp)
    return -float(settled(body, 60)[vertices[:, 0] > (1.0 - 1e-6) * length, 2].mean())


@pytest.mark.parametrize("mesh", ["quads", "irregular"])
def test_a_strip_hangs_as_the_elastica_along_the_warp_and_the_weft(mesh):
    """4 : 1. Plates know the direction within each triangle, whatever its edges are."""
    for warp, share in ((ALONG, 1.0), (ACROSS, 0.25)):
        wanted = hanging(0.06, 9.81 * 0.12 / (share * 4.8e-5))
        assert drop(mesh, 0.06, 12, warp, bend=4.8e-5, weft_bend=0.25) == pytest.approx(wanted, rel=0.03)


def test_hinges_of_quads_have_the_value_of_their_direction():
    """As a strip without directions that has this value; so the error of hinges is what it was."""
    for warp, share in ((ALONG, 1.0), (ACROSS, 0.25)):
        found = drop("quads", 0.06, 5, warp, bend=1.2e-5, weft_bend=0.25)
        assert found == pytest.approx(drop("quads", 0.06, 5, ALONG, bend=share * 1.2e-5), rel=0.02)


def pulled(warp: object, mesh: str = "quads") -> float:
    """Stiffness by which a strip of 60 N/m in warp, 15 in weft and 3 in shear hangs by its upper end [N/m]."""
    vertices, faces, pins = clamped_strip(12, 0.4, mesh)
    vertices = vertices[:, [1, 2, 0]] * [1.0, 1.0, -1.0]
    material = Material(
        density=0.12, stretch=60.0, compression=60.0, shear=3.0, weft_stretch=0.25, bend=1e-7, drag=4.0, tethers=False
    )
    body = Body(vertices, faces, material, pins=pins, warp=warp)
    tip = vertices[:, 2] < -(1.0 - 1e-6) * 0.4
    return 0.12 * 9.81 * 0.4**2 / 2 / float(-settled(body, 60)[tip, 2].mean() - 0.4)


def test_cloth_stretches_by_the_thread_that_is_pulled():
    assert pulled((0.0, 0.0, 1.0)) == pytest.approx(60.0, rel=0.06)
    assert pulled((1.0, 0.0, 0.0)) == pytest.approx(15.0, rel=0.25)  # its clamp holds the sides: 17.9
    assert pulled((0.0, 0.0, 1.0), "irregular") > 2.0 * pulled((1.0, 0.0, 0.0), "irregular")


def test_cloth_on_the_bias_stretches_by_its_shear():
    """4 / (1 / 60 + 1 / 15 + 1 / 3 - ...) = 10 N/m for a long strip; quads that follow the threads have 60 or 15."""
    count = len(clamped_strip(12, 0.4, "quads")[1])
    assert pulled(np.tile([1.0, 0.0, 1.0], (count, 1))) == pytest.approx(10.0, rel=0.15)
    assert pulled(np.tile([0.0, 0.0, 1.0], (count, 1))) == pytest.approx(60.0, rel=0.06)


def test_directions_are_those_of_the_faces():
    """cos² of an edge to its warp; faces without a direction have the X axis, one that looks along X has Y."""
    vertices, faces, _ = clamped_strip(4, 0.4, "quads")
    for turn, warp in ((vertices, (2.0, 0.0, 0.0)), (vertices[:, [2, 0, 1]], (1.0, 0.0, 0.0))):
        body = Body(turn, faces, warp=warp)
        edges = body.mesh.edges
        found = Weave([Woven(0, body.rest_vertices, body.mesh, body.warp)]).along(edges.T)
        line = np.abs(vertices[edges[:, 0]] - vertices[edges[:, 1]])
        np.testing.assert_allclose(found, line[:, 0] > line[:, 1], atol=1e-12)
    unknown = np.zeros((len(faces), 3))
    unknown[0] = 1.0, 1.0, 0.0
    body = Body(vertices, [*map(list, faces), list(faces[0])], warp=np.concatenate([unknown, unknown[:1]]))
    warp = Woven(0, vertices, body.mesh, body.warp).of_triangles()
    first = body.mesh.triangle_faces == 0
    np.testing.assert_allclose(warp[first], [[0.5**0.5, 0.5**0.5, 0.0]] * 2)
    np.testing.assert_allclose(warp[~first], [[1.0, 0.0, 0.0]] * (~first).sum())
    assert f"{len(faces) - 1} faces have no direction in the UV map" in " ".join(body.notes)


@pytest.mark.parametrize("warp", [(0.0, 0.0, 0.0), (1.0, 0.0), [[1.0, 0.0, 0.0]], (np.nan, 0.0, 1.0), "x"])
def test_bad_directions_are_refused(warp):
    vertices, faces, _ = clamped_strip(4, 0.4, "quads")
    with pytest.raises(ValueError, match="warp"):
        Body(vertices, faces, warp=warp)
