"""Bending across welded seams: as one piece of cloth, or folded by an angle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from helpers.batches import find
from helpers.meshes import grid
from pbd_addon import Body, Material, Simulation
from pbd_addon.constraints import folds_across
from pbd_addon.kernels import available
from pbd_addon.kernels.numpy import dihedral_angles

LENGTH = 0.06
"""Of the strip [m]: twice the length at which cotton bends by its own weight."""


def strip(cut: bool, columns: int = 12):
    """An even strip along x, in one piece or cut in the middle: vertices, faces, pairs of the cut."""
    vertices, quads = grid(columns, 4, LENGTH, 0.02)
    vertices, quads = vertices - vertices.min(axis=0), np.array(quads)
    if not cut:
        return vertices, quads.tolist(), np.zeros((0, 2), int)
    middle = np.flatnonzero(np.isclose(vertices[:, 0], LENGTH / 2))
    copies = np.arange(len(vertices))
    copies[middle] = len(vertices) + np.arange(len(middle))
    right = (vertices[quads, 0] > LENGTH / 2 - 1e-9).all(axis=1)
    quads[right] = copies[quads[right]]
    return np.concatenate([vertices, vertices[middle]]), quads.tolist(), np.column_stack([middle, copies[middle]])


def sewn(cut: bool, frames: int, pinned: float = 1.1 * LENGTH / 12, columns: int = 12, preset: str = "Cotton", **given):
    """Positions of a strip that is pinned up to x = `pinned` after some frames, and its simulation."""
    vertices, faces, pairs = strip(cut, columns)
    settings = {key: given.pop(key) for key in ("gravity", "kernels") if key in given}
    material = dataclasses.replace(Material.preset(preset), sewing=cut, damping=5.0, closing_time=0.0, **given)
    pins = np.flatnonzero(vertices[:, 0] < pinned)
    body = Body(vertices, faces, material, edges=pairs, pins=pins)
    simulation = Simulation([body], **settings)
    for _ in range(frames):
        simulation.step(1 / 24)
    return simulation.positions(body), simulation


def tip(x: np.ndarray) -> float:
    """Mean height of the end of a strip of 12 columns [m]."""
    end = np.isclose(strip(len(x) > 65)[0][:, 0], LENGTH)
    return float(x[end, 2].mean())


def angle(x: np.ndarray, simulation: Simulation) -> np.ndarray:
    """Angles across the seam [rad]."""
    hinges = find(simulation, "seam bend").rows.indices
    return dihedral_angles(x.T[:, hinges], with_gradients=False)[0]


@pytest.mark.slow
@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
def test_a_strip_that_is_sewn_together_hangs_as_one_piece(kernels):
    """The end of 6 cm of cotton hangs by 4.5 cm; where the seam bends freely, the strip is another."""
    whole = tip(sewn(False, 72, kernels=kernels)[0])
    assert tip(sewn(True, 72, kernels=kernels, seam_bend=1.0)[0]) == pytest.approx(whole, rel=0.02)
    assert tip(sewn(True, 72, kernels=kernels)[0]) != pytest.approx(whole, rel=0.1)


@pytest.mark.newest
@pytest.mark.parametrize("kernels", available()[-1:])
@pytest.mark.parametrize("degrees", [60.0, -90.0])
def test_a_seam_comes_to_its_angle(degrees, kernels):
    given = {"seam_bend": 5.0, "seam_angle": np.radians(degrees), "gravity": (0.0, 0.0, 0.0), "kernels": kernels}
    x, simulation = sewn(True, 96, self_collision=False, columns=4, pinned=-1.0, **given)
    np.testing.assert_allclose(np.degrees(angle(x, simulation)), degrees, atol=3.0)


def test_seams_that_open_bend_no_more():
    x, simulation = sewn(True, 8, seam_bend=1.0)
    assert len(find(simulation, "seam bend").forces()) == 8  # four edges, from both sides
    body = simulation.bodies[0]
    simulation.set_material(body, dataclasses.replace(body.material, sewing=False, seam_bend=1.0))
    simulation.step(1 / 24)
    assert "seam bend" not in [kind.name for kind in simulation.constraints]
    assert np.isfinite(x).all()


def test_only_two_borders_make_a_fold():
    """Not three that meet in an edge, and not both sides of an edge of the mesh whose ends are welded to others."""
    vertices, faces, pairs = strip(True)
    first = np.arange(len(vertices))
    triangles = np.array([[face[k] for k in each] for face in faces for each in ((0, 1, 2), (0, 2, 3))])
    assert not len(folds_across(triangles, first, vertices)[0])
    first[pairs[:, 1]] = pairs[:, 0]
    hinges, geometry = folds_across(triangles, first, vertices)
    assert len(hinges) == 2 * (len(pairs) - 1)
    assert {frozenset(first[ends]) for ends in hinges[:, :2]} == {
        frozenset(ends) for ends in zip(pairs[:, 0], pairs[1:, 0])
    }
    # A square of 5 mm: l² / (A1 + A2) = 25 / 25 for two halves of squares, half of that each.
    np.testing.assert_allclose(geometry, 0.5, rtol=1e-9)
    third = np.array([[pairs[0, 0], pairs[1, 0], len(vertices)]])
    more = folds_across(
        np.concatenate([triangles, third]), np.append(first, len(vertices)), np.append(vertices, [[0, 0, 1]], 0)
    )
    assert len(more[0]) == 2 * (len(pairs) - 2)
