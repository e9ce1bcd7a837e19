"""Springs whose compliance changes from substep to substep; see `parts.resilience` and `constraints.distance`."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from .arrays import Columns, Flags, IndexColumns, Indices, Numbers, Vectors


class Release(NamedTuple):
    """How what is stretched gives back, see `parts.resilience`.

    Attributes:
        way: Share of the difference by which strains are smoothed in a substep; decay: of how far rows are on their
            way back, in that time.
        turn, least: `TURN` and `LEAST_STRAIN`.
    """

    way: float
    decay: float
    turn: float
    least: float


class SoftSprings(Protocol):
    """Rows (m,) that get softer."""

    def release_rows(
        self,
        p: Vectors,
        indices: IndexColumns,
        rest_lengths: Numbers,
        lost: Numbers,
        release: Release,
        back: Numbers,
        strains: Numbers,
        factors: Numbers,
    ) -> None:
        """How far rows are on their way back, in [0, 1], their smoothed strains, and how many times softer they are,
        `factors`, at p, in place; lost: share of their tension that they lose.
        """

    def soften_rows(self, given: Columns, softness: Numbers, released: Numbers, compliance: Columns) -> None:
        """Compliance (sides, m), in place: that which is given, in tension times both factors, (m,) each or (0,)."""

    def scale_rows(self, compliance: Columns, square: float, alpha: Columns) -> None:
        """Alpha = compliance / square, in place."""

    def strain_rows(self, alpha: Columns, rest_lengths: Numbers, strains: Numbers) -> None:
        """Elastic strains of rows by a multiplier of 1, in place."""

    def take_rows(self, alpha: Columns, rows: Indices, real: Flags, taken: Columns) -> None:
        """taken[:, k] = alpha[:, rows[k]], in place, but where it is not real; real (0,): it is everywhere."""

    def rescale(
        self,
        changed: Flags,
        w: Numbers,
        indices: IndexColumns,
        k: Columns,
        gamma: Numbers,
        alpha: Columns,
        scale: Columns,
    ) -> None:
        """`Springs.scale` of rows for other inverse masses w (n,) or alpha, if they have changed (1,), in place."""
