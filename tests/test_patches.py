"""Patches: which parts of a surface may count as height fields, and that those which stop being one are noticed."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid, jittered_sheet
from helpers.search import World
from pbd_addon import Body
from pbd_addon.contact.height_fields import CONES, SMOOTH_CONES, HeightFields
from pbd_addon.contact.patches import Partition
from pbd_addon.contact.surface import Surface
from pbd_addon.kernels import numpy as numpy_kernels


def surface(vertices: np.ndarray, faces: object) -> Surface:
    return Surface(Body(vertices, faces).mesh, np.asarray(vertices, float), 0)


def patch_of_faces(level: Partition) -> np.ndarray:
    """The patch of each face, in the order of the patches."""
    return np.arange(level.count).repeat(np.diff(level.first_faces))


def renewed(fields: HeightFields, p: np.ndarray) -> np.ndarray:
    """Particles of pieces that are no height fields any more at p (3, n), after a look for all there are."""
    return fields.update(numpy_kernels, p, np.zeros_like(fields.are_known), only_fresh=False)


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
        assert len(leaves) == patches.levels[-1].count
    assert all(level.can_be_flat.all() for level in patches.levels)


def test_what_joins_panels_of_other_winding_is_never_flat():
    """Folded face to face there, both have the same normals."""
    vertices, quads = grid(24, 24, 1.0, 1.0)
    is_right = vertices[np.array(quads)].mean(axis=1)[:, 0] > 0.0
    turned = [quad[::-1] if right else quad for quad, right in zip(np.array(quads).tolist(), is_right)]
    patches = surface(vertices, turned).patches
    in_middle = np.abs(vertices[:, 0]) < 1e-9
    for level in patches.levels:
        owner = patch_of_faces(level)
        beside = np.bincount(owner, in_middle[patches.faces].any(axis=0)) > 0
        first, members = level.neighborhoods
        around = np.add.reduceat(beside[members], first[:-1]) > 0
        np.testing.assert_array_equal(level.can_be_flat, ~np.stack([beside, around]))


def test_a_primitive_is_in_the_patch_of_one_of_its_faces():
    """So that two primitives of one patch belong to faces of that patch."""
    one = surface(*jittered_sheet(16))
    patches = one.patches

    def cell_of(leaves: np.ndarray) -> np.ndarray:
        cells, slots = np.nonzero(leaves >= 0)
        cell = np.zeros(len(cells), int)
        cell[leaves[cells, slots]] = cells
        return cell

    face, vertex, edge = (
        cell_of(leaves) for leaves in (patches.face_leaves, patches.vertex_leaves, patches.edge_leaves)
    )
    of_patches = zip(patch_of_faces(patches.levels[-1]).tolist(), patches.faces.T.tolist())
    assert sorted(of_patches) == sorted(zip(face.tolist(), one.triangles.T.tolist()))
    for number, particle in enumerate(one.vertices):
        assert vertex[number] in face[(one.triangles == particle).any(axis=0)]
    for number, ends in enumerate(one.edges.T):
        assert edge[number] in face[np.isin(one.triangles, ends).sum(axis=0) == 2]
    for cell, corners in enumerate(one.patches.cell_vertices.T):
        assert set(corners) == set(one.triangles[:, face == cell].ravel())


def test_neighbors_share_a_vertex_or_touch_the_same_cell():
    """By comparing all patches; the members of a neighborhood are its neighbors and itself."""
    one = surface(*jittered_sheet(16))
    cells = [set(cell) for cell in one.patches.cell_vertices.T]
    for level in one.patches.levels:
        corners = [set(own.ravel()) for own in np.split(one.patches.faces, level.first_faces[1:-1], axis=1)]
        touched = [{k for k, cell in enumerate(cells) if not cell.isdisjoint(own)} for own in corners]
        i, j = (each.ravel() for each in np.indices((level.count, level.count)))
        meets = corners if level is one.patches.levels[-1] else touched
        expected = [not meets[a].isdisjoint(meets[b]) for a, b in zip(i, j)]
        first_members, members = level.neighborhoods
        centers = np.arange(level.count).repeat(np.diff(first_members))
        assert set(zip(centers.tolist(), members.tolist())) == set(zip(i[expected], j[expected]))


def test_slits_holes_and_straps_cannot_be_flat():
    """Their outline may meet itself while all normals are the same."""
    vertices, quads = grid(16, 16, 1.0, 1.0)
    middle = np.abs(vertices[np.array(quads)].mean(axis=1)).max(axis=1) < 0.1
    holed = surface(vertices, np.array(quads)[~middle])
    corners = np.flatnonzero((np.abs(np.abs(vertices[:, :2]) - 0.125) < 1e-9).all(axis=1))
    for one, ends in ((surface(*cut_grid(9)), [9 * 17 + 8]), (holed, corners)):
        for level in one.patches.levels:
            at = np.unique(patch_of_faces(level)[np.isin(one.patches.faces, ends).any(axis=0)])
            assert not level.can_be_flat[1, at].any()
        assert one.patches.levels[-1].can_be_flat[1].any()
    assert not surface(*grid(64, 1, 3.2, 0.02)).patches.levels[0].can_be_flat[1].any()
    three = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1]])
    assert not surface(three, [[0, 1, 2], [1, 0, 3], [0, 1, 4]]).patches.levels[0].can_be_flat.any()


def test_a_level_sheet_has_no_candidates_and_notices_when_it_bends():
    """All its pieces are height fields, until a normal leaves a cone: then all around it is in question."""
    vertices, quads = grid(16, 16, 1.0, 1.0)
    one = surface(vertices, quads)
    pair = World(one, distance=0.7 * one.edge, rest=vertices.T.copy())
    fields, x = pair.height_fields, vertices.T.copy()
    pair.predict(vertices, vertices)
    pair.query(numpy_kernels, x)
    assert fields.is_smooth[0] and pair.candidates.size == 0
    bent = x.copy()
    bent[2] = np.tan(CONES[0]) * np.maximum(x[0], 0.0)
    assert not len(fields.outside(numpy_kernels, bent))
    bent[2] = np.tan(SMOOTH_CONES[1] + 0.01) * np.maximum(x[0], 0.0)
    assert len(fields.outside(numpy_kernels, bent))
    assert not len(renewed(fields, bent))  # they are, about other axes
    assert not len(fields.outside(numpy_kernels, bent))
    bent[2] = np.tan(SMOOTH_CONES[1] + 0.01) * np.abs(x[0])
    outside = set(fields.outside(numpy_kernels, bent))
    lost = set(renewed(fields, bent))
    assert not len(fields.outside(numpy_kernels, bent))
    at_bend = set(np.flatnonzero(np.abs(x[0]) < 1e-9))
    assert outside >= at_bend and lost >= at_bend
    pair.query(numpy_kernels, bent)
    assert pair.candidates.size > 0


def test_layers_are_never_one_piece():
    """A sheet folded onto itself, without a stretch that is bent gradually: its layers are candidates."""
    flat, quads = grid(16, 16, 1.0, 1.0)
    one = surface(flat, quads)
    pair = World(one, distance=0.5 * one.edge, rest=flat.T.copy())
    x = flat.T.copy()
    x[0], x[2] = np.abs(flat[:, 0]), 0.4 * one.edge * (flat[:, 0] < 0.0)
    pair.predict(x.T, x.T)
    pair.query(numpy_kernels, x)
    assert pair.height_fields.left_out.is_flat.any()
    sides = np.sign(flat[pair.candidates.particles, 0])
    assert ((sides.min(axis=0) < 0) & (sides.max(axis=0) > 0)).sum() > 1000
