"""Crossings: edges that go through triangles, and points inside of closed surfaces."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernels, numpy as numpy_kernels
from .bvh import BVH

ROUNDING = 1e-14
"""Error of a volume, in its edges and the distance from the origin."""


def crossing_pairs(
    x: np.ndarray,
    edges: np.ndarray,
    triangles: np.ndarray,
    trees: tuple[BVH, BVH] | None = None,
    kernels: Kernels = numpy_kernels,
) -> tuple[np.ndarray, np.ndarray]:
    """Edges that go through triangles which they share no vertex with.

    Args:
        x: Positions, (3, n) [m].
        edges: (2, e) int.
        triangles: (3, t) int.
        trees: Over the edges and over the triangles, which cost more to make than to fit; default: new ones.
        kernels: Module of kernels.

    Returns:
        Numbers of the edge and of the triangle of each crossing, (k,) each.
    """
    one, other = trees or [BVH.of_points(x.take(each, axis=1).mean(axis=1).T) for each in (edges, triangles)]
    fitted = other.refit(_boxes(x.take(triangles, axis=1)), kernels=kernels)
    of_edges, of_triangles = (np.ascontiguousarray(each, np.int32) for each in (edges, triangles))
    found = []
    for part in one.refit_in_blocks(_boxes(x.take(edges, axis=1)), kernels):
        pairs = part.query_pairs(fitted)
        which = kernels.crossing(x, of_edges, of_triangles, *pairs, ROUNDING)
        found.append((pairs[0][which], pairs[1][which]))
    edge, triangle = (np.concatenate(each) for each in zip(*found))
    return edge, triangle


def crossing_faces(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Which triangles (t, 3) an edge of another triangle of the mesh goes through, at x (n, 3) [m]; (t,) bool."""
    corners = np.asarray(triangles, int)
    sides = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    keys = np.unique(np.sort(sides, axis=1) @ np.array([len(x), 1]))
    edges = np.stack([keys // len(x), keys % len(x)])
    _, triangle = crossing_pairs(np.ascontiguousarray(np.asarray(x, float).T), edges, corners.T)
    pierced = np.zeros(len(corners), bool)
    pierced[triangle] = True
    return pierced


def inside(
    points: np.ndarray,
    x: np.ndarray,
    triangles: np.ndarray,
    tree: BVH | None = None,
    kernels: Kernels = numpy_kernels,
) -> np.ndarray:
    """Which points (3, k) lie inside of a closed surface of triangles (3, t) at x (3, n); (k,) bool.

    A point is inside if a ray upwards meets the surface an odd number of times.

    tree: over the triangles; default: a new one.
    """
    corners = x.take(triangles, axis=1)
    trees = BVH.of_points(points.T), tree or BVH.of_points(corners.mean(axis=1).T)
    ray = hits_above(points, corners, trees, kernels)[0]
    return np.asarray(np.bincount(ray, minlength=points.shape[1]) % 2 == 1)


def hits_above(
    points: np.ndarray, corners: np.ndarray, trees: tuple[BVH, BVH], kernels: Kernels
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where rays upwards from points (3, k) meet triangles with corners (3, 3, t).

    Args:
        points: Where they start [m].
        corners: Of all triangles [m].
        trees: Over the points and over the triangles.
        kernels: Module of kernels.

    Returns:
        Number of the point and of the triangle, and the height above the point, (m,) each.
    """
    top = np.vstack([points[:2], np.full(points.shape[1], max(corners[2].max(), points[2].max()))])
    rays = trees[0].refit(np.concatenate([points, -top]), kernels=kernels)
    ray, triangle = rays.query_pairs(trees[1].refit(_boxes(corners), kernels=kernels))
    p, (a, b, c) = points[:, ray], corners[:, :, triangle].swapaxes(0, 1)
    # Seen from above, a side counts for one of the two triangles that it belongs to, whatever it is hit by.
    within = np.zeros(len(ray), bool)
    for start, end in ((a, b), (b, c), (c, a)):
        low, high = np.where(start[1] < end[1], start, end), np.where(start[1] < end[1], end, start)
        spans = (low[1] <= p[1]) & (p[1] < high[1])
        left = (high[0] - low[0]) * (p[1] - low[1]) - (p[0] - low[0]) * (high[1] - low[1])
        within ^= spans & (left < 0.0)
    normal = np.cross(b - a, c - a, axis=0)
    rise = np.einsum("im,im->m", normal, a - p)
    above = np.flatnonzero(within & (rise * np.sign(normal[2]) > 0.0))
    return ray[above], triangle[above], rise[above] / normal[2, above]


def _boxes(corners: np.ndarray) -> np.ndarray:
    """Lower corners and negated upper ones of the boxes around items with corners (3, k, m), (6, m)."""
    return np.concatenate([corners.min(axis=1), -corners.max(axis=1)])
