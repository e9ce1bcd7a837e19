"""Coarse levels compiled by Numba, row by row."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..protocol.guards import TINY
from .compile import kernel


@kernel()
def project_upper_bound(q, indices, starts, weights, reach, multipliers):
    for r in range(indices.shape[1]):
        i, j = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = q[0, i] - q[0, j], q[1, i] - q[1, j], q[2, i] - q[2, j]
        length = sqrt(dx * dx + dy * dy + dz * dz) + TINY
        if length > reach[r]:
            step = (length - reach[r]) / (weights[0, r] + weights[1, r])
            multipliers[r] += step
            step /= length
            first, second = weights[0, r] * step, weights[1, r] * step
            q[0, i] -= first * dx
            q[1, i] -= first * dy
            q[2, i] -= first * dz
            q[0, j] += second * dx
            q[1, j] += second * dy
            q[2, j] += second * dz


@kernel()
def gather(p, particles, q):
    for axis in range(3):
        for k in range(len(particles)):
            q[axis, k] = p[axis, np.uint64(particles[k])]


@kernel()
def scatter(p, particles, q):
    for axis in range(3):
        for k in range(len(particles)):
            p[axis, np.uint64(particles[k])] = q[axis, k]


@kernel()
def subtract(q, before, moved):
    for axis in range(3):
        for k in range(moved.shape[1]):
            moved[axis, k] = q[axis, k] - before[axis, k]


@kernel()
def prolongate(p, followers, moved, parents, shares):
    for f in range(len(followers)):
        i = np.uint64(followers[f])
        for k in range(len(parents)):
            parent, share = np.uint64(parents[k, f]), shares[k, f]
            p[0, i] += share * moved[0, parent]
            p[1, i] += share * moved[1, parent]
            p[2, i] += share * moved[2, parent]
