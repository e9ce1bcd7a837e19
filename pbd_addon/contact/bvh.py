"""Bounding volume hierarchy: which of many axis-aligned boxes overlap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels, numpy as numpy_kernels

ROOTS = np.ones((2, 1), int)

BLOCK = 4096
"""Leaves of a tree that are looked at together, a power of two. In a level grid 24 pairs of edges overlap for each
vertex, and 40 of edges and faces. They take up to 100 bytes each while they are found, and the boxes of a tree of edges
630 bytes a vertex: at once, twice as much as all that a simulation keeps."""


class LeftOut(NamedTuple):
    """Pairs of nodes of a tree that are not tested, nor is what is below them.

    Attributes:
        is_flat: Which nodes are not tested with themselves, and which not with their neighbors, (2, nodes) bool.
        first: Where the neighbors of each node begin, and how many there are, (nodes + 1,) int32.
        neighbors: Neighbors of each node, itself included, all on its own level, (m,) int32.
    """

    is_flat: np.ndarray
    first: np.ndarray
    neighbors: np.ndarray


def nothing_left_out() -> LeftOut:
    """Not a single pair."""
    return LeftOut(np.zeros((2, 0), bool), np.zeros(1, np.int32), np.zeros(0, np.int32))


class BVH:
    """Perfect binary tree over primitives: its topology is fixed, its boxes are refitted.

    Args:
        leaves: The primitive in each leaf, -1 for none, (2**k,) int.
    """

    def __init__(self, leaves: np.ndarray) -> None:
        self.leaves = leaves

    @staticmethod
    def of_points(centers: np.ndarray) -> BVH:
        """A tree over primitives with these centers, (m, 3) [m]. Neighbors there should stay neighbors."""
        return BVH(median_split_order(centers))

    def refit(
        self,
        boxes: np.ndarray,
        members: np.ndarray | None = None,
        kernels: Kernels = numpy_kernels,
    ) -> FittedBVH:
        """Fit the boxes of all nodes to boxes of the primitives.

        Args:
            boxes: Lower corner and negated upper corner of the box of every primitive, (6, m) [m].
            members: Which primitives take part, (m,) bool; default: all.
            kernels: Module of kernels.
        """
        if members is not None:
            boxes = np.where(members, boxes, np.inf)
        nodes = np.empty((6, 2 * len(self.leaves)), order=kernels.NODE_ORDER)
        leaves = self.leaves.astype(np.int64, copy=False)
        kernels.refit(leaves, np.ascontiguousarray(boxes), nodes)
        return FittedBVH(kernels, leaves, nodes)

    def refit_in_blocks(self, boxes: np.ndarray, kernels: Kernels) -> Iterator[FittedBVH]:
        """The same as trees over a part of the primitives each, of which only one is kept at a time."""
        for start in range(0, len(self.leaves), BLOCK):
            leaves = self.leaves[start : start + BLOCK]
            if start == 0 or (leaves >= 0).any():
                yield BVH(leaves).refit(boxes, kernels=kernels)


class FittedBVH:
    """A tree with the boxes that its primitives have at one moment.

    Args:
        kernels: Module of kernels that fitted them.
        leaves: As in the tree.
        nodes: The boxes of all nodes, (6, 2 * leaves); see `kernels.protocol.bvh`.
    """

    def __init__(self, kernels: Kernels, leaves: np.ndarray, nodes: np.ndarray) -> None:
        self.kernels, self.leaves, self.nodes = kernels, leaves, nodes

    def query_pairs(
        self, other: FittedBVH, roots: np.ndarray = ROOTS, left_out: LeftOut | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (primitive of this tree, primitive of the other) whose boxes overlap, (k,) int each.

        With itself, each pair comes once, and (i, i) only if `left_out` is given and does not leave it out. Which boxes
        overlap almost, and the order: see the kernel.

        Args:
            other: Another tree.
            roots: Nodes that are tested first, with what is below them, (2, k) int: all those of one tree on one
                level; with itself, the first is never above the second.
            left_out: What is not tested; of two trees that differ in their boxes alone.
        """
        first, second = self.kernels.query_pairs(
            self.leaves,
            self.nodes,
            other.leaves,
            other.nodes,
            self is other,
            roots,
            *(left_out or nothing_left_out()),
        )
        return first, second

    def query_in_blocks(self, other: FittedBVH) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The pairs of `query_pairs` in several parts, for whoever keeps few of them."""
        count = max(len(self.leaves) // BLOCK, 1)
        nodes = np.arange(count, 2 * count)
        for k, node in enumerate(nodes):
            others = nodes[k:] if self is other else ROOTS[1]
            yield self.query_pairs(other, np.stack([np.full(len(others), node), others]))


def median_split_order(points: np.ndarray) -> np.ndarray:
    """Leaves of a tree that splits points (m, 3) at the median along the longest side of their box, again and again.

    Returns:
        The point in each leaf, -1 for none, (2**k,) int with the least 2**k >= m.
    """
    depth = max(len(points) - 1, 0).bit_length()
    order = np.arange(len(points))
    starts = np.array([0, len(points)])
    for _ in range(depth):
        sizes = np.diff(starts)
        node = np.repeat(np.arange(len(sizes)), sizes)
        q = points[order]
        filled = sizes > 0
        extent = np.zeros((len(sizes), 3))
        at = starts[:-1][filled]
        extent[filled] = np.maximum.reduceat(q, at) - np.minimum.reduceat(q, at)
        along = q[np.arange(len(q)), extent.argmax(axis=1)[node]]
        order = order[np.lexsort((along, node))]
        starts = np.concatenate([np.column_stack([starts[:-1], starts[:-1] + (sizes + 1) // 2]).ravel(), starts[-1:]])
    leaves = np.full(2**depth, -1)
    leaves[np.flatnonzero(np.diff(starts))] = order
    return leaves
