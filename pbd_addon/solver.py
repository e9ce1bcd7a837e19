"""The solver: Müller's loop. This is the file to read first.

The numbers at the right of `substep` are the lines of the algorithm of Müller et al. 2007, sec. 3.1. Constraints
are compliant (XPBD, Macklin et al. 2016), and a frame is cut into small steps rather than iterated on (Macklin et
al. 2019). Three lines are out of the paper's order: damping (6) comes before gravity (5), of which it would take a
part; contact, which is projected last, looks only then for what is met on the way from x to p (8); and friction (16)
takes back a part of that way, from which velocities (13) are made.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Generator

import numpy as np

from .air.air import AirOfFrame
from .bodies.settings import SolverSettings
from .constraints.distance import AGAIN
from .contact.stretch_coupling import FREE_EXCESS, couple_stretch_and_contact, excess_of_overrun, strained_particles
from .kernels import Kernels
from .model.model import Model, State, Targets
from .parts import dynamic_mesh, forces, gas, plasticity, sewing, tearing
from .stepping import adaptive, time_stepping
from .stepping.fused import FusedSubsteps
from .stepping.time_stepping import RUNAWAY_SPEED, Past
from .timing.stopwatch import Stopwatch

RETRIES = 4
"""How often a bad substep is cut in halves before the step is given up."""

PINCHED_RETRIES = 2
"""How often a substep is cut in halves because colliders pinch cloth."""

OVERRUN_RETRIES = 3
"""How often a substep is cut in halves because it overstretched an edge.

With 2 and 3, six starts of a curtain that a ball hits at 50 m/s are strained by 39 to 60 and 12 to 20 %."""


BUDGET = 8
"""A frame that has tried so many times the substeps it was planned with no longer repeats those that overstretch cloth.

All of them cut three times take 9; where that is needed throughout, the next frame starts no better."""


class ChangedError(ValueError):
    """The simulation was changed, by truncating or restoring it, between two slices of one of its frames."""


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
    kernels: Kernels,
    watch: Stopwatch,
) -> Generator[float, None, tuple[Model, State]]:
    """The model to go on with and the state one frame of dt seconds later, in slices.

    It is a generator that yields after each substep but the last.

    A frame that begins in second order and is not smooth is stepped again in first order, see `time_stepping`.

    It also yields, no share yet, where contact looks for all that intersects before the first one.

    Args:
        model: Inverse masses and constraints.
        state: Positions and velocities at the beginning of the frame; not changed.
        settings: Method, substeps, iterations, gravity.
        targets: Where pins and planes stand, and rest shapes, at the end of the frame; they get there evenly.
        dt: Length of the frame [s].
        kernels: Those of a backend.
        watch: Takes the time: "prediction" for lines (5) to (7), (13) and (14), then each kind of constraint.

    Yields:
        The share of the frame that is done, in [0, 1).

    Raises:
        UnstableError: A substep stayed unsound after `RETRIES` halvings.
    """
    if adaptive.looks_back(model, state, settings, dt):
        stepper = Stepper(model, state.copy(), settings, targets, kernels, watch, second_order=True)
        done = yield from stepper.frame(dt)
        if done:
            return model, stepper.end()
        model.contact.rewind(0.0)
    stepper = Stepper(model, state.copy(), settings, targets, kernels, watch)
    yield from stepper.frame(dt)
    return stepper.model, stepper.end()


@dataclasses.dataclass
class Stepper:
    """One frame, substep by substep.

    Attributes:
        model, settings, targets, kernels, watch: As in `step`.
        state: What is stepped, in place.
        second_order: Whether substeps look back, see `time_stepping`.
        planned, tried: Number of substeps of the frame without repeating any, and of all until now.
    """

    model: Model
    state: State
    settings: SolverSettings
    targets: Targets
    kernels: Kernels
    watch: Stopwatch
    second_order: bool = False
    air: AirOfFrame = dataclasses.field(init=False)
    dt: float = 0.0
    h: float = 0.0
    planned: int = 0
    tried: int = 0
    _past: Past | None = None
    _sound: bool = True
    _halvings: int = 0
    _fused: FusedSubsteps = dataclasses.field(init=False)
    _slowed: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros((3, 0)))
    _rest: dynamic_mesh.RestPath | None = None
    _firm_path: tuple[np.ndarray, np.ndarray] = dataclasses.field(init=False)
    _is_driven: bool = False
    _open_seams: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(0, bool))
    _flowing: float = 0.0
    _decays: dict[float, tuple[np.ndarray | None, np.ndarray]] = dataclasses.field(default_factory=dict)

    def frame(self, dt: float) -> Generator[float, None, bool]:
        """A frame of dt seconds, in slices; whether it is done: one of second order has to be smooth."""
        longest = max((family.longest for family in self.model.stretch.families), default=0)
        gently = functools.partial(adaptive.is_slowed_gently, self.model, self.state)
        schedule = time_stepping.schedule(self.settings.substeps, self.second_order, longest, dt, gently)
        self.h, count, k, stop = schedule.h, len(schedule.ends), 0, 0.0
        self.planned = count
        while k < count:
            torn = self._torn(k, count)
            if torn is not None and self.second_order:
                return False
            if torn is not None:
                self._split(torn, begun=k > 0)
            if torn is not None or not k:
                for _part in self.begin(dt, stop):
                    yield stop
                    self.watch.resume()
            done, self._past = self._fused.run(schedule, k, self._past)
            k += max(done, 1)
            start, stop = stop, schedule.ends[k - 1]
            if not done and not self.second_order:
                self.advance(start, stop, self.h)
            elif not done and not self._try_second_order(stop, *schedule.lengths[k - 1]):
                return False
            if k < count:
                try:
                    yield stop
                except GeneratorExit:
                    self.model.contact.rewind(0.0)
                    raise
                self.watch.resume()
        return True

    def _try_second_order(self, stop: float, duration: float, slowed: float) -> bool:
        """One substep of second order, as `substep`, to `stop`; whether nothing but smooth forces acted."""
        x, v = self.state.x, self.state.v
        self.substep(stop, self.h, duration, slowed)
        smooth = not self.model.pushed().any() and self.model.contact.is_crossing_free
        smooth = smooth and not self._is_overrun(x)
        if smooth and self._sound:
            earlier = (v, duration) if slowed or not self._past else (self._past.v, self._past.since + duration)
            self._past = Past(x, self._slowed, duration, *earlier)
            self._remember(duration, stop)
            return True
        return False

    def substep(self, fraction: float, h: float, duration: float, slowed: float, couple_stretch: bool = True) -> None:
        """Step the state by `duration` seconds, to `fraction` of the frame.

        h: What BDF2 steps with, see `time_stepping`; the duration itself in first order.
        slowed: Seconds for which damping, drag and air act, see `time_stepping.slowed_for`.
        couple_stretch: Whether stretch and contact are projected in turn.
        """
        model, state, kernels, watch = self.model, self.state, self.kernels, self.watch
        moved = model.outer or model.welds.active  # their `end_substep` changes x: no velocity comes of that
        x, v = state.x.copy() if moved else state.x, state.v.copy() if slowed else state.v
        if self._rest is not None:
            self._rest.reach(fraction)
        blown = self._slow_down(x, v, fraction, duration, slowed) if slowed else None  # (6), (5)
        start, p = self._predict(x, v, h, duration, slowed)  #                       (5), (7)
        p[:, model.pinned] = self._pinned(fraction)
        model.rigid.predict(p, x)
        watch.lap("prediction")
        model.skin.begin_substep(kernels, state.skin, x, h)
        if model.skin.hangs or blown is not None:
            fall = h**2 * model.gravity_fraction * np.asarray(self.settings.gravity)[:, None]
            fall = fall if blown is None else fall + h * blown
            model.skin.hang(kernels, p, x, fall, model.damping_masses, model.damping_island_masses, blown is not None)
        for constraints in model.constraints:
            constraints.begin_substep(h, fraction)
            watch.lap(constraints.name)
        penetration = model.contact.penetration
        if len(penetration.exiting):
            penetration.rest_at(strained_particles(kernels, model.springs, x))
        for _ in range(self.settings.iterations):  #                                 (9)
            self._project(p, x, start)
        if couple_stretch and model.contact.active:
            can_tear = model.can_tear  #                                             (10), of both
            couple_stretch_and_contact(kernels, model.contact, model.springs, model.seams, p, x, can_tear)
            watch.lap(model.contact.name)
        for constraints in model.outer:
            constraints.end_substep(kernels, p, x)  #                                (16), then the crossing guard
            watch.lap(constraints.name)
        model.welds.unite(p, x)
        v, self._sound = kernels.velocities(p, start, h, RUNAWAY_SPEED)  #           (13)
        model.skin.recoil(kernels, p, x, v, model.meets_alone)  #                    (16)
        state.x, state.v = p, v  #                                                   (14)

    def _project(self, p: np.ndarray, x: np.ndarray, start: np.ndarray) -> None:
        """Project all constraints once, p (3, n) in place; x, start (3, n): see `_predict`."""
        model, kernels = self.model, self.kernels
        contacts = (*model.plane_constraints, model.contact)
        for _, kinds in itertools.groupby(model.sequence, lambda kind: id(kind.inverse_masses)):
            first, *others = kinds
            w = first.inverse_masses
            q = p if w is None else kernels.pack(p, w)
            for constraints in (first, *others):
                before = x if constraints in contacts else start
                constraints.project(kernels, q, before)  #                           (10), of contact (8)
                if constraints is model.volume:
                    model.skin.end_pass(kernels, p, x)
                self.watch.lap(constraints.name)
            if w is not None:
                kernels.unpack(q, p)

    def _slow_down(
        self, x: np.ndarray, v: np.ndarray, fraction: float, duration: float, slowed: float
    ) -> np.ndarray | None:
        """Let damping, drag and air act on velocities v (3, n), in place; what air changed, as `_blow`."""
        dragged, taken = self._decay(slowed)
        forces.damp(self.model, x, v, taken, self.kernels)
        middle = time_stepping.middle(self.kernels, self._past, self.state.v, v, slowed)
        forces.slow_down(v, dragged, middle)
        return self._blow(x, v, middle, slowed, fraction + (slowed - duration) / self.dt)

    def _predict(
        self, x: np.ndarray, v: np.ndarray, h: float, duration: float, slowed: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the substep starts from, and where it ends without constraints, (3, n) [m] each."""
        self._slowed, past = v, self._past or Past(x, v, duration, v, duration)
        share = time_stepping.share(duration / past.duration) if self._past else 0.0
        early = h * (slowed - duration) / slowed if slowed else 0.0
        fall = self.settings.gravity, self.model.gravity_fraction
        return self.kernels.predict(x, v, self.state.v, past.x, past.slowed, share, early, *fall, h)

    def _blow(self, x: np.ndarray, v: np.ndarray, middle: np.ndarray, h: float, fraction: float) -> np.ndarray | None:
        """Let air, fields and lift act on velocities (3, n) for h seconds, in place, where particles move at `middle`.

        What they changed, for skins under pressure; None where there are none, or nothing acts.
        """
        if not (self.air.active or self.model.lift.active):
            return None
        before = v.copy() if self.model.skin.active else v
        self.air.blow(self.kernels, x, v, middle, self.model.w, h, fraction)
        if self.model.lift.active:
            self.model.lift.push(self.kernels, x, v, self.model.w, h)
        return v - before if self.model.skin.active else None

    def _torn(self, number: int, count: int) -> np.ndarray | None:
        """What is joined after cloth has torn before a substep of a frame with `count` of them; None if none does."""
        rounds = number * tearing.CHECKS // count
        if not len(self.state.joined) or (number and rounds == (number - 1) * tearing.CHECKS // count):
            return None
        joined = tearing.torn(self.model, self.state, number == 0)
        self.watch.lap("tearing")
        return joined

    def _split(self, joined: np.ndarray, begun: bool) -> None:
        """Go on with the model of which only these particles are joined, (n,) int; `begin` follows.

        begun: whether some of the frame is stepped, so that the model knows more than the state.
        """
        self.model = tearing.split(self.model, self.state, joined, begun)
        self._decays = {}
        self.watch.lap("tearing")

    def begin(self, dt: float, fraction: float) -> Generator[None, None, None]:
        """Tell everything that moves by itself where it goes in a frame of dt seconds, in slices.

        fraction: of the frame, from where on it is stepped; more than 0 if cloth has torn there.
        """
        model, state, targets = self.model, self.state, self.targets
        self.dt = dt
        for kind in model.kinds:
            kind.lay_out(self.kernels)
        self._rest = dynamic_mesh.begin(model, state, targets)
        sewing.begin(model, state, dt)
        self._open_seams = sewing.beside_open(model, state)
        plasticity.begin(model, state)
        self.air = AirOfFrame(model.surface, model.around, state.air, dt)
        model.volume.pumped = gas.pump(model, state, self.kernels, dt, fraction)
        path = np.stack([state.pin_targets, targets.pins])
        model.attachment.path = path[:, :, model.soft_pins]
        start, end = path[:, :, model.firm_pins]
        self._firm_path = start, end - start
        held = ((state.pin_targets, targets.pins), *zip(state.rails, targets.rails))
        self._is_driven = model.grabs.active or not all(np.array_equal(*each) for each in held)
        for plane, start, end in zip(model.plane_constraints, state.planes, targets.planes):
            plane.lay_path(start, end, dt)
        model.contact.lay_path(state.colliders, targets.colliders, fraction)
        model.slides.begin_frame(state.x, state.rails, targets.rails, fraction)
        model.tethers.strain = model.levels.strain = state.strain
        yield from model.contact.begin_frame(self.kernels, state.x, state.prediction_error, state.penetrated)
        self.watch.lap(model.contact.name)
        self._fused = FusedSubsteps(model, state, self.kernels, self.watch, self.air, self._firm_path)
        model.stretch.sweeps = AGAIN if self.second_order and not state.pushed.any() else 1
        model.stretch.pushed, state.pushed = state.pushed, np.zeros_like(state.pushed)

    def end(self) -> State:
        """The state at the end of the frame."""
        state, targets = self.state, self.targets
        tearing.follow(state)
        state.pin_targets, state.planes, state.colliders = targets.pins.copy(), targets.planes, targets.colliders
        state.rest, state.rails = targets.rest, targets.rails
        loose = self.model.loose_pins
        state.pin_targets[:, loose] = state.x[:, self.model.pins[loose]]
        state.prediction_error = self.model.contact.prediction_error
        state.penetrated = self.model.contact.penetrated
        state.air = self.air.memory()
        state.inside = gas.at_end(self.model, state)
        state.seams = sewing.at_end(self.model, state, self.dt, self.kernels)
        return state

    def advance(self, start: float, stop: float, h: float) -> None:
        """One substep of h seconds from `start` to `stop`, fractions of the frame; in halves if the result is unsound.

        The next one begins with parts twice as long as the last ones of this, which saves most that would be discarded.
        """
        done, couple_stretch, self._halvings = 0.0, True, max(self._halvings - 1, 0)
        while done < 1.0:
            part = 0.5**self._halvings
            begin = start + done * (stop - start)
            end = start + (done + part) * (stop - start) if done + part < 1.0 else stop
            if self._try(begin, end, part * h, couple_stretch):
                done += part
                continue
            self._halvings += 1
            couple_stretch &= self.model.contact.is_crossing_free  # it would throw pinched cloth to and fro

    @property
    def is_spent(self) -> bool:
        """Whether the frame has taken more than `BUDGET` times what was planned: the rest has to be cheap."""
        return self.tried > BUDGET * self.planned

    def _try(self, start: float, stop: float, h: float, couple_stretch: bool) -> bool:
        """One substep, unless its result is unsound: then the state stays as it is."""
        model, state = self.model, self.state
        before = state.x, state.v
        model.contact.keeps_unresolved = self._halvings >= PINCHED_RETRIES
        self.substep(stop, h, h, h, couple_stretch)
        self.tried += 1
        fault = "" if self._sound else "unsound"
        if not fault and not model.contact.is_crossing_free:
            fault = "" if model.contact.keeps_unresolved else "crossing"
        elif not fault and self._halvings < OVERRUN_RETRIES and self._is_overrun(before[0]):
            fault = "cut short" if self.is_spent else "overrun"
        if fault:
            self.watch.counts[fault] += 1
        if fault in ("", "cut short"):
            self._remember(h, stop)
            return True
        if self._halvings >= RETRIES:
            worst = int(np.argmax(np.nan_to_num(np.abs(state.v), nan=np.inf).max(axis=0)))
            raise UnstableError(*model.owner(worst))
        state.x, state.v = before
        model.contact.rewind(start)
        return False

    def _is_overrun(self, x: np.ndarray) -> bool:
        """Whether the substep from x (3, n) [m] was too long, where anything but springs can have caused it.

        What starts pulled apart and free snaps by the same way in any substep, and so the faster the shorter it is.
        """
        model, state = self.model, self.state
        if not len(model.pins) and not model.contact.active:
            return False
        excused, beside = self._open_seams, model.contact.penetration.beside
        if len(beside):
            excused = excused | beside[: len(excused)]
        excess = excess_of_overrun(self.kernels, model.springs, x, state.x, excused)
        if not 0.0 < excess <= FREE_EXCESS or self._is_driven:
            return excess > 0.0
        return bool(state.pushed.any() or model.stretch.pushed.any() or model.pushed().any())

    def _remember(self, duration: float, stop: float) -> None:
        """Take what the next substep is to know of this one into the state."""
        model, state = self.model, self.state
        if len(model.tethers.lengths) or len(model.levels.lengths):
            state.strain = model.tethers.follow(state.strain, model.stretch, duration)
            model.tethers.strain = model.levels.strain = state.strain
        state.skin = model.skin.remember(self.kernels, state.x)
        if model.outer:
            state.pushed = state.pushed | model.pushed()
            model.stretch.pushed = model.stretch.pushed | state.pushed
        if plasticity.is_plastic(model):
            self._flowing += duration
            if stop >= 1.0 or self._flowing >= plasticity.FLOW_TIME * (1.0 - 1e-9):
                plasticity.flow(model, state, self._flowing)
                self._flowing = 0.0

    def _decay(self, h: float) -> tuple[np.ndarray | None, np.ndarray]:
        """As `forces.decay`, once for each h."""
        if h not in self._decays:
            self._decays[h] = forces.decay(self.model, h, self.second_order)
        return self._decays[h]

    def _pinned(self, fraction: float) -> np.ndarray:
        """Where firm pins are at a fraction of the frame, (3, f) [m]."""
        start, way = self._firm_path
        return np.asarray(start + fraction * way)
