"""Constraints compiled by Numba, row by row, and hinges `LANES` at a time.

The rows of a color share no particle, so this gives the same result as whole colors at once, up to rounding; `starts`
is needed by hinges only. `p` and `x` must be C-contiguous.

Particle indices are made unsigned, or Numba would check each for being negative.
"""

from __future__ import annotations

from math import atan2, sqrt
from typing import Any

import numpy as np

from ..protocol.guards import TINY
from ..protocol.projections import LEAST_GIVE
from .compile import helper, kernel
from .vectors import (
    axes,
    by_sign,
    cross,
    dot,
    four,
    load,
    numbers,
    root,
    spread,
    store,
    transposed,
    vector_of,
    way,
    weight,
    weights,
)

LANES = 16
"""Number of hinges of a color that are computed together, in the lanes of vector registers, as in `chains`."""

SMALL = 0.1
"""Largest tangent of a quarter of an angle up to which 8 terms of the arc tangent's series are exact: the next one is
0.1^16 / 17 = 6e-18 of the first. Up to 0.4 rad, then, no angle needs `atan2`, which takes half of the time."""

TURN = 2.0 * np.pi
"""A whole turn [rad]."""


@helper
def _ends(p: np.ndarray, indices: np.ndarray, row: np.uint64) -> tuple[Any, ...]:
    """Both particles of a distance, their packed positions, and the way from the second to the first."""
    i, j = np.uint64(indices[0, row]), np.uint64(indices[1, row])
    one, other = load(p, i), load(p, j)
    return i, j, one, other, way(one - other)


@helper
def _pull(p: np.ndarray, ends: tuple[Any, ...], step: Any) -> None:
    """Move two particles by the step over the length, four times."""
    i, j, one, other, d = ends
    store(p, i, one + (weights(one) * step) * d)
    store(p, j, other - (weights(other) * step) * d)


@helper
def _before(x: np.ndarray, ends: tuple[Any, ...]) -> float:
    """Product of the way between two particles, now and at x."""
    i, j, _, _, d = ends
    return dot(d, vector_of(x[0, i] - x[0, j], x[1, i] - x[1, j], x[2, i] - x[2, j]))


@helper
def _way(p: np.ndarray, indices: np.ndarray, row: np.uint64) -> Any:
    """The way from the second particle to the first."""
    return load(p, np.uint64(indices[0, row])) - load(p, np.uint64(indices[1, row]))


@helper
def _of(values: np.ndarray, rows: tuple[np.uint64, ...]) -> Any:
    a, b, c, d = rows
    return four(values[a], values[b], values[c], values[d])


@kernel()
def project_distance(p, x, rows, springs, multipliers, passes):
    indices, starts = rows[:2]
    rest_lengths, alpha, scale, gamma = springs[1:]
    # Four rows of a color at a time: roots and divisions take most of the time, and four of them as long as one. Behind
    # the last row of a color it is computed again, and nothing comes of it.
    damped, kept, pushed = len(gamma) > 0, len(multipliers) > 0, len(alpha) - 1
    for _ in range(passes):
        for color in range(len(starts) - 1):
            last = starts[color + 1] - 1
            for r in range(starts[color], last + 1, 4):
                four_rows = (
                    np.uint64(r),
                    np.uint64(min(r + 1, last)),
                    np.uint64(min(r + 2, last)),
                    np.uint64(min(r + 3, last)),
                )
                a, b = _ends(p, indices, four_rows[0]), _ends(p, indices, four_rows[1])
                c, d = _ends(p, indices, four_rows[2]), _ends(p, indices, four_rows[3])
                dx, dy, dz, _ = transposed(a[4], b[4], c[4], d[4])
                length = root(dx * dx + dy * dy + dz * dz) + TINY
                error = length - _of(rest_lengths, four_rows)
                residual = error
                if kept:
                    give = by_sign(error, _of(alpha[0], four_rows), _of(alpha[pushed], four_rows))
                    residual = error + give * _of(multipliers, four_rows)
                if damped:
                    before = four(_before(x, a), _before(x, b), _before(x, c), _before(x, d))
                    residual = residual + _of(gamma, four_rows) * (length - before / length)
                step = residual * by_sign(error, _of(scale[0], four_rows), _of(scale[pushed], four_rows))
                pulls = spread(step / length)
                _pull(p, a, pulls[0])
                if r < last:
                    _pull(p, b, pulls[1])
                if r + 1 < last:
                    _pull(p, c, pulls[2])
                if r + 2 < last:
                    _pull(p, d, pulls[3])
                if kept:
                    total = numbers(_of(multipliers, four_rows) + step)
                    for k in range(min(4, last + 1 - r)):
                        multipliers[r + k] = total[k]


@kernel()
def strains(p, indices, rest_lengths):
    found = np.empty(len(rest_lengths))
    for r in range(len(rest_lengths)):
        i, j = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = p[0, i] - p[0, j], p[1, i] - p[1, j], p[2, i] - p[2, j]
        found[r] = abs(sqrt(dx * dx + dy * dy + dz * dz) / rest_lengths[r] - 1.0)
    return found


@kernel()
def strained(p, indices, rest_lengths, limit):
    # Packed: most of the time is to read what lies all over the mesh.
    q, count, found = np.empty((p.shape[1], 4)), 0, np.empty(len(rest_lengths), np.int64)
    for k in range(len(q)):
        i = np.uint64(k)
        store(q, i, vector_of(p[0, i], p[1, i], p[2, i]))
    usual, off, last = 1.0 + limit * limit, 2.0 * limit, len(rest_lengths) - 1
    for k in range(0, last + 1, 4):
        rows = np.uint64(k), np.uint64(min(k + 1, last)), np.uint64(min(k + 2, last)), np.uint64(min(k + 3, last))
        a, b = _way(q, indices, rows[0]), _way(q, indices, rows[1])
        c, d = _way(q, indices, rows[2]), _way(q, indices, rows[3])
        dx, dy, dz, _ = transposed(a, b, c, d)
        lengths = _of(rest_lengths, rows)
        rest = lengths * lengths
        error = dx * dx + dy * dy + dz * dz - usual * rest
        over = numbers(by_sign(error, error, -1.0 * error) - off * rest)
        if over[0] > 0.0 or over[1] > 0.0 or over[2] > 0.0 or over[3] > 0.0:
            for lane, one in enumerate(over):
                if k + lane <= last:
                    found[count] = k + lane
                    count += one > 0.0
    return found[:count].copy()


@kernel()
def project_dihedral(p, x, rows, hinges, multipliers):
    indices, starts = rows[:2]
    weights, rest_angles, alpha, gamma, k, shares, held, limits, stuck = hinges
    damped, rubs = len(gamma) > 0, len(limits) > 0
    q, gradients, w = np.zeros((4, 3, LANES)), np.empty((4, 3, LANES)), np.zeros((4, LANES))
    sines, cosines, quarters = np.zeros(LANES), np.zeros(LANES), np.zeros(LANES)
    angles, stiffness = np.zeros(LANES), np.zeros(LANES)
    for color in range(len(starts) - 1):
        for start in range(starts[color], starts[color + 1], LANES):
            count = min(LANES, starts[color + 1] - start)
            for lane in range(count):
                for corner in range(4):
                    particle = np.uint64(indices[corner, start + lane])
                    w[corner, lane] = weights[corner, start + lane]
                    for axis in range(3):
                        q[corner, axis, lane] = p[axis, particle]
            # Lanes behind the last row of a color compute with what they held before, and nothing comes of it.
            for lane in range(LANES):
                px, py, pz = q[0, 0, lane], q[0, 1, lane], q[0, 2, lane]
                ex, ey, ez = q[1, 0, lane] - px, q[1, 1, lane] - py, q[1, 2, lane] - pz
                lx, ly, lz = q[2, 0, lane] - px, q[2, 1, lane] - py, q[2, 2, lane] - pz
                rx, ry, rz = q[3, 0, lane] - px, q[3, 1, lane] - py, q[3, 2, lane] - pz
                ax, ay, az = ey * lz - ez * ly, ez * lx - ex * lz, ex * ly - ey * lx
                bx, by, bz = ry * ez - rz * ey, rz * ex - rx * ez, rx * ey - ry * ex
                length = sqrt(ex * ex + ey * ey + ez * ez) + TINY
                inverse, square = 1.0 / length, length * length
                sine = ((ay * bz - az * by) * ex + (az * bx - ax * bz) * ey + (ax * by - ay * bx) * ez) * inverse
                cosine = ax * bx + ay * by + az * bz
                half = sine / (sqrt(sine * sine + cosine * cosine) + cosine)
                sines[lane], cosines[lane], quarters[lane] = sine, cosine, half / (sqrt(1.0 + half * half) + 1.0)
                a = 1.0 / max(ax * ax + ay * ay + az * az, TINY * square * square)
                b = 1.0 / max(bx * bx + by * by + bz * bz, TINY * square * square)
                along_left, along_right = (
                    (lx * ex + ly * ey + lz * ez) * inverse,
                    (rx * ex + ry * ey + rz * ez) * inverse,
                )
                ax, ay, az, bx, by, bz = ax * a, ay * a, az * a, bx * b, by * b, bz * b
                left, right = length - along_left, length - along_right
                sx, sy, sz = left * ax + right * bx, left * ay + right * by, left * az + right * bz
                tx, ty, tz = (
                    along_left * ax + along_right * bx,
                    along_left * ay + along_right * by,
                    along_left * az + along_right * bz,
                )
                stiffness[lane] = (
                    w[0, lane] * (sx * sx + sy * sy + sz * sz)
                    + w[1, lane] * (tx * tx + ty * ty + tz * tz)
                    + square * (w[2, lane] * (ax * ax + ay * ay + az * az) + w[3, lane] * (bx * bx + by * by + bz * bz))
                )
                gradients[0, 0, lane], gradients[0, 1, lane], gradients[0, 2, lane] = sx, sy, sz
                gradients[1, 0, lane], gradients[1, 1, lane], gradients[1, 2, lane] = tx, ty, tz
                gradients[2, 0, lane], gradients[2, 1, lane], gradients[2, 2, lane] = (
                    -length * ax,
                    -length * ay,
                    -length * az,
                )
                gradients[3, 0, lane], gradients[3, 1, lane], gradients[3, 2, lane] = (
                    -length * bx,
                    -length * by,
                    -length * bz,
                )
            for lane in range(LANES):
                t = quarters[lane]
                u = t * t
                uu = u * u
                low, high = (
                    1.0 - u / 3.0 + uu * (1.0 / 5.0 - u / 7.0),
                    1.0 / 9.0 - u / 11.0 + uu * (1.0 / 13.0 - u / 15.0),
                )
                angles[lane] = 4.0 * t * (low + uu * uu * high)
            for lane in range(count):
                row = start + lane
                angle = angles[lane] if abs(quarters[lane]) < SMALL else atan2(sines[lane], cosines[lane])
                error = angle - rest_angles[row]
                error -= TURN * np.rint(error / TURN)
                residual, slope = error + alpha[row] * multipliers[row], stiffness[lane]
                if damped:
                    moved = 0.0
                    for corner in range(4):
                        particle = np.uint64(indices[corner, row])
                        for axis in range(3):
                            moved += gradients[corner, axis, lane] * (q[corner, axis, lane] - x[axis, particle])
                    residual += gamma[row] * moved
                    slope *= 1.0 + gamma[row]
                give = max(alpha[row] - shares[row] * slope, LEAST_GIVE * alpha[row])
                step = -k[row] * residual / max(slope + give, TINY)
                if rubs:
                    least = (1.0 - stuck[row]) * alpha[row]
                    holding = max(slope + max(least - shares[row] * slope, LEAST_GIVE * least), TINY)
                    slip = k[row] * limits[row] / max(slope + give, TINY)
                    still = -k[row] * (residual - stuck[row] * (alpha[row] * multipliers[row] + held[row])) / holding
                    step = min(max(still, step - slip), step + slip)
                multipliers[row] += step
                for corner in range(4):
                    particle = np.uint64(indices[corner, row])
                    push = w[corner, lane] * step
                    for axis in range(3):
                        p[axis, particle] = q[corner, axis, lane] + push * gradients[corner, axis, lane]


@helper
def _hinge(p: np.ndarray, indices: np.ndarray, stencils: np.ndarray, r: int) -> tuple[Any, ...]:
    """The particles of a flat hinge, its stencil, and their packed positions."""
    i, j = np.uint64(indices[0, r]), np.uint64(indices[1, r])
    m, n = np.uint64(indices[2, r]), np.uint64(indices[3, r])
    stencil = stencils[0, r], stencils[1, r], stencils[2, r], stencils[3, r]
    return (i, j, m, n), stencil, (load(p, i), load(p, j), load(p, m), load(p, n))


@helper
def _sum(stencil: tuple[float, ...], places: tuple[Any, ...]) -> Any:
    return stencil[0] * places[0] + stencil[1] * places[1] + stencil[2] * places[2] + stencil[3] * places[3]


@helper
def _braked(bent: Any, x: np.ndarray, particles: tuple[Any, ...], stencil: tuple[float, ...], gamma: float) -> Any:
    """Lengthened by damping, along itself."""
    i, j, m, n = particles
    a, b = vector_of(x[0, i], x[1, i], x[2, i]), vector_of(x[0, j], x[1, j], x[2, j])
    c, d = vector_of(x[0, m], x[1, m], x[2, m]), vector_of(x[0, n], x[1, n], x[2, n])
    square = max(dot(bent, bent), TINY * TINY)
    return (1.0 + gamma * dot(bent, bent - _sum(stencil, (a, b, c, d))) / square) * bent


@helper
def _push(p: np.ndarray, hinge: tuple[Any, ...], step: Any) -> None:
    """Move the particles of a flat hinge by what a step of its multiplier does."""
    particles, stencil, places = hinge
    i, j, m, n = particles
    store(p, i, places[0] + (stencil[0] * weights(places[0])) * step)
    store(p, j, places[1] + (stencil[1] * weights(places[1])) * step)
    store(p, m, places[2] + (stencil[2] * weights(places[2])) * step)
    store(p, n, places[3] + (stencil[3] * weights(places[3])) * step)


@helper
def _mean_normal(places: tuple[Any, ...], facing: float) -> Any:
    """Of both triangles of a hinge, of nearly unit length."""
    return facing * way(cross(places[1] - places[0], places[2] - places[3]))


@kernel()
def project_isometric(p, x, rows, hinges, multipliers, fresh):
    indices, stencils = rows[0], hinges[0]
    alpha, scale, gamma = hinges[2:]
    damped, kept = len(gamma) > 0, multipliers.shape[1] > 0
    for r in range(indices.shape[1]):
        hinge = _hinge(p, indices, stencils, r)
        bent = _sum(hinge[1], hinge[2])
        if damped:
            bent = _braked(bent, x, hinge[0], hinge[1], gamma[r])
        total = vector_of(0.0, 0.0, 0.0)
        if not fresh:
            total = vector_of(multipliers[0, r], multipliers[1, r], multipliers[2, r])
            bent = bent + alpha[r] * total
        step = scale[r] * way(bent)
        if kept:
            multipliers[0, r], multipliers[1, r], multipliers[2, r] = axes(total + step)
        _push(p, hinge, step)


@kernel()
def project_rubbing(p, x, rows, hinges, rubbing, multipliers, fresh):
    indices, stencils = rows[0], hinges[0]
    alpha, scale, gamma = hinges[2:]
    held, limits, facing, holding, stuck = rubbing
    damped, kept = len(gamma) > 0, multipliers.shape[1] > 0
    for r in range(indices.shape[1]):
        hinge = _hinge(p, indices, stencils, r)
        bent, normal = _sum(hinge[1], hinge[2]), _mean_normal(hinge[2], facing[r])
        if damped:
            bent = _braked(bent, x, hinge[0], hinge[1], gamma[r])
        total, given = vector_of(0.0, 0.0, 0.0), 0.0
        if not fresh:
            total = vector_of(multipliers[0, r], multipliers[1, r], multipliers[2, r])
            bent, given = bent + alpha[r] * total, alpha[r] * dot(total, normal)
        along = dot(bent, normal)
        usual, slip = scale[r] * along, scale[r] * limits[r]
        still = holding[r] * (along - stuck[r] * (given + held[r]))
        step = scale[r] * way(bent) + (min(max(still, usual + slip), usual - slip) - usual) * normal
        if kept:
            multipliers[0, r], multipliers[1, r], multipliers[2, r] = axes(total + step)
        _push(p, hinge, step)


@kernel()
def flat_bends(x, indices, stencils, facing):
    found = np.empty(indices.shape[1])
    for r in range(len(found)):
        i, j = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        m, n = np.uint64(indices[2, r]), np.uint64(indices[3, r])
        start, end = vector_of(x[0, i], x[1, i], x[2, i]), vector_of(x[0, j], x[1, j], x[2, j])
        left, right = vector_of(x[0, m], x[1, m], x[2, m]), vector_of(x[0, n], x[1, n], x[2, n])
        places = start, end, left, right
        stencil = stencils[0, r], stencils[1, r], stencils[2, r], stencils[3, r]
        found[r] = dot(_sum(stencil, places), _mean_normal(places, facing[r]))
    return found


@helper
def _at(x: np.ndarray, i: np.uint64) -> Any:
    return vector_of(x[0, i], x[1, i], x[2, i])


@kernel()
def hinge_changes(x, hinges, one, other):
    angles, by_one, by_other = np.empty(hinges.shape[1]), np.empty(hinges.shape[1]), np.empty(hinges.shape[1])
    for r in range(len(angles)):
        i, j, m, n = np.uint64(hinges[0, r]), np.uint64(hinges[1, r]), np.uint64(hinges[2, r]), np.uint64(hinges[3, r])
        start = _at(x, i)
        edge, left, right = _at(x, j) - start, _at(x, m) - start, _at(x, n) - start
        first, second = cross(edge, left), cross(right, edge)
        length = sqrt(dot(edge, edge)) + TINY
        angles[r] = atan2(dot(cross(first, second), edge) / length, dot(first, second))
        least = TINY * length**4
        first = (1.0 / max(dot(first, first), least)) * first
        second = (1.0 / max(dot(second, second), least)) * second
        along, beside = dot(left, edge) / length, dot(right, edge) / length
        for gone, found in ((one, by_one), (other, by_other)):
            from_start, to_end = _at(gone, i), _at(gone, j)
            of_first = along * to_end + (length - along) * from_start - length * _at(gone, m)
            of_second = beside * to_end + (length - beside) * from_start - length * _at(gone, n)
            found[r] = abs(dot(first, of_first) + dot(second, of_second))
    return angles, by_one, by_other


@kernel()
def project_attachment(p, pins, multipliers):
    indices, targets, weights, alpha, k = pins
    for r in range(len(indices)):
        i = np.uint64(indices[r])
        scale = -k[r] / (weights[r] + alpha[r])
        for axis in range(3):
            step = (p[axis, i] - targets[axis, r] + alpha[r] * multipliers[axis, r]) * scale
            multipliers[axis, r] += step
            p[axis, i] += weights[r] * step


@kernel()
def project_tether(p, tethers, slack, fallen, multipliers):
    indices, anchors = tethers[:2]
    lengths, body = tethers[4:]
    for r in range(len(indices)):
        i = np.uint64(indices[r])
        free = load(p, i)
        d = way(free - load(p, np.uint64(anchors[r])))
        square = dot(d, d)
        own, k = lengths[r], np.uint64(body[r])
        reach = own + max(slack[0, k] * own, slack[1, k] * own + fallen)
        if square > reach * reach:
            length = sqrt(square) + TINY
            excess = length - reach
            multipliers[r] += excess / max(weight(free), TINY)
            store(p, i, free - (excess / length) * d)
