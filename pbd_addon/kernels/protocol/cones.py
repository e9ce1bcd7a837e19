"""Normals of faces, and cones around them: which pieces of a surface are height fields, see `contact.patches`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Cones(Protocol):
    """Normal cones."""

    def face_normals(self, p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Unit normals of triangles (3, t) int at p (3, n), (3, t); 0 for one without area."""

    def patch_cones(
        self, p: np.ndarray, triangles: np.ndarray, starts: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Cones around the normals of the triangles (3, t) of each patch, which begin at `starts` (k,), at p (3, n).

        Returns:
            Axes, the means of the unit normals, (3, k), and cosines of the half-angles, (k,).
        """

    def outside_cones(self, p: np.ndarray, triangles: np.ndarray, axes: np.ndarray, cosines: np.ndarray) -> np.ndarray:
        """Which triangles (3, t) at p (3, n) have normals outside the cones around axes (3, t), (t,) bool.

        cosines: Of the half-angles of the cones, (t,), each at least 0.
        """
