"""Contact kernels in NumPy. Layout as in the package's docstring.

A contact row ties four particles: a vertex and the corners of a triangle, or the ends of two edges. Common arguments:

    p, x: Positions now and at the beginning of the substep, (3, n) float64 [m], C-contiguous.
    particles: Those of each row, (4, m) int.
    kind: `FACE`, `EDGES` or `POINTS`, (m,) int8.
    share: Their shares in the relative position, (4, m) float64: 1 in sum on the first side, -1 on the second.
    normals: Unit vectors from the second side to the first, (3, m) float64.
    q: Positions of the particles of each row, (3, 4, m) float64 [m].
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import FACE, POINTS

TINY = 1e-12

CHUNK = 8192
"""Rows that are looked at together: arrays of this length stay in the cache."""


def rows_in_reach(
    x: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    items: np.ndarray,
    other_items: np.ndarray,
    kind: int,
    distance: np.ndarray,
    start: int,
    other_start: int,
    slack: np.ndarray,
    other_slack: np.ndarray,
    way: np.ndarray,
    other_way: np.ndarray,
    loose: float,
    together: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Of pairs of items, those without a common particle that can come closer than their distance.

    Args:
        x: Positions now, (3, n) [m].
        first: Number of the one item of each pair, (m,) int.
        second: Number of the other.
        items: Particles of the ones, (1 or 2, i) int: vertices or edges.
        other_items: Particles of the others, (1 to 3, j) int: vertices, edges or triangles.
        kind: Kind of all rows.
        distance: To be kept in each pair, (m,) [m].
        start: Number of the first particle of the surface of the ones, at which `slack` and `way` begin.
        other_start: That of the others.
        slack: How far particles of the ones may stray from their ways, (k,) [m].
        other_slack: Those of the others, (l,) [m].
        way: Where particles of the ones will go, (3, k) [m].
        other_way: Those of the others, (3, l) [m].
        loose: How much closer both surfaces may come as a whole [m].
        together: Whether the two go their ways at the same time, in one surface; else each may go alone.

    Returns:
        particles, share, normals and distance of the rows, in the order of the pairs.
    """
    a, b = items.take(first, axis=1), other_items.take(second, axis=1)
    particles = np.concatenate([a, a, b, b] if kind == POINTS else [a, b])
    sides = 1 if kind == FACE else 2
    if together and kind != POINTS:
        some = np.flatnonzero((a[:, None] != b).all(axis=(0, 1)))
        particles, distance = particles.take(some, axis=1), distance.take(some)
    parts = []
    for rows in _chunks(particles.shape[1]):
        ids, kept = np.ascontiguousarray(particles[:, rows]), distance[rows]
        share, gap, normals = _closest(x.take(ids, axis=1), np.full(ids.shape[1], kind))
        of_first, of_second = ids[:sides] - start, ids[sides:] - other_start
        to_second = -np.einsum("im,ijm->jm", normals, way.take(of_first, axis=1)).min(axis=0)
        to_first = np.einsum("im,ijm->jm", normals, other_way.take(of_second, axis=1)).max(axis=0)
        stray = slack.take(of_first).max(axis=0) + other_slack.take(of_second).max(axis=0) + loose
        if together:
            closer = stray + np.maximum(to_first + to_second, 0.0)
        else:
            closer = stray + np.maximum(to_first, 0.0) + np.maximum(to_second, 0.0)
        near = np.flatnonzero(gap <= kept + closer)
        parts.append(tuple(column.take(near, axis=-1) for column in (ids, share, normals, kept)))
    particles, share, normals, distance = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return particles, share, normals, distance


def planes_between(
    p: np.ndarray,
    x: np.ndarray,
    particles: np.ndarray,
    kind: np.ndarray,
    normals: np.ndarray,
    distance: np.ndarray,
    solid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The plane between the closest points of each row, where its sides are now, or were if they have crossed.

    normals: of earlier planes, which say on which side a row is; distance (m,): to be kept [m]; solid (m,) bool: rows
    whose vertex is on the wrong side of a solid, which keep their sign and are always returned.

    Returns:
        Rows that are closer than their distance or not apart, (k,) int, and their share (4, k) and normals (3, k).
    """
    parts = []
    for rows in _chunks(particles.shape[1]):
        ids, kinds, old = particles[:, rows], kind[rows], normals[:, rows]
        q = p.take(ids, axis=1)
        share, gap, now = _closest(q, kinds)
        now *= np.sign(_dot(now, old))
        doubtful = np.flatnonzero((_clearance(np.einsum("ijm,im->jm", q, old), kinds) <= 0.0) & ~solid[rows])
        if len(doubtful):
            some, its_kind = ids.take(doubtful, axis=1), kinds[doubtful]
            old_share, _, old = _closest(x.take(some, axis=1), its_kind)
            crossed = clearances(p, some, old, its_kind) <= 0.0
            now[:, doubtful] *= np.where(_dot(now[:, doubtful], old) < 0.0, -1.0, 1.0)
            share[:, doubtful[crossed]], now[:, doubtful[crossed]] = old_share[:, crossed], old[:, crossed]
        close = np.flatnonzero((gap < distance[rows]) | (clearances(p, ids, now, kinds) <= 0.0) | solid[rows])
        parts.append((rows.start + close, share.take(close, axis=1), now.take(close, axis=1)))
    which, share, normals = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return which, share, normals


def closest_points(p: np.ndarray, particles: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of the particles in the closest points of each row, the distances of those points (m,) [m], and normals.

    A normal is 0 where the points coincide.
    """
    return _closest(p.take(particles, axis=1), kind)


def clearances(p: np.ndarray, particles: np.ndarray, normals: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """How far the sides of each row are apart along its normal, (m,) [m].

    Above 0 the plane lies between them: they do not cross.
    """
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
        share = closest_on_triangles(q)
    elif not len(faces):
        share = closest_on_edges(q)
    else:
        share = np.empty((4, q.shape[2]))
        others = np.flatnonzero(kind != FACE)
        share[:, faces] = closest_on_triangles(q.take(faces, axis=2))
        share[:, others] = closest_on_edges(q.take(others, axis=2))
    distance, normals = separation(q, share)
    return share, distance, normals


def closest_on_triangles(q: np.ndarray) -> np.ndarray:
    """Shares of a vertex q[:, 0] and of the point of the triangle q[:, 1:] that is closest to it, (4, m).

    By barycentric coordinates where the vertex stands over the triangle, else by the nearest of the three sides.
    """
    a, ab, ac = q[:, 1], q[:, 2] - q[:, 1], q[:, 3] - q[:, 1]
    ap = q[:, 0] - a
    d00, d01, d11 = _dot(ab, ab), _dot(ab, ac), _dot(ac, ac)
    d20, d21 = _dot(ap, ab), _dot(ap, ac)
    scale = 1.0 / np.maximum(d00 * d11 - d01 * d01, TINY * d00 * d11 + 1e-300)
    v, w = (d11 * d20 - d01 * d21) * scale, (d00 * d21 - d01 * d20) * scale
    share = np.empty((4, q.shape[2]))
    share[0], share[1], share[2], share[3] = 1.0, v + w - 1.0, -v, -w
    flat = d00 * d11 - d01 * d01 <= TINY * d00 * d11  # as a line; it has no inside
    beside = np.flatnonzero((share[1] > 0.0) | (share[2] > 0.0) | (share[3] > 0.0) | flat)
    if len(beside):
        share[1:, beside] = _closest_on_sides(q.take(beside, axis=2))
    return share


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
    """Shares of the ends of edges q[:, :2] and q[:, 2:] in their closest points, (4, m)."""
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


def separation(q: np.ndarray, share: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances (m,) of the points that `share` marks and unit vectors (3, m) from the second to the first.

    The vector is 0 where they coincide.
    """
    gap = np.einsum("ijm,jm->im", q, share)
    distance = np.sqrt(_dot(gap, gap))
    return distance, gap / np.maximum(distance, 1e-300)


def heights(p: np.ndarray, particles: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Positions of the particles (4, m) of each row along its normal, (4, m) [m]."""
    result = normals[0] * p[0].take(particles)
    result += normals[1] * p[1].take(particles)
    result += normals[2] * p[2].take(particles)
    return result


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
    """One pass over C = n . (sum share_i p_i) - wanted >= 0, all rows at once.

    Rows that share a particle are weakened by the sum of absolute shares there, which keeps the pass convergent and,
    as a row's particles are all moved by one multiplier, conserves momentum. weights (4, m); wanted (m,) [m];
    multipliers (m,), never below 0.
    """
    n = p.shape[1]
    gap = wanted - np.einsum("jm,jm->m", share, heights(p, particles, normals))
    at_work = np.flatnonzero((gap > 0.0) | (multipliers > 0.0))
    if not len(at_work):
        return
    ids, part, w, along = (column.take(at_work, axis=1) for column in (particles, share, weights, normals))
    size = np.abs(part)
    flat = ids.ravel()
    crowd = np.bincount(flat, size.ravel(), n)
    stiffness = np.einsum("jm,jm,jm->m", crowd.take(ids), w, size) + TINY
    step = relaxation * gap[at_work] / stiffness
    np.maximum(step, -multipliers[at_work], out=step)
    multipliers[at_work] += step
    move = w * part * step
    for axis in range(3):
        p[axis] += np.bincount(flat, (move * along[axis]).ravel(), n)


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
    """One pass of Coulomb friction over rows that push: take back slip, at most friction x multiplier.

    sticking, sliding (m,): coefficients at rest and in motion; rubbed (3, m): tangential multipliers, accumulated.
    """
    n = p.shape[1]
    slip = np.einsum("ijm,jm->im", p.take(particles, axis=1) - x.take(particles, axis=1), share)
    slip -= normals * _dot(normals, slip)
    flat = particles.ravel()
    size = np.abs(share)
    crowd = np.bincount(flat, size.ravel(), n)
    stiffness = np.einsum("jm,jm,jm->m", crowd.take(particles), weights, size) + TINY
    wanted = rubbed - slip / stiffness
    strength = np.sqrt(_dot(wanted, wanted))
    most = np.where(strength > sticking * multipliers, sliding, sticking) * multipliers
    wanted *= np.minimum(most, strength) / np.maximum(strength, 1e-300)
    step = wanted - rubbed
    rubbed += step
    move = weights * share
    for axis in range(3):
        p[axis] += np.bincount(flat, (move * step[axis]).ravel(), n)


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("im,im->m", a, b)
