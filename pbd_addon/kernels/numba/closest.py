"""Closest points of the sides of contacts, compiled by Numba.

What other files need of one contact at a time are helpers without a leading underscore.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from .. import FACE
from ..protocol.guards import TINY
from .compile import helper, kernel


@helper
def clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@helper
def _along(p: np.ndarray, point: int, start: int, end: int) -> tuple[float, float]:
    """Where a side is closest to a point, from 0 to 1, and the squared distance there."""
    ex, ey, ez = p[0, end] - p[0, start], p[1, end] - p[1, start], p[2, end] - p[2, start]
    tx, ty, tz = p[0, point] - p[0, start], p[1, point] - p[1, start], p[2, point] - p[2, start]
    t = clip((tx * ex + ty * ey + tz * ez) / max(ex * ex + ey * ey + ez * ez, 1e-300))
    tx, ty, tz = tx - t * ex, ty - t * ey, tz - t * ez
    return t, tx * tx + ty * ty + tz * tz


@helper
def _on_triangle(p: np.ndarray, a: int, b: int, c: int, d: int) -> tuple[float, float, float, float]:
    """Weights of the closest points, see `numpy.closest.closest_on_triangles`, of vertex a and triangle b, c, d."""
    bx, by, bz = p[0, c] - p[0, b], p[1, c] - p[1, b], p[2, c] - p[2, b]
    cx, cy, cz = p[0, d] - p[0, b], p[1, d] - p[1, b], p[2, d] - p[2, b]
    px, py, pz = p[0, a] - p[0, b], p[1, a] - p[1, b], p[2, a] - p[2, b]
    d00, d01 = bx * bx + by * by + bz * bz, bx * cx + by * cy + bz * cz
    d11 = cx * cx + cy * cy + cz * cz
    d20, d21 = px * bx + py * by + pz * bz, px * cx + py * cy + pz * cz
    area = d00 * d11 - d01 * d01
    scale = 1.0 / max(area, TINY * d00 * d11 + 1e-300)
    v, w = (d11 * d20 - d01 * d21) * scale, (d00 * d21 - d01 * d20) * scale
    flat = area <= TINY * d00 * d11  # as a line; it has no inside
    if v + w <= 1.0 and v >= 0.0 and w >= 0.0 and not flat:
        return 1.0, v + w - 1.0, -v, -w
    t, square = _along(p, a, b, c)
    other_t, other_square = _along(p, a, c, d)
    last_t, last_square = _along(p, a, d, b)
    if square <= other_square and square <= last_square:
        return 1.0, t - 1.0, -t, 0.0
    if other_square <= last_square:
        return 1.0, 0.0, other_t - 1.0, -other_t
    return 1.0, -last_t, 0.0, last_t - 1.0


@helper
def _on_edges(p: np.ndarray, a: int, b: int, c: int, d: int) -> tuple[float, float, float, float]:
    """Weights of the closest points, see `numpy.closest.closest_on_edges`, of a - b and c - d."""
    dx, dy, dz = p[0, b] - p[0, a], p[1, b] - p[1, a], p[2, b] - p[2, a]
    ex, ey, ez = p[0, d] - p[0, c], p[1, d] - p[1, c], p[2, d] - p[2, c]
    rx, ry, rz = p[0, a] - p[0, c], p[1, a] - p[1, c], p[2, a] - p[2, c]
    first, second = dx * dx + dy * dy + dz * dz, ex * ex + ey * ey + ez * ez
    both = dx * ex + dy * ey + dz * ez
    down, along = dx * rx + dy * ry + dz * rz, ex * rx + ey * ry + ez * rz
    area = first * second - both * both
    first, second = max(first, 1e-300), max(second, 1e-300)
    s = 0.5 if area <= 1e-9 * first * second else clip((both * along - down * second) / area)
    t = (both * s + along) / second
    clamped = clip(t)
    if t != clamped:
        s = clip((both * clamped - down) / first)
    # Parallel edges meet along a stretch; a second round finds ends that touch.
    t = clip((both * s + along) / second)
    return 1.0 - s, s, t - 1.0, -t


@helper
def closest_of(
    p: np.ndarray, kind: int, a: int, b: int, c: int, d: int
) -> tuple[tuple[float, float, float, float], float, tuple[float, float, float]]:
    """As `closest_points`, of one contact."""
    weights = _on_triangle(p, a, b, c, d) if kind == FACE else _on_edges(p, a, b, c, d)
    x = p[0, a] * weights[0] + p[0, b] * weights[1] + p[0, c] * weights[2] + p[0, d] * weights[3]
    y = p[1, a] * weights[0] + p[1, b] * weights[1] + p[1, c] * weights[2] + p[1, d] * weights[3]
    z = p[2, a] * weights[0] + p[2, b] * weights[1] + p[2, c] * weights[2] + p[2, d] * weights[3]
    length = sqrt(x * x + y * y + z * z)
    scale = max(length, 1e-300)
    return weights, length, (x / scale, y / scale, z / scale)


@helper
def height_of(p: np.ndarray, normal: tuple[float, float, float], particle: int) -> float:
    return normal[0] * p[0, particle] + normal[1] * p[1, particle] + normal[2] * p[2, particle]


@helper
def clearance_of(p: np.ndarray, kind: int, a: int, b: int, c: int, d: int, normal: tuple[float, float, float]) -> float:
    """As `clearances`, of one contact."""
    one, two, three, four = (
        height_of(p, normal, a),
        height_of(p, normal, b),
        height_of(p, normal, c),
        height_of(p, normal, d),
    )
    if kind == FACE:
        return one - max(max(two, three), four)
    return min(one, two) - max(three, four)


@helper
def gap_of(
    p: np.ndarray,
    a: int,
    b: int,
    c: int,
    d: int,
    weights: tuple[float, float, float, float],
    normal: tuple[float, float, float],
) -> float:
    """As `gaps`, of one contact, added in the order of NumPy's kernel."""
    gap = weights[0] * height_of(p, normal, a) + weights[1] * height_of(p, normal, b)
    return gap + weights[2] * height_of(p, normal, c) + weights[3] * height_of(p, normal, d)


@kernel("Tuple((f8[:,::1], f8[::1], f8[:,::1]))(f8[:,::1], i8[:,:], i1[:])")
def closest_points(p: np.ndarray, particles: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = particles.shape[1]
    all_weights, distance, normals = np.empty((4, count)), np.empty(count), np.empty((3, count))
    for r in range(count):
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        weights, distance[r], normal = closest_of(p, kind[r], a, b, c, d)
        all_weights[0, r], all_weights[1, r], all_weights[2, r], all_weights[3, r] = weights
        normals[0, r], normals[1, r], normals[2, r] = normal
    return all_weights, distance, normals


@kernel("f8[::1](f8[:,::1], i8[:,:], f8[:,:], i1[:])")
def clearances(p: np.ndarray, particles: np.ndarray, normals: np.ndarray, kind: np.ndarray) -> np.ndarray:
    count = particles.shape[1]
    result = np.empty(count)
    for r in range(count):
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        result[r] = clearance_of(p, kind[r], a, b, c, d, (normals[0, r], normals[1, r], normals[2, r]))
    return result


@kernel("f8[::1](f8[:,::1], i8[:,:], f8[:,:], f8[:,:])")
def gaps(p: np.ndarray, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> np.ndarray:
    count = particles.shape[1]
    result = np.empty(count)
    for r in range(count):
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        share = weights[0, r], weights[1, r], weights[2, r], weights[3, r]
        result[r] = gap_of(p, a, b, c, d, share, (normals[0, r], normals[1, r], normals[2, r]))
    return result


@kernel("i8[::1](f8[:,::1], f8[:,::1], i8[:,:], f8[:,:], i1[:], i8[::1], b1)")
def unseparated(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    normals: np.ndarray,
    kind: np.ndarray,
    which: np.ndarray,
    at_p: bool,
) -> np.ndarray:
    found, count = np.empty(len(which), np.int64), 0
    for k in range(len(which)):
        r = which[k]
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        normal = normals[0, r], normals[1, r], normals[2, r]
        for attempt in range(2 if at_p else 1):
            if attempt:
                _, _, normal = closest_of(p, kind[r], a, b, c, d)
            is_apart = (
                clearance_of(p, kind[r], a, b, c, d, normal) > 0.0
                and clearance_of(x, kind[r], a, b, c, d, normal) > 0.0
            )
            if is_apart:
                break
        if not is_apart:
            found[count] = r
            count += 1
    return found[:count].copy()


@kernel("f8[:,::1](f8[:,::1], i8[:,:], f8[:,:])")
def heights(p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    count = particles.shape[1]
    result = np.empty((4, count))
    for corner in range(4):
        for r in range(count):
            i = np.uint64(particles[corner, r])
            result[corner, r] = normals[0, r] * p[0, i] + normals[1, r] * p[1, i] + normals[2, r] * p[2, i]
    return result
