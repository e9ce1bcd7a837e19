"""A fine mesh that follows a coarse one: weights to the corners of the nearest triangle, and to what it bulges.

Over a triangle with corners p and unit normals n there, a point with barycentric weights w and height h is at

    Σ wᵢ pᵢ  -  ½ Σ wᵢ wⱼ eᵢⱼ  +  h Σ wᵢ nᵢ,      eᵢⱼ = ((pⱼ - pᵢ)·nᵢ) nᵢ - ((pⱼ - pᵢ)·nⱼ) nⱼ

where the middle sum, over the three edges, is how far the surface bulges: halfway along an edge it is that of the cubic
of Vlachos et al. 2001 (curved PN triangles), which takes the facets out of a bent coarse mesh. Only the weights of the
corners in the first sum are changed a little, so that each point is exactly where it was when it was bound. It turns,
slides and stretches with the coarse mesh.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .surface_points import nearest_points

CELLS = 24
"""Cells along the longest side of a mesh in which nearest triangles are looked for: 100,000 points are bound in 2 s."""

LEAST_UPRIGHT = 0.2
"""Least cosine between a triangle's normal and that of its corners: below, as at the edge of a blade, points there have
no height, since a little along the normal would be far along the triangle."""

EDGES = ((0, 1), (1, 2), (2, 0))
"""Corners of the sides of a triangle."""


class Bound(NamedTuple):
    """How points follow a coarse mesh.

    Attributes:
        corners: Vertices of the triangle of each point, (k, 3) int32.
        weights: Of these, each row sums to 1, (k, 3) float32.
        bulges: -½ wᵢ wⱼ of its three edges, as `EDGES` has them, (k, 3) float32.
        heights: h wᵢ of its normals, (k, 3) float32 [m].
    """

    corners: np.ndarray
    weights: np.ndarray
    bulges: np.ndarray
    heights: np.ndarray


def bind(points: np.ndarray, vertices: np.ndarray, normals: np.ndarray, triangles: np.ndarray) -> Bound:
    """Bind points (k, 3) to a coarse mesh with these vertices (n, 3) [m], their unit normals, and triangles (t, 3).

    Raises a `ValueError` if no triangle has an area.
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    size = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    triangles = triangles[size > 1e-12 * np.maximum(np.sum((b - a) ** 2, axis=1), np.sum((c - a) ** 2, axis=1))]
    if not len(triangles):
        raise ValueError("has no faces with an area to follow")
    nearest, places = _nearest(points, vertices, triangles)
    corners = triangles[nearest]
    p, n = vertices[corners], normals[corners]
    bulges = -0.5 * np.stack([places[:, i] * places[:, j] for i, j in EDGES], axis=1)
    surface = np.einsum("ki,kij->kj", places, p) + _bulge(p, n, bulges)
    normal = np.einsum("ki,kij->kj", places, n)
    across = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    size = np.linalg.norm(across, axis=1)
    is_upright = np.einsum("ij,ij->i", normal, across) > LEAST_UPRIGHT * size
    up = np.where(is_upright[:, None], normal, across / size[:, None])
    frame = np.stack([p[:, 1] - p[:, 0], p[:, 2] - p[:, 0], up], axis=2)
    along = np.linalg.solve(frame, (points - surface)[:, :, None])[:, :, 0]
    along[~is_upright, 2] = 0.0
    weights = places + np.column_stack([-along[:, 0] - along[:, 1], along[:, 0], along[:, 1]])
    rows = (weights, bulges, along[:, 2:] * places)
    return Bound(corners.astype(np.int32), *(some.astype(np.float32) for some in rows))


def follow(bound: Bound, vertices: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Where points are when the coarse mesh is there, (k, 3) [m]; what the node group in Blender computes."""
    p, n = vertices[bound.corners], normals[bound.corners]
    place = np.einsum("ki,kij->kj", bound.weights, p) + np.einsum("ki,kij->kj", bound.heights, n)
    return np.asarray(place + _bulge(p, n, bound.bulges))


def _bulge(p: np.ndarray, n: np.ndarray, bulges: np.ndarray) -> np.ndarray:
    """How far points are above triangles with corners p and normals n, (k, 3, 3) each: (k, 3) [m]."""
    total = np.zeros((len(p), 3))
    for number, (i, j) in enumerate(EDGES):
        way = p[:, j] - p[:, i]
        bend = [np.einsum("ij,ij->i", way, n[:, end])[:, None] * n[:, end] for end in (i, j)]
        total += bulges[:, number, None] * (bend[0] - bend[1])
    return total


def _nearest(points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `nearest_points`, for many points: those of a cell ask only the triangles near it."""
    corners = vertices[triangles]
    centers = corners.mean(axis=1)
    radii = np.linalg.norm(corners - centers[:, None], axis=2).max(axis=1)
    low, side = points.min(axis=0), max(float(np.ptp(points, axis=0).max()) / CELLS, 1e-300)
    cells = np.minimum((points - low) / side, CELLS - 1).astype(int) @ [CELLS * CELLS, CELLS, 1]
    order = np.argsort(cells, kind="stable")
    numbers, places = np.zeros(len(points), int), np.zeros((len(points), 3))
    for some in np.split(order, np.flatnonzero(np.diff(cells[order])) + 1):
        middle = points[some].mean(axis=0)
        reach = float(np.linalg.norm(points[some] - middle, axis=1).max())
        far = np.linalg.norm(centers - middle, axis=1)
        near = np.flatnonzero(far - radii <= far.min() + 2.0 * reach)
        found, places[some] = nearest_points(points[some], vertices, triangles[near])
        numbers[some] = near[found]
    return numbers, places
