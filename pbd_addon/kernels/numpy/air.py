"""What air and gas do to a surface, in NumPy."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import SMALLEST
from .layout import dot as _dot


def push_by_air(v, moving, x, air, sails, h):
    open_to, triangles, masses, normal, tangent, shares = sails
    area = _doubled_areas(x, triangles)
    if len(open_to) == 1 and open_to[0] == 1.0:
        relative = ((air - moving) / 3.0).take(triangles, axis=1).sum(axis=1)
    else:
        thirds = np.broadcast_to(air / 3.0, v.shape).take(triangles, axis=1).sum(axis=1)
        relative = open_to * thirds - moving.take(triangles, axis=1).sum(axis=1) / 3.0
    square = np.maximum(_dot(area, area), SMALLEST)
    through = _dot(relative, area)
    whole = np.maximum(_dot(relative, relative) * square, SMALLEST)
    rate = np.sqrt(whole) * (0.5 * h / masses)
    along, across = _taken(rate * tangent), _taken(rate * normal * (2.0 * whole / (whole + through**2)))
    relative *= masses * along
    area *= masses * (across - along) * through / square
    relative += area
    _add(v, np.concatenate([relative] * 3, axis=1), triangles, shares)


def push_by_gas(v, x, potential, triangles, lightness, w, h):
    # Linear pressure over a triangle gives its corner i the force A / 12 (p_1 + p_2 + p_3 + p_i) along the normal.
    area = _doubled_areas(x, triangles)
    pressure = potential.take(triangles)
    pressure += pressure.sum(axis=0)
    pressure *= lightness * (-h / 24.0)
    _add(v, (area[:, None] * pressure).reshape(3, -1), triangles, w)


def gusts(points, vectors, amplitudes, phases):
    # einsum, and not the product of matrices, which adds up in threads.
    angles = np.einsum("ik,im->km", vectors, points)
    angles += phases[:, None]
    return np.einsum("ik,km->im", amplitudes, np.cos(angles, out=angles))


def _taken(rate: np.ndarray) -> np.ndarray:
    """Share of the relative velocity that air takes in a substep, of what an explicit step would: see `air`."""
    return np.where(rate < 0.5, rate, 1.0 - 0.25 / np.maximum(rate, 0.5))


def _doubled_areas(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of twice the area, (3, t) [m²]."""
    a, b, c = x.take(triangles, axis=1).swapaxes(0, 1)
    b, c = b - a, c - a
    return np.stack([b[i] * c[j] - b[j] * c[i] for i, j in ((1, 2), (2, 0), (0, 1))])


def _add(v: np.ndarray, impulses: np.ndarray, triangles: np.ndarray, w: np.ndarray) -> None:
    """Add impulses (3, 3 t) [N s] on the corners to velocities."""
    corners = triangles.ravel()
    for row, impulse in zip(v, impulses):
        row += w * np.bincount(corners, impulse, len(w))
