"""Normal cones: which patches of a surface are height fields, see `contact.patches`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Cones(Protocol):
    """Normal cones."""

    def find_flat_patches(
        self, p: np.ndarray, triangles: np.ndarray, leaves: np.ndarray, can_be_flat: np.ndarray, cosine: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """The largest patches whose face normals lie in a cone, top down.

        Args:
            p: Positions, (3, n) [m].
            triangles: (3, t) int.
            leaves: Those of a hierarchy over the triangles, whose first nodes are the patches.
            can_be_flat: Which patches may be chosen, by node, (2 * cells,) bool.
            cosine: Of the half-angle of the cone, around the mean of the unit normals.

        Returns:
            The node that each triangle is in, 0 for none, (t,) int, and the axis of the cone of each triangle, (3, t).
        """

    def outside_cones(self, p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosine: float) -> np.ndarray:
        """Triangles (3, t) whose normals at p (3, n) are farther than a half-angle from axes (3, t), (t,) bool."""
