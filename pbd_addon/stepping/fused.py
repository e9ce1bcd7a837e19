"""Fused substeps: many in one compiled call, where nothing acts that has to be asked in each.

Small scenes spend more than half of a frame between kernels, in Python. So where each kind of constraint can list its
calls (`Constraints.calls`), they are written down once, and the backend repeats them for all substeps: see
`kernels.protocol.frames` and docs/kernels.md. Contact cannot, but what it found stays true for a while: that is
watched. The bits are those of the solver's loop, which takes over where a substep has to be looked at, and judges it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..constraints import Constraints, PlaneConstraints
from ..constraints.tether import STRAIN_MEMORY
from ..contact.stretch_coupling import OVERRUN, OVERRUN_STRAIN
from ..kernels.protocol.frames import (
    Around,
    Call,
    Damping,
    Floors,
    Limits,
    Motion,
    Pins,
    Strain,
    Substep,
    Watch,
    WatchedCones,
    WatchedMotion,
    WatchedRows,
    Wind,
)
from ..kernels.protocol.motion import Islands
from ..model.model import Model
from ..model.part import Frame, Past, Plan
from . import time_stepping
from .time_stepping import RUNAWAY_SPEED, Schedule

LONGEST_CALL, SUBSTEP_COST = 0.05, 2e-7
"""Longest call [s], and what a substep of a vertex takes [s]: a window has to answer in between. On a quiet machine
curtains take 0.6e-7 to 0.8e-7, on a loaded one twice as much."""

PRESSURE_COST = 3.0
"""How many times that takes under pressure: balloons of 642 to 10,242 vertices take 5.2e-7 to 6.5e-7 [s]."""


SPARE = 1e-9
"""How far above a plane particles are at least where it has nothing to do [m]: heights are sums of products, whose last
digits depend on their order. At coordinates of 1000 km these are 1e-10."""


HOOKS = ("begin_substep", "damp", "push", "predict", "couple", "end_substep", "rebound", "remember", "compiled")
"""What acts in a substep: an object with any of these takes part in a compiled frame by its `compiled`; there is none
where that is missing or None."""


MISSES = 4
"""Substeps of a frame that may come out wrong because contact had something to do: to try costs one, to query more."""

_IDS, _INDICES, _NUMBERS, _VECTORS = np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0), np.zeros((3, 0))
NOTHING_MEETS = Watch(
    _VECTORS,
    WatchedMotion(
        *(_VECTORS, _VECTORS, _IDS, _IDS, _VECTORS, _VECTORS, np.zeros((0, 3, 0)), _NUMBERS, _NUMBERS),
        *(np.zeros((2, 0), bool), _NUMBERS, _NUMBERS, 0.0),
    ),
    WatchedCones(np.zeros((3, 0), np.int32), _INDICES, _INDICES, _VECTORS, _NUMBERS),
    WatchedRows(np.zeros((4, 0), int), _VECTORS, np.zeros(0, np.int8), _NUMBERS, _NUMBERS, _VECTORS, _NUMBERS),
)
"""For scenes without contact."""


class FusedSubsteps:
    """The substeps of a frame that a backend can run in one call."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        planes = frame.model.plane_constraints
        self._touches = touches(frame)
        self._floors = _floors(() if self._touches else planes)
        self._can = is_possible(frame) and _is_above(self._floors, frame.state.x)
        self._misses, self._looked_at = 0, -1

    def run(self, schedule: Schedule, first: int, past: Past | None) -> tuple[int, Past | None]:
        """Run substeps of a schedule from the first one on, the state in place: how many, and the past of the next one.

        As many as take no longer than `LONGEST_CALL`, up to one that has to be looked at: where an edge may be overrun,
        see `contact.stretch_coupling`, anything is unsound, or contact may have something to do. Where that is the
        first one there are none, nor later in the frame; with contact, nor after `MISSES`.
        """
        done, contact, watch = 0, self.frame.model.contact, NOTHING_MEETS
        cost = SUBSTEP_COST * (PRESSURE_COST if self.frame.model.volume.active else 1.0)
        stop = min(first + max(1, int(LONGEST_CALL / (cost * self.frame.state.x.shape[1]))), len(schedule.ends))
        if first == self._looked_at:
            return 0, past
        if self._can and contact.active:
            found = contact.watch(schedule.ends[first:stop])
            if found is None:
                return 0, past
            watch, stop = found, first + len(found.motion.steps)
        if self._can:
            done, past = self._run(schedule, first, stop, past, watch)
            if done < stop - first:
                self._misses, self._looked_at = self._misses + 1, first + done
            self._can = self._misses < MISSES if contact.active else done > 0
            if contact.active:
                contact.idle(schedule.h, schedule.ends[first : first + done])
            for plane in self.frame.model.plane_constraints if done and not self._touches else ():
                plane.begin_substep(schedule.h, schedule.ends[first + done - 1])
            for one in self.frame.acting if done else ():
                one.ran()
            self.frame.watch.lap("substeps")
        return done, past

    def _run(
        self, schedule: Schedule, first: int, stop: int, past: Past | None, watch: Watch
    ) -> tuple[int, Past | None]:
        frame, model, state, kernels = self.frame, self.frame.model, self.frame.state, self.frame.kernels
        ends = stop == len(schedule.ends)
        if not all(one.prepare(schedule.h) for one in frame.acting):
            return 0, past
        for kind in _fused(model, self._touches):
            kind.begin_substep(schedule.h, 1.0)
        words = _words(frame, self._touches)
        if kernels.run_substeps is None or words is None:
            return 0, past
        usual, last, around = words
        plan, sinces = _plan(schedule, first, stop, past)
        slowed = schedule.slowed[first:stop]
        acts = slowed > 0.0
        late = np.array(schedule.ends[first:stop]) + (slowed - schedule.durations[first:stop]) / frame.dt
        damping, pins, wind, strain = self._shares(Plan(slowed[acts].tolist(), late[acts]))
        stretch = model.stretch
        can_overrun = stretch.active and (len(model.pins) or model.contact.active)
        rest_lengths = stretch.rest_lengths if can_overrun else stretch.rest_lengths[:0]
        done, motion = kernels.run_substeps(
            usual,
            last,
            plan,
            ends,
            Motion(state.x, state.v, *(past.x, past.slowed, past.v) if past else (state.x, state.v, state.v)),
            model.settings.gravity,
            model.gravity_fraction,
            schedule.h,
            damping,
            pins,
            wind,
            strain,
            Limits(RUNAWAY_SPEED, stretch.rows.indices, rest_lengths, OVERRUN_STRAIN, OVERRUN),
            self._floors,
            watch,
            around,
        )
        state.x, state.v = motion.x, motion.v
        if done and schedule.second_order:
            duration = float(schedule.durations[first + done - 1])
            past = Past(motion.past_x, motion.past_slowed, duration, motion.past_v, sinces[done - 1])
        return done, past

    def _shares(self, plan: Plan) -> tuple[Damping, Pins, Wind, Strain]:
        """What parts say of some substeps, and what it is where one says nothing."""
        model, stretch = self.frame.model, self.frame.model.stretch
        nothing, islands = np.zeros(0), model.damping_island_masses
        asked = (_compiled(one) for one in self.frame.acting)
        found: dict[type, Any] = {type(share): share for share in (ask(plan) for ask in asked if ask)}
        undamped = np.zeros((0, len(islands))), np.zeros((0, len(model.w)))
        return (
            found.get(Damping) or Damping(Islands(model.damping_masses, model.islands, islands), *undamped),
            found[Pins],
            found[Wind],
            found.get(Strain)
            or Strain(np.zeros(len(model.bodies)), nothing, stretch.multipliers, stretch.rows.body[:0]),
        )


def _compiled(one: object) -> Callable[[Plan], object] | None:
    return getattr(one, "compiled", None)


def is_possible(frame: Frame) -> bool:
    """Whether all that acts can be written down, but for kinds of constraints."""
    model = frame.model
    if frame.kernels.run_substeps is None or model.settings.iterations > 1 or not model.stretch.active:
        return False
    known = *model.plane_constraints, model.contact, model.volume
    if any(kind not in known for kind in model.outer) or model.rigid.active or model.volume.pumped is not None:
        return False
    if not model.stretch.pushed[model.volume.pushed_bodies].all():
        return False  # from the second substep on they will be
    if not all(plane.stands for plane in model.plane_constraints):
        return False
    return all(_compiled(one) or not any(hasattr(one, hook) for hook in HOOKS) for one in frame.acting)


def touches(frame: Frame) -> bool:
    """Whether planes act in a compiled frame, instead of being watched: where all bodies are pushed in any case."""
    model = frame.model
    return len(model.volume.pushed_bodies) == len(model.bodies) and not frame.second_order


def _fused(model: Model, touching: bool) -> list[Constraints]:
    """The kinds that act in a compiled frame: all but those that come last and only watch."""
    watching = *(() if touching else model.plane_constraints), model.contact
    return [kind for kind in model.constraints if kind not in watching]


def _floors(planes: Sequence[PlaneConstraints]) -> Floors:
    """Where particles have to be for planes to have nothing to do."""
    if not planes:
        return Floors(_IDS, np.zeros((0, 3)), np.zeros((0, 0)))
    least = np.stack([plane.thickness + plane.normal @ plane.point + SPARE for plane in planes])
    return Floors(planes[0].particles, np.stack([plane.normal for plane in planes]), least)


def _is_above(floors: Floors, x: np.ndarray) -> bool:
    """Whether planes have nothing to do at x (3, n) [m]."""
    return not len(floors.normals) or bool((floors.normals @ x.take(floors.particles, axis=1) >= floors.least).all())


def _plan(schedule: Schedule, first: int, stop: int, past: Past | None) -> tuple[np.ndarray, list[float]]:
    """The numbers of some substeps, (k, 7), and `Past.since` after each of them [s]."""
    steps = tuple(zip(schedule.ends[first:stop], schedule.lengths[first:stop]))
    return _planned(schedule.h, schedule.second_order, steps, *((past.duration, past.since) if past else (0.0, 0.0)))


@functools.lru_cache(maxsize=64)
def _planned(
    h: float, second_order: bool, steps: tuple[tuple[float, tuple[float, float]], ...], last: float, since: float
) -> tuple[np.ndarray, list[float]]:
    """The same, of substeps that end there and have these durations."""
    rows, sinces, row = [], [], 0
    for end, (duration, slowed) in steps:
        ahead = 0.5 * slowed / since if since else -1.0
        share = time_stepping.share(duration / last) if since else 0.0
        early = h * (slowed - duration) / slowed if slowed else 0.0
        rows.append(Substep(end, slowed, row, ahead, share, early, math.exp(-duration / STRAIN_MEMORY)))
        row += slowed > 0.0
        if second_order:
            last, since = duration, duration if slowed or not since else since + duration
        sinces.append(since)
    return np.array(rows), sinces


Words = tuple[np.ndarray, np.ndarray, Around]
"""What a substep repeats, what the last one of a frame does, and what comes before and behind either."""


def _words(frame: Frame, touching: bool) -> Words | None:
    """What substeps repeat; None if a kind, or a call of one, is not known to the backend."""
    model, kernels, last = frame.model, frame.kernels, _calls(frame, True, touching)
    if last is None or kernels.encode is None:
        return None
    predicting = [call for one in frame.acting for call in one.predict_calls()]
    leaving = [call for one in frame.acting for call in one.remember_calls()]
    # Arrays by what they are: what is written down keeps them. Other substeps take none that the last does not.
    every = (call.spread() for call in (*last, *predicting, *leaving))
    key = [kernels, touching, *itertools.chain.from_iterable(every)]
    known = model.scratch.get("words")
    if known is None or not _are_same(known[0], key):
        written, lists = [], (_calls(frame, False, touching) or [], last, predicting, leaving)
        for calls in lists:
            words = [word for call in calls if (word := kernels.encode(call)) is not None]
            if len(words) < len(calls):
                return None
            written.append(np.concatenate([_IDS, *words]))
        known = model.scratch["words"] = key, lists, (*written[:2], Around(written[2], written[3], touching))
    return known[2]


def _are_same(one: list[object], other: list[object]) -> bool:
    """Whether two lists have the same arrays, and equal numbers and names."""
    if len(one) != len(other):
        return False
    differ = [(a, b) for a, b in zip(one, other) if a is not b]
    return not any(type(a) is np.ndarray or type(b) is np.ndarray or a != b for a, b in differ)


def _calls(frame: Frame, last: bool, touching: bool) -> list[Call] | None:
    """The calls of a substep, as the solver makes them; None if a kind makes others."""
    acting, planes = _fused(frame.model, touching), frame.model.plane_constraints
    found, seen = [call for kind in acting for call in kind.begin_calls()], set[Constraints]()
    left_out = [kind for kind in (*planes, frame.model.contact) if kind not in acting]
    sequence = [kind for kind in frame.sequence if kind not in left_out]
    for _, kinds in itertools.groupby(sequence, lambda kind: id(kind.inverse_masses)):
        group = list(kinds)
        w = group[0].inverse_masses
        if w is not None:
            found.append(Call("pack", 1, (w,)))
        for kind in group:
            calls = kind.calls(last or not kind.once_apart, kind not in seen)
            if calls is None:
                return None
            seen.update((kind, *kind.begins()))
            found += calls
        if w is not None:
            found.append(Call("unpack", 2, ()))
    return found + [call for plane in planes if plane in acting for call in plane.end_calls()]
