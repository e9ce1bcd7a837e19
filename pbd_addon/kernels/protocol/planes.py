"""Planes; see `constraints.plane`."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import DenseNumbers, Ids, Numbers, Vectors


class Floor(NamedTuple):
    """A plane, and m particles that cannot enter it.

    Attributes:
        particles: (m,) int.
        weights: Inverse masses of all particles, (n,) [1/kg].
        thickness: Height that they keep [m]; push: how far they are pushed in a substep at most [m]; friction:
            coefficients, (m,) each.
        multipliers: (m,), in and out.
        point, normal: Of the plane, (3,); motion: how far it moved in this substep, (3,) [m].
    """

    particles: Ids
    weights: Numbers
    thickness: Numbers
    push: Numbers
    friction: Numbers
    multipliers: Numbers
    point: DenseNumbers
    normal: DenseNumbers
    motion: DenseNumbers


class Planes(Protocol):
    """Contact with planes, for p and positions x before the substep, (3, n) each."""

    def project_floor(self, p: Vectors, x: Vectors, floor: Floor) -> None:
        """C = (p - point) . normal - thickness >= 0, in place; what was deeper before comes up by `push` at most."""

    def rub_floor(self, p: Vectors, x: Vectors, floor: Floor) -> None:
        """Undo slip along a plane by Coulomb's law, at most friction x push (Macklin et al. 2014, eq. 24), in p.

        Where an overlap was resolved, x is shifted by as much, so that it adds no velocity.
        """
