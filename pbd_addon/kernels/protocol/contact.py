"""Contacts: which there are, how they push and rub.

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


class Contacts(Protocol):
    """Contacts."""

    def cull_pairs(
        self,
        x: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
        primitives: np.ndarray,
        other_primitives: np.ndarray,
        kind: int,
        distance: np.ndarray,
        margin: np.ndarray,
        displacement: np.ndarray,
        drift: np.ndarray,
        same: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pairs of primitives without a common particle that can come closer than their distance.

        Args:
            x: Positions now, (3, n) [m].
            first: Number of the first primitive of each pair, (m,) int.
            second: Number of the second.
            primitives: Particles of the first ones, (1 or 2, i) int: vertices or edges.
            other_primitives: Particles of the second ones, (1 to 3, j) int: vertices, edges or triangles.
            kind: Kind of all pairs.
            distance: To keep in each pair, (m,) [m].
            margin: How far each particle may be from its predicted position, (n,) [m].
            displacement: Predicted for each particle, (3, n) [m].
            drift: How far along each axis the surface of each particle as a whole may be off as well, (n,) [m].
            same: Whether both are one surface, whose vertices move together; else one may move before the other.

        Returns:
            particles, weights, normals and distance of the contacts, in the order of the pairs.
        """

    def separating_planes(
        self,
        p: np.ndarray,
        x: np.ndarray,
        particles: np.ndarray,
        kind: np.ndarray,
        normals: np.ndarray,
        distance: np.ndarray,
        is_exit: np.ndarray,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The plane between the closest points of each contact at p, or at x where it has crossed since.

        normals: of earlier planes, which say on which side a contact is; distance (m,): to keep [m]; is_exit (m,) bool:
        contacts of a vertex on the wrong side of a closed collider, which keep their sign and are always returned.

        Returns:
            Contacts closer than their distance or not apart, (k,) int, their weights (4, k) and normals (3, k).
        """

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

    def project_contacts(
        self,
        p: np.ndarray,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        inverse_masses: np.ndarray,
        target_gap: np.ndarray,
        relaxation: float,
        multipliers: np.ndarray,
    ) -> None:
        """One Jacobi pass over C = n . (sum w_i p_i) - target_gap >= 0, all contacts at once.

        Averaged as in Macklin et al. 2014 (sec. 4.2), but by contact instead of by particle: a contact is weakened by
        the sum of absolute weights of all contacts at its particles. As one multiplier still moves all four of its
        particles, momentum is conserved, which averaging by particle does not do. inverse_masses (4, m); target_gap
        (m,) [m]; multipliers (m,), never below 0.
        """

    def apply_contact_friction(
        self,
        p: np.ndarray,
        x: np.ndarray,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        inverse_masses: np.ndarray,
        static: np.ndarray,
        sliding: np.ndarray,
        multipliers: np.ndarray,
        tangential: np.ndarray,
    ) -> None:
        """One Jacobi pass of Coulomb friction over contacts that push: take back slip, up to friction x multiplier.

        static, sliding (m,): coefficients; tangential (3, m): tangential multipliers, accumulated.
        """
