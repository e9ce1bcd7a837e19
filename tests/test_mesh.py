"""Topology: what constraints are built from is there once, in the right place, and bad meshes break nothing."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import CUBE, CUBE_QUADS, grid, icosphere
from pbd_addon import Body, Material, Plane, Polygons, Simulation
from pbd_addon.meshes.mesh import TriMesh, as_polygons, connected_components, fans, triangle_areas, vertex_normals


def tri_mesh(vertices, faces, edges=None) -> TriMesh:
    return TriMesh(np.asarray(vertices, float), as_polygons("faces", faces, len(vertices)), edges)


def bumpy_grid(rx: int, ry: int, seed: int = 0):
    """A grid whose quads are neither planar nor regular."""
    vertices, quads = grid(rx, ry, 1.0, 1.0)
    return vertices + np.random.default_rng(seed).normal(0.0, 0.2 / max(rx, ry), vertices.shape), quads


def oriented(triangles: np.ndarray) -> set[tuple[int, ...]]:
    """Triangles that keep their direction but not the corner they start with."""
    return {tuple(np.roll(triangle, -int(triangle.argmin())).tolist()) for triangle in triangles}


def unordered(pairs: np.ndarray) -> list[tuple[int, ...]]:
    return sorted(tuple(sorted(pair)) for pair in pairs.tolist())


def shoelace(points: np.ndarray) -> float:
    x, y = points[:, 0], points[:, 1]
    return 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


@pytest.mark.parametrize(("rx", "ry"), [(1, 1), (3, 2), (5, 4)])
def test_grid_counts(rx, ry):
    """A grid of rx x ry quads has the edges, cuts, diagonals and hinges that counting on paper gives."""
    mesh = tri_mesh(*grid(rx, ry, 1.0, 1.0))
    inner = rx * (ry - 1) + ry * (rx - 1)
    assert len(mesh.triangles) == 2 * rx * ry
    assert len(mesh.edges) == rx * (ry + 1) + ry * (rx + 1)
    assert len(mesh.diagonals) == 2 * rx * ry
    assert len(mesh.hinges) == inner + rx * ry
    assert mesh.non_manifold_edges == mesh.zero_area_faces == mesh.duplicate_faces == 0


@pytest.mark.parametrize("subdivisions", [0, 1, 2])
def test_closed_sphere_counts(subdivisions):
    """V - E + F = 2, every edge is a hinge, and nothing is open or a quad."""
    vertices, triangles = icosphere(subdivisions, 1.0)
    mesh = tri_mesh(vertices, triangles)
    assert len(vertices) - len(mesh.edges) + len(mesh.triangles) == 2
    assert len(mesh.hinges) == len(mesh.edges)
    assert mesh.boundary_loops == []
    assert len(mesh.diagonals) == 0
    assert (mesh.islands == 0).all()


def test_edges_are_unique_and_those_of_the_faces():
    """Each side of a face is an edge once, from the smaller vertex to the larger; cuts inside of faces are none."""
    vertices, quads = bumpy_grid(3, 3)
    sides = {tuple(sorted((quad[k - 1], quad[k]))) for quad in quads for k in range(4)}
    edges = tri_mesh(vertices, quads).edges.tolist()
    assert {tuple(edge) for edge in edges} == sides
    assert len(edges) == len(sides)


def test_hinges_join_the_two_triangles_beside_an_edge():
    """(start, end, left tip) and (end, start, right tip) are triangles of the mesh, with their directions."""
    vertices, quads = bumpy_grid(4, 3)
    mesh = tri_mesh(vertices, quads)
    there = oriented(mesh.triangles)
    for start, end, left, right in mesh.hinges.tolist():
        assert oriented(np.array([[start, end, left], [end, start, right]])) <= there
    assert len({tuple(sorted(hinge[:2])) for hinge in mesh.hinges.tolist()}) == len(mesh.hinges)


@pytest.mark.parametrize("vertices_of", [lambda: bumpy_grid(4, 3), lambda: grid(4, 3, 1.0, 0.75)])
def test_quads_do_not_care_which_corner_they_start_with(vertices_of):
    """Triangles, hinges, diagonals and areas are the same for every corner that a quad may start with."""
    vertices, quads = vertices_of()
    original = tri_mesh(vertices, quads)
    turned = tri_mesh(vertices, [list(np.roll(quad, k % 4)) for k, quad in enumerate(quads)])
    assert oriented(turned.triangles) == oriented(original.triangles)
    assert unordered(turned.edges) == unordered(original.edges)
    assert unordered(turned.diagonals) == unordered(original.diagonals)
    assert unordered(turned.hinges) == unordered(original.hinges)
    np.testing.assert_allclose(turned.corner_areas, original.corner_areas, rtol=1e-14)


def test_quads_are_cut_along_the_shorter_diagonal():
    """A kite is cut across its short diagonal, and both diagonals resist shear."""
    kite = [[0.0, -1.0, 0.0], [0.4, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.4, 0.0, 0.0]]
    mesh = tri_mesh(kite, [[0, 1, 2, 3]])
    assert mesh.hinges[0, :2].tolist() in ([1, 3], [3, 1])
    assert unordered(mesh.diagonals) == [(0, 2), (1, 3)]


@pytest.mark.parametrize("start", range(4))
def test_concave_quads_are_cut_inside(start):
    """A dart's two triangles face the same way and have its area, whatever corner comes first."""
    dart = np.array([[0.0, 0.0, 0.0], [1.0, -1.0, 0.0], [0.0, 2.0, 0.0], [-1.0, -1.0, 0.0]])
    face = np.roll([0, 1, 2, 3], start)
    mesh = tri_mesh(dart, [face])
    assert triangle_areas(dart, mesh.triangles).sum() == pytest.approx(shoelace(dart), rel=1e-14)


POLYGONS = {
    "pentagon": [[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(5) / 5],
    "twelve corners": [[np.cos(t), 0.5 * np.sin(t)] for t in 2 * np.pi * np.arange(12) / 12],
    "L": [[0, 0], [2, 0], [2, 1], [1, 1], [1, 2], [0, 2]],
    "star": [[r * np.cos(t), r * np.sin(t)] for t, r in zip(2 * np.pi * np.arange(10) / 10, [1.0, 0.4] * 5)],
    "comb": [[0, 0], [5, 0], [5, 3], [4, 3], [4, 1], [3, 1], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]],
    "side with a corner on it": [[0, 0], [1, 0], [2, 0], [2, 2], [0, 2]],
}


@pytest.mark.parametrize("name", POLYGONS)
@pytest.mark.parametrize("backwards", [False, True])
def test_larger_faces_are_filled_exactly(name, backwards):
    """The triangles of an n-gon, convex or not, have its area and direction, and cuts keep it in shape."""
    outline = np.array(POLYGONS[name], float)
    vertices = np.column_stack([outline, np.zeros(len(outline))])
    face = list(range(len(outline)))[:: -1 if backwards else 1]
    mesh = tri_mesh(vertices, [face])
    corners = vertices[mesh.triangles]
    upwards = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    assert len(mesh.triangles) == len(outline) - 2
    assert (upwards * (-1 if backwards else 1) > 0.0).all()
    assert np.abs(upwards).sum() == pytest.approx(shoelace(outline), rel=1e-12)
    assert len(mesh.edges) == len(outline)
    assert len(mesh.diagonals) == 2 * (len(outline) - 3)


def test_boundary_loop_of_a_grid_runs_along_its_rim():
    """A sheet has one opening: its rim, in the direction of its faces' sides."""
    vertices, quads = grid(4, 3, 1.0, 1.0)
    (loop,) = tri_mesh(vertices, quads).boundary_loops
    assert len(loop) == len(set(loop.tolist())) == 2 * (4 + 3)
    np.testing.assert_allclose(np.abs(vertices[loop, :2]).max(axis=1), 0.5)
    assert shoelace(vertices[loop]) == pytest.approx(1.0)  # the faces run counter-clockwise, and so does the rim


def test_every_hole_is_a_boundary_loop():
    """A sphere with two triangles taken out has two openings of three vertices each."""
    vertices, triangles = icosphere(2, 1.0)
    loops = tri_mesh(vertices, triangles[1:-1]).boundary_loops
    expected = {frozenset(triangles[0].tolist()), frozenset(triangles[-1].tolist())}
    assert {frozenset(loop.tolist()) for loop in loops} == expected
    assert sorted(len(loop) for loop in loops) == [3, 3]


def test_islands_are_connected_pieces():
    """Two balls, a rope and a lone vertex are four islands."""
    vertices, triangles = icosphere(1, 1.0)
    n = len(vertices)
    everything = np.concatenate([vertices, vertices + 3.0, [[9.0, 0.0, 0.0], [9.0, 1.0, 0.0], [5.0, 5.0, 5.0]]])
    mesh = tri_mesh(everything, np.concatenate([triangles, triangles + n]), [[2 * n, 2 * n + 1]])
    labels = mesh.islands
    assert [len(set(part.tolist())) for part in (labels[:n], labels[n : 2 * n], labels[2 * n : 2 * n + 2])] == [1] * 3
    assert len(set(labels.tolist())) == 4


def test_connected_components_of_a_long_chain_in_any_order():
    """The label of a piece is one, however its pairs are shuffled."""
    rng = np.random.default_rng(3)
    chain = rng.permutation(200)
    pairs = np.column_stack([chain[:-1], chain[1:]])
    pairs = rng.permutation(pairs)
    cut = ~((pairs == chain[99]).any(axis=1) & (pairs == chain[100]).any(axis=1))
    labels = connected_components(pairs[cut], 200)
    assert set(labels[chain[:100]]) != set(labels[chain[100:]])
    assert len(set(labels[chain[:100]])) == len(set(labels[chain[100:]])) == 1


def test_masses_are_a_third_of_every_triangle():
    """m_i = density / 3 x the area of the triangles around vertex i (Mueller 2007, sec. 3)."""
    vertices, triangles = icosphere(1, 0.7)
    vertices = vertices * [1.0, 1.3, 0.6]
    a, b, c = vertices[triangles].transpose(1, 0, 2)
    areas = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
    expected = np.zeros(len(vertices))
    np.add.at(expected, triangles, 0.25 * areas[:, None] / 3.0)
    np.testing.assert_allclose(Body(vertices, triangles, Material(density=0.25)).masses(), expected, rtol=1e-13)


def test_masses_of_a_rectangle_grid():
    """Corners of a grid weigh a quarter of a quad, its rim a half, its inside a whole one."""
    vertices, quads = grid(3, 2, 3.0, 2.0)
    masses = Body(vertices, quads, Material(density=0.4)).masses().reshape(3, 4)
    expected = 0.4 * np.outer([0.5, 1.0, 0.5], [0.5, 1.0, 1.0, 0.5])
    np.testing.assert_allclose(masses, expected, rtol=1e-14)


@pytest.mark.parametrize("scene", ["bumpy quads", "star", "cube", "sphere"])
def test_masses_add_up_to_density_times_area(scene):
    """No mass is lost or made, whatever faces carry it."""
    if scene == "bumpy quads":
        vertices, faces = bumpy_grid(5, 3)
    elif scene == "star":
        outline = np.array(POLYGONS["star"])
        vertices, faces = np.column_stack([outline, outline[:, 0]]), [list(range(10))]
    else:
        vertices, faces = (CUBE, CUBE_QUADS) if scene == "cube" else icosphere(2, 0.5)
    body = Body(vertices, faces, Material(density=0.31))
    area = triangle_areas(np.asarray(vertices), body.mesh.triangles).sum()
    assert body.masses().sum() == pytest.approx(0.31 * area, rel=1e-13)
    assert (body.masses() > 0.0).all()


def test_own_masses_override_the_density():
    """Given masses are taken as they are."""
    vertices, quads = grid(1, 1, 1.0, 1.0)
    np.testing.assert_array_equal(Body(vertices, quads, masses=[1.0, 2.0, 3.0, 4.0]).masses(), [1.0, 2.0, 3.0, 4.0])


def test_volume_of_a_box_and_of_a_tetrahedron():
    """V = width x height x depth; V = 1/6 |a . (b x c)|; both at any place."""
    size, shift = np.array([2.0, 3.0, 0.5]), np.array([100.0, -200.0, 300.0])
    box = Body(CUBE * size + shift, CUBE_QUADS)
    assert box.volume(box.vertices) == pytest.approx(3.0, rel=1e-12)
    corners = np.array([[0.0, 0, 0], [1, 0.2, 0], [0.3, 2, 0], [0.1, 0.4, 3]])
    tetrahedron = Body(corners, [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    expected = np.linalg.det(corners[1:] - corners[0]) / 6.0
    assert tetrahedron.volume(corners) == pytest.approx(expected, rel=1e-13)


def test_volume_changes_its_sign_with_the_normals():
    """A closed mesh that is turned inside out encloses the same volume with the other sign."""
    vertices, triangles = icosphere(2, 0.5)
    out, inside_out = Body(vertices, triangles), Body(vertices, triangles[:, ::-1])
    assert out.volume(vertices) > 0.0
    assert inside_out.volume(vertices) == pytest.approx(-out.volume(vertices), rel=1e-13)


@pytest.mark.parametrize("opened", [[1], [1, 0], [5]])
def test_virtual_caps_close_a_box_without_its_lids(opened):
    """A box whose flat sides are taken out still encloses its whole volume."""
    body = Body(CUBE * [1.0, 2.0, 3.0], [quad for k, quad in enumerate(CUBE_QUADS) if k not in opened])
    assert len(body.mesh.boundary_loops) == len(opened)
    assert body.volume(body.vertices) == pytest.approx(6.0, rel=1e-13)


def test_faces_come_in_three_shapes():
    """An array, a list of lists and flat corners with starts describe the same mesh."""
    vertices, quads = grid(2, 2, 1.0, 1.0)
    flat = Polygons(np.array(quads).ravel(), np.arange(0, 17, 4))
    for faces in (np.array(quads), flat):
        mesh = tri_mesh(vertices, faces)
        np.testing.assert_array_equal(mesh.triangles, tri_mesh(vertices, quads).triangles)
        np.testing.assert_array_equal(mesh.edges, tri_mesh(vertices, quads).edges)


SQUARE = [[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]
STRIP = [[np.cos(t) * (1 + s * np.cos(t / 2)), np.sin(t) * (1 + s * np.cos(t / 2)), s * np.sin(t / 2)]
         for t in 2 * np.pi * np.arange(9) / 9 for s in (-0.2, 0.2)]  # fmt: skip
MOEBIUS = [[2 * k, 2 * k + 2, 2 * k + 3, 2 * k + 1] for k in range(8)] + [[16, 1, 0, 17]]
BAD_MESHES = {
    "three faces on an edge": ([*SQUARE, [0.5, 0.5, 1], [0.5, 0.5, -1]], [[0, 1, 4], [1, 0, 5], [0, 1, 3]], ()),
    "four faces on an edge": ([*SQUARE, [0.5, 0.5, 1], [0.5, 0.5, -1]], [[0, 1, k] for k in (2, 3, 4, 5)], ()),
    "isolated vertices": ([*SQUARE, [5, 5, 5], [5, 5, 5]], [[0, 1, 2, 3]], ()),
    "loose edges": ([*SQUARE, [2, 0, 0], [3, 0, 0]], [[0, 1, 2, 3]], [[1, 4], [4, 5]]),
    "loose edge of no length": ([*SQUARE, [1, 0, 0]], [[0, 1, 2, 3]], [[1, 4]]),
    "loose edge from a vertex to itself": (SQUARE, [[0, 1, 2, 3]], [[1, 1]]),
    "only a rope": (SQUARE, [], [[0, 1], [1, 2], [2, 3]]),
    "zero area, corners in a line": ([*SQUARE, [0.5, 0, 0]], [[0, 1, 2, 3], [0, 4, 1]], ()),
    "zero area, corners in one place": ([*SQUARE, [1, 1, 0], [1, 1, 0]], [[0, 1, 2, 3], [2, 4, 5]], ()),
    "quad with two corners in one place": ([[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2, 3]], ()),
    "quad with corners in a line": ([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]], [[0, 1, 2, 3]], ()),
    "vertex twice in a face": (SQUARE, [[0, 1, 2, 3], [0, 0, 1], [0, 1, 0, 2]], ()),
    "needle": ([*SQUARE, [0.5, -1e-9, 0]], [[0, 1, 2, 3], [0, 4, 1]], ()),
    "the same face twice": (SQUARE, [[0, 1, 2], [1, 2, 0], [0, 2, 3]], ()),
    "a face and its back": (SQUARE, [[0, 1, 2], [2, 1, 0], [0, 2, 3]], ()),
    "a quad twice": (SQUARE, [[0, 1, 2, 3], [3, 2, 1, 0]], ()),
    "faces that overlap": (SQUARE, [[0, 1, 2, 3], [0, 1, 2], [0, 1, 3]], ()),
    "bow tie": ([*SQUARE, [2, 1, 0], [2, 2, 0]], [[0, 1, 2], [2, 4, 5]], ()),
    "neighbours that face apart": (SQUARE, [[0, 1, 2], [0, 3, 2]], ()),
    "Moebius strip": (STRIP, MOEBIUS, ()),
    "closed sheet without volume": ([*SQUARE], [[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 3, 2]], ()),
    "folded back on itself": ([[0, 0, 0], [1, 0, 0], [0.5, 1, 0], [0.5, 1, 0]], [[0, 1, 2], [1, 0, 3]], ()),
    "self-crossing n-gon": ([[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0], [0.5, 3, 0]], [[0, 1, 2, 3, 4]], ()),
    "n-gon of no area": ([[k, 0, 0] for k in range(6)] + [[0, 1, 0]], [[0, 1, 2, 3, 4, 5], [0, 1, 6]], ()),
    "huge and tiny": (np.array([*SQUARE, [1e-7, 0, 0], [1e4, 0, 0]]), [[0, 1, 2, 3], [0, 4, 3], [1, 5, 2]], ()),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MESHES)
@pytest.mark.parametrize(
    ("model", "pressure"), [("DIHEDRAL", "VOLUME"), ("ISOMETRIC", "OVERPRESSURE"), ("DIHEDRAL", "GAS")]
)
@pytest.mark.filterwarnings("error")
def test_bad_meshes_move_soundly(name, model, pressure):
    """Whatever is wrong with a mesh, it is simulated without a warning or a number that is none."""
    vertices, faces, edges = BAD_MESHES[name]
    material = Material(bend_model=model, pressure_mode=pressure, overpressure=50.0, pressure=1.1, bend=1e-4)
    body = Body(vertices, faces, material, edges=edges, pins=[0])
    simulation = Simulation([body], [Plane((0.0, 0.0, -0.2))], substeps=5)
    for _ in range(3):
        report = simulation.step(1 / 24)
    assert np.isfinite(simulation.positions(body)).all()
    assert np.isfinite(simulation.velocities(body)).all()
    assert np.isfinite([report.strain_mean, report.strain_p95, report.strain_max]).all()
    assert np.isfinite(body.volume(simulation.positions(body)))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("three faces on an edge", "1 edge has more than two faces"),
        ("isolated vertices", "2 isolated vertices stay where they are"),
        ("zero area, corners in a line", "1 triangle without area is ignored"),
        ("the same face twice", "1 duplicate face is ignored"),
        ("a quad twice", "1 duplicate face is ignored"),
    ],
)
def test_what_was_mended_is_said(name, sentence):
    """A body says in a sentence what it left out."""
    vertices, faces, edges = BAD_MESHES[name]
    assert sentence in Body(vertices, faces, edges=edges).notes


def test_a_sound_mesh_has_nothing_to_say():
    """Without anything to mend there is no note."""
    assert Body(*grid(2, 2, 1.0, 1.0)).notes == ()


def test_duplicate_faces_weigh_once():
    """A face that was given twice, also from its back, counts once."""
    once, twice = Body(SQUARE, [[0, 1, 2, 3]]), Body(SQUARE, [[0, 1, 2, 3], [2, 1, 0, 3]])
    np.testing.assert_array_equal(twice.masses(), once.masses())


def test_isolated_vertices_stay_and_do_not_hold_the_rest():
    """A vertex without faces is no part of the motion: the sheet falls as if it were not there."""
    vertices, quads = grid(2, 2, 1.0, 1.0)
    with_one = Body(np.concatenate([vertices, [[7.0, 8.0, 9.0]]]), quads, Material(drag=0.0))
    without = Body(vertices, quads, Material(drag=0.0))
    both = [Simulation([body], substeps=4) for body in (with_one, without)]
    for simulation in both:
        for _ in range(5):
            simulation.step(1 / 24)
    positions = both[0].positions(with_one)
    np.testing.assert_array_equal(positions[-1], [7.0, 8.0, 9.0])
    np.testing.assert_allclose(positions[:-1], both[1].positions(without), rtol=0, atol=1e-12)


def test_normals_of_vertices_do_not_depend_on_how_faces_are_cut():
    """At the corner of a cube along the diagonal, whether one or two triangles of a face meet there."""
    quads = as_polygons("faces", CUBE_QUADS, 8)
    for faces in (quads, as_polygons("faces", fans(quads), 8)):
        np.testing.assert_allclose(vertex_normals(CUBE, faces), (2.0 * CUBE - 1.0) / np.sqrt(3.0), atol=1e-12)
    folded = np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [1, 0.1, 0], [0, 2, 0.0]])  # almost two faces
    assert (vertex_normals(folded, as_polygons("faces", [[0, 1, 2, 3, 4]], 5)) == [0.0, 0.0, 1.0]).all()
    apart = vertex_normals(np.concatenate([CUBE, CUBE[:1]]), as_polygons("faces", [[0, 2, 1]], 9))
    np.testing.assert_allclose(apart[[0, 8]], [[0.0, 0.0, -1.0], [0.0, 0.0, 0.0]], atol=1e-12)
