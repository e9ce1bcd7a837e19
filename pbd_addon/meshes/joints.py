"""Joints: vertices at the same place that are one as long as the cloth holds there; their faces meet in an edge."""

from __future__ import annotations

import numpy as np

from .mesh import Polygons, TriMesh, connected_components, outlines, pair_keys, triangle_areas

ROUNDING = 1e-5
"""Places are the same within this share of the extent of a mesh: coordinates of float32 that a transform has rounded
twice differ by 2e-7, texts of six digits by 1e-6; the edges of a mesh of a million faces are 1e-3."""

THIN = 1e-6
"""An obstacle has no inside if it encloses less than this share of its area to the power of 3/2: a pane of 1 m with
coordinates of float32 encloses 1e-8, a plate of 1 mm 3e-4."""


AT_ONE_PLACE = "{count} vertices of borders are one with others at the same place"
"""The hint that some are."""


def coincident(x: np.ndarray, polygons: Polygons) -> np.ndarray:
    """The first of the border vertices at the same place as each, itself inside of a surface, (n,) int.

    x: positions, (n, 3) [m], or several of them side by side, all of which must be the same, (n, 3 k).
    """
    first = np.arange(len(x))
    sides = outlines(polygons)
    _, of_side, counts = np.unique(pair_keys(sides, len(x)), return_inverse=True, return_counts=True)
    border = np.unique(sides[counts[of_side.reshape(-1)] == 1])
    place = _places(x[border], ROUNDING * float(np.ptp(x, axis=0).max(initial=0.0)))
    _, one = np.unique(place, return_index=True)
    first[border] = border[one[place]]
    return first


def obstacle(x: np.ndarray, polygons: Polygons) -> tuple[TriMesh, int]:
    """An obstacle's surface at positions x (n, 3) [m], in which borders at the same place are one, and how many are.

    A pane with a front and a back stays two sheets: joined, it would be a body without an inside.
    """
    n = len(x)
    first = fans(polygons, coincident(x, polygons), np.zeros(n, bool), one_outside=True)
    mesh = TriMesh(x, polygons, joined=first)
    if (first == np.arange(n)).all():
        return mesh, 0
    triangles, area = mesh.triangles, triangle_areas(x, mesh.triangles)
    _, origin = np.unique(mesh.islands, return_index=True)
    island = mesh.islands[triangles[:, 0]]
    a, b, c = (x[triangles[:, k]] - x[origin[island]] for k in range(3))
    volume = np.bincount(island, (np.cross(a, b) * c).sum(axis=1) / 6.0, len(origin))
    empty = np.abs(volume) < THIN * np.bincount(island, area, len(origin)) ** 1.5
    first = np.where(empty[mesh.islands], np.arange(n), first)
    return TriMesh(x, polygons, joined=first), int((first != np.arange(n)).sum())


def _places(x: np.ndarray, apart: float) -> np.ndarray:
    """Number of the place of each of some points (n, k), (n,) int: places are further `apart` [m] along some axis."""
    place, count = np.zeros(len(x), int), 0
    while place.max(initial=-1) + 1 > count:
        count = int(place.max(initial=-1)) + 1
        for axis in x.T:
            order = np.lexsort((axis, place))
            new = (np.diff(place[order]) > 0) | (np.diff(axis[order]) > apart)
            place[order] = np.cumsum(np.append(0, new))[: len(order)]
    return place


def fans(
    polygons: Polygons,
    label: np.ndarray,
    pinned: np.ndarray,
    held: np.ndarray | None = None,
    side: np.ndarray | None = None,
    one_outside: bool = False,
) -> np.ndarray:
    """The vertex that stands for each, (n,) int, where those of one label are one if their faces meet in an edge.

    Args:
        polygons: Faces, each with vertices of its own where it can tear off.
        label: Number of the group of each vertex, below n, (n,) int.
        pinned: Which vertices are pinned, (n,) bool; a pinned one stands for its group.
        held: Which vertices hold, (n,) bool: an edge between two that do not hold is open. Default: all.
        side: Vertices of a group are one only if they are on the same side, (n,) int.
        one_outside: Whether faces meet only where both have the same outside: their edges run opposite ways.
    """
    n = len(label)
    ends = outlines(polygons)
    labels = label[ends]
    backward = labels[:, 0] > labels[:, 1]
    ends = np.where(backward[:, None], ends[:, ::-1], ends)
    keys = label[ends[:, 0]] * n + label[ends[:, 1]]
    order = np.argsort(keys, kind="stable")
    meet = keys[order][1:] == keys[order][:-1]
    if one_outside:
        meet &= backward[order][1:] != backward[order][:-1]
    one, other = ends[order[:-1][meet]], ends[order[1:][meet]]
    if held is not None:
        holds = held[one].any(axis=1)
        one, other = one[holds], other[holds]
    links = np.column_stack([one.ravel(), other.ravel()])
    links = links[links[:, 0] != links[:, 1]]
    if side is not None:
        links = links[side[links[:, 0]] == side[links[:, 1]]]
    group = connected_components(links, n)
    order = np.lexsort((~pinned, group))  # stable: the smallest number first
    first = np.zeros(group.max(initial=-1) + 1, int)
    first[group[order[::-1]]] = order[::-1]
    return first[group]
