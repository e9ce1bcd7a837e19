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

    def prolongate(
        self, p: np.ndarray, followers: np.ndarray, moved: np.ndarray, parents: np.ndarray, shares: np.ndarray
    ) -> None:
        """Move followers (f,) in p (3, n) by the weighted displacements of their parents.

        moved (3, c) [m]: displacements; parents (k, f): columns of it; shares (k, f).
        """
