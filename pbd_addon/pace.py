"""Pace: into how many substeps a frame is cut."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .model import Model, Pace, Place, State, Targets
from .settings import Material, SolverSettings

TOLERANCE = 0.003
"""Stretch error that a frame of its own choice is to end with [1]."""

ORDER = 4.0
"""Power of the length of a substep with which that error grows; 2 where cloth lies on something."""

FASTER, SLOWER = 2.0, 0.85
"""Such a frame takes at most and at least so many times the substeps of the last one, if it does not move quickly."""

TURN = 0.015
"""How far a body is to turn or bend in one of its substeps at most [rad]."""

MOST, LEAST = 4.0, 0.25
"""Multiples of the quality steps between which its substeps lie."""

LIVELY = 3.0
"""Multiple of the quality steps that pressure takes at most. A beach ball of 0.15 m and Volume 1.1, dropped from 1 m,
rises to 0.12, 0.25, 0.33 m at 20, 40, 60 steps, and to 0.40 m when converged."""

STILL = 0.03
"""Share of its size that a skin under pressure moves in a frame at most if it is at rest."""

MOST_SUBSTEPS = 200
"""More substeps than this neither pressure nor what cloth meets makes."""


def substeps(
    model: Model,
    materials: Sequence[Material],
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> int:
    """Substeps of the frame of dt seconds that goes from `state` to `targets`.

    As many as the settings say, or as motion and stretch error ask for if they leave that to the solver; and never
    fewer than are needed for neither pressure nor what the cloth meets to outrun it.
    """
    least = max(_for_pressure(model, state, settings.substeps, dt), _for_meetings(model, state, targets, dt))
    wanted = settings.substeps
    if settings.automatic and settings.method == "XPBD":  # with PBD, they are a part of the stiffness
        wanted = _chosen(model, materials, state, targets, settings, dt)
    return max(wanted, min(math.ceil(least), MOST_SUBSTEPS))


def measure(model: Model, state: State, count: int) -> Pace:
    """How the frame of `count` substeps came out that has just ended in `state`."""
    errors = model.stretch.errors(state.x.T) if model.stretch.active else np.zeros(1)
    return Pace(count, float(np.percentile(errors, 95.0)))


def _chosen(
    model: Model,
    materials: Sequence[Material],
    state: State,
    targets: Targets,
    settings: SolverSettings,
    dt: float,
) -> int:
    """Substeps by the error that the last frame left, and by how quickly bodies move in themselves."""
    last, count = state.pace, float(settings.substeps)
    if last.substeps:
        wanted = (last.stretch_error / TOLERANCE) ** (1.0 / ORDER)
        count = last.substeps * min(max(wanted, SLOWER), FASTER)
    count = max(count, _turn(model, state, targets, dt) / TURN)
    inflated = any(material.pressure_mode != "OFF" for material in materials)
    return round(min(max(count, (1.0 if inflated else LEAST) * settings.substeps, 1.0), MOST * settings.substeps))


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


def _for_meetings(model: Model, state: State, targets: Targets, dt: float) -> float:
    """Those in which bodies and colliders that may meet move no farther than an edge relative to each other.

    What a collider turns or deforms counts twice, as planes between it and cloth only follow straight ways.
    """
    bodies = []
    for surface, part in zip(model.touch.surfaces, model.slices):
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
