"""Coarse levels in NumPy, a color at a time."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import TINY


def project_upper_bound(q, indices, starts, weights, reach, multipliers):
    for start, stop in zip(starts[:-1], starts[1:]):
        rows = slice(start, stop)
        i, j = indices[:, rows]
        n = q.take(i, axis=1) - q.take(j, axis=1)
        length = np.sqrt(np.einsum("ij,ij->j", n, n)) + TINY
        excess = np.maximum(length - reach[rows], 0.0)
        if not excess.any():
            continue
        step = excess / weights[:, rows].sum(axis=0)
        multipliers[rows] += step
        n *= step / length
        for axis in range(3):
            q[axis][i] -= weights[0, rows] * n[axis]
            q[axis][j] += weights[1, rows] * n[axis]


def gather(p, particles, q):
    q[:] = p.take(particles, axis=1)


def scatter(p, particles, q):
    for axis in range(3):
        p[axis][particles] = q[axis]


def subtract(q, before, moved):
    size = moved.shape[1]
    np.subtract(q[:, :size], before[:, :size], out=moved)


def prolongate(p, followers, moved, parents, shares):
    for axis in range(3):
        p[axis][followers] += np.einsum("ij,ij->j", moved[axis].take(parents), shares)
