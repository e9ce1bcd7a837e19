"""Skins under pressure in NumPy."""

from __future__ import annotations

import numpy as np


def tension_pattern(
    p: np.ndarray,
    gradients: np.ndarray,
    indices: np.ndarray,
    rest_lengths: np.ndarray,
    alpha: np.ndarray,
    multipliers: np.ndarray,
    w: np.ndarray,
    pieces: np.ndarray,
    row_pieces: np.ndarray,
    works: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count, n, (start, end) = len(works), p.shape[1], indices
    normals = gradients / np.maximum(np.sqrt(_dot(gradients, gradients)), 1e-300)
    direction = p.take(start, axis=1) - p.take(end, axis=1)
    length = np.maximum(np.sqrt(_dot(direction, direction)), 1e-300)
    direction /= length
    error = length - rest_lengths
    give = alpha[0] if len(alpha) == 1 else np.where(error < 0.0, alpha[1], alpha[0])
    growth = _dot(direction, normals.take(start, axis=1) - normals.take(end, axis=1))
    pattern = np.where(works[row_pieces], np.maximum(growth, 0.0) / alpha[0], 0.0)
    direction *= pattern
    force = np.stack([np.bincount(start, row, n) - np.bincount(end, row, n) for row in direction])
    sums = np.stack([
        np.bincount(pieces, w * _dot(force, force), count) + np.bincount(row_pieces, give * pattern**2, count),
        np.bincount(pieces, w * _dot(force, gradients), count),
        np.bincount(pieces, w * _dot(gradients, gradients), count),
        np.bincount(row_pieces, pattern * (error + give * multipliers), count),
    ])  # fmt: skip
    return pattern, force, sums


def inflate(
    p: np.ndarray,
    gradients: np.ndarray,
    w: np.ndarray,
    pieces: np.ndarray,
    row_pieces: np.ndarray,
    pattern: np.ndarray,
    force: np.ndarray,
    size: np.ndarray,
    push: np.ndarray,
    multipliers: np.ndarray,
) -> None:
    multipliers += size[row_pieces] * pattern
    p += w * (force * size[pieces] + gradients * push[pieces])


def edge_forces(p: np.ndarray, indices: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    n, (start, end) = p.shape[1], indices
    direction = p.take(start, axis=1) - p.take(end, axis=1)
    direction *= multipliers / np.maximum(np.sqrt(_dot(direction, direction)), 1e-300)
    return np.stack([np.bincount(start, row, n) - np.bincount(end, row, n) for row in direction])


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Dot products of the columns of two (3, m) arrays."""
    return np.einsum("ij,ij->j", a, b)
