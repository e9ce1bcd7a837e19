"""Bounding volume hierarchies: refitted to new boxes, and queried against each other.

A tree is perfect and binary: its root is node 1, the children of node i are 2 i and 2 i + 1. Common arguments:

    leaves: The primitive in each leaf, -1 for none, (2**k,) int.
    nodes: Lower corner and negated upper corner of the box of each node, (6, 2 * 2**k) float64 [m]; inf for nothing.
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
        """Boxes of primitives (k, m) with particles between low and high, (3, n) [m], in the form of `nodes`, (6, m).

        margin (m,): added on every side [m].
        """

    def refit(self, leaves: np.ndarray, bounds: np.ndarray, nodes: np.ndarray) -> None:
        """The boxes of all `nodes` for those of the primitives, (6, m) in their form; NumPy takes 40 ns each."""

    def query_pairs(
        self,
        leaves: np.ndarray,
        nodes: np.ndarray,
        other_leaves: np.ndarray,
        other_nodes: np.ndarray,
        is_self: bool,
        is_flat: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs (primitive of a tree, primitive of another) whose boxes overlap, in any order; (k,) int each.

        With is_self the trees are the same: each pair comes once and no (i, i). Boxes that are up to three millionths
        of all the space apart may count as well. NumPy takes about 12 ns for each pair of nodes visited. A box with an
        infinite corner overlaps nothing.

        is_flat: Nodes that are left out with the node of the same number of the other tree, (k,) bool: of all nodes, or
            only of the first ones. Both trees then have the same number of leaves.
        """
