"""Coarse levels of a mesh. Arguments as in `projections`."""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Levels(Protocol):
    """Coarse levels."""

    def project_upper_bound(
        self,
        q: np.ndarray,
        indices: np.ndarray,
        starts: np.ndarray,
        weights: np.ndarray,
        reach: np.ndarray,
        multipliers: np.ndarray,
    ) -> None:
        """C = reach - |q1 - q2| >= 0, rigid. Changes q (3, c); indices (2, m); weights (2, m); reach (m,) [m]."""

    def gather(self, p: np.ndarray, particles: np.ndarray, q: np.ndarray) -> None:
        """Set q (3, c) to the positions of particles (c,) int in p (3, n)."""

    def scatter(self, p: np.ndarray, particles: np.ndarray, q: np.ndarray) -> None:
        """Write back what `gather` has read."""

    def subtract(self, q: np.ndarray, before: np.ndarray, moved: np.ndarray) -> None:
        """Set moved (3, s) to how far the first s columns of q have moved from `before`, (3, c) each."""

    def prolongate(
        self, p: np.ndarray, followers: np.ndarray, moved: np.ndarray, parents: np.ndarray, shares: np.ndarray
    ) -> None:
        """Move followers (f,) in p (3, n) by the weighted displacements of their parents.

        moved (3, c) [m]: displacements; parents (k, f): columns of it; shares (k, f).
        """
