"""Whole chains of edges compiled by Numba, by elimination.

Elimination along a chain is a recurrence, in which each number waits for the one before. So chains of like length are
solved `LANES` at a time, each in a lane of the processor's vector registers: the innermost loops run over the lanes.
What finds no such company is solved in blocks of `BLOCK` steps of several chains, or as one ring; there, values at
k + 1 are read from a separate slice, and arrays are separate: otherwise LLVM does not vectorize the loops.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from .compile import helper, kernel

TINY = 1e-12

LANES = 16
"""Number of chains side by side: two registers of AVX-512, four of AVX2. LLVM unrolls a loop over 8 and vectorizes
nothing; 16 take half the time per edge."""

NO_STIFFNESS = 1e30

BLOCK = 256
"""Number of steps that makes a round of loops worthwhile: shorter chains are solved together."""


@helper
def _solve(diagonal: np.ndarray, coupling: np.ndarray, right: np.ndarray) -> None:
    """Solve a symmetric tridiagonal system in place; coupling[e] is that of the unknowns e - 1 and e.

    It proceeds from both ends to the middle and back, so that two of the divisions overlap.
    """
    e, f = 0, len(right) - 1
    top, bottom, right_top, right_bottom = diagonal[e], diagonal[f], right[e], right[f]
    while e < f - 1:
        inverse, other_inverse = 1.0 / top, 1.0 / bottom
        beside, other_beside = coupling[e + 1], coupling[f]
        factor, other_factor = beside * inverse, other_beside * other_inverse
        coupling[e + 1], coupling[f] = factor, other_factor
        right[e], right[f] = right_top * inverse, right_bottom * other_inverse
        e, f = e + 1, f - 1
        right_top, right_bottom = right[e] - factor * right_top, right[f] - other_factor * right_bottom
        top, bottom = diagonal[e] - factor * beside, diagonal[f] - other_factor * other_beside
    if e == f:
        upper = lower = (right_top + right_bottom - right[e]) / (top + bottom - diagonal[e])
    else:
        factor = coupling[f] / top
        lower = (right_bottom - factor * right_top) / (bottom - factor * coupling[f])
        upper = right_top / top - factor * lower
    right[e], right[f] = upper, lower
    while e > 0:
        upper, lower = right[e - 1] - coupling[e] * upper, right[f + 1] - coupling[f + 1] * lower
        e, f = e - 1, f + 1
        right[e], right[f] = upper, lower


@helper
def _solve_ring(diagonal: np.ndarray, coupling: np.ndarray, right: np.ndarray, corner: float) -> None:
    """As `_solve`, with `corner` between the last unknown and the first, by the formula of Sherman and Morrison."""
    pivot = -diagonal[0]
    ratio = corner / pivot
    diagonal[0] -= pivot
    diagonal[-1] -= corner * ratio
    again, extra = coupling.copy(), np.zeros(len(right))
    extra[0], extra[-1] = pivot, corner
    _solve(diagonal, again, extra)
    _solve(diagonal, coupling, right)
    much = (right[0] + ratio * right[-1]) / (1.0 + extra[0] + ratio * extra[-1])
    for e in range(len(right)):
        right[e] -= much * extra[e]


@helper
def _brake(
    n: tuple[np.ndarray, np.ndarray, np.ndarray],
    x: np.ndarray,
    vertices: np.ndarray,
    lengths: np.ndarray,
    gamma: np.ndarray,
    give: np.ndarray,
    right: np.ndarray,
) -> None:
    """Change compliances and right hand sides, (m,), of steps along vertices (m + 1,) for their damping gamma (m,)."""
    for e in range(len(gamma)):
        i, j = np.uint64(vertices[e]), np.uint64(vertices[e + 1])
        before = n[0][e] * (x[0, j] - x[0, i]) + n[1][e] * (x[1, j] - x[1, i]) + n[2][e] * (x[2, j] - x[2, i])
        share = 1.0 / (1.0 + gamma[e])
        right[e] = (right[e] - gamma[e] * (lengths[e] - before)) * share
        give[e] *= share


@helper
def _push(q: np.ndarray, n: np.ndarray, change: np.ndarray, weights: np.ndarray, closed: bool) -> None:
    """Move one coordinate q (m + 1,) by the change of multipliers (m,) along n (m,), which becomes their product.

    The first vertex of a ring is repeated at its end.
    """
    for e in range(len(change)):
        n[e] *= change[e]
    first, last = -weights[0] * n[0], weights[-1] * n[len(change) - 1]
    q[0] += first + last if closed else first
    q[len(change)] += first + last if closed else last
    inner, after, shared = q[1:], n[1:], weights[1:]
    for e in range(len(change) - 1):
        inner[e] += shared[e] * (n[e] - after[e])


@helper
def _project_lanes(
    p: np.ndarray,
    vertices: np.ndarray,
    rest_lengths: np.ndarray,
    pull: np.ndarray,
    push: np.ndarray,
    multipliers: np.ndarray,
    passes: int,
) -> None:
    """Solve chains side by side: row e of `vertices`, (m + 1, LANES), has the particles number e of all of them.

    The arrays behind it have the shape (m, LANES). `pull` and `push` are compliances in tension and in compression.
    LLVM vectorizes the loops over lanes because the arrays made here have constant strides and are apart from all
    others.
    """
    count = len(rest_lengths)
    q, kept, last = np.empty((count + 1, 4, LANES)), np.empty((count, 5, LANES)), np.empty((5, LANES))
    for e in range(count + 1):
        for lane in range(LANES):
            i = np.uint64(vertices[e, lane])
            q[e, 0, lane], q[e, 1, lane], q[e, 2, lane], q[e, 3, lane] = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
    for _ in range(passes):
        last[:] = 0.0
        for e in range(count):
            for lane in range(LANES):
                dx = q[e + 1, 0, lane] - q[e, 0, lane]
                dy = q[e + 1, 1, lane] - q[e, 1, lane]
                dz = q[e + 1, 2, lane] - q[e, 2, lane]
                length = sqrt(dx * dx + dy * dy + dz * dz) + TINY
                error = length - rest_lengths[e, lane]
                pulled, pushed = pull[e, lane], push[e, lane]
                softness = pushed if error < 0.0 else pulled
                is_edge = 1.0 if softness < NO_STIFFNESS else 0.0
                scale = is_edge / length
                nx, ny, nz = dx * scale, dy * scale, dz * scale
                right = -(error + softness * multipliers[e, lane])
                w = q[e, 3, lane]
                coupling = -w * (last[0, lane] * nx + last[1, lane] * ny + last[2, lane] * nz)
                factor = coupling * last[3, lane]
                inverse = 1.0 / (w + q[e + 1, 3, lane] + softness - factor * coupling)
                solution = (right - coupling * last[4, lane]) * inverse
                kept[e, 0, lane], kept[e, 1, lane], kept[e, 2, lane] = nx, ny, nz
                kept[e, 3, lane], kept[e, 4, lane] = factor, solution
                last[0, lane], last[1, lane], last[2, lane] = nx, ny, nz
                last[3, lane], last[4, lane] = inverse, solution
        last[:] = 0.0
        for e in range(count - 1, -1, -1):
            for lane in range(LANES):
                step = kept[e, 4, lane] - last[3, lane] * last[4, lane]
                multipliers[e, lane] += step
                sx, sy, sz = kept[e, 0, lane] * step, kept[e, 1, lane] * step, kept[e, 2, lane] * step
                w = q[e + 1, 3, lane]
                q[e + 1, 0, lane] += w * (sx - last[0, lane])
                q[e + 1, 1, lane] += w * (sy - last[1, lane])
                q[e + 1, 2, lane] += w * (sz - last[2, lane])
                last[0, lane], last[1, lane], last[2, lane] = sx, sy, sz
                last[3, lane], last[4, lane] = kept[e, 3, lane], step
        for lane in range(LANES):
            w = q[0, 3, lane]
            q[0, 0, lane] -= w * last[0, lane]
            q[0, 1, lane] -= w * last[1, lane]
            q[0, 2, lane] -= w * last[2, lane]
    # Backwards: a chain that is shorter than others repeats its last vertex, which is moved where it comes first.
    for e in range(count, -1, -1):
        for lane in range(LANES):
            i = np.uint64(vertices[e, lane])
            p[i, 0], p[i, 1], p[i, 2] = q[e, 0, lane], q[e, 1, lane], q[e, 2, lane]


@kernel(
    "void(f8[:,::1], f8[:,::1], i4[::1], i8, i8[:,:], i8[::1], i8[::1], "
    "f8[::1], f8[::1], f8[:,::1], f8[::1], f8[::1], i8, b1)"
)
def project_chains(
    p: np.ndarray,
    x: np.ndarray,
    vertices: np.ndarray,
    levels: int,
    rings: np.ndarray,
    joints: np.ndarray,
    groups: np.ndarray,
    weights: np.ndarray,
    rest_lengths: np.ndarray,
    alpha: np.ndarray,
    gamma: np.ndarray,
    multipliers: np.ndarray,
    passes: int,
    fresh: bool,
) -> None:
    if fresh:
        multipliers[:] = 0.0
    size, start = len(rest_lengths), 0
    for steps in groups:
        inner, outer = start + LANES * steps, start + LANES * (steps + 1)
        _project_lanes(
            p, vertices[start:outer].reshape(-1, LANES), rest_lengths[start:inner].reshape(-1, LANES),
            alpha[0, start:inner].reshape(-1, LANES), alpha[-1, start:inner].reshape(-1, LANES),
            multipliers[start:inner].reshape(-1, LANES), passes,
        )  # fmt: skip
        start = outer
    most = min(size, BLOCK + 2**levels)
    qx, qy, qz, inverse_masses = np.empty(most + 1), np.empty(most + 1), np.empty(most + 1), np.empty(most + 1)
    nx, ny, nz = np.empty(most), np.empty(most), np.empty(most)
    lengths, give, solution = np.empty(most), np.empty(most), np.empty(most)
    diagonals, couplings = np.empty(most), np.empty(most)
    next_x, next_y, next_z, next_nx, next_ny, next_nz = qx[1:], qy[1:], qz[1:], nx[1:], ny[1:], nz[1:]
    joint, ring = 0, 0
    while start < size:
        closed = ring < rings.shape[1] and rings[0, ring] == start
        ring += closed
        stop, first_joint = joints[joint] if joint < len(joints) else size, joint
        while not closed and stop - start < BLOCK and stop < size:
            if ring < rings.shape[1] and rings[0, ring] == stop + 1:
                break
            joint += 1
            stop = joints[joint] if joint < len(joints) else size
        count = stop - start
        w, rest, own = inverse_masses[: count + 1], rest_lengths[start:stop], multipliers[start:stop]
        pull, push, next_w = alpha[0, start:stop], alpha[-1, start:stop], w[1:]
        diagonal, coupling, right = diagonals[:count], couplings[:count], solution[:count]
        for e in range(count + 1):
            i = np.uint64(vertices[np.uint64(start + e)])
            qx[e], qy[e], qz[e], w[e] = p[i, 0], p[i, 1], p[i, 2], p[i, 3]
        for _ in range(passes):
            for e in range(count):
                dx, dy, dz = next_x[e] - qx[e], next_y[e] - qy[e], next_z[e] - qz[e]
                length = sqrt(dx * dx + dy * dy + dz * dz) + TINY
                scale = 1.0 / length
                nx[e], ny[e], nz[e] = dx * scale, dy * scale, dz * scale
                error = length - rest[e]
                softness = push[e] if error < 0.0 else pull[e]
                lengths[e], give[e] = length, softness
                right[e] = -(error + softness * own[e])
            if len(gamma):
                _brake((nx, ny, nz), x, vertices[start:], lengths, gamma[start:stop], give, right)
            for e in range(count):
                diagonal[e] = w[e] + next_w[e] + give[e]
            for k in joints[first_joint:joint] - start:
                # A joint is an uncoupled unknown with the solution 0.
                nx[k], ny[k], nz[k], diagonal[k], right[k] = 0.0, 0.0, 0.0, 1.0, 0.0
            beside = coupling[1:]
            for e in range(count - 1):
                beside[e] = -next_w[e] * (nx[e] * next_nx[e] + ny[e] * next_ny[e] + nz[e] * next_nz[e])
            if closed:
                last = count - 1
                corner = -w[0] * (nx[0] * nx[last] + ny[0] * ny[last] + nz[0] * nz[last])
                _solve_ring(diagonal, coupling, right, corner)
            else:
                _solve(diagonal, coupling, right)
            for e in range(count):
                own[e] += right[e]
            _push(qx, nx, right, w, closed)
            _push(qy, ny, right, w, closed)
            _push(qz, nz, right, w, closed)
        for e in range(count + 1):
            i = np.uint64(vertices[np.uint64(start + e)])
            p[i, 0], p[i, 1], p[i, 2] = qx[e], qy[e], qz[e]
        start, joint = stop + 1, joint + 1


@kernel("void(f8[:], i4[:], f8[:], i4[:])")
def put(values: np.ndarray, places: np.ndarray, into: np.ndarray, rows: np.ndarray) -> None:
    for k in range(len(rows)):
        into[np.uint64(rows[k])] = values[np.uint64(places[k])]
