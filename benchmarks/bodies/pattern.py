"""Sewing patterns without Blender: the add-on's reader and mesh, with a triangulation of our own."""

from __future__ import annotations

from typing import Any

import numpy as np

from pbd_addon.io import sewing_pattern
from pbd_addon.meshes.panels import Sewn, mesh_pattern


def sew(specification: Any, edge: float) -> Sewn:
    """A specification of GarmentCode's as a mesh with edges of about this length [m]."""
    return mesh_pattern(sewing_pattern.of_specification(specification), edge, delaunay)


def delaunay(points: np.ndarray, _border: int = 0) -> np.ndarray:
    """Delaunay triangles of points (n, 2), counter-clockwise, (t, 3) int, made point by point (Bowyer, Watson 1981)."""
    n = len(points)
    middle, size = points.mean(axis=0), np.ptp(points)
    around = middle + 50.0 * size * np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 1.0]])
    # A little noise: of four points of one circle, either diagonal would do.
    noise = 1e-9 * size * np.random.default_rng(0).standard_normal(points.shape)
    x = np.concatenate([points + noise, around])
    triangles, circles = np.array([[n, n + 1, n + 2]]), _circles(x, np.array([[n, n + 1, n + 2]]))
    for number in range(n):
        dead = ((circles[:, :2] - x[number]) ** 2).sum(axis=1) < circles[:, 2]
        sides = triangles[dead][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
        there = {(a, b) for a, b in sides.tolist()}
        rim = np.array([(a, b) for a, b in there if (b, a) not in there])
        new = np.column_stack([rim, np.full(len(rim), number)])
        triangles = np.concatenate([triangles[~dead], new])
        circles = np.concatenate([circles[~dead], _circles(x, new)])
    return triangles[(triangles < n).all(axis=1)]


def _circles(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Center and square of the radius of the circle through the corners of each triangle, (t, 3)."""
    a, b, c = x[triangles].transpose(1, 0, 2)
    b, c = b - a, c - a
    bb, cc = (b * b).sum(axis=1), (c * c).sum(axis=1)
    double = 2.0 * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0])
    center = np.column_stack([c[:, 1] * bb - b[:, 1] * cc, b[:, 0] * cc - c[:, 0] * bb]) / double[:, None]
    return np.column_stack([a + center, (center * center).sum(axis=1)])
