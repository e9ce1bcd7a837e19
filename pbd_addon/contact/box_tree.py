"""Which of many boxes overlap: a binary tree of bounding boxes, and two of them walked at once with whole arrays."""

from __future__ import annotations

import numpy as np

CHUNK = 8192
"""Pairs that are looked at together: arrays of this length stay in the cache."""

LAST = (1 << 32) - 1
"""A pair of nodes is one number: the first in the upper half, the second in this lower half."""

STEPS = (1 << 20) - 8
"""Steps into which the space is cut, to compare boxes as integers."""

SPARE = 1 << 62 | 1 << 41 | 1 << 20
"""The unused bit above each of the three coordinates in a word."""

ROOM = SPARE + (STEPS + 2) * (1 << 42 | 1 << 21 | 1)
"""Two boxes touch if the distances of facing sides from the ends of space leave something of this; 2 for rounding."""


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
        width = len(self.leaves)
        nodes = np.full((6, 2 * width), np.inf)
        leaves = nodes[:, width:]
        leaves[:, self._used] = bounds.take(self._items, axis=1)
        if members is not None:
            leaves[:, self._used[~members[self._items]]] = np.inf
        while width > 1:
            below = nodes[:, width : 2 * width]
            width //= 2
            np.minimum(below[:, 0::2], below[:, 1::2], out=nodes[:, width : 2 * width])
        return Boxes(self.leaves, nodes)


class Boxes:
    """The boxes of a tree at one moment.

    Attributes:
        leaves: As in the tree.
        nodes: The box of each node in the form of `BoxTree.fitted`, (6, 2 * leaves): the root is node 1, the children
            of node i are 2 i and 2 i + 1.
    """

    def __init__(self, leaves: np.ndarray, nodes: np.ndarray) -> None:
        self.leaves, self.nodes = leaves, nodes

    def overlaps(self, other: Boxes) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (item of this tree, item of the other) whose boxes overlap; with itself, each pair once and no (i, i).

        Boxes that are up to three millionths of all the space apart may count as well. About 12 ns for each pair of
        nodes that is looked at. A box with an infinite corner overlaps nothing.
        """
        low, room = self._words(other), other._words(self)
        room = ROOM - room[:, ::-1]
        twins = self is other
        levels, other_levels = len(self.leaves).bit_length() - 1, len(other.leaves).bit_length() - 1
        found = []
        waiting = [(levels, other_levels, _touching(low, room, np.array([1 << 32 | 1]), twins))]
        while waiting:
            left, other_left, pairs = waiting.pop()
            if len(pairs) > CHUNK:
                half = len(pairs) // 2
                waiting += [(left, other_left, pairs[half:]), (left, other_left, pairs[:half])]
            elif not left and not other_left:
                found.append(pairs)
            elif len(pairs):
                # The tree with more levels left goes down alone, so that both end together.
                pairs = _children(pairs, left >= other_left, other_left >= left)
                deeper = left - (left >= other_left), other_left - (other_left >= left)
                waiting.append((*deeper, _touching(low, room, pairs, twins)))
        pairs = np.concatenate(found) if found else np.zeros(0, int)
        if twins:
            pairs = pairs[pairs >> 32 != pairs & LAST]
        return self.leaves[(pairs >> 32) - len(self.leaves)], other.leaves[(pairs & LAST) - len(other.leaves)]

    def _words(self, other: Boxes) -> np.ndarray:
        """How far the lower and the upper sides of all boxes are from those of all the space, (nodes, 2) int.

        Three axes in one word, of `STEPS` steps each and with an unused bit above, so that one subtraction does all
        three: where a lower side is not above an upper side, the bit stays set.
        """
        ends = np.minimum(self.nodes[:, 1], other.nodes[:, 1])
        if not np.isfinite(ends).all():
            ends = np.zeros(6)  # two empty trees
        size = -(ends[:3] + ends[3:])
        scale = STEPS / np.maximum(size, max(1e-6 * size.max(), 1e-300))
        places = self.nodes - ends[:, None]
        places *= np.tile(scale, 2)[:, None]
        steps = np.minimum(places, STEPS + 4.0, out=places).astype(np.int64)
        words = steps[0::3] << 42
        words |= steps[1::3] << 21
        words |= steps[2::3]
        return np.ascontiguousarray(words.T)


def _children(pairs: np.ndarray, of_first: bool, of_second: bool) -> np.ndarray:
    """The pairs of the children of both nodes, or of one node with the children of the other."""
    step = np.array([[0]])
    if of_first:
        pairs = pairs + (pairs & ~LAST)
        step = step + np.array([[0], [1 << 32]])
    if of_second:
        pairs = pairs + (pairs & LAST)
        step = (step + np.array([0, 1])).reshape(-1, 1)
    return (pairs + step).ravel()


def _touching(low: np.ndarray, room: np.ndarray, pairs: np.ndarray, twins: bool) -> np.ndarray:
    """The pairs of nodes, the first in the upper half of the number, whose boxes overlap."""
    first, second = pairs >> 32, pairs & LAST
    free = room.take(second, axis=0)
    free -= low.take(first, axis=0)
    free &= SPARE
    touching = (free == SPARE).view(np.int16)[:, 0] == 0x0101
    if twins:
        touching &= first <= second
    return pairs[touching]


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
