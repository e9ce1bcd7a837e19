"""All hinges of a model, whichever kind of constraint holds them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..kernels.numpy import dihedral_angles
from .base import percentile, sampled, within_half_turn

STICKS = 40.0
"""Curvature over which friction that is strained from 0 begins to slip [1/m]. Kawabata's tester reads the slope B from
50 1/m on, where yarns have slipped, and 2HB 150 after it has turned: 80 is twice this. With 2 (friction nine times as
stiff as bending that keeps 18) hinges give way too early in 20 steps: a drape of cotton with its own friction covers
72 % on quads and 53 on triangles, with 40 it is 81 and 67; 84 and 80 are those of many steps."""

SPRINGS = 2
"""Springs of friction as stiff as HB / `STICKS`: that which holds and slips, and the slow one."""


def stuck_share(bend: float, friction: float) -> float:
    """Share that friction has of the stiffness of a fold while it holds.

    bend: [N m]. friction: moment per width at which it slips [N].
    """
    return SPRINGS * friction / (SPRINGS * friction + STICKS * bend) if bend > 0.0 else 0.0


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
