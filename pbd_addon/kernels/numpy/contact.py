"""Contacts in NumPy, in chunks. `q` are positions of the particles of each contact, (3, 4, m) float64 [m]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import FACE, POINTS

TINY = 1e-12

CHUNK = 8192
"""Contacts handled together: arrays of this length stay in the CPU cache."""


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
    a, b = primitives.take(first, axis=1), other_primitives.take(second, axis=1)
    particles = np.concatenate([a, a, b, b] if kind == POINTS else [a, b])
    sides = 1 if kind == FACE else 2
    if same and kind != POINTS:
        some = np.flatnonzero((a[:, None] != b).all(axis=(0, 1)))
        particles, distance = particles.take(some, axis=1), distance.take(some)
    parts = []
    for rows in _chunks(particles.shape[1]):
        ids, kept = np.ascontiguousarray(particles[:, rows]), distance[rows]
        weights, gap, normals = _closest(x.take(ids, axis=1), np.full(ids.shape[1], kind))
        along = np.einsum("im,ijm->jm", normals, displacement.take(ids, axis=1))
        to_second, to_first = -along[:sides].min(axis=0), along[sides:].max(axis=0)
        margins = margin.take(ids)
        margin_sum = margins[:sides].max(axis=0) + margins[sides:].max(axis=0)
        if not same:
            margin_sum += (drift.take(ids[0]) + drift.take(ids[3])) * np.abs(normals).sum(axis=0)
        if same:
            closer = margin_sum + np.maximum(to_first + to_second, 0.0)
        else:
            closer = margin_sum + np.maximum(to_first, 0.0) + np.maximum(to_second, 0.0)
        near = np.flatnonzero(gap <= kept + closer)
        parts.append(tuple(column.take(near, axis=-1) for column in (ids, weights, normals, kept)))
    particles, weights, normals, distance = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return particles, weights, normals, distance


def separating_planes(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    kind: np.ndarray,
    normals: np.ndarray,
    distance: np.ndarray,
    is_exit: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    n = p.shape[1]
    gap = target_gap - np.einsum("jm,jm->m", weights, heights(p, particles, normals))
    working = np.flatnonzero((gap > 0.0) | (multipliers > 0.0))
    if not len(working):
        return
    ids, part, w, along = (column.take(working, axis=1) for column in (particles, weights, inverse_masses, normals))
    size = np.abs(part)
    flat = ids.ravel()
    valence_weights = np.bincount(flat, size.ravel(), n)
    stiffness = np.einsum("jm,jm,jm->m", valence_weights.take(ids), w, size) + TINY
    step = relaxation * gap[working] / stiffness
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
    tangential: np.ndarray,
) -> None:
    n = p.shape[1]
    slip = np.einsum("ijm,jm->im", p.take(particles, axis=1) - x.take(particles, axis=1), weights)
    slip -= normals * _dot(normals, slip)
    flat = particles.ravel()
    size = np.abs(weights)
    valence_weights = np.bincount(flat, size.ravel(), n)
    stiffness = np.einsum("jm,jm,jm->m", valence_weights.take(particles), inverse_masses, size) + TINY
    wanted = tangential - slip / stiffness
    strength = np.sqrt(_dot(wanted, wanted))
    most = np.where(strength > static * multipliers, sliding, static) * multipliers
    wanted *= np.minimum(most, strength) / np.maximum(strength, 1e-300)
    step = wanted - tangential
    tangential += step
    move = inverse_masses * weights
    for axis in range(3):
        p[axis] += np.bincount(flat, (move * step[axis]).ravel(), n)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("im,im->m", a, b)
