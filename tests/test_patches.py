"""Patches: which parts of a surface may count as height fields, and that those which stop being one are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from meshes import grid, jittered_sheet
from pbd_addon import Body
from pbd_addon.contact.broad_phase import CONE, NARROW_CONE, SurfacePair
from pbd_addon.contact.surface import Surface
from pbd_addon.kernels import numpy as numpy_kernels


def surface(vertices: np.ndarray, faces: object) -> Surface:
    return Surface(Body(vertices, faces).mesh, np.asarray(vertices, float), 0)


def cut_grid(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """A grid of 16 x 16 quads with a slit from the middle of its lower border up through so many rows of quads."""
    vertices, quads = grid(16, 16, 1.0, 1.0)
    quads = np.array(quads)
    lips = np.arange(rows) * 17 + 8
    twin = np.arange(len(vertices))
    twin[lips] = len(vertices) + np.arange(rows)
    right = vertices[quads].mean(axis=1)[:, 0] > 0.0
    quads[right] = twin[quads[right]]
    return np.concatenate([vertices, vertices[lips]]), quads


@pytest.mark.parametrize("mesh", [grid(20, 13, 1.0, 0.7), jittered_sheet(20), grid(1, 1, 1.0, 1.0)])
def test_every_primitive_has_one_leaf_and_a_plain_sheet_can_be_flat(mesh):
    """Also where the number of faces is no power of two; all patches of a square that hold faces may be flat."""
    one = surface(*mesh)
    patches = one.patches
    for leaves, count in (
        (patches.face_leaves, one.triangles.shape[1]),
        (patches.vertex_leaves, len(one.vertices)),
        (patches.edge_leaves, one.edges.shape[1]),
    ):
        assert sorted(leaves[leaves >= 0].tolist()) == list(range(count))
    assert len(patches.face_leaves) == len(patches.vertex_leaves)
    assert patches.can_be_flat[1:].all()


def test_a_primitive_is_in_the_patch_of_one_of_its_faces():
    """So that two primitives of one node belong to faces of that patch."""
    one = surface(*jittered_sheet(16))
    patches = one.patches
    cells = len(patches.can_be_flat) // 2

    def cell_of(leaves: np.ndarray) -> np.ndarray:
        places = np.flatnonzero(leaves >= 0)
        cell = np.zeros(len(places), int)
        cell[leaves[places]] = places * cells // len(leaves)
        return cell

    face, vertex, edge = (
        cell_of(leaves) for leaves in (patches.face_leaves, patches.vertex_leaves, patches.edge_leaves)
    )
    for number, particle in enumerate(one.vertices):
        assert vertex[number] in face[(one.triangles == particle).any(axis=0)]
    for number, ends in enumerate(one.edges.T):
        assert edge[number] in face[np.isin(one.triangles, ends).sum(axis=0) == 2]


def test_slits_holes_and_straps_cannot_be_flat():
    """Their outline may meet itself while all normals are the same."""
    whole, slit = surface(*cut_grid(0)), surface(*cut_grid(9))
    assert whole.patches.can_be_flat[1] and not slit.patches.can_be_flat[1]
    assert slit.patches.can_be_flat.sum() > len(slit.patches.can_be_flat) // 2
    vertices, quads = grid(16, 16, 1.0, 1.0)
    middle = np.abs(vertices[np.array(quads)].mean(axis=1)).max(axis=1) < 0.2
    assert not surface(vertices, np.array(quads)[~middle]).patches.can_be_flat[1]
    assert not surface(*grid(64, 2, 3.2, 0.1)).patches.can_be_flat[1]
    three = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    assert not surface(three, [[0, 1, 2], [1, 0, 3], [0, 1, 4]]).patches.can_be_flat[1]


def test_a_level_sheet_has_no_candidates_and_notices_when_it_bends():
    """One patch holds all of it, until a normal leaves the cone: then all its particles are in question."""
    vertices, quads = grid(16, 16, 1.0, 1.0)
    one = surface(vertices, quads)
    pair = SurfacePair(one, one, 0, 0.5 * one.edge, rest=vertices.T.copy())
    x = vertices.T.copy()
    one.motion_bound.predict(x, x)
    pair.find_flat_patches(numpy_kernels, x)
    pair.query(numpy_kernels, x)
    assert pair.is_smooth and pair.candidates.size == 0
    bent = x.copy()
    bent[2] = np.tan(NARROW_CONE) * np.maximum(x[0], 0.0)
    assert not len(pair.outside_cones(numpy_kernels, bent))
    bent[2] = np.tan(CONE + 0.01) * np.maximum(x[0], 0.0)
    assert len(pair.outside_cones(numpy_kernels, bent)) == len(vertices)
    pair.find_flat_patches(numpy_kernels, bent)
    pair.query(numpy_kernels, bent)
    assert not len(pair.outside_cones(numpy_kernels, bent))


def test_layers_are_never_one_patch():
    """A sheet folded onto itself, without a stretch that is bent gradually: its layers are candidates."""
    flat, quads = grid(16, 16, 1.0, 1.0)
    one = surface(flat, quads)
    pair = SurfacePair(one, one, 0, 0.5 * one.edge, rest=flat.T.copy())
    x = flat.T.copy()
    x[0], x[2] = np.abs(flat[:, 0]), 0.4 * one.edge * (flat[:, 0] < 0.0)
    one.motion_bound.predict(x, x)
    pair.find_flat_patches(numpy_kernels, x)
    pair.query(numpy_kernels, x)
    assert len(pair._patch) > 0
    sides = np.sign(flat[pair.candidates.particles, 0])
    assert ((sides.min(axis=0) < 0) & (sides.max(axis=0) > 0)).sum() > 1000
