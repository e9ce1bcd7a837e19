"""Which of many boxes overlap: a binary tree of bounding boxes, and two of them walked at once with whole arrays."""

from __future__ import annotations

import numpy as np

CHUNK = 8192
"""Pairs that are looked at together: arrays of this length stay in the cache."""


class BoxTree:
    """A perfect binary tree over items, whose shape is fixed while their boxes are fitted anew.

    Args:
        centers: Where the items are when the tree is made, (m, 3) [m]. Neighbours then should stay neighbours.
    """

    def __init__(self, centers: np.ndarray) -> None:
        self.leaves = halving_order(centers)
        self._used = np.flatnonzero(self.leaves >= 0)
        self._items = self.leaves[self._used]

    def fitted(self, bounds: np.ndarray, members: np.ndarray | None = None) -> Boxes:
        """The boxes of all nodes, for boxes of the items; about 40 ns an item.

        Args:
            bounds: Lower corner and negated upper corner of the box of every item, (6, m) [m].
            members: Which items take part, (m,) bool; default: all.
        """
        level = np.full((6, len(self.leaves)), np.inf)
        level[:, self._used] = bounds.take(self._items, axis=1)
        if members is not None:
            level[:, self._used[~members[self._items]]] = np.inf
        levels = [level]
        while level.shape[1] > 1:
            level = np.minimum(level[:, 0::2], level[:, 1::2])
            levels.append(level)
        levels.reverse()
        return Boxes(self.leaves, levels)


class Boxes:
    """The boxes of a tree at one moment; `levels` are (6, 2**k) from the root to the leaves."""

    def __init__(self, leaves: np.ndarray, levels: list[np.ndarray]) -> None:
        self.leaves, self.levels = leaves, levels

    def overlaps(self, other: Boxes) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (item of this tree, item of the other) whose boxes overlap; with itself, each pair once and no (i, i).

        About 35 ns for each pair of nodes that is looked at. A box with an infinite corner overlaps nothing.
        """
        found_a, found_b = [], []
        root = np.zeros(1, int)
        waiting = [(0, 0, *_touching(self.levels[0], other.levels[0], root, root))]
        while waiting:
            level_a, level_b, a, b = waiting.pop()
            if len(a) > CHUNK:
                half = len(a) // 2
                waiting += [(level_a, level_b, a[half:], b[half:]), (level_a, level_b, a[:half], b[:half])]
                continue
            left_a, left_b = len(self.levels) - 1 - level_a, len(other.levels) - 1 - level_b
            if not left_a and not left_b:
                if self is other:
                    a, b = a[a < b], b[a < b]
                found_a.append(a)
                found_b.append(b)
                continue
            # The tree with more levels left goes down alone, so that both end together.
            if left_a >= left_b:
                a, b = np.concatenate([2 * a, 2 * a + 1]), np.concatenate([b, b])
                level_a += 1
            if left_b >= left_a:
                a, b = np.concatenate([a, a]), np.concatenate([2 * b, 2 * b + 1])
                level_b += 1
            if self is other:
                upper = a <= b
                a, b = a[upper], b[upper]
            if len(a):
                waiting.append((level_a, level_b, *_touching(self.levels[level_a], other.levels[level_b], a, b)))
        if not found_a:
            return np.zeros(0, int), np.zeros(0, int)
        return self.leaves[np.concatenate(found_a)], other.leaves[np.concatenate(found_b)]


def _touching(of_a: np.ndarray, of_b: np.ndarray, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs (a, b) of nodes whose boxes overlap; the axes one after the other, each on what the last left."""
    for axis in range(3):
        near = of_a[axis].take(a) + of_b[axis + 3].take(b) <= 0.0
        near &= of_a[axis + 3].take(a) + of_b[axis].take(b) <= 0.0
        a, b = a[near], b[near]
    return a, b


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
