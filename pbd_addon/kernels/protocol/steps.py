"""Prediction and velocities, lines (5), (7) and (13) of the algorithm in `solver`; terms as in `time_stepping`.

Common arguments: x, p, start (3, n) [m]; velocities (3, n) [m/s]; h [s].
"""

from __future__ import annotations

from typing import Protocol

from .arrays import DenseNumbers, Vectors


class Steps(Protocol):
    """From velocities to positions and back."""

    def extrapolate(self, v: Vectors, before: Vectors, earlier: Vectors, share: float) -> Vectors:
        """Velocities or positions v + share (before - earlier), (3, n)."""

    def predict(
        self,
        x: Vectors,
        v: Vectors,
        before: Vectors,
        past_x: Vectors,
        past_v: Vectors,
        share: float,
        early: float,
        gravity: tuple[float, float, float],
        fraction: DenseNumbers,
        h: float,
    ) -> tuple[Vectors, Vectors]:
        """Where a substep starts from, and where it ends without constraints.

        before: velocities of which slower ones are in v; past_x, past_v: positions, and velocities that were slowed,
        of the substep before; share: b, 0 in first order, where the start is x itself; early [s]: time for which what
        was taken of v counts too long; gravity: three numbers [m/s²]; fraction (n,): of it that acts.

        Returns:
            X = x + b (x - x') - early (v - before), and p = X + h (v + b (before - v') + h fraction gravity).
        """

    def velocities(self, p: Vectors, start: Vectors, h: float, limit: float) -> tuple[Vectors, bool]:
        """(p - start) / h, (3, n), and whether every component is below a limit [m/s]; false for NaN too."""
