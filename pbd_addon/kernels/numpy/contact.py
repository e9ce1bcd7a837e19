"""Contacts in NumPy, in chunks. `q` are positions of the particles of each contact, (3, 4, m) float64 [m]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import FACE, POINTS
from ..protocol.contact import LEVER, Bounds, Primitives

TINY = 1e-12

CHUNK = 8192
"""Contacts handled together: arrays of this length stay in the CPU cache."""


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
    (boxes, _, surface), (other_boxes, other_around, other_surface) = (
        _boxes_of_cells(low, high, side, used, owner) for side, used in zip((one, other), cells)
    )
    tables = tables.reshape(4, -1)
    surfaces, parts = int(np.sqrt(tables.shape[1])), []
    for cell_rows in _chunks(cells.shape[1]):
        i, j = cells[:, cell_rows]
        k, m = surface.take(i), other_surface.take(j)
        number = np.minimum(k, m) * surfaces + np.maximum(k, m)
        pair, slot = np.nonzero(one.leaves.take(i, axis=0) >= 0)
        first, number = one.leaves[i[pair], slot], number[pair]
        near = _overlap(boxes.take(first, axis=1), other_around.take(j[pair], axis=1), tables[1].take(number))
        pair, first, slot, number = pair[near], first[near], slot[near], number[near]
        for rows in _chunks(len(pair)):
            leaves = other.leaves.take(j[pair[rows]], axis=0)
            is_there = leaves >= 0
            if kind != FACE and one.leaves is other.leaves:
                is_own = (i == j)[pair[rows]]
                is_there &= ~is_own[:, None] | (np.arange(leaves.shape[1]) > slot[rows, None])
            row, column = np.nonzero(is_there)
            a, b, numbers = first[rows][row], leaves[row, column], number[rows][row]
            shares = np.ones(len(row))
            for cosines, which in ((one.cosines, a), (other.cosines, b)):
                if len(cosines):
                    flat, sharp = tables[2:].take(numbers, axis=1)
                    sharpness = ((flat - cosines.take(which)) / np.maximum(flat - sharp, 1e-300)).clip(0.0, 1.0)
                    shares = np.minimum(shares, flat_share + (1.0 - flat_share) * sharpness)
            near = _overlap(boxes.take(a, axis=1), other_boxes.take(b, axis=1), shares * tables[1].take(numbers))
            a, b, shares, numbers = a[near], b[near], shares[near], numbers[near]
            a, b = one.particles.take(a, axis=1), other.particles.take(b, axis=1)
            particles = np.concatenate([a, a, b, b] if kind == POINTS else [a, b], dtype=np.int64)
            near = (a[:, None] != b).all(axis=(0, 1))
            if len(is_late):
                near &= is_late.take(particles).any(axis=0)
            particles, distance = particles[:, near], (shares * tables[0].take(numbers))[near]
            parts += [_cull(x, particles[:, some], distance[some], kind, bounds) for some in _chunks(len(distance))]
    particles, weights, normals, distance = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return particles, weights, normals, distance


def _boxes_of_cells(
    low: np.ndarray, high: np.ndarray, side: Primitives, cells: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes around the primitives in cells (k,), some repeated, and around these cells, lower corners and negated upper
    ones, (6, m) and (6, c) [m], and the surfaces of these cells, (c,) int.
    """
    boxes, around = np.full((6, side.particles.shape[1]), np.inf), np.full((6, len(side.leaves)), np.inf)
    is_used = np.bincount(cells, minlength=len(side.leaves)) > 0
    leaves = side.leaves[is_used]
    corners = side.particles.take(leaves[leaves >= 0], axis=1)
    found = np.concatenate([low.take(corners, axis=1).min(axis=1), -high.take(corners, axis=1).max(axis=1)])
    boxes[:, leaves[leaves >= 0]] = found
    around[:, is_used] = np.where(leaves >= 0, boxes.take(leaves, axis=1), np.inf).min(axis=2)
    return boxes, around, owner.take(side.particles[0].take(np.maximum(side.leaves[:, 0], 0)))


def _overlap(one: np.ndarray, other: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Which boxes (6, m) are apart by no more than a distance (m,) [m] along each axis, (k,) int."""
    return np.flatnonzero(
        (one[:3] - distance <= -other[3:]).all(axis=0) & (other[:3] - distance <= -one[3:]).all(axis=0)
    )


def _cull(
    x: np.ndarray, particles: np.ndarray, distance: np.ndarray, kind: int, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Those of the pairs, particles (4, m), that can come closer than their distance (m,) [m]; see `close_pairs`."""
    sides = 1 if kind == FACE else 2
    weights, gap, normals = _closest(x.take(particles, axis=1), np.full(particles.shape[1], kind))
    along = np.einsum("im,ijm->jm", normals, bounds.displacement.take(particles, axis=1))
    to_second, to_first = -along[:sides].min(axis=0), along[sides:].max(axis=0)
    margins = bounds.margin.take(particles)
    closer = margins[:sides].max(axis=0) + margins[sides:].max(axis=0)
    if bounds.together:
        closer += np.maximum(to_first + to_second, 0.0)
    else:
        drift = bounds.drift.take(particles[0]) + bounds.drift.take(particles[3])
        closer += drift * np.abs(normals).sum(axis=0) + np.maximum(to_first, 0.0) + np.maximum(to_second, 0.0)
    near = np.flatnonzero(gap <= distance + closer)
    return particles.take(near, axis=1), weights.take(near, axis=1), normals.take(near, axis=1), distance.take(near)


def crossing(
    x: np.ndarray, edges: np.ndarray, triangles: np.ndarray, edge: np.ndarray, triangle: np.ndarray, rounding: float
) -> np.ndarray:
    found = []
    for rows in _chunks(len(edge)):
        of_edge, of_triangle = edges.take(edge[rows], axis=1), triangles.take(triangle[rows], axis=1)
        some = np.flatnonzero((of_edge[:, None] != of_triangle).all(axis=(0, 1)))
        p, q = x.take(of_edge[:, some], axis=1).swapaxes(0, 1)
        a, b, c = x.take(of_triangle[:, some], axis=1).swapaxes(0, 1)
        size = np.abs(np.stack([q - p, b - a, c - a])).sum(axis=(0, 1))
        least = rounding * size**2 * (size + np.abs(p).max(axis=0))
        sides = np.stack([_volume(p, a, b, c), -_volume(q, a, b, c)])
        around = np.stack([_volume(p, q, a, b), _volume(p, q, b, c), _volume(p, q, c, a)])
        through = (sides > least).all(axis=0) | (sides < -least).all(axis=0)
        through &= (around > least).all(axis=0) | (around < -least).all(axis=0)
        found.append(rows.start + some[through])
    return np.concatenate(found)


def _volume(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Six times the signed volume of tetrahedra of points (3, m)."""
    u, v, w = b - a, c - a, d - a
    return np.asarray(
        u[0] * (v[1] * w[2] - v[2] * w[1]) + u[1] * (v[2] * w[0] - v[0] * w[2]) + u[2] * (v[0] * w[1] - v[1] * w[0])
    )


def closing_motion(p: np.ndarray, before: np.ndarray) -> float:
    moved = p - before
    moved -= 0.5 * (moved.min(axis=1) + moved.max(axis=1))[:, None]
    most = 2.0 * float(np.sqrt(_dot(moved, moved).max()))
    return most if most < np.inf else np.inf


def near_candidates(
    p: np.ndarray,
    particles: np.ndarray,
    normals: np.ndarray,
    kind: np.ndarray,
    distance: np.ndarray,
    spare: np.ndarray,
    closed: float,
) -> np.ndarray:
    some = np.flatnonzero(~(spare >= closed))  # NaN is measured again
    if len(some) == len(spare):
        apart = clearances(p, particles, normals, kind)
    else:
        apart = clearances(p, particles.take(some, axis=1), normals.take(some, axis=1), kind.take(some))
    distance = distance.take(some)
    spare[some] = apart - distance + closed
    return some[apart < distance]


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
    ids, given, kept, exits = (
        particles.take(near, axis=1),
        normals.take(near, axis=1),
        distance.take(near),
        is_exit[near],
    )
    some, shares, planes = _separating_planes(p, x, ids, kind.take(near), given, reach * kept, exits)
    number, ids, kept = near.take(some), ids.take(some, axis=1), kept.take(some)
    led = np.flatnonzero(exits.take(some))
    shares[:, led], planes[:, led] = weights.take(number[led], axis=1), normals.take(number[led], axis=1)
    before, after = (gaps(q, ids, shares, planes) for q in (x, p))
    overlap = np.maximum(kept - before, 0.0)
    opening = np.minimum(opening_rate * overlap, most_opening)
    if is_stuck.any():
        opening[is_stuck.take(ids).any(axis=0)] = 0.0
    lengths = np.stack([before, opening, kept - overlap + opening, after - before])
    return number, ids, shares, planes, w.take(ids), kept, lengths


def _separating_planes(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    kind: np.ndarray,
    normals: np.ndarray,
    distance: np.ndarray,
    is_exit: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidates below a distance (m,) [m], not apart, or exits, (k,) int; their weights (4, k) and normals (3, k)."""
    parts = []
    for rows in _chunks(particles.shape[1]):
        ids, kinds, old = particles[:, rows], kind[rows], normals[:, rows]
        q = p.take(ids, axis=1)
        weights, gap, now = _closest(q, kinds)
        now *= np.sign(_dot(now, old))
        unclear = np.flatnonzero((_clearance(np.einsum("ijm,im->jm", q, old), kinds) <= 0.0) & ~is_exit[rows])
        if len(unclear):
            some, its_kind = ids.take(unclear, axis=1), kinds[unclear]
            old_weights, _, old = _closest(x.take(some, axis=1), its_kind)
            crossed = clearances(p, some, old, its_kind) <= 0.0
            now[:, unclear] *= np.where(_dot(now[:, unclear], old) < 0.0, -1.0, 1.0)
            weights[:, unclear[crossed]], now[:, unclear[crossed]] = old_weights[:, crossed], old[:, crossed]
        close = np.flatnonzero((gap < distance[rows]) | (clearances(p, ids, now, kinds) <= 0.0) | is_exit[rows])
        parts.append((rows.start + close, weights.take(close, axis=1), now.take(close, axis=1)))
    which, weights, normals = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return which, weights, normals


def closest_points(p: np.ndarray, particles: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return _closest(p.take(particles, axis=1), kind)


def clearances(p: np.ndarray, particles: np.ndarray, normals: np.ndarray, kind: np.ndarray) -> np.ndarray:
    return _clearance(heights(p, particles, normals), kind)


def _clearance(along: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """As `clearances`, from the heights of the particles along the normal, (4, m)."""
    of_faces = along[0] - np.maximum(np.maximum(along[1], along[2]), along[3])
    of_edges = np.minimum(along[0], along[1]) - np.maximum(along[2], along[3])
    return np.where(kind == FACE, of_faces, of_edges)


def _chunks(count: int) -> Iterator[slice]:
    """Slices of at most `CHUNK`, at least one."""
    return (slice(start, start + CHUNK) for start in range(0, max(count, 1), CHUNK))


def _closest(q: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `closest_points`, from positions q."""
    faces = np.flatnonzero(kind == FACE)
    if len(faces) == len(kind):
        weights = closest_on_triangles(q)
    elif not len(faces):
        weights = closest_on_edges(q)
    else:
        weights = np.empty((4, q.shape[2]))
        others = np.flatnonzero(kind != FACE)
        weights[:, faces] = closest_on_triangles(q.take(faces, axis=2))
        weights[:, others] = closest_on_edges(q.take(others, axis=2))
    distance, normals = gaps_and_normals(q, weights)
    return weights, distance, normals


def closest_on_triangles(q: np.ndarray) -> np.ndarray:
    """Weights of a vertex q[:, 0] and of the point of the triangle q[:, 1:] that is closest to it, (4, m).

    By barycentric coordinates where the vertex stands over the triangle, else by the nearest of the three sides.
    """
    a, ab, ac = q[:, 1], q[:, 2] - q[:, 1], q[:, 3] - q[:, 1]
    ap = q[:, 0] - a
    d00, d01, d11 = _dot(ab, ab), _dot(ab, ac), _dot(ac, ac)
    d20, d21 = _dot(ap, ab), _dot(ap, ac)
    scale = 1.0 / np.maximum(d00 * d11 - d01 * d01, TINY * d00 * d11 + 1e-300)
    v, w = (d11 * d20 - d01 * d21) * scale, (d00 * d21 - d01 * d20) * scale
    weights = np.empty((4, q.shape[2]))
    weights[0], weights[1], weights[2], weights[3] = 1.0, v + w - 1.0, -v, -w
    flat = d00 * d11 - d01 * d01 <= TINY * d00 * d11  # as a line; it has no inside
    beside = np.flatnonzero((weights[1] > 0.0) | (weights[2] > 0.0) | (weights[3] > 0.0) | flat)
    if len(beside):
        weights[1:, beside] = _closest_on_sides(q.take(beside, axis=2))
    return weights


def _closest_on_sides(q: np.ndarray) -> np.ndarray:
    """Negated weights of the corners q[:, 1:] at the point of their outline that is closest to q[:, 0], (3, m)."""
    point = q[:, 0]
    best = np.full(q.shape[2], np.inf)
    along, side = np.zeros(q.shape[2]), np.zeros(q.shape[2], int)
    for k in range(3):
        start, end = q[:, 1 + k], q[:, 1 + (k + 1) % 3]
        edge, to = end - start, point - start
        t = (_dot(to, edge) / np.maximum(_dot(edge, edge), 1e-300)).clip(0.0, 1.0)
        off = to - t * edge
        square = _dot(off, off)
        nearer = square < best
        best = np.where(nearer, square, best)
        along, side = np.where(nearer, t, along), np.where(nearer, k, side)
    result = np.zeros((3, q.shape[2]))
    row = np.arange(q.shape[2])
    result[side, row] = along - 1.0
    result[(side + 1) % 3, row] = -along
    return result


def closest_on_edges(q: np.ndarray) -> np.ndarray:
    """Weights of the ends of edges q[:, :2] and q[:, 2:] in their closest points, (4, m)."""
    d1, d2, r = q[:, 1] - q[:, 0], q[:, 3] - q[:, 2], q[:, 0] - q[:, 2]
    a, e, b = _dot(d1, d1), _dot(d2, d2), _dot(d1, d2)
    c, f = _dot(d1, r), _dot(d2, r)
    area = a * e - b * b
    a, e = np.maximum(a, 1e-300), np.maximum(e, 1e-300)
    parallel = area <= 1e-9 * a * e
    s = np.where(parallel, 0.5, (b * f - c * e) / np.where(parallel, 1.0, area)).clip(0.0, 1.0)
    t = (b * s + f) / e
    clamped = t.clip(0.0, 1.0)
    s = np.where(t != clamped, (b * clamped - c) / a, s).clip(0.0, 1.0)
    # Parallel edges meet along a stretch; a second round finds ends that touch.
    t = ((b * s + f) / e).clip(0.0, 1.0)
    return np.stack([1.0 - s, s, t - 1.0, -t])


def gaps_and_normals(q: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances (m,) of the points given by `weights` and unit vectors (3, m) from the second to the first.

    The vector is 0 where they coincide.
    """
    gap = np.einsum("ijm,jm->im", q, weights)
    distance = np.sqrt(_dot(gap, gap))
    return distance, gap / np.maximum(distance, 1e-300)


def heights(p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    result = normals[0] * p[0].take(particles)
    result += normals[1] * p[1].take(particles)
    result += normals[2] * p[2].take(particles)
    return result


def gaps(p: np.ndarray, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray) -> np.ndarray:
    return np.einsum("jm,jm->m", weights, heights(p, particles, normals))


def unseparated(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    normals: np.ndarray,
    kind: np.ndarray,
    which: np.ndarray,
    at_p: bool,
) -> np.ndarray:
    for attempt in range(2 if at_p else 1):
        ids, kinds = particles.take(which, axis=1), kind.take(which)
        along = closest_points(p, ids, kinds)[2] if attempt else normals.take(which, axis=1)
        apart = (clearances(p, ids, along, kinds) > 0.0) & (clearances(x, ids, along, kinds) > 0.0)
        which = which[~apart]
    return which


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
    gives = _gives(weights, inverse_masses)
    soft = np.flatnonzero(gives)
    for number in range(passes):
        reached = gaps(p, particles, weights, normals)
        missing = target_gap - reached
        if len(soft):
            given = np.full(len(soft), np.inf)
            np.multiply(gives[soft], multipliers[soft], out=given, where=gives[soft] < np.inf)
            missing[soft] -= given
            reached[soft] += given
        if number >= len(relaxations) and (reached >= enough).all():
            break
        relaxation = relaxations[min(number, len(relaxations) - 1)]
        _project_once(p, particles, weights, normals, inverse_masses, gives, missing, relaxation, multipliers)
        for normal, heights_of_plane, pushes in zip(plane_normals, plane_heights, plane_pushes):
            depth = heights_of_plane - normal @ p
            push = np.maximum(depth, -pushes)
            some = np.flatnonzero(push)
            pushes[some] += push[some]
            for axis in range(3):
                p[axis, some] += normal[axis] * push[some]


def _gives(weights: np.ndarray, inverse_masses: np.ndarray) -> np.ndarray:
    """Compliances of contacts that keep each from moving a particle by more than `LEVER` times what its gap lacks, (m,)
    [1/kg]; infinite where all particles are fixed.
    """
    each = inverse_masses * np.abs(weights)
    own = np.einsum("jm,jm->m", each, np.abs(weights))
    return np.where(own > 0.0, np.maximum(each.max(axis=0, initial=0.0) / LEVER - own, 0.0), np.inf)


def _project_once(
    p: np.ndarray,
    particles: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    inverse_masses: np.ndarray,
    gives: np.ndarray,
    missing: np.ndarray,
    relaxation: float,
    multipliers: np.ndarray,
) -> None:
    """One pass of `project_contacts` over contacts; missing (m,): what their gaps lack [m]; gives: see `_gives`."""
    n = p.shape[1]
    working = np.flatnonzero((missing > 0.0) | (multipliers > 0.0))
    if not len(working):
        return
    ids, part, w, along = (column.take(working, axis=1) for column in (particles, weights, inverse_masses, normals))
    size = np.abs(part)
    flat = ids.ravel()
    valence_weights = np.bincount(flat, size.ravel(), n)
    stiffness = np.einsum("jm,jm,jm->m", valence_weights.take(ids), w, size) + TINY + gives[working]
    step = relaxation * missing[working] / stiffness
    np.maximum(step, -multipliers[working], out=step)
    multipliers[working] += step
    move = w * part * step
    for axis in range(3):
        p[axis] += np.bincount(flat, (move * along[axis]).ravel(), n)


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
    n, flat, size = p.shape[1], particles.ravel(), np.abs(weights)
    valence_weights = np.bincount(flat, size.ravel(), n)
    stiffness = np.einsum("jm,jm,jm->m", valence_weights.take(particles), inverse_masses, size) + TINY
    move = inverse_masses * weights
    for _ in range(passes):
        slip = np.einsum("ijm,jm->im", p.take(particles, axis=1) - x.take(particles, axis=1), weights)
        slip -= normals * _dot(normals, slip)
        wanted = tangential - slip / stiffness
        strength = np.sqrt(_dot(wanted, wanted))
        most = np.where(strength > static * multipliers, sliding, static) * multipliers
        wanted *= np.minimum(most, strength) / np.maximum(strength, 1e-300)
        step = wanted - tangential
        tangential += step
        for axis in range(3):
            p[axis] += np.bincount(flat, (move * step[axis]).ravel(), n)


def _pushed_from(particles: np.ndarray, multipliers: np.ndarray, first: int) -> np.ndarray:
    """Contacts that push and have a particle from number `first` on, (k,) int."""
    return np.flatnonzero((multipliers > 0.0) & (particles >= first).any(axis=0))


def pushed_one_way(
    particles: np.ndarray, weights: np.ndarray, normals: np.ndarray, multipliers: np.ndarray, first: int, count: int
) -> np.ndarray:
    some = _pushed_from(particles, multipliers, first)
    ids = particles.take(some, axis=1).ravel()
    along = np.sign(weights.take(some, axis=1)) * normals.take(some, axis=1)[:, None]
    sums = np.stack([np.bincount(ids, each.ravel(), count) for each in along])
    contacts = np.bincount(ids, minlength=count)
    return np.asarray((contacts > 0) & (_dot(sums, sums) >= (1.0 - 1e-9) * contacts))


def carried_loads(
    particles: np.ndarray,
    weights: np.ndarray,
    normals: np.ndarray,
    multipliers: np.ndarray,
    first: int,
    load: np.ndarray,
) -> np.ndarray:
    some, loads = _pushed_from(particles, multipliers, first), np.zeros(len(multipliers))
    ids, part, along = (column.take(some, axis=1) for column in (particles, weights, normals))
    all_weights = np.bincount(ids.ravel(), np.abs(part).ravel(), load.shape[1])
    shares = np.abs(part) / np.maximum(all_weights.take(ids), 1e-300)
    loads[some] = -(shares * np.sign(part) * heights(load, ids, along)).sum(axis=0)
    return loads


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("im,im->m", a, b)
