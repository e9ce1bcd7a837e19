"""A loop out of frames that do not repeat: the best pair of frames, a fade from one to the other, a projection.

With a pair of frames a and b, the loop is a … b - 1. Its first frames fade out of what follows b:

    x_k = (1 - s_k) x(a + k) + s_k x(b + k),    s_k = 1 - smoothstep(k / fade),    0 <= k < fade

so the step from the last frame to the first is that from b - 1 to b. A mean of two shapes is shorter than both: of a
curtain by 2 %. So edges are projected to the mean of their two lengths, what is held stays, and no vertex comes nearer
to an obstacle than it may (Müller et al. 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays.coloring import color
from ..contact.bvh import BVH
from ..meshes.mesh import Polygons, vertex_normals
from ..meshes.surface_points import closest_weights

LEAST_SHARE = 1.0 / 3.0
"""Part of the frames that a loop has at least where its length is free: a short one is soon recognized."""

ROUNDS, SWEEPS = 3, 80
"""How often obstacles are looked for, and how often all edges are projected after each time. Fading shrank a flag of
17 x 11 vertices by 10 % (95th percentile of its edges); 30, 60, 120 and 240 sweeps leave 0.7, 0.2, 0.04 and 0.002 %."""


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
        held: Which vertices stay where they are, (n,) bool.
    """

    edges: np.ndarray
    held: np.ndarray


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
        flat = np.reshape(shape, (frames, -1)).astype(np.float64)
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
    frames, n = x.shape[:2]
    order, starts = color(cloth.edges, n)
    edges = np.asarray(cloth.edges)[order]
    share = weights(frames)
    lengths = (1.0 - share) * _lengths(early, edges) + share * _lengths(late, edges)
    moves = np.where(cloth.held, 0.0, 1.0)
    mobility = moves[edges] / np.maximum(moves[edges].sum(axis=1, keepdims=True), 1.0)
    p = np.ascontiguousarray(np.moveaxis(x, 0, 2), np.float64)  # (n, 3, f)
    before = np.where((share < 0.5)[:, None, None], early, late)
    reach = np.linalg.norm(early - late, axis=2).max(axis=1)
    for _round in range(ROUNDS):
        met = [
            [_planes(p[:, :, k], before[k], one, cloth.held, float(reach[k])) for one in obstacles[k]]
            for k in range(frames if obstacles else 0)
        ]
        for _sweep in range(SWEEPS):
            for start, stop in zip(starts[:-1], starts[1:]):
                _project_edges(p, edges[start:stop], lengths[start:stop], mobility[start:stop])
            for k, planes in enumerate(met):
                for ids, points, normals, distance in planes:
                    gaps = np.einsum("ki,ki->k", p[ids, :, k] - points, normals) - distance
                    p[ids, :, k] -= np.minimum(gaps, 0.0)[:, None] * normals
    return np.moveaxis(p, 2, 0)


def _lengths(x: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Lengths of edges (e, 2) in frames (f, n, 3), (e, f) [m]."""
    return np.linalg.norm(x[:, edges[:, 1]] - x[:, edges[:, 0]], axis=2).T


def _project_edges(p: np.ndarray, edges: np.ndarray, lengths: np.ndarray, mobility: np.ndarray) -> None:
    """Move the ends of edges (e, 2) that share none, in all frames at once, until these have their lengths (e, f)."""
    one, other = edges.T
    way = p[other] - p[one]
    now = np.sqrt(np.einsum("eif,eif->ef", way, way))
    way *= ((now - lengths) / np.maximum(now, 1e-12))[:, None]
    p[one] += mobility[:, :1, None] * way
    p[other] -= mobility[:, 1:, None] * way


def _planes(
    x: np.ndarray, before: np.ndarray, obstacle: Obstacle, held: np.ndarray, reach: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Vertices of a frame (n, 3) near an obstacle, and the planes through its nearest points that bound each.

    `reach` is how far a vertex may be behind a surface [m]; `before` says on which side of an open one it belongs.
    """
    around = obstacle.distance + reach
    ids, feet, normals, gaps = _nearest(x, obstacle, ~held, around)
    if obstacle.side:
        normals *= obstacle.side
    else:
        side = np.ones(len(x))
        known, there, up, _gaps = _nearest(before, obstacle, ~held, around)
        side[known] = np.where(np.einsum("ki,ki->k", before[known] - there, up) < 0.0, -1.0, 1.0)
        is_known = np.isin(ids, known)  # What comes from afar has come to no side yet.
        ids, feet, normals, gaps = (one[is_known] for one in (ids, feet, normals, gaps))
        normals *= side[ids, None]
    # In front of an edge or a corner the way out is away from it.
    is_out = (np.einsum("ki,ki->k", x[ids] - feet, normals) > 0.0) & (gaps > 1e-9)
    normals[is_out] = (x[ids] - feet)[is_out] / gaps[is_out, None]
    return ids, feet, normals, obstacle.distance


def _nearest(
    x: np.ndarray, obstacle: Obstacle, chosen: np.ndarray, around: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which chosen vertices (n, 3) have an obstacle around them, and its nearest point, normal there and distance."""
    vertices = np.asarray(obstacle.vertices, float)
    corners = vertices[obstacle.triangles]
    boxes = np.concatenate([(x - around).T, -(x + around).T])
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
    return vertex[best], feet[best], normals, gaps[best]
