"""A loop out of frames that do not repeat: the best pair of frames, a fade from one to the other, a projection.

With a pair of frames a and b, the loop is a … b - 1. Its first frames fade out of what follows b:

    x_k = (1 - s_k) x(a + k) + s_k x(b + k),    s_k = 1 - smoothstep(k / fade),    0 <= k < fade

so the step from the last frame to the first is that from b - 1 to b. A mean of two shapes is shorter than both: of a
curtain by 2 %. So edges are projected to the mean of their two lengths, what is held stays, no vertex comes nearer
to an obstacle than it may (Müller et al. 2007), and what went through each other is led apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays.coloring import color
from ..contact import crossings
from ..contact.bvh import BVH
from ..meshes.mesh import Polygons, triangle_areas, vertex_normals
from ..meshes.surface_points import closest_weights, nearest_points
from .loop_contact import Mesh, Planes, around, replace_crossing, sides_of

LEAST_SHARE = 1.0 / 3.0
"""Part of the frames that a loop has at least where its length is free: a short one is soon recognized."""

ROUNDS, SWEEPS = 3, 80
"""How often obstacles are looked for, and how often all lengths are projected after each time; diagonals not in the
last round. Fading shrank the edges of a flag of 17 x 11 vertices by 10 % and its diagonals by 9.5 % (95th percentiles).
This leaves 0.01 and 1.9 %; without diagonals it would be 0.002 and 7.8 %, and the worst cell would fold up by 83 %."""


REPAIRS, REPAIR_SWEEPS = 12, 20
"""How often crossings are looked for after that at most, and how often they and lengths are projected then. A flag took
one of them, and a cape two."""

NEAR = 3.0
"""In how many distances a vertex is watched that is on the right side: later rounds find what comes from farther."""

AT_ONCE = 10_000
"""Vertices that are compared at once: of 250 frames they take 60 MB."""

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]
Met = list[tuple[np.ndarray, np.ndarray, np.ndarray, float]]
"""What `_rows` makes of a color, and `_planes` of the obstacles of a frame."""


class Pair(NamedTuple):
    """Two frames that are alike.

    Attributes:
        first: Number of the earlier one, from 0.
        length: Frames from there to the later one.
        apart: Root mean square of the distances of all vertices between the two [m].
    """

    first: int
    length: int
    apart: float


class Obstacle(NamedTuple):
    """What cloth may not come near, at one frame.

    Attributes:
        vertices: (m, 3) [m].
        triangles: (t, 3) int.
        distance: Distance to keep [m].
        side: 1 to stay outside of a closed surface, -1 inside, 0 where each vertex has been.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    distance: float
    side: int


class Cloth(NamedTuple):
    """What of a body does not change over a fade.

    Attributes:
        edges: (e, 2) int.
        diagonals: Lines across faces, (d, 2) int, whose lengths count less than those of edges.
        held: Which vertices stay where they are, (n,) bool.
        faces: Triangles, (t, 3) int, that closed obstacles do not go through.
        meets_itself: Whether it does not go through itself.
    """

    edges: np.ndarray
    diagonals: np.ndarray
    held: np.ndarray
    faces: np.ndarray = np.zeros((0, 3), int)
    meets_itself: bool = False


def find(shapes: Sequence[np.ndarray], fade: int, length: int = 0, multiple: int = 1) -> Pair:
    """The pair of frames that are most alike in position, and in what velocity makes of that over half of the fade.

    Args:
        shapes: Of each body, (f, n, 3) [m].
        fade: Number of frames to fade over.
        length: Frames of the loop; 0: any that are no less than `LEAST_SHARE`.
        multiple: Of how many frames the length has to be a multiple.

    Raises:
        ValueError: There are too few frames.
    """
    frames = len(shapes[0])
    least = length or max(fade, int(LEAST_SHARE * frames))
    if frames < 2 * fade:
        raise ValueError(f"{frames} frames are too few to fade over {fade}: it takes {2 * fade} at least")
    shift = np.arange(frames) - np.arange(frames)[:, None]  # the later frame minus the earlier one
    fits = (shift >= max(least, fade)) & (shift % multiple == 0) & (np.arange(frames) + fade <= frames)
    if length:
        fits &= shift == length
    if not fits.any():
        longest = (frames - fade) // multiple * multiple
        wanted = f"{length}" if length else f"{-(-max(least, fade) // multiple) * multiple}"
        raise ValueError(
            f"{frames} frames with a fade of {fade} hold a loop of {max(longest, 0)} at most, not of {wanted}"
        )
    products = np.zeros((frames, frames))
    for shape in shapes:
        for start in range(0, shape.shape[1], AT_ONCE):
            flat = shape[:, start : start + AT_ONCE].reshape(frames, -1).astype(np.float64)
            flat -= flat.mean(axis=0)
            products += flat @ flat.T
    count = sum(shape.shape[1] for shape in shapes)
    steps = products[1:, 1:] - products[1:, :-1] - products[:-1, 1:] + products[:-1, :-1]
    steps = np.pad(steps, (0, 1), mode="edge")
    apart, faster = (np.sqrt(_squares(one) / count) for one in (products, steps))
    cost = np.where(fits, apart + 0.5 * fade * faster, np.inf)
    first, second = np.unravel_index(int(cost.argmin()), cost.shape)
    return Pair(int(first), int(second - first), float(apart[first, second]))


def _squares(products: np.ndarray) -> np.ndarray:
    """Squared distances between vectors, (f, f), from their products."""
    own = np.diag(products)
    return np.maximum(own[:, None] + own - 2.0 * products, 0.0)


def weights(fade: int) -> np.ndarray:
    """What the later frame weighs in each frame of a fade, (fade,), from 1 on."""
    share = np.arange(fade) / fade
    return 1.0 - share * share * (3.0 - 2.0 * share)


def blend(early: np.ndarray, late: np.ndarray) -> np.ndarray:
    """The frames of a fade, (fade, n, 3), between those after the earlier and those after the later frame of a pair."""
    share = weights(len(early))[:, None, None]
    return np.asarray((1.0 - share) * early + share * late)


def turned(looped: np.ndarray, pair: Pair) -> np.ndarray:
    """The frames of a loop, and once more the first, (length + 1, n, 3), in time with the range.

    The frame of the pair stands where it stood, so all else that has this period is in time with it.
    """
    return np.asarray(looped[(np.arange(pair.length + 1) - pair.first) % pair.length])


def project(
    x: np.ndarray,
    early: np.ndarray,
    late: np.ndarray,
    cloth: Cloth,
    obstacles: Sequence[Sequence[Obstacle]] = (),
) -> np.ndarray:
    """The frames of a fade with the lengths that their edges should have, and clear of obstacles.

    Args:
        x: The frames, (f, n, 3) [m], world space.
        early: Those after the earlier frame of the pair that they are made of, likewise.
        late: Those after the later one.
        cloth: Edges, and what is held.
        obstacles: Those of each frame.

    Returns:
        (f, n, 3) float64 [m].
    """
    frames = len(x)
    share = weights(frames)
    p = np.ascontiguousarray(np.moveaxis(x, 0, 2), np.float64)  # (n, 3, f)
    before = np.where((share < 0.5)[:, None, None], early, late)
    last = _rows(cloth.edges, early, late, cloth.held)
    rows = _rows(np.concatenate([cloth.edges, cloth.diagonals]), early, late, cloth.held)
    met: list[Met] = [[] for _frame in range(frames)]
    for done in range(ROUNDS):
        for k in range(frames if obstacles else 0):
            met[k] = [_planes(p[:, :, k], before[k], one, cloth.held) for one in obstacles[k]]
        _sweep(p, rows if done + 1 < ROUNDS else last, met, {}, SWEEPS)
    mesh = Mesh(cloth.faces, sides_of(cloth.faces))
    for done in range(REPAIRS if len(cloth.faces) else 0):
        through: dict[int, list[Planes]] = {}
        for k in range(frames):
            here = p[:, :, k]
            closed = [one for one in obstacles[k] if one.side] if obstacles else []
            planes = [plane for one in closed for plane in around(here, mesh, cloth.held, *one) if len(plane.ids)]
            if planes or (cloth.meets_itself and replace_crossing(here, mesh, cloth.held, before[k], 1 + done // 2)):
                through[k] = planes
                met[k] = [_planes(here, before[k], one, cloth.held) for one in (obstacles[k] if obstacles else ())]
        if not through:
            break
        _sweep(p, last, met, through, REPAIR_SWEEPS)
    return np.moveaxis(p, 2, 0)


def _sweep(
    p: np.ndarray, rows: Sequence[Rows], met: Sequence[Met], through: Mapping[int, list[Planes]], count: int
) -> None:
    """Project lengths, and after them what each frame has met and what goes through it, so many times, in place."""
    for _sweep in range(count):
        for color_of_rows in rows:
            _project_lengths(p, *color_of_rows)
        for k, planes_of_frame in through.items():
            for plane in planes_of_frame:
                plane.project(p[:, :, k])
        for k, planes in enumerate(met):
            for ids, points, normals, distance in planes:
                gaps = np.einsum("ki,ki->k", p[ids, :, k] - points, normals) - distance
                p[ids, :, k] -= np.minimum(gaps, 0.0)[:, None] * normals


def _rows(pairs: np.ndarray, early: np.ndarray, late: np.ndarray, held: np.ndarray) -> list[Rows]:
    """Pairs (m, 2) by color, the mean of their lengths in all frames (m, f), and which share each end moves (m, 2)."""
    order, starts = color(pairs, early.shape[1])
    pairs, share = np.asarray(pairs)[order], weights(len(early))
    lengths = (1.0 - share) * _lengths(early, pairs) + share * _lengths(late, pairs)
    moves = np.where(held, 0.0, 1.0)[pairs]
    moves /= np.maximum(moves.sum(axis=1, keepdims=True), 1.0)
    parts = [slice(start, stop) for start, stop in zip(starts[:-1], starts[1:])]
    return [(pairs[part], lengths[part], moves[part]) for part in parts]


def _lengths(x: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Distances of pairs (m, 2) in frames (f, n, 3), (m, f) [m]."""
    return np.linalg.norm(x[:, pairs[:, 1]] - x[:, pairs[:, 0]], axis=2).T


def _project_lengths(p: np.ndarray, pairs: np.ndarray, lengths: np.ndarray, moves: np.ndarray) -> None:
    """Move pairs (m, 2) that share no vertex, in all frames at once, until they have their lengths (m, f)."""
    one, other = pairs.T
    way = p[other] - p[one]
    now = np.sqrt(np.einsum("eif,eif->ef", way, way))
    way *= ((now - lengths) / np.maximum(now, 1e-12))[:, None]
    p[one] += moves[:, :1, None] * way
    p[other] -= moves[:, 1:, None] * way


def _planes(
    x: np.ndarray, before: np.ndarray, obstacle: Obstacle, held: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Vertices of a frame (n, 3) near an obstacle, and the planes through its nearest points that bound each.

    `before` (n, 3) says on which side of an open one each belongs.
    """
    distance, near = obstacle.distance, np.full(len(x), NEAR * obstacle.distance)
    if obstacle.side:
        surface = np.ascontiguousarray(np.asarray(obstacle.vertices, float).T)
        is_in = crossings.inside(np.ascontiguousarray(x.T), surface, np.asarray(obstacle.triangles).T)
        wrong = ~held & (is_in == (obstacle.side > 0))
        ids, feet, normals = _nearest(x, obstacle, ~held & ~wrong, near)
        deep = np.flatnonzero(wrong)
        triangles = obstacle.triangles[triangle_areas(surface.T, obstacle.triangles) > 0.0]
        found, places = nearest_points(x[deep], surface.T, triangles)
        deep_feet = np.einsum("ki,kij->kj", places, surface.T[triangles[found]])
        ids, feet = np.concatenate([ids, deep]), np.concatenate([feet, deep_feet])
        ways = np.where(wrong[ids, None], -1.0, 1.0) * (x[ids] - feet)
        up = np.concatenate([normals, np.zeros_like(deep_feet)]) * obstacle.side
    else:
        near = near + np.linalg.norm(x - before, axis=1)
        known, there, up = _nearest(before, obstacle, ~held, near)
        side = np.zeros(len(x))
        side[known] = np.where(np.einsum("ki,ki->k", before[known] - there, up) < 0.0, -1.0, 1.0)
        ids, feet, up = _nearest(x, obstacle, side != 0.0, near)  # What comes from afar has come to no side yet.
        up *= side[ids, None]
        ways = x[ids] - feet
        ways[np.einsum("ki,ki->k", ways, up) < 0.0] = 0.0
    # In front of an edge or a corner the way out is away from it; on the surface the normal says it.
    gaps = np.linalg.norm(ways, axis=1, keepdims=True)
    return ids, feet, np.where(gaps > 1e-9, ways / np.maximum(gaps, 1e-9), up), distance


def _nearest(
    x: np.ndarray, obstacle: Obstacle, chosen: np.ndarray, around: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which chosen vertices (n, 3) have an obstacle around them (n,) [m], its nearest point, and its normal there."""
    vertices = np.asarray(obstacle.vertices, float)
    corners = vertices[obstacle.triangles]
    boxes = np.concatenate([(x - around[:, None]).T, -(x + around[:, None]).T])
    faces = np.concatenate([corners.min(axis=1).T, -corners.max(axis=1).T])
    points = BVH.of_points(x).refit(boxes, chosen)
    vertex, triangle = points.query_pairs(BVH.of_points(corners.mean(axis=1)).refit(faces))
    places = closest_weights(x[vertex], corners[triangle])
    feet = np.einsum("ki,kij->kj", places, corners[triangle])
    gaps = np.linalg.norm(x[vertex] - feet, axis=1)
    order = np.lexsort((gaps, vertex))
    best = order[np.unique(vertex[order], return_index=True)[1]]
    triangles = Polygons(obstacle.triangles.ravel(), np.arange(0, obstacle.triangles.size + 1, 3))
    smooth = vertex_normals(vertices, triangles)
    normals = np.einsum("ki,kij->kj", places[best], smooth[obstacle.triangles[triangle[best]]])
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    return vertex[best], feet[best], normals
