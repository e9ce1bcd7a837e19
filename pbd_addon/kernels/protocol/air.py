"""What air and gas do to a surface; see `air` and `lift`.

Common arguments: x (3, n) [m]; v (3, n) [m/s]; triangles (3, t) int; w (n,) [1/kg]; h [s].
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Air(Protocol):
    """Air and gas."""

    def push_by_air(
        self,
        v: np.ndarray,
        moving: np.ndarray,
        x: np.ndarray,
        air: np.ndarray,
        open_to: np.ndarray,
        triangles: np.ndarray,
        masses: np.ndarray,
        normal: np.ndarray,
        tangent: np.ndarray,
        shares: np.ndarray,
        h: float,
    ) -> None:
        """Let air of the velocities `air` at each particle (3, n), or everywhere (3, 1), push for h, in place on v.

        moving (3, n) [m/s]: velocities with which the particles meet it; may be v itself.
        A triangle meets the mean of what its corners meet, times its open_to (t,); [1.0] says 1 of all.
        masses (t,) [kg]: of the triangles; shares (n,) [1/kg]: how much of the momentum of its triangles each particle
        gets, over its mass; normal and tangent (t,) [kg/m³]: half the density of air times the coefficient for flow
        across and along the surface. No triangle gets more than stops what flows past it, see `air`.
        """

    def push_by_gas(
        self,
        v: np.ndarray,
        x: np.ndarray,
        potential: np.ndarray,
        triangles: np.ndarray,
        lightness: np.ndarray,
        w: np.ndarray,
        h: float,
    ) -> None:
        """Let gas push a skin out, in place on v, by the pressure -lightness potential, linear in each triangle.

        potential (n,) [m²/s²]: of gravity, g . x; lightness (t,) [kg/m³]: how much lighter than the air outside the gas
        inside is, with the opposite sign where normals point inwards.
        """

    def gusts(self, points: np.ndarray, vectors: np.ndarray, amplitudes: np.ndarray, phases: np.ndarray) -> np.ndarray:
        """Sum of amplitudes (3, k) cos(vectors (3, k) . points (3, m) + phases (k,)), (3, m)."""
