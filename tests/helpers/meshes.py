"""Small meshes to test with: `from helpers.meshes import grid, icosphere`.

Pytest puts `tests/` on the path because it holds no `__init__.py`; it works in tests/blender too.
"""

from __future__ import annotations

import numpy as np

CUBE = np.array([[x, y, z] for z in (0.0, 1.0) for y in (0.0, 1.0) for x in (0.0, 1.0)])
CUBE_QUADS = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]

UP = np.array([0.0, 0.0, 1.0])


def grid(rx: int, ry: int, width: float, height: float) -> tuple[np.ndarray, list[list[int]]]:
    """A sheet in the plane z = 0, centred, facing up (+z).

    Args:
        rx: Quads along x.
        ry: Quads along y.
        width: Size along x [m].
        height: Size along y [m].

    Returns:
        Vertices ((rx + 1) * (ry + 1), 3) float64 [m], row by row from the lower left; quads, each a list of
        four vertex ids. Vertex (column i, row j) is `j * (rx + 1) + i`: the last rx + 1 are the upper edge.
    """
    x, y = np.meshgrid(np.linspace(-width / 2, width / 2, rx + 1), np.linspace(-height / 2, height / 2, ry + 1))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = (np.arange(ry)[:, None] * (rx + 1) + np.arange(rx)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + rx + 2, corner + rx + 1])
    return vertices, quads.tolist()


def icosphere(subdivisions: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed ball of nearly equal triangles, facing out.

    Args:
        subdivisions: How often each triangle of the icosahedron is cut in four.
        radius: Distance of each vertex from the origin [m].

    Returns:
        Vertices (10 * 4**subdivisions + 2, 3) float64 [m]; triangles (20 * 4**subdivisions, 3) int32.
    """
    golden = (1 + np.sqrt(5)) / 2
    short, long = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([golden, golden, -golden, -golden])
    flat = np.zeros(4)
    vertices = np.concatenate(
        [np.column_stack(axes) for axes in ((short, long, flat), (flat, short, long), (long, flat, short))]
    )
    triangles = np.array([
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11],
        [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8],
        [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9],
        [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ])  # fmt: skip
    for _ in range(subdivisions):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, inverse = np.unique(edges, axis=0, return_inverse=True)
        middle = len(vertices) + inverse.reshape(-1, 3)
        vertices = np.concatenate([vertices, vertices[unique].mean(axis=1)])
        a, b, c = triangles.T
        ab, bc, ca = middle.T
        triangles = np.concatenate([
            np.column_stack(cut) for cut in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        ])  # fmt: skip
        vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    vertices *= radius / np.linalg.norm(vertices, axis=1)[:, None]
    return vertices, triangles.astype(np.int32)


def flip_to_delaunay(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Triangles (t, 3) int64 between the same vertices (n, 3), with edges flipped until all are Delaunay.

    An inner edge is flipped where the two angles opposite to it add up to more than half a turn (Lawson 1977), in each
    round as many as share no triangle. On surfaces the angles are those in space.
    """
    triangles = np.array(triangles, np.int64)
    n = len(vertices)
    while True:
        a, b, c = (np.roll(triangles, -k, axis=1).ravel() for k in range(3))
        order = np.argsort(np.minimum(a, b) * n + np.maximum(a, b), kind="stable")
        keys = (np.minimum(a, b) * n + np.maximum(a, b))[order]
        pairs = np.flatnonzero(keys[1:] == keys[:-1])
        one, other = order[pairs], order[pairs + 1]
        to_a, to_b = vertices[a] - vertices[c], vertices[b] - vertices[c]
        cotangent = (to_a * to_b).sum(axis=1) / np.linalg.norm(np.cross(to_a, to_b), axis=1)
        excess = -(cotangent[one] + cotangent[other])
        bad = np.flatnonzero(excess > 1e-9)
        if not len(bad):
            return triangles
        bad = bad[np.argsort(-excess[bad], kind="stable")]
        beside = np.stack([one[bad], other[bad]]) // 3
        # Written from the mildest to the worst, so that the worst at each triangle stays.
        first = np.empty(len(triangles), int)
        first[beside[:, ::-1].T.ravel()] = np.repeat(np.arange(len(bad))[::-1], 2)
        wins = (first[beside] == np.arange(len(bad))).all(axis=0)
        one, other = one[bad[wins]], other[bad[wins]]
        start, end, left, right = a[one], b[one], c[one], c[other]
        triangles[one // 3] = np.column_stack([start, right, left])
        triangles[other // 3] = np.column_stack([right, end, left])


def jittered_sheet(n: int, seed: int = 0, jitter: float = 0.35) -> tuple[np.ndarray, np.ndarray]:
    """A Delaunay mesh of a square of 1 m in the plane z = 0 around the origin: a grid that was shaken.

    Args:
        n: Vertices along each side.
        seed: Of the random numbers.
        jitter: By how much at most a vertex is moved along each axis, over the distance of the grid, below 0.5.
            Vertices of the sides stay on them, and corners where they are.

    Returns:
        Vertices (n * n, 3) float64 [m], row by row upwards as in `grid`, and triangles (t, 3) int64, facing +z.
    """
    line = np.arange(n)
    x, y = np.meshgrid(line.astype(float), line.astype(float))
    moved = np.random.default_rng(seed).uniform(-jitter, jitter, (2, n, n))
    x[:, 1:-1] += moved[0][:, 1:-1]
    y[1:-1] += moved[1][1:-1]
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(n * n)]) / (n - 1) - [0.5, 0.5, 0.0]
    a = (line[:-1, None] * n + line[:-1]).ravel()
    quads = np.column_stack([a, a + 1, a + n + 1, a + n])
    return vertices, flip_to_delaunay(vertices, _cut(vertices, quads))


def _cut(vertices: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """Triangles of quads (q, 4) in the plane, each cut along a diagonal that lies inside of it."""
    a, b, c, d = vertices[quads].transpose(1, 0, 2)
    inside = (np.cross(b - a, c - a)[:, 2] > 0.0) & (np.cross(c - a, d - a)[:, 2] > 0.0)
    turned = np.where(inside[:, None], quads, np.roll(quads, -1, axis=1))
    return np.concatenate([turned[:, [0, 1, 2]], turned[:, [0, 2, 3]]])


def uneven_sheet(count: int, seed: int = 0, contrast: float = 12.0) -> tuple[np.ndarray, np.ndarray]:
    """A Delaunay mesh of a square of 1 m in the plane z = 0 whose edges are of very different lengths.

    Edges of a coarse jittered sheet are halved, in rounds, where they are too long for their place, and flipped to
    Delaunay after each; as in a decimated or scanned garment.

    Args:
        count: About how many vertices.
        seed: Of the random numbers.
        contrast: Ratio of the wanted lengths where the mesh is coarsest and finest.

    Returns:
        Vertices (n, 3) float64 [m]; the four corners are the vertices 0, 2, 6 and 8; triangles (t, 3) int64.
    """
    random = np.random.default_rng(seed)
    centers, radius = random.uniform(-0.5, 0.5, (12, 2)), 0.12

    def wanted(points: np.ndarray) -> np.ndarray:
        """Wanted length of edges at points (m, 3), times a constant, (m,)."""
        near = np.exp(-((points[:, None, :2] - centers) ** 2).sum(axis=2) / radius**2).max(axis=1)
        return np.asarray(contrast**-near)

    vertices, triangles = jittered_sheet(3, seed, 0.2)
    # An equilateral triangle of side h has an area of 0.43 h², and there are two for each vertex.
    places = random.uniform(-0.5, 0.5, (20000, 3))
    scale = 1.53 * np.sqrt((1.0 / (0.87 * wanted(places) ** 2)).mean() / count)
    while True:
        edges, owner = _edges_and_owners(triangles, len(vertices))
        ends = vertices[edges]
        length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        excess = length / (scale * wanted(ends.mean(axis=1)))
        long = np.flatnonzero(excess > 1.0)
        if not len(long):
            return vertices, triangles
        long = long[np.argsort(-excess[long], kind="stable")]
        beside = owner[long]
        first = np.empty(len(triangles) + 1, int)
        first[beside[::-1].ravel()] = np.repeat(np.arange(len(long))[::-1], 2)
        wins = ((first[beside] == np.arange(len(long))[:, None]) | (beside == len(triangles))).all(axis=1)
        chosen = long[wins]
        middle = len(vertices) + np.arange(len(chosen))
        t = random.uniform(0.4, 0.6, (len(chosen), 1))
        vertices = np.concatenate([vertices, (1.0 - t) * ends[chosen, 0] + t * ends[chosen, 1]])
        new = []
        for side in range(2):
            real = owner[chosen, side] < len(triangles)
            old, (a, b), m = triangles[owner[chosen[real], side]], edges[chosen[real]].T, middle[real]
            # Turned so that the edge is the first side.
            turns = np.argmax((old != a[:, None]) & (old != b[:, None]), axis=1) + 1
            p, q, tip = (old[np.arange(len(old)), (turns + k) % 3] for k in range(3))
            triangles[owner[chosen[real], side]] = np.column_stack([p, m, tip])
            new.append(np.column_stack([m, q, tip]))
        triangles = flip_to_delaunay(vertices, np.concatenate([triangles, *new]))


def _edges_and_owners(triangles: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges (e, 2) of triangles and the one or two beside each, (e, 2); t stands for none."""
    a, b = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
    keys, edge = np.unique(np.minimum(a, b) * n + np.maximum(a, b), return_inverse=True)
    owner = np.full((len(keys), 2), len(triangles))
    order = np.argsort(edge.ravel(), kind="stable")
    sorted_edge = edge.ravel()[order]
    second = np.concatenate([[False], sorted_edge[1:] == sorted_edge[:-1]])
    owner[sorted_edge, second.astype(int)] = order // 3
    return np.column_stack([keys // n, keys % n]), owner


def skirt(rings: int, around: int, seed: int = 0, jitter: float = 0.35) -> tuple[np.ndarray, np.ndarray]:
    """A nearly flat cone with a hole, radius 0.15 m to 0.85 m, of jittered Delaunay triangles.

    Args:
        rings: Vertices from the waist to the hem.
        around: Vertices of each ring.
        seed: Of the random numbers.
        jitter: As in `jittered_sheet`; rings at the waist and the hem stay circles.

    Returns:
        Vertices (rings * around, 3) float64 [m], the waist first, 0.1 m above the hem; triangles (t, 3) int64.
    """
    random = np.random.default_rng(seed)
    turn, out = np.meshgrid(np.arange(around, dtype=float), np.arange(rings, dtype=float))
    turn += random.uniform(-jitter, jitter, turn.shape)
    out[1:-1] += random.uniform(-jitter, jitter, out[1:-1].shape)
    share = out / (rings - 1)
    radius, angle = 0.15 + 0.7 * share, 2.0 * np.pi * turn / around
    place = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0.1 * (1.0 - share)], axis=-1)
    vertices = place.reshape(-1, 3)
    a = np.arange((rings - 1) * around)
    b = a + 1 - around * (a % around == around - 1)
    return vertices, flip_to_delaunay(vertices, _cut(vertices, np.column_stack([b, a, a + around, b + around])))


def clamped_strip(segments: int, length: float, mesh: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A strip in the plane z = 0 that begins a square cell before x = 0 and ends at x = length, to clamp it by x <= 0.

    Args:
        segments: Square cells from 0 to the end; it is a quarter as many wide, at least two.
        length: Free length [m].
        mesh: "quads"; triangles with all diagonals to the "right" or to the "left", or "alternate"; four triangles to
            each cell, "crossed"; or "irregular": shaken by 0.3 cells and Delaunay.
        seed: Of the random numbers.

    Returns:
        Vertices (n, 3) [m], faces (f, 3 or 4), and the vertices to pin.
    """
    cell, rows = length / segments, max(2, segments // 4)
    vertices, faces = grid(segments + 1, rows, length + cell, rows * cell)
    vertices[:, 0] += 0.5 * (length - cell)
    a, b, c, d = np.array(faces).T
    right = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    left = np.concatenate([np.column_stack([a, b, d]), np.column_stack([b, c, d])])
    cells = np.column_stack([a, b, c, d])
    if mesh in ("right", "left"):
        cells = right if mesh == "right" else left
    elif mesh == "alternate":
        turn = np.tile((a % (segments + 2) + a // (segments + 2)) % 2 == 0, 2)
        cells = np.where(turn[:, None], right, left)
    elif mesh == "crossed":
        middle = len(vertices) + np.arange(len(a))
        vertices = np.concatenate([vertices, vertices[cells].mean(axis=1)])
        cells = np.concatenate([np.column_stack([p, q, middle]) for p, q in ((a, b), (b, c), (c, d), (d, a))])
    elif mesh == "irregular":
        moved = np.random.default_rng(seed).uniform(-0.3, 0.3, (len(vertices), 2)) * cell
        inside = (vertices[:, 0] > 0.5 * cell) & (vertices[:, 0] < length - 0.5 * cell)
        vertices[inside, 0] += moved[inside, 0]
        inside = np.abs(vertices[:, 1]) < 0.5 * (rows - 1) * cell
        vertices[inside, 1] += moved[inside, 1]
        cells = flip_to_delaunay(vertices, right)
    return vertices, cells, np.flatnonzero(vertices[:, 0] < 1e-6 * length)


def turned(x: np.ndarray, angle: float, axis: int) -> np.ndarray:
    """Points (n, 3) turned about a coordinate axis [rad]."""
    one, two = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.eye(3)
    matrix[[one, one, two, two], [one, two, one, two]] = np.cos(angle), -np.sin(angle), np.sin(angle), np.cos(angle)
    return x @ matrix.T


def box(sizes: tuple[float, float, float], cuts: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A closed box around the origin that faces out, each side cut in cuts x cuts x 2 triangles."""
    flat, quads = grid(cuts, cuts, 1.0, 1.0)
    flat[:, 2] = 0.5
    sides = []
    for axis in range(3):
        shifted = np.roll(flat, axis, axis=1)
        sides += [(shifted, quads), (-shifted, [quad[::-1] for quad in quads])]
    points = np.concatenate([side for side, _ in sides])
    faces = np.concatenate([np.array(faces) + k * len(flat) for k, (_, faces) in enumerate(sides)])
    unique, number = np.unique(np.round(points * 2 * cuts).astype(int), axis=0, return_inverse=True)
    a, b, c, d = number.reshape(-1)[faces].T
    triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    return unique / (2.0 * cuts) * sizes, triangles


def prism(outline: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed solid along the y axis that faces out.

    Args:
        outline: Its outline in the plane z, x, counterclockwise around the origin, from which all of it is seen,
            (k, 2) [m].
        length: Along y, half of it on either side of 0 [m].

    Returns:
        Vertices (2 k + 2, 3) and triangles (4 k, 3).
    """
    k = len(outline)
    ring = np.column_stack([outline[:, 1], np.zeros(k), outline[:, 0]])
    end = np.array([0.0, 0.5 * length, 0.0])
    vertices = np.concatenate([ring - end, ring + end, [-end, end]])
    here = np.arange(k)
    there = (here + 1) % k
    sides = [[here, there, there + k], [here, there + k, here + k]]
    caps = [[there, here, np.full(k, 2 * k)], [here + k, there + k, np.full(k, 2 * k + 1)]]
    return vertices, np.concatenate([np.column_stack(part) for part in sides + caps])


def circle(radius: float, sides: int) -> np.ndarray:
    """A regular polygon with its corners at a radius [m], (sides, 2)."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    return radius * np.column_stack([np.cos(angle), np.sin(angle)])


def obstacle(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """An obstacle whose highest point is at z = 0, near the z axis."""
    if kind == "spike":
        # A tetrahedron 5 cm wide and 40 cm long.
        corners = 0.05 / np.sqrt(3.0) * np.array([[np.cos(a), np.sin(a), 0.0] for a in np.radians([10, 130, 250])])
        vertices = np.concatenate([corners - 0.4 * UP, np.zeros((1, 3))])
        return vertices, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    if kind == "open sheet":
        vertices, quads = grid(4, 4, 0.3, 0.3)
        a, b, c, d = np.array(quads).T
        triangles = np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])])
    else:
        vertices, triangles = box((0.2, 0.2, 0.2), {"box": 1, "fine box": 16}[kind])
    vertices = turned(turned(vertices, 0.5, 0), 0.5, 1)
    return vertices - vertices[:, 2].max() * UP, triangles


def fold(degrees: float, seed: int = 0) -> np.ndarray:
    """Edge start, edge end, left tip, right tip of a hinge of uneven triangles, folded by an angle, (4, 3) [m]."""
    angle = np.radians(degrees)
    left = np.array([0.3, 0.8, 0.0])
    right = np.array([0.7, -0.5 * np.cos(angle), 0.5 * np.sin(angle)])
    q = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.0], left, right])
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return q @ (rotation * np.sign(np.linalg.det(rotation))).T + [3.0, -2.0, 1.0]
