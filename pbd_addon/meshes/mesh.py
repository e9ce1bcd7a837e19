"""Topology of a polygon mesh, from which constraints are built.

Everything here is computed once per body. Index arrays are int32, positions float64 in meters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import arguments
from ..arrays.distinct import distinct

AREA_EPSILON = 1e-12
"""A triangle is degenerate if its area is below this fraction of its longest edge squared."""

EMPTY = 1e-9
"""A surface encloses no volume if that is below this fraction of its area to the power of 3/2."""


class Polygons(NamedTuple):
    """Faces of any size in two flat arrays, as in Blender.

    Attributes:
        corners: Vertex of every face corner, face by face, (c,) int.
        starts: Index of each face's first corner, (f + 1,) int; the last entry is c.
    """

    corners: np.ndarray
    starts: np.ndarray


def turned_around(faces: Polygons) -> Polygons:
    """The same faces with opposite normals; each keeps its first corner."""
    lengths = np.diff(faces.starts)
    starts = np.repeat(faces.starts[:-1], lengths)
    place = np.arange(len(faces.corners)) - starts
    return Polygons(faces.corners[starts + (-place) % np.repeat(lengths, lengths)], faces.starts)


def fans(faces: Polygons) -> np.ndarray:
    """Triangles (t, 3) int32 of the faces, as fans around each first corner."""
    lengths = np.maximum(np.diff(faces.starts) - 2, 0)
    first = np.repeat(faces.starts[:-1], lengths)
    place = np.arange(len(first)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.stack([faces.corners[first], faces.corners[first + place + 1], faces.corners[first + place + 2]], axis=1)


def as_polygons(where: str, faces: object, count: int) -> Polygons:
    """Faces as `Polygons`, from a (t, k) array of equal faces, a list of faces, or `Polygons`.

    Args:
        where: The argument's name, for messages.
        faces: The argument.
        count: Number of vertices.

    Raises:
        ValueError: A face has fewer than three corners or an unknown vertex, or `faces` is not a list of faces.
    """
    if isinstance(faces, Polygons):
        corners = arguments.ids(f"{where}.corners", faces.corners, count)
        starts = arguments.integers(f"{where}.starts", faces.starts)
        if not len(starts) or starts[0] != 0 or starts[-1] != len(corners):
            arguments.refuse(f"{where}.starts", f"integers from 0 to the number of corners, {len(corners)}", starts)
        sizes = np.diff(starts.astype(np.int64))
    elif isinstance(faces, np.ndarray) and faces.ndim == 2:
        corners, sizes = arguments.ids(where, faces.ravel(), count), np.full(len(faces), faces.shape[1])
    else:
        rows = arguments.sequence(where, faces)
        try:
            sizes = np.array([len(face) for face in rows], np.int64)
            corners = arguments.ids(where, [corner for face in rows for corner in face], count)
        except TypeError:
            arguments.refuse(where, "a list of faces, each a list of vertices", faces)
    if len(sizes) and sizes.min() < 3:
        raise ValueError(f"{where} need at least 3 corners each, face {int(sizes.argmin())} has {int(sizes.min())}")
    return Polygons(corners.astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))


class TriMesh:
    """Triangles, edges and hinges of a polygon mesh, and their measures.

    Quads are split along the shorter diagonal (if equal, the one at the smallest vertex id), so the result does not
    depend on a quad's first corner. Larger faces are triangulated by ear clipping. Degenerate (zero-area) triangles
    and duplicate faces are left out and counted.

    Args:
        x: Rest positions, (n, 3) float64 [m].
        polygons: Faces.
        loose_edges: Edges without faces, (e, 2) int.
        joined: The vertex that stands for each where some are one, (n,) int; default: each for itself. Faces are cut
            by their own corners, so that cuts do not depend on what is joined.

    Attributes:
        triangles: (t, 3) int32.
        given_faces: Which of the given faces are left, (f,) int; None if all are.
        triangle_faces: The face of each triangle among these, (t,) int32.
        edges: Unique edges of the faces and the loose ones, without cuts inside faces, (e, 2) int32.
        diagonals: Both diagonals of every quad; for larger faces the cuts and the lines across them, (d, 2) int32.
        diagonal_areas: Area of the part of a face that a diagonal stabilizes, (d,) float64 [m²].
        edge_areas: Area of the triangles at each edge, (e,) float64 [m²]; 0 for loose edges.
        hinges: Inner triangle edges as (edge start, edge end, left tip, right tip), (h, 4) int32.
        islands: Number of the connected component of each vertex, (n,) int32.
        boundary_loops: Vertices of each opening, in the order of its triangles' edges, list of (k,) int32.
        corner_areas: Area of each vertex (a third of each of its triangles, a quarter of each quad), (n,) float64 [m²].
        non_manifold_edges: Number of edges with more than two triangles.
        zero_area_faces: Number of triangles left out for having no area.
        duplicate_faces: Number of faces left out because they were given twice.
    """

    def __init__(
        self, x: np.ndarray, polygons: Polygons, loose_edges: np.ndarray | None = None, joined: np.ndarray | None = None
    ) -> None:
        n = len(x)
        given = len(polygons.starts) - 1
        polygons, left = _without_duplicates(polygons, n)
        self.duplicate_faces = given - len(left)
        self.given_faces = left if self.duplicate_faces else None
        triangles, faces, cuts = _triangulate(x, polygons)
        if joined is not None:
            joined = joined.astype(np.int32)
            polygons = Polygons(joined[polygons.corners], polygons.starts)
            triangles, cuts = joined[triangles], joined[cuts]
            loose_edges = None if loose_edges is None else joined[loose_edges]
        corners, starts = polygons
        sizes = np.diff(starts)
        self.vertex_count = n
        areas, solid = triangle_areas(x, triangles), is_solid(x, triangles)
        self.zero_area_faces = int(len(triangles) - solid.sum())
        self.triangles, self.triangle_faces = triangles[solid], faces[solid]
        areas = areas[solid]

        face_areas = np.bincount(self.triangle_faces, areas, len(sizes))
        share = np.repeat(face_areas / np.maximum(sizes, 1), sizes)
        self.corner_areas = np.bincount(corners, share, n).astype(float)  # without input, bincount returns integers

        outline = outlines(polygons)
        loose = np.zeros((0, 2), np.int32) if loose_edges is None else np.asarray(loose_edges, np.int32).reshape(-1, 2)
        self.edges = _unique_pairs(np.concatenate([outline, loose]), n)

        half, left_tip = half_edges(self.triangles)
        half_area = np.repeat(areas, 3)
        keys = pair_keys(half, n)
        edge_keys = pair_keys(self.edges, n)
        at = np.searchsorted(edge_keys, keys)
        at_edge = np.minimum(at, max(len(edge_keys) - 1, 0))
        is_edge = edge_keys[at_edge] == keys if len(edge_keys) else np.zeros(len(keys), bool)
        self.edge_areas = np.bincount(at_edge[is_edge], half_area[is_edge], len(self.edges)).astype(float)

        self.hinges, hinge_keys, self.non_manifold_edges = _hinges(half, left_tip, keys)
        self.diagonals, self.diagonal_areas = _diagonals(x, polygons, cuts, self.hinges, hinge_keys, face_areas, n)
        same = np.zeros((0, 2), int) if joined is None else np.column_stack([np.arange(n), joined])
        self.islands = connected_components(np.concatenate([self.edges, self.diagonals, same]), n)
        self.boundary_loops = _boundary_loops(half, keys)

    def edge_lengths(self, x: np.ndarray) -> np.ndarray:
        """Lengths of `edges` at positions x (n, 3), (e,) float64 [m]."""
        return np.linalg.norm(x[self.edges[:, 0]] - x[self.edges[:, 1]], axis=1)


def is_solid(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which triangles (t, 3) have an area at positions x (n, 3), (t,) bool."""
    longest = np.zeros(len(triangles))
    for k in range(3):
        side = x[triangles[:, k]] - x[triangles[:, k - 1]]
        np.maximum(longest, np.einsum("ij,ij->i", side, side), out=longest)
    return np.asarray(triangle_areas(x, triangles) > AREA_EPSILON * np.maximum(longest, 1e-300))


def outlines(polygons: Polygons) -> np.ndarray:
    """Both ends of every side of polygons, in the order of their corners, (c, 2) int."""
    corners, starts = polygons
    filled = np.diff(starts) > 0
    following = np.arange(len(corners)) + 1
    following[starts[1:][filled] - 1] = starts[:-1][filled]
    return np.stack([corners, corners[following]], axis=1)


def triangle_areas(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Areas of triangles (t, 3) at positions x (n, 3), (t,) float64 [m²]."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)


def vertex_normals(x: np.ndarray, faces: Polygons) -> np.ndarray:
    """Unit normals of vertices (n, 3), (n, 3): the mean of those of their faces, by the angles there; or 0.

    So points are in front of or behind a closed surface as the normal at the nearest vertex says (Bærentzen and Aanæs
    2005), and Blender has the same.
    """
    corners, starts = faces
    sizes = np.diff(starts)
    first = np.repeat(starts[:-1], sizes)
    place, around = np.arange(len(corners)) - first, np.repeat(sizes, sizes)
    following = x[corners[first + (place + 1) % np.maximum(around, 1)]] - x[corners]
    previous = x[corners[first + (place - 1) % np.maximum(around, 1)]] - x[corners]
    of_face = np.repeat(np.arange(len(sizes)), sizes)
    spokes = x[corners] - x[corners[first]]
    areas = _summed(np.cross(spokes, spokes + following), of_face, len(sizes))
    units = areas / np.maximum(np.linalg.norm(areas, axis=1, keepdims=True), 1e-300)
    sine = np.linalg.norm(np.cross(following, previous), axis=1)
    angles = np.arctan2(sine, np.einsum("ci,ci->c", following, previous))
    summed = _summed(angles[:, None] * units[of_face], corners, len(x))
    return np.asarray(summed / np.maximum(np.linalg.norm(summed, axis=1, keepdims=True), 1e-300))


def _summed(rows: np.ndarray, where: np.ndarray, count: int) -> np.ndarray:
    """Sums (count, 3) of the rows (m, 3) that go to each place (m,)."""
    return np.stack([np.bincount(where, weights=axis, minlength=count) for axis in rows.T], axis=1)


def enclosed_volume(x: np.ndarray, triangles: np.ndarray, caps: Sequence[np.ndarray] = ()) -> float:
    """1/6 sum (p1 x p2) . p3 over triangles (t, 3) and the virtual caps of openings, x (n, 3); [m³]."""
    if not len(triangles):
        return 0.0
    origin = x[triangles[0, 0]]
    a, b, c = (x[triangles[:, k]] - origin for k in range(3))
    volume = (np.cross(a, b) * c).sum()
    for rim in caps:
        ring = x[rim] - origin
        volume += (np.cross(np.roll(ring, -1, axis=0), ring) @ ring.mean(axis=0)).sum()
    return float(volume / 6.0)


def rest_volume(rest: np.ndarray, triangles: np.ndarray, caps: Sequence[np.ndarray]) -> float:
    """As `enclosed_volume` for a rest shape (n, 3) [m]; 0 where it encloses next to nothing, see `EMPTY`."""
    volume = enclosed_volume(rest, triangles, caps)
    return volume if abs(volume) >= EMPTY * triangle_areas(rest, triangles).sum() ** 1.5 else 0.0


def pair_keys(pairs: np.ndarray, n: int) -> np.ndarray:
    """One int64 per pair of vertices, the same for (a, b) and (b, a), (m,)."""
    low = pairs.min(axis=1).astype(np.int64) if len(pairs) else np.zeros(0, np.int64)
    high = pairs.max(axis=1) if len(pairs) else np.zeros(0, np.int64)
    return low * n + high


def half_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Directed edges of triangles (t, 3), and the corner opposite each, (3 t, 2) and (3 t,)."""
    half = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=2).reshape(-1, 2)
    return half, np.roll(triangles, -2, axis=1).reshape(-1)


def connected_components(pairs: np.ndarray, n: int) -> np.ndarray:
    """Label of the connected component of each of n vertices, counted from 0, (n,) int32."""
    label = np.arange(n)
    if len(pairs):
        a, b = pairs[:, 0], pairs[:, 1]
        while True:
            low = np.minimum(label[a], label[b])
            new = label.copy()
            np.minimum.at(new, label[a], low)
            np.minimum.at(new, label[b], low)
            while True:
                jumped = new[new]
                if np.array_equal(jumped, new):
                    break
                new = jumped
            if np.array_equal(new, label):
                break
            label = new
    return np.unique(label, return_inverse=True)[1].reshape(-1).astype(np.int32)


def _unique_pairs(pairs: np.ndarray, n: int) -> np.ndarray:
    """Sorted unique pairs without (a, a), each with the smaller vertex first."""
    keys = distinct(pair_keys(pairs[pairs[:, 0] != pairs[:, 1]], n))
    return np.stack([keys // max(n, 1), keys % max(n, 1)], axis=1).astype(np.int32)


def _without_duplicates(polygons: Polygons, n: int) -> tuple[Polygons, np.ndarray]:
    """Polygons without those that have the corners of an earlier one, and which ones these are, (f,) int."""
    corners, starts = polygons
    sizes = np.diff(starts)
    keep = np.ones(len(sizes), bool)
    for size in np.unique(sizes):
        rows = np.flatnonzero(sizes == size)
        sets = np.sort(corners[starts[rows][:, None] + np.arange(size)], axis=1)
        first = np.unique(sets, axis=0, return_index=True)[1]
        keep[rows] = False
        keep[rows[first]] = True
    if keep.all():
        return polygons, np.arange(len(sizes))
    kept = sizes[keep]
    new = Polygons(corners[np.repeat(keep, sizes)], np.concatenate([[0], np.cumsum(kept)]).astype(np.int32))
    return new, np.flatnonzero(keep)


def _triangulate(x: np.ndarray, polygons: Polygons) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Triangles (t, 3), the face of each (t,), and the cuts inside faces with more than four corners (c, 2)."""
    corners, starts = polygons
    sizes = np.diff(starts)
    triangles, faces, cuts = [], [], [np.zeros((0, 2), np.int32)]
    rows = np.flatnonzero(sizes == 3)
    triangles.append(corners[starts[rows][:, None] + np.arange(3)])
    faces.append(rows)
    rows = np.flatnonzero(sizes == 4)
    quads = corners[starts[rows][:, None] + np.arange(4)]
    second = _cuts_second_diagonal(x, quads)
    # Two quads with the same diagonal, as in the corners of a cushion, must not both be split along it.
    diagonal = pair_keys(np.where(second[:, None], quads[:, [1, 3]], quads[:, [0, 2]]), len(x))
    repeated = np.ones(len(quads), bool)
    repeated[np.unique(diagonal, return_index=True)[1]] = False
    second ^= repeated
    turned = np.where(second[:, None], np.roll(quads, -1, axis=1), quads)
    triangles += [turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]]
    faces += [rows, rows]
    for face in np.flatnonzero(sizes > 4):
        cut = _clip_ears(x, corners[starts[face] : starts[face + 1]])
        triangles.append(cut)
        faces.append(np.full(len(cut), face))
        cuts.append(cut[:-1][:, [0, 2]])
    return (
        np.concatenate(triangles).astype(np.int32),
        np.concatenate(faces).astype(np.int32),
        np.concatenate(cuts).astype(np.int32),
    )


def _cuts_second_diagonal(x: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """Whether quads (q, 4) are split from corner 1 to 3 instead of 0 to 2, (q,) bool."""
    a, b, c, d = (x[quads[:, k]] for k in range(4))
    first, second = np.linalg.norm(c - a, axis=1), np.linalg.norm(d - b, axis=1)
    equal = np.abs(first - second) <= 1e-4 * (first + second)
    smallest_at_second = (quads.argmin(axis=1) % 2).astype(bool)
    choice = np.where(equal, smallest_at_second, second < first)
    # A cut outside a concave quad would flip one of its triangles.
    upside = np.einsum("ij,ij->i", np.cross(b - a, c - a), np.cross(c - a, d - a))
    upside_second = np.einsum("ij,ij->i", np.cross(c - b, d - b), np.cross(d - b, a - b))
    choice = np.where((upside < 0) & (upside_second > 0), True, choice)
    return np.where((upside_second < 0) & (upside > 0), False, choice)


def _clip_ears(x: np.ndarray, polygon: np.ndarray) -> np.ndarray:
    """Triangles of one simple polygon with k > 4 corners, (k - 2, 3); each but the last cuts off its middle corner."""
    points = x[polygon]
    normal = np.cross(points - points[0], np.roll(points, -1, axis=0) - points[0]).sum(axis=0)
    ring = list(range(len(polygon)))
    triangles = []

    def is_ear(k: int) -> bool:
        a, b, c = (points[ring[(k + step) % len(ring)]] for step in (-1, 0, 1))
        if np.dot(np.cross(b - a, c - b), normal) <= 0.0:
            return False
        others = points[[v for v in ring if v not in (ring[k - 1], ring[k], ring[(k + 1) % len(ring)])]]
        inside = np.ones(len(others), bool)
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= np.cross(q - p, others - p) @ normal >= 0.0
        return not inside.any()

    while len(ring) > 3:
        k = next((k for k in range(len(ring)) if is_ear(k)), 0)
        triangles.append([ring[k - 1], ring[k], ring[(k + 1) % len(ring)]])
        del ring[k]
    triangles.append(ring)
    return polygon[np.array(triangles)]


def _hinges(half: np.ndarray, tips: np.ndarray, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Hinges (h, 4) between pairs of triangles, the keys of their edges (h,), and the number of non-manifold edges.

    Where more than two triangles share an edge, the first has a hinge with each of the others.
    """
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys[order]
    first = np.searchsorted(sorted_keys, sorted_keys)
    later = np.arange(len(order)) > first
    one, other = order[first[later]], order[later]
    counts = np.unique(sorted_keys, return_counts=True)[1]
    hinges = np.column_stack([half[one], tips[one], tips[other]]).astype(np.int32)
    usable = hinges[:, 2] != hinges[:, 3]
    return hinges[usable], keys[one][usable], int((counts > 2).sum())


def _diagonals(
    x: np.ndarray,
    polygons: Polygons,
    cuts: np.ndarray,
    hinges: np.ndarray,
    hinge_keys: np.ndarray,
    face_areas: np.ndarray,
    n: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Lines that stabilize faces (d, 2), and the area of each (d,) [m²]."""
    corners, starts = polygons
    rows = np.flatnonzero(np.diff(starts) == 4)
    quads = corners[starts[rows][:, None] + np.arange(4)]
    pairs = [quads[:, [0, 2]], quads[:, [1, 3]]]
    areas = [face_areas[rows], face_areas[rows]]
    at_cut = np.isin(hinge_keys, pair_keys(cuts, n))
    inner = hinges[at_cut]
    around = triangle_areas(x, inner[:, [0, 1, 2]]) + triangle_areas(x, inner[:, [0, 1, 3]])
    pairs += [inner[:, [0, 1]], inner[:, [2, 3]]]
    areas += [around, around]
    stacked, area = np.concatenate(pairs), np.concatenate(areas)
    lengths = np.linalg.norm(x[stacked[:, 0]] - x[stacked[:, 1]], axis=1)
    usable = (lengths > 0.0) & (area > 0.0)
    return stacked[usable].astype(np.int32), area[usable]


def _boundary_loops(half: np.ndarray, keys: np.ndarray) -> list[np.ndarray]:
    """Openings of a triangle mesh as loops of vertices, in the direction of their triangles."""
    _, inverse, counts = np.unique(keys, return_inverse=True, return_counts=True)
    border = half[counts[inverse.reshape(-1)] == 1]
    following: dict[int, list[int]] = {}
    for start, end in border.tolist():
        following.setdefault(start, []).append(end)
    loops = []
    while following:
        start = next(iter(following))
        loop = [start]
        while True:
            ends = following.get(loop[-1])
            if not ends:
                break
            end = ends.pop()
            if not ends:
                del following[loop[-1]]
            if end == start:
                break
            loop.append(end)
        if len(loop) >= 3:
            loops.append(np.array(loop, np.int32))
    return loops
