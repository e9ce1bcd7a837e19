"""Velocities of whole pieces compiled by Numba.

The particles of an island are mostly consecutive, so its sums stay in registers until another island begins.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..numpy.motion import LEAST_MOMENT, LEAST_SIZE
from .compile import helper, kernel

ROTATIONS = 30
"""Ten sweeps over the three pairs of axes; convergence is quadratic, and a sweep over what is diagonal does nothing."""


@helper
def _solve_inertia(inertia: np.ndarray, momentum: np.ndarray, least: float, spin: np.ndarray) -> None:
    """Angular velocity (3,) for an inertia (3, 3), by Jacobi rotations in place; ignores moments below `least`."""
    axes = np.eye(3)
    for rotation in range(ROTATIONS):
        i = rotation % 3
        j = (i + 1) % 3
        entry = inertia[i, j]
        if entry == 0.0:
            continue
        half = 0.5 * (inertia[j, j] - inertia[i, i]) / entry
        tangent = 1.0 / (abs(half) + sqrt(half * half + 1.0))
        if half < 0.0:
            tangent = -tangent
        cosine = 1.0 / sqrt(tangent * tangent + 1.0)
        sine = tangent * cosine
        for m in range(3):
            inertia[m, i], inertia[m, j] = (
                cosine * inertia[m, i] - sine * inertia[m, j],
                sine * inertia[m, i] + cosine * inertia[m, j],
            )
            axes[m, i], axes[m, j] = cosine * axes[m, i] - sine * axes[m, j], sine * axes[m, i] + cosine * axes[m, j]
        for m in range(3):
            inertia[i, m], inertia[j, m] = (
                cosine * inertia[i, m] - sine * inertia[j, m],
                sine * inertia[i, m] + cosine * inertia[j, m],
            )
        inertia[i, j] = inertia[j, i] = 0.0
    least = max(least, LEAST_MOMENT * max(inertia[0, 0], inertia[1, 1], inertia[2, 2]))
    spin[:] = 0.0
    for axis in range(3):
        if inertia[axis, axis] > least:
            about = axes[0, axis] * momentum[0] + axes[1, axis] * momentum[1] + axes[2, axis] * momentum[2]
            for m in range(3):
                spin[m] += axes[m, axis] * about / inertia[axis, axis]


@helper
def _end(islands: np.ndarray, start: int, count: int) -> int:
    """Where the particles that begin at `start` and are of one of `count` islands end."""
    if count == 1:
        return len(islands)
    stop = start
    while stop < len(islands) and islands[stop] == islands[start]:
        stop += 1
    return stop


@helper
def _rows(a: np.ndarray, start: int, stop: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The three coordinates of some particles."""
    return a[0, start:stop], a[1, start:stop], a[2, start:stop]


@kernel(in_any_order=True)
def island_motion(x, v, islands):
    masses, of, sums = islands
    count, stop = len(sums), 0
    center, velocity = np.zeros((3, count)), np.zeros((3, count))
    inertia, momentum = np.zeros((count, 3, 3)), np.zeros((count, 3))
    while stop < len(of):
        start, k = stop, of[stop]
        stop = _end(of, start, count)
        m, (x0, x1, x2), (v0, v1, v2) = masses[start:stop], _rows(x, start, stop), _rows(v, start, stop)
        px, py, pz, vx, vy, vz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(len(m)):
            px, py, pz = px + m[i] * x0[i], py + m[i] * x1[i], pz + m[i] * x2[i]
            vx, vy, vz = vx + m[i] * v0[i], vy + m[i] * v1[i], vz + m[i] * v2[i]
        center[0, k] += px
        center[1, k] += py
        center[2, k] += pz
        velocity[0, k] += vx
        velocity[1, k] += vy
        velocity[2, k] += vz
    for axis in range(3):
        for k in range(count):
            center[axis, k] /= sums[k]
            velocity[axis, k] /= sums[k]
    stop = 0
    while stop < len(of):
        start, k = stop, of[stop]
        stop = _end(of, start, count)
        m, (x0, x1, x2), (v0, v1, v2) = masses[start:stop], _rows(x, start, stop), _rows(v, start, stop)
        cx, cy, cz = center[0, k], center[1, k], center[2, k]
        xx, yy, zz, xy, yz, zx = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        lx, ly, lz = 0.0, 0.0, 0.0
        for i in range(len(m)):
            rx, ry, rz = x0[i] - cx, x1[i] - cy, x2[i] - cz
            mx, my, mz = m[i] * rx, m[i] * ry, m[i] * rz
            xx, yy, zz = xx + mx * rx, yy + my * ry, zz + mz * rz
            xy, yz, zx = xy + mx * ry, yz + my * rz, zx + mz * rx
            lx, ly, lz = lx + (my * v2[i] - mz * v1[i]), ly + (mz * v0[i] - mx * v2[i]), lz + (mx * v1[i] - my * v0[i])
        inertia[k] += np.array([[yy + zz, -xy, -zx], [-xy, zz + xx, -yz], [-zx, -yz, xx + yy]])
        momentum[k] += np.array([lx, ly, lz])
    spin = np.empty((3, count))
    for k in range(count):
        size = LEAST_SIZE * max(abs(center[0, k]), abs(center[1, k]), abs(center[2, k]))
        _solve_inertia(inertia[k], momentum[k], sums[k] * size * size, spin[:, k])
    return center, velocity, spin


@kernel()
def approach(v, x, of, motion, share):
    center, velocity, spin = motion
    stop = 0
    while stop < len(of):
        start, k = stop, of[stop]
        stop = _end(of, start, len(share))
        part = share[k]
        keep = 1.0 - part
        (x0, x1, x2), (v0, v1, v2) = _rows(x, start, stop), _rows(v, start, stop)
        sx, sy, sz = part * spin[0, k], part * spin[1, k], part * spin[2, k]
        cx, cy, cz = center[0, k], center[1, k], center[2, k]
        tx, ty, tz = part * velocity[0, k], part * velocity[1, k], part * velocity[2, k]
        # A loop for each coordinate: with three arrays written at once LLVM cannot tell that none is another one.
        for i in range(len(v0)):
            v0[i] = keep * v0[i] + tx + (sy * (x2[i] - cz) - sz * (x1[i] - cy))
        for i in range(len(v1)):
            v1[i] = keep * v1[i] + ty + (sz * (x0[i] - cx) - sx * (x2[i] - cz))
        for i in range(len(v2)):
            v2[i] = keep * v2[i] + tz + (sx * (x1[i] - cy) - sy * (x0[i] - cx))


@kernel()
def add_rigid(v, x, of, motion):
    center, velocity, spin = motion
    for i in range(x.shape[1]):
        k = of[i]
        rx, ry, rz = x[0, i] - center[0, k], x[1, i] - center[1, k], x[2, i] - center[2, k]
        v[0, i] += velocity[0, k] + (spin[1, k] * rz - spin[2, k] * ry)
        v[1, i] += velocity[1, k] + (spin[2, k] * rx - spin[0, k] * rz)
        v[2, i] += velocity[2, k] + (spin[0, k] * ry - spin[1, k] * rx)
