"""Normals of faces, and cones around them: which pieces of a surface are height fields, see `contact.patches`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Cones(Protocol):
    """Normal cones."""

    def fold_cosines(self, p: np.ndarray, triangles: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """Cosines of the angles between the normals of triangles `left` (k,) and `right` (k,) at p (3, n), (k,).

        triangles: (3, t) int. The cosine is 0 with a triangle without area, and -1 where `right` is negative.
        """

    def patch_cones(self, p: np.ndarray, triangles: np.ndarray, starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Cones around the normals of the triangles (3, t) of each patch, which begin at `starts` (k,), at p (3, n).

        Returns:
            Axes, the means of the unit normals, (3, k), and cosines of the half-angles, (k,).
        """

    def outside_cones(self, p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosines: np.ndarray) -> np.ndarray:
        """Which triangles (3, t) at p (3, n) have normals outside the cones around axes (3, t), (t,) bool.

        cosines: Of the half-angles of the cones, (t,), each at least 0.
        """
