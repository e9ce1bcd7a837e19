"""How well contact came out: crossing edges and faces, and depth inside an obstacle. NumPy alone.

`python -m benchmarks.contact_measures` compares the quick count of crossings with brute force.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

PAIRS_AT_ONCE = 1_000_000
"""Pairs that are looked at in one go; bounds the memory."""

ROUNDING = 1e-14
"""A volume counts as zero below this share of the product of its sides: what lies on a face does not cross it."""

CELLS_OF_A_BOX = 16
"""Cells that a box fills at most, on average; a mesh in pieces gets larger cells instead of more of them."""


def edges_of(triangles: np.ndarray) -> np.ndarray:
    """Sides of triangles (t, 3), each once, (e, 2) int."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(sides, axis=1), axis=0)


def crossing_pairs(x: np.ndarray, triangles: np.ndarray, edges: np.ndarray | None = None) -> np.ndarray:
    """Pairs of an edge and a face that it goes through; those with a common vertex do not count.

    An edge p q goes through a triangle a b c if p and q lie on different sides of its plane and the line p q passes
    all three sides of the triangle in the same sense: five signed volumes, none of them zero. Only boxes that share
    a cell of a grid are tested, and no crossing pair is missed by that.

    Args:
        x: Positions, (n, 3) [m].
        triangles: (t, 3) int.
        edges: (e, 2) int; default: the sides of the triangles.

    Returns:
        Row of the edge, row of the triangle, (k, 2) int, sorted.
    """
    edges = edges_of(triangles) if edges is None else edges
    faces, lines = x[triangles], x[edges]
    found = [np.empty((0, 2), np.int64)]
    for edge, triangle in _pairs_of_boxes(lines.min(1), lines.max(1), faces.min(1), faces.max(1)):
        apart = (edges[edge][:, :, None] != triangles[triangle][:, None, :]).all(axis=(1, 2))
        edge, triangle = edge[apart], triangle[apart]
        through = _goes_through(lines[edge], faces[triangle])
        found.append(np.column_stack([edge[through], triangle[through]]))
    pairs = np.concatenate(found)
    return pairs[np.lexsort(pairs.T[::-1])]


def crossings(x: np.ndarray, triangles: np.ndarray, edges: np.ndarray | None = None) -> int:
    """Number of `crossing_pairs`."""
    return len(crossing_pairs(x, triangles, edges))


def crossings_by_brute_force(x: np.ndarray, triangles: np.ndarray) -> int:
    """The same number from every pair of an edge and a face."""
    edges, count = edges_of(triangles), 0
    for edge in edges:
        apart = ~np.isin(triangles, edge).any(axis=1)
        faces = x[triangles[apart]]
        count += int(_goes_through(np.broadcast_to(x[edge], (len(faces), 2, 3)), faces).sum())
    return count


def _goes_through(lines: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Whether each line (k, 2, 3) goes through the face (k, 3, 3) of the same row, (k,) bool."""
    p, q = lines[:, 0], lines[:, 1]
    corner = faces[:, 0]
    normal = np.cross(faces[:, 1] - corner, faces[:, 2] - corner)
    below = _side(normal, p - corner) * _side(normal, q - corner) < 0
    # Few edges reach to both sides of a plane; only they are looked at further.
    p, q, faces = p[below], q[below], faces[below]
    a, b, c = (faces[:, k] - p for k in range(3))
    turns = [_side(q - p, np.cross(one, two), _length(one) * _length(two)) for one, two in ((a, b), (b, c), (c, a))]
    through = np.zeros(len(below), bool)
    through[below] = np.abs(sum(turns)) == 3
    return through


def _side(a: np.ndarray, b: np.ndarray, length: np.ndarray | None = None) -> np.ndarray:
    """Sign of a · b of each row (k, 3), 0 where rounding may have made it; `length` bounds that of b, (k,)."""
    product = _dot(a, b)
    certain = np.abs(product) > ROUNDING * _length(a) * (_length(b) if length is None else length)
    return np.asarray(np.where(certain, np.sign(product), 0.0))


def _length(a: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(_dot(a, a)))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Every row of a (n, 3) times every row of b (m, 3), (n, m).

    Without BLAS: its idle threads look for work for a while, and that would count for the solver that is next.
    """
    return np.asarray(sum(np.multiply.outer(a[:, axis], b[:, axis]) for axis in range(3)))


def _pairs_of_boxes(
    low: np.ndarray, high: np.ndarray, other_low: np.ndarray, other_high: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield (rows, other rows) of boxes (n, 3) and (m, 3) that overlap, every pair once, some at a time."""
    if not len(low) or not len(other_low):
        return
    origin = np.minimum(low.min(0), other_low.min(0))
    size = float(np.median((other_high - other_low).max(1)))
    span = float((np.maximum(high.max(0), other_high.max(0)) - origin).max())
    if not np.isfinite(span):
        raise ArithmeticError("positions are not finite")
    size = max(size, span / 1e6, 1e-300)
    while True:
        boxes = [((np.asarray(side) - origin) / size).astype(np.int64) for side in (low, high, other_low, other_high)]
        filled = sum(int((last - first + 1).prod(1).sum()) for first, last in (boxes[:2], boxes[2:]))
        if filled <= CELLS_OF_A_BOX * (len(low) + len(other_low)):
            break
        size *= 1.5
    across = np.maximum(boxes[1].max(0), boxes[3].max(0)) + 1
    row, cell = _cells(boxes[0], boxes[1], across)
    other_row, other_cell = _cells(boxes[2], boxes[3], across)
    order = np.argsort(other_cell, kind="stable")
    other_row, other_cell = other_row[order], other_cell[order]
    start, stop = np.searchsorted(other_cell, cell, "left"), np.searchsorted(other_cell, cell, "right")
    some = stop > start
    row, cell, start, count = row[some], cell[some], start[some], (stop - start)[some]
    ends = np.cumsum(count)
    first = 0
    while first < len(row):
        done = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, done + PAIRS_AT_ONCE, "right")), first + 1)
        counts = count[first:last]
        one = np.repeat(row[first:last], counts)
        two = other_row[_ranges(start[first:last], counts)]
        where = np.repeat(cell[first:last], counts)
        overlap = ((low[one] <= other_high[two]) & (other_low[two] <= high[one])).all(1)
        one, two, where = one[overlap], two[overlap], where[overlap]
        # Boxes may share several cells: the pair belongs to the first of them.
        once = _number(np.maximum(boxes[0][one], boxes[2][two]), across) == where
        yield one[once], two[once]
        first = last


def _cells(first: np.ndarray, last: np.ndarray, across: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All cells that boxes of cells first (n, 3) to last (n, 3) fill: row of the box and number of the cell."""
    extent = last - first + 1
    count = extent.prod(1)
    row = np.repeat(np.arange(len(first)), count)
    rest = _ranges(np.zeros(len(first), np.int64), count)
    extent = extent[row]
    rest, z = np.divmod(rest, extent[:, 2])
    x, y = np.divmod(rest, extent[:, 1])
    return row, _number(first[row] + np.column_stack([x, y, z]), across)


def _number(cell: np.ndarray, across: np.ndarray) -> np.ndarray:
    return np.asarray((cell[:, 0] * across[1] + cell[:, 1]) * across[2] + cell[:, 2])


def _ranges(start: np.ndarray, count: np.ndarray) -> np.ndarray:
    """start[0], start[0] + 1, ... (count[0] of them), start[1], ..."""
    ends = np.cumsum(count)
    return np.asarray(np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(start - ends + count, count))


def samples(x: np.ndarray, triangles: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Points of a surface: vertices, three of each edge, four of each face, (m, 3) [m]."""
    a, b = x[edges[:, 0]], x[edges[:, 1]]
    on_edges = [a + share * (b - a) for share in (0.25, 0.5, 0.75)]
    corners = x[triangles]
    weights = np.array([[1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4]]) / np.array([[3], [6], [6], [6]])
    on_faces = np.einsum("sk,tki->sti", weights, corners).reshape(-1, 3)
    return np.concatenate([x, *on_edges, on_faces])


class Convex:
    """A convex solid: what lies behind all of its planes.

    Args:
        normals: Unit normals, outwards, (k, 3).
        offsets: normal · point of each plane, (k,) [m].
        center: A point inside, (3,) [m].
        radius: Distance from there to the farthest point of the solid [m].
    """

    def __init__(
        self, normals: np.ndarray, offsets: np.ndarray, center: np.ndarray | None = None, radius: float = np.inf
    ) -> None:
        self.normals = np.asarray(normals, float)
        self.center = np.zeros(3) if center is None else np.asarray(center, float)
        self.offsets = np.asarray(offsets, float) - (self.normals * self.center).sum(axis=1)
        self.inner, self.outer = float(self.offsets.min()), radius

    @staticmethod
    def of_mesh(vertices: np.ndarray, triangles: np.ndarray) -> Convex:
        """The solid that triangles, seen counter-clockwise from outside, enclose.

        Raises:
            ValueError: It is not convex.
        """
        corners = vertices[triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        offsets = _dot(normals, corners[:, 0])
        if (_products(vertices, normals) - offsets).max() > 1e-9 * np.ptp(vertices):
            raise ValueError("the obstacle must be convex")
        center = vertices.mean(axis=0)
        return Convex(normals, offsets, center, float(np.linalg.norm(vertices - center, axis=1).max()))

    def deepest(self, points: np.ndarray) -> float:
        """How far the deepest of points (m, 3) is below the surface [m].

        Below 0, all of them are outside, by that much over the plane that each is highest above.
        """
        points = points - self.center
        if np.isfinite(self.outer):
            # inner - r <= depth <= outer - r at a distance r from the center: all others are certainly higher.
            r = np.linalg.norm(points, axis=1)
            points = points[r <= r.min() + self.outer - self.inner]
        blocks = np.array_split(points, 1 + len(points) * len(self.offsets) // PAIRS_AT_ONCE)
        return max(float((self.offsets - _products(block, self.normals)).min(axis=1).max()) for block in blocks)


def check() -> list[tuple[int, int]]:
    """Crossings by the grid and by brute force, of crumpled sheets, some of them with long edges."""
    random, counts = np.random.default_rng(1), []
    for n, noise, stretched in ((6, 0.3, 1), (12, 0.1, 1), (16, 0.2, 1), (20, 0.06, 1), (16, 0.1, 30), (10, 0.5, 1)):
        place = np.arange(n * n).reshape(n, n)
        a, b, c, d = (part.ravel() for part in (place[:-1, :-1], place[:-1, 1:], place[1:, 1:], place[1:, :-1]))
        triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
        x = np.stack([*np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n)), np.zeros((n, n))], axis=-1)
        x = x.reshape(-1, 3) + noise * random.standard_normal((n * n, 3))
        x[:: n + 3] *= stretched
        counts.append((crossings(x, triangles), crossings_by_brute_force(x, triangles)))
    return counts


if __name__ == "__main__":
    for quick, slow in check():
        print(quick, slow)
        if quick != slow:
            raise SystemExit("the two counts differ")
