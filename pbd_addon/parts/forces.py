"""What slows velocities down: drag of still air as a rate, and damping that keeps rigid motion."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.motion import Islands
from ..model.model import Model


def decay(model: Model, h: float, second_order: bool) -> tuple[np.ndarray | None, np.ndarray]:
    """What drag takes of velocities in h [s], (n,), and what damping takes of all but rigid motion, (islands,).

    None where there is no drag.

    Drag is a force on what has weight, drag · mass · v: the air that a balloon moves only slows the approach, so
    that every fall ends at g / drag. In first order, what it takes is exact for any h. In second order it is what ends
    a fall at exactly g / drag: all of the force, limited as that of the air, see `air`.
    """
    damped = -np.expm1(-h * model.damping)
    if not len(model.drag_rates):
        return None, damped
    rate = h * model.drag_rates
    if not second_order:
        return -np.expm1(-rate), damped
    if h * model.drag.max() >= 0.5:
        rate = np.where(rate < 0.5, rate, 1.0 - 0.25 / np.maximum(rate, 0.5))
    return rate, damped


def slow_down(v: np.ndarray, dragged: np.ndarray | None, middle: np.ndarray) -> None:
    """Let drag take its share (n,), see `decay`, of velocities v (3, n), in place; in second order of the `middle`.

    It comes before gravity, or falls would end below g / drag.
    """
    if dragged is not None:
        v -= dragged * middle


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
    islands = Islands(model.damping_masses, model.islands, model.damping_island_masses)
    kernels.approach(v, x, model.islands, kernels.island_motion(x, v, islands), taken)
