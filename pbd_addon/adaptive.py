"""Adaptive substeps: into how many substeps a frame is cut."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .constraints import Constraints
from .constraints.base import Residual
from .constraints.distance import is_soft
from .model import REASONS, Model, Pace, Place, State, Targets
from .settings import SolverSettings

SHORT = 0.1
"""Share of a kind's deformation that may be left, where its error shows, see `constraints.base.Residual`."""

FASTER, SLOWER = 2.0, 0.85
"""Such a frame takes at most and at least so many times the substeps of the last one, if it does not move quickly."""

TURN = 0.015
"""How far a body is to turn or bend in one of its substeps at most [rad]."""

MOST, LEAST = 4.0, 0.25
"""Multiples of the quality steps between which its substeps lie."""

LIVELY = 3.0
"""Multiple of the quality steps that pressure takes at most. A beach ball of 0.15 m and Volume 1.1, dropped from 1 m,
rises to 0.09, 0.22, 0.30 m at 20, 40, 60 steps, and to 0.40 m when converged."""

STILL = 0.03
"""Share of its size that a skin under pressure moves in a frame at most if it is at rest."""

MOST_SUBSTEPS = 200
"""More substeps than this neither pressure nor soft cloth nor what cloth meets makes."""

EDGES = 1.75
"""How many edges a wave of tension crosses in a substep of soft cloth at most.

Sheets of 100 N/m hang 1.0 % (on four corners) to 2.7 % (on two) too deep at 1.72 edges, 4.8 and 12.5 % at 3.44.
"""


def substeps(
    model: Model,
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> tuple[int, str]:
    """Substeps of the frame of dt seconds that goes from `state` to `targets`, and why, one of `REASONS`.

    As many as the settings say, or as motion and residuals ask for if they leave that to the solver; and never fewer
    than are needed for neither pressure nor a load on soft cloth nor what the cloth meets to outrun it.
    """
    count, reason = float(settings.substeps), "settings"
    if settings.automatic and settings.method == "XPBD":  # with PBD, they are a part of the stiffness
        count, reason = _chosen(model, state, targets, settings, dt)
    for least, why in (
        (_for_pressure(model, state, settings.substeps, dt), "pressure"),
        (_for_soft_cloth(model, settings, dt), "stretch"),
        (_for_meetings(model, state, targets, dt), "colliders"),
    ):
        if min(math.ceil(least), MOST_SUBSTEPS) > count:
            count, reason = min(math.ceil(least), MOST_SUBSTEPS), why
    return round(count), reason


def measure(model: Model, state: State) -> list[tuple[Constraints, Residual]]:
    """What each kind of constraint has left at the end of the frame that has just ended in `state`."""
    return [(constraints, constraints.residual(state.x)) for constraints in model.constraints if constraints.cause]


def factor(constraints: Constraints, residual: Residual) -> float:
    """By how much more substeps would leave as much of a kind as may be left; below 1 where fewer would do.

    That is where either its error does not show or its short share is `SHORT`. A row with the effective stiffness
    k' = k / (1 + c h²) is c h² / (1 + c h²) short, so that short / (1 - short) grows with h².
    """
    enough = SHORT
    if not constraints.order:
        enough = max(enough, residual.short * constraints.tolerance / max(residual.error, 1e-300))
    more = math.sqrt(_odds(residual.short) / _odds(enough))
    if constraints.order:
        more = min(more, (residual.error / constraints.tolerance) ** (1.0 / constraints.order))
    return more


def _odds(share: float) -> float:
    """Share / (1 - share), at most 1e12."""
    return share / max(1.0 - share, 1e-12)


def remember(found: Sequence[tuple[Constraints, Residual]], count: int) -> Pace:
    """What the next frame is to know of one of `count` substeps that has left these residuals."""
    wanted = [(count * factor(constraints, residual), constraints.cause) for constraints, residual in found]
    most, cause = max(wanted, default=(0.0, "settings"))
    return Pace(count, most, REASONS.index(cause))


def _chosen(
    model: Model,
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> tuple[float, str]:
    """Substeps by what the last frame has left, and by how quickly bodies move in themselves."""
    last, count, reason = state.pace, float(settings.substeps), "settings"
    if last.substeps:
        count = min(max(last.wanted, SLOWER * last.substeps), FASTER * last.substeps)
        reason = REASONS[int(last.cause)]
    turn = _turn(model, state, targets, dt) / TURN
    if turn > count:
        count, reason = turn, "motion"
    inflated = any(material.pressure_mode != "OFF" for material in model.materials)
    least = max((1.0 if inflated else LEAST) * settings.substeps, 1.0)
    if count < least:
        return round(least), "pressure" if inflated else "settings"
    return round(min(count, MOST * settings.substeps)), reason


def _turn(model: Model, state: State, targets: Targets, dt: float) -> float:
    """How far the quickest body will turn or bend in dt seconds [rad]: its motion in itself over its size.

    Both are root mean squares about the center of mass. Pins count with where they are asked to be.
    """
    most = 0.0
    for part, pins in zip(model.slices, model.pin_slices):
        share = model.masses[part] / model.masses[part].sum()
        x, way = state.x[:, part], dt * state.v[:, part]
        mean = (share * way).sum(axis=1, keepdims=True)
        off = x - (share * x).sum(axis=1, keepdims=True)
        size = math.sqrt((share * off**2).sum())
        inner = math.sqrt((share * (way - mean) ** 2).sum())
        pulled = targets.pins[:, pins] - state.pin_targets[:, pins] - mean
        if size > 0.0:
            most = max(most, inner / size, math.sqrt((pulled**2).sum(axis=0).max(initial=0.0)) / size)
    return most


def _for_pressure(model: Model, state: State, quality: int, dt: float) -> float:
    """Those that a skin under pressure needs to bounce and to wave with its true mass, see `PressurizedSkin`.

    At rest its effective mass does as well, so only what moves takes more than the quality steps, and a few times as
    many at most.
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
    """Those in which a wave of tension, at sqrt(stretch / density), crosses `EDGES` edges of soft cloth.

    Further than that, a substep does not know of the load, and the cloth hangs too deep.
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
    """Those in which bodies and colliders that may meet move no farther than an edge relative to each other.

    What a collider turns or deforms counts twice, as planes between it and cloth only follow straight ways.
    """
    bodies = []
    for surface, part in zip(model.contact.surfaces, model.slices):
        if surface is not None:
            x, way = state.x[:, part], dt * state.v[:, part]
            bodies.append((x, x + way, way.mean(axis=1), 0.0, surface.edge))
    others = list(bodies)
    for start, end in zip(state.colliders, targets.colliders):
        if start is not end and start.shape[1]:
            way = end - start
            turning = np.sqrt(((way - way.mean(axis=1, keepdims=True)) ** 2).sum(axis=0).max())
            others.append((start, end, way.mean(axis=1), float(turning), np.inf))
    most = 1.0
    for number, (start, end, way, _, edge) in enumerate(bodies):
        for there, then, their_way, turning, their_edge in others[number + 1 :]:
            least = min(edge, their_edge)
            relative = float(np.linalg.norm(way - their_way)) + 2.0 * turning
            if relative > most * least and _meet((start, end), (there, then), least):
                most = relative / least
    return most


def _meet(one: Place, other: Place, margin: float) -> bool:
    """Whether the boxes around two ways, each from (3, k) to (3, k), come as close as a margin [m]."""
    low, high = np.minimum(*one).min(axis=1) - margin, np.maximum(*one).max(axis=1) + margin
    return bool((np.minimum(*other).min(axis=1) <= high).all() and (np.maximum(*other).max(axis=1) >= low).all())
