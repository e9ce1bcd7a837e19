"""Skins under pressure compiled by Numba."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..protocol.guards import SMALLEST
from .compile import helper, kernel
from .vectors import cross, dot, load, store, vector_of


@helper
def _pull(force: np.ndarray, a: int, b: int, by: tuple[float, float, float]) -> None:
    for axis in range(3):
        force[axis, a] += by[axis]
        force[axis, b] -= by[axis]


@helper
def _closed(p: np.ndarray, surface: Any) -> np.ndarray:
    """Particles at p (3, n) and centers of caps, relative to a particle, (3, n + caps) [m]."""
    rims, rim_caps, rim_sizes = surface[2], surface[3], surface[4]
    n, caps = p.shape[1], len(rim_sizes)
    q = np.empty((3, n + caps))
    for axis in range(3):
        origin = p[axis, 0]
        for i in range(n):
            q[axis, i] = p[axis, i] - origin  # products of large coordinates lose digits
        q[axis, n:] = 0.0
        for r in range(len(rims)):
            q[axis, n + rim_caps[r]] += q[axis, rims[r]]
        for cap in range(caps):
            q[axis, n + cap] /= rim_sizes[cap]
    return q


@kernel()
def volume_gradients(q, triangles, pieces, piece_count):
    n, volumes = q.shape[1], np.zeros(piece_count)
    places, found, gradients = np.empty((n, 4)), np.zeros((n, 4)), np.empty((3, n))
    for m in range(n):
        i = np.uint64(m)
        store(places, i, vector_of(q[0, i], q[1, i], q[2, i]))
    for t in range(triangles.shape[1]):
        i, j, k = np.uint64(triangles[0, t]), np.uint64(triangles[1, t]), np.uint64(triangles[2, t])
        a, b, c = load(places, i), load(places, j), load(places, k)
        area = cross(b, c)
        volumes[pieces[t]] += dot(area, a)
        store(found, i, load(found, i) + area)
        store(found, j, load(found, j) + cross(c, a))
        store(found, k, load(found, k) + cross(a, b))
    for axis in range(3):
        for m in range(n):
            gradients[axis, m] = found[m, axis] / 6.0
    return volumes / 6.0, gradients


@kernel()
def enclosed_volumes(p, surface, piece_count):
    q, triangles, pieces = _closed(p, surface), surface[0], surface[1]
    volumes = np.zeros(piece_count)
    for t in range(triangles.shape[1]):
        a, b, c = np.uint64(triangles[0, t]), np.uint64(triangles[1, t]), np.uint64(triangles[2, t])
        volumes[pieces[t]] += (
            q[0, a] * (q[1, b] * q[2, c] - q[2, b] * q[1, c])
            + q[1, a] * (q[2, b] * q[0, c] - q[0, b] * q[2, c])
            + q[2, a] * (q[0, b] * q[1, c] - q[1, b] * q[0, c])
        )
    return volumes / 6.0


@kernel()
def measure_volume(p, surface, piece_count):
    n, rims, rim_caps, rim_sizes = p.shape[1], surface[2], surface[3], surface[4]
    volumes, found = volume_gradients(_closed(p, surface), surface[0], surface[1], piece_count)
    if not len(rims):
        return volumes, found
    gradients, given = found[:, :n].copy(), np.zeros(n)
    for axis in range(3):
        given[:] = 0.0
        for r in range(len(rims)):
            given[rims[r]] += found[axis, n + rim_caps[r]] / rim_sizes[rim_caps[r]]
        for r in range(len(rims)):
            i = rims[r]
            gradients[axis, i] += given[i]
            given[i] = 0.0
    return volumes, gradients


@kernel()
def volume_errors(volumes, contents, multipliers, square):
    aim, away, gas, most, constant, smallest, holds, _, fixed = contents
    error, give = np.zeros(len(volumes)), np.zeros(len(volumes))
    for k in range(len(volumes)):
        now = volumes[k] + away[k]
        if holds[k]:
            error[k] = now - aim[k]
            continue
        bounded, inside = max(now, smallest[k]), min(gas[k], most[k])
        missing = square * (constant[k] + inside / bounded) - multipliers[k]
        if inside > 0.0:
            give[k] = bounded * bounded / (square * inside)
        error[k] = missing if fixed[k] else -missing * give[k]
    return error, give


@kernel()
def tension_pattern(p, gradients, edges, multipliers, carried, pull, skin):
    indices, rest_lengths, alpha, row_pieces = edges
    w, pieces, works = skin
    m, n, pushed, carries = len(rest_lengths), p.shape[1], len(alpha) - 1, len(carried) > 0
    pattern, force, sums = np.zeros(m), np.zeros((3, n)), np.zeros((5, len(works)))
    normals = np.empty((3, n))
    for i in range(n):
        gx, gy, gz = gradients[0, i], gradients[1, i], gradients[2, i]
        scale = 1.0 / max(sqrt(gx * gx + gy * gy + gz * gz), SMALLEST)
        normals[0, i], normals[1, i], normals[2, i] = gx * scale, gy * scale, gz * scale
    for r in range(m):
        piece, by = np.uint64(row_pieces[r]), carried[r] if carries else 0.0
        if by == 0.0 and not works[piece]:
            continue
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, a] - p[0, b], p[1, a] - p[1, b], p[2, a] - p[2, b]
        length = max(sqrt(dx * dx + dy * dy + dz * dz), SMALLEST)
        inverse = 1.0 / length
        dx, dy, dz = dx * inverse, dy * inverse, dz * inverse
        if by != 0.0:
            multipliers[r] += by
            _pull(pull, a, b, (dx * by, dy * by, dz * by))
        growth = (
            dx * (normals[0, a] - normals[0, b])
            + dy * (normals[1, a] - normals[1, b])
            + dz * (normals[2, a] - normals[2, b])
        )
        if not (growth > 0.0 and works[piece]):
            continue
        error = length - rest_lengths[r]
        give = alpha[np.uint64(pushed if error < 0.0 else 0), r]
        share = growth / alpha[0, r]
        pattern[r] = share
        sums[0, piece] += give * share * share
        sums[3, piece] += share * (error + give * multipliers[r])
        _pull(force, a, b, (dx * share, dy * share, dz * share))
    for i in range(n):
        own = np.uint64(pieces[i])
        fx, fy, fz = force[0, i], force[1, i], force[2, i]
        gx, gy, gz = gradients[0, i], gradients[1, i], gradients[2, i]
        sums[0, own] += w[i] * (fx * fx + fy * fy + fz * fz)
        sums[1, own] += w[i] * (fx * gx + fy * gy + fz * gz)
        sums[2, own] += w[i] * (gx * gx + gy * gy + gz * gz)
        if carries:
            mx, my, mz = w[i] * pull[0, i], w[i] * pull[1, i], w[i] * pull[2, i]
            pull[0, i], pull[1, i], pull[2, i] = mx, my, mz
            sums[3, own] += fx * mx + fy * my + fz * mz
            sums[4, own] += gx * mx + gy * my + gz * mz
    return pattern, force, sums


@kernel()
def edge_forces(p, indices, multipliers):
    force = np.zeros_like(p)
    for r in range(len(multipliers)):
        if multipliers[r] == 0.0:
            continue
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, a] - p[0, b], p[1, a] - p[1, b], p[2, a] - p[2, b]
        share = multipliers[r] / max(sqrt(dx * dx + dy * dy + dz * dz), SMALLEST)
        _pull(force, a, b, (dx * share, dy * share, dz * share))
    return force


@kernel()
def measure_skin(p, surface, factors, pieces, pressures, multipliers, measured):
    start, volumes, gradients, blown, pull = measured
    start[:] = p
    found, grown = measure_volume(p, surface, len(volumes))
    volumes[:] = found
    gradients[:] = grown
    if len(factors):
        for axis in range(3):
            for i in range(p.shape[1]):
                blown[axis, i] = gradients[axis, i] * factors[i]
    if len(pressures):
        for k in range(len(pressures)):
            multipliers[k] += pressures[k]
        for axis in range(3):
            for i in range(p.shape[1]):
                pull[axis, i] = blown[axis, i] * pressures[np.uint64(pieces[i])]


@kernel()
def pull_along(p, indices, carried, multipliers, pull):
    for r in range(len(carried)):
        multipliers[r] += carried[r]
    found = edge_forces(p, indices, carried)
    for axis in range(3):
        for i in range(p.shape[1]):
            pull[axis, i] += found[axis, i]


@kernel()
def respond(p, measured, edges, multipliers, carried, skin, contents, pressed, square):
    volumes, gradients, blown, pull = measured[1], measured[2], measured[3], measured[4]
    w, pieces, works = skin
    fixed, row_pieces, count = contents[8], edges[3], len(volumes)
    pattern, force, sums = tension_pattern(p, gradients, edges, multipliers, carried, pull, skin)
    error, give = volume_errors(volumes + sums[4], contents, pressed, square)
    size, push = np.zeros(count), np.zeros(count)
    cross, swell = np.zeros(count), np.zeros(count)
    for i in range(p.shape[1]):
        own = np.uint64(pieces[i])
        fx, fy, fz = force[0, i], force[1, i], force[2, i]
        bx, by, bz = blown[0, i], blown[1, i], blown[2, i]
        cross[own] += w[i] * (fx * bx + fy * by + fz * bz)
        swell[own] += w[i] * (gradients[0, i] * bx + gradients[1, i] * by + gradients[2, i] * bz)
    for piece in range(count):
        lower, right, missing, wrong = sums[1, piece], swell[piece] + give[piece], error[piece], sums[3, piece]
        if fixed[piece]:
            lower, right, missing = 0.0, 1.0, -missing
        tense = sums[0, piece] > 0.0
        scale = sums[0, piece] if tense else 1.0
        determinant = scale * right - cross[piece] * lower
        if works[piece] and determinant > 0.0:
            if tense:
                size[piece] = (cross[piece] * missing - right * wrong) / determinant
            push[piece] = (lower * wrong - scale * missing) / determinant
        pressed[piece] += push[piece]
    for r in range(len(pattern)):
        multipliers[r] += size[np.uint64(row_pieces[r])] * pattern[r]
    for axis in range(3):
        for i in range(p.shape[1]):
            own = np.uint64(pieces[i])
            moved = w[i] * (force[axis, i] * size[own] + blown[axis, i] * push[own])
            p[axis, i] += moved + pull[axis, i] if len(carried) else moved


@kernel()
def hold_volume(p, surface, push, pieces, k, contents, multipliers, last, square):
    volumes, gradients = measure_volume(p, surface, len(last))
    error, give = volume_errors(volumes, contents, multipliers, square)
    works, fixed = contents[7], contents[8]
    steps, changes = np.zeros(len(error)), np.zeros(len(error))
    for i in range(p.shape[1]):
        gx, gy, gz = gradients[0, i], gradients[1, i], gradients[2, i]
        changes[np.uint64(pieces[i])] += push[i] * (gx * gx + gy * gy + gz * gz)
    for piece in range(len(error)):
        slope = changes[piece] + give[piece]
        if works[piece] and slope > 0.0:
            steps[piece] = error[piece] if fixed[piece] else -k[piece] * error[piece] / max(slope, SMALLEST)
        multipliers[piece] += steps[piece]
        last[piece] = volumes[piece] + changes[piece] * steps[piece]
    for axis in range(3):
        for i in range(p.shape[1]):
            p[axis, i] += gradients[axis, i] * (push[i] * steps[np.uint64(pieces[i])])
