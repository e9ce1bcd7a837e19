"""Which of many boxes overlap: a binary tree of bounding boxes over items."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ..kernels import numpy_kernels


class BoxTree:
    """A perfect binary tree over items, whose shape is fixed while their boxes are fitted anew.

    Args:
        centers: Where the items are when the tree is made, (m, 3) [m]. Neighbours then should stay neighbours.

    Attributes:
        leaves: The item in each leaf, -1 for none, (2**k,) int; places: the leaf of each item, (m,) int.
    """

    def __init__(self, centers: np.ndarray) -> None:
        self.leaves = halving_order(centers)
        self.places = np.zeros(len(centers), int)
        used = np.flatnonzero(self.leaves >= 0)
        self.places[self.leaves[used]] = used

    def fitted(
        self, bounds: np.ndarray, members: np.ndarray | None = None, kernels: ModuleType = numpy_kernels
    ) -> Boxes:
        """The boxes of all nodes, for boxes of the items.

        Args:
            bounds: Lower corner and negated upper corner of the box of every item, (6, m) [m].
            members: Which items take part, (m,) bool; default: all.
            kernels: Module of kernels.
        """
        if members is not None:
            bounds = np.where(members, bounds, np.inf)
        return Boxes(kernels, self.leaves, kernels.fit_boxes(self.leaves, bounds))

    def amended(self, boxes: Boxes, items: np.ndarray, bounds: np.ndarray) -> Boxes:
        """Put some items (k,) of the boxes of this tree elsewhere, bounds (6, k), and give the boxes of these alone."""
        order = np.argsort(self.places.take(items))
        items, bounds = items[order], bounds[:, order]
        node = len(self.leaves) + self.places[items]
        boxes.nodes[:, node] = bounds
        while len(node) and node[0] > 1:
            node = node // 2
            boxes.nodes[:, node] = np.minimum(boxes.nodes[:, 2 * node], boxes.nodes[:, 2 * node + 1])
        leaves = np.full(1 << max(len(items) - 1, 0).bit_length(), -1)
        leaves[: len(items)] = np.arange(len(items))
        nodes = boxes.kernels.fit_boxes(leaves, bounds)
        leaves[: len(items)] = items
        return Boxes(boxes.kernels, leaves, nodes)


class Boxes:
    """The boxes of a tree at one moment.

    Args:
        kernels: Module of kernels that made the nodes.
        leaves: As in the tree.
        nodes: The boxes of all nodes, (6, 2 * leaves); see `kernels.numpy_boxes`.
    """

    def __init__(self, kernels: ModuleType, leaves: np.ndarray, nodes: np.ndarray) -> None:
        self.kernels, self.leaves, self.nodes = kernels, leaves, nodes

    def overlaps(self, other: Boxes) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (item of this tree, item of the other) whose boxes overlap; with itself, each pair once and no (i, i).

        Which boxes overlap almost, and the order: see the kernel.
        """
        first, second = self.kernels.overlaps(self.leaves, self.nodes, other.leaves, other.nodes, self is other)
        return first, second


def halving_order(points: np.ndarray) -> np.ndarray:
    """Items in the leaves of a tree that halves points (m, 3) along the longest side of their box, again and again.

    Returns:
        The item of each leaf, -1 for none, (2**k,) int with the least 2**k >= m.
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
