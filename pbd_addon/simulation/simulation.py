"""Simulation: bodies, colliders and settings, stepped a frame at a time, with all frames cached."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Generator, Mapping, Sequence

import numpy as np

from .. import collider_fitting, kernels as backends, layer_sorting as layers, solver
from ..air.force_functions import Function as Force
from ..air.wind import Wind
from ..arrays import arguments
from ..bodies.body import FASTEST_START, Body
from ..building import build
from ..constraints import Grab, Plane
from ..contact import Collider
from ..frames.frame_cache import FrameCache, Store
from ..frames.frame_inputs import FrameInputs
from ..frames.report import Judgment, StepReport, make_report
from ..io import state_files
from ..model.model import Model, State, Targets
from ..model.obstacles import planes_and_surfaces
from ..parts.gas import opened
from ..parts.sewing import sewn
from ..settings.solver_settings import AIR_DENSITY, SolverSettings
from ..stepping import adaptive
from ..stepping.time_stepping import LONGEST_FRAME, SHORTEST_FRAME
from ..timing.slices import finish
from ..timing.stopwatch import Stopwatch
from .changes import Changes


class Simulation(Changes):
    """A scene of cloth, balloons and ropes.

    Args:
        bodies: The simulated bodies.
        colliders: Surfaces, floors and walls.
        gravity: (x, y, z) [m/s²].
        method: "XPBD", or "PBD" (Müller et al. 2007).
        substeps: Substeps per frame; with `automatic`, the reference for their number.
        iterations: Solver passes in a substep.
        self_collision: Whether cloth collides with itself and other cloth: True (accurate), "FAST" (vertices only) or
            False.
        kernels: "auto" or the name of a backend.
        automatic: Whether motion and residuals decide the substeps of each frame, see `adaptive`.
        forces: Functions f(x, v, t) of what acts on all particles, see `set_forces`.
        wind: Wind of the scene, or None; surfaces feel it where their material has coefficients.
        air_density: Of what is around the bodies [kg/m³].
        in_slices: Whether to leave what takes long to `prepare`, which has to come before anything else.
        shape_error: Accepted distance from the converged shape, over its size: for `automatic`, and for advice.

    Attributes:
        constraints: The active kinds of constraints; see `constraints.Constraints`.
        bodies: The simulated bodies.
        kernels_name: Name of the backend in use.
        frames: The cache of simulated frames; only `Simulation` appends to it or truncates it.
        reports: Reports of all frames that were stepped, by frame.
        fitted: Which particles were brought out of colliders at the start, and which could not be, see `Body.fit`.
        crossing_layers: Number of edges of a layer that still go through another at the start, see `Body.layer`; None
            before `begin`.

    Raises:
        ValueError: One sentence that names the argument.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        colliders: Sequence[Plane | Collider] = (),
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        method: str = "XPBD",
        substeps: int = 20,
        iterations: int = 1,
        self_collision: bool | str = True,
        kernels: str = "auto",
        automatic: bool = False,
        forces: Sequence[Force] = (),
        wind: Wind | None = None,
        air_density: float = AIR_DENSITY,
        in_slices: bool = False,
        shape_error: float = 0.05,
    ) -> None:
        if not isinstance(self_collision, bool) and not (isinstance(self_collision, str) and self_collision == "FAST"):
            arguments.refuse("self_collision", 'True, False or "FAST"', self_collision)
        self.bodies: list[Body] = arguments.different("bodies", bodies, Body)
        if not self.bodies:
            raise ValueError("bodies is empty: there is nothing to simulate")
        settings = SolverSettings(
            method=method,
            substeps=substeps,
            iterations=iterations,
            automatic=automatic,
            shape_error=shape_error,
            collisions="FAST" if self_collision == "FAST" else "ACCURATE" if self_collision else "OFF",
            air_density=air_density,
            gravity=gravity,  # type: ignore[arg-type]  # checked and made a tuple there
        )
        self.use_kernels(kernels)
        planes, surfaces = planes_and_surfaces(colliders)
        self._number = {body: number for number, body in enumerate(self.bodies)}
        self._plane_number = {plane: number for number, plane in enumerate(planes)}
        self._collider_number = {collider: number for number, collider in enumerate(surfaces)}
        self.reports: dict[int, StepReport] = {}
        self._judgment = Judgment()
        self._grabs: list[Grab] = []
        self._preparation = self._prepare(build.build_model(self.bodies, planes, surfaces, settings), forces, wind)
        self._sorted: np.ndarray | None = None
        self.crossing_layers: int | None = None
        self.fitted = collider_fitting.NOTHING
        if not in_slices:
            finish(self._preparation)
            self.begin(0)

    def _prepare(
        self, building: Generator[None, None, Model], forces: Sequence[Force], wind: Wind | None
    ) -> Generator[None, None, None]:
        self._model = yield from building
        self.set_forces(forces)
        self.set_wind(wind)
        self._state = self._model.initial_state()
        self._targets = Targets.of(self._state)
        self.frames = FrameCache(0, self._state)

    def prepare(self) -> Generator[None, None, None]:
        """Build what `in_slices` has left, in slices; nothing else may be done with the simulation before its end."""
        yield from self._preparation

    def use_kernels(self, name: str) -> None:
        """Use the backend of that name, or "auto", from the next step on.

        Raises:
            ValueError: There is no such backend.
            ImportError: Numba is not installed.
        """
        self._kernels = backends.load(arguments.instance("kernels", name, str))
        self.kernels_name = self._kernels.__name__.rsplit(".", 1)[-1]

    def begin(self, frame: int) -> None:
        """Start at frame `frame` with the initial state, layers in order; forget all other frames."""
        finish(self.beginning(frame))

    def beginning(self, frame: int) -> Generator[None, None, None]:
        """Like `begin`, in slices: the first time, cloth is sorted and fitted. Closed early, it changes nothing."""
        frame = arguments.whole("frame", frame)
        if self.crossing_layers is None:
            found = yield from layers.sort_layers(self._model, self._kernels)
            start, crossing = found or (None, 0)
            self._sorted, self.fitted = yield from collider_fitting.fit(self._model, start, self._kernels)
            self.crossing_layers = crossing
        state = self._model.initial_state()
        if self._sorted is not None:
            state.x, state.v = self._sorted.copy(), self._model.initial_velocities(self._sorted)
        self._place(state)
        self.frames = FrameCache(frame, self._state)
        self.reports = {}

    def reset(self) -> None:
        """Return to the initial state, with an empty cache and nothing grabbed."""
        self._hold([])
        self.begin(self.frames.first)

    def step(self, dt: float, in_place: bool = False) -> StepReport:
        """Advance by one frame of dt seconds.

        Args:
            dt: Length of the frame [s].
            in_place: Whether the result replaces the last cached frame instead of following it.

        Raises:
            UnstableError: The step failed even with smaller substeps; the state is that of the last good frame.
            ValueError: dt is not above 0.
        """
        return finish(self.slices(dt, in_place))

    def slices(self, dt: float, in_place: bool = False) -> Generator[float, None, StepReport]:
        """Like `step`, but in slices, so that a window stays responsive; the generator returns the report.

        Closed early, it changes nothing. Until it ends, nothing else may change the simulation.

        Yields:
            The fraction of the frame that is done, in [0, 1).

        Raises:
            UnstableError, ValueError: As `step`.
            ChangedError: The simulation was changed meanwhile.
        """
        dt = arguments.number("dt", dt, SHORTEST_FRAME, LONGEST_FRAME, "s", above=0.0)
        in_place = arguments.switch("in_place", in_place)
        watch = Stopwatch()
        self._judgment.expire()
        self._let_jump(dt)
        count, reason = adaptive.substeps(self._model, self._state, self._targets, self.settings, dt)
        settings = self.settings
        if count != settings.substeps:
            settings = dataclasses.replace(settings, substeps=count)
        watch.lap("prediction")
        before = self._state
        model, stepped = yield from solver.step(
            self._model, before, settings, self._targets, dt=dt, kernels=self._kernels, watch=watch
        )
        if self._state is not before:
            raise solver.ChangedError("the simulation was changed while one of its frames was stepped")
        self._model, self._state = model, stepped
        watch.lap("prediction")
        measure = functools.partial(adaptive.measure, self._model, self._state, dt)
        if self.settings.automatic:
            found = measure()
            pace = adaptive.remember(self._model, before, self.settings, found, count, dt)
            self._state.memory["pace"]["last"] = np.array(pace)
            measure = functools.partial(list, found)
        self._targets = Targets.of(self._state)
        for grab in self._grabs:
            grab.start = grab.now
        report = make_report(self._model, before, self._state, count, reason, measure, self._kernels, watch)
        self._judgment = report.judgment
        reshapes = any(part.reshapes for part in self._model.acting)
        if reshapes or self.settings.automatic:
            self._judgment.settle()
        if reshapes:
            self._take_past()
        self._state.memory["obstacles"]["is_apart"] = np.array(self._model.contact.is_apart)
        if in_place:
            self.frames.replace_last(self._state)
        else:
            self.frames.append(self._state)
        self.reports[self.frames.last] = report
        return report

    def advance_to(self, frame: int, read_inputs: Callable[[int], FrameInputs], dt: float) -> StepReport | None:
        """Step every frame after the last one up to `frame`, each of dt seconds.

        Args:
            frame: Frame to reach; nothing happens if it is cached.
            read_inputs: Called with each missing frame, in order; returns the targets at its end.
            dt: Length of a frame [s].

        Returns:
            The report of the last frame, None if none was stepped.

        Raises:
            UnstableError: A frame could not be stepped; those before it are kept.
        """
        frame, report = arguments.whole("frame", frame), None
        if not callable(read_inputs):
            arguments.refuse("read_inputs", "a function of a frame", read_inputs)
        for missing in range(self.frames.last + 1, frame + 1):
            self.take_inputs(read_inputs(missing))
            report = self.step(dt)
        return report

    def _let_jump(self, dt: float) -> None:
        """Put colliders that are faster than any cloth may start where they go: they were never in between.

        What cuts from one place to another, or appears, would throw cloth that is in its way out of the scene.
        """
        reach, here = FASTEST_START * dt, self._state.memory["obstacles"]
        pairs = list(zip(here["colliders"], self._targets.colliders))
        jumps = [stood is not there and float(np.abs(there - stood).max()) > reach for stood, there in pairs]
        if any(jumps):
            here["colliders"] = [there if jump else stood for jump, (stood, there) in zip(jumps, pairs)]
            self._model.contact.reset()

    def add_initial_velocities(self, share: float = 1.0) -> None:
        """Add this share of the initial velocities of all bodies to those at the last frame."""
        share = arguments.number("share", share)
        self._judgment.settle()
        self._state.v += share * self._model.initial_velocities(self._state.x)
        self.frames.replace_last(self._state)

    def restore(self, frame: int, state: State, grabs: Sequence[Grab] = ()) -> None:
        """Forget all frames after a cached one, and set its state; everything is released except `grabs`.

        Raises:
            ValueError: The frame is not cached, or the state is not one of this simulation, as from `frames.state`.
        """
        state = arguments.instance("state", state, State)
        if state.x.shape != self._state.x.shape or state.v.shape != self._state.x.shape:
            arguments.refuse("state", f"one of this simulation, of {self._state.x.shape[1]} particles", state.x)
        grabs = arguments.different("grabs", grabs, Grab)
        self.truncate(frame)
        self._hold(grabs)
        self._place(state.copy())
        self.frames.replace_last(self._state)

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`, and continue from there."""
        if arguments.whole("frame", frame, low=self.frames.first) < self.frames.last:
            state = self.frames.state(frame)
            self.frames.truncate(frame)
            self._place(state)
            self.reports = {at: report for at, report in self.reports.items() if at <= frame}

    def state_from(
        self, arrays: Mapping[str, np.ndarray], colliders: list[np.ndarray], rails: list[np.ndarray]
    ) -> State:
        """The state that arrays of a file hold, see `state_files.state_from`; raises `DamagedError`."""
        return state_files.state_from(arrays, self._model, colliders, rails)

    def take_up(self, store: Store, first: int, last: int) -> None:
        """Take over the frames `first` to `last` of a store, and continue from the last one."""
        self.frames = FrameCache.of(store, first, last)
        self._place(self.frames.state(last))
        self.reports = {}

    def _take_past(self) -> None:
        """Let what is sewn and not torn in the present state be one, and what has burst or leaks do so."""
        past = sewn(self._model, self._state, self._model.materials)
        if not all(map(np.array_equal, past, self._model.sewn)):
            self._rebuild(self._model.materials, self._model.maps, self.settings)
        model, burst = self._model, opened(self._model, self._state)
        if not np.array_equal(burst, model.volume.opened):
            self._model = build.with_materials(model, model.materials, model.maps, model.settings, burst)

    def _place(self, state: State) -> None:
        self._judgment.settle()
        self._state = state
        self._take_past()
        self._model.contact.reset(bool(state.memory["obstacles"]["is_apart"]))
        for part in self._model.parts:
            part.place(self._model, state)
        self._targets = Targets.of(state)
