"""Contacts compiled by Numba, one by one."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .. import FACE
from ..protocol.contact import LEVER, Bounds, Primitives
from .compile import helper, kernel
from .vectors import axes, dot, four, load, numbers, store, vector_of

TINY = 1e-12


@helper
def _clip(value: float) -> float:
    return min(max(value, 0.0), 1.0)


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


@helper
def _fit_cell(
    cell: int,
    leaves: np.ndarray,
    primitives: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    boxes: np.ndarray,
    around: np.ndarray,
) -> None:
    """Boxes around the primitives of a cell, and around all of them, unless they are there; NaN says that not."""
    if not np.isnan(around[cell, 0]):
        return
    around[cell] = np.inf
    for slot in range(leaves.shape[1]):
        if leaves[cell, slot] < 0:
            break
        i = np.uint64(leaves[cell, slot])
        for axis in range(3):
            particle = np.uint64(primitives[0, i])
            lowest, highest = low[axis, particle], high[axis, particle]
            for corner in range(1, len(primitives)):
                particle = np.uint64(primitives[corner, i])
                lowest, highest = min(lowest, low[axis, particle]), max(highest, high[axis, particle])
            boxes[i, axis], boxes[i, 3 + axis] = lowest, -highest
            around[cell, axis], around[cell, 3 + axis] = (
                min(around[cell, axis], lowest),
                min(around[cell, 3 + axis], -highest),
            )


@helper
def _around(boxes: np.ndarray, i: int, distance: float) -> tuple[float, float, float, float, float, float]:
    """A box with a distance added on every side."""
    x, y, z = boxes[i, 0] - distance, boxes[i, 1] - distance, boxes[i, 2] - distance
    return x, y, z, boxes[i, 3] - distance, boxes[i, 4] - distance, boxes[i, 5] - distance


@helper
def _overlap(box: tuple[float, float, float, float, float, float], boxes: np.ndarray, i: int) -> bool:
    """Whether a box overlaps one of others."""
    return (
        (box[0] <= -boxes[i, 3])
        & (box[1] <= -boxes[i, 4])
        & (box[2] <= -boxes[i, 5])
        & (boxes[i, 0] <= -box[3])
        & (boxes[i, 1] <= -box[4])
        & (boxes[i, 2] <= -box[5])
    )


@helper
def _can_meet(
    gap: float,
    normal: tuple[float, float, float],
    kind: int,
    a: int,
    b: int,
    c: int,
    d: int,
    margin: np.ndarray,
    displacement: np.ndarray,
    drift: np.ndarray,
    together: bool,
) -> bool:
    """Whether the bounds allow two sides to close a gap."""
    first_margin, second_margin = margin[a], max(margin[c], margin[d])
    down, up = (
        _height(displacement, normal, a),
        max(_height(displacement, normal, c), _height(displacement, normal, d)),
    )
    if kind == FACE:
        second_margin, up = max(second_margin, margin[b]), max(up, _height(displacement, normal, b))
    else:
        first_margin, down = max(first_margin, margin[b]), min(down, _height(displacement, normal, b))
    if together:
        closer = max(up - down, 0.0)
    else:
        closer = max(up, 0.0) + max(-down, 0.0)
        closer += (drift[a] + drift[d]) * (abs(normal[0]) + abs(normal[1]) + abs(normal[2]))
    return gap <= first_margin + second_margin + closer


@helper
def _share(cosine: float, flat: float, sharp: float, flat_share: float) -> float:
    """Share of the distance that an edge keeps."""
    return flat_share + (1.0 - flat_share) * _clip((flat - cosine) / max(flat - sharp, 1e-300))


@helper
def _grown(array: np.ndarray) -> np.ndarray:
    more = np.empty((len(array), 2 * array.shape[1]), array.dtype)
    more[:, : array.shape[1]] = array
    return more


@kernel(
    "Tuple((i8[:,::1], f8[:,::1], f8[:,::1], f8[::1]))"
    "(f8[:,::1], f8[:,::1], f8[:,::1], i8[:,:], i4[:,:], i4[:,:], f8[:], i4[:,:], i4[:,:], f8[:], i8, i8[:],"
    "f8[:,:,::1], f8, f8[:], f8[:,:], f8[:], b1, b1[:], b1)"
)
def _close_pairs(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    cells: np.ndarray,
    leaves: np.ndarray,
    primitives: np.ndarray,
    cosines: np.ndarray,
    other_leaves: np.ndarray,
    other_primitives: np.ndarray,
    other_cosines: np.ndarray,
    kind: int,
    owner: np.ndarray,
    tables: np.ndarray,
    flat_share: float,
    margin: np.ndarray,
    displacement: np.ndarray,
    drift: np.ndarray,
    together: bool,
    is_late: np.ndarray,
    once: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    # Memory that is never written costs nothing.
    boxes, other_boxes = np.empty((primitives.shape[1], 6)), np.empty((other_primitives.shape[1], 6))
    around, other_around = np.full((len(leaves), 6), np.nan), np.full((len(other_leaves), 6), np.nan)
    room, count = max(256, 8 * cells.shape[1]), 0
    ids, values = np.empty((4, room), np.int64), np.empty((8, room))
    some = np.empty(other_leaves.shape[1], np.int64)
    last, other_last = len(primitives) - 1, len(other_primitives) - 1
    for k in range(cells.shape[1]):
        cell, other_cell = np.uint64(cells[0, k]), np.uint64(cells[1, k])
        if leaves[cell, 0] < 0 or other_leaves[other_cell, 0] < 0:
            continue
        _fit_cell(cell, leaves, primitives, low, high, boxes, around)
        _fit_cell(other_cell, other_leaves, other_primitives, low, high, other_boxes, other_around)
        one = owner[primitives[0, leaves[cell, 0]]]
        other = owner[other_primitives[0, other_leaves[other_cell, 0]]]
        one, other = min(one, other), max(one, other)
        distance, reach, flat, sharp = (
            tables[0, one, other], tables[1, one, other], tables[2, one, other], tables[3, one, other]
        )  # fmt: skip
        box, many = _around(around, cell, reach), 0
        if not _overlap(box, other_around, other_cell):
            continue
        for slot in range(other_leaves.shape[1]):
            if other_leaves[other_cell, slot] < 0:
                break
            some[many] = slot
            many += _overlap(box, other_boxes, np.uint64(other_leaves[other_cell, slot]))
        box = _around(other_around, other_cell, reach)
        for slot in range(leaves.shape[1]):
            if leaves[cell, slot] < 0:
                break
            i = np.uint64(leaves[cell, slot])
            if not _overlap(box, boxes, i):
                continue
            of_one = _share(cosines[i], flat, sharp, flat_share) if len(cosines) else 1.0
            own_box = _around(boxes, i, of_one * reach)
            a, b = np.uint64(primitives[0, i]), np.uint64(primitives[last, i])
            for which in range(many):
                j = np.uint64(other_leaves[other_cell, some[which]])
                if not _overlap(own_box, other_boxes, j) or (once and cell == other_cell and some[which] <= slot):
                    continue
                share = of_one
                if len(other_cosines):
                    share = min(share, _share(other_cosines[j], flat, sharp, flat_share))
                    if share < of_one and not _overlap(_around(boxes, i, share * reach), other_boxes, j):
                        continue
                c, d = np.uint64(other_primitives[0, j]), np.uint64(other_primitives[other_last, j])
                if kind == FACE:
                    b, c = np.uint64(other_primitives[0, j]), np.uint64(other_primitives[1, j])
                if a in (c, d) or (a == b if kind == FACE else b in (c, d)):
                    continue
                if len(is_late) and not (is_late[a] or is_late[b] or is_late[c] or is_late[d]):
                    continue
                weights, gap, normal = _closest(x, kind, a, b, c, d)
                kept = share * distance
                if not _can_meet(gap - kept, normal, kind, a, b, c, d, margin, displacement, drift, together):
                    continue
                if count == ids.shape[1]:
                    ids, values = _grown(ids), _grown(values)
                ids[0, count], ids[1, count], ids[2, count], ids[3, count] = a, b, c, d
                values[0, count], values[1, count], values[2, count], values[3, count] = weights
                values[4, count], values[5, count], values[6, count] = normal
                values[7, count] = kept
                count += 1
    return ids[:, :count].copy(), values[:4, :count].copy(), values[4:7, :count].copy(), values[7, :count].copy()


def close_pairs(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    cells: np.ndarray,
    one: Primitives,
    other: Primitives,
    kind: int,
    owner: np.ndarray,
    tables: np.ndarray,
    flat_share: float,
    bounds: Bounds,
    is_late: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    once = kind != FACE and one.leaves is other.leaves
    found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] = _close_pairs(
        x, low, high, cells, *one, *other, kind, owner, tables, flat_share, bounds.margin, bounds.displacement,
        bounds.drift, bounds.together, is_late, once,
    )  # fmt: skip
    return found


@helper
def _volume(p: np.ndarray, a: int, b: int, c: int, d: int) -> float:
    """Six times the signed volume of a tetrahedron."""
    ux, uy, uz = p[0, b] - p[0, a], p[1, b] - p[1, a], p[2, b] - p[2, a]
    vx, vy, vz = p[0, c] - p[0, a], p[1, c] - p[1, a], p[2, c] - p[2, a]
    wx, wy, wz = p[0, d] - p[0, a], p[1, d] - p[1, a], p[2, d] - p[2, a]
    return ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)


@kernel("i8[::1](f8[:,::1], i4[:,:], i4[:,:], i8[:], i8[:], f8)")
def crossing(
    x: np.ndarray, edges: np.ndarray, triangles: np.ndarray, edge: np.ndarray, triangle: np.ndarray, rounding: float
) -> np.ndarray:
    found, count = np.empty(len(edge), np.int64), 0
    for k in range(len(edge)):
        i, j = np.uint64(edge[k]), np.uint64(triangle[k])
        p, q = np.uint64(edges[0, i]), np.uint64(edges[1, i])
        a, b, c = np.uint64(triangles[0, j]), np.uint64(triangles[1, j]), np.uint64(triangles[2, j])
        if p in (a, b, c) or q in (a, b, c):
            continue
        size, far = 0.0, 0.0
        for axis in range(3):
            size += abs(x[axis, q] - x[axis, p]) + abs(x[axis, b] - x[axis, a]) + abs(x[axis, c] - x[axis, a])
            far = max(far, abs(x[axis, p]))
        least = rounding * size * size * (size + far)
        one, other = _volume(x, p, a, b, c), -_volume(x, q, a, b, c)
        if not (min(one, other) > least or max(one, other) < -least):
            continue
        first, second, third = _volume(x, p, q, a, b), _volume(x, p, q, b, c), _volume(x, p, q, c, a)
        if min(min(first, second), third) > least or max(max(first, second), third) < -least:
            found[count] = k
            count += 1
    return found[:count].copy()


@kernel("f8(f8[:,::1], f8[:,::1])")
def closing_motion(p: np.ndarray, before: np.ndarray) -> float:
    middle = np.empty(3)
    for axis in range(3):
        low, high = np.inf, -np.inf
        for i in range(p.shape[1]):
            moved = p[axis, i] - before[axis, i]
            low = moved if moved < low else low
            high = moved if moved > high else high
        middle[axis] = 0.5 * (low + high)
    most, total = 0.0, 0.0
    for i in range(p.shape[1]):
        dx, dy = p[0, i] - before[0, i] - middle[0], p[1, i] - before[1, i] - middle[1]
        dz = p[2, i] - before[2, i] - middle[2]
        square = dx * dx + dy * dy + dz * dz
        most = square if square > most else most
        total += square
    return 2.0 * sqrt(most) if total < np.inf else np.inf


@kernel("i8[::1](f8[:,::1], i8[:,:], f8[:,:], i1[:], f8[:], f8[::1], f8)")
def near_candidates(
    p: np.ndarray,
    particles: np.ndarray,
    normals: np.ndarray,
    kind: np.ndarray,
    distance: np.ndarray,
    spare: np.ndarray,
    closed: float,
) -> np.ndarray:
    # In loops of their own: without unpredictable branches, measuring takes a third of the time.
    near, some, count = np.empty(len(spare), np.int64), 0, 0
    for r in range(len(spare)):
        near[some] = r
        some += not spare[r] >= closed  # NaN is measured again
    apart = np.empty(some)
    for k in range(some):
        r = near[k]
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        apart[k] = _clearance(p, kind[r], a, b, c, d, (normals[0, r], normals[1, r], normals[2, r]))
    for k in range(some):
        r = near[k]
        spare[r] = apart[k] - distance[r] + closed
        near[count] = r
        count += apart[k] < distance[r]
    return near[:count].copy()


@helper
def _gap(
    p: np.ndarray,
    a: int,
    b: int,
    c: int,
    d: int,
    weights: tuple[float, float, float, float],
    normal: tuple[float, float, float],
) -> float:
    """As `gaps`, of one contact, added in the order of NumPy's kernel."""
    gap = weights[0] * _height(p, normal, a) + weights[1] * _height(p, normal, b)
    return gap + weights[2] * _height(p, normal, c) + weights[3] * _height(p, normal, d)


@kernel(
    "Tuple((i8[::1], i8[:,::1], f8[:,::1], f8[:,::1], f8[:,::1], f8[::1], f8[:,::1]))"
    "(f8[:,::1], f8[:,::1], f8[::1], i8[::1], i8[:,:], i1[:], f8[:,:], f8[:,:], f8[:], b1[:], b1[::1], f8, f8, f8)"
)
def find_contacts(
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    near: np.ndarray,
    particles: np.ndarray,
    kind: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    distance: np.ndarray,
    is_exit: np.ndarray,
    is_stuck: np.ndarray,
    reach: float,
    opening_rate: float,
    most_opening: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows, count = len(near), 0
    number, ids, shares = np.empty(rows, np.int64), np.empty((4, rows), np.int64), np.empty((4, rows))
    planes, inverse_masses, kept, gaps = np.empty((3, rows)), np.empty((4, rows)), np.empty(rows), np.empty((4, rows))
    for k in range(rows):
        r = near[k]
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        old, least = (normals[0, r], normals[1, r], normals[2, r]), distance[r]
        if is_exit[r]:
            share, now = (weights[0, r], weights[1, r], weights[2, r], weights[3, r]), old
        else:
            share, gap, now = _closest(p, kind[r], a, b, c, d)
            sign = np.sign(_dot(now, old))
            if _clearance(p, kind[r], a, b, c, d, old) <= 0.0:
                old_share, _, old = _closest(x, kind[r], a, b, c, d)
                if _clearance(p, kind[r], a, b, c, d, old) <= 0.0:
                    share, now, sign = old_share, old, 1.0
                elif sign * _dot(now, old) < 0.0:
                    sign = -sign
            now = sign * now[0], sign * now[1], sign * now[2]
            if gap >= reach * least and _clearance(p, kind[r], a, b, c, d, now) > 0.0:
                continue
        before = _gap(x, a, b, c, d, share, now)
        overlap = max(least - before, 0.0)
        opening = min(opening_rate * overlap, most_opening)
        if len(is_stuck) and (is_stuck[a] or is_stuck[b] or is_stuck[c] or is_stuck[d]):
            opening = 0.0
        number[count], kept[count] = r, least
        ids[0, count], ids[1, count], ids[2, count], ids[3, count] = a, b, c, d
        shares[0, count], shares[1, count], shares[2, count], shares[3, count] = share
        planes[0, count], planes[1, count], planes[2, count] = now
        for corner in range(4):
            inverse_masses[corner, count] = w[ids[corner, count]]
        gaps[0, count], gaps[1, count], gaps[2, count] = before, opening, least - overlap + opening
        gaps[3, count] = _gap(p, a, b, c, d, share, now) - before
        count += 1
    return (
        number[:count].copy(), ids[:, :count].copy(), shares[:, :count].copy(), planes[:, :count].copy(),
        inverse_masses[:, :count].copy(), kept[:count].copy(), gaps[:, :count].copy(),
    )  # fmt: skip


@kernel("f8[::1](f8[:,::1], i8[:,:], f8[:,:], f8[:,:])")
def gaps(p: np.ndarray, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> np.ndarray:
    count = particles.shape[1]
    result = np.empty(count)
    for r in range(count):
        a, b = np.uint64(particles[0, r]), np.uint64(particles[1, r])
        c, d = np.uint64(particles[2, r]), np.uint64(particles[3, r])
        share = weights[0, r], weights[1, r], weights[2, r], weights[3, r]
        result[r] = _gap(p, a, b, c, d, share, (normals[0, r], normals[1, r], normals[2, r]))
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
                _, _, normal = _closest(p, kind[r], a, b, c, d)
            is_apart = (
                _clearance(p, kind[r], a, b, c, d, normal) > 0.0 and _clearance(x, kind[r], a, b, c, d, normal) > 0.0
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


@helper
def _numbered(particles: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The particles of rows numbered anew: which they are (k,), the number of each of n (-1: none), and rows (m, 4)."""
    numbers, used, count = np.full(n, -1), np.empty(min(n, particles.size), np.int64), 0
    ids = np.empty((particles.shape[1], 4), np.int64)
    for r in range(len(ids)):
        for corner in range(4):
            i = np.uint64(particles[corner, r])
            if numbers[i] < 0:
                numbers[i], used[count] = count, i
                count += 1
            ids[r, corner] = numbers[i]
    return used[:count], numbers, ids


@helper
def _gathered(p: np.ndarray, used: np.ndarray) -> np.ndarray:
    """Positions (3, n) of some particles, (k, 4), for `vectors`."""
    q = np.empty((len(used), 4))
    for k in range(len(used)):
        i = np.uint64(used[k])
        store(q, np.uint64(k), vector_of(p[0, i], p[1, i], p[2, i]))
    return q


@helper
def _put_back(p: np.ndarray, used: np.ndarray, q: np.ndarray) -> None:
    for k in range(len(used)):
        i = np.uint64(used[k])
        p[0, i], p[1, i], p[2, i] = q[k, 0], q[k, 1], q[k, 2]


@helper
def _by_row(columns: np.ndarray) -> np.ndarray:
    """Columns (3 or 4, m) as rows, (m, 4), for `vectors`."""
    rows = np.zeros((columns.shape[1], 4))
    for k in range(len(columns)):
        for r in range(len(rows)):
            rows[r, k] = columns[k, r]
    return rows


@helper
def _move(q: np.ndarray, moves: np.ndarray) -> None:
    """Add moves (k, 4) [m], and set them to 0."""
    for k in range(len(q)):
        i = np.uint64(k)
        store(q, i, load(q, i) + load(moves, i))
        store(moves, i, vector_of(0.0, 0.0, 0.0))


@helper
def _add_to(moves: np.ndarray, ids: np.ndarray, r: int, shares: Any, step: Any) -> None:
    """Move the particles of row r by a step (a vector) times shares (four numbers)."""
    a, b, c, d = np.uint64(ids[r, 0]), np.uint64(ids[r, 1]), np.uint64(ids[r, 2]), np.uint64(ids[r, 3])
    store(moves, a, load(moves, a) + shares[0] * step)
    store(moves, b, load(moves, b) + shares[1] * step)
    store(moves, c, load(moves, c) + shares[2] * step)
    store(moves, d, load(moves, d) + shares[3] * step)


@helper
def _stiffness(ids: np.ndarray, r: int, valence_weights: np.ndarray, masses: np.ndarray, sizes: np.ndarray) -> float:
    """Of row r: its inverse masses times absolute weights, and those of all contacts at its particles."""
    a, b, c, d = np.uint64(ids[r, 0]), np.uint64(ids[r, 1]), np.uint64(ids[r, 2]), np.uint64(ids[r, 3])
    valences, i = four(valence_weights[a], valence_weights[b], valence_weights[c], valence_weights[d]), np.uint64(r)
    one, two, three, last = numbers(valences * load(masses, i) * load(sizes, i))
    return TINY + one + two + three + last


@helper
def _give(r: int, masses: np.ndarray, sizes: np.ndarray) -> float:
    """As `_gives` of the NumPy backend, of row r."""
    i = np.uint64(r)
    each, size = numbers(load(masses, i) * load(sizes, i)), numbers(load(sizes, i))
    most = max(max(each[0], each[1]), max(each[2], each[3])) / LEVER
    own = each[0] * size[0] + each[1] * size[1] + each[2] * size[2] + each[3] * size[3]
    return max(most - own, 0.0) if own > 0.0 else np.inf


@kernel(
    "void(f8[:,::1], i8[:,:], f8[:,:], f8[:,:], f8[:,:], f8[:], f8[:], f8[::1], i8, f8[:], f8[:,::1], f8[:,::1],"
    "f8[:,::1])"
)
def project_contacts(
    p: np.ndarray,
    particles: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    inverse_masses: np.ndarray,
    target_gap: np.ndarray,
    enough: np.ndarray,
    relaxations: np.ndarray,
    passes: int,
    multipliers: np.ndarray,
    plane_normals: np.ndarray,
    plane_heights: np.ndarray,
    plane_pushes: np.ndarray,
) -> None:
    # The particles of the rows lie together while they are passed over; the others are no concern of most passes.
    count, n = particles.shape[1], p.shape[1]
    used, order, ids = _numbered(particles, n)
    q, moves, valence_weights = _gathered(p, used), np.zeros((len(used), 4)), np.empty(len(used))
    along, parts, masses = _by_row(normals), _by_row(weights), _by_row(inverse_masses)
    sizes, working, gap, gives = np.abs(parts), np.empty(count, np.int64), np.empty(count), np.empty(count)
    for r in range(count):
        gives[r] = _give(r, masses, sizes)
    for number in range(passes):
        many, is_short = 0, False
        valence_weights[:] = 0.0
        for r in range(count):
            i, reached = np.uint64(r), 0.0
            normal = load(along, i)
            for corner in range(4):
                reached += parts[i, corner] * dot(normal, load(q, np.uint64(ids[i, corner])))
            # In NumPy's order: whether contacts that just touch take part hangs on the last digit.
            missing = target_gap[r] - reached
            if gives[r] > 0.0:
                given = gives[r] * multipliers[r] if gives[r] < np.inf else np.inf
                missing, reached = missing - given, reached + given
            is_short |= not reached >= enough[r]
            if missing > 0.0 or multipliers[r] > 0.0:
                working[many], gap[many] = r, missing
                many += 1
                for corner in range(4):
                    valence_weights[np.uint64(ids[i, corner])] += sizes[i, corner]
        if number >= len(relaxations) and not is_short:
            break
        relaxation = relaxations[min(number, len(relaxations) - 1)]
        for k in range(many):
            r = working[k]
            i = np.uint64(r)
            step = relaxation * gap[k] / (_stiffness(ids, r, valence_weights, masses, sizes) + gives[r])
            step = max(step, -multipliers[r])
            multipliers[r] += step
            _add_to(moves, ids, r, numbers(step * (load(masses, i) * load(parts, i))), load(along, i))
        _move(q, moves)
        for plane in range(len(plane_normals)):
            nx, ny, nz = plane_normals[plane, 0], plane_normals[plane, 1], plane_normals[plane, 2]
            for each in range(n if number == 0 else 0):
                i = np.uint64(each)
                if order[i] < 0:
                    height = nx * p[0, i] + ny * p[1, i] + nz * p[2, i]
                    push = max(plane_heights[plane, i] - height, -plane_pushes[plane, i])
                    if push != 0.0:
                        plane_pushes[plane, i] += push
                        p[0, i], p[1, i], p[2, i] = p[0, i] + nx * push, p[1, i] + ny * push, p[2, i] + nz * push
            for k in range(len(used)):
                i = np.uint64(used[k])
                height = nx * q[k, 0] + ny * q[k, 1] + nz * q[k, 2]
                push = max(plane_heights[plane, i] - height, -plane_pushes[plane, i])
                if push != 0.0:
                    plane_pushes[plane, i] += push
                    q[k, 0], q[k, 1], q[k, 2] = q[k, 0] + nx * push, q[k, 1] + ny * push, q[k, 2] + nz * push
    _put_back(p, used, q)


@kernel("void(f8[:,::1], f8[:,::1], i8[:,:], f8[:,:], f8[:,:], f8[:,:], f8[:], f8[:], f8[:], i8, f8[:,:])")
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
    passes: int,
    tangential: np.ndarray,
) -> None:
    count = particles.shape[1]
    used, _, ids = _numbered(particles, p.shape[1])
    q, start, moves = _gathered(p, used), _gathered(x, used), np.zeros((len(used), 4))
    along, parts, masses = _by_row(normals), _by_row(weights), _by_row(inverse_masses)
    sizes, valence_weights = np.abs(parts), np.zeros(len(used))
    for corner in range(4):
        for r in range(count):
            valence_weights[np.uint64(ids[r, corner])] += sizes[r, corner]
    for _ in range(passes):
        for r in range(count):
            i, slip = np.uint64(r), vector_of(0.0, 0.0, 0.0)
            for corner in range(4):
                one = np.uint64(ids[i, corner])
                slip = slip + parts[i, corner] * (load(q, one) - load(start, one))
            normal, before = load(along, i), vector_of(tangential[0, r], tangential[1, r], tangential[2, r])
            stiffness = _stiffness(ids, r, valence_weights, masses, sizes)
            wanted = before - (1.0 / stiffness) * (slip - dot(normal, slip) * normal)
            strength = sqrt(dot(wanted, wanted))
            most = (sliding[r] if strength > static[r] * multipliers[r] else static[r]) * multipliers[r]
            step = (min(most, strength) / max(strength, 1e-300)) * wanted - before
            tangential[0, r], tangential[1, r], tangential[2, r] = axes(before + step)
            _add_to(moves, ids, r, numbers(load(masses, i) * load(parts, i)), step)
        _move(q, moves)
    _put_back(p, used, q)


@kernel("b1[::1](i8[:,:], f8[:,:], f8[:,:], f8[:], i8, i8)")
def pushed_one_way(
    particles: np.ndarray, weights: np.ndarray, normals: np.ndarray, multipliers: np.ndarray, first: int, count: int
) -> np.ndarray:
    sums, contacts = np.zeros((count, 3)), np.zeros(count, np.int64)
    for r in range(particles.shape[1]):
        ends = particles[0, r], particles[1, r], particles[2, r], particles[3, r]
        if multipliers[r] > 0.0 and max(max(ends[0], ends[1]), max(ends[2], ends[3])) >= first:
            for corner in range(4):
                i, side = np.uint64(particles[corner, r]), np.sign(weights[corner, r])
                contacts[i] += 1
                for axis in range(3):
                    sums[i, axis] += side * normals[axis, r]
    found = np.zeros(count, np.bool_)
    for k in range(count):
        square = sums[k, 0] * sums[k, 0] + sums[k, 1] * sums[k, 1] + sums[k, 2] * sums[k, 2]
        found[k] = contacts[k] > 0 and square >= (1.0 - 1e-9) * contacts[k]
    return found


@kernel("f8[::1](i8[:,:], f8[:,:], f8[:,:], f8[:], i8, f8[:,::1])")
def carried_loads(
    particles: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    multipliers: np.ndarray,
    first: int,
    load: np.ndarray,
) -> np.ndarray:
    rows, n = particles.shape[1], load.shape[1]
    all_weights, carries, loads = np.zeros(n), np.zeros(rows, np.bool_), np.zeros(rows)
    for r in range(rows):
        ends = particles[0, r], particles[1, r], particles[2, r], particles[3, r]
        carries[r] = multipliers[r] > 0.0 and max(max(ends[0], ends[1]), max(ends[2], ends[3])) >= first
        if carries[r]:
            for corner in range(4):
                all_weights[np.uint64(particles[corner, r])] += abs(weights[corner, r])
    for r in range(rows):
        if carries[r]:
            normal = normals[0, r], normals[1, r], normals[2, r]
            for corner in range(4):
                i, part = np.uint64(particles[corner, r]), weights[corner, r]
                share = abs(part) / max(all_weights[i], 1e-300)
                loads[r] -= share * np.sign(part) * _height(load, normal, i)
    return loads
