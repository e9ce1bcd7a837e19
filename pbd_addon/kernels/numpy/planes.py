"""Planes in NumPy."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import TINY
from .layout import dot as _dot, scatter as _scatter


def project_floor(p, x, floor):
    particles, weights, thickness, push, _, multipliers, point, normal, _ = floor
    q = p if len(particles) == p.shape[1] else p.take(particles, axis=1)
    near = np.flatnonzero((normal @ q - normal @ point < thickness) | (multipliers > 0.0))
    if not len(near):
        return
    wanted = np.minimum(thickness[near], _before(x, floor, near) + push[near])  # [m]
    ids = particles[near]
    q, w, pushed = p.take(ids, axis=1), weights[ids], multipliers[near]
    depth = wanted - np.einsum("i,ij->j", normal, q - point[:, None])
    step = np.maximum(depth, -pushed * w)
    multipliers[near] = pushed + step / w
    _scatter(p, ids, q + normal[:, None] * step)


def rub_floor(p, x, floor):
    particles, weights, thickness, _, friction, multipliers, point, normal, motion = floor
    hit = np.flatnonzero(multipliers > 0.0)
    if not len(hit):
        return
    ids = particles[hit]
    q = p.take(ids, axis=1)
    slip = q - x.take(ids, axis=1) - motion[:, None]
    slip -= normal[:, None] * np.einsum("i,ij->j", normal, slip)
    length = np.sqrt(_dot(slip, slip)) + TINY
    grip = friction[hit] * multipliers[hit] * weights[ids]
    _scatter(p, ids, q - slip * np.minimum(1.0, grip / length))
    before, thickness = _before(x, floor, hit), thickness[hit]
    is_open = before < thickness
    if is_open.any():
        ids, before, thickness = ids[is_open], before[is_open], thickness[is_open]
        rise = normal @ (p.take(ids, axis=1) - point[:, None]) - before
        x[:, ids] += np.outer(normal, np.clip(rise, 0.0, thickness - before))


def _before(x, floor, which):
    """Distance of the particles `which` (k,) from the plane before the substep, (k,) [m]."""
    point, normal, motion = floor[-3:]
    return normal @ (x.take(floor[0][which], axis=1) - (point - motion)[:, None])
