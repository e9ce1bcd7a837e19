"""Bounding volume hierarchies: refitted to new boxes, and queried against each other.

Trees are perfect and binary: the root is node 1, the children of node i are 2 i and 2 i + 1. Common arguments:

    leaves: The primitive in each leaf, -1 for none, (2**k,) int.
    nodes: Lower corner and negated upper corner of the box of each node, (6, 2 * leaves) float64 [m]; inf for nothing.
"""

from __future__ import annotations

from typing import Literal, Protocol

import numpy as np


class Hierarchies(Protocol):
    """Bounding volume hierarchies.

    Attributes:
        NODE_ORDER: Memory layout of `nodes`.
    """

    NODE_ORDER: Literal["C", "F"]

    def primitive_bounds(
        self, low: np.ndarray, high: np.ndarray, primitives: np.ndarray, margin: np.ndarray
    ) -> np.ndarray:
        """Boxes (6, m), in the form of `nodes`, of primitives (k, m) with particles between low and high, (3, n) [m].

        margin (m,): added on every side [m].
        """

    def deviations(
        self,
        p: np.ndarray,
        start: np.ndarray,
        step: np.ndarray,
        owner: np.ndarray,
        counts: np.ndarray,
        steps: np.ndarray,
        origin: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """How far particles are from where they were to be, but for the drift of their surface as a whole.

        Args:
            p: Positions, (3, n) [m].
            start: Where they began, (3, n) [m].
            step: How far they were to go in a step, (3, n) [m].
            owner: Surface of each particle, (n,) int; those of one follow each other.
            counts: How many particles each surface has, at least 1, (k,) int.
            steps: Steps since the beginning, of each surface, (k,).
            origin: Mean of each surface at the beginning, (3, k) [m].

        Returns:
            Squared distances from start + drift + steps * step, (n,) [m²], and the drift of each mean, (3, k) [m].
        """

    def refit(self, leaves: np.ndarray, bounds: np.ndarray, nodes: np.ndarray) -> None:
        """Compute the boxes of all `nodes` from those of the primitives, (6, m); NumPy takes 40 ns each."""

    def query_pairs(
        self,
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
        """Pairs (primitive of a tree, primitive of another) whose boxes overlap, in any order; (k,) int each.

        With is_self both trees are the same; each pair occurs once, and (i, i) only where `is_flat` says something of
        nodes, and not that of i. Boxes that are apart by up to three millionths of the whole extent may be included.
        NumPy takes about 12 ns per visited pair of nodes. A box with an infinite corner overlaps nothing.

        Args:
            leaves: Of one tree.
            nodes: Its boxes.
            other_leaves: Of the other tree.
            other_nodes: Its boxes.
            is_self: Whether they are the same.
            roots: Nodes that are tested first, with what is below them, (2, k) int64: all those of one tree on one
                level.
            is_flat: Which nodes are not tested with themselves, and which not with their neighbors, nor what is below,
                (2, 2 * leaves) bool; (2, 0) for none. With it both trees differ in their boxes alone.
            first_neighbors: Where the neighbors of each node begin, and how many there are, (nodes + 1,) int32.
            neighbors: Neighbors of each node, among them itself, (m,) int32.
        """
