"""Sewing patterns: panels with curved edges, stitches between edges, a place in space; as meshes whose seams are edges.

The specification is a dictionary, in JSON by GarmentCode: `panels` by name have `vertices` in the plane, `edges` with
`endpoints` and perhaps `curvature`, and `translation` and `rotation`; `stitches` name two edges each. A curve is a
Bézier whose inner points are `params`, along the edge and to its left, in its lengths.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from pbd_addon.meshes.seam_pairs import pair_up

FINE = 400
"""Points by which the length of a curve is measured."""

FREE_SHARE = 0.6
"""How near a point inside of a panel may be to its border, in edges: nearer, triangles are thin."""


class Sewn(NamedTuple):
    """A pattern as a mesh: vertices flat in each panel and where they start, (n, 3) [m]; triangles; seams (s, 2)."""

    rest: np.ndarray
    vertices: np.ndarray
    triangles: np.ndarray
    seams: np.ndarray


def sew(specification: Mapping[str, Any], edge: float) -> Sewn:
    """Mesh a pattern with edges of about this length [m]; both edges of a stitch get as many vertices."""
    pattern, scale = specification["pattern"], 1.0 / specification["properties"]["units_in_meter"]
    lengths = {
        (name, number): scale * _length(_curve(panel, one))
        for name, panel in pattern["panels"].items()
        for number, one in enumerate(panel["edges"])
    }
    counts = {key: max(1, round(length / edge)) for key, length in lengths.items()}
    stitches = [[(side["panel"], side["edge"]) for side in stitch] for stitch in pattern["stitches"]]
    for one, other in stitches:
        counts[one] = counts[other] = max(1, round(0.5 * (lengths[one] + lengths[other]) / edge))
    rest, vertices, triangles, borders, start = [], [], [], {}, 0
    for name, panel in pattern["panels"].items():
        sides = [_resampled(_curve(panel, one), counts[name, number]) for number, one in enumerate(panel["edges"])]
        outline = scale * np.concatenate([side[:-1] for side in sides])
        places = np.cumsum([0, *(len(side) - 1 for side in sides)])
        for number in range(len(sides)):
            ids = np.arange(places[number], places[number + 1] + 1) % len(outline)
            borders[name, number] = ids + start
        flat, faces = fill(outline, edge)
        points = np.column_stack([flat, np.zeros(len(flat))])
        placed = points @ _turn(panel["rotation"]).T + scale * np.asarray(panel["translation"])
        rest.append(points)
        vertices.append(placed[:, [0, 2, 1]] * [1.0, -1.0, 1.0])  # y up to z up
        triangles.append(faces + start)
        start += len(points)
    x = np.concatenate(vertices)
    seams = []
    for one, other in stitches:
        pairs = pair_up(x[borders[one]], x[borders[other]], closed=False)
        seams.append(np.column_stack([borders[one][pairs[:, 0]], borders[other][pairs[:, 1]]]))
    every = np.unique(np.sort(np.concatenate(seams), axis=1), axis=0)
    return Sewn(np.concatenate(rest), x, np.concatenate(triangles), every[every[:, 0] != every[:, 1]])


def _curve(panel: Mapping[str, Any], edge: Mapping[str, Any]) -> np.ndarray:
    """Points along an edge, from one end to the other, (k, 2)."""
    one, other = (np.asarray(panel["vertices"][end], float) for end in edge["endpoints"])
    way = other - one
    left = np.array([-way[1], way[0]])
    inner = [one + along * way + beside * left for along, beside in edge.get("curvature", {}).get("params", [])]
    points, share = np.array([one, *inner, other]), np.linspace(0.0, 1.0, FINE)[:, None, None]
    points = np.broadcast_to(points, (FINE, *points.shape))
    while points.shape[1] > 1:  # de Casteljau
        points = (1.0 - share) * points[:, :-1] + share * points[:, 1:]
    return points[:, 0]


def _steps(curve: np.ndarray) -> np.ndarray:
    return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1)))


def _length(curve: np.ndarray) -> float:
    return float(_steps(curve)[-1])


def _resampled(curve: np.ndarray, count: int) -> np.ndarray:
    """Count + 1 points at the same distance along a curve (k, 2)."""
    way = _steps(curve)
    return np.column_stack([np.interp(np.linspace(0.0, way[-1], count + 1), way, axis) for axis in curve.T])


def _turn(degrees: list[float]) -> np.ndarray:
    """Rotation about x, then y, then z, (3, 3)."""
    result = np.eye(3)
    for axis, angle in enumerate(np.radians(degrees)):
        turn, (one, other) = np.eye(3), [(1, 2), (2, 0), (0, 1)][axis]
        turn[one, one] = turn[other, other] = np.cos(angle)
        turn[other, one], turn[one, other] = np.sin(angle), -np.sin(angle)
        result = turn @ result
    return result


def fill(outline: np.ndarray, edge: float) -> tuple[np.ndarray, np.ndarray]:
    """Mesh a polygon with triangles of about this edge: those of an even grid inside, Delaunay to the border.

    Args:
        outline: Counter-clockwise or clockwise, (k, 2) [m].
        edge: Length [m].

    Returns:
        Vertices, first those of the outline, (n, 2) [m]; triangles, counter-clockwise, (t, 3) int.
    """
    low, high = outline.min(axis=0), outline.max(axis=0)
    columns, rows = np.ceil((high - low) / (edge * np.array([1.0, 0.75**0.5]))).astype(int) + 2
    column, row = (axis.ravel() for axis in np.meshgrid(np.arange(columns), np.arange(rows)))
    grid = low + edge * np.column_stack([column - 0.5 * (row % 2), 0.75**0.5 * row])
    grid = grid[_is_inside(grid, outline) & (_distance(grid, outline) > FREE_SHARE * edge)]
    points = np.concatenate([outline, grid])
    triangles = delaunay(points)
    return points, triangles[_is_inside(points[triangles].mean(axis=1), outline)]


def _is_inside(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Which points (n, 2) are inside of a polygon (k, 2), (n,) bool: a ray along x leaves it an odd number of times."""
    a, b = outline, np.roll(outline, -1, axis=0)
    x, y = points.T[:, :, None]
    passes = (a[:, 1] > y) != (b[:, 1] > y)
    rise = np.where(passes, b[:, 1] - a[:, 1], 1.0)
    return ((x < a[:, 0] + (y - a[:, 1]) / rise * (b[:, 0] - a[:, 0])) & passes).sum(axis=1) % 2 == 1


def _distance(points: np.ndarray, outline: np.ndarray) -> np.ndarray:
    """Distance of points (n, 2) from the sides of a polygon (k, 2), (n,)."""
    a, way = outline, np.roll(outline, -1, axis=0) - outline
    to = points[:, None] - a
    share = np.clip((to * way).sum(axis=2) / np.maximum((way * way).sum(axis=1), 1e-300), 0.0, 1.0)
    return np.linalg.norm(to - share[..., None] * way, axis=2).min(axis=1)


def delaunay(points: np.ndarray) -> np.ndarray:
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
