"""Rigid motion of whole islands.

Common arguments: x (3, n) [m]; v (3, n) [m/s]; of (n,) int: the island of each particle, numbered from 0 to k - 1.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import Columns, DenseIds, DenseNumbers, Numbers, Vectors


class Islands(NamedTuple):
    """Masses of particles (n,) [kg], the island `of` each (n,) int, and the sums of masses of the islands (k,) [kg]."""

    masses: DenseNumbers
    of: DenseIds
    sums: DenseNumbers


RigidMotion = tuple[Columns, Columns, Columns]
"""Of each island its center [m], its velocity [m/s] and its angular velocity [rad/s], (3, k) each."""


class Motion(Protocol):
    """Velocities of whole islands."""

    def island_motion(self, x: Vectors, v: Vectors, islands: Islands) -> tuple[Vectors, Vectors, Vectors]:
        """Center, velocity and angular velocity of rigid bodies with the momenta of the islands: a `RigidMotion`."""

    def approach(self, v: Vectors, x: Vectors, of: DenseIds, motion: RigidMotion, share: Numbers) -> None:
        """Velocities v += share (velocity + spin x (x - center) - v), in place; share (k,)."""

    def add_rigid(self, v: Vectors, x: Vectors, of: DenseIds, motion: RigidMotion) -> None:
        """Velocities v += velocity + spin x (x - center), in place."""
