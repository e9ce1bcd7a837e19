"""Adaptive substeps: how many substeps a frame takes."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np

from ..bodies.settings import SolverSettings
from ..constraints import Constraints
from ..constraints.base import Residual
from ..constraints.distance import is_soft
from ..model.model import REASONS, Model, Pace, Place, State, Targets
from . import time_stepping

SHORT = 0.1
"""Largest accepted residual, a fraction of the deformation, where its error shows; see `constraints.base.Residual`."""

BLURRED = 0.2
"""Error that does not show, over the change of the deformation in a frame: it is late by a fifth of a frame. Hinges of
swinging cotton turn by 0.1 (64² vertices) to 0.4 rad (100²) in a frame, and are off by 0.01 to 0.05."""

HIDDEN = ("shear", "bend")
"""Causes of which that is true. Edges of cloth that whips about would be stretched twice as much."""

SHOWN = 2.0
"""What is told has this multiple of the error that Automatic accepts, or the advice would flicker with it."""

STEADY = 0.12
"""The substeps of a frame are those of the last one if others would be fewer or more by this fraction at most: another
length of substeps costs as much as two of them, because compliances are scaled anew."""

FASTER, SLOWER = 2.0, 0.85
"""Largest and smallest ratio of the substeps of a frame to those of the last one, unless it moves quickly.

Where there is pressure, `CALM` limits it instead."""

CALM = 4.0
"""Time in which the substeps for the residuals of a scene with skins under pressure change by a factor e [s].

A row in tension is softer the fewer substeps there are. If an impact raised their number at once, a ball would be
stiffer when it expands than when it was compressed, and gain energy: a beach ball of 0.3 m that fell 0.2 m rebounds to
14 cm instead of 10 and never comes to rest. With 0.5, 1, 2, 4 s its inner motion after 4 s is 54, 35, 21, 15 mm/s; with
20 or 40 fixed substeps it is 9 or 10."""

TURN = 0.015
"""Largest rotation or bending of a body in one substep [rad]."""

MOST, LEAST = 4.0, 0.25
"""Largest and smallest number of automatic substeps, as multiples of the quality steps."""

LIVELY = 3.0
"""Largest multiple of the quality steps that pressure takes. A beach ball of 0.15 m and Volume 1.1, dropped from 1 m,
rises to 0.09, 0.22, 0.30 m at 20, 40, 60 steps, and to 0.40 m when converged."""

STILL = 0.03
"""A skin under pressure is at rest if it moves by less than this fraction of its size in a frame."""

MOST_SUBSTEPS = 200
"""Upper limit of the substeps that pressure, soft cloth and colliders ask for."""

WEAK = 0.25
"""Largest share s of its flow that air may take of a body in a substep of second order, see `air`. A flag of cotton in
12 m/s, where it is 0.4, would move at 14.2 instead of 13.6 m/s; in a storm light sheets outran the wind by 7 %."""

GENTLE = 0.1
"""Largest share that damping and air may take in two substeps of second order for them to act on both at once."""

BURDEN = 0.01
"""Largest share of an edge by which a rigid body of mass M may lean on what is light in a substep, M / m g h².

Contact hands the pull of cloth to a rigid body only by the mass of the vertices that touch it. A tray of 2 kg that
falls by 1 cm onto four party balloons of 23 g presses them to 9 cm with 20 substeps, where edges are strained by 73 %,
and to 14 cm with the 80 of this share, by 35 %."""

EDGES = 1.75
"""Largest number of edges that a tension wave crosses in a substep of soft cloth.

Sheets of 100 N/m hang 1.0 % (on four corners) to 2.7 % (on two) too deep at 1.72 edges, 4.8 and 12.5 % at 3.44.
"""


def substeps(
    model: Model,
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> tuple[int, str]:
    """The number of substeps for the frame of dt seconds from `state` to `targets`, and why, one of `REASONS`.

    It is that of the settings or, if automatic, what motion and residuals ask for; and at least what pressure, loads on
    soft cloth and moving colliders need.
    """
    count, reason = float(settings.substeps), "settings"
    if settings.automatic and settings.method == "XPBD":  # With PBD the stiffness depends on them.
        count, reason = _chosen(model, state, targets, settings, dt)
    for least, why in (
        (_for_pressure(model, state, settings.substeps, dt), "pressure"),
        (_for_soft_cloth(model, settings, dt), "stretch"),
        (_for_meetings(model, state, targets, dt), "colliders"),
        (_for_rigid(model, state, dt), "rigid"),
    ):
        if min(math.ceil(least), MOST_SUBSTEPS) > count:
            count, reason = min(math.ceil(least), MOST_SUBSTEPS), why
    enough = time_stepping.LEAST
    few = settings.automatic and count < enough < 2.0 * min(count, state.pace.wanted)
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
    if settings.substeps < time_stepping.LEAST or settings.method != "XPBD" or _is_inflated(model):
        return False
    first = not len(state.air)  # frames leave the time there
    pushed = not first and state.pushed.any()
    added = model.around.forces or model.further
    jerked = any(kind.active for kind in (model.grabs, model.seams, model.welds, model.rigid))
    yields = any(material.bend_yield or material.stretch_yield for material in model.materials)
    if pushed or added or jerked or yields or model.levels.pulls_free:
        return False
    if is_soft(model.materials, settings, model.sizes).any():
        return False
    return _air_share(model, state) * 2.0 * dt / settings.substeps < WEAK


def is_slowed_gently(model: Model, state: State, duration: float) -> bool:
    """Whether damping and air take so little in two substeps of this duration [s] that they can act on both at once.

    Not where gas lifts.
    """
    rate = max(_air_share(model, state), float(model.damping.max()), float(model.drag.max()))
    return not model.lift.active and 2.0 * duration * rate < GENTLE


def _air_share(model: Model, state: State) -> float:
    """The share of its flow that the air takes of the lightest body in a second, see `air`."""
    most, wind = 0.0, model.around.wind
    blowing = (1.0 + wind.turbulence) * float(np.linalg.norm(wind.velocity)) if wind else 0.0
    for number in model.surface.parts:
        part, material = model.slices[number], model.materials[number]
        per_mass = model.bodies[number].mesh.corner_areas.sum() / model.masses[part].sum()
        speed = max(blowing, math.sqrt((state.v[:, part] ** 2).sum(axis=0).mean()))
        most = max(most, 0.5 * model.settings.air_density * material.air_normal * per_mass * speed)
    return most


def measure(model: Model, state: State, dt: float) -> list[tuple[Constraints, Residual]]:
    """The residual of each kind of constraint at the end of a frame of dt seconds, in `state`."""
    found, enough = [], 1.0 if model.settings.automatic else SHOWN
    for constraints in model.constraints:
        if constraints.cause:
            residual = constraints.residual(state.x)
            if constraints.cause in HIDDEN and residual.error > enough * constraints.tolerance:
                residual = residual._replace(change=constraints.change(state.x, dt * state.v))
            found.append((constraints, residual))
    return found


def tolerance(constraints: Constraints, residual: Residual) -> float:
    """The error of a residual that does not show; more where the deformation changes quickly, see `BLURRED`."""
    return max(constraints.tolerance, BLURRED * residual.change)


def factor(constraints: Constraints, residual: Residual) -> float:
    """The factor on the number of substeps that makes the residual of a kind acceptable; below 1 if fewer would do.

    A residual is acceptable if its error does not show or it is at most `SHORT`. A row with the effective stiffness
    k' = k / (1 + c h²) is c h² / (1 + c h²) short, so short / (1 - short) grows with h².
    """
    enough = SHORT
    if not constraints.order:
        enough = max(enough, residual.short * tolerance(constraints, residual) / max(residual.error, 1e-300))
    more = math.sqrt(_odds(residual.short) / _odds(enough))
    if constraints.order:
        more = min(more, (residual.error / tolerance(constraints, residual)) ** (1.0 / constraints.order))
    return more


def _odds(share: float) -> float:
    """The odds share / (1 - share), at most 1e12."""
    return share / max(1.0 - share, 1e-12)


def remember(
    model: Model,
    last: Pace,
    settings: SolverSettings,
    found: Sequence[tuple[Constraints, Residual]],
    count: int,
    dt: float,
) -> Pace:
    """The `Pace` of a frame of dt seconds with `count` substeps and these residuals, after one with the pace `last`.

    Scenes with skins under pressure approach what the residuals ask for slowly, see `CALM`.
    """
    wanted = [(count * factor(constraints, residual), constraints.cause) for constraints, residual in found]
    most, cause = max(wanted, default=(0.0, "settings"))
    if _is_inflated(model):
        before, change = last.wanted or float(settings.substeps), math.exp(dt / CALM)
        most = min(max(most, before / change, settings.substeps), before * change, MOST * settings.substeps)
        cause = cause if most > settings.substeps else "pressure"
    return Pace(count, most, REASONS.index(cause))


def _is_inflated(model: Model) -> bool:
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
    last, count, reason = state.pace, float(settings.substeps), "settings"
    inflated = _is_inflated(model)
    if last.substeps:
        count = last.wanted
        if not inflated:
            count = min(max(count, SLOWER * last.substeps), FASTER * last.substeps)
        if abs(count - last.substeps) <= STEADY * last.substeps:
            count = last.substeps
        reason = REASONS[int(last.cause)]
    turn = _turn(model, state, targets, dt) / TURN
    if turn > count:
        count, reason = turn, "motion"
    least = max((1.0 if inflated else LEAST) * settings.substeps, 1.0)
    if count < least:
        return round(least), "pressure" if inflated else "settings"
    return round(min(count, MOST * settings.substeps)), reason


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
        pulled = (targets.pins[:, pins] - state.pin_targets[:, pins] - mean) * held[pins]
        if size > 0.0:
            most = max(most, inner / size, math.sqrt((pulled**2).sum(axis=0).max(initial=0.0)) / size)
    return most


def _for_pressure(model: Model, state: State, quality: int, dt: float) -> float:
    """Substeps that a skin under pressure needs to bounce and oscillate with its true mass, see `PressurizedSkin`.

    At rest its effective mass is good enough, so only moving skins take more than the quality steps, and at most a few
    times as many.
    """
    needs, most = model.skin.substeps(state.skin, dt), 1.0
    for part in model.slices:
        need = float(needs[model.islands[part]].max())
        if need > most:
            size = np.ptp(state.x[:, part], axis=1).max()
            way = dt * math.sqrt((state.v[:, part] ** 2).sum(axis=0).mean())
            most = max(most, min(need, (LIVELY if way > STILL * size else 1.0) * quality))
    return most


def _for_soft_cloth(model: Model, settings: SolverSettings, dt: float) -> float:
    """Substeps in which a tension wave of speed sqrt(stretch / density) crosses at most `EDGES` edges of soft cloth.

    With fewer a load does not spread far enough in a substep, and the cloth hangs too deep.
    """
    most = 1.0
    for number in np.flatnonzero(is_soft(model.materials, settings, model.sizes)):
        lengths, material, maps = model.bodies[number].rest_lengths, model.materials[number], model.maps[number]
        if len(lengths):
            ratio = maps.get("stretch", np.ones(1)).max() / maps.get("density", np.ones(1)).min()
            speed = math.sqrt(material.stretch / material.density * ratio)
            most = max(most, dt * speed / (EDGES * float(np.median(lengths))))
    return most


def _for_meetings(model: Model, state: State, targets: Targets, dt: float) -> float:
    """Substeps in which bodies and colliders that may meet move by at most an edge relative to each other.

    Rotation and deformation of a collider count twice, because contact planes follow straight paths only.
    """
    moving = [(a, b) for a, b in zip(state.colliders, targets.colliders) if a is not b and a.shape[1]]
    start, end = (np.concatenate(each, axis=1) for each in zip((state.x, state.x + dt * state.v), *moving))
    sizes = np.array([part.stop - part.start for part in model.slices] + [a.shape[1] for a, _ in moving])
    edge = np.array([surface.edge if surface else 0.0 for surface in model.contact.surfaces] + [np.inf] * len(moving))
    at, bodies = np.cumsum(sizes) - sizes, slice(len(model.slices))
    way = np.add.reduceat(end - start, at, axis=1) / sizes
    off = end - start - way.repeat(sizes, axis=1)
    turning = np.sqrt(np.maximum.reduceat(np.einsum("im,im->m", off, off), at))
    turning[bodies] = 0.0
    low = np.minimum.reduceat(np.minimum(start, end), at, axis=1)
    high = np.maximum.reduceat(np.maximum(start, end), at, axis=1)
    least = np.minimum(edge[bodies, None], edge)
    meet = (least > 0.0) & (np.arange(len(model.slices))[:, None] < np.arange(len(edge)))
    meet &= (low[:, bodies, None] - least <= high[:, None]).all(axis=0)
    meet &= (high[:, bodies, None] + least >= low[:, None]).all(axis=0)
    relative = np.linalg.norm(way[:, bodies, None] - way[:, None], axis=0) + 2.0 * turning
    return float((relative[meet] / least[meet]).max(initial=1.0))


def _for_rigid(model: Model, state: State, dt: float) -> float:
    """Substeps in which rigid bodies lean by at most `BURDEN` on what they may meet and is not rigid."""
    rigid = [number for number, material in enumerate(model.materials) if material.rigid]
    soft = [number for number in range(len(model.bodies)) if number not in rigid]
    most, gravity = 1.0, float(np.linalg.norm(model.settings.gravity))
    ways = [(state.x[:, part], state.x[:, part] + dt * state.v[:, part]) for part in model.slices if rigid]
    for one, other in itertools.product(rigid, soft):
        surface = model.contact.surfaces[other]
        if surface is not None and _meet(ways[one], ways[other], surface.edge):
            ratio = model.masses[model.slices[one]].sum() / model.masses[model.slices[other]].sum()
            most = max(most, dt * math.sqrt(ratio * gravity / (BURDEN * surface.edge)))
    return most


def _meet(one: Place, other: Place, margin: float) -> bool:
    """Whether the bounding boxes of two motions, each from (3, k) to (3, k), come closer than a margin [m]."""
    low, high = np.minimum(*one).min(axis=1) - margin, np.maximum(*one).max(axis=1) + margin
    return bool((np.minimum(*other).min(axis=1) <= high).all() and (np.maximum(*other).max(axis=1) >= low).all())
