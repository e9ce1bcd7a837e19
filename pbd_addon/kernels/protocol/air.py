"""What air and gas do to a surface; see `air` and `lift`.

Common arguments: x (3, n) [m]; v (3, n) [m/s]; triangles (3, t) int; w (n,) [1/kg]; h [s].
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import DenseIdColumns, DenseNumbers, Vectors


class Sails(NamedTuple):
    """Triangles that feel air.

    Attributes:
        open_to: Share of the air that reaches each, (t,); [1.0] says 1 of all.
        triangles: (3, t) int.
        masses: Of the triangles, (t,) [kg].
        normal, tangent: Half the density of air times the coefficient for flow across and along the surface, (t,)
            [kg/m³].
        shares: How much of the momentum of its triangles each particle gets, over its mass, (n,) [1/kg].
    """

    open_to: DenseNumbers
    triangles: DenseIdColumns
    masses: DenseNumbers
    normal: DenseNumbers
    tangent: DenseNumbers
    shares: DenseNumbers


class Air(Protocol):
    """Air and gas."""

    def push_by_air(self, v: Vectors, moving: Vectors, x: Vectors, air: Vectors, sails: Sails, h: float) -> None:
        """Let air of the velocities `air` at each particle (3, n), or everywhere (3, 1), push for h, in place on v.

        moving (3, n) [m/s]: velocities with which the particles meet it; may be v itself.
        A triangle meets the mean of what its corners meet, times its `open_to`. None gets more than stops what flows
        past it, see `air`.
        """

    def push_by_gas(
        self,
        v: Vectors,
        x: Vectors,
        potential: DenseNumbers,
        triangles: DenseIdColumns,
        lightness: DenseNumbers,
        w: DenseNumbers,
        h: float,
    ) -> None:
        """Let gas push a skin out, in place on v, by the pressure -lightness potential, linear in each triangle.

        potential (n,) [m²/s²]: of gravity, g . x; lightness (t,) [kg/m³]: how much lighter than the air outside the gas
        inside is, with the opposite sign where normals point inwards.
        """

    def gusts(self, points: Vectors, vectors: Vectors, amplitudes: Vectors, phases: DenseNumbers) -> Vectors:
        """Sum of amplitudes (3, k) cos(vectors (3, k) . points (3, m) + phases (k,)), (3, m)."""
