"""All hinges of a model, whichever kind of constraint holds them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.numpy import dihedral_angles
from .base import percentile, sampled, within_half_turn


class Folds(NamedTuple):
    """All hinges of a model, whichever kind holds them.

    Attributes:
        hinges: Edge start, edge end, left tip, right tip, (4, m) int.
        angles: Rest angle at the beginning, (m,) [rad].
        current: Rest angle now, which changes in place where the rest shape does, (m,) [rad].
        follows: Where it can, (m,) bool.
        spans: Distance over which each is bent: a sheet of curvature c folds it by c times this, (m,) [m]; 0 where
            nothing yields.
    """

    hinges: np.ndarray
    body: np.ndarray
    angles: np.ndarray
    current: np.ndarray
    follows: np.ndarray
    spans: np.ndarray

    def folded(self, x: np.ndarray) -> float:
        """The 95th percentile of how far hinges are folded from rest at positions x (3, n) [m], in [0, pi] [rad]."""
        some = sampled(len(self.current))
        angles = dihedral_angles(x[:, self.hinges[:, some]], with_gradients=False)[0]
        return percentile(np.abs(within_half_turn(angles - self.current[some])))
