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
    """Also where the number of faces is no power of two; all pieces of a square may be flat."""
    one = surface(*mesh)
    patches = one.patches
    for leaves, count in (
        (patches.face_leaves, one.triangles.shape[1]),
        (patches.vertex_leaves, len(one.vertices)),
        (patches.edge_leaves, one.edges.shape[1]),
    ):
        assert sorted(leaves[leaves >= 0].tolist()) == list(range(count))
        assert len(leaves) % patches.count == 0
    assert all(level.can_be_flat.all() for level in patches.levels)


def test_a_primitive_is_in_the_patch_of_one_of_its_faces():
    """So that two primitives of one patch belong to faces of that patch."""
    one = surface(*jittered_sheet(16))
    patches = one.patches

    def patch_of(leaves: np.ndarray) -> np.ndarray:
        places = np.flatnonzero(leaves >= 0)
        patch = np.zeros(len(places), int)
        patch[leaves[places]] = places * patches.count // len(leaves)
        return patch

    face, vertex, edge = (
        patch_of(leaves) for leaves in (patches.face_leaves, patches.vertex_leaves, patches.edge_leaves)
    )
    np.testing.assert_array_equal(face, patches.levels[-1].of_face)
    for number, particle in enumerate(one.vertices):
        assert vertex[number] in face[(one.triangles == particle).any(axis=0)]
    for number, ends in enumerate(one.edges.T):
        assert edge[number] in face[np.isin(one.triangles, ends).sum(axis=0) == 2]
    for patch, corners in enumerate(one.patch_vertices.T):
        assert set(corners) == set(one.triangles[:, face == patch].ravel())


def test_neighbors_share_a_vertex():
    """By comparing all patches; the members of a neighborhood are its neighbors and itself."""
    one = surface(*jittered_sheet(16))
    for level in one.patches.levels:
        corners = [set(one.triangles[:, level.of_face == patch].ravel()) for patch in range(level.count)]
        i, j = (each.ravel() for each in np.indices((level.count, level.count)))
        expected = [not corners[a].isdisjoint(corners[b]) for a, b in zip(i, j)]
        np.testing.assert_array_equal(level.are_neighbors(i, j), expected)
        assert set(zip(level.center.tolist(), level.member.tolist())) == set(zip(i[expected], j[expected]))


def test_slits_holes_and_straps_cannot_be_flat():
    """Their outline may meet itself while all normals are the same."""
    vertices, quads = grid(16, 16, 1.0, 1.0)
    middle = np.abs(vertices[np.array(quads)].mean(axis=1)).max(axis=1) < 0.1
    holed = surface(vertices, np.array(quads)[~middle])
    corners = np.flatnonzero((np.abs(np.abs(vertices[:, :2]) - 0.125) < 1e-9).all(axis=1))
    for one, ends in ((surface(*cut_grid(9)), [9 * 17 + 8]), (holed, corners)):
        for level in one.patches.levels:
            at = np.unique(level.of_face[np.isin(one.triangles, ends).any(axis=0)])
            assert not level.can_be_flat[1, at].any()
        assert one.patches.levels[-1].can_be_flat[1].any()
    assert not surface(*grid(64, 1, 3.2, 0.02)).patches.levels[0].can_be_flat[1].any()
    three = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    assert not surface(three, [[0, 1, 2], [1, 0, 3], [0, 1, 4]]).patches.levels[0].can_be_flat.any()


def test_a_level_sheet_has_no_candidates_and_notices_when_it_bends():
    """All its pieces are height fields, until a normal leaves a cone: then all around it is in question."""
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
    assert set(pair.outside_cones(numpy_kernels, bent)) >= set(np.flatnonzero(x[0] >= 0.0))
    pair.forget_cones()
    assert not pair.knows_cones
    pair.find_flat_patches(numpy_kernels, bent)
    pair.query(numpy_kernels, bent)
    assert pair.candidates.size > 0 and not len(pair.outside_cones(numpy_kernels, bent))


def test_layers_are_never_one_piece():
    """A sheet folded onto itself, without a stretch that is bent gradually: its layers are candidates."""
    flat, quads = grid(16, 16, 1.0, 1.0)
    one = surface(flat, quads)
    pair = SurfacePair(one, one, 0, 0.5 * one.edge, rest=flat.T.copy())
    x = flat.T.copy()
    x[0], x[2] = np.abs(flat[:, 0]), 0.4 * one.edge * (flat[:, 0] < 0.0)
    one.motion_bound.predict(x, x)
    pair.find_flat_patches(numpy_kernels, x)
    pair.query(numpy_kernels, x)
    assert any(is_flat.any() for is_flat in pair._is_flat)
    sides = np.sign(flat[pair.candidates.particles, 0])
    assert ((sides.min(axis=0) < 0) & (sides.max(axis=0) > 0)).sum() > 1000
