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

    def total(values: np.ndarray) -> np.ndarray:
        if count == 1:
            return values.sum(axis=-1, keepdims=True)
        return np.stack([np.bincount(islands, row, count) for row in values])

    mass = total(masses[None])
    center = total(masses * x) / mass
    velocity = total(masses * v) / mass
    r = x - center[:, islands]
    u = v - velocity[:, islands]
    m_r = masses * r
    momentum = total(_cross(m_r, u))
    xx, yy, zz, xy, xz, yz = total(
        np.stack([m_r[0] * r[0], m_r[1] * r[1], m_r[2] * r[2], m_r[0] * r[1], m_r[0] * r[2], m_r[1] * r[2]])
    )
    inertia = np.array([[yy + zz, -xy, -xz], [-xy, xx + zz, -yz], [-xz, -yz, xx + yy]]).transpose(2, 0, 1)
    # A point or a straight rope has no inertia about some axis, hence the pseudo-inverse.
    omega = np.einsum("kij,jk->ik", np.linalg.pinv(inertia, rcond=1e-10, hermitian=True), momentum)
    return velocity[:, islands] + _cross(omega[:, islands], r)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
