"""NumPy's kernels for a skin that answers pressure as a whole; see `constraints.inflation`.

Common arguments: p (3, n) [m]; gradients, the volume's at every particle, (3, n) [m²]; w (n,) [1/kg]; pieces (n,) and
row_pieces (m,) int, the closed piece of each particle and of each edge, numbered from 0 to k - 1.
"""

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
    """How growth along the normals pulls at the edges of a skin.

    indices, rest_lengths, alpha and multipliers are as of `project_distance`, of the skin's edges; works (k,) bool:
    which pieces have a pressure.

    Returns:
        mu, the proportion of the edges' multipliers, (m,), 0 where growth does not stretch; J^T mu, (3, n); and for
        each piece the sums mu . (J W J^T + alpha) mu, mu . J W grad V, grad V . W grad V and mu . (C + alpha lambda),
        (4, k).
    """
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
    """Move p by W (J^T mu size + grad V push) and multipliers by mu size; size and push (k,) are of each piece."""
    multipliers += size[row_pieces] * pattern
    p += w * (force * size[pieces] + gradients * push[pieces])


def edge_forces(p: np.ndarray, indices: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
    """J^T lambda of distance constraints, (3, n): what multipliers (m,) of rows indices (2, m) push particles by."""
    n, (start, end) = p.shape[1], indices
    direction = p.take(start, axis=1) - p.take(end, axis=1)
    direction *= multipliers / np.maximum(np.sqrt(_dot(direction, direction)), 1e-300)
    return np.stack([np.bincount(start, row, n) - np.bincount(end, row, n) for row in direction])


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Dot products of the columns of two (3, m) arrays."""
    return np.einsum("ij,ij->j", a, b)
