"""Bounding volume hierarchy: which of many axis-aligned boxes overlap."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ..kernels import numpy_kernels


class BVH:
    """A perfect binary tree over primitives: its topology is fixed, its boxes are refitted.

    Args:
        centers: Where the primitives are when the tree is built, (m, 3) [m]. Neighbors then should stay neighbors.

    Attributes:
        leaves: The primitive in each leaf, -1 for none, (2**k,) int; places: the leaf of each primitive, (m,) int.
    """

    def __init__(self, centers: np.ndarray) -> None:
        self.leaves = median_split_order(centers)
        self.places = np.zeros(len(centers), int)
        used = np.flatnonzero(self.leaves >= 0)
        self.places[self.leaves[used]] = used

    def refit(
        self, boxes: np.ndarray, members: np.ndarray | None = None, kernels: ModuleType = numpy_kernels
    ) -> FittedBVH:
        """Fit the boxes of all nodes to boxes of the primitives.

        Args:
            boxes: Lower corner and negated upper corner of the box of every primitive, (6, m) [m].
            members: Which primitives take part, (m,) bool; default: all.
            kernels: Module of kernels.
        """
        if members is not None:
            boxes = np.where(members, boxes, np.inf)
        return FittedBVH(kernels, self.leaves, kernels.refit(self.leaves, boxes))

    def update_subset(self, fitted: FittedBVH, primitives: np.ndarray, boxes: np.ndarray) -> FittedBVH:
        """Move the boxes of some primitives (k,) of a tree fitted before to `boxes` (6, k), in place.

        Returns:
            A tree of these primitives alone.
        """
        order = np.argsort(self.places.take(primitives))
        primitives, boxes = primitives[order], boxes[:, order]
        node = len(self.leaves) + self.places[primitives]
        fitted.nodes[:, node] = boxes
        while len(node) and node[0] > 1:
            node = node // 2
            fitted.nodes[:, node] = np.minimum(fitted.nodes[:, 2 * node], fitted.nodes[:, 2 * node + 1])
        leaves = np.full(1 << max(len(primitives) - 1, 0).bit_length(), -1)
        leaves[: len(primitives)] = np.arange(len(primitives))
        nodes = fitted.kernels.refit(leaves, boxes)
        leaves[: len(primitives)] = primitives
        return FittedBVH(fitted.kernels, leaves, nodes)


class FittedBVH:
    """A tree with the boxes that its primitives have at one moment.

    Args:
        kernels: Module of kernels that fitted it.
        leaves: As in the tree.
        nodes: The boxes of all nodes, (6, 2 * leaves); see `kernels.numpy_bvh`.
    """

    def __init__(self, kernels: ModuleType, leaves: np.ndarray, nodes: np.ndarray) -> None:
        self.kernels, self.leaves, self.nodes = kernels, leaves, nodes

    def query_pairs(self, other: FittedBVH) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (primitive of this tree, primitive of the other) whose boxes overlap, (k,) int each.

        With itself, each pair comes once and no (i, i). Which boxes overlap almost, and the order: see the kernel.
        """
        first, second = self.kernels.query_pairs(self.leaves, self.nodes, other.leaves, other.nodes, self is other)
        return first, second


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
