"""Contacts in NumPy, in chunks."""

from __future__ import annotations

import numpy as np

from ..protocol.contact import LEVER
from ..protocol.guards import TINY
from .closest import clearance, clearances, closest_at, gaps, heights
from .layout import chunks, dot


def closing_motion(p: np.ndarray, before: np.ndarray) -> float:
    moved = p - before
    moved -= 0.5 * (moved.min(axis=1) + moved.max(axis=1))[:, None]
    most = 2.0 * float(np.sqrt(dot(moved, moved).max()))
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
    for rows in chunks(particles.shape[1]):
        ids, kinds, old = particles[:, rows], kind[rows], normals[:, rows]
        q = p.take(ids, axis=1)
        weights, gap, now = closest_at(q, kinds)
        now *= np.sign(dot(now, old))
        unclear = np.flatnonzero((clearance(np.einsum("ijm,im->jm", q, old), kinds) <= 0.0) & ~is_exit[rows])
        if len(unclear):
            some, its_kind = ids.take(unclear, axis=1), kinds[unclear]
            old_weights, _, old = closest_at(x.take(some, axis=1), its_kind)
            crossed = clearances(p, some, old, its_kind) <= 0.0
            now[:, unclear] *= np.where(dot(now[:, unclear], old) < 0.0, -1.0, 1.0)
            weights[:, unclear[crossed]], now[:, unclear[crossed]] = old_weights[:, crossed], old[:, crossed]
        close = np.flatnonzero((gap < distance[rows]) | (clearances(p, ids, now, kinds) <= 0.0) | is_exit[rows])
        parts.append((rows.start + close, weights.take(close, axis=1), now.take(close, axis=1)))
    which, weights, normals = (np.concatenate(columns, axis=-1) for columns in zip(*parts))
    return which, weights, normals


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
        slip -= normals * dot(normals, slip)
        wanted = tangential - slip / stiffness
        strength = np.sqrt(dot(wanted, wanted))
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
    return np.asarray((contacts > 0) & (dot(sums, sums) >= (1.0 - 1e-9) * contacts))


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
