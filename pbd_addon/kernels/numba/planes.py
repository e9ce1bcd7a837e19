"""Planes compiled by Numba."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..protocol.guards import TINY
from .compile import helper, kernel


@helper
def _before(x: np.ndarray, i: Any, point: np.ndarray, normal: np.ndarray, motion: np.ndarray) -> float:
    """Distance of a particle from the plane before the substep [m]."""
    found = 0.0
    for axis in range(3):
        found += normal[axis] * (x[axis, i] - (point[axis] - motion[axis]))
    return found


@kernel()
def project_floor(p, x, floor):
    particles, weights, thickness, push, _, multipliers, point, normal, motion = floor
    for r in range(len(particles)):
        i = np.uint64(particles[r])
        height = normal[0] * (p[0, i] - point[0]) + normal[1] * (p[1, i] - point[1]) + normal[2] * (p[2, i] - point[2])
        if height < thickness[r] or multipliers[r] > 0.0:
            wanted = min(thickness[r], _before(x, i, point, normal, motion) + push[r])
            step = max(wanted - height, -multipliers[r] * weights[i])
            if step != 0.0:
                multipliers[r] += step / weights[i]
                for axis in range(3):
                    p[axis, i] += normal[axis] * step


@kernel()
def rub_floor(p, x, floor):
    particles, weights, thickness, _, friction, multipliers, point, normal, motion = floor
    nx, ny, nz = normal[0], normal[1], normal[2]
    for r in range(len(particles)):
        if not multipliers[r] > 0.0:
            continue
        i = np.uint64(particles[r])
        sx, sy, sz = p[0, i] - x[0, i] - motion[0], p[1, i] - x[1, i] - motion[1], p[2, i] - x[2, i] - motion[2]
        along = nx * sx + ny * sy + nz * sz
        sx, sy, sz = sx - nx * along, sy - ny * along, sz - nz * along
        length = sqrt(sx * sx + sy * sy + sz * sz) + TINY
        share = min(1.0, friction[r] * multipliers[r] * weights[i] / length)
        p[0, i] -= sx * share
        p[1, i] -= sy * share
        p[2, i] -= sz * share
        before = _before(x, i, point, normal, motion)
        if before < thickness[r]:
            rise = nx * (p[0, i] - point[0]) + ny * (p[1, i] - point[1]) + nz * (p[2, i] - point[2]) - before
            rise = min(max(rise, 0.0), thickness[r] - before)
            for axis in range(3):
                x[axis, i] += normal[axis] * rise
