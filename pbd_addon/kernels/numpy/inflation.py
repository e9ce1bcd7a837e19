"""Skins under pressure in NumPy."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import SMALLEST
from .layout import dot as _dot

LEAST_COMPLIANCE = 1e-12
"""[m/N]: rigid rows have none, and their tension is not known by their length."""


def sum_by_piece(pieces, values, count):
    # To add to one bin over and over takes 20 times as long as a sum.
    return values.sum(keepdims=True) if count == 1 else np.bincount(pieces, values, count)


def enclosed_volumes(q, triangles, pieces, piece_count):
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = (q.take(corner, axis=1) for corner in triangles)
    six = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return sum_by_piece(pieces, six, piece_count) / 6.0


def carried_shares(w, indices, stiffness, free, h, carried, swept, own):
    softness = 1.0 / np.maximum(h**2 * stiffness * w.take(indices).sum(axis=0), SMALLEST)
    share = carried * np.minimum(1.0, np.sqrt(softness / swept))
    return share, free * np.minimum(1.0 - share, own * softness)


def carried_tensions(x, rows, carried, h):
    indices, rest_lengths, compliance, row_pieces = rows
    tensions, kept, share, own, most = carried
    change = _lengths(_ways(x, indices)) - rest_lengths
    elastic = change / np.maximum(_by_sign(change, compliance), LEAST_COMPLIANCE)
    return np.clip(-(h**2) * (kept[row_pieces] * share * tensions + own * elastic), -most, most)


def tension_pattern(p, gradients, edges, multipliers, carried, pull, skin):
    indices, rest_lengths, alpha, row_pieces = edges
    w, pieces, works = skin
    count, n, (start, end) = len(works), p.shape[1], indices
    normals = gradients / np.maximum(_lengths(gradients), SMALLEST)
    direction = _ways(p, indices)
    length = np.maximum(_lengths(direction), SMALLEST)
    direction /= length
    error = length - rest_lengths
    if len(carried):
        multipliers += carried
        pull += _gathered(direction * carried, indices, n)
        pull *= w
    give = _by_sign(error, alpha)
    growth = _dot(direction, normals.take(start, axis=1) - normals.take(end, axis=1))
    pattern = np.where(works[row_pieces], np.maximum(growth, 0.0) / alpha[0], 0.0)
    direction *= pattern
    force = _gathered(direction, indices, n)
    heavy = w * force
    sums = np.stack([
        sum_by_piece(pieces, _dot(heavy, force), count) + sum_by_piece(row_pieces, give * pattern**2, count),
        sum_by_piece(pieces, _dot(heavy, gradients), count),
        sum_by_piece(pieces, w * _dot(gradients, gradients), count),
        sum_by_piece(row_pieces, pattern * (error + give * multipliers), count),
        np.zeros(count),
    ])  # fmt: skip
    if len(carried):
        sums[3] += sum_by_piece(pieces, _dot(force, pull), count)
        sums[4] = sum_by_piece(pieces, _dot(gradients, pull), count)
    return pattern, force, sums


def balance(equations):
    stretch, cross, back, swell, wrong, error, works, fixed = equations
    swell = np.where(fixed, 1.0, swell)
    back = np.where(fixed, 0.0, back)
    error = np.where(fixed, -error, error)
    tense = stretch > 0.0
    scale = np.where(tense, stretch, 1.0)
    determinant = scale * swell - cross * back
    good = works & (determinant > 0.0)
    safe = np.where(good, determinant, 1.0)
    size = np.where(good & tense, (cross * error - swell * wrong) / safe, 0.0)
    return size, np.where(good, (back * wrong - scale * error) / safe, 0.0)


def inflate(p, gradients, skin, pattern, force, moved, size, push, row_pieces, multipliers):
    w, pieces = skin[:2]
    multipliers += size[row_pieces] * pattern
    p += w * (force * size[pieces] + gradients * push[pieces])
    if moved.size:
        p += moved


def project_volume(p, gradients, push, pieces, volumes):
    error, give, k, works, fixed = volumes
    swell = sum_by_piece(pieces, push * _dot(gradients, gradients), len(error))
    slope = swell + give
    step = np.where(fixed, error, -k * error / np.maximum(slope, SMALLEST))
    step = np.where(works & (slope > 0.0), step, 0.0)
    p += gradients * (push * step[pieces])
    return step, swell * step


def edge_forces(p, indices, multipliers):
    direction = _ways(p, indices)
    direction *= multipliers / np.maximum(_lengths(direction), SMALLEST)
    return _gathered(direction, indices, p.shape[1])


def _ways(p: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """From the second particle of each row (2, m) to the first, (3, m)."""
    start, end = indices
    found = p.take(start, axis=1)
    found -= p.take(end, axis=1)
    return found


def _gathered(pulls: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """Sums of pulls (3, m) on the first particle of each row (2, m), and of the opposite on the second, (3, n)."""
    start, end = indices
    return np.stack([np.bincount(start, row, n) - np.bincount(end, row, n) for row in pulls])


def _by_sign(error: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The last row of values (1 or 2, m) where the error (m,) is below 0, else the first."""
    return np.asarray(values[0] if len(values) == 1 else np.where(error < 0.0, values[1], values[0]))


def _lengths(a: np.ndarray) -> np.ndarray:
    """Lengths of the columns of a (3, m) array."""
    return np.asarray(np.sqrt(_dot(a, a)))
