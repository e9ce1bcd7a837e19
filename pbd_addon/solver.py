"""The solver: Müller's loop. This is the file to read first.

The numbers at the right of `substep` are the lines of the algorithm of Müller et al. 2007, sec. 3.1. Constraints
are compliant (XPBD, Macklin et al. 2016), and a frame is cut into small steps rather than iterated on (Macklin et
al. 2019). One line is out of the paper's order: damping (6) comes before gravity (5), of which it would take a part.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from . import forces
from .model import Model, State, Targets
from .settings import SolverSettings
from .stopwatch import Stopwatch

RUNAWAY_SPEED = 1e4
"""No particle of a sound simulation is faster [m/s]."""

RETRIES = 4
"""How often a bad substep is cut in halves before the step is given up."""


CONTACT_RETRIES = 2
"""How often a substep is cut in halves because colliders left cloth no place."""


class UnstableError(ArithmeticError):
    """A step gave no sound result even with much smaller substeps.

    Attributes:
        body: The `Body` that broke.
        vertex: Number of a vertex of it that did.
    """

    def __init__(self, body: object, vertex: int) -> None:
        name = getattr(body, "name", "Body")
        super().__init__(f"{name} became unstable at vertex {vertex}: use more substeps or less stiffness")
        self.body, self.vertex = body, vertex


def step(
    model: Model,
    state: State,
    settings: SolverSettings,
    targets: Targets,
    *,
    dt: float,
    kernels: ModuleType,
    watch: Stopwatch,
) -> State:
    """The state one frame of dt seconds later.

    Args:
        model: Inverse masses and constraints.
        state: Positions and velocities at the beginning of the frame; not changed.
        settings: Method, substeps, iterations, gravity.
        targets: Where pins and planes stand at the end of the frame; they get there on straight paths.
        dt: Length of the frame [s].
        kernels: Module of kernels.
        watch: Takes the time: "prediction" for lines (5) to (7), (13) and (14), then each kind of constraint.

    Raises:
        UnstableError: A substep stayed unsound after `RETRIES` halvings.
    """
    model.lay_paths(state, targets, dt)
    model.contact.begin_frame(kernels, state.x, state.prediction_error)
    watch.lap(model.contact.name)
    state = state.copy()
    model.stretch.pushed, state.pushed = state.pushed, np.zeros_like(state.pushed)
    count = settings.substeps
    for k in range(count):
        _advance(model, state, settings, k / count, (k + 1) / count, dt / count, kernels, watch, RETRIES)
    state.pin_targets = targets.pins
    state.planes, state.colliders = targets.planes, targets.colliders
    state.prediction_error = model.contact.prediction_error
    return state


def substep(
    model: Model,
    state: State,
    settings: SolverSettings,
    fraction: float,
    h: float,
    kernels: ModuleType,
    watch: Stopwatch,
) -> tuple[np.ndarray, np.ndarray]:
    """Positions and velocities (3, n) after a substep of h seconds that ends at `fraction` of the frame."""
    x = state.x.copy()
    v = forces.damp(model, x, state.v, h, kernels)  #                            (6)
    v = forces.accelerate(model, v, settings.gravity, h, kernels)  #             (5)
    p = x + h * v  #                                                             (7)
    p[:, model.held] = model.held_path[0] + fraction * (model.held_path[1] - model.held_path[0])
    watch.lap("prediction")
    model.skin.begin_substep(kernels, state.skin, x, h)
    if model.skin.hangs:
        fall = h**2 * model.weighing * np.asarray(settings.gravity)[:, None]
        model.skin.hang(kernels, p, x, fall, model.damping_masses, model.damping_island_masses)
    for constraints in model.constraints:
        constraints.begin_substep(h, fraction)  #                                (8)
        watch.lap(constraints.name)
    sequence = model.sequence
    for _ in range(settings.iterations):  #                                      (9)
        for constraints in sequence:
            constraints.project(kernels, p, x)  #                               (10)
            if constraints is model.volume:
                model.skin.end_pass(kernels, p, x)
            watch.lap(constraints.name)
    for constraints in model.constraints:
        constraints.apply_friction(kernels, p, x)  #                            (16)
        watch.lap(constraints.name)
    v = (p - x) / h  #                                                          (13)
    model.skin.recoil(kernels, p, x, v, model.meets_alone)
    return p, v  #                                                              (14)


def _advance(
    model: Model,
    state: State,
    settings: SolverSettings,
    start: float,
    stop: float,
    h: float,
    kernels: ModuleType,
    watch: Stopwatch,
    retries: int,
) -> None:
    """One substep of h seconds from `start` to `stop`, fractions of the frame; in halves if it gives no sound result.

    h is the same for all of them to the last digit, because constraints scale their compliances when it changes.
    """
    before = state.strain
    x, v = substep(model, state, settings, stop, h, kernels, watch)
    sound = np.abs(v).max() < RUNAWAY_SPEED  # false for NaN too
    if sound and (model.contact.is_crossing_free or retries <= RETRIES - CONTACT_RETRIES):
        state.x, state.v = x, v
        state.strain = model.remember_strain(before)
        state.skin = model.skin.remember(kernels, x)
        state.pushed = state.pushed | model.pushed()
        model.stretch.pushed = model.stretch.pushed | state.pushed
        return
    if not retries:
        worst = int(np.argmax(np.nan_to_num(np.abs(v), nan=np.inf).max(axis=0)))
        raise UnstableError(*model.owner(worst))
    model.contact.rewind(start)
    middle = 0.5 * (start + stop)
    _advance(model, state, settings, start, middle, 0.5 * h, kernels, watch, retries - 1)
    _advance(model, state, settings, middle, stop, 0.5 * h, kernels, watch, retries - 1)
