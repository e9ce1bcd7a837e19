"""Checks of the mesh itself: each takes a `MeshExam` and returns a sentence or ""."""

import bmesh
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ...contact.intersections import intersecting_faces
from ...meshes.joints import coincident
from ...meshes.seam_pairs import Sides, measure_sides
from ...model.struts import Recipe, struts_of
from ..scene.arrays import values
from .mesh_exam import MeshExam, count_in

SAME_PLACE = 1e-4
"""Vertices closer than this fraction of the median edge length are doubles."""

NO_AREA = 1e-10
"""A face with less than this fraction of its squared perimeter counts as having no area."""

UNEVEN = 0.02
"""Share by which the sides of a seam may differ in length.

Cotton of 0.3 m, sewn to cotton that is longer by a share of 0.01, 0.02, 0.03, is strained along the seam by 0.5, 1.0,
1.5 % in the mean."""


def shared(exam: MeshExam) -> str:
    """Objects that share a mesh cannot have shapes of their own."""
    mesh = exam.obj.data
    sharers = mesh.users - mesh.use_fake_user
    return iface("The mesh is shared by {count} objects").format(count=sharers) if sharers > 1 else ""


def absolute_keys(exam: MeshExam) -> str:
    """The live key is a relative one."""
    keys = exam.obj.data.shape_keys
    absolute = keys is not None and not keys.use_relative
    return iface("The shape keys are absolute, the simulation needs relative ones") if absolute else ""


def no_faces(exam: MeshExam) -> str:
    """Without faces and edges there is nothing to simulate."""
    return (
        ""
        if len(exam.polygons.starts) > 1 or len(exam.edges)
        else iface("The mesh has no faces: there is nothing to simulate")
    )


def doubles(exam: MeshExam) -> str:
    """Vertices in the same place are not connected, so the cloth is cut open there: unless it is split to tear, or its
    borders are joined.
    """
    if exam.obj.pbd.tear_strength:
        return ""
    geometry = bmesh.new()
    geometry.from_mesh(exam.obj.data)
    pairs = np.array([(one.index, other.index) for one, other in double_targets(geometry).items()], int).reshape(-1, 2)
    geometry.free()
    if exam.body is not None:
        holding = exam.body.holding()
        pairs = pairs[holding[pairs[:, 0]] != holding[pairs[:, 1]]]
    count = len(pairs)
    return count_in(
        count,
        iface("{count} vertex lies on another: the cloth is cut open there"),
        iface("{count} vertices lie on another: the cloth is cut open there"),
    )


def not_split(exam: MeshExam) -> str:
    """Cloth tears only where the mesh is split."""
    if not exam.obj.pbd.tear_strength or len(exam.polygons.starts) < 2:
        return ""
    first = coincident(exam.positions, exam.polygons)
    if (first != np.arange(len(first))).any():
        return ""
    return iface("Tear Strength is set, but the mesh is not split: nothing can tear")


def double_targets(geometry: bmesh.types.BMesh) -> dict:
    """Which vertices of a BMesh to merge into which, by Blender's Merge by Distance."""
    lengths = [edge.calc_length() for edge in geometry.edges]
    if not lengths:
        return {}
    distance = SAME_PLACE * float(np.median(lengths))
    return bmesh.ops.find_doubles(geometry, verts=geometry.verts[:], dist=distance)["targetmap"]


def areas(exam: MeshExam) -> tuple[np.ndarray, np.ndarray]:
    """Areas (f,) [m²] and perimeters (f,) [m] of the faces."""
    corners, starts = exam.polygons
    sizes = np.diff(starts)
    following = np.arange(len(corners)) + 1
    following[starts[1:] - 1] = starts[:-1]
    x, after = exam.positions[corners], exam.positions[corners[following]]
    center = np.repeat(exam.positions[corners[starts[:-1]]], sizes, axis=0)
    vectors = np.add.reduceat(np.cross(x - center, after - center), starts[:-1], axis=0)
    return 0.5 * np.linalg.norm(vectors, axis=1), np.add.reduceat(np.linalg.norm(after - x, axis=1), starts[:-1])


def no_area(exam: MeshExam) -> str:
    """Faces that are lines or points are not simulated."""
    if len(exam.polygons.starts) < 2 or exam.is_flat:
        return ""
    area, girth = areas(exam)
    count = int((area <= NO_AREA * girth**2).sum())
    return count_in(
        count,
        iface("{count} face has no area and will not be simulated"),
        iface("{count} faces have no area and will not be simulated"),
    )


def loose_vertices(exam: MeshExam) -> str:
    """Vertices without an edge stay where they are."""
    used = np.zeros(len(exam.positions), bool)
    used[exam.edges.ravel()] = True
    count = int((~used).sum())
    return count_in(
        count,
        iface("{count} vertex belongs to no edge and will not move"),
        iface("{count} vertices belong to no edge and will not move"),
    )


def faces_of_edges(exam: MeshExam) -> np.ndarray:
    """Number of faces at each edge, (e,) int."""
    return np.bincount(values(exam.obj.data.loops, "edge_index", np.int32), minlength=len(exam.edges))


def crowded_edges(exam: MeshExam) -> str:
    """Edges with more than two faces do not bend."""
    if exam.obj.pbd.rigid:
        return ""
    count = int((faces_of_edges(exam) > 2).sum())
    return count_in(
        count,
        iface("{count} edge has more than two faces and will not bend"),
        iface("{count} edges have more than two faces and will not bend"),
    )


def opposed_normals(exam: MeshExam) -> str:
    """Pressure pushes along the normals, so neighbors must agree on them."""
    if exam.obj.pbd.pressure_mode == "OFF":
        return ""
    corners, starts = exam.polygons
    following = np.arange(len(corners)) + 1
    following[starts[1:] - 1] = starts[:-1]
    ways = corners.astype(np.int64) * len(exam.positions) + corners[following]
    count = int((np.unique(ways, return_counts=True)[1] > 1).sum())
    return count_in(
        count,
        iface("The normals disagree at {count} edge: pressure would push both ways"),
        iface("The normals disagree at {count} edges: pressure would push both ways"),
    )


def open_chambers(exam: MeshExam) -> str:
    """Caps that cannot be seen close openings under pressure: right for a hot-air balloon and for seams to come."""
    pbd = exam.obj.pbd
    if exam.body is None or pbd.pressure_mode == "OFF" or pbd.gas_density or pbd.sewing or pbd.tear_strength:
        return ""
    return count_in(
        len(exam.body.mesh.boundary_loops),
        iface("{count} opening is under pressure as if it were closed: fill it"),
        iface("{count} openings are under pressure as if they were closed: fill them"),
    )


def no_springs(exam: MeshExam) -> str:
    """Internal springs begin inside and end at the far side."""
    recipe = None if exam.body is None else Recipe.of(exam.body.material)
    if recipe is None or len(struts_of(exam.body, recipe).pairs):
        return ""
    return iface("Internal Springs connect nothing: no sides face away from each other within Max Length")


def intersections(exam: MeshExam) -> str:
    """Contact cannot separate faces that intersect at the start."""
    if exam.body is None:
        return ""
    count = len(intersecting_faces([exam.body])[0])
    return count_in(
        count,
        iface("{count} face intersects others at the start"),
        iface("{count} faces intersect others at the start"),
    )


def uneven_seams(exam: MeshExam) -> str:
    """Sides of different length are stretched or gathered to meet; of several seams, it says the worst."""
    found = find_uneven_seams(exam)
    if not found:
        return ""
    worst = max(found, key=unevenness)
    first, last = exam.body.seams[worst.pairs[[0, -1]], 0]
    sentence = iface(
        "The sides of the seam with vertices {first} and {last} are {one} and {other} mm long, "
        "they differ by {share} %: make them equally long"
    )
    one, other = (f"{1000.0 * length:.4g}" for length in worst.lengths)
    return sentence.format(first=first, last=last, one=one, other=other, share=f"{100.0 * unevenness(worst):.2g}")


def find_uneven_seams(exam: MeshExam) -> list[Sides]:
    """The seams whose sides differ by more than `UNEVEN` in the rest shape."""
    body = exam.body
    if body is None or not exam.obj.pbd.sewing or not len(body.seams):
        return []
    seams = measure_sides(body.rest_vertices, body.seams, body.mesh.triangles)
    return [seam for seam in seams if unevenness(seam) > UNEVEN]


def unevenness(seam: Sides) -> float:
    """By how much the longer side is longer, as a share of the shorter one."""
    return max(seam.lengths) / max(min(seam.lengths), 1e-9) - 1.0
