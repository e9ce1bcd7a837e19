"""Closest points of the sides of contacts in NumPy.

`q` are positions of the particles of each contact, (3, 4, m) float64 [m].
"""

from __future__ import annotations

import numpy as np

from .. import FACE
from ..protocol.guards import TINY
from .layout import dot


def closest_points(p: np.ndarray, particles: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return closest_at(p.take(particles, axis=1), kind)


def clearances(p: np.ndarray, particles: np.ndarray, normals: np.ndarray, kind: np.ndarray) -> np.ndarray:
    return clearance(heights(p, particles, normals), kind)


def clearance(along: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """As `clearances`, from the heights of the particles along the normal, (4, m)."""
    of_faces = along[0] - np.maximum(np.maximum(along[1], along[2]), along[3])
    of_edges = np.minimum(along[0], along[1]) - np.maximum(along[2], along[3])
    return np.where(kind == FACE, of_faces, of_edges)


def closest_at(q: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `closest_points`, from positions q."""
    faces = np.flatnonzero(kind == FACE)
    if len(faces) == len(kind):
        weights = closest_on_triangles(q)
    elif not len(faces):
        weights = closest_on_edges(q)
    else:
        weights = np.empty((4, q.shape[2]))
        others = np.flatnonzero(kind != FACE)
        weights[:, faces] = closest_on_triangles(q.take(faces, axis=2))
        weights[:, others] = closest_on_edges(q.take(others, axis=2))
    distance, normals = gaps_and_normals(q, weights)
    return weights, distance, normals


def closest_on_triangles(q: np.ndarray) -> np.ndarray:
    """Weights of a vertex q[:, 0] and of the point of the triangle q[:, 1:] that is closest to it, (4, m).

    By barycentric coordinates where the vertex stands over the triangle, else by the nearest of the three sides.
    """
    a, ab, ac = q[:, 1], q[:, 2] - q[:, 1], q[:, 3] - q[:, 1]
    ap = q[:, 0] - a
    d00, d01, d11 = dot(ab, ab), dot(ab, ac), dot(ac, ac)
    d20, d21 = dot(ap, ab), dot(ap, ac)
    scale = 1.0 / np.maximum(d00 * d11 - d01 * d01, TINY * d00 * d11 + 1e-300)
    v, w = (d11 * d20 - d01 * d21) * scale, (d00 * d21 - d01 * d20) * scale
    weights = np.empty((4, q.shape[2]))
    weights[0], weights[1], weights[2], weights[3] = 1.0, v + w - 1.0, -v, -w
    flat = d00 * d11 - d01 * d01 <= TINY * d00 * d11  # as a line; it has no inside
    beside = np.flatnonzero((weights[1] > 0.0) | (weights[2] > 0.0) | (weights[3] > 0.0) | flat)
    if len(beside):
        weights[1:, beside] = _closest_on_sides(q.take(beside, axis=2))
    return weights


def _closest_on_sides(q: np.ndarray) -> np.ndarray:
    """Negated weights of the corners q[:, 1:] at the point of their outline that is closest to q[:, 0], (3, m)."""
    point = q[:, 0]
    best = np.full(q.shape[2], np.inf)
    along, side = np.zeros(q.shape[2]), np.zeros(q.shape[2], int)
    for k in range(3):
        start, end = q[:, 1 + k], q[:, 1 + (k + 1) % 3]
        edge, to = end - start, point - start
        t = (dot(to, edge) / np.maximum(dot(edge, edge), 1e-300)).clip(0.0, 1.0)
        off = to - t * edge
        square = dot(off, off)
        nearer = square < best
        best = np.where(nearer, square, best)
        along, side = np.where(nearer, t, along), np.where(nearer, k, side)
    result = np.zeros((3, q.shape[2]))
    row = np.arange(q.shape[2])
    result[side, row] = along - 1.0
    result[(side + 1) % 3, row] = -along
    return result


def closest_on_edges(q: np.ndarray) -> np.ndarray:
    """Weights of the ends of edges q[:, :2] and q[:, 2:] in their closest points, (4, m)."""
    d1, d2, r = q[:, 1] - q[:, 0], q[:, 3] - q[:, 2], q[:, 0] - q[:, 2]
    a, e, b = dot(d1, d1), dot(d2, d2), dot(d1, d2)
    c, f = dot(d1, r), dot(d2, r)
    area = a * e - b * b
    a, e = np.maximum(a, 1e-300), np.maximum(e, 1e-300)
    parallel = area <= 1e-9 * a * e
    s = np.where(parallel, 0.5, (b * f - c * e) / np.where(parallel, 1.0, area)).clip(0.0, 1.0)
    t = (b * s + f) / e
    clamped = t.clip(0.0, 1.0)
    s = np.where(t != clamped, (b * clamped - c) / a, s).clip(0.0, 1.0)
    # Parallel edges meet along a stretch; a second round finds ends that touch.
    t = ((b * s + f) / e).clip(0.0, 1.0)
    return np.stack([1.0 - s, s, t - 1.0, -t])


def gaps_and_normals(q: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances (m,) of the points given by `weights` and unit vectors (3, m) from the second to the first.

    The vector is 0 where they coincide.
    """
    gap = np.einsum("ijm,jm->im", q, weights)
    distance = np.sqrt(dot(gap, gap))
    return distance, gap / np.maximum(distance, 1e-300)


def heights(p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    result = normals[0] * p[0].take(particles)
    result += normals[1] * p[1].take(particles)
    result += normals[2] * p[2].take(particles)
    return result


def gaps(p: np.ndarray, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> np.ndarray:
    return np.einsum("jm,jm->m", weights, heights(p, particles, normals))


def unseparated(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    normals: np.ndarray,
    kind: np.ndarray,
    which: np.ndarray,
    at_p: bool,
) -> np.ndarray:
    for attempt in range(2 if at_p else 1):
        ids, kinds = particles.take(which, axis=1), kind.take(which)
        along = closest_points(p, ids, kinds)[2] if attempt else normals.take(which, axis=1)
        apart = (clearances(p, ids, along, kinds) > 0.0) & (clearances(x, ids, along, kinds) > 0.0)
        which = which[~apart]
    return which
