"""Contacts compiled by Numba, one by one."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .. import FACE
from .compile import helper, kernel

TINY = 1e-12


@helper
def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


@helper
def _add(p: np.ndarray, moves: np.ndarray) -> None:
    for axis in range(3):
        for i in range(p.shape[1]):
            p[axis, i] += moves[axis, i]


@helper
def _along(p: np.ndarray, point: int, start: int, end: int) -> tuple[float, float]:
    """Where a side is closest to a point, from 0 to 1, and the squared distance there."""
    ex, ey, ez = p[0, end] - p[0, start], p[1, end] - p[1, start], p[2, end] - p[2, start]
    tx, ty, tz = p[0, point] - p[0, start], p[1, point] - p[1, start], p[2, point] - p[2, start]
    t = _clip((tx * ex + ty * ey + tz * ez) / max(ex * ex + ey * ey + ez * ez, 1e-300))
    tx, ty, tz = tx - t * ex, ty - t * ey, tz - t * ez
    return t, tx * tx + ty * ty + tz * tz


@helper
def _on_triangle(p: np.ndarray, a: int, b: int, c: int, d: int) -> tuple[float, float, float, float]:
    """Weights of the closest points, see `numpy.contact.closest_on_triangles`, of vertex a and triangle b, c, d."""
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
    """Weights of the closest points, see `numpy.contact.closest_on_edges`, of a - b and c - d."""
    dx, dy, dz = p[0, b] - p[0, a], p[1, b] - p[1, a], p[2, b] - p[2, a]
    ex, ey, ez = p[0, d] - p[0, c], p[1, d] - p[1, c], p[2, d] - p[2, c]
    rx, ry, rz = p[0, a] - p[0, c], p[1, a] - p[1, c], p[2, a] - p[2, c]
    first, second = dx * dx + dy * dy + dz * dz, ex * ex + ey * ey + ez * ez
    both = dx * ex + dy * ey + dz * ez
    down, along = dx * rx + dy * ry + dz * rz, ex * rx + ey * ry + ez * rz
    area = first * second - both * both
    first, second = max(first, 1e-300), max(second, 1e-300)
    s = 0.5 if area <= 1e-9 * first * second else _clip((both * along - down * second) / area)
    t = (both * s + along) / second
    clamped = _clip(t)
    if t != clamped:
        s = _clip((both * clamped - down) / first)
    # Parallel edges meet along a stretch; a second round finds ends that touch.
    t = _clip((both * s + along) / second)
    return 1.0 - s, s, t - 1.0, -t


@helper
def _closest(
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
def _height(p: np.ndarray, normal: tuple[float, float, float], particle: int) -> float:
    return normal[0] * p[0, particle] + normal[1] * p[1, particle] + normal[2] * p[2, particle]


@helper
def _clearance(p: np.ndarray, kind: int, a: int, b: int, c: int, d: int, normal: tuple[float, float, float]) -> float:
    """As `clearances`, of one contact."""
    one, two, three, four = _height(p, normal, a), _height(p, normal, b), _height(p, normal, c), _height(p, normal, d)
    if kind == FACE:
        return one - max(max(two, three), four)
    return min(one, two) - max(three, four)


@helper
def _dot(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel("Tuple((f8[:,::1], f8[::1], f8[:,::1]))(f8[:,::1], i8[:,:], i1[:])")
def closest_points(p: np.ndarray, particles: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = particles.shape[1]
    all_weights, distance, normals = np.empty((4, count)), np.empty(count), np.empty((3, count))
    for r in range(count):
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        weights, distance[r], normal = _closest(p, kind[r], a, b, c, d)
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
        result[r] = _clearance(p, kind[r], a, b, c, d, (normals[0, r], normals[1, r], normals[2, r]))
    return result


@kernel(
    "Tuple((i8[:,::1], f8[:,::1], f8[:,::1], f8[::1]))"
    "(f8[:,::1], i8[:], i8[:], i8[:,:], i8[:,:], i8, f8[:], f8[:], f8[:,:], f8[:], b1)"
)
def cull_pairs(
    x: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    primitives: np.ndarray,
    other_primitives: np.ndarray,
    kind: int,
    distance: np.ndarray,
    margin: np.ndarray,
    displacement: np.ndarray,
    drift: np.ndarray,
    same: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    pairs, count = len(first), 0
    # Memory that is never written costs nothing.
    particles, all_weights = np.empty((4, pairs), np.int64), np.empty((4, pairs))
    normals, kept = np.empty((3, pairs)), np.empty(pairs)
    last, other_last = len(primitives) - 1, len(other_primitives) - 1
    for r in range(pairs):
        i, j = np.uint64(first[r]), np.uint64(second[r])
        a, d = np.uint64(primitives[0, i]), np.uint64(other_primitives[other_last, j])
        if kind == FACE:
            b, c = np.uint64(other_primitives[0, j]), np.uint64(other_primitives[1, j])
        else:
            b, c = np.uint64(primitives[last, i]), np.uint64(other_primitives[0, j])
        if a in (c, d) or (a == b if kind == FACE else b in (c, d)):
            continue
        weights, gap, normal = _closest(x, kind, a, b, c, d)
        first_margin, second_margin = margin[a], max(margin[c], margin[d])
        down, up = (
            _height(displacement, normal, a),
            max(_height(displacement, normal, c), _height(displacement, normal, d)),
        )
        if kind == FACE:
            second_margin, up = max(second_margin, margin[b]), max(up, _height(displacement, normal, b))
        else:
            first_margin, down = max(first_margin, margin[b]), min(down, _height(displacement, normal, b))
        if same:
            closer = max(up - down, 0.0)
        else:
            closer = max(up, 0.0) + max(-down, 0.0)
            closer += (drift[a] + drift[d]) * (abs(normal[0]) + abs(normal[1]) + abs(normal[2]))
        if gap <= distance[r] + (first_margin + second_margin + closer):
            particles[0, count], particles[1, count], particles[2, count], particles[3, count] = a, b, c, d
            all_weights[0, count], all_weights[1, count], all_weights[2, count], all_weights[3, count] = weights
            normals[0, count], normals[1, count], normals[2, count] = normal
            kept[count] = distance[r]
            count += 1
    return particles[:, :count].copy(), all_weights[:, :count].copy(), normals[:, :count].copy(), kept[:count].copy()


@kernel("Tuple((i8[::1], f8[:,::1], f8[:,::1]))(f8[:,::1], f8[:,::1], i8[:,:], i1[:], f8[:,:], f8[:], b1[:])")
def separating_planes(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    kind: np.ndarray,
    normals: np.ndarray,
    distance: np.ndarray,
    is_exit: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, count = particles.shape[1], 0
    which, all_weights, planes = np.empty(rows, np.int64), np.empty((4, rows)), np.empty((3, rows))
    for r in range(rows):
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        weights, gap, now = _closest(p, kind[r], a, b, c, d)
        old = normals[0, r], normals[1, r], normals[2, r]
        sign = np.sign(_dot(now, old))
        if not is_exit[r] and _clearance(p, kind[r], a, b, c, d, old) <= 0.0:
            old_weights, _, old = _closest(x, kind[r], a, b, c, d)
            if _clearance(p, kind[r], a, b, c, d, old) <= 0.0:
                weights, now, sign = old_weights, old, 1.0
            elif sign * _dot(now, old) < 0.0:
                sign = -sign
        now = sign * now[0], sign * now[1], sign * now[2]
        if gap < distance[r] or is_exit[r] or _clearance(p, kind[r], a, b, c, d, now) <= 0.0:
            which[count] = r
            all_weights[0, count], all_weights[1, count], all_weights[2, count], all_weights[3, count] = weights
            planes[0, count], planes[1, count], planes[2, count] = now
            count += 1
    return which[:count].copy(), all_weights[:, :count].copy(), planes[:, :count].copy()


@kernel("f8[:,::1](f8[:,::1], i8[:,:], f8[:,:])")
def heights(p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    count = particles.shape[1]
    result = np.empty((4, count))
    for corner in range(4):
        for r in range(count):
            i = np.uint64(particles[corner, r])
            result[corner, r] = normals[0, r] * p[0, i] + normals[1, r] * p[1, i] + normals[2, r] * p[2, i]
    return result


@kernel("void(f8[:,::1], i8[:,:], f8[:,:], f8[:,:], f8[:,:], f8[:], f8, f8[:])")
def project_contacts(
    p: np.ndarray,
    particles: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    inverse_masses: np.ndarray,
    target_gap: np.ndarray,
    relaxation: float,
    multipliers: np.ndarray,
) -> None:
    count, n = particles.shape[1], p.shape[1]
    working, gap, many = np.empty(count, np.int64), np.empty(count), 0
    valence_weights = np.zeros(n)
    for r in range(count):
        reached = 0.0
        for corner in range(4):
            i = np.uint64(particles[corner, r])
            height = normals[0, r] * p[0, i] + normals[1, r] * p[1, i] + normals[2, r] * p[2, i]
            reached += weights[corner, r] * height
        # In NumPy's order: whether contacts that just touch take part hangs on the last digit.
        missing = target_gap[r] - reached
        if missing > 0.0 or multipliers[r] > 0.0:
            working[many], gap[many] = r, missing
            many += 1
            for corner in range(4):
                valence_weights[np.uint64(particles[corner, r])] += abs(weights[corner, r])
    if not many:
        return
    moves = np.zeros((3, n))
    for number in range(many):
        r = working[number]
        stiffness = TINY
        for corner in range(4):
            valence = valence_weights[np.uint64(particles[corner, r])]
            stiffness += valence * inverse_masses[corner, r] * abs(weights[corner, r])
        step = max(relaxation * gap[number] / stiffness, -multipliers[r])
        multipliers[r] += step
        for corner in range(4):
            i = np.uint64(particles[corner, r])
            move = inverse_masses[corner, r] * weights[corner, r] * step
            for axis in range(3):
                moves[axis, i] += move * normals[axis, r]
    _add(p, moves)


@kernel("void(f8[:,::1], f8[:,::1], i8[:,:], f8[:,:], f8[:,:], f8[:,:], f8[:], f8[:], f8[:], f8[:,:])")
def apply_contact_friction(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    inverse_masses: np.ndarray,
    static: np.ndarray,
    sliding: np.ndarray,
    multipliers: np.ndarray,
    tangential: np.ndarray,
) -> None:
    count, n = particles.shape[1], p.shape[1]
    valence_weights, moves = np.zeros(n), np.zeros((3, n))
    for corner in range(4):
        for r in range(count):
            valence_weights[np.uint64(particles[corner, r])] += abs(weights[corner, r])
    for r in range(count):
        sx, sy, sz, stiffness = 0.0, 0.0, 0.0, TINY
        for corner in range(4):
            i, part = np.uint64(particles[corner, r]), weights[corner, r]
            sx += (p[0, i] - x[0, i]) * part
            sy += (p[1, i] - x[1, i]) * part
            sz += (p[2, i] - x[2, i]) * part
            stiffness += valence_weights[i] * inverse_masses[corner, r] * abs(part)
        nx, ny, nz = normals[0, r], normals[1, r], normals[2, r]
        off = nx * sx + ny * sy + nz * sz
        wx = tangential[0, r] - (sx - nx * off) / stiffness
        wy = tangential[1, r] - (sy - ny * off) / stiffness
        wz = tangential[2, r] - (sz - nz * off) / stiffness
        strength = sqrt(wx * wx + wy * wy + wz * wz)
        most = (sliding[r] if strength > static[r] * multipliers[r] else static[r]) * multipliers[r]
        scale = min(most, strength) / max(strength, 1e-300)
        wx, wy, wz = wx * scale - tangential[0, r], wy * scale - tangential[1, r], wz * scale - tangential[2, r]
        tangential[0, r] += wx
        tangential[1, r] += wy
        tangential[2, r] += wz
        for corner in range(4):
            i, move = np.uint64(particles[corner, r]), inverse_masses[corner, r] * weights[corner, r]
            moves[0, i] += move * wx
            moves[1, i] += move * wy
            moves[2, i] += move * wz
    _add(p, moves)
