"""Velocities of whole pieces in NumPy."""

from __future__ import annotations

import numpy as np

LEAST_MOMENT = 1e-10
"""A moment of inertia below this fraction of the largest counts as zero: a straight rod does not turn about itself."""

LEAST_SIZE = 1e-13
"""So does that of a piece smaller than this fraction of its distance from the origin, because it is rounding error."""


def island_motion(x, v, islands):
    masses, of, sums = islands
    count = len(sums)
    if count == 1:
        # einsum, because matrix products sum in several threads, which is not deterministic.
        center = np.einsum("in,n->i", x, masses)[:, None] / sums
        velocity = np.einsum("in,n->i", v, masses)[:, None] / sums
        r = x - center
        m_r = masses * r
        second = np.einsum("in,jn->ij", m_r, r)[None]
        turning = np.einsum("in,jn->ij", m_r, v)[None]
    else:
        center = np.stack([np.bincount(of, row, count) for row in masses * x]) / sums
        velocity = np.stack([np.bincount(of, row, count) for row in masses * v]) / sums
        r = x - center[:, of]
        m_r = masses * r
        second = np.stack([[np.bincount(of, a * b, count) for b in r] for a in m_r]).transpose(2, 0, 1)
        turning = np.stack([[np.bincount(of, a * b, count) for b in v] for a in m_r]).transpose(2, 0, 1)
    # sum m r x v from sum m r v^T; the mean velocity adds nothing, because sum m r = 0.
    momentum = np.stack([turning[:, i, j] - turning[:, j, i] for i, j in ((1, 2), (2, 0), (0, 1))], axis=1)
    inertia = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    # A point or a straight rope has no inertia about some axes, and does not rotate about these.
    moments, axes = np.linalg.eigh(inertia)
    rounding = sums * (LEAST_SIZE * np.abs(center).max(axis=0)) ** 2
    usable = moments > np.maximum(LEAST_MOMENT * moments[:, -1], rounding)[:, None]
    about_axes = np.einsum("kij,ki->kj", axes, momentum) * usable / np.where(usable, moments, 1.0)
    return center, velocity, np.einsum("kij,kj->ik", axes, about_axes)


def approach(v, x, of, motion, share):
    center, velocity, spin = motion
    keep, velocity, spin = 1.0 - share, share * velocity, share * spin
    if len(share) > 1:
        keep, center, velocity, spin = keep[of], center[:, of], velocity[:, of], spin[:, of]
    r = x - center
    v *= keep
    v += velocity
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        v[i] += spin[j] * r[k]
        v[i] -= spin[k] * r[j]


def add_rigid(v, x, of, motion):
    center, velocity, spin = motion
    if center.shape[1] > 1:
        center, velocity, spin = center[:, of], velocity[:, of], spin[:, of]
    r = x - center
    v += velocity
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        v[i] += spin[j] * r[k]
        v[i] -= spin[k] * r[j]
