"""What acts on velocities: gravity, drag of still air, and damping that keeps rigid motion."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from .model import Model


def accelerate(model: Model, v: np.ndarray, gravity: Sequence[float], h: float, kernels: ModuleType) -> np.ndarray:
    """Velocities (3, n) [m/s] after h [s] of still air and of gravity [m/s²].

    Air takes the factor exp(-drag h), exact for any h; gravity comes after it, for drag must not eat gravity.
    """
    return kernels.accelerate(v, model.decay(h)[0], model.weighing, h * np.asarray(gravity, float))


def damp(model: Model, x: np.ndarray, v: np.ndarray, h: float, kernels: ModuleType) -> None:
    """Damp motion relative to each island's rigid motion, in place (Müller et al. 2007, sec. 3.5).

    v_i += k (v_cm + omega x r_i - v_i), with k = 1 - exp(-damping h). Momentum, angular momentum, flight and spin stay
    as they are. x, v (3, n) [m], [m/s].
    """
    if model.damping.any():
        center, velocity, spin = kernels.island_motion(x, v, model.masses, model.islands, model.island_masses)
        kernels.approach(v, x, model.islands, center, velocity, spin, model.decay(h)[1])
