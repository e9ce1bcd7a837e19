"""Whole chains of edges compiled by Numba, by elimination.

Elimination along a chain is a recurrence, in which each number waits for the one before. So chains of like length are
solved side by side, each in a lane of the processor's vector registers, see `vectors`. What finds no such company is
solved in blocks of `BLOCK` steps of several chains, or as one ring; there, values at k + 1 are read from a separate
slice, and arrays are separate: otherwise LLVM does not vectorize the loops.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ..protocol.guards import TINY
from .compile import helper, kernel
from .vectors import by_sign, four, load, root, store, transposed

WIDTHS: tuple[int, ...] = (8, 4)
"""One or two registers of four numbers. With two, the processor has something to do while it waits for a division."""

ONE, TWO, THREE = np.uint64(1), np.uint64(2), np.uint64(3)
WIDTH, KEPT, PASSED_ON = np.uint64(4), np.uint64(3), np.uint64(5)
"""Numbers in a register; vectors that a step keeps until the way back; those that it passes on to the next one."""

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
def _set(q: np.ndarray, i: np.uint64, x: Any, y: Any, z: Any) -> None:
    """Set three rows of q."""
    store(q, i, x)
    store(q, i + ONE, y)
    store(q, i + TWO, z)


@helper
def _gather(p: np.ndarray, vertices: np.ndarray, k: np.uint64, q: np.ndarray) -> None:
    """Set rows 4 k to 4 k + 3 of q to x, y, z and inverse masses of the particles at these places of `vertices`."""
    i = WIDTH * k
    x, y, z, w = transposed(
        load(p, np.uint64(vertices[i])),
        load(p, np.uint64(vertices[i + ONE])),
        load(p, np.uint64(vertices[i + TWO])),
        load(p, np.uint64(vertices[i + THREE])),
    )
    _set(q, i, x, y, z)
    store(q, i + THREE, w)


@helper
def _scatter(p: np.ndarray, vertices: np.ndarray, k: np.uint64, x: Any, y: Any, z: Any, w: Any) -> None:
    """Write back what `_gather` has read."""
    i = WIDTH * k
    first, second, third, fourth = transposed(x, y, z, w)
    store(p, np.uint64(vertices[i]), first)
    store(p, np.uint64(vertices[i + ONE]), second)
    store(p, np.uint64(vertices[i + TWO]), third)
    store(p, np.uint64(vertices[i + THREE]), fourth)


@helper
def _project_lanes(
    p: np.ndarray,
    vertices: np.ndarray,
    width: np.uint64,
    rest_lengths: np.ndarray,
    pull: np.ndarray,
    push: np.ndarray,
    multipliers: np.ndarray,
    passes: int,
    fresh: bool,
) -> None:
    """Solve 4 `width` chains side by side.

    `vertices` (m + 4 width,) are as in `project_chains`. The arrays behind it are (m / 4, 4): each row is a step of
    four of the chains. `pull` and `push` are compliances in tension and in compression.

    The unknowns are multipliers over lengths L. With the way d along an edge instead of its direction, the diagonal is
    then (w + w' + alpha) L², which saves the division by L.
    """
    steps = np.uint64(len(rest_lengths))
    unit, zero = four(1.0, 1.0, 1.0, 1.0), four(0.0, 0.0, 0.0, 0.0)
    q, kept = np.empty((len(vertices), 4)), np.empty((KEPT * steps, 4))
    last = np.empty((PASSED_ON * width, 4))  # what one step passes on to the next one of its chain
    for k in range(width):
        _gather(p, vertices, np.uint64(k), q)
    for number in range(passes):
        is_first, is_last, are_known = number == 0, number == passes - 1, number > 0 or not fresh
        for k in range(len(last)):
            store(last, np.uint64(k), zero)
        for k in range(steps):
            e = np.uint64(k)
            if is_first:
                _gather(p, vertices, e + width, q)
            i, j, m, n = WIDTH * e, WIDTH * (e + width), KEPT * e, PASSED_ON * (e & (width - ONE))
            dx = load(q, j) - load(q, i)
            dy = load(q, j + ONE) - load(q, i + ONE)
            dz = load(q, j + TWO) - load(q, i + TWO)
            length = root(dx * dx + dy * dy + dz * dz) + TINY
            error = length - load(rest_lengths, e)
            softness = by_sign(error, load(pull, e), load(push, e))
            left = error
            if are_known:
                left = error + softness * load(multipliers, e)
            w = load(q, i + THREE)
            # With the opposite sign, as the factor.
            coupling = w * (load(last, n) * dx + load(last, n + ONE) * dy + load(last, n + TWO) * dz)
            factor = coupling * load(last, n + THREE)
            inverse = unit / ((w + load(q, j + THREE) + softness) * (length * length) - factor * coupling)
            solution = (coupling * load(last, n + WIDTH) - length * left) * inverse
            _set(kept, m, factor, solution, length)
            _set(last, n, dx, dy, dz)
            store(last, n + THREE, inverse)
            store(last, n + WIDTH, solution)
        for k in range(len(last)):
            store(last, np.uint64(k), zero)
        # Backwards, each step moves its end, which a chain that is shorter than others repeats: where it comes first
        # it is moved last, and by all that pulls at it.
        for k in range(steps):
            e = steps - ONE - np.uint64(k)
            i, j, m, n = WIDTH * e, WIDTH * (e + width), KEPT * e, PASSED_ON * (e & (width - ONE))
            step = load(kept, m + ONE) + load(last, n + THREE) * load(last, n + WIDTH)
            total = load(kept, m + TWO) * step
            if are_known:
                total = load(multipliers, e) + total
            store(multipliers, e, total)
            x, y, z, w = load(q, j), load(q, j + ONE), load(q, j + TWO), load(q, j + THREE)
            sx, sy, sz = (x - load(q, i)) * step, (y - load(q, i + ONE)) * step, (z - load(q, i + TWO)) * step
            x, y, z = (
                x + w * (sx - load(last, n)),
                y + w * (sy - load(last, n + ONE)),
                z + w * (sz - load(last, n + TWO)),
            )
            if is_last:
                _scatter(p, vertices, e + width, x, y, z, w)
            else:
                _set(q, j, x, y, z)
            _set(last, n, sx, sy, sz)
            store(last, n + THREE, load(kept, m))
            store(last, n + WIDTH, step)
        for k in range(width):
            e = np.uint64(k)
            i, n = WIDTH * e, PASSED_ON * e
            x, y, z, w = load(q, i), load(q, i + ONE), load(q, i + TWO), load(q, i + THREE)
            x, y, z = x - w * load(last, n), y - w * load(last, n + ONE), z - w * load(last, n + TWO)
            if is_last:
                _scatter(p, vertices, e, x, y, z, w)
            else:
                _set(q, i, x, y, z)


@kernel()
def project_chains(p, x, along, links, multipliers, passes, fresh):
    vertices, levels, rings, joints, groups = along
    rest_lengths, alpha, gamma = links[1:]
    size, start = len(rest_lengths), 0
    for steps, lanes in groups:
        inner, outer = start + lanes * steps, start + lanes * (steps + 1)
        _project_lanes(
            p, vertices[start:outer], np.uint64(lanes // 4), rest_lengths[start:inner].reshape(-1, 4),
            alpha[0, start:inner].reshape(-1, 4), alpha[-1, start:inner].reshape(-1, 4),
            multipliers[start:inner].reshape(-1, 4), passes, fresh,
        )  # fmt: skip
        start = outer
    if fresh:
        multipliers[start:] = 0.0
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


@kernel()
def put(values, places, into, rows):
    for k in range(max(len(places), len(rows))):
        place, row = places[k] if len(places) else k, rows[k] if len(rows) else k
        into[np.uint64(row)] = values[np.uint64(place)]
