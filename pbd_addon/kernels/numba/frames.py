"""Several substeps in one call: the solver's loop for where nothing but springs, pins and air acts.

It calls the same compiled kernels by their address, see `calls`, and so gives the same bits.
"""

from __future__ import annotations

from math import sqrt
from typing import Any, cast

import numpy as np

from ..protocol.arrays import Columns, Flags, Ids, Numbers, Vectors
from ..protocol.frames import Call, Encode, Floors, Motion, Pins, RunSubsteps, Strain, Watch
from .air import gusts, push_by_air
from .blocks import bend_sheet
from .bvh import deviations
from .calls import address, caller, table, with_table, words
from .chains import project_chains, put
from .compile import FEW_BITS, helper, kernel, signature_of
from .cones import outside_cones
from .contact import closing_motion, near_candidates
from .inflation import hold_volume, measure_skin, pull_along, respond
from .levels import gather, project_upper_bound, prolongate, scatter, subtract
from .motion import approach, island_motion
from .packing import lean, note, pack, straighten, unpack
from .planes import project_floor, rub_floor
from .projections import (
    project_attachment,
    project_dihedral,
    project_distance,
    project_isometric,
    project_rubbing,
    project_tether,
    strained,
)
from .skins import (
    carry_tensions,
    correct_fall,
    keep_skin,
    keep_tensions,
    rebound,
    sum_tensions,
    undo_momentum,
    weigh_skin,
)
from .springs import release_rows, rescale, scale_rows, soften_rows, strain_rows, take_rows
from .steps import extrapolate, predict, velocities


@kernel()
def clear(values: Numbers) -> None:
    values[:] = 0.0


@kernel()
def aim(fraction: float, start: Columns, end: Columns, targets: Columns) -> None:
    for axis in range(3):
        for k in range(targets.shape[1]):
            targets[axis, k] = start[axis, k] + fraction * (end[axis, k] - start[axis, k])


@kernel()
def slacken(strain: Numbers, least: Numbers, shares: Columns, slack: Vectors) -> None:
    for side in range(2):
        for k in range(len(strain)):
            slack[side, k] = shares[side, k] * max(strain[k], least[k])


@kernel()
def extend(
    strain: Numbers, least: Numbers, margin: float, used: Flags, lengths: Numbers, body: Ids, reach: Numbers
) -> None:
    for r in range(len(reach)):
        k = body[r]
        reach[r] = lengths[r] * (1.0 + margin * max(strain[k], least[k])) if used[r] else np.inf


REPEATED = (
    *((pack, 1), (unpack, 2), (project_chains, 2), (project_distance, 2), (project_isometric, 2)),
    *((project_dihedral, 2), (project_tether, 1), (project_attachment, 1), (put, 0)),
    *((gather, 1), (scatter, 1), (project_upper_bound, 0), (subtract, 0), (prolongate, 0), (prolongate, 1)),
    *((clear, 0), (aim, 1), (slacken, 1), (extend, 1), (note, 1), (lean, 1), (straighten, 1)),
    *((project_rubbing, 2), (measure_skin, 1), (pull_along, 1), (respond, 1), (hold_volume, 1), (undo_momentum, 2)),
    *((sum_tensions, 0), (weigh_skin, 0), (carry_tensions, 2), (rescale, 0), (correct_fall, 4)),
    *((keep_tensions, 0), (keep_skin, 1), (release_rows, 1), (soften_rows, 0), (scale_rows, 0), (take_rows, 0)),
    *((rebound, 4), (project_floor, 2), (rub_floor, 2), (strain_rows, 0), (bend_sheet, 1)),
)
"""What `_repeat` can call, in its order, and how many arguments it gives."""

CODES = {(each.__name__, given): code for code, (each, given) in enumerate(REPEATED)}

_pack, _unpack, _chains, _distance, _isometric = (caller(each) for each, _ in REPEATED[:5])
_dihedral, _tether, _attachment, _put = (caller(each) for each, _ in REPEATED[5:9])
_gather, _scatter, _upper_bound, _subtract, _prolongate = (caller(each) for each, _ in REPEATED[9:14])
_clear, _aim, _slacken, _extend = (caller(each) for each, _ in REPEATED[15:19])
_note, _lean, _straighten, _rubbing = (caller(each) for each, _ in REPEATED[19:23])
_measure_skin, _pull_along, _respond, _hold_volume, _undo_momentum = (caller(each) for each, _ in REPEATED[23:28])
_sum_tensions, _weigh_skin, _carry_tensions, _rescale, _correct_fall = (caller(each) for each, _ in REPEATED[28:33])
_keep_tensions, _keep_skin, _release_rows, _soften_rows = (caller(each) for each, _ in REPEATED[33:37])
_scale_rows, _take_rows, _rebound = (caller(each) for each, _ in REPEATED[37:40])
_project_floor, _rub_floor, _strain_rows, _sheet = (caller(each) for each, _ in REPEATED[40:])


def _encode(call: Call) -> np.ndarray | None:
    """Code, number of words, address and arguments of a call."""
    code = CODES.get((call.kernel, call.given))
    if code is None:
        return None
    found = words(REPEATED[code][0], call.given, call.spread())
    return np.array([code, 3 + len(found), address(REPEATED[code][0]), *found], np.int64)


@helper
def _repeat(code: np.ndarray, p: np.ndarray, x: np.ndarray, strain: np.ndarray, fraction: float) -> None:
    """Make the calls of a substep that ends at a fraction of the frame."""
    q, at = p, 0
    while at < len(code):
        which, where, here = code[at], code[at + 2], at + 3
        if which == 0:
            q = _pack(where, code, here, (p,))
        elif which == 1:
            _unpack(where, code, here, (q, p))
            q = p
        elif which == 2:
            _chains(where, code, here, (q, x))
        elif which == 3:
            _distance(where, code, here, (q, x))
        elif which == 4:
            _isometric(where, code, here, (q, x))
        elif which == 5:
            _dihedral(where, code, here, (q, x))
        elif which == 6:
            _tether(where, code, here, (q,))
        elif which == 7:
            _attachment(where, code, here, (q,))
        elif which == 8:
            _put(where, code, here, ())
        elif which == 9:
            _gather(where, code, here, (q,))
        elif which == 10:
            _scatter(where, code, here, (q,))
        elif which == 11:
            _upper_bound(where, code, here, ())
        elif which == 12:
            _subtract(where, code, here, ())
        elif which == 13:
            _prolongate(where, code, here, ())
        elif which == 14:
            _prolongate(where, code, here, (q,))
        elif which == 15:
            _clear(where, code, here, ())
        elif which == 16:
            _aim(where, code, here, (fraction,))
        elif which == 17:
            _slacken(where, code, here, (strain,))
        elif which == 18:
            _extend(where, code, here, (strain,))
        elif which == 19:
            _note(where, code, here, (q,))
        elif which == 20:
            _lean(where, code, here, (q,))
        elif which == 21:
            _straighten(where, code, here, (q,))
        elif which == 22:
            _rubbing(where, code, here, (q, x))
        elif which == 23:
            _measure_skin(where, code, here, (q,))
        elif which == 24:
            _pull_along(where, code, here, (q,))
        elif which == 25:
            _respond(where, code, here, (q,))
        elif which == 26:
            _hold_volume(where, code, here, (q,))
        elif which == 27:
            _undo_momentum(where, code, here, (q, x))
        elif which == 40:
            _project_floor(where, code, here, (q, x))
        elif which == 43:
            _sheet(where, code, here, (q,))
        else:
            _rub_floor(where, code, here, (q, x))
        at += code[at + 1]


@helper
def _repeat_around(code: np.ndarray, p: np.ndarray, x: np.ndarray, v: np.ndarray, before: np.ndarray) -> None:
    """Make the calls of `Around`."""
    at = 0
    while at < len(code):
        which, where, here = code[at], code[at + 2], at + 3
        if which == 15:
            _clear(where, code, here, ())
        elif which == 28:
            _sum_tensions(where, code, here, ())
        elif which == 29:
            _weigh_skin(where, code, here, ())
        elif which == 30:
            _carry_tensions(where, code, here, (p, x))
        elif which == 31:
            _rescale(where, code, here, ())
        elif which == 32:
            _correct_fall(where, code, here, (p, x, v, before))
        elif which == 33:
            _keep_tensions(where, code, here, ())
        elif which == 34:
            _keep_skin(where, code, here, (p,))
        elif which == 35:
            _release_rows(where, code, here, (p,))
        elif which == 36:
            _soften_rows(where, code, here, ())
        elif which == 37:
            _scale_rows(where, code, here, ())
        elif which == 38:
            _take_rows(where, code, here, ())
        elif which == 42:
            _strain_rows(where, code, here, ())
        else:
            _rebound(where, code, here, (p, x, v, before))
        at += code[at + 1]


KERNELS = table(
    island_motion=island_motion, approach=approach, extrapolate=extrapolate, gusts=gusts, push_by_air=push_by_air,
    predict=predict, velocities=velocities, strained=strained,
    deviations=deviations, outside_cones=outside_cones, closing_motion=closing_motion, near_candidates=near_candidates,
    **{f"repeated_{code}": each for code, (each, _) in enumerate(REPEATED)},
)  # fmt: skip

_island_motion, _approach, _extrapolate = caller(island_motion), caller(approach), caller(extrapolate)
_gusts, _push_by_air, _predict = caller(gusts), caller(push_by_air), caller(predict)
_velocities, _strained = caller(velocities), caller(strained)
_deviations, _outside_cones = caller(deviations), caller(outside_cones)
_closing_motion, _near_candidates = caller(closing_motion), caller(near_candidates)


@helper
def _brake(v: np.ndarray, dragged: np.ndarray, middle: np.ndarray) -> None:
    for axis in range(3):
        for i in range(v.shape[1]):
            v[axis, i] -= dragged[i] * middle[axis, i]


@helper
def _with_gusts(mean: np.ndarray, strength: float, found: np.ndarray) -> np.ndarray:
    air = np.empty(found.shape)
    for axis in range(3):
        for i in range(found.shape[1]):
            air[axis, i] = mean[axis, 0] + strength * found[axis, i]
    return air


@helper
def _place(p: np.ndarray, pins: Pins, fraction: float) -> None:
    """Put firm pins where they are at a fraction of the frame."""
    particles, start, way = pins
    for axis in range(3):
        for k in range(len(particles)):
            p[axis, particles[k]] = start[axis, k] + fraction * way[axis, k]


@helper
def _remember(strain: Strain, decay: float) -> None:
    """Let the memory decay where it is not exceeded."""
    memory, of_one, multipliers, body = strain
    if len(of_one):
        now = np.zeros(len(memory))
        if len(memory) == 1:
            most = 0.0
            for r in range(len(of_one)):
                most = max(most, of_one[r] * multipliers[r])
            now[0] = most
        else:
            for r in range(len(of_one)):
                now[body[r]] = max(now[body[r]], of_one[r] * multipliers[r])
        for k in range(len(memory)):
            memory[k] = max(now[k], decay * memory[k])


@helper
def _moved(
    p: np.ndarray, x: np.ndarray, indices: np.ndarray, rest_lengths: np.ndarray, some: np.ndarray, share: float
) -> bool:
    """Whether the ends of any of some edges have moved by more than a share of its length, one against the other."""
    for r in some:
        i, j, square = indices[0, r], indices[1, r], 0.0
        for axis in range(3):
            square += (p[axis, i] - x[axis, i] - (p[axis, j] - x[axis, j])) ** 2
        if square > (share * rest_lengths[r]) ** 2:
            return True
    return False


@helper
def _is_above(p: np.ndarray, floors: Floors) -> bool:
    """Whether planes have nothing to do at p."""
    particles, normals, least = floors
    for k in range(len(normals)):
        nx, ny, nz = normals[k]
        for r in range(len(particles)):
            i = np.uint64(particles[r])
            if not nx * p[0, i] + ny * p[1, i] + nz * p[2, i] >= least[k, r]:
                return False
    return True


@helper
def _rests(k: Any, words: np.ndarray, watch: Watch, p: np.ndarray, s: int) -> bool:
    """Whether contact has nothing to do at p; then errors are observed. A comparison with what is no number fails."""
    q, motion, (faces, first, stop, axes, cosines), rows = watch
    particles, normals, kind, distance, spare, before, closed = rows
    start, step, owner, counts, origin, steps, drifts, margins, drift_margins, observes = motion[:10]
    errors, errors_of_means, decay = motion[10:]
    n = p.shape[1]
    q[:, :n] = p
    squares, drift = _deviations(
        k.deviations, words, 0, (p, start[:, :n], step[:, :n], owner[:n], counts, steps[s], origin)
    )
    for i in range(n):
        if not squares[i] <= margins[i] ** 2:
            return False
    off = np.zeros(len(counts))
    for surface in range(len(counts)):
        for axis in range(3):
            off[surface] = max(off[surface], abs(drift[axis, surface] - drifts[s, axis, surface]))
        if not off[surface] <= drift_margins[surface]:
            return False
    if len(cosines) and _outside_cones(k.outside_cones, words, 0, (q, faces, first, stop, axes, cosines)).any():
        return False
    if len(spare):
        closed[0] += _closing_motion(k.closing_motion, words, 0, (q, before))
        before[:] = q
        given = q, particles, normals, kind, distance, spare, closed[0]
        if len(_near_candidates(k.near_candidates, words, 0, given)):
            return False
    for i in range(n):
        surface = owner[i]
        if observes[0, surface]:
            errors[i] = max(decay * errors[i], sqrt(squares[i]) / steps[s, surface])
    for surface in range(len(counts)):
        if observes[0, surface]:
            rate = off[surface] / steps[s, surface] if observes[1, surface] else 0.0
            errors_of_means[surface] = max(decay * errors_of_means[surface], rate)
    return True


@kernel(with_table(KERNELS, signature_of(RunSubsteps.__call__)))
def _run(
    kernels,
    usual,
    last,
    plan,
    ends,
    motion,
    gravity,
    fraction,
    h,
    damping,
    pins,
    wind,
    strain,
    limits,
    floors,
    watch,
    around,
):
    k = kernels[0]
    x, v, past_x, past_slowed, past_v = motion
    islands, taken, dragged = damping
    mean, strength, period, vectors, amplitudes, phases, known, found, sails = wind
    speed, indices, rest_lengths, most_strain, most_moved = limits
    predicting, leaving, touches = around
    for s in range(len(plan)):
        end, slowed, number, ahead, share, early, decay = plan[s]
        before, unblown, row = v, v, int(number)
        if slowed > 0.0:
            v = before.copy()
            if len(taken):
                whole = _island_motion(k.island_motion, usual, 0, (x, v, islands))
                _approach(k.approach, usual, 0, (v, x, islands[1], whole, taken[row]))
            middle = v
            if ahead >= 0.0:
                middle = _extrapolate(k.extrapolate, usual, 0, (v, before, past_v, ahead))
            if len(dragged):
                _brake(v, dragged[row], middle)
            unblown = v.copy() if len(predicting) else v
            if sails[1].shape[1]:
                air = mean[row]
                if strength[row] != 0.0:
                    if known[0] != period[row]:
                        found[:] = _gusts(k.gusts, usual, 0, (x, vectors, amplitudes, phases[period[row]]))
                        known[0] = period[row]
                    air = _with_gusts(air, strength[row], found)
                _push_by_air(k.push_by_air, usual, 0, (v, middle, x, air, sails, slowed))
        began = x
        x = x.copy() if touches else x  # planes shift it
        given_motion = x, v, before, past_x, past_slowed, share, early, gravity, fraction, h
        start, p = _predict(k.predict, usual, 0, given_motion)
        _place(p, pins, end)
        _repeat_around(predicting, p, start, v, unblown)
        _repeat(last if ends and s == len(plan) - 1 else usual, p, start, strain[0], end)
        after, is_sound = _velocities(k.velocities, usual, 0, (p, start, h, speed))
        if is_sound and len(rest_lengths):
            some = _strained(k.strained, usual, 0, (p, indices, rest_lengths, most_strain))
            is_sound = not _moved(p, began, indices, rest_lengths, some, most_moved)
        is_sound = is_sound and _is_above(p, floors)
        if is_sound and watch[0].shape[1]:
            is_sound = _rests(k, usual, watch, p, s)
        if not is_sound:
            return s, (began, before, past_x, past_slowed, past_v)
        _remember(strain, decay)
        _repeat_around(leaving, p, x, after, began)
        if slowed > 0.0 or ahead < 0.0:
            past_v = before
        past_x, past_slowed, x, v = began, v, p, after
    return len(plan), (x, v, past_x, past_slowed, past_v)


def _run_substeps(*arguments: Any) -> tuple[int, Motion]:
    done, motion = _run(KERNELS, *map(_plain, arguments))
    return done, Motion(*motion)


def _plain(argument: Any) -> Any:
    """Numba tells tuples with names from those without, and arrays that must not be written, which are few, as well."""
    if isinstance(argument, tuple):
        return tuple(map(_plain, argument))
    is_locked = isinstance(argument, np.ndarray) and not argument.flags.writeable
    return argument.copy() if is_locked else argument


# Where integers are made long, words would be those of copies.
encode: Encode | None = None if FEW_BITS else _encode
run_substeps: RunSubsteps | None = None if FEW_BITS else cast(RunSubsteps, _run_substeps)
