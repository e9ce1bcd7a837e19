"""Rigid motion of whole pieces, for damping.

Common arguments: x (3, n) [m]; v (3, n) [m/s]; masses (n,) [kg]; islands (n,) int, the connected piece of each
particle, numbered from 0 to k - 1.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Motion(Protocol):
    """Velocities of whole pieces."""

    def island_motion(
        self, x: np.ndarray, v: np.ndarray, masses: np.ndarray, islands: np.ndarray, mass: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The rigid motion of each island; mass (k,) [kg] is the sum of its masses.

        Returns:
            Centers (3, k) [m], velocities (3, k) [m/s] and angular velocities (3, k) [rad/s] of a rigid body with the
            same momenta.
        """

    def approach(
        self,
        v: np.ndarray,
        x: np.ndarray,
        islands: np.ndarray,
        center: np.ndarray,
        velocity: np.ndarray,
        spin: np.ndarray,
        share: np.ndarray,
    ) -> None:
        """Velocities v += share (velocity + spin x (x - center) - v), in place; all but v and x are per island.

        center, velocity (3, k) from `island_motion`; spin (3, k) [rad/s]; share (k,).
        """

    def add_rigid(
        self,
        v: np.ndarray,
        x: np.ndarray,
        islands: np.ndarray,
        center: np.ndarray,
        velocity: np.ndarray,
        spin: np.ndarray,
    ) -> None:
        """Velocities v += velocity + spin x (x - center), in place; center, velocity, spin (3, k) of each island."""
