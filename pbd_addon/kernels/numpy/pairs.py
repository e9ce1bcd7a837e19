"""Pairs of primitives that can meet, in NumPy, in chunks."""

from __future__ import annotations

import numpy as np

from .. import FACE, POINTS
from ..protocol.pairs import Bounds, Primitives
from .closest import closest_at
from .layout import chunks


def close_pairs(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    cells: np.ndarray,
    one: Primitives,
    other: Primitives,
    kind: int,
    owner: np.ndarray,
    tables: np.ndarray,
    flat_share: float,
    bounds: Bounds,
    is_late: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    (boxes, _, surface), (other_boxes, other_around, other_surface) = (
        _boxes_of_cells(low, high, side, used, owner) for side, used in zip((one, other), cells)
    )
    tables = tables.reshape(4, -1)
    surfaces, parts = int(np.sqrt(tables.shape[1])), []
    for cell_rows in chunks(cells.shape[1]):
        i, j = cells[:, cell_rows]
        k, m = surface.take(i), other_surface.take(j)
        number = np.minimum(k, m) * surfaces + np.maximum(k, m)
        pair, slot = np.nonzero(one.leaves.take(i, axis=0) >= 0)
        first, number = one.leaves[i[pair], slot], number[pair]
        near = _overlap(boxes.take(first, axis=1), other_around.take(j[pair], axis=1), tables[1].take(number))
        pair, first, slot, number = pair[near], first[near], slot[near], number[near]
        for rows in chunks(len(pair)):
            leaves = other.leaves.take(j[pair[rows]], axis=0)
            is_there = leaves >= 0
            if kind != FACE and one.leaves is other.leaves:
                is_own = (i == j)[pair[rows]]
                is_there &= ~is_own[:, None] | (np.arange(leaves.shape[1]) > slot[rows, None])
            row, column = np.nonzero(is_there)
            a, b, numbers = first[rows][row], leaves[row, column], number[rows][row]
            shares = np.ones(len(row))
            for cosines, which in ((one.cosines, a), (other.cosines, b)):
                if len(cosines):
                    flat, sharp = tables[2:].take(numbers, axis=1)
                    sharpness = ((flat - cosines.take(which)) / np.maximum(flat - sharp, 1e-300)).clip(0.0, 1.0)
                    shares = np.minimum(shares, flat_share + (1.0 - flat_share) * sharpness)
            near = _overlap(boxes.take(a, axis=1), other_boxes.take(b, axis=1), shares * tables[1].take(numbers))
            a, b, shares, numbers = a[near], b[near], shares[near], numbers[near]
            a, b = one.particles.take(a, axis=1), other.particles.take(b, axis=1)
            particles = np.concatenate([a, a, b, b] if kind == POINTS else [a, b], dtype=np.int64)
            near = (a[:, None] != b).all(axis=(0, 1))
            if len(is_late):
                near &= is_late.take(particles).any(axis=0)
            particles, distance = particles[:, near], (shares * tables[0].take(numbers))[near]
            parts += [_cull(x, particles[:, some], distance[some], kind, bounds) for some in chunks(len(distance))]
    particles, weights, normals, distance = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return particles, weights, normals, distance


def _boxes_of_cells(
    low: np.ndarray, high: np.ndarray, side: Primitives, cells: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes around the primitives in cells (k,), some repeated, and around these cells, lower corners and negated upper
    ones, (6, m) and (6, c) [m], and the surfaces of these cells, (c,) int.
    """
    boxes, around = np.full((6, side.particles.shape[1]), np.inf), np.full((6, len(side.leaves)), np.inf)
    is_used = np.bincount(cells, minlength=len(side.leaves)) > 0
    leaves = side.leaves[is_used]
    corners = side.particles.take(leaves[leaves >= 0], axis=1)
    found = np.concatenate([low.take(corners, axis=1).min(axis=1), -high.take(corners, axis=1).max(axis=1)])
    boxes[:, leaves[leaves >= 0]] = found
    around[:, is_used] = np.where(leaves >= 0, boxes.take(leaves, axis=1), np.inf).min(axis=2)
    return boxes, around, owner.take(side.particles[0].take(np.maximum(side.leaves[:, 0], 0)))


def _overlap(one: np.ndarray, other: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Which boxes (6, m) are apart by no more than a distance (m,) [m] along each axis, (k,) int."""
    return np.flatnonzero(
        (one[:3] - distance <= -other[3:]).all(axis=0) & (other[:3] - distance <= -one[3:]).all(axis=0)
    )


def _cull(
    x: np.ndarray, particles: np.ndarray, distance: np.ndarray, kind: int, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Those of the pairs, particles (4, m), that can come closer than their distance (m,) [m]; see `close_pairs`."""
    sides = 1 if kind == FACE else 2
    weights, gap, normals = closest_at(x.take(particles, axis=1), np.full(particles.shape[1], kind))
    along = np.einsum("im,ijm->jm", normals, bounds.displacement.take(particles, axis=1))
    to_second, to_first = -along[:sides].min(axis=0), along[sides:].max(axis=0)
    margins = bounds.margin.take(particles)
    closer = margins[:sides].max(axis=0) + margins[sides:].max(axis=0)
    if bounds.together:
        closer += np.maximum(to_first + to_second, 0.0)
    else:
        drift = bounds.drift.take(particles[0]) + bounds.drift.take(particles[3])
        closer += drift * np.abs(normals).sum(axis=0) + np.maximum(to_first, 0.0) + np.maximum(to_second, 0.0)
    near = np.flatnonzero(gap <= distance + closer)
    return particles.take(near, axis=1), weights.take(near, axis=1), normals.take(near, axis=1), distance.take(near)


def crossing(
    x: np.ndarray, edges: np.ndarray, triangles: np.ndarray, edge: np.ndarray, triangle: np.ndarray, rounding: float
) -> np.ndarray:
    found = []
    for rows in chunks(len(edge)):
        of_edge, of_triangle = edges.take(edge[rows], axis=1), triangles.take(triangle[rows], axis=1)
        some = np.flatnonzero((of_edge[:, None] != of_triangle).all(axis=(0, 1)))
        p, q = x.take(of_edge[:, some], axis=1).swapaxes(0, 1)
        a, b, c = x.take(of_triangle[:, some], axis=1).swapaxes(0, 1)
        size = np.abs(np.stack([q - p, b - a, c - a])).sum(axis=(0, 1))
        least = rounding * size**2 * (size + np.abs(p).max(axis=0))
        sides = np.stack([_volume(p, a, b, c), -_volume(q, a, b, c)])
        around = np.stack([_volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)])
        through = (sides > least).all(axis=0) | (sides < -least).all(axis=0)
        through &= (around > least).all(axis=0) | (around < -least).all(axis=0)
        found.append(rows.start + some[through])
    return np.concatenate(found)


def _volume(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Six times the signed volume of tetrahedra of points (3, m)."""
    u, v, w = b - a, c - a, d - a
    return np.asarray(
        u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
    )
