"""Which of many boxes overlap: a binary tree of bounding boxes over items."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import numpy as np

from ..kernels import numpy_kernels
from ..kernels.numpy_boxes import LAST, children_of


class BoxTree:
    """A perfect binary tree over items, whose shape is fixed while their boxes are fitted anew.

    Args:
        centers: Where the items are when the tree is made, (m, 3) [m]. Neighbours then should stay neighbours.
    """

    def __init__(self, centers: np.ndarray) -> None:
        self.leaves = halving_order(centers)
        self.items = len(centers)

    def fitted(
        self, bounds: np.ndarray, members: np.ndarray | None = None, kernels: ModuleType = numpy_kernels
    ) -> Boxes:
        """The boxes of all nodes, for boxes of the items.

        Args:
            bounds: Lower corner and negated upper corner of the box of every item, (6, m) [m], or of boxes that move
                (12, m): see `kernels.numpy_boxes`.
            members: Which items take part, (m,) bool; default: all.
            kernels: Module of kernels.
        """
        if members is not None:
            bounds = np.where(members, bounds, np.inf)
        return Boxes(kernels, self.leaves, kernels.fit_boxes(self.leaves, bounds))


class Boxes:
    """The boxes of a tree at one moment, or on their way.

    Args:
        kernels: Module of kernels that made the nodes.
        leaves: As in the tree.
        nodes: The boxes of all nodes, (6 or 12, 2 * leaves); see `kernels.numpy_boxes`.
    """

    def __init__(self, kernels: ModuleType, leaves: np.ndarray, nodes: np.ndarray) -> None:
        self._kernels, self.leaves, self.nodes = kernels, leaves, nodes

    def overlaps(self, other: Boxes, walk: Walk | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (item of this tree, item of the other) whose boxes overlap; with itself, each pair once and no (i, i).

        Which boxes overlap almost, and the order: see the kernel. walk: where to begin, by default at the roots.
        """
        starts, counts = walk or whole_walk(self.leaves, other.leaves)
        first, second = self._kernels.overlaps(
            self.leaves, self.nodes, other.leaves, other.nodes, self is other, starts, counts
        )
        return first, second


class Walk(NamedTuple):
    """Pairs of nodes of two trees at which a walk down both begins; no pair of items is below two of them.

    Attributes:
        starts: The first node in the upper 32 bits, the second in the lower, step by step, (f,) int64.
        counts: How many are in each step from the roots to the leaves, (steps,) int64.
    """

    starts: np.ndarray
    counts: np.ndarray


def whole_walk(leaves: np.ndarray, other_leaves: np.ndarray) -> Walk:
    """From the roots."""
    counts = np.zeros(max(len(leaves), len(other_leaves)).bit_length(), np.int64)
    counts[0] = 1
    return Walk(np.array([1 << 32 | 1]), counts)


def walk_without(tree: BoxTree, other: BoxTree, first: np.ndarray, second: np.ndarray) -> Walk:
    """The walk down two trees that leaves out pairs of items (first[i], second[i]), (k,) int each.

    Nodes over a pair that is left out need no look at their boxes to be opened, so that the walk begins at those
    below them that are over none. With itself, a tree leaves out (i, i) and (i, j) with (j, i).
    """
    twins = tree is other
    place, other_place = np.argsort(tree.leaves, kind="stable"), np.argsort(other.leaves, kind="stable")
    place, other_place = place[-tree.items :] + len(tree.leaves), other_place[-other.items :] + len(other.leaves)
    one, two = place[first], other_place[second]
    if twins:
        each = np.arange(len(tree.leaves), 2 * len(tree.leaves))
        one, two = np.concatenate([np.minimum(one, two), each]), np.concatenate([np.maximum(one, two), each])
    depth, other_depth = len(tree.leaves).bit_length() - 1, len(other.leaves).bit_length() - 1
    parts = []
    over = np.unique(one << 32 | two)
    for step in range(max(depth, other_depth), 0, -1):
        # The deeper tree goes down alone at first, so that both end together.
        of_first, of_second = step > max(other_depth - depth, 0), step > max(depth - other_depth, 0)
        parents = np.unique(over >> 32 + int(of_first) << 32 | (over & LAST) >> int(of_second))
        children = children_of(parents, of_first, of_second)
        if twins:
            children = children[children >> 32 <= children & LAST]
        parts.append(np.setdiff1d(children, over, assume_unique=True))
        over = parents
    parts.append(np.setdiff1d(np.array([1 << 32 | 1]), over))
    return Walk(np.concatenate(parts[::-1]), np.array([len(part) for part in parts[::-1]]))


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
