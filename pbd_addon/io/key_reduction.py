"""Few shape keys for many frames: blend shapes with animated values that stay within an error.

Every frame is shown as

    shape(frame) ≈ offset + Σ values[frame, k] · keys[k],    0 ≤ values ≤ 1

which relative shape keys, and morph targets in games, can play. The best keys in the mean square are the principal
components of the frames (Alexa and Müller 2000, "Representing Animations by Principal Components"). Viewers notice the
worst vertex of the worst frame, so frames and vertices are repeatedly weighted by their errors (Lawson's algorithm,
iteratively reweighted least squares), until the largest error hardly decreases.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SAMPLED_VERTICES = 512
"""Number of vertices in the sample that decides about the keys; the error is measured on all vertices."""

JOINING = 128
"""Number of worst vertices added to the sample at a time."""

FIT_ROUNDS = 6
"""How often the worst vertices may be added for one number of keys."""

SWEEPS = 24
"""How often the weights are changed for one number of keys."""

LEAST_WEIGHT = 0.05
"""Added to the relative error in a weight, so that none falls to zero."""


class Reduction(NamedTuple):
    """Blend shapes for f frames of n vertices."""

    offset: np.ndarray  # (n, 3) float32 [m], always added
    keys: np.ndarray  # (k, n, 3) float32 [m], added times their values
    values: np.ndarray  # (f, k) float32, from 0 to 1
    error: float  # largest error of a vertex over all frames [m]

    @property
    def total(self) -> int:
        """Number of shape keys: one for each of the k, and one for the offset."""
        return len(self.keys) + 1

    def shapes(self) -> np.ndarray:
        """The shapes that the keys play, (f, n, 3) float32 [m]."""
        keys = self.keys.reshape(len(self.keys), self.offset.size)
        return self.offset + (self.values @ keys).reshape(-1, *self.offset.shape)


def within(shapes: np.ndarray, bound: float) -> Reduction:
    """The fewest keys found that keep every vertex of every frame within an error.

    Args:
        shapes: (f, n, 3) float32 [m].
        bound: Largest error of a vertex [m].

    Raises:
        ValueError: The bound is below the precision of 32-bit numbers, or the shape of the array is wrong.
    """
    search = _Search(shapes)
    fewest, most = 0, len(shapes) - 1
    best = search.fit(most, bound)
    if best.error > bound:
        raise ValueError(f"an error of {bound:g} m is finer than 32-bit numbers, which are off by {best.error:.1g} m")
    while fewest < most:
        middle = (fewest + most) // 2
        found = search.fit(middle, bound)
        if found.error <= bound:
            best, most = found, middle
        else:
            fewest = middle + 1
    return best


def by_count(shapes: np.ndarray, count: int) -> Reduction:
    """The best reduction found with at most `count` keys.

    Args:
        shapes: (f, n, 3) float32 [m].
        count: Number of shape keys, including the offset; more than f are never needed.

    Raises:
        ValueError: The count is below 1, or the shape of the array is wrong.
    """
    if count < 1:
        raise ValueError(f"there must be 1 key at least, not {count}")
    return _Search(shapes).fit(min(count, len(shapes)) - 1, 0.0)


class _Search:
    """The frames, and weights of frames and vertices by how hard they are to match."""

    def __init__(self, shapes: np.ndarray) -> None:
        self.shapes = np.asarray(shapes, np.float32)
        if self.shapes.ndim != 3 or self.shapes.shape[2] != 3 or not self.shapes.size:
            raise ValueError(f"shapes must have shape (frames, vertices, 3), not {self.shapes.shape}")
        self.frames, self.vertices = self.shapes.shape[:2]
        moves = np.swapaxes(self.shapes, 1, 2).astype(np.float64)
        self.mean = moves.mean(axis=0)
        self.moves = moves - self.mean
        self.of_frame = np.ones(self.frames)
        self.of_vertex = np.ones(self.vertices)
        self.sample = np.unique(np.linspace(0, self.vertices - 1, min(self.vertices, SAMPLED_VERTICES)).astype(int))

    def fit(self, rank: int, enough: float) -> Reduction:
        """The best reduction with `rank` keys beside the offset; ends early once the error is at most `enough` [m]."""
        best, usual = None, self.sample
        if rank == self.frames - 1:
            self.sample = np.arange(self.vertices)  # The largest number of keys is exact for all vertices.
        for _round in range(FIT_ROUNDS):
            found = self._written(*self._minimax(rank, enough))
            errors = _distances(self.shapes, found)
            found = found._replace(error=float(errors.max()))
            if best is None or found.error < best.error:
                best = found
            is_whole = len(self.sample) == self.vertices or rank == 0
            if is_whole or best.error <= enough:
                break
            self.sample = np.union1d(self.sample, np.argsort(errors.max(axis=0))[-JOINING:])
        assert best is not None
        if rank == self.frames - 1:
            self.sample = usual
        return best

    def _minimax(self, rank: int, enough: float) -> tuple[np.ndarray, np.ndarray]:
        """Values (f, k) and keys as mixtures of frames (k, f), minimizing the largest error of the sample."""
        moves = self.moves[:, :, self.sample]
        flat = moves.reshape(self.frames, -1)
        best, smallest = (np.zeros((self.frames, 0)), np.zeros((0, self.frames))), np.inf
        of_frame, of_vertex = np.sqrt(self.of_frame), np.sqrt(self.of_vertex[self.sample])
        for _sweep in range(SWEEPS if 0 < rank < self.frames - 1 else 1):
            scaled = (moves * of_vertex).reshape(self.frames, -1) * of_frame[:, None]
            _, vectors = np.linalg.eigh(scaled @ scaled.T)
            vectors = vectors[:, self.frames - rank :]
            values, mixture = vectors / of_frame[:, None], vectors.T * of_frame
            missed = (flat - values @ (mixture @ flat)).reshape(moves.shape)
            errors = np.sqrt((missed**2).sum(axis=1))
            largest = errors.max()
            if largest < smallest:
                best, smallest = (values, mixture), largest
                self.of_frame, self.of_vertex[self.sample] = of_frame, of_vertex
            if largest <= 0.98 * enough or largest == 0.0:
                break
            of_frame = of_frame * np.sqrt(errors.max(axis=1) / largest + LEAST_WEIGHT)
            of_vertex = of_vertex * np.sqrt(errors.max(axis=0) / largest + LEAST_WEIGHT)
            of_frame /= of_frame.max()
            of_vertex /= of_vertex.max()
        return best

    def _written(self, values: np.ndarray, mixture: np.ndarray) -> Reduction:
        """The reduction in float32 with values from 0 to 1, without its error."""
        keys = (mixture @ self.moves.reshape(self.frames, -1)).reshape(-1, 3, self.vertices)
        low = values.min(axis=0)
        span = values.max(axis=0) - low
        offset = self.mean + np.tensordot(low, keys, axes=1)
        keys = np.swapaxes(keys * span[:, None, None], 1, 2)
        values = (values - low) / np.where(span > 0.0, span, 1.0)
        return Reduction(
            np.ascontiguousarray(offset.T, np.float32),
            np.ascontiguousarray(keys, np.float32),
            values.astype(np.float32),
            np.inf,
        )


def _distances(shapes: np.ndarray, found: Reduction) -> np.ndarray:
    """Error of each vertex in each frame, (f, n) [m]."""
    return np.sqrt(((found.shapes() - shapes) ** 2).sum(axis=2))
