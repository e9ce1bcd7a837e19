"""Closest points: where the sides of contacts are nearest, and what lies between them.

A contact ties four particles: a vertex and the corners of a triangle, or the ends of two edges (Provot 1997; Bridson,
Fedkiw & Anderson 2002). Common arguments:

    p, x: Positions now and at the beginning of the substep, (3, n) float64 [m], C-contiguous.
    particles: Those of each contact, (4, m) int.
    kind: `FACE`, `EDGES` or `POINTS`, (m,) int8.
    weights: Barycentric weights of the closest points, (4, m) float64: 1 in sum on the first side, -1 on the second.
    normals: Unit vectors from the second side to the first, (3, m) float64.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Closest(Protocol):
    """Closest points, and planes between sides."""

    def closest_points(
        self, p: np.ndarray, particles: np.ndarray, kind: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weights of the closest points of each contact, (4, m), their distances (m,) [m], and normals (3, m).

        A normal is 0 where the points coincide.
        """

    def clearances(self, p: np.ndarray, particles: np.ndarray, normals: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """How far the sides of each contact are apart along its normal, (m,) [m].

        Above 0 the plane lies between them: they do not cross.
        """

    def heights(self, p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Positions of the particles (4, m) of each contact along its normal, (4, m) [m]."""

    def gaps(self, p: np.ndarray, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Gaps n . (sum w_i p_i) of contacts, (m,) [m]."""

    def unseparated(
        self,
        p: np.ndarray,
        x: np.ndarray,
        particles: np.ndarray,
        normals: np.ndarray,
        kind: np.ndarray,
        which: np.ndarray,
        at_p: bool,
    ) -> np.ndarray:
        """Those of the contacts `which` (k,) int whose sides are not apart at both x and p along one direction.

        It is their normal or, if `at_p`, else that between the closest points at p; (j,) int.
        """
