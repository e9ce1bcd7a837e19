"""Few shape keys for many frames: blend shapes with animated values that stay within an error.

Every frame is shown as

    shape(frame) ≈ offset + Σ values[frame, k] · keys[k],    0 ≤ values ≤ 1

which is what relative shape keys, and morph targets in games, can play. The best keys in the mean square are the
principal components of the frames (Alexa and Müller 2000, "Representing Animations by Principal Components"). What a
viewer sees is the worst vertex of the worst frame; so frames and vertices are weighted by their errors again and
again (Lawson's algorithm, iteratively reweighted least squares), until the largest error is about as small as it gets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SAMPLE = 2048
"""So many vertices decide about the keys; the error is measured on all, and those that are worst join them."""

ROUNDS = 4
"""How often the worst vertices of all may join."""

SWEEPS = 24
"""How often the weights are changed for one number of keys."""

FLOOR = 0.05
"""Smallest share of the largest error that counts for a weight: none falls to zero."""


class Reduction(NamedTuple):
    """Blend shapes for f frames of n vertices."""

    offset: np.ndarray  # (n, 3) float32 [m], always added
    keys: np.ndarray  # (k, n, 3) float32 [m], what a value of 1 adds
    values: np.ndarray  # (f, k) float32, from 0 to 1
    error: float  # largest distance of a vertex from where it should be, over all frames [m]

    @property
    def total(self) -> int:
        """How many shape keys it takes: one for each of the k, and one for the offset."""
        return len(self.keys) + 1

    def shapes(self) -> np.ndarray:
        """What is played, (f, n, 3) float32 [m]."""
        keys = self.keys.reshape(len(self.keys), self.offset.size)
        return self.offset + (self.values @ keys).reshape(-1, *self.offset.shape)


def within(shapes: np.ndarray, bound: float) -> Reduction:
    """The fewest keys found that keep every vertex of every frame within an error.

    Args:
        shapes: (f, n, 3) float32 [m].
        bound: Largest distance of a vertex from where it should be [m].

    Raises:
        ValueError: The bound is finer than what 32-bit numbers can show, or the shapes are no such array.
    """
    shapes = np.asarray(shapes, np.float32)
    moves, mean = _centred(shapes)
    fewest, most = 0, len(shapes) - 1
    best = _fit(shapes, moves, mean, most)
    if best.error > bound:
        raise ValueError(f"an error of {bound:g} m is finer than 32-bit numbers, which are off by {best.error:.1g} m")
    while fewest < most:
        middle = (fewest + most) // 2
        found = _fit(shapes, moves, mean, middle)
        if found.error <= bound:
            best, most = found, middle
        else:
            fewest = middle + 1
    return best


def by_count(shapes: np.ndarray, count: int) -> Reduction:
    """The best that so many keys were found to do.

    Args:
        shapes: (f, n, 3) float32 [m].
        count: How many shape keys there may be, with that of the offset; more than f are of no use and not made.

    Raises:
        ValueError: There may be no key at all, or the shapes are no such array.
    """
    if count < 1:
        raise ValueError(f"there must be 1 key at least, not {count}")
    shapes = np.asarray(shapes, np.float32)
    moves, mean = _centred(shapes)
    return _fit(shapes, moves, mean, min(count, len(shapes)) - 1)


def _centred(shapes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Frames without their mean, (f, 3, n) float64, and the mean (3, n)."""
    if np.ndim(shapes) != 3 or np.shape(shapes)[2] != 3 or not np.size(shapes):
        raise ValueError(f"shapes must have shape (frames, vertices, 3), not {np.shape(shapes)}")
    frames = np.moveaxis(shapes, 2, 1).astype(np.float64)
    mean = frames.mean(axis=0)
    return frames - mean, mean


def _fit(shapes: np.ndarray, moves: np.ndarray, mean: np.ndarray, rank: int) -> Reduction:
    """So many keys beside the offset, fitted to the worst vertices, and the error of what is written."""
    count = moves.shape[2]
    sample = np.unique(np.linspace(0, count - 1, min(count, SAMPLE)).astype(int))
    best = _written(shapes, moves, mean, *_minimax(moves[:, :, sample], rank))
    found = best
    for _round in range(ROUNDS - 1):
        if len(sample) == count or rank in (0, len(shapes) - 1):
            break
        errors = _distances(shapes, found).max(axis=0)
        sample = np.union1d(sample, np.argsort(errors)[-SAMPLE // 8 :])
        found = _written(shapes, moves, mean, *_minimax(moves[:, :, sample], rank))
        best = min(best, found, key=lambda one: one.error)
    return best


def _minimax(moves: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Values (f, k) and the frames that keys are made of (k, f), for a small largest error of moves (f, 3, m)."""
    frames, _, count = moves.shape
    of_frame, of_vertex = np.ones(frames), np.ones(count)
    best, smallest = (np.zeros((frames, 0)), np.zeros((0, frames))), np.inf
    flat = moves.reshape(frames, -1)
    for _sweep in range(SWEEPS if 0 < rank < frames - 1 else 1):
        scaled = (moves * of_vertex).reshape(frames, -1) * of_frame[:, None]
        _, vectors = np.linalg.eigh(scaled @ scaled.T)
        vectors = vectors[:, frames - rank :]
        values, mixture = vectors / of_frame[:, None], vectors.T * of_frame
        missed = (flat - values @ (mixture @ flat)).reshape(moves.shape)
        errors = np.sqrt((missed**2).sum(axis=1))
        largest = errors.max()
        if largest < smallest:
            best, smallest = (values, mixture), largest
        if largest == 0.0:
            break
        of_frame *= np.sqrt(errors.max(axis=1) / largest + FLOOR)
        of_vertex *= np.sqrt(errors.max(axis=0) / largest + FLOOR)
        of_frame /= of_frame.max()
        of_vertex /= of_vertex.max()
    return best


def _written(
    shapes: np.ndarray, moves: np.ndarray, mean: np.ndarray, values: np.ndarray, mixture: np.ndarray
) -> Reduction:
    """The keys as they are written, with values from 0 to 1, and how far those are off."""
    frames, _, count = moves.shape
    keys = (mixture @ moves.reshape(frames, -1)).reshape(-1, 3, count)
    low = values.min(axis=0)
    span = values.max(axis=0) - low
    offset = mean + np.tensordot(low, keys, axes=1)
    keys = keys * span[:, None, None]
    values = (values - low) / np.where(span > 0.0, span, 1.0)
    found = Reduction(
        np.ascontiguousarray(offset.T, np.float32),
        np.ascontiguousarray(np.swapaxes(keys, 1, 2), np.float32),
        values.astype(np.float32),
        0.0,
    )
    return found._replace(error=float(_distances(shapes, found).max()))


def _distances(shapes: np.ndarray, found: Reduction) -> np.ndarray:
    """How far each vertex is off in each frame, (f, n) [m]."""
    return np.sqrt(((found.shapes().astype(np.float64) - shapes) ** 2).sum(axis=2))
