"""Bounding volume hierarchies in NumPy, level by level. `nodes` hold one side of all boxes after the other."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .layout import CHUNK

NODE_ORDER: Literal["C", "F"] = "C"
"""Memory layout of `nodes`: here level by level one side after the other, with Numba one node after the other."""

LAST = (1 << 32) - 1
"""A pair of nodes is one number: the first in the upper half, the second in this lower half."""

STEPS = (1 << 20) - 8
"""Steps into which the space is cut, to compare boxes as integers."""

SPARE = 1 << 62 | 1 << 41 | 1 << 20
"""The unused bit above each of the three coordinates in a word."""

ROOM = SPARE + (STEPS + 2) * (1 << 42 | 1 << 21 | 1)
"""Two boxes touch if the distances of facing sides from the ends of space leave something of this; 2 for rounding."""


def primitive_bounds(low: np.ndarray, high: np.ndarray, primitives: np.ndarray, margin: np.ndarray) -> np.ndarray:
    lowest, highest = low.take(primitives, axis=1).min(axis=1), high.take(primitives, axis=1).max(axis=1)
    return np.concatenate([lowest - margin, -(highest + margin)])


def deviations(
    p: np.ndarray,
    start: np.ndarray,
    step: np.ndarray,
    owner: np.ndarray,
    counts: np.ndarray,
    steps: np.ndarray,
    origin: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    begins, sums = np.flatnonzero(np.diff(owner, prepend=-1)), np.zeros_like(origin)
    if len(begins):
        sums[:, owner[begins]] = np.add.reduceat(p, begins, axis=1)
    drift = sums / counts - origin
    error = p - start
    error -= drift.take(owner, axis=1)
    error -= steps.take(owner) * step
    return np.einsum("im,im->m", error, error), drift


def refit(leaves: np.ndarray, bounds: np.ndarray, nodes: np.ndarray) -> None:
    width = len(leaves)
    nodes[:] = np.inf
    used = np.flatnonzero(leaves >= 0)
    nodes[:, width + used] = bounds.take(leaves[used], axis=1)
    while width > 1:
        below = nodes[:, width : 2 * width]
        width //= 2
        np.minimum(below[:, 0::2], below[:, 1::2], out=nodes[:, width : 2 * width])


def query_pairs(
    leaves: np.ndarray,
    nodes: np.ndarray,
    other_leaves: np.ndarray,
    other_nodes: np.ndarray,
    is_self: bool,
    roots: np.ndarray,
    is_flat: np.ndarray,
    first_neighbors: np.ndarray,
    neighbors: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    if not roots.size:
        return np.zeros(0, int), np.zeros(0, int)
    tops = nodes.take(roots[0], axis=1).min(axis=1), other_nodes.take(roots[1], axis=1).min(axis=1)
    ends = np.minimum(*tops)
    low = _words(nodes, ends)
    room = low if is_self else _words(other_nodes, ends)
    room = ROOM - room[:, ::-1]
    levels, other_levels = (
        ((len(each) - 1) // int(root)).bit_length() for each, root in zip((leaves, other_leaves), roots[:, 0])
    )

    def meeting(pairs: np.ndarray) -> np.ndarray:
        pairs = _touching(low, room, pairs, is_self)
        return pairs[~_are_flat(pairs, is_flat, first_neighbors, neighbors)] if is_flat.size else pairs

    found = []
    waiting = [(levels, other_levels, meeting(roots[0] << 32 | roots[1]))]
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
            waiting.append((*deeper, meeting(pairs)))
    pairs = np.concatenate(found) if found else np.zeros(0, int)
    if is_self and not is_flat.size:
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
    words = np.empty((nodes.shape[1], 2), np.int64)
    for start in range(0, len(words), CHUNK):
        places = nodes[:, start : start + CHUNK] - ends[:, None]
        places *= np.tile(scale, 2)[:, None]
        steps = np.minimum(places, STEPS + 4.0, out=places).astype(np.int64)
        words[start : start + CHUNK] = (steps[0::3] << 42 | steps[1::3] << 21 | steps[2::3]).T
    return words


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


def _touching(low: np.ndarray, room: np.ndarray, pairs: np.ndarray, is_self: bool) -> np.ndarray:
    """The pairs of nodes, the first in the upper half of the number, whose boxes overlap; see `query_pairs`."""
    first, second = pairs >> 32, pairs & LAST
    free = room.take(second, axis=0)
    free -= low.take(first, axis=0)
    free &= SPARE
    touching = (free == SPARE).view(np.int16)[:, 0] == 0x0101
    if is_self:
        touching &= first <= second
    return pairs[touching]


def _are_flat(pairs: np.ndarray, is_flat: np.ndarray, first_neighbors: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """Which pairs of nodes are not tested, as `query_pairs` says, (k,) bool."""
    first, second = pairs >> 32, pairs & LAST
    is_own = first == second
    are_flat = is_own & is_flat[0].take(first)
    some = np.flatnonzero(~is_own & (is_flat[1].take(first) | is_flat[1].take(second)))
    if len(some):
        begins = first_neighbors.take(first[some])
        sizes = first_neighbors.take(first[some] + 1) - begins
        places = np.cumsum(sizes) - sizes
        rows = np.arange(sizes.sum()) + (begins - places).repeat(sizes)
        are_flat[some] = np.logical_or.reduceat(neighbors.take(rows) == second[some].repeat(sizes), places)
    return np.asarray(are_flat)
