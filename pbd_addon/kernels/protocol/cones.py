"""Normals of faces, and cones around them: which pieces of a surface are height fields, see `contact.patches`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Cones(Protocol):
    """Normals and cones. Common arguments: positions p (3, n) [m] and triangles (3, t) int32."""

    def unit_normals(self, p: np.ndarray, triangles: np.ndarray) -> np.ndarray:
        """Unit normals of triangles, (3, t); 0 for one without area."""

    def normal_cones(
        self,
        normals: np.ndarray,
        starts: np.ndarray,
        member_starts: np.ndarray,
        members: np.ndarray,
        is_wanted: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Cones around the normals of patches and of their neighborhoods; axes are the middles of boxes around normals.

        Of an arc, that is the middle, wherever most of its normals are. A neighborhood's half-angle is a bound: the
        most of the angle to the axis of a member and of that member's half-angle.

        Args:
            normals: Unit normals of triangles patch by patch, (3, t).
            starts: Where the triangles of each patch begin, and their number, (k + 1,) int32.
            member_starts: Where the members of each neighborhood begin, and their number, (k + 1,) int32.
            members: The patches of each neighborhood, (m,) int32.
            is_wanted: Which neighborhoods are wanted, (k,) bool; angles of others, and of what is in none, are 2 π.

        Returns:
            Half-angles of patches and of neighborhoods, (2, k) [rad], axes of patches, (3, k), and the angle between
            the axis of each neighborhood and that of each of its members, (m,) [rad].
        """

    def outside_cones(
        self,
        p: np.ndarray,
        triangles: np.ndarray,
        first: np.ndarray,
        stop: np.ndarray,
        axes: np.ndarray,
        cosines: np.ndarray,
    ) -> np.ndarray:
        """Which patches (k,) have a triangle with a normal outside the cone around their axis (3, k), (k,) bool.

        first, stop: where the triangles of each begin and end, (k,) int32; one patch may hold another.
        cosines: of the half-angles of the cones, (k,), each at least 0.
        """
