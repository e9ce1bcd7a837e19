"""What lies beside a seam: cloth that comes closer there than layers otherwise may."""

from __future__ import annotations

import numpy as np

from ..arrays.distinct import distinct
from ..kernels import FACE
from ..meshes.mesh import connected_components
from .candidates import Candidates

DISTANCE_SHARE = 0.075
"""Distance that is kept beside seams, in usual edges: a third of `sewing.WELD_SHARE`, the gap that welds.

With 0.01 to 0.075, two panels around a body and a shirt close without a crossing in any frame. The smaller it is, the
more often the crossing guard takes part, which does not keep the momentum of free panels."""


class SeamNeighbors:
    """What is within an edge of one end of a seam comes closer than layers otherwise may to what is within an edge of
    another end.

    Otherwise the distance between layers would keep the seam open. Blender's Cloth leaves out pairs of triangles that
    hold both ends of a seam; then the borders pass each other, and 1400 vertices had up to 60 crossings while seams
    closed. Ends that become one by several seams count as ends of one: where four panels meet, two lie opposite.

    Args:
        pairs: Both particles of every seam, (m, 2) int.
        edges: Edges of the faces, (e, 2) int.
        first: Particle that stands for each particle where some are welded, (n,) int.
        usual_edge: Usual edge of each particle's body, (n,) [m].
    """

    def __init__(self, pairs: np.ndarray, edges: np.ndarray, first: np.ndarray, usual_edge: np.ndarray) -> None:
        self._count, self._keys = len(first), np.zeros(0, int)
        if len(pairs):
            self._usual_edge = usual_edge
            self._find(pairs, edges, first)

    def _find(self, pairs: np.ndarray, edges: np.ndarray, first: np.ndarray) -> None:
        count, pairs = self._count, _all_pairs(pairs)
        around = np.concatenate([edges, edges[:, ::-1], np.repeat(np.arange(count)[:, None], 2, axis=1)]).astype(int)
        around = around[np.argsort(around[:, 0], kind="stable")]
        starts = np.searchsorted(around[:, 0], np.arange(count + 1))
        for _ in range(2):  # pairs of one end and what is around the other, then of what is around both
            sizes = np.diff(starts)[pairs[:, 0]]
            offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
            beside = around[np.repeat(starts[pairs[:, 0]], sizes) + offsets, 1]
            pairs = np.stack([np.repeat(pairs[:, 1], sizes), beside], axis=1)
        self._keys = distinct(self._keys_of(*first[pairs.T]))
        self._is_near = np.zeros(count, bool)
        self._is_near[first[pairs]] = True

    def _keys_of(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """A number for each pair of particles, the same in both orders, (m,) int."""
        return np.asarray(np.minimum(one, other) * self._count + np.maximum(one, other))

    def bring_closer(self, candidates: Candidates) -> Candidates:
        """The candidates, with a smaller distance for those whose two sides are such neighbors."""
        if not len(self._keys) or not candidates.size:
            return candidates
        ids = candidates.particles
        near = self._is_near.take(ids, mode="clip") & (ids < self._count)
        some = np.flatnonzero(near[:2].any(axis=0) & near[1:].any(axis=0))
        a, is_face = ids[:, some], candidates.kind[some] == FACE
        beside = np.zeros(len(some), bool)
        for k, m, counts in ((0, 1, is_face), (0, 2, True), (0, 3, True), (1, 2, ~is_face), (1, 3, ~is_face)):
            keys = self._keys_of(a[k], a[m])
            at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            beside |= (self._keys[at] == keys) & counts & near[k, some] & near[m, some]
        distance = candidates.min_distance.copy()
        rows = some[beside]
        distance[rows] = np.minimum(distance[rows], DISTANCE_SHARE * self._usual_edge[ids[0, rows]])
        return candidates._replace(min_distance=distance)


def _all_pairs(pairs: np.ndarray) -> np.ndarray:
    """All pairs of particles that become one by pairs (m, 2), as where four panels meet, (k, 2) int."""
    used, local = np.unique(pairs, return_inverse=True)
    group = connected_components(local.reshape(-1, 2), len(used))
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group)
    of_each, starts = sizes[group[order]], np.cumsum(sizes) - sizes
    place = np.arange(of_each.sum()) - np.repeat(np.cumsum(of_each) - of_each, of_each)
    one, other = np.repeat(order, of_each), order[np.repeat(starts[group[order]], of_each) + place]
    return used[np.stack([one, other], axis=1)[one != other]]
