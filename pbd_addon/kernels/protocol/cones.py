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
            leaves: Leaves of a hierarchy over the triangles, whose first nodes are the patches.
            can_be_flat: Which patches may be chosen, by node, (2 * cells,) bool.
            cosine: Cosine of the half-angle of the cone, whose axis is the mean of the unit normals.

        Returns:
            The node of each triangle's patch, 0 for none, (t,) int, and the axis of its cone, (3, t).
        """

    def outside_cones(self, p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosine: float) -> np.ndarray:
        """Which triangles (3, t) at p (3, n) have normals outside the cones around axes (3, t), (t,) bool."""
