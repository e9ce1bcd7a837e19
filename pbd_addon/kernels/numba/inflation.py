"""Skins under pressure compiled by Numba."""

from __future__ import annotations

from math import sqrt

import numpy as np

from ..numpy.inflation import LEAST_COMPLIANCE
from ..protocol.guards import SMALLEST
from .compile import helper, kernel


@helper
def _pull(force: np.ndarray, a: int, b: int, by: tuple[float, float, float]) -> None:
    for axis in range(3):
        force[axis, a] += by[axis]
        force[axis, b] -= by[axis]


@kernel()
def enclosed_volumes(q, triangles, pieces, piece_count):
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
def carried_shares(w, indices, stiffness, free, h, carried, swept, own):
    m = len(stiffness)
    shares, owns = np.empty(m), np.zeros(m)
    for r in range(m):
        give = w[np.uint64(indices[0, r])] + w[np.uint64(indices[1, r])]
        softness = 1.0 / max(h * h * stiffness[r] * give, SMALLEST)
        shares[r] = carried * min(1.0, sqrt(softness / swept))
        if free[r]:
            owns[r] = min(1.0 - shares[r], own * softness)
    return shares, owns


@kernel()
def carried_tensions(x, rows, carried, h):
    indices, rest_lengths, compliance, row_pieces = rows
    tensions, kept, share, own, most = carried
    m, pushed = len(rest_lengths), len(compliance) - 1
    found = np.empty(m)
    for r in range(m):
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = x[0, a] - x[0, b], x[1, a] - x[1, b], x[2, a] - x[2, b]
        change = sqrt(dx * dx + dy * dy + dz * dz) - rest_lengths[r]
        give = max(compliance[np.uint64(pushed if change < 0.0 else 0), r], LEAST_COMPLIANCE)
        one = -(h * h) * (kept[np.uint64(row_pieces[r])] * share[r] * tensions[r] + own[r] * (change / give))
        found[r] = min(max(one, -most[r]), most[r])
    return found


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
def balance(equations):
    stretch, cross, back, swell, wrong, error, works, fixed = equations
    count = len(stretch)
    size, push = np.zeros(count), np.zeros(count)
    for piece in range(count):
        lower, right, missing = back[piece], swell[piece], error[piece]
        if fixed[piece]:
            lower, right, missing = 0.0, 1.0, -missing
        tense = stretch[piece] > 0.0
        scale = stretch[piece] if tense else 1.0
        determinant = scale * right - cross[piece] * lower
        if works[piece] and determinant > 0.0:
            if tense:
                size[piece] = (cross[piece] * missing - right * wrong[piece]) / determinant
            push[piece] = (lower * wrong[piece] - scale * missing) / determinant
    return size, push


@kernel()
def inflate(p, gradients, skin, pattern, force, moved, size, push, row_pieces, multipliers):
    w, pieces = skin[:2]
    carries = moved.shape[1] > 0
    for r in range(len(pattern)):
        multipliers[r] += size[np.uint64(row_pieces[r])] * pattern[r]
    for axis in range(3):
        for i in range(p.shape[1]):
            own = np.uint64(pieces[i])
            way = w[i] * (force[axis, i] * size[own] + gradients[axis, i] * push[own])
            p[axis, i] += way + moved[axis, i] if carries else way


@kernel()
def project_volume(p, gradients, push, pieces, volumes):
    error, give, k, works, fixed = volumes
    steps, changes = np.zeros(len(error)), np.zeros(len(error))
    for i in range(p.shape[1]):
        gx, gy, gz = gradients[0, i], gradients[1, i], gradients[2, i]
        changes[np.uint64(pieces[i])] += push[i] * (gx * gx + gy * gy + gz * gz)
    for piece in range(len(error)):
        slope = changes[piece] + give[piece]
        if works[piece] and slope > 0.0:
            steps[piece] = error[piece] if fixed[piece] else -k[piece] * error[piece] / max(slope, SMALLEST)
        changes[piece] *= steps[piece]
    for axis in range(3):
        for i in range(p.shape[1]):
            p[axis, i] += gradients[axis, i] * (push[i] * steps[np.uint64(pieces[i])])
    return steps, changes


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
