"""Adaptive substeps: how many substeps a frame takes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..constraints import Constraints
from ..constraints.base import Residual
from ..model.model import REASONS, Model, Pace, State, Targets
from ..settings.solver_settings import SolverSettings
from . import time_stepping

BLURRED_SHARE = 0.2
"""Error that does not show, over the change of the deformation in a frame: it is late by a fifth of a frame. Hinges of
swinging cotton turn by 0.1 (64² vertices) to 0.4 rad (100²) in a frame, and are off by 0.01 to 0.05."""

BLURRED_CAUSES = ("shear", "bend")
"""Causes of which that is true. Edges of cloth that whips about would be stretched twice as much."""

SMALL_ERROR = 0.005
"""Shape errors below this are not looked at more closely."""

AIMED_SHARE = 0.85
"""Share of the accepted shape error at which Automatic aims: with the dead band it is not exceeded."""

POWER = 1.3
"""Power of the substep's length with which a shape error grows, as Automatic takes it. Measured: 1.0 to 1.4 in drapes,
1.6 to 2 in loops; the next frames correct what is too much or too little."""

DEADBAND = 0.12
"""The substeps of a frame are those of the last one if others would be fewer or more by this fraction at most: another
length of substeps costs as much as two of them, because compliances are scaled anew."""

FASTEST_GROWTH, FASTEST_DECAY = 2.0, 0.85
"""Largest and smallest ratio of the substeps of a frame to those of the last one, unless it moves quickly.

Where there is pressure, `PRESSURE_TIME` limits it instead."""

PRESSURE_TIME = 4.0
"""Time in which the substeps for the residuals of a scene with skins under pressure change by a factor e [s].

A row in tension is softer the fewer substeps there are. If an impact raised their number at once, a ball would be
stiffer when it expands than when it was compressed, and gain energy: a beach ball of 0.3 m that fell 0.2 m rebounds to
14 cm instead of 10 and never comes to rest. With 0.5, 1, 2, 4 s its inner motion after 4 s is 54, 35, 21, 15 mm/s; with
20 or 40 fixed substeps it is 9 or 10."""

ROTATION_LIMIT = 0.015
"""Largest rotation or bending of a body in one substep [rad].

A body that does as much in a frame takes the quality steps at least: with what residuals ask for, a double pendulum of
1 m loses 19 % of its energy in two seconds, with 20 steps 3 %; silk that slides off an edge comes half as far as it
should, with 20 steps 12 % less."""

MOST_MULTIPLE, LEAST_MULTIPLE = 4.0, 0.25
"""Largest and smallest number of automatic substeps, as multiples of the quality steps."""

MOST_SUBSTEPS = 200
"""Upper limit of the substeps that pressure, soft cloth and colliders ask for."""

GENTLE_SHARE = 0.1
"""Largest share that damping and air may take in two substeps of second order for them to act on both at once."""


def substeps(
    model: Model,
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> tuple[int, str]:
    """The number of substeps for the frame of dt seconds from `state` to `targets`, and why, one of `REASONS`.

    It is that of the settings or, if automatic, what motion and residuals ask for; and at least what parts need.
    """
    count, reason = float(settings.substeps), "settings"
    if settings.automatic and settings.method == "XPBD":  # With PBD the stiffness depends on them.
        count, reason = _chosen(model, state, targets, settings, dt)
    for part in model.acting:
        least = part.substeps(model, state, targets, settings.substeps, dt) if part.reason else 1.0
        if min(math.ceil(least), MOST_SUBSTEPS) > count:
            count, reason = min(math.ceil(least), MOST_SUBSTEPS), part.reason
    enough = time_stepping.FEWEST
    few = settings.automatic and count < enough < 2.0 * min(count, _last(state).wanted)
    if few and looks_back(model, state, dataclasses.replace(settings, substeps=enough), dt):
        count = enough  # half as many of second order cost less
    return round(count), reason


def looks_back(model: Model, state: State, settings: SolverSettings, dt: float) -> bool:
    """Whether a frame of dt seconds begins with substeps of second order, see `time_stepping`.

    Not with few substeps or PBD, nor with skins under pressure, which would gain energy when they bounce. Not if
    anything was pushed in the last frame: it will be again; nor while a hand, a seam, strong air or what a caller adds
    pulls. Not where levels pull a free body, at once: a spinning sheet that was pulled apart would lose 31 % of its
    angular momentum instead of 10; nor where cloth yields, which would remember every wave. And not with soft cloth,
    which gains nothing: a curtain of 5 N/m is with 10 steps twice as far from the limit of many as with 20 of first
    order.
    """
    if settings.substeps < time_stepping.FEWEST or settings.method != "XPBD" or is_inflated(model) or model.further:
        return False
    duration = 2.0 * dt / settings.substeps
    return not any(part.wants_first_order(model, state, duration) for part in model.acting)


def is_slowed_gently(model: Model, state: State, duration: float) -> bool:
    """Whether what slows motion down takes so little in two substeps of this duration [s] that it can act on both at
    once.
    """
    rate = max(part.slowing_rate(model, state) for part in model.acting)
    return 2.0 * duration * rate < GENTLE_SHARE


def reach(
    model: Model,
    start: tuple[np.ndarray, np.ndarray],
    memory: Mapping[str, Mapping[str, Any]],
    targets: Targets,
    dt: float,
) -> float:
    """How many usual edges anything goes in a frame of dt seconds, relative to the mean of a body.

    Its own vertices as their root mean square; its pins, and the means of other bodies and the vertices of colliders
    that it can meet, at most.

    start: Positions, and velocities at which particles go on, (3, n) each; memory: That of the state.
    """
    x, way, stood = start[0], dt * start[1], [each for each in memory["obstacles"]["colliders"] if each.shape[1]]
    there = [each for each in targets.colliders if each.shape[1]]
    means = [way[:, part].mean(axis=1, keepdims=True) for part in model.slices]
    ends = [x[:, part] + mean for part, mean in zip(model.slices, means)]
    paths = np.concatenate([x, *stood], axis=1), np.concatenate([*ends, *there], axis=1)
    low, high = np.minimum(*paths), np.maximum(*paths)
    pulled, most = targets.pins - memory["pins"]["targets"], 0.0
    edges = model.stretch.rows.body, model.stretch.rest_lengths
    for number, (part, pins, mean) in enumerate(zip(model.slices, model.pin_slices, means)):
        lengths = edges[1][edges[0] == number]
        if not len(lengths):
            continue
        edge = float(np.median(lengths))
        own = (x[:, part], x[:, part] + way[:, part])
        meets = (low.T <= np.maximum(*own).max(axis=1) + edge) & (high.T >= np.minimum(*own).min(axis=1) - edge)
        meets[part] = False
        ways = pulled[:, pins] - mean, (paths[1] - paths[0])[:, meets.all(axis=1)] - mean
        farthest = max(np.einsum("im,im->m", each, each).max(initial=0.0) for each in ways)
        most = max(most, math.sqrt(max(farthest, 3.0 * ((way[:, part] - mean) ** 2).mean())) / edge)
    return most


Found = tuple[Constraints, Residual]


def measure(model: Model, state: State, dt: float) -> list[Found]:
    """The residual of each kind of constraint at the end of a frame of dt seconds, in `state`."""
    found = []
    for constraints in model.constraints:
        if constraints.cause:
            residual = constraints.residual(state.x)
            if constraints.cause in BLURRED_CAUSES and constraints.shape_error(residual) > SMALL_ERROR:
                residual = residual._replace(change=constraints.change(state.x, dt * state.v))
                if constraints.cause == "shear" and residual.error > BLURRED_SHARE * residual.change:
                    residual = residual._replace(folded=model.folds.folded(state.x))
            found.append((constraints, residual))
    return found


def shape_errors(found: Sequence[Found]) -> list[float]:
    """By how much each kind puts the shape off, over its size; less where it changes quickly, see `BLURRED_SHARE`."""
    return [
        kind.shape_error(left) * max(0.0, 1.0 - BLURRED_SHARE * left.change / max(left.error, 1e-300))
        for kind, left in found
    ]


def growth(error: float, accepted: float, power: float = POWER) -> float:
    """The factor on the number of substeps that makes a shape error the accepted one; below 1 if fewer would do."""
    return (error / accepted) ** (1.0 / power)


def remember(
    model: Model,
    state: State,
    settings: SolverSettings,
    found: Sequence[Found],
    count: int,
    dt: float,
) -> Pace:
    """The `Pace` of a frame of dt seconds from `state`, with `count` substeps and these residuals.

    Scenes with skins under pressure approach what the residuals ask for slowly, see `PRESSURE_TIME`.
    """
    errors = shape_errors(found)
    most = count * growth(sum(errors), AIMED_SHARE * settings.shape_error)
    cause = found[int(np.argmax(errors))][0].cause if most else "settings"
    if is_inflated(model):
        before, change = _last(state).wanted or float(settings.substeps), math.exp(dt / PRESSURE_TIME)
        most = min(max(most, before / change, settings.substeps), before * change, MOST_MULTIPLE * settings.substeps)
        cause = cause if most > settings.substeps else "pressure"
    return Pace(count, most, REASONS.index(cause))


def _last(state: State) -> Pace:
    """The pace of the last frame."""
    return Pace(*state.memory["pace"]["last"].tolist())


def is_inflated(model: Model) -> bool:
    """Whether any body is under pressure."""
    return any(material.pressure_mode != "OFF" for material in model.materials)


def _chosen(
    model: Model,
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> tuple[float, str]:
    """The automatic number of substeps, from the residuals of the last frame and the inner motion of bodies."""
    last, count, reason = _last(state), float(settings.substeps), "settings"
    inflated = is_inflated(model)
    if last.substeps:
        count = last.wanted
        if not inflated:
            count = min(max(count, FASTEST_DECAY * last.substeps), FASTEST_GROWTH * last.substeps)
        if abs(count - last.substeps) <= DEADBAND * last.substeps:
            count = last.substeps
        reason = REASONS[int(last.cause)]
    turn = _turn(model, state, targets, dt) / ROTATION_LIMIT
    if turn > count:
        count, reason = turn, "motion"
    least, why = LEAST_MULTIPLE * settings.substeps, "settings"
    if inflated or turn > 1.0:
        least, why = float(settings.substeps), "pressure" if inflated else "motion"
    if count < max(least, 1.0):
        return round(max(least, 1.0)), why
    return round(min(count, MOST_MULTIPLE * settings.substeps)), reason


def _turn(model: Model, state: State, targets: Targets, dt: float) -> float:
    """The largest rotation or bending of a body in dt seconds [rad]: its inner motion over its size.

    Both are root mean squares about the center of mass. Pins count by their targets.
    """
    most, held = 0.0, ~np.isin(np.arange(len(model.pins)), model.loose_pins)
    for part, pins in zip(model.slices, model.pin_slices):
        share = model.masses[part] / model.masses[part].sum()
        x, way = state.x[:, part], dt * state.v[:, part]
        mean = (share * way).sum(axis=1, keepdims=True)
        off = x - (share * x).sum(axis=1, keepdims=True)
        size = math.sqrt((share * off**2).sum())
        inner = math.sqrt((share * (way - mean) ** 2).sum())
        pulled = (targets.pins[:, pins] - state.memory["pins"]["targets"][:, pins] - mean) * held[pins]
        if size > 0.0:
            most = max(most, inner / size, math.sqrt((pulled**2).sum(axis=0).max(initial=0.0)) / size)
    return most
