"""What slows velocities down: drag of still air as a rate, and damping that keeps rigid motion."""

from __future__ import annotations

import numpy as np

from .kernels import Kernels
from .model import Model


def decay(model: Model, h: float, second_order: bool) -> tuple[np.ndarray | None, np.ndarray]:
    """What drag leaves of velocities in h [s], (n,), and what damping takes of all but rigid motion, (islands,).

    None where there is no drag.

    Drag is a force on what has weight, drag · mass · v: the air that a balloon moves only slows the approach, so
    that every fall ends at g / drag. In first order, what it leaves is exact for any h. In second order it is what ends
    a fall at exactly g / drag: all of the force, limited as that of the air, see `air`.
    """
    taken = -np.expm1(-h * model.damping)
    if not model.drags:
        return None, taken
    rate = h * model.drag * model.gravity_fraction
    return np.where(rate < 0.5, 1.0 - rate, 0.25 / np.maximum(rate, 0.5)) if second_order else np.exp(-rate), taken


def slow_down(v: np.ndarray, left: np.ndarray | None, middle: np.ndarray) -> None:
    """Let still air leave so much of velocities v (3, n), (n,), see `decay`; in second order of those in the `middle`.

    It comes before gravity, or falls would end below g / drag.
    """
    if left is None:
        return
    if middle is v:
        v *= left
    else:
        v -= (1.0 - left) * middle


def damp(model: Model, x: np.ndarray, v: np.ndarray, taken: np.ndarray, kernels: Kernels) -> None:
    """Damp velocities (3, n) [m/s] towards each island's rigid motion (Müller et al. 2007, sec. 3.5).

    v_i + k (v_cm + omega x r_i - v_i), with k = 1 - exp(-damping h) `taken` of each island, (islands,); x (3, n) [m].
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
