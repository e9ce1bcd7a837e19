"""What air and gas do to a surface, compiled by Numba."""

from __future__ import annotations

from math import factorial, floor, pi
from typing import Any

import numpy as np

from ..protocol.guards import SMALLEST
from .compile import helper, kernel
from .vectors import axes, by_sign, four, load, load_from, root, store, transposed, vector_of

ONE, TWO = np.uint64(1), np.uint64(2)
"""Unsigned, as indices are, or sums of both would be floating-point numbers."""

TURN, THIRD = 2.0 * pi, 1.0 / 3.0
"""A whole turn [rad], and a corner's share of a triangle."""

SERIES = tuple((-1.0) ** n / factorial(2 * n + 1) for n in range(9, -1, -1))
"""Of the sine, from the 19th power down: up to a right angle the next term is 3e-16."""


@helper
def _taken(rate: Any) -> Any:
    """The smaller one is rate below 1/2, and the other beyond."""
    half, quarter, one = four(0.5, 0.5, 0.5, 0.5), four(0.25, 0.25, 0.25, 0.25), four(1.0, 1.0, 1.0, 1.0)
    return by_sign(rate - half, one - quarter / rate, rate)


@helper
def _of(values: np.ndarray, t: tuple[np.uint64, ...], is_whole: bool) -> Any:
    """Numbers of four triangles, which follow each other if they are whole."""
    if is_whole:
        return load_from(values, t[0])
    return four(values[t[0]], values[t[1]], values[t[2]], values[t[3]])


@helper
def _sides(met: np.ndarray, triangles: np.ndarray, t: np.uint64) -> tuple[Any, Any, Any]:
    """Two sides of a triangle, and the flow that it meets."""
    i, j, k = TWO * np.uint64(triangles[0, t]), TWO * np.uint64(triangles[1, t]), TWO * np.uint64(triangles[2, t])
    corner = load(met, i)
    return load(met, j) - corner, load(met, k) - corner, load(met, i + ONE) + load(met, j + ONE) + load(met, k + ONE)


@helper
def _sum(air: np.ndarray, triangles: np.ndarray, t: np.uint64, step: np.uint64) -> float:
    i, j, k = np.uint64(triangles[0, t]), np.uint64(triangles[1, t]), np.uint64(triangles[2, t])
    return air[i * step] + air[j * step] + air[k * step]


@helper
def _blown(air: np.ndarray, triangles: np.ndarray, t: tuple[np.uint64, ...], step: np.uint64) -> Any:
    """Sums over the corners of four triangles of one component of the air."""
    a, b, c, d = t
    return four(
        _sum(air, triangles, a, step), _sum(air, triangles, b, step),
        _sum(air, triangles, c, step), _sum(air, triangles, d, step),
    )  # fmt: skip


@helper
def _add(impulses: np.ndarray, triangles: np.ndarray, t: np.uint64, impulse: Any) -> None:
    for corner in range(3):
        i = np.uint64(triangles[corner, t])
        store(impulses, i, load(impulses, i) + impulse)


@kernel()
def push_by_air(v, moving, x, air, sails, h):
    open_to, triangles, masses, normal, tangent, shares = sails
    step, shaded = np.uint64(air.shape[1] > 1), len(open_to) > 1 or open_to[0] != 1.0
    # Of each particle its position, and a third of the flow that it meets.
    met, impulses = np.empty((2 * v.shape[1], 4)), np.zeros((v.shape[1], 4))
    ax, ay, az = air
    for p in range(len(shares)):
        i = np.uint64(p)
        at = i * step
        store(met, TWO * i, vector_of(x[0, i], x[1, i], x[2, i]))
        flow = vector_of(0.0, 0.0, 0.0) if shaded else vector_of(ax[at], ay[at], az[at])
        store(met, TWO * i + ONE, THIRD * (flow - vector_of(moving[0, i], moving[1, i], moving[2, i])))
    least, half_h = four(SMALLEST, SMALLEST, SMALLEST, SMALLEST), four(0.5 * h, 0.5 * h, 0.5 * h, 0.5 * h)
    count = triangles.shape[1]
    for start in range(0, count, 4):
        # Behind the last triangle it is computed again, and nothing comes of it.
        size = min(4, count - start)
        t = (
            np.uint64(start), np.uint64(start + min(1, size - 1)),
            np.uint64(start + min(2, size - 1)), np.uint64(start + size - 1),
        )  # fmt: skip
        ae, ag, au = _sides(met, triangles, t[0])
        be, bg, bu = _sides(met, triangles, t[1])
        ce, cg, cu = _sides(met, triangles, t[2])
        de, dg, du = _sides(met, triangles, t[3])
        fx, fy, fz, _ = transposed(ae, be, ce, de)
        gx, gy, gz, _ = transposed(ag, bg, cg, dg)
        wx, wy, wz, _ = transposed(au, bu, cu, du)
        if shaded:
            share = THIRD * _of(open_to, t, size == 4)
            wx = wx + share * _blown(ax, triangles, t, step)
            wy = wy + share * _blown(ay, triangles, t, step)
            wz = wz + share * _blown(az, triangles, t, step)
        nx, ny, nz = fy * gz - fz * gy, fz * gx - fx * gz, fx * gy - fy * gx
        mass = _of(masses, t, size == 4)
        square = nx * nx + ny * ny + nz * nz
        square = by_sign(square - least, square, least)
        rate = root((wx * wx + wy * wy + wz * wz) * square) * (half_h / mass)
        along = _taken(rate * _of(tangent, t, size == 4))
        through = (_taken(rate * _of(normal, t, size == 4)) - along) * mass * (wx * nx + wy * ny + wz * nz) / square
        along = along * mass
        px, py, pz = along * wx + through * nx, along * wy + through * ny, along * wz + through * nz
        a, b, c, d = transposed(px, py, pz, least)
        _add(impulses, triangles, t[0], a)
        if size > 1:
            _add(impulses, triangles, t[1], b)
        if size > 2:
            _add(impulses, triangles, t[2], c)
        if size > 3:
            _add(impulses, triangles, t[3], d)
    vx, vy, vz = v
    for p in range(len(shares)):
        i = np.uint64(p)
        px, py, pz = axes(shares[i] * load(impulses, i))
        vx[i] += px
        vy[i] += py
        vz[i] += pz


@kernel()
def push_by_gas(v, x, potential, triangles, lightness, w, h):
    impulses = np.zeros(v.shape)
    for t in range(triangles.shape[1]):
        i, j, k = np.uint64(triangles[0, t]), np.uint64(triangles[1, t]), np.uint64(triangles[2, t])
        ax, ay, az = x[0, i], x[1, i], x[2, i]
        bx, by, bz = x[0, j] - ax, x[1, j] - ay, x[2, j] - az
        cx, cy, cz = x[0, k] - ax, x[1, k] - ay, x[2, k] - az
        nx, ny, nz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        total = potential[i] + potential[j] + potential[k]
        for m in range(3):
            corner = triangles[m, t]
            push = -h / 24.0 * lightness[t] * (total + potential[corner])
            impulses[0, corner] += push * nx
            impulses[1, corner] += push * ny
            impulses[2, corner] += push * nz
    for axis in range(3):
        for p in range(len(w)):
            v[axis, p] += w[p] * impulses[axis, p]


@helper
def _cosine_of_turns(turns: float) -> float:
    """cos(2 pi turns) to 1e-13: the sine's series up to a right angle, which compiles to vectors, as cos does not."""
    angle = TURN * (0.25 - abs(turns - floor(turns + 0.5)))
    square = angle * angle
    term = SERIES[0]
    for factor in SERIES[1:]:
        term = term * square + factor
    return term * angle


@kernel()
def gusts(points, vectors, amplitudes, phases):
    found = np.zeros(points.shape)
    px, py, pz = points[0], points[1], points[2]
    fx, fy, fz = found[0], found[1], found[2]
    for k in range(len(phases)):
        kx, ky, kz = vectors[0, k] / TURN, vectors[1, k] / TURN, vectors[2, k] / TURN
        phase, ax, ay, az = phases[k] / TURN, amplitudes[0, k], amplitudes[1, k], amplitudes[2, k]
        for i in range(points.shape[1]):
            wave = _cosine_of_turns(kx * px[i] + ky * py[i] + kz * pz[i] + phase)
            fx[i] += ax * wave
            fy[i] += ay * wave
            fz[i] += az * wave
    return found
