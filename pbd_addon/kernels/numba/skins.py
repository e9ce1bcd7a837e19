"""What skins under pressure carry from substep to substep, compiled by Numba."""

from __future__ import annotations

from math import ceil, log, sqrt
from typing import Any

import numpy as np

from ..protocol.guards import SMALLEST
from ..protocol.skins import LEAST_COMPLIANCE
from .compile import helper, kernel
from .inflation import enclosed_volumes as _enclosed_volumes
from .motion import add_rigid as _add_rigid, island_motion as _island_motion


@kernel()
def sum_tensions(tensions, rest_lengths, pieces, sums):
    own = np.zeros(len(sums))
    for r in range(len(tensions)):
        own[np.uint64(pieces[r])] += tensions[r] * rest_lengths[r]
    for k in range(len(sums)):
        sums[k] += own[k]


@kernel()
def weigh_skin(sums, before, loads, limits, particles, exponentials, known, now):
    pressures, displaced, targets, taken = before
    set_strain, sizes, scale, softness, softened, held, ratio, from_weight, target, steps, fixed, works = loads
    least_strain, slack_strain, per_load, carried, mass, step, decay, fine = limits
    masses, pull, pieces, free = particles
    changed, grades, mean, heavy, kept, carried_pressures, aim, away, now_taken = now
    changed[0] = False
    for k in range(len(sums)):
        strain = set_strain[k]
        if known and not fixed[k]:
            pulled = min(max(max(held[k], sums[k] * softness[k] / scale[k]), 0.0), 1.0)
            strain = pulled if works[k] else 0.0
        most = max(strain, min(least_strain, ratio[k] * strain))
        grade = ceil(log(most) / fine) if most > slack_strain else -np.inf
        if grade != grades[0, k] or softened[k] != grades[1, k]:
            changed[0] = True
        grades[0, k], grades[1, k] = grade, softened[k]
        mean[k] = exponentials[int(-grade)] if most > slack_strain else 0.0
        walls = 3.0 * max(pressures[k] - from_weight[k], 0.0) * sizes[k] * softness[k] / scale[k]
        load = set_strain[k] + min(walls, 1.0)
        kept[k] = min(1.0, per_load * load / max(strain, slack_strain))
        carried_pressures[k] = carried * kept[k] * pressures[k]
        away[k] = displaced[k]
        reached = targets[k]
        way = step * (steps[k] if steps[k] >= 0.0 else reached)
        aim[k] = min(max(target[k], reached - way), reached + way)
    for k in range(len(taken)):
        now_taken[k] = taken[k] * decay
    if changed[0]:
        by_piece = np.empty(len(sums))
        for k in range(len(sums)):
            by_piece[k] = mean[k] / (1.0 + mean[k]) / softened[k]
        for i in range(len(masses)):
            weighed = max(masses[i], mass * (by_piece[np.uint64(pieces[i])] * pull[i]))
            heavy[i] = 1.0 / weighed if free[i] else 0.0


@helper
def _share(
    rows: Any, carried: Any, limits: Any, heavy: np.ndarray, strain: np.ndarray, softened: np.ndarray, square: float
) -> None:
    """The shares and limits of `carry_tensions`."""
    indices, rest_lengths, pieces = rows[0], rows[1], rows[3]
    stiffness, free, share, own, most = carried[0], carried[1], carried[2], carried[3], carried[4]
    carried_share, swept, own_share, limit, is_strut = limits
    for r in range(len(rest_lengths)):
        piece = np.uint64(pieces[r])
        now = stiffness[r] if is_strut else stiffness[r] / softened[piece]
        give = heavy[np.uint64(indices[0, r])] + heavy[np.uint64(indices[1, r])]
        softness = 1.0 / max(square * now * give, SMALLEST)
        share[r] = carried_share * min(1.0, sqrt(softness / swept))
        own[r] = min(1.0 - share[r], own_share * softness) if free[r] else 0.0
        if is_strut:
            most[r] = np.inf if now > 0.0 else 0.0
        else:
            most[r] = now * rest_lengths[r] * (limit * strain[piece])


@kernel()
def carry_tensions(p, x, rows, tensions, carried, limits, now, softened, square):
    indices, rest_lengths, compliance, pieces = rows
    share, own, most, found = carried[2], carried[3], carried[4], carried[5]
    m, pushed, kept = len(rest_lengths), len(compliance) - 1, now[4]
    if now[0][0]:
        _share(rows, carried, limits, now[3], now[2], softened, square)
    for r in range(m):
        a, b = np.uint64(indices[0, r]), np.uint64(indices[1, r])
        dx, dy, dz = x[0, a] - x[0, b], x[1, a] - x[1, b], x[2, a] - x[2, b]
        change = sqrt(dx * dx + dy * dy + dz * dz) - rest_lengths[r]
        give = max(compliance[np.uint64(pushed if change < 0.0 else 0), r], LEAST_COMPLIANCE)
        one = -square * (kept[np.uint64(pieces[r])] * share[r] * tensions[r] + own[r] * (change / give))
        found[r] = min(max(one, -most[r]), most[r])


@kernel()
def keep_tensions(multipliers, square, tensions):
    for r in range(len(multipliers)):
        tensions[r] = -(multipliers[r] / square)


@kernel()
def keep_skin(p, surface, multipliers, last, most, now, square, after):
    pressures, displaced, targets, taken = after
    volumes = _enclosed_volumes(p, surface, len(last))
    for k in range(len(last)):
        pressures[k] = multipliers[k] / square
        displaced[k] = min(max(volumes[k] - last[k], -most[k]), most[k])
        targets[k] = now[6][k]
    for k in range(len(taken)):
        taken[k] = now[8][k]


@kernel()
def correct_fall(p, x, v, before, is_blown, gravity, fraction, heavy, w, concerned, islands, square, h):
    n, some = p.shape[1], False
    unweighted = np.zeros(n)
    for i in range(n):
        if concerned[i] and w[i] > 0.0:
            unweighted[i] = 1.0 - heavy[i] / w[i]
            some |= unweighted[i] != 0.0
    if not some:
        return
    bent = np.empty((3, n))
    for axis in range(3):
        for i in range(n):
            bent[axis, i] = square * fraction[i] * gravity[axis]
            if is_blown:
                bent[axis, i] += h * (v[axis, i] - before[axis, i])
    center, push, spin = _island_motion(x, bent, islands)
    _add_rigid(bent, x, islands[1], (center, -push, -spin))
    for axis in range(3):
        for i in range(n):
            p[axis, i] -= unweighted[i] * bent[axis, i]


@kernel()
def undo_momentum(p, x, start, islands, gain, after):
    center, push, spin = _island_motion(x, p - start, islands)
    _add_rigid(p, x, islands[1], (center, push * gain, spin * gain))
    after[:] = p


@helper
def _gain(way: np.ndarray, pieces: Any, heavy: np.ndarray) -> np.ndarray:
    """By what of the impulse from outside, that has moved particles by `way`, pieces are to move in addition."""
    masses, of, sums, free, _, one_by_one = pieces
    count = len(sums)
    met, heavy_met, gain, least = np.zeros(count), np.zeros(count), np.zeros(count), np.inf
    for i in range(len(masses)):
        if way[0, i] != 0.0 or way[1, i] != 0.0 or way[2, i] != 0.0:
            met[of[i]] += masses[i]
            if heavy[i] > 0.0:
                heavy_met[of[i]] += masses[i] / (heavy[i] * masses[i])
    for k in range(count):
        if met[k] > 0.0:
            excess, share = heavy_met[k] / met[k] - 1.0, met[k] / sums[k]
            gain[k] = excess * (1.0 - share) / (1.0 + share * excess) if free[k] else 0.0
            least = min(least, gain[k])
    if not one_by_one:
        for k in range(count):
            gain[k] = least if met[k] > 0.0 else 0.0
    return gain


@kernel()
def rebound(p, x, v, before, inner, outer, pieces, heavy, taken, h):
    masses, of, sums, _, falling, one_by_one = pieces
    n, count = p.shape[1], len(sums)
    way = np.empty((3, n))
    for axis in range(3):
        for i in range(n):
            way[axis, i] = p[axis, i] - inner[axis, i] - (x[axis, i] - before[axis, i])
            if outer.shape[1]:
                way[axis, i] += outer[axis, i]
    gain = _gain(way, pieces, heavy)
    if not gain.any():
        return
    center, push, spin = _island_motion(x, way, (masses, of, sums))
    push *= gain / h
    spin *= gain / h
    pushed = np.zeros((3, n))
    _add_rigid(pushed, x, of, (center, push, spin))
    work, part = np.zeros(count), np.ones(count)
    for i in range(n):
        along = v[0, i] * pushed[0, i] + v[1, i] * pushed[1, i] + v[2, i] * pushed[2, i]
        work[of[i]] += masses[i] * along
    for k in range(count):
        if work[k] > 0.0:
            part[k] = min(work[k], taken[k]) / work[k]
    if not one_by_one:
        part[:] = part.min()
    for k in range(count):
        fall = falling[0, k] * push[0, k] + falling[1, k] * push[1, k] + falling[2, k] * push[2, k]
        kept = work[k] - h * sums[k] * fall
        taken[k] -= part[k] * work[k] if work[k] > 0.0 else part[k] * min(kept, 0.0)
    for axis in range(3):
        for i in range(n):
            v[axis, i] += part[of[i]] * pushed[axis, i]
