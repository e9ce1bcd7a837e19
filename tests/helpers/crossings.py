"""Counting and measuring contact: `from helpers.crossings import crossing_pairs, deepest_penetration`.

Written independently of `pbd_addon.contact`, which it judges: what goes through what, how many points of a cloth lie
in a solid, and how deep. Whole arrays of float64, in chunks, so that a pile of 8000 triangles takes under a second.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

ROUNDING = 1e-14
"""A volume counts as zero below this share of the product of its sides."""

CHUNK = 1_000_000
"""Most pairs that are looked at together."""

ONE_MESH = 1 << 31
"""More than any mesh has vertices."""

MOST_STRIPS = 512
"""Most strips that the space is cut into for the search."""

ODD_TURN = np.linalg.qr(np.array([[0.61, 0.23, 0.71], [-0.37, 0.83, 0.19], [0.53, 0.41, -0.59]]))[0]
"""An orthogonal matrix along whose axes nothing in a test scene lines up."""

SAMPLES = np.array([
    [1.0, 1.0, 1.0], [4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0],
    [2.0, 2.0, 1.0], [1.0, 2.0, 2.0], [2.0, 1.0, 2.0],
])  # fmt: skip
"""Barycentric coordinates, to be divided by their sum, of the points inside of a triangle that are measured."""


def _as_one(pairs: np.ndarray) -> np.ndarray:
    """Pairs of vertices (k, 2) as one number each, (k,): NumPy sorts numbers ten times as fast as rows."""
    return pairs[:, 0] * ONE_MESH + pairs[:, 1]


def unique_edges(triangles: np.ndarray) -> np.ndarray:
    """Edges of triangles (t, 3), each once, smaller vertex first, (e, 2) int64."""
    triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    return np.column_stack(np.divmod(np.unique(_as_one(pairs)), ONE_MESH))


def box_pairs(
    low: np.ndarray, high: np.ndarray, other_low: np.ndarray, other_high: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """All pairs of a box of one set and a box of the other that overlap or touch, each once.

    Space is cut into strips along its second longest axis; in each one the boxes are swept along the longest.

    Args:
        low, high: Corners of the boxes of one set, (m, 3) [m].
        other_low, other_high: Corners of the boxes of the other set, (k, 3) [m].

    Yields:
        Numbers in the one set and in the other, both (pairs,) int64, at most about `CHUNK` at a time.
    """
    if not len(low) or not len(other_low):
        return
    near = np.flatnonzero(((low <= other_high.max(axis=0)) & (high >= other_low.min(axis=0))).all(axis=1))
    other_near = np.flatnonzero(((other_low <= high.max(axis=0)) & (other_high >= low.min(axis=0))).all(axis=1))
    if not len(near) or not len(other_near):
        return
    low, high, other_low, other_high = low[near], high[near], other_low[other_near], other_high[other_near]
    start = np.minimum(low.min(axis=0), other_low.min(axis=0))
    extent = np.maximum(high.max(axis=0), other_high.max(axis=0)) - start
    margin = 1e-9 * max(extent.max(), 1e-300)  # more than the rounding of a place in a strip
    low, high, other_low, other_high = low - margin, high + margin, other_low - margin, other_high + margin
    start, extent = start - 2.0 * margin, extent + 4.0 * margin
    last, across, along = np.argsort(extent)
    usual = np.mean(np.concatenate([high[:, across] - low[:, across], other_high[:, across] - other_low[:, across]]))
    strips = int(np.clip(extent[across] / usual, 1, MOST_STRIPS))

    def entries(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, ...]:
        """Box, first strip of the box, strip, and where it begins and ends in that strip, sorted by the beginning."""
        first, final = (
            np.minimum(((bound[:, across] - start[across]) / extent[across] * strips).astype(int), strips - 1)
            for bound in (low, high)
        )
        box = np.repeat(np.arange(len(low)), final - first + 1)
        strip = first[box] + _counted(final - first + 1)
        begin, end = (2.0 * strip + (bound[box, along] - start[along]) / extent[along] for bound in (low, high))
        order = np.argsort(begin, kind="stable")
        return box[order], first, strip[order], begin[order], end[order]

    box, first, strip, begin, end = entries(low, high)
    other_box, other_first, _, other_begin, other_end = entries(other_low, other_high)
    # Of two intervals that overlap, one begins within the other.
    passes = (
        (np.searchsorted(other_begin, begin, "left"), np.searchsorted(other_begin, end, "right"), False),
        (np.searchsorted(begin, other_begin, "right"), np.searchsorted(begin, other_end, "right"), True),
    )
    for from_, to, swapped in passes:
        counts = np.maximum(to - from_, 0)
        total = np.cumsum(counts)
        cuts = np.searchsorted(total, np.arange(CHUNK, int(total[-1]), CHUNK), "left") + 1
        for rows in np.split(np.arange(len(counts)), cuts):
            one = np.repeat(rows, counts[rows])
            two = from_[one] + _counted(counts[rows])
            if swapped:
                one, two = two, one
            i, j = box[one], other_box[two]
            # Boxes that share several strips meet in the first of them.
            keep = strip[one] == np.maximum(first[i], other_first[j])
            for axis in (across, last):
                i, j, keep = i[keep], j[keep], slice(None)
                keep = (low[i, axis] <= other_high[j, axis]) & (high[i, axis] >= other_low[j, axis])
            if keep.any():
                yield near[i[keep]], other_near[j[keep]]


def _counted(counts: np.ndarray) -> np.ndarray:
    """0, 1, ... counts[0] - 1, 0, 1, ... counts[1] - 1 and so on."""
    ends = np.cumsum(counts)
    return np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)


def _goes_through(p: np.ndarray, q: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Whether each segment p q goes through the inside of its triangle a b c; all (m, 3), result (m,) bool."""
    result = np.zeros(len(p), bool)
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1)
    side, other_side = (
        np.sign(np.where(np.abs(d) > ROUNDING * length * np.linalg.norm(end - a, axis=1), d, 0.0))
        for end in (p, q)
        for d in [np.einsum("ij,ij->i", normal, end - a)]
    )
    rows = np.flatnonzero(side * other_side < 0.0)
    p, q, a, b, c = p[rows], q[rows], a[rows], b[rows], c[rows]
    way = q - p
    turns = []
    for one, two in ((a - p, b - p), (b - p, c - p), (c - p, a - p)):
        turn = np.einsum("ij,ij->i", way, np.cross(one, two))
        sides = np.linalg.norm(way, axis=1) * np.linalg.norm(one, axis=1) * np.linalg.norm(two, axis=1)
        turns.append(np.sign(np.where(np.abs(turn) > ROUNDING * sides, turn, 0.0)))
    result[rows] = np.abs(sum(turns)) == 3.0
    return result


def _crossings(x: np.ndarray, edges: np.ndarray, y: np.ndarray, triangles: np.ndarray, one_mesh: bool) -> np.ndarray:
    """Pairs of an edge (e, 2) at x (n, 3) and a triangle (t, 3) at y (m, 3) that cross, (k, 2), in order."""
    ends, corners = x[edges], y[triangles]
    found = [np.zeros((0, 2), np.int64)]
    boxes = (ends.min(axis=1), ends.max(axis=1), corners.min(axis=1), corners.max(axis=1))
    for edge, face in box_pairs(*boxes):
        if one_mesh:
            apart = np.ones(len(edge), bool)
            for end in edges.T:
                for corner in triangles.T:
                    apart &= end[edge] != corner[face]
            edge, face = edge[apart], face[apart]
        through = _goes_through(ends[edge, 0], ends[edge, 1], *(corners[face, k] for k in range(3)))
        found.append(np.column_stack([edge[through], face[through]]))
    pairs = np.concatenate(found)
    return pairs[np.lexsort(pairs.T[::-1])]


def crossing_pairs(x: np.ndarray, triangles: np.ndarray, edges: np.ndarray | None = None) -> np.ndarray:
    """Pairs of an edge and a face without a common vertex that go through each other.

    An edge that ends on a face, or meets no more of it than its border, touches and does not cross.

    Args:
        x: Positions, (n, 3) [m].
        triangles: (t, 3) int.
        edges: (e, 2) int; default: `unique_edges(triangles)`.

    Returns:
        Number of the edge and number of the triangle, (k, 2) int64, sorted.
    """
    triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
    edges = unique_edges(triangles) if edges is None else np.asarray(edges, np.int64).reshape(-1, 2)
    x = np.asarray(x, float)
    return _crossings(x, edges, x, triangles, one_mesh=True)


def crossing_pairs_between(
    x: np.ndarray, triangles: np.ndarray, other: np.ndarray, other_triangles: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of an edge of one mesh and a face of the other that go through each other.

    Args:
        x: Positions of the one mesh, (n, 3) [m].
        triangles: Its faces, (t, 3) int.
        other: Positions of the other mesh, (m, 3) [m].
        other_triangles: Its faces, (s, 3) int.

    Returns:
        Edges of the one with faces of the other, (k, 2) int64; edges of the other with faces of the one, (l, 2) int64.
        Edges are numbered as in `unique_edges`.
    """
    x, other = np.asarray(x, float), np.asarray(other, float)
    triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
    other_triangles = np.asarray(other_triangles, np.int64).reshape(-1, 3)
    return (
        _crossings(x, unique_edges(triangles), other, other_triangles, one_mesh=False),
        _crossings(other, unique_edges(other_triangles), x, triangles, one_mesh=False),
    )


def count_between(x: np.ndarray, triangles: np.ndarray, other: np.ndarray, other_triangles: np.ndarray) -> int:
    """Number of all pairs of `crossing_pairs_between`."""
    return sum(len(pairs) for pairs in crossing_pairs_between(x, triangles, other, other_triangles))


def faces_above(points: np.ndarray, x: np.ndarray, triangles: np.ndarray, up: np.ndarray) -> tuple[np.ndarray, ...]:
    """Faces that a ray from each point goes through.

    Args:
        points: (p, 3) [m].
        x: Positions of the mesh, (n, 3) [m].
        triangles: (t, 3) int.
        up: Direction of the rays, (3,).

    Returns:
        Number of faces above each point, (p,) int; the same with the faces that look along the ray as +1 and those
        that look against it as -1, (p,) int: for a closed surface that faces out, how often it is around the point.
    """
    frame = np.linalg.qr(np.column_stack([up, ODD_TURN[:, 0], ODD_TURN[:, 1]]))[0]
    frame *= np.sign(frame[:, 0] @ up)  # turns nothing but mirrors, which `looks` below undoes
    frame = frame[:, [1, 2, 0]]
    mirror = np.sign(np.linalg.det(frame))
    p, corners = np.asarray(points, float) @ frame, (np.asarray(x, float) @ frame)[np.asarray(triangles, np.int64)]
    top = np.maximum(corners[:, :, 2].max(initial=-np.inf), p[:, 2].max(initial=-np.inf))
    high = p.copy()
    high[:, 2] = top
    counts, signed = np.zeros(len(p), int), np.zeros(len(p), int)
    for i, face in box_pairs(p, high, corners.min(axis=1), corners.max(axis=1)):
        a, b, c = (corners[face, k] - p[i] for k in range(3))
        turns = [one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0] for one, two in ((a, b), (b, c), (c, a))]
        area = sum(turns)
        inside = np.abs(np.sign(turns[0]) + np.sign(turns[1]) + np.sign(turns[2])) == 3.0
        # The height of the face over the point, times the area.
        height = turns[1] * a[:, 2] + turns[2] * b[:, 2] + turns[0] * c[:, 2]
        hit = inside & (height * area > 0.0)
        looks = mirror * np.sign(area[hit])
        counts += np.bincount(i[hit], minlength=len(p))
        signed += np.bincount(i[hit], looks, len(p)).astype(int)
    return counts, signed


def is_closed(triangles: np.ndarray) -> bool:
    """Whether every edge of triangles (t, 3) has two faces, which pass along it in opposite directions."""
    half = np.asarray(triangles, np.int64)[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    forth, back = np.unique(_as_one(half)), np.unique(_as_one(half[:, ::-1]))
    return len(forth) == len(half) and np.array_equal(forth, back)


def is_inside(points: np.ndarray, x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Whether points (p, 3) lie in the solid that a closed mesh bounds, (p,) bool, whichever way its faces look.

    Raises:
        ValueError: The mesh is not closed.
    """
    if not is_closed(triangles):
        raise ValueError("triangles must be closed: an open surface has no inside")
    return faces_above(points, x, triangles, ODD_TURN[:, 2])[1] != 0


def distances(points: np.ndarray, x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Distance of each point (p, 3) [m] to the nearest point of a mesh, (p,) [m]; every pair is measured."""
    corners = np.asarray(x, float)[np.asarray(triangles, np.int64)]
    result = np.full(len(points), np.inf)
    step = max(CHUNK // 4 // max(len(corners), 1), 1)
    for start in range(0, len(points), step):
        p = np.asarray(points[start : start + step], float)[:, None, :]
        result[start : start + step] = _point_triangle(p, *(corners[None, :, k] for k in range(3))).min(axis=1)
    return result


def _point_triangle(p: np.ndarray, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Distance of points to triangles, arrays (..., 3) that broadcast: the foot on the plane if it lies within the
    triangle, else the nearest point of the three sides."""
    normal = np.cross(b - a, c - a)
    area = np.einsum("...i,...i->...", normal, normal)
    within = area > 0.0
    nearest = np.full(np.broadcast_shapes(p.shape, a.shape)[:-1], np.inf)
    for start, stop in ((a, b), (b, c), (c, a)):
        side, way = stop - start, p - start
        share = np.einsum("...i,...i->...", way, side) / np.maximum(np.einsum("...i,...i->...", side, side), 1e-300)
        gap = way - np.clip(share, 0.0, 1.0)[..., None] * side
        nearest = np.minimum(nearest, np.einsum("...i,...i->...", gap, gap))
        within = within & (np.einsum("...i,...i->...", np.cross(side, way), normal) >= 0.0)
    height = np.einsum("...i,...i->...", p - a, normal)
    return np.sqrt(np.where(within, height**2 / np.maximum(area, 1e-300), nearest))


def surface_samples(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Points all over a mesh: its vertices, the middles of its edges and seven points in each face, (k, 3) [m]."""
    x, triangles = np.asarray(x, float), np.asarray(triangles, np.int64)
    weights = SAMPLES / SAMPLES.sum(axis=1, keepdims=True)
    inner = np.einsum("sk,tkj->tsj", weights, x[triangles]).reshape(-1, 3)
    return np.concatenate([x[np.unique(triangles)], x[unique_edges(triangles)].mean(axis=1), inner])


def deepest_penetration(
    x: np.ndarray, triangles: np.ndarray, collider: np.ndarray, collider_triangles: np.ndarray
) -> float:
    """How deep a cloth reaches into a solid [m]: of `surface_samples`, the inner one farthest from the surface; or 0.

    Args:
        x: Positions of the cloth, (n, 3) [m].
        triangles: Its faces, (t, 3) int.
        collider: Positions of the solid's closed surface, (m, 3) [m].
        collider_triangles: Its faces, (s, 3) int.

    Raises:
        ValueError: The surface is not closed.
    """
    points = surface_samples(x, triangles)
    points = points[is_inside(points, collider, collider_triangles)]
    return float(distances(points, collider, collider_triangles).max(initial=0.0))
