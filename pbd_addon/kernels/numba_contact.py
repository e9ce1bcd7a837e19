"""Contact kernels compiled by Numba: the functions of `numpy_contact`, with the same arguments and meaning."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .numba_compile import helper, kernel

TINY = 1e-12


@helper
def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@helper
def _add(p: np.ndarray, moves: np.ndarray) -> None:
    for axis in range(3):
        for i in range(p.shape[1]):
            p[axis, i] += moves[axis, i]


@kernel("f8[:,::1](f8[:,:,:])")
def closest_on_triangles(q: np.ndarray) -> np.ndarray:
    """As `numpy_contact.closest_on_triangles`."""
    count = q.shape[2]
    share = np.empty((4, count))
    for r in range(count):
        ax, ay, az = q[0, 1, r], q[1, 1, r], q[2, 1, r]
        bx, by, bz = q[0, 2, r] - ax, q[1, 2, r] - ay, q[2, 2, r] - az
        cx, cy, cz = q[0, 3, r] - ax, q[1, 3, r] - ay, q[2, 3, r] - az
        px, py, pz = q[0, 0, r] - ax, q[1, 0, r] - ay, q[2, 0, r] - az
        d00, d01 = bx * bx + by * by + bz * bz, bx * cx + by * cy + bz * cz
        d11 = cx * cx + cy * cy + cz * cz
        d20, d21 = px * bx + py * by + pz * bz, px * cx + py * cy + pz * cz
        area = d00 * d11 - d01 * d01
        scale = 1.0 / max(area, TINY * d00 * d11 + 1e-300)
        v, w = (d11 * d20 - d01 * d21) * scale, (d00 * d21 - d01 * d20) * scale
        share[0, r], share[1, r], share[2, r], share[3, r] = 1.0, v + w - 1.0, -v, -w
        flat = area <= TINY * d00 * d11  # as a line; it has no inside
        if share[1, r] > 0.0 or share[2, r] > 0.0 or share[3, r] > 0.0 or flat:
            best, along, side = np.inf, 0.0, 0
            for k in range(3):
                start, end = 1 + k, 1 + (k + 1) % 3
                ex, ey, ez = q[0, end, r] - q[0, start, r], q[1, end, r] - q[1, start, r], q[2, end, r] - q[2, start, r]
                tx, ty, tz = q[0, 0, r] - q[0, start, r], q[1, 0, r] - q[1, start, r], q[2, 0, r] - q[2, start, r]
                t = _clip((tx * ex + ty * ey + tz * ez) / max(ex * ex + ey * ey + ez * ez, 1e-300))
                tx, ty, tz = tx - t * ex, ty - t * ey, tz - t * ez
                square = tx * tx + ty * ty + tz * tz
                if square < best:
                    best, along, side = square, t, k
            share[1, r], share[2, r], share[3, r] = 0.0, 0.0, 0.0
            share[1 + side, r] = along - 1.0
            share[1 + (side + 1) % 3, r] = -along
    return share


@kernel("f8[:,::1](f8[:,:,:])")
def closest_on_edges(q: np.ndarray) -> np.ndarray:
    """As `numpy_contact.closest_on_edges`."""
    count = q.shape[2]
    share = np.empty((4, count))
    for r in range(count):
        dx, dy, dz = q[0, 1, r] - q[0, 0, r], q[1, 1, r] - q[1, 0, r], q[2, 1, r] - q[2, 0, r]
        ex, ey, ez = q[0, 3, r] - q[0, 2, r], q[1, 3, r] - q[1, 2, r], q[2, 3, r] - q[2, 2, r]
        rx, ry, rz = q[0, 0, r] - q[0, 2, r], q[1, 0, r] - q[1, 2, r], q[2, 0, r] - q[2, 2, r]
        a, e = dx * dx + dy * dy + dz * dz, ex * ex + ey * ey + ez * ez
        b = dx * ex + dy * ey + dz * ez
        c, f = dx * rx + dy * ry + dz * rz, ex * rx + ey * ry + ez * rz
        area = a * e - b * b
        a, e = max(a, 1e-300), max(e, 1e-300)
        s = 0.5 if area <= 1e-9 * a * e else _clip((b * f - c * e) / area)
        t = (b * s + f) / e
        clamped = _clip(t)
        if t != clamped:
            s = _clip((b * clamped - c) / a)
        # Parallel edges meet along a stretch; a second round finds ends that touch.
        t = _clip((b * s + f) / e)
        share[0, r], share[1, r], share[2, r], share[3, r] = 1.0 - s, s, t - 1.0, -t
    return share


@kernel("Tuple((f8[::1], f8[:,::1]))(f8[:,:,:], f8[:,:])")
def separation(q: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As `numpy_contact.separation`."""
    count = q.shape[2]
    distance, unit = np.empty(count), np.empty((3, count))
    for r in range(count):
        a, b, c, d = share[0, r], share[1, r], share[2, r], share[3, r]
        gx = q[0, 0, r] * a + q[0, 1, r] * b + q[0, 2, r] * c + q[0, 3, r] * d
        gy = q[1, 0, r] * a + q[1, 1, r] * b + q[1, 2, r] * c + q[1, 3, r] * d
        gz = q[2, 0, r] * a + q[2, 1, r] * b + q[2, 2, r] * c + q[2, 3, r] * d
        length = sqrt(gx * gx + gy * gy + gz * gz)
        scale = max(length, 1e-300)
        distance[r] = length
        unit[0, r], unit[1, r], unit[2, r] = gx / scale, gy / scale, gz / scale
    return distance, unit


@kernel("f8[:,::1](f8[:,::1], i8[:,:], f8[:,:])")
def heights(p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """As `numpy_contact.heights`."""
    count = particles.shape[1]
    result = np.empty((4, count))
    for corner in range(4):
        for r in range(count):
            i = np.uint64(particles[corner, r])
            result[corner, r] = normals[0, r] * p[0, i] + normals[1, r] * p[1, i] + normals[2, r] * p[2, i]
    return result


@kernel("void(f8[:,::1], i8[:,:], f8[:,:], f8[:,:], f8[:,:], f8[:], f8, f8[:])")
def push_apart(
    p: np.ndarray,
    particles: np.ndarray,
    share: np.ndarray,
    normals: np.ndarray,
    weights: np.ndarray,
    wanted: np.ndarray,
    relaxation: float,
    multipliers: np.ndarray,
) -> None:
    """As `numpy_contact.push_apart`."""
    count, n = particles.shape[1], p.shape[1]
    at_work, gap, many = np.empty(count, np.int64), np.empty(count), 0
    crowd = np.zeros(n)
    for r in range(count):
        missing = wanted[r]
        for corner in range(4):
            i = np.uint64(particles[corner, r])
            height = normals[0, r] * p[0, i] + normals[1, r] * p[1, i] + normals[2, r] * p[2, i]
            missing -= share[corner, r] * height
        if missing > 0.0 or multipliers[r] > 0.0:
            at_work[many], gap[many] = r, missing
            many += 1
            for corner in range(4):
                crowd[np.uint64(particles[corner, r])] += abs(share[corner, r])
    if not many:
        return
    moves = np.zeros((3, n))
    for number in range(many):
        r = at_work[number]
        stiffness = TINY
        for corner in range(4):
            stiffness += crowd[np.uint64(particles[corner, r])] * weights[corner, r] * abs(share[corner, r])
        step = max(relaxation * gap[number] / stiffness, -multipliers[r])
        multipliers[r] += step
        for corner in range(4):
            i = np.uint64(particles[corner, r])
            move = weights[corner, r] * share[corner, r] * step
            for axis in range(3):
                moves[axis, i] += move * normals[axis, r]
    _add(p, moves)


@kernel("void(f8[:,::1], f8[:,::1], i8[:,:], f8[:,:], f8[:,:], f8[:,:], f8[:], f8[:], f8[:], f8[:,:])")
def rub_contacts(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    share: np.ndarray,
    normals: np.ndarray,
    weights: np.ndarray,
    sticking: np.ndarray,
    sliding: np.ndarray,
    multipliers: np.ndarray,
    rubbed: np.ndarray,
) -> None:
    """As `numpy_contact.rub_contacts`."""
    count, n = particles.shape[1], p.shape[1]
    crowd, moves = np.zeros(n), np.zeros((3, n))
    for corner in range(4):
        for r in range(count):
            crowd[np.uint64(particles[corner, r])] += abs(share[corner, r])
    for r in range(count):
        sx, sy, sz, stiffness = 0.0, 0.0, 0.0, TINY
        for corner in range(4):
            i, part = np.uint64(particles[corner, r]), share[corner, r]
            sx += (p[0, i] - x[0, i]) * part
            sy += (p[1, i] - x[1, i]) * part
            sz += (p[2, i] - x[2, i]) * part
            stiffness += crowd[i] * weights[corner, r] * abs(part)
        nx, ny, nz = normals[0, r], normals[1, r], normals[2, r]
        off = nx * sx + ny * sy + nz * sz
        wx = rubbed[0, r] - (sx - nx * off) / stiffness
        wy = rubbed[1, r] - (sy - ny * off) / stiffness
        wz = rubbed[2, r] - (sz - nz * off) / stiffness
        strength = sqrt(wx * wx + wy * wy + wz * wz)
        most = (sliding[r] if strength > sticking[r] * multipliers[r] else sticking[r]) * multipliers[r]
        scale = min(most, strength) / max(strength, 1e-300)
        wx, wy, wz = wx * scale - rubbed[0, r], wy * scale - rubbed[1, r], wz * scale - rubbed[2, r]
        rubbed[0, r] += wx
        rubbed[1, r] += wy
        rubbed[2, r] += wz
        for corner in range(4):
            i, move = np.uint64(particles[corner, r]), weights[corner, r] * share[corner, r]
            moves[0, i] += move * wx
            moves[1, i] += move * wy
            moves[2, i] += move * wz
    _add(p, moves)
