"""What acts on velocities: gravity, drag of still air as a rate, and damping that keeps rigid motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .kernels import Kernels
from .model import Model


def decay(model: Model, h: float, second_order: bool) -> tuple[np.ndarray, np.ndarray]:
    """What drag leaves of velocities in h [s], (n,), and what damping takes of all but rigid motion, (islands,).

    A substep of first order takes 1 - exp(-k h), exact on its own. One of second order takes k h, the force at which
    its scheme is exact to the second order, and beyond k h = 1/2 the same as air, 1 - 1 / (4 k h).

    Drag is a force on what has weight, drag · mass · v: the air that a balloon moves only slows the approach, so
    that every fall ends at g / drag.
    """
    drag, damping = h * model.drag * model.gravity_fraction, h * model.damping
    if second_order:
        return 1.0 - _share(drag), _share(damping)
    return np.exp(-drag), -np.expm1(-damping)


def _share(s: np.ndarray) -> np.ndarray:
    return np.where(s < 0.5, s, 1.0 - 0.25 / np.maximum(s, 0.5))


def slow_down(v: np.ndarray, left: np.ndarray) -> None:
    """Let still air leave so much of velocities (3, n), (n,): see `decay`.

    It comes before gravity, or falls would end below g / drag.
    """
    v *= left


def accelerate(model: Model, v: np.ndarray, gravity: Sequence[float], h: float) -> None:
    """Let gravity [m/s²] act on velocities (3, n) [m/s] for h [s]."""
    for row, along in zip(v, gravity):
        if along:
            row += h * along * model.gravity_fraction


def damp(model: Model, x: np.ndarray, v: np.ndarray, taken: np.ndarray, kernels: Kernels) -> None:
    """Damp velocities (3, n) [m/s] towards each island's rigid motion (Müller et al. 2007, sec. 3.5).

    v_i + k (v_cm + omega x r_i - v_i), with the share k `taken` of each island, (islands,); x (3, n) [m].
    A free island keeps its momentum, angular momentum, flight and spin. A pinned one is not free to move as a whole:
    what stays is the rigid motion that its firm pins leave it, such as the swing about a pin or an axis, see
    `Model.damping_masses`.

    Damping comes before gravity: what gravity has just added is no motion yet, and cloth at rest would lose weight.
    """
    if not model.damping.any():
        return
    center, velocity, spin = kernels.island_motion(
        x, v, model.damping_masses, model.islands, model.damping_island_masses
    )
    kernels.approach(v, x, model.islands, center, velocity, spin, taken)
