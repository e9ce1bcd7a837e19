"""Trees of bounding boxes in NumPy: fitted to new boxes, and two of them walked at once with whole arrays.

A tree is perfect and binary: its root is node 1, the children of node i are 2 i and 2 i + 1. Common arguments:

    leaves: The item in each leaf, -1 for none, (2**k,) int.
    nodes: Lower corner and negated upper corner of the box of each node, (6, 2 * 2**k) float64 [m]; inf for nothing.
        Or of boxes that move: those at the beginning, then those at the end, (12, 2 * 2**k).
"""

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


def bounds_of(low: np.ndarray, high: np.ndarray, items: np.ndarray, margin: np.ndarray) -> np.ndarray:
    """Boxes of items (k, m) whose particles are between low and high, in the form of `nodes`, (6, m) or (12, m).

    low, high: (3, n) [m], or of boxes that move (6, n), at the beginning and at the end.
    margin (m,): added on every side [m].
    """
    lowest, highest = low.take(items, axis=1).min(axis=1), high.take(items, axis=1).max(axis=1)
    lowest -= margin
    highest += margin
    np.negative(highest, out=highest)
    if len(low) == 3:
        return np.concatenate([lowest, highest])
    return np.concatenate([lowest[:3], highest[:3], lowest[3:], highest[3:]])


def fit_boxes(leaves: np.ndarray, bounds: np.ndarray) -> np.ndarray:
    """The boxes of all nodes for those of the items, (6 or 12, m) in the form of `nodes`; about 40 ns an item and six.

    A box of a node that moves straight holds those below it all the time, as the least of numbers that change evenly
    is never below what changes evenly from the least at the beginning to the least at the end.
    """
    width = len(leaves)
    nodes = np.full((len(bounds), 2 * width), np.inf)
    used = np.flatnonzero(leaves >= 0)
    nodes[:, width + used] = bounds.take(leaves[used], axis=1)
    while width > 1:
        below = nodes[:, width : 2 * width]
        width //= 2
        np.minimum(below[:, 0::2], below[:, 1::2], out=nodes[:, width : 2 * width])
    return nodes


def overlaps(
    leaves: np.ndarray,
    nodes: np.ndarray,
    other_leaves: np.ndarray,
    other_nodes: np.ndarray,
    twins: bool,
    starts: np.ndarray,
    counts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (item of a tree, item of another) whose boxes overlap, in any order; (k,) int each.

    With twins the trees are the same: each pair comes once and no (i, i). Boxes that are up to three millionths of
    all the space apart may count as well. About 12 ns for each pair of nodes that is looked at, or 20 if they move. A
    box with an infinite corner overlaps nothing. Boxes that move count if each side of one is beyond the facing side
    of the other at the beginning or at the end; as both sides go straight, others never overlap.

    starts (f,): pairs of nodes, as `LAST` says, at which the walk begins and goes down; counts (steps,): how many of
    them are in each step from the roots to the leaves.
    """
    both = np.minimum(nodes[:, 1], other_nodes[:, 1]).reshape(-1, 6).min(axis=0)
    low = np.concatenate([_words(moment, both) for moment in nodes.reshape(-1, 6, nodes.shape[1])], axis=1)
    room = low
    if not twins:
        moments = other_nodes.reshape(-1, 6, other_nodes.shape[1])
        room = np.concatenate([_words(moment, both) for moment in moments], axis=1)
    room = ROOM - room[:, [1, 0, 3, 2][: room.shape[1]]]
    left, other_left = len(leaves).bit_length() - 1, len(other_leaves).bit_length() - 1
    pairs, begun, fan = np.zeros(0, np.int64), 0, (False, False)
    for count in counts.tolist():
        of_first, of_second = left >= other_left, other_left >= left
        todo = [pairs[start : start + CHUNK] for start in range(0, len(pairs), CHUNK)]
        found = [_touching(low, room, children_of(some, *fan), twins) for some in todo]
        found += [
            _touching(low, room, starts[start : min(start + CHUNK, begun + count)], twins)
            for start in range(begun, begun + count, CHUNK)
        ]
        pairs, begun = np.concatenate(found) if found else pairs[:0], begun + count
        # The tree with more levels left goes down alone, so that both end together.
        fan = of_first, of_second
        left, other_left = left - of_first, other_left - of_second
    if twins:
        pairs = pairs[pairs >> 32 != pairs & LAST]
    return leaves[(pairs >> 32) - len(leaves)], other_leaves[(pairs & LAST) - len(other_leaves)]


def _words(nodes: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """How far the lower and the upper sides of all boxes are from the ends (6,) of all the space, (nodes, 2) int.

    Three axes in one word, of `STEPS` steps each and with an unused bit above, so that one subtraction does all
    three: where a lower side is not above an upper side, the bit stays set.
    """
    if not np.isfinite(ends).all():
        ends = np.zeros(6)  # two empty trees
    size = -(ends[:3] + ends[3:])
    scale = STEPS / np.maximum(size, max(1e-6 * size.max(), 1e-300))
    places = nodes - ends[:, None]
    places *= np.tile(scale, 2)[:, None]
    steps = np.minimum(places, STEPS + 4.0, out=places).astype(np.int64)
    words = steps[0::3] << 42
    words |= steps[1::3] << 21
    words |= steps[2::3]
    return np.ascontiguousarray(words.T)


def children_of(pairs: np.ndarray, of_first: bool, of_second: bool) -> np.ndarray:
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
    if free.shape[1] == 4:
        free = free[:, :2] | free[:, 2:]
    free &= SPARE
    touching = (free == SPARE).view(np.int16)[:, 0] == 0x0101
    if twins:
        touching &= first <= second
    return pairs[touching]
