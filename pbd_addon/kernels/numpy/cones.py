"""Normals of faces, and cones around them, in NumPy."""

from __future__ import annotations

import numpy as np


def unit_normals(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    normals = _normals(p, triangles)
    normals /= np.maximum(np.sqrt(np.einsum("im,im->m", normals, normals)), 1e-300)
    return normals


def normal_cones(
    normals: np.ndarray,
    starts: np.ndarray,
    member_starts: np.ndarray,
    members: np.ndarray,
    is_wanted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    angles, axes = np.full((2, len(is_wanted)), 2.0 * np.pi), np.zeros((3, len(is_wanted)))
    turn = np.full(len(members), 2.0 * np.pi)
    rows = np.flatnonzero(is_wanted.repeat(np.diff(member_starts)))
    is_needed = np.zeros(len(is_wanted), bool)
    is_needed[members[rows]] = True
    if not len(rows):
        return angles, axes, turn
    patches, sizes = np.flatnonzero(is_needed), np.diff(starts)[is_needed]
    normals = normals.compress(is_needed.repeat(np.diff(starts)), axis=1)
    first = np.cumsum(sizes) - sizes
    boxes = np.full((6, len(is_wanted)), np.inf)
    boxes[:, patches] = np.concatenate([np.minimum.reduceat(each, first, axis=1) for each in (normals, -normals)])
    axes[:, patches] = _middles(boxes[:, patches])
    angles[0, patches] = np.maximum.reduceat(_angles(normals, axes[:, patches].repeat(sizes, axis=1)), first)
    counts = np.diff(member_starts)[is_wanted]
    first, theirs = np.cumsum(counts) - counts, members[rows]
    around = _middles(np.minimum.reduceat(boxes.take(theirs, axis=1), first, axis=1)).repeat(counts, axis=1)
    turn[rows] = _angles(around, axes.take(theirs, axis=1))
    angles[1, is_wanted] = np.maximum.reduceat(turn[rows] + angles[0, theirs], first)
    return angles, axes, turn


def _middles(boxes: np.ndarray) -> np.ndarray:
    """Directions of the middles of boxes, lower corners and negated upper ones, (6, k); (3, k)."""
    middles = boxes[:3] - boxes[3:]
    middles /= np.maximum(np.sqrt(np.einsum("im,im->m", middles, middles)), 1e-300)
    return middles


def _angles(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Angles between unit vectors (3, m) from the chord, as the cosine tells nothing of small ones; (m,) [rad]."""
    chord = one - other
    return np.asarray(2.0 * np.arcsin(np.minimum(0.5 * np.sqrt(np.einsum("im,im->m", chord, chord)), 1.0)))


def outside_cones(
    p: np.ndarray,
    triangles: np.ndarray,
    first: np.ndarray,
    stop: np.ndarray,
    axes: np.ndarray,
    cosines: np.ndarray,
) -> np.ndarray:
    if not len(first):
        return np.zeros(0, bool)
    sizes = stop - first
    starts = np.cumsum(sizes) - sizes
    places = np.arange(sizes.sum()) + (first - starts).repeat(sizes)
    normals = _normals(p, triangles.take(places, axis=1))
    along = np.einsum("im,im->m", normals, axes.repeat(sizes, axis=1))
    outside = along * np.abs(along) < (cosines**2).repeat(sizes) * np.einsum("im,im->m", normals, normals)
    return np.asarray(np.logical_or.reduceat(outside, starts))


def _normals(p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of triangles (3, t) at p (3, n), twice as long as their areas, (3, t) [m²]."""
    a, b, c = (p.take(corner, axis=1) for corner in triangles)
    b -= a
    c -= a
    return np.stack([b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0]])
