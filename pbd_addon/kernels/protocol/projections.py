"""Projections row by row, and their geometry. Common arguments:

p: Predicted positions, (3, n) float64 [m]; changed in place. Packed, see `packing`, of distances, isometric hinges,
    tethers and chains.
x: Positions at the beginning of the substep, (3, n) float64 [m]; read for damping and friction.
layouts: Orders of the particles of wide colors, see `numpy.layout`; not used by Numba.
weights: Inverse masses of every row's particles, (k, m) float64 [1/kg]. Packed particles have their own, so that Numba
    does not read those of distances and tethers, nor the leverage of hinges.
alpha: Compliance over squared substep, in the constraint's own units over kg, (m,) float64.
gamma: Damping time over substep, (m,) float64 [1], or (0,) for none (Macklin et al. 2016, eq. 26).
k: Relaxation of each row: 1 for XPBD, k' of Müller et al. 2007 for PBD, (m,) float64.
scale: Factor from a residual to a step, if it does not depend on positions: -k / ((1 + gamma) g W g + alpha) with the
    gradient g, (m,) float64.
indices: Particles of every row, (k, m) in `INDEX` and `ORDER`, where nothing else is said.
multipliers: Lagrange multipliers of this substep; accumulated in place.

Where only one pass a substep is made, and nothing asks for its multipliers, distances and isometric hinges may have
none, (0,) or (3, 0): they count as 0 and are not written.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Projections(Protocol):
    """Springs, hinges, volumes, pins, tethers and planes."""

    def project_distance(
        self,
        p: np.ndarray,
        x: np.ndarray,
        indices: np.ndarray,
        starts: np.ndarray,
        layouts: np.ndarray,
        weights: np.ndarray,
        rest_lengths: np.ndarray,
        alpha: np.ndarray,
        scale: np.ndarray,
        gamma: np.ndarray,
        multipliers: np.ndarray,
        passes: int,
    ) -> None:
        """C = |p1 - p2| - rest length, with separate stiffness in tension and compression.

        indices (2, m); rest_lengths (m,); alpha and scale (2, m): in tension and in compression, or (1, m) for both;
        passes: over all rows, with accumulated multipliers.
        """

    def strains(self, p: np.ndarray, indices: np.ndarray, rest_lengths: np.ndarray) -> np.ndarray:
        """|length / rest length - 1| of distances, (m,); indices (2, m); rest_lengths (m,)."""

    def strained(self, p: np.ndarray, indices: np.ndarray, rest_lengths: np.ndarray, limit: float) -> np.ndarray:
        """Which of `strains` are above a limit, which is less than 1, (k,) int."""

    def project_dihedral(
        self,
        p: np.ndarray,
        x: np.ndarray,
        indices: np.ndarray,
        starts: np.ndarray,
        layouts: np.ndarray,
        weights: np.ndarray,
        rest_angles: np.ndarray,
        alpha: np.ndarray,
        gamma: np.ndarray,
        k: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """C = dihedral angle - rest angle.

        indices (4, m): edge start, edge end, left tip, right tip; rest_angles (m,) [rad].
        """

    def project_isometric(
        self,
        p: np.ndarray,
        x: np.ndarray,
        indices: np.ndarray,
        starts: np.ndarray,
        layouts: np.ndarray,
        stencils: np.ndarray,
        leverage: np.ndarray,
        alpha: np.ndarray,
        scale: np.ndarray,
        gamma: np.ndarray,
        multipliers: np.ndarray,
        fresh: bool,
    ) -> None:
        """C = sum K_i p_i, a vector that is 0 where a hinge is flat (Bergou et al. 2006).

        indices (4, m); stencils K and leverage W K (4, m); multipliers (3, m), which count as 0
        if `fresh`, whatever they hold: the first pass of a substep writes without reading, and
        alpha may be (0,). The gradient is the constant
        K, so this kernel needs no square root, arc cosine or division.
        """

    def volume_gradients(
        self, q: np.ndarray, triangles: np.ndarray, pieces: np.ndarray, piece_count: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Enclosed volume of each closed piece and its gradient at every particle.

        Args:
            q: Positions, (3, n) [m], for accuracy near the origin.
            triangles: (3, t) in `INDEX`, outward.
            pieces: Piece of each triangle, (t,) in `INDEX`.
            piece_count: Number of pieces.

        Returns:
            V = 1/6 sum (p1 x p2) . p3, (pieces,) [m³]; gradients (3, n) [m²].
        """

    def project_attachment(
        self,
        p: np.ndarray,
        indices: np.ndarray,
        targets: np.ndarray,
        weights: np.ndarray,
        alpha: np.ndarray,
        k: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """C = p - target, a vector. indices (m,); targets (3, m) [m]; weights (m,); multipliers (3, m)."""

    def project_tether(
        self,
        p: np.ndarray,
        indices: np.ndarray,
        anchors: np.ndarray,
        starts: np.ndarray,
        weights: np.ndarray,
        lengths: np.ndarray,
        body: np.ndarray,
        slack: np.ndarray,
        fallen: float,
        multipliers: np.ndarray,
    ) -> None:
        """C = reach - |p - anchor| >= 0; only the free particle moves (Kim et al. 2012).

        indices, anchors, body (m,) int; weights (m,) of the free particles. The reach of a row of the body k is its
        length (m,) [m] L + max(slack[0, k] L, slack[1, k] L + fallen); slack (2, bodies), fallen [m].
        """

    def project_plane(
        self,
        p: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray,
        thickness: np.ndarray,
        point: np.ndarray,
        normal: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """C = (p - point) . normal - thickness >= 0. indices, weights, thickness (m,); point, normal (3,)."""

    def apply_plane_friction(
        self,
        p: np.ndarray,
        x: np.ndarray,
        indices: np.ndarray,
        weights: np.ndarray,
        friction: np.ndarray,
        normal: np.ndarray,
        motion: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """Undo slip along a plane by Coulomb's law, at most friction x push (Macklin et al. 2014, eq. 24).

        friction (m,); motion (3,): how far the plane moved in this substep [m]; multipliers (m,) of `project_plane`.
        """
