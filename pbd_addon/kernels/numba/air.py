"""What air and gas do to a surface, compiled by Numba."""

from __future__ import annotations

from math import factorial, floor, pi, sqrt

import numpy as np

from .compile import helper, kernel
from .vectors import axes, load, store, vector_of

ONE, TWO = np.uint64(1), np.uint64(2)
TURN = 2.0 * pi
THIRD = 1.0 / 3.0
SERIES = tuple((-1.0) ** n / factorial(2 * n + 1) for n in range(9, -1, -1))


BLOCK = 64
"""Triangles whose corners are read first, forces computed next, and impulses added last.

The middle part then compiles to vectors. What a corner has lies in one place of memory."""


@helper
def _taken(rate: float) -> float:
    """The smaller one is rate below 1/2, and the other beyond."""
    return min(rate, 1.0 - 0.25 / max(rate, 0.5))


@kernel("void(f8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], i8[:,::1], f8[::1], f8[::1], f8[::1], f8[::1], f8)")
def push_by_air(
    v: np.ndarray,
    moving: np.ndarray,
    x: np.ndarray,
    air: np.ndarray,
    open_to: np.ndarray,
    triangles: np.ndarray,
    masses: np.ndarray,
    normal: np.ndarray,
    tangent: np.ndarray,
    shares: np.ndarray,
    h: float,
) -> None:
    step, shaded = 1 if air.shape[1] > 1 else 0, len(open_to) > 1 or open_to[0] != 1.0
    # Of each particle its position, and a third of the flow that it meets.
    met, impulses = np.empty((2 * v.shape[1], 4)), np.zeros((v.shape[1], 4))
    for p in range(len(shares)):
        for axis in range(3):
            blown = 0.0 if shaded else air[axis, p * step]
            met[2 * p, axis] = x[axis, p]
            met[2 * p + 1, axis] = (blown - moving[axis, p]) * THIRD
    edges, flow, push = np.empty((6, BLOCK)), np.empty((3, BLOCK)), np.empty((3, BLOCK))
    fx, fy, fz, gx, gy, gz = edges
    ux, uy, uz = flow
    px, py, pz = push
    count = triangles.shape[1]
    for start in range(0, count, BLOCK):
        size = min(BLOCK, count - start)
        for e in range(size):
            t = np.uint64(start + e)
            i, j, k = np.uint64(triangles[0, t]), np.uint64(triangles[1, t]), np.uint64(triangles[2, t])
            corner = load(met, TWO * i)
            fx[e], fy[e], fz[e] = axes(load(met, TWO * j) - corner)
            gx[e], gy[e], gz[e] = axes(load(met, TWO * k) - corner)
            ux[e], uy[e], uz[e] = axes(load(met, TWO * i + ONE) + load(met, TWO * j + ONE) + load(met, TWO * k + ONE))
            if shaded:
                i, j, k, share = i * np.uint64(step), j * np.uint64(step), k * np.uint64(step), open_to[t] * THIRD
                ux[e] += share * (air[0, i] + air[0, j] + air[0, k])
                uy[e] += share * (air[1, i] + air[1, j] + air[1, k])
                uz[e] += share * (air[2, i] + air[2, j] + air[2, k])
        own_masses, own_normal, own_tangent = masses[start:], normal[start:], tangent[start:]
        for e in range(size):
            nx, ny, nz = fy[e] * gz[e] - fz[e] * gy[e], fz[e] * gx[e] - fx[e] * gz[e], fx[e] * gy[e] - fy[e] * gx[e]
            mass, wx, wy, wz = own_masses[e], ux[e], uy[e], uz[e]
            square = max(nx * nx + ny * ny + nz * nz, 1e-300)
            rate = sqrt((wx * wx + wy * wy + wz * wz) * square) * (0.5 * h / mass)
            along = _taken(rate * own_tangent[e])
            through = (_taken(rate * own_normal[e]) - along) * mass * (wx * nx + wy * ny + wz * nz) / square
            along *= mass
            px[e] = along * wx + through * nx
            py[e] = along * wy + through * ny
            pz[e] = along * wz + through * nz
        for e in range(size):
            push_of_corner = vector_of(px[e], py[e], pz[e])
            for m in range(3):
                i = np.uint64(triangles[m, np.uint64(start + e)])
                store(impulses, i, load(impulses, i) + push_of_corner)
    for p in range(len(shares)):
        for axis in range(3):
            v[axis, p] += shares[p] * impulses[p, axis]


@kernel("void(f8[:,::1], f8[:,::1], f8[::1], i8[:,::1], f8[::1], f8[::1], f8)")
def push_by_gas(
    v: np.ndarray,
    x: np.ndarray,
    potential: np.ndarray,
    triangles: np.ndarray,
    lightness: np.ndarray,
    w: np.ndarray,
    h: float,
) -> None:
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


@kernel("f8[:,::1](f8[:,::1], f8[:,::1], f8[:,::1], f8[::1])")
def gusts(points: np.ndarray, vectors: np.ndarray, amplitudes: np.ndarray, phases: np.ndarray) -> np.ndarray:
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
