"""The solver: Müller's loop. This is the file to read first.

The numbers at the right are the lines of the algorithm of Müller et al. 2007, sec. 3.1. Constraints are compliant
(XPBD, Macklin et al. 2016), and a frame is cut into small steps rather than iterated on (Macklin et al. 2019).

Where a line says `hooks`, the parts of the scene act: what a scene has beyond particles, springs and contact, a file
each in `parts/`. Three lines are out of the paper's order: damping (6) comes before the forces (5), of which it would
take a part; contact, which is projected last, looks only then for what is met on the way from x to p (8); and friction
(16) takes back a part of that way, from which velocities (13) are made.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator

import numpy as np

from .kernels import Kernels
from .model.model import Model, State, Targets
from .model.part import Frame, Past, Substep
from .settings.solver_settings import SolverSettings
from .stepping import adaptive, time_stepping
from .stepping.cutting import CutFrame, UnstableError
from .stepping.time_stepping import RUNAWAY_SPEED
from .timing.stopwatch import Stopwatch

__all__ = ["ChangedError", "UnstableError", "step", "substep"]


class ChangedError(ValueError):
    """The simulation was changed, by truncating or restoring it, between two slices of one of its frames."""


def step(
    model: Model,
    state: State,
    settings: SolverSettings,
    targets: Targets,
    *,
    dt: float,
    kernels: Kernels,
    watch: Stopwatch,
) -> Generator[float, None, tuple[Model, State]]:
    """The model to go on with and the state one frame of dt seconds later, in slices.

    Args:
        model: Inverse masses, constraints and parts.
        state: Positions and velocities at the beginning of the frame; not changed.
        settings: Method, substeps, iterations, gravity.
        targets: Where pins and planes stand, and rest shapes, at the end of the frame; they get there evenly.
        dt: Length of the frame [s].
        kernels: Those of a backend.
        watch: Takes the time: "prediction" for lines (5) to (7), (13) and (14), then each kind of constraint.

    Yields:
        The share of the frame that is done, in [0, 1).

    Raises:
        UnstableError: A substep stayed unsound although it was cut in halves again and again.
    """
    orders = (True, False) if adaptive.looks_back(model, state, settings, dt) else (False,)
    for second_order in orders:
        with Frame(model, state.copy(), targets, kernels, watch, dt, second_order) as frame:  #   (1) to (3)
            is_done = yield from CutFrame(frame, substep, settings.substeps).run()  #  (4) to (17), substep by substep
            if is_done:
                for end_frame in frame.hooks.end_frame:
                    end_frame()
                return frame.model, frame.state
        model.contact.rewind(0.0)  # not smooth: begun anew in first order
    raise AssertionError("a frame of first order is done, or raises an error")


def substep(frame: Frame, step: Substep) -> bool:
    """One substep of the state of a frame; whether its result is sound."""
    model, state, kernels, hooks, h = frame.model, frame.state, frame.kernels, frame.hooks, step.h
    if model.outer or hooks.end_substep:
        step.x = state.x.copy()  # they may shift it: no velocity comes of that
    for begin in hooks.begin_substep:
        begin(step)
    if step.slowed:
        step.v = state.v.copy()
        for damp in hooks.damp:
            damp(step)  #                                                  (6)
        step.middle = time_stepping.middle(kernels, step.past, state.v, step.v, step.slowed)
        for push in hooks.push:
            push(step)  #                                                  (5), but for gravity
    start, step.p = _predict(frame, step)  #                               (5), (7)
    for predict in hooks.predict:
        predict(step)
    frame.watch.lap("prediction")
    for constraints in model.constraints:
        constraints.begin_substep(h, step.stop)
        frame.watch.lap(constraints.name)
    for _ in range(model.settings.iterations):  #                          (9)
        _project(frame, step, start)
    for couple in hooks.couple if step.couples else ():
        couple(step)  #                                                    (10), of springs and contact in turn
    for constraints in model.outer:
        constraints.end_substep(kernels, step.p, step.x)  #                (16), then the crossing guard
        frame.watch.lap(constraints.name)
    for end in hooks.end_substep:
        end(step)
    v, is_sound = kernels.velocities(step.p, start, h, RUNAWAY_SPEED)  #   (13)
    state.x, state.v = step.p, v  #                                        (14)
    for rebound in hooks.rebound:
        rebound(step)  #                                                   (16)
    return is_sound


def _predict(frame: Frame, step: Substep) -> tuple[np.ndarray, np.ndarray]:
    """Where a substep starts from, and where it ends without constraints, (3, n) [m] each."""
    past = step.past or Past(step.x, step.v, step.duration, step.v, step.duration)
    share = time_stepping.share(step.duration / past.duration) if step.past else 0.0
    early = step.h * (step.slowed - step.duration) / step.slowed if step.slowed else 0.0
    fall = frame.model.settings.gravity, frame.model.gravity_fraction
    return frame.kernels.predict(step.x, step.v, frame.state.v, past.x, past.slowed, share, early, *fall, step.h)


def _project(frame: Frame, step: Substep, start: np.ndarray) -> None:
    """Project all constraints once, in place; start (3, n): see `_predict`."""
    model, kernels, p = frame.model, frame.kernels, step.p
    contacts = (*model.plane_constraints, model.contact)
    for _, kinds in itertools.groupby(model.sequence, lambda kind: id(kind.inverse_masses)):
        first, *others = kinds
        w = first.inverse_masses
        q = p if w is None else kernels.pack(p, w)
        for constraints in (first, *others):
            before = step.x if constraints in contacts else start
            constraints.project(kernels, q, before)  #                     (10), of contact (8)
            frame.watch.lap(constraints.name)
        if w is not None:
            kernels.unpack(q, p)
