"""Points that ride on a moving triangle surface: bound once, followed as it deforms."""

from __future__ import annotations

import numpy as np

CHUNK = 4_000_000
"""Distances that are computed at once, which bounds the memory."""


class SurfacePoints:
    """Points bound to the nearest points of a triangle mesh.

    Each is kept as barycentric weights in a triangle, and an offset along that triangle's own frame: its first edge,
    its normal, and the direction across both. So points turn with the surface, slide with its stretch, and keep
    their distance from it.

    Args:
        points: Where the points are, (k, 3) [m].
        vertices: The surface at that moment, (n, 3) [m].
        triangles: (t, 3) int; those without area are left out.

    Attributes:
        corners: Vertices of the triangle of each point, (k, 3) int32.
        weights: Barycentric weights of the nearest point, (k, 3), each row sums to 1.
        offsets: From there to the point along first edge, across, and normal, (k, 3) [m].

    Raises:
        ValueError: No triangle has an area.
    """

    def __init__(self, points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> None:
        points, vertices = np.asarray(points, float), np.asarray(vertices, float)
        triangles = np.asarray(triangles, np.int32).reshape(-1, 3)
        a, b, c = (vertices[triangles[:, k]] for k in range(3))
        normals, longest = np.cross(b - a, c - a), np.maximum(_length(b - a), _length(c - a))
        triangles = triangles[_length(normals) > 1e-12 * longest**2]
        if not len(triangles):
            raise ValueError("triangles: none of them has an area to bind points to")
        nearest, self.weights = nearest_points(points, vertices, triangles)
        self.corners = triangles[nearest]
        foot, frame = self._feet(vertices)
        self.offsets = np.einsum("kij,kj->ki", frame, points - foot)

    def follow(self, vertices: np.ndarray) -> np.ndarray:
        """Where the points are when the surface's vertices are there: (n, 3) [m] → (k, 3) [m]."""
        foot, frame = self._feet(np.asarray(vertices, float))
        return foot + np.einsum("kij,ki->kj", frame, self.offsets)

    def _feet(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The points on the surface (k, 3) and the frames of their triangles, axes in rows, (k, 3, 3)."""
        corners = vertices[self.corners]
        edge = _unit(corners[:, 1] - corners[:, 0])
        normal = _unit(np.cross(edge, corners[:, 2] - corners[:, 0]))
        frame = np.stack([edge, np.cross(normal, edge), normal], axis=1)
        return np.einsum("ki,kij->kj", self.weights, corners), frame


def nearest_points(points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The triangle that is nearest to each point, (k,) int, and the barycentric weights of the place there, (k, 3).

    Exact: a triangle comes into question unless its bounding sphere is farther away than another one's centre, which
    lies on the surface. Of equally near triangles the first counts.

    Args:
        points: (k, 3) [m].
        vertices: (n, 3) [m].
        triangles: (t, 3) int, none without area, t > 0.
    """
    corners = vertices[triangles]
    centres = corners.mean(axis=1)
    radii = _length(corners - centres[:, None]).max(axis=1)
    nearest, weights = np.zeros(len(points), int), np.zeros((len(points), 3))
    rows = max(1, CHUNK // len(triangles))
    for start in range(0, len(points), rows):
        some = points[start : start + rows]
        squares = np.zeros((len(some), len(triangles)))
        for axis in range(3):
            squares += (some[:, axis, None] - centres[:, axis]) ** 2
        distances = np.sqrt(squares)
        bound = distances.min(axis=1, keepdims=True)
        point, triangle = np.nonzero(distances - radii <= bound * (1.0 + 1e-12))
        places = closest_weights(some[point], corners[triangle])
        gaps = _length(np.einsum("ki,kij->kj", places, corners[triangle]) - some[point])
        order = np.lexsort((gaps, point))
        first = order[np.unique(point[order], return_index=True)[1]]
        nearest[start : start + rows], weights[start : start + rows] = triangle[first], places[first]
    return nearest, weights


def closest_weights(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Barycentric weights of the nearest point of a triangle, (m, 3), for points (m, 3) and corners (m, 3, 3).

    The nearest of four places: the foot of the perpendicular if it lies inside, and the nearest point of each edge. A
    line is a triangle whose last corner is the second one.
    """
    a, b, c = (corners[:, k] for k in range(3))
    ab, ac, ap = b - a, c - a, points - a
    d00, d01, d11 = _dot(ab, ab), _dot(ab, ac), _dot(ac, ac)
    d20, d21 = _dot(ap, ab), _dot(ap, ac)
    determinant = np.maximum(d00 * d11 - d01 * d01, 1e-300)
    v, w = (d11 * d20 - d01 * d21) / determinant, (d00 * d21 - d01 * d20) / determinant
    best = np.stack([1.0 - v - w, v, w], axis=1)
    inside = (best >= 0.0).all(axis=1) & (determinant > 1e-300)
    nearest = np.where(inside, 0.0, np.inf)
    for k in range(3):
        start, along = corners[:, k], corners[:, k - 2] - corners[:, k]
        share = np.clip(_dot(points - start, along) / np.maximum(_dot(along, along), 1e-300), 0.0, 1.0)
        gap = _length(start + share[:, None] * along - points)
        nearer = ~inside & (gap < nearest)
        nearest = np.where(nearer, gap, nearest)
        edge = np.zeros_like(best)
        edge[:, k], edge[:, k - 2] = 1.0 - share, share
        best[nearer] = edge[nearer]
    return best


def _dot(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.einsum("...i,...i->...", one, other)


def _length(vectors: np.ndarray) -> np.ndarray:
    return np.sqrt(_dot(vectors, vectors))


def _unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors (k, 3) of length 1; those without a length stay 0."""
    return vectors / np.maximum(_length(vectors), 1e-300)[:, None]
