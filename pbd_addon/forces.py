"""What acts on velocities: gravity, drag of still air, and damping that keeps rigid motion."""

from __future__ import annotations

import numpy as np

from .model import Model


def drag(model: Model, v: np.ndarray, h: float) -> np.ndarray:
    """Velocities (3, n) [m/s] after air took its share during h [s]: exp(-drag h), exact for any h."""
    return v * np.exp(-h * model.drag)


def damp(model: Model, x: np.ndarray, v: np.ndarray, h: float) -> None:
    """Damp motion relative to each island's rigid motion, in place (Müller et al. 2007, sec. 3.5).

    v_i += k (v_cm + omega x r_i - v_i), with k = 1 - exp(-damping h). Momentum, angular momentum, flight and spin stay
    as they are. x, v (3, n) [m], [m/s].
    """
    if not model.damping.any():
        return
    k = -np.expm1(-h * model.damping)
    rigid = rigid_velocities(x, v, model.masses, model.islands, model.island_count)
    v += k * (rigid - v)


def rigid_velocities(x: np.ndarray, v: np.ndarray, masses: np.ndarray, islands: np.ndarray, count: int) -> np.ndarray:
    """Velocities (3, n) [m/s] that the particles of each island would have if it were rigid and kept its momenta.

    Args:
        x: Positions (3, n) [m].
        v: Velocities (3, n) [m/s].
        masses: (n,) [kg].
        islands: Island of each particle, (n,) int.
        count: Number of islands.
    """
    if count == 1:
        mass = np.array([masses.sum()])
        center = (masses * x).sum(axis=1, keepdims=True) / mass
        velocity = (masses * v).sum(axis=1, keepdims=True) / mass
    else:
        mass = np.bincount(islands, masses, count)
        center = np.stack([np.bincount(islands, row, count) for row in masses * x]) / mass
        velocity = np.stack([np.bincount(islands, row, count) for row in masses * v]) / mass
    of_particle = islands if count > 1 else slice(None)
    r = x - center[:, of_particle]
    m_r = masses * r
    if count == 1:
        second = np.einsum("in,jn->ij", m_r, r)[None]
        turning = np.einsum("in,jn->ij", m_r, v)[None]
    else:
        second = np.stack([[np.bincount(islands, a * b, count) for b in r] for a in m_r]).transpose(2, 0, 1)
        turning = np.stack([[np.bincount(islands, a * b, count) for b in v] for a in m_r]).transpose(2, 0, 1)
    # sum m r x v from sum m r v^T; the mean velocity adds nothing, for sum m r = 0.
    momentum = np.stack([turning[:, i, j] - turning[:, j, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    # A point or a straight rope has no inertia about some axis, and is not turned about it.
    moments, axes = np.linalg.eigh(inertia)
    usable = moments > 1e-10 * moments[:, -1:]
    about_axes = np.einsum("kij,ki->kj", axes, momentum) * usable / np.where(usable, moments, 1.0)
    omega = np.einsum("kij,kj->ik", axes, about_axes)
    return velocity[:, of_particle] + _cross(omega[:, of_particle], r)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
