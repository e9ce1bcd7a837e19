"""Contacts compiled by Numba, one by one."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..protocol.contact import LEVER
from ..protocol.guards import TINY
from .closest import clearance_of, closest_of, gap_of, height_of
from .compile import helper, kernel
from .vectors import axes, dot, four, load, numbers, store, vector_of


@helper
def _dot(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


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
        apart[k] = clearance_of(p, kind[r], a, b, c, d, (normals[0, r], normals[1, r], normals[2, r]))
    for k in range(some):
        r = near[k]
        spare[r] = apart[k] - distance[r] + closed
        near[count] = r
        count += apart[k] < distance[r]
    return near[:count].copy()


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
            share, gap, now = closest_of(p, kind[r], a, b, c, d)
            sign = np.sign(_dot(now, old))
            if clearance_of(p, kind[r], a, b, c, d, old) <= 0.0:
                old_share, _, old = closest_of(x, kind[r], a, b, c, d)
                if clearance_of(p, kind[r], a, b, c, d, old) <= 0.0:
                    share, now, sign = old_share, old, 1.0
                elif sign * _dot(now, old) < 0.0:
                    sign = -sign
            now = sign * now[0], sign * now[1], sign * now[2]
            if gap >= reach * least and clearance_of(p, kind[r], a, b, c, d, now) > 0.0:
                continue
        before = gap_of(x, a, b, c, d, share, now)
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
        gaps[3, count] = gap_of(p, a, b, c, d, share, now) - before
        count += 1
    return (
        number[:count].copy(), ids[:, :count].copy(), shares[:, :count].copy(), planes[:, :count].copy(),
        inverse_masses[:, :count].copy(), kept[:count].copy(), gaps[:, :count].copy(),
    )  # fmt: skip


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
                loads[r] -= share * np.sign(part) * height_of(load, normal, i)
    return loads
