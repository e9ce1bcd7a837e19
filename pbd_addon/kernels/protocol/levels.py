"""Coarse levels of a mesh. Arguments as in `projections`."""

from __future__ import annotations

from typing import Protocol

from .arrays import Columns, IdColumns, Ids, Numbers, Vectors


class Levels(Protocol):
    """Coarse levels."""

    def project_upper_bound(
        self, q: Vectors, indices: IdColumns, starts: Ids, weights: Columns, reach: Numbers, multipliers: Numbers
    ) -> None:
        """C = reach - |q1 - q2| >= 0, rigid. Changes q (3, c); indices (2, m); weights (2, m); reach (m,) [m]."""

    def gather(self, p: Vectors, particles: Ids, q: Vectors) -> None:
        """Set q (3, c) to the positions of particles (c,) int in p (3, n)."""

    def scatter(self, p: Vectors, particles: Ids, q: Vectors) -> None:
        """Write back what `gather` has read."""

    def subtract(self, q: Vectors, before: Vectors, moved: Vectors) -> None:
        """Set moved (3, s) to how far the first s columns of q have moved from `before`, (3, c) each."""

    def prolongate(self, p: Vectors, followers: Ids, moved: Vectors, parents: IdColumns, shares: Columns) -> None:
        """Move followers (f,) in p (3, n) by the weighted displacements of their parents.

        moved (3, c) [m]: displacements; parents (k, f): columns of it; shares (k, f).
        """
