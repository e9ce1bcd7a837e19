"""What skins under pressure carry from substep to substep, in NumPy."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import SMALLEST
from ..protocol.skins import LEAST_COMPLIANCE
from .inflation import enclosed_volumes as _enclosed_volumes, sum_by_piece as _sum_by_piece
from .layout import by_sign as _by_sign, lengths as _lengths, ways as _ways
from .motion import add_rigid as _add_rigid, island_motion as _island_motion


def sum_tensions(tensions, rest_lengths, pieces, sums):
    sums += _sum_by_piece(pieces, tensions * rest_lengths, len(sums))


def weigh_skin(sums, before, loads, limits, particles, exponentials, known, now):
    pressures, displaced, targets, taken = before
    set_strain, sizes, scale, softness, softened, held, ratio, from_weight, target, steps, fixed, works = loads
    least_strain, _, per_load, carried, mass, step, decay, _ = limits
    changed, _, mean, heavy, kept, carried_pressures, aim, away, now_taken = now
    strain = set_strain
    if known:
        pulled = np.minimum(np.maximum(np.maximum(held, sums * softness / scale), 0.0), 1.0) * works
        strain = np.where(fixed, set_strain, pulled)
    _grade(np.maximum(strain, np.minimum(least_strain, ratio * strain)), loads, limits, exponentials, now)
    if changed[0]:
        _weigh(mean, softened, mass, particles, heavy)
    walls = 3.0 * np.maximum(pressures - from_weight, 0.0) * sizes * softness / scale
    load = set_strain + np.minimum(walls, 1.0)  # as any strain: where nothing stretches, it is beyond all numbers
    kept[:] = np.minimum(1.0, per_load * load / np.maximum(strain, limits[1]))
    carried_pressures[:] = carried * kept * pressures
    away[:], now_taken[:] = displaced, taken * decay
    step = step * np.where(steps >= 0.0, steps, targets)
    aim[:] = np.minimum(np.maximum(target, targets - step), targets + step)


def _grade(strain, loads, limits, exponentials, now):
    """The grades of these strains (k,), and whether they are others than before."""
    changed, grades, mean = now[:3]
    slack, step = limits[1], limits[7]
    is_slack = strain <= slack
    found = np.ceil(np.log(np.maximum(strain, slack)) / step)
    new = np.stack([np.where(is_slack, -np.inf, found), loads[4]])
    changed[0] = not np.array_equal(grades, new)
    grades[:] = new
    mean[:] = np.where(is_slack, 0.0, exponentials[np.where(is_slack, 0.0, -found).astype(int)])


def _weigh(strain, softened, mass, particles, heavy):
    """Inverse effective masses for these strains (k,)."""
    masses, pull, pieces, free = particles
    weighed = np.maximum(masses, mass * ((strain / (1.0 + strain) / softened)[pieces] * pull))
    heavy[:] = np.divide(1.0, weighed, out=np.zeros_like(weighed), where=free)


def carry_tensions(p, x, rows, tensions, carried, limits, now, softened, square):
    indices, rest_lengths, compliance, pieces = rows
    share, own, most, found = carried[2:]
    changed, _, strain, heavy, kept = now[:5]
    if changed[0]:
        _share(rows, carried, limits, heavy, strain, softened, square)
    change = _lengths(_ways(x, indices)) - rest_lengths
    elastic = change / np.maximum(_by_sign(change, compliance), LEAST_COMPLIANCE)
    found[:] = np.clip(-square * (kept[pieces] * share * tensions + own * elastic), -most, most)


def _share(rows, carried, limits, heavy, strain, softened, square):
    """The shares and limits of `carry_tensions`."""
    indices, rest_lengths, _, pieces = rows
    stiffness, free, share, own, most, _ = carried
    carried_share, swept, own_share, limit, is_strut = limits
    now = stiffness if is_strut else stiffness / softened[pieces]
    softness = 1.0 / np.maximum(square * now * heavy.take(indices).sum(axis=0), SMALLEST)
    share[:] = carried_share * np.minimum(1.0, np.sqrt(softness / swept))
    own[:] = free * np.minimum(1.0 - share, own_share * softness)
    most[:] = np.where(now > 0.0, np.inf, 0.0) if is_strut else now * rest_lengths * (limit * strain)[pieces]


def keep_tensions(multipliers, square, tensions):
    tensions[:] = -(multipliers / square)


def keep_skin(p, surface, multipliers, last, most, now, square, after):
    pressures, displaced, targets, taken = after
    away = _enclosed_volumes(p, surface, len(last)) - last
    pressures[:], displaced[:] = multipliers / square, np.minimum(np.maximum(away, -most), most)
    targets[:], taken[:] = now[6], now[8]


def correct_fall(
    p, x, v, before, is_blown, gravity, fraction, heavy, w, concerned, islands, square, h
):  # fmt: skip
    share = np.divide(heavy, w, out=np.ones_like(w), where=w > 0.0)
    unweighted = np.where(concerned, 1.0 - share, 0.0)
    if not unweighted.any():
        return
    bent = square * fraction * np.asarray(gravity)[:, None]
    if is_blown:
        bent = bent + h * (v - before)
    center, push, spin = _island_motion(x, bent, islands)
    _add_rigid(bent, x, islands[1], (center, -push, -spin))
    p -= unweighted * bent


def undo_momentum(p, x, start, islands, gain, after):
    center, push, spin = _island_motion(x, p - start, islands)
    _add_rigid(p, x, islands[1], (center, push * gain, spin * gain))
    after[:] = p


def rebound(p, x, v, before, inner, outer, pieces, heavy, taken, h):
    masses, of, sums, free, falling, one_by_one = pieces
    way = p - inner
    way -= x - before
    if outer.shape[1]:
        way += outer
    is_hit = way.any(axis=0)
    if not is_hit.any():
        return
    hit, count = masses * is_hit, len(sums)
    met = np.bincount(of, hit, count)
    effective = np.divide(hit, heavy * masses, out=np.zeros_like(hit), where=heavy > 0.0)
    heavy_met = np.bincount(of, effective, count)
    excess = np.divide(heavy_met, met, out=np.ones(count), where=met > 0.0) - 1.0
    share = met / sums
    gain = excess * (1.0 - share) / (1.0 + share * excess) * free
    if not one_by_one:
        gain = np.where(met > 0.0, gain[met > 0.0].min(), 0.0)
    if not gain.any():
        return
    center, push, spin = _island_motion(x, way, (masses, of, sums))
    pushed = np.zeros_like(v)
    _add_rigid(pushed, x, of, (center, push * (gain / h), spin * (gain / h)))
    work = np.bincount(of, masses * np.einsum("ij,ij->j", v, pushed), count)
    kept = work - h * sums * np.einsum("ij,ij->j", falling, push * (gain / h))
    part = np.divide(np.minimum(work, taken), work, out=np.ones(count), where=work > 0.0)
    if not one_by_one:
        part[:] = part.min()
    taken -= np.where(work > 0.0, part * work, part * np.minimum(kept, 0.0))
    v += part[of] * pushed
