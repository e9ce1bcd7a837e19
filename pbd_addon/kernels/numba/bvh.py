"""Bounding volume hierarchies compiled by Numba. The six numbers of a node lie together.

Boxes are compared as they are, so that none counts that only almost overlaps.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .compile import helper, kernel

NODE_ORDER: Literal["C", "F"] = "F"


@kernel("f8[:,::1](f8[:,:], f8[:,:], i8[:,:], f8[:])")
def primitive_bounds(low: np.ndarray, high: np.ndarray, primitives: np.ndarray, margin: np.ndarray) -> np.ndarray:
    bounds = np.empty((6, primitives.shape[1]))
    for axis in range(3):
        for primitive in range(primitives.shape[1]):
            i = np.uint64(primitives[0, primitive])
            lowest, highest = low[axis, i], high[axis, i]
            for corner in range(1, len(primitives)):
                i = np.uint64(primitives[corner, primitive])
                lowest, highest = min(lowest, low[axis, i]), max(highest, high[axis, i])
            bounds[axis, primitive], bounds[3 + axis, primitive] = (
                lowest - margin[primitive],
                -(highest + margin[primitive]),
            )
    return bounds


@kernel("Tuple((f8[::1], f8[:,::1]))(f8[:,:], f8[:,:], f8[:,:], i8[:], i8[:], f8[:], f8[:,:])")
def deviations(
    p: np.ndarray,
    start: np.ndarray,
    step: np.ndarray,
    owner: np.ndarray,
    counts: np.ndarray,
    steps: np.ndarray,
    origin: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    squares, drift = np.empty(p.shape[1]), np.zeros((3, len(counts)))
    for axis in range(3):
        for i in range(len(squares)):
            drift[axis, np.uint64(owner[i])] += p[axis, i]
        for surface in range(len(counts)):
            drift[axis, surface] = drift[axis, surface] / counts[surface] - origin[axis, surface]
    for i in range(len(squares)):
        k = np.uint64(owner[i])
        x = p[0, i] - start[0, i] - drift[0, k] - steps[k] * step[0, i]
        y = p[1, i] - start[1, i] - drift[1, k] - steps[k] * step[1, i]
        z = p[2, i] - start[2, i] - drift[2, k] - steps[k] * step[2, i]
        squares[i] = x * x + y * y + z * z
    return squares, drift


@kernel("void(i8[::1], f8[:,::1], f8[::1,:])")
def refit(leaves: np.ndarray, bounds: np.ndarray, nodes: np.ndarray) -> None:
    width = len(leaves)
    boxes = nodes.T
    boxes[0] = np.inf
    for leaf in range(width):
        node, primitive = np.uint64(width + leaf), leaves[leaf]
        for side in range(6):
            boxes[node, side] = bounds[side, np.uint64(primitive)] if primitive >= 0 else np.inf
    for parent in range(width - 1, 0, -1):
        node, one, other = np.uint64(parent), np.uint64(2 * parent), np.uint64(2 * parent + 1)
        for side in range(6):
            boxes[node, side] = min(boxes[one, side], boxes[other, side])


@helper
def _meet(boxes: np.ndarray, node: int, other_boxes: np.ndarray, other_node: int) -> bool:
    i, j = np.uint64(node), np.uint64(other_node)
    return (
        (boxes[i, 0] <= -other_boxes[j, 3])
        & (boxes[i, 1] <= -other_boxes[j, 4])
        & (boxes[i, 2] <= -other_boxes[j, 5])
        & (other_boxes[j, 0] <= -boxes[i, 3])
        & (other_boxes[j, 1] <= -boxes[i, 4])
        & (other_boxes[j, 2] <= -boxes[i, 5])
    )


@helper
def _are_flat(one: int, other: int, is_flat: np.ndarray, first_neighbors: np.ndarray, neighbors: np.ndarray) -> bool:
    i, j = np.uint64(one), np.uint64(other)
    if i == j:
        return is_flat[0, i]
    if is_flat[1, i] | is_flat[1, j]:
        for k in range(first_neighbors[i], first_neighbors[i + np.uint64(1)]):
            if neighbors[k] == other:
                return True
    return False


@kernel("Tuple((i8[::1], i8[::1]))(i8[::1], f8[::1,:], i8[::1], f8[::1,:], b1, i8[:,:], b1[:,::1], i4[::1], i4[::1])")
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
    boxes, other_boxes = nodes.T, other_nodes.T
    some_are_flat = is_flat.size > 0
    pairs, count = np.empty((2, roots.shape[1]), np.int64), 0
    for k in range(roots.shape[1]):
        if _meet(boxes, roots[0, k], other_boxes, roots[1, k]) and not (
            some_are_flat and _are_flat(roots[0, k], roots[1, k], is_flat, first_neighbors, neighbors)
        ):
            pairs[0, count], pairs[1, count] = roots[0, k], roots[1, k]
            count += 1
    below, other_below = 1, 1  # leaves below each node of the level
    if count:
        while pairs[0, 0] * below < len(leaves):
            below *= 2
        while pairs[1, 0] * other_below < len(other_leaves):
            other_below *= 2
    while below > 1 or other_below > 1:
        # The tree with more levels left goes down alone, so that both end together.
        fan, other_fan = 1 + (below >= other_below), 1 + (other_below >= below)
        deeper, many = np.empty((2, fan * other_fan * count + 1), np.int64), 0
        for k in range(count):
            for node in range(fan * pairs[0, k], fan * pairs[0, k] + fan):
                for other_node in range(other_fan * pairs[1, k], other_fan * pairs[1, k] + other_fan):
                    # Written first and then counted or not: to guess which is slower.
                    deeper[0, many], deeper[1, many] = node, other_node
                    meet = _meet(boxes, node, other_boxes, other_node) & (not is_self or node <= other_node)
                    if some_are_flat and meet:
                        meet = not _are_flat(node, other_node, is_flat, first_neighbors, neighbors)
                    many += meet
        pairs, count = deeper, many
        below, other_below = below // fan, other_below // other_fan
    first, second, many = np.empty(count, np.int64), np.empty(count, np.int64), 0
    for k in range(count):
        if not is_self or some_are_flat or pairs[0, k] != pairs[1, k]:
            first[many] = leaves[pairs[0, k] - len(leaves)]
            second[many] = other_leaves[pairs[1, k] - len(other_leaves)]
            many += 1
    return first[:many], second[:many]
