"""What lies beside a seam: cloth that must come closer there than layers otherwise may."""

from __future__ import annotations

import numpy as np

from ..kernels import FACE
from .candidates import Candidates


class SeamNeighbors:
    """Each end of a seam and what is within an edge of the other end do not meet, or no seam could close.

    Blender's Cloth leaves out pairs of triangles that hold both ends of a seam. Here they may also be an edge farther, so
    that pairs that meet aside of each other can slide into place.

    Args:
        pairs: Both particles of every seam, (m, 2) int.
        edges: Edges of the faces, (e, 2) int.
        first: Particle that stands for each particle where some are welded, (n,) int.
    """

    def __init__(self, pairs: np.ndarray, edges: np.ndarray, first: np.ndarray) -> None:
        count = len(first)
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        both = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(count)[:, None], 2, axis=1)]).astype(np.int64)
        both = both[np.argsort(both[:, 0], kind="stable")]
        starts = np.searchsorted(both[:, 0], np.arange(count + 1))
        sizes = np.diff(starts)[ends[:, 1]]
        rows = np.repeat(starts[:-1][ends[:, 1]] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        one, other = first[np.repeat(ends[:, 0], sizes)], first[both[rows, 1]]
        self._count = count
        self._keys = np.unique(np.minimum(one, other) * count + np.maximum(one, other))
        self._is_near = np.zeros(count, bool)
        self._is_near[one] = self._is_near[other] = True

    def leave_out(self, candidates: Candidates) -> Candidates:
        """The candidates without those whose two sides are such neighbors."""
        if not len(self._keys) or not candidates.size:
            return candidates
        ids = candidates.particles
        near = np.zeros(ids.shape, bool)
        of_bodies = ids < self._count
        near[of_bodies] = self._is_near[ids[of_bodies]]
        some = np.flatnonzero(near.sum(axis=0) > 1)
        a, is_face = ids[:, some], candidates.kind[some] == FACE
        beside = np.zeros(len(some), bool)
        for k, m, counts in ((0, 1, is_face), (0, 2, True), (0, 3, True), (1, 2, ~is_face), (1, 3, ~is_face)):
            keys = np.minimum(a[k], a[m]) * self._count + np.maximum(a[k], a[m])
            at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            beside |= (self._keys[at] == keys) & counts & near[k, some] & near[m, some]
        kept = np.ones(candidates.size, bool)
        kept[some[beside]] = False
        return candidates.take(kept)
