"""Simulation: bodies, colliders and settings, stepped a frame at a time, with all frames cached."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from . import collider_fitting, kernels as backends, layer_sorting as layers, solver
from .air.force_functions import Function as Force, checked_forces
from .air.wind import Wind
from .arrays import arguments
from .bodies.body import FASTEST_START, Body
from .bodies.maps import checked_maps
from .bodies.material import Material
from .building import build
from .constraints import GRIP, Constraints, CustomConstraints, Grab, Plane
from .constraints.custom import Function, checked_number, checked_particles, checked_rows, distance_beyond
from .constraints.plane import checked_place
from .contact import Collider
from .frames.frame_cache import FrameCache, Store
from .frames.frame_inputs import FrameInputs
from .frames.report import StepReport, make_report
from .io import state_files
from .model.model import Model, State, Targets
from .model.obstacles import planes_and_surfaces
from .parts.dynamic_mesh import rest_shape
from .parts.gas import opened
from .parts.sewing import sewn, waiting_bodies
from .parts.tearing import joined_in
from .settings.solver_settings import AIR_DENSITY, SolverSettings
from .stepping import adaptive
from .stepping.time_stepping import RUNAWAY_SPEED
from .timing.slices import finish
from .timing.stopwatch import Stopwatch

LONGEST_FRAME = 10.0
"""Longest frame [s]: one frame a second, and ten times the speed. A cloth of 11 x 11 vertices that hangs on a corner
over a floor takes 0.5 s a frame at 1 s, 4 s at 10 s, and, falling by kilometers in a substep, 7 to 23 s at 100 s."""

SHORTEST_FRAME = 2.0**-52 / RUNAWAY_SPEED
"""In a shorter frame [s] motion at that speed does not change the last digit of a meter."""


class Simulation:
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

    @property
    def constraints(self) -> list[Constraints]:
        """The kinds of constraints that are active with the current materials."""
        return list(self._model.constraints)

    @property
    def settings(self) -> SolverSettings:
        """The current settings; `set_settings` changes them."""
        return self._model.settings

    def add_constraints(
        self,
        bodies: Body | Sequence[Body],
        vertices: Sequence[Sequence[int]] | np.ndarray,
        function: Function,
        compliance: float | Sequence[float] | np.ndarray = 0.0,
        k: float | Sequence[float] | np.ndarray = 1.0,
        one_sided: bool = False,
        name: str = "custom",
    ) -> CustomConstraints:
        """Add your own kind of constraint, permanently, from the next step on.

        It is solved after those of cloth and pressure and before planes and contact. With XPBD it stores the energy
        C² / (2 compliance); with PBD, k replaces the compliance.

        Args:
            bodies: Whose vertices: one body, or a sequence with the body of each column of `vertices`.
            vertices: Vertices of each row, all of them different, (m, k) int.
            function: Called as `function(p, rows)` with the positions (r, k, 3) float64 [m] of the vertices of some
                rows and the numbers (r,) int of these rows in `vertices`; returns C (r,) and its gradients dC/dp
                (r, k, 3). It sees the rows of one color at a time, which share no vertex, and must depend on nothing
                else.
            compliance: Inverse stiffness of all rows or of each one, (m,) [unit of C, squared, per joule], which is m/N
                where C is a length; 0 is rigid.
            k: Fraction of the error that PBD corrects in a substep, in [0, 1], of all rows or of each one, (m,).
            one_sided: Whether C >= 0 is allowed, so that a row only pushes.
            name: Its name in reports.

        Returns:
            The kind, with `.values(x)`, `.multipliers` and `.forces()` in the order of the rows.

        Raises:
            ValueError: One sentence that names the argument; also in a later step, if the function fails there.
        """
        if not callable(function):
            arguments.refuse("function", "callable", function)
        ids = checked_rows(vertices)
        owners = [bodies] * ids.shape[1] if isinstance(bodies, Body) else arguments.sequence("bodies", bodies)
        if self._model.can_tear:
            raise ValueError("own constraints hold particles, which cloth that can tear exchanges: set tear_strength 0")
        parts = [self._part(self._body("bodies", body)) for body in owners]
        particles = checked_particles(ids, [body.name for body in owners], parts, joined_in(self._state))
        compliances = checked_number("compliance", compliance, len(particles), arguments.MOST)
        shares = checked_number("k", k, len(particles), 1.0)
        one_sided, name = arguments.switch("one_sided", one_sided), arguments.instance("name", name, str)
        made = CustomConstraints(name, particles, function, compliances, shares, one_sided, self._model.w)
        made.gradients(self._state.x.T)  # Raises now if the function is wrong, not in a step.
        self._model = build.with_constraints(self._model, made)
        return made

    def keep_apart(
        self, one: Body, vertices: Sequence[int], other: Body, other_vertices: Sequence[int], distance: float
    ) -> CustomConstraints:
        """Keep vertices[i] of `one` at least `distance` [m] from other_vertices[i] of `other`, for every i.

        Raises:
            ValueError: A body or a vertex is unknown, the lists differ in length, a vertex is paired with itself, or
                the distance is not above 0.
        """
        first = arguments.ids("vertices", vertices, len(self._body("one", one).vertices))
        second = arguments.ids("other_vertices", other_vertices, len(self._body("other", other).vertices))
        if len(first) != len(second):
            raise ValueError(f"vertices has {len(first)} entries, other_vertices has {len(second)}")
        apart = arguments.number("distance", distance, above=0.0, unit="m")
        rows = np.column_stack([first, second])
        return self.add_constraints([one, other], rows, distance_beyond(apart), one_sided=True, name="pairs")

    def grab(
        self, body: Body, vertices: Sequence[int], weights: Sequence[float] | None = None, compliance: float = GRIP
    ) -> Grab:
        """Grab vertices of a body, from the next step on; nothing is rebuilt.

        Args:
            body: The body.
            vertices: (m,) int, all different.
            weights: Relative stiffness of each vertex's spring, (m,); default: all equal.
            compliance: Compliance of the whole grip [m/N]; 0 holds every vertex firmly.

        Returns:
            A handle to move and release the vertices; valid until `reset`, even if frames are truncated.

        Raises:
            ValueError: A vertex is unknown or occurs twice, a weight is not above 0, or the compliance is below 0.
        """
        ids = arguments.ids("vertices", vertices, len(self._body("body", body).vertices))
        if not len(ids) or len(np.unique(ids)) < len(ids):
            raise ValueError(f"vertices must be different vertices of {body.name}, not {ids.tolist()[:8]}")
        firm = np.ones(len(ids))
        if weights is not None:
            firm = arguments.per_vertex("weights", weights, len(ids), above=0.0)
        compliance = arguments.number("compliance", compliance, low=0.0, unit="m/N")
        particles = ids + self._part(body).start
        made = Grab(particles, self._state.x[:, particles].copy(), firm, compliance, self._let_go)
        self._hold([*self._grabs, made])
        return made

    def _let_go(self, grab: Grab) -> None:
        self._hold([other for other in self._grabs if other is not grab])

    def _hold(self, grabs: Sequence[Grab]) -> None:
        self._grabs = list(grabs)
        self._model = build.with_grabs(self._model, grabs)

    @property
    def is_held(self) -> bool:
        """Whether anything is grabbed."""
        return bool(self._grabs)

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
        found = adaptive.measure(self._model, self._state, dt)
        if self.settings.automatic:
            pace = adaptive.remember(self._model, before, self.settings, found, count, dt)
            self._state.memory["pace"]["last"] = np.array(pace)
        self._targets = Targets.of(self._state)
        for grab in self._grabs:
            grab.start = grab.now
        report = make_report(self._model, before, self._state, count, reason, found, self._kernels, watch)
        if any(part.reshapes for part in self._model.acting):
            self._take_past()
        self._state.memory["obstacles"]["is_apart"] = np.array(self._model.contact.is_apart)
        if in_place:
            self.frames.replace_last(self._state)
        else:
            self.frames.append(self._state)
        self.reports[self.frames.last] = report
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

    def positions(self, body: Body) -> np.ndarray:
        """Current positions of a body, a view (n, 3) float64 [m]."""
        return self._state.x[:, self._part(body)].T

    def velocities(self, body: Body) -> np.ndarray:
        """Current velocities of a body, a view (n, 3) float64 [m/s]."""
        return self._state.v[:, self._part(body)].T

    def add_initial_velocities(self, share: float = 1.0) -> None:
        """Add this share of the initial velocities of all bodies to those at the last frame."""
        share = arguments.number("share", share)
        self._state.v += share * self._model.initial_velocities(self._state.x)
        self.frames.replace_last(self._state)

    def touching(self, body: Body) -> np.ndarray:
        """Vertices of a body that touched a collider or cloth in the last frame, or a plane at its end; (k,) int."""
        part, contact = self._part(body), self._model.contact
        planes = (plane.touching() for plane in self._model.plane_constraints)
        met = [contact.touching(True), contact.touching(False), *planes]
        ids = np.unique(np.concatenate(met))
        joined = joined_in(self._state)
        if len(joined):
            ids = np.flatnonzero(np.isin(joined, ids))
        return np.asarray(ids[(ids >= part.start) & (ids < part.stop)] - part.start)

    def pressure(self, body: Body) -> tuple[float, ...]:
        """Overpressure in each closed island of a body in the last substep [Pa]; empty without pressure."""
        number = self._number[self._body("body", body)]
        volume = self._model.volume
        if not volume.active:
            return ()
        return tuple(
            pressure
            for piece, pressure, works in zip(volume.pieces, volume.forces().tolist(), volume.working)
            if piece.body == number and works
        )

    def set_pin_targets(self, body: Body, targets: np.ndarray) -> None:
        """Set the targets of a body's pins at the end of the next frame, (k, 3) [m], in the order of `Body.pin_ids`.

        Raises:
            ValueError: The shape is wrong or a number is not finite.
        """
        pins = self._model.pin_slices[self._number[self._body("body", body)]]
        self._targets.pins[:, pins] = arguments.vectors(f"targets of {body.name}", targets, len(body.pin_ids)).T

    def set_rest_shape(self, body: Body, vertices: np.ndarray) -> None:
        """Set the rest shape of a body with `dynamic_mesh` at the end of the next frame, (n, 3) [m].

        Rest lengths, angles and volumes get there evenly. Masses, stiffnesses and the distance of self-collision stay.

        Raises:
            ValueError: The body has none that can change, the shape is wrong or a number is not finite.
        """
        part = self._part(self._body("body", body))
        if not body.dynamic_mesh:
            raise ValueError(f"body {body.name} must have dynamic_mesh to get another rest shape")
        rest = self._targets.rest.copy()
        own = (self._model.follows >= part.start) & (self._model.follows < part.stop)
        rest[:, own] = arguments.vectors(f"vertices of {body.name}", vertices, len(body.vertices)).T
        if not np.array_equal(rest, self._targets.rest):
            self._targets.rest = rest

    def move_plane(self, plane: Plane, point: Sequence[float], normal: Sequence[float]) -> None:
        """Set where a plane is at the end of the next frame; `point` and `normal` as in `Plane`."""
        number = self._plane_number[arguments.member("plane", plane, self._plane_number)]
        self._targets.planes[number] = checked_place(point, normal)

    def move_collider(self, collider: Collider, vertices: np.ndarray) -> None:
        """Set where a collider's vertices are at the end of the next frame, (m, 3) [m]; they move there in a line.

        Raises:
            ValueError: The shape is wrong or a number is not finite.
        """
        number = self._collider_number[arguments.member("collider", collider, self._collider_number)]
        wanted = arguments.vectors(f"vertices of {collider.name}", vertices, len(collider.vertices))
        if not np.array_equal(self._targets.colliders[number], wanted.T):
            self._targets.colliders[number] = wanted.T

    def move_rail(self, body: Body, vertices: np.ndarray) -> None:
        """Set where the vertices of a body's rail are at the end of the next frame, (m, 3) [m].

        Raises:
            ValueError: The body has no rail, the shape is wrong or a number is not finite.
        """
        self._body("body", body)
        if body.rail is None:
            raise ValueError(f"body {body.name} must have a rail to move it")
        number = [one for one in self.bodies if one.rail is not None].index(body)
        wanted = arguments.vectors(f"vertices of {body.rail.name}", vertices, len(body.rail.vertices))
        if not np.array_equal(self._targets.rails[number], wanted.T):
            self._targets.rails[number] = wanted.T

    def set_colliders(self, colliders: Sequence[Plane | Collider]) -> None:
        """Use these colliders from the next step on; state and cached frames stay.

        Planes must be those of the beginning. A new collider is where its vertices are.

        Raises:
            ValueError: An item is not a collider, occurs twice, or is a plane that was not there before.
        """
        planes, surfaces = planes_and_surfaces(colliders)
        if planes != list(self._model.planes):
            raise ValueError("colliders must hold the planes of the beginning, in their order, and no others")
        known = self._model.colliders
        for state in {id(one): one for one in (self._state, *self.frames.states())}.values():
            here = state.memory["obstacles"]
            stood, went = dict(zip(known, here["colliders"])), dict(zip(known, here["penetrated"].T))
            here["colliders"] = [stood.get(one, one.vertices.T) for one in surfaces]
            nothing = np.zeros(len(here["penetrated"]), bool)
            columns = [went.get(one, nothing) for one in surfaces]
            here["penetrated"] = np.array(columns, bool).reshape(len(surfaces), len(nothing)).T
            here["is_apart"] = np.array(False)
        asked = dict(zip(known, self._targets.colliders))
        self._targets.colliders = [asked.get(one, one.vertices.T) for one in surfaces]
        self._model = build.with_colliders(self._model, surfaces)
        self._collider_number = {collider: number for number, collider in enumerate(surfaces)}

    def set_material(self, body: Body, material: Material) -> None:
        """Change the material of a body, from the next step on."""
        number = self._number[self._body("body", body)]
        materials = list(self._model.materials)
        materials[number] = arguments.instance("material", material, Material)
        self._rebuild(materials, self._model.maps, self.settings)

    def set_maps(self, body: Body, maps: Mapping[str, np.ndarray | Sequence[float]]) -> None:
        """Replace all maps of a body, given as in `Body`, from the next step on.

        Raises:
            ValueError: There is no such map, its shape is wrong, or a factor is out of range.
        """
        number = self._number[self._body("body", body)]
        all_maps = list(self._model.maps)
        all_maps[number] = checked_maps(maps, len(body.vertices), body.name)
        self._rebuild(self._model.materials, all_maps, self.settings)

    def maps(self, body: Body) -> dict[str, np.ndarray]:
        """The current maps of a body, (n,) float64 each."""
        return dict(self._model.maps[self._number[self._body("body", body)]])

    def is_sewn(self, body: Body) -> bool:
        """Whether the edges of a body that can be seams are no ropes: it is sewn, or has been."""
        return not self._model.sewn.roped[self._number[self._body("body", body)]]

    def set_settings(self, settings: SolverSettings) -> None:
        """Change the solver settings, from the next step on."""
        settings = arguments.instance("settings", settings, SolverSettings)
        self._rebuild(self._model.materials, self._model.maps, settings)

    def _rebuild(
        self, materials: Sequence[Material], maps: Sequence[Mapping[str, np.ndarray]], settings: SolverSettings
    ) -> None:
        past = sewn(self._model, self._state, materials)
        self._model = build.with_materials(self._model, materials, maps, settings, sewn=past)

    def set_forces(self, forces: Sequence[Force]) -> None:
        """Let these functions act, and no others, from the next step on.

        A function is called as f(x, v, t) with positions [m] and velocities [m/s] of all particles, (n, 3) float64
        each and not to be written to, and the time since the first frame [s]. It returns accelerations, (n, 3) [m/s²];
        wrapped as `AirVelocity(f)`, velocities of the air, (n, 3) [m/s]. It must depend on nothing else, or the same
        frame comes out different the next time. It is asked once a substep, or once a frame if it has an attribute
        `every` that is "FRAME". `particles` tells which rows are of which body.

        Raises:
            ValueError: Something is not callable; also from a later step, if a function fails there or does not return
                finite numbers of that shape.
        """
        self._surround(forces=checked_forces(forces))

    def set_wind(self, wind: Wind | None) -> None:
        """Have this wind at the end of the next frame and from then on.

        In that frame, velocity and turbulence go there steadily from those of the frame before; the gusts travel on.
        """
        self._surround(wind=None if wind is None else arguments.instance("wind", wind, Wind))

    def set_shade(self, body: Body, factors: Sequence[float] | np.ndarray | None) -> None:
        """Say how much of wind and moving air reaches a body from the next step on.

        Args:
            body: Whose surface.
            factors: 0 (sheltered) to 1 (open) of each of its `mesh.triangles`, (t,); None: 1.

        Raises:
            ValueError: The shape is wrong, or a factor is not from 0 to 1.
        """
        number, where = self._number[self._body("body", body)], f"factors of {body.name}"
        shade = {other: known for other, known in self._model.around.shade.items() if other != number}
        if factors is not None:
            shade[number] = arguments.per_vertex(where, factors, len(body.mesh.triangles), low=0.0)
            if shade[number].max(initial=0.0) > 1.0:
                raise ValueError(f"{where} must be at most 1, not {shade[number].max():g}")
        self._surround(shade=shade)

    def _surround(self, **changes: Any) -> None:
        around = dataclasses.replace(self._model.around, **changes)
        self._model = dataclasses.replace(self._model, around=around)

    def particles(self, body: Body) -> slice:
        """Which of all particles, in the order of `bodies`, are the vertices of a body."""
        return self._part(self._body("body", body))

    def _take_past(self) -> None:
        """Let what is sewn and not torn in the present state be one, and what has burst or leaks do so."""
        past = sewn(self._model, self._state, self._model.materials)
        if not all(map(np.array_equal, past, self._model.sewn)):
            self._rebuild(self._model.materials, self._model.maps, self.settings)
        model, burst = self._model, opened(self._model, self._state)
        if not np.array_equal(burst, model.volume.opened):
            self._model = build.with_materials(model, model.materials, model.maps, model.settings, burst)

    def use_kernels(self, name: str) -> None:
        """Use the backend of that name, or "auto", from the next step on.

        Raises:
            ValueError: There is no such backend.
            ImportError: Numba is not installed.
        """
        self._kernels = backends.load(arguments.instance("kernels", name, str))
        self.kernels_name = self._kernels.__name__.rsplit(".", 1)[-1]

    def reset(self) -> None:
        """Return to the initial state, with an empty cache and nothing grabbed."""
        self._hold([])
        self.begin(self.frames.first)

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

    def is_sewn_first(self, body: Body) -> bool:
        """Whether gravity and wind do not act on a body yet, as its seams are still open."""
        return self._number[self._body("body", body)] in waiting_bodies(self._model, self._state)

    def brought_out(self, body: Body) -> tuple[np.ndarray, np.ndarray]:
        """Vertices of a body that were brought out of colliders at the start, and those that could not be, (k,) int."""
        part = self._part(body)
        of_body = [ids[(ids >= part.start) & (ids < part.stop)] - part.start for ids in self.fitted]
        return of_body[0], of_body[1]

    def met_by(self, body: Body) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Vertices of a body inside of closed colliders, and those of edges and faces that go through any, (k,) int.

        By the collider's name; when that was looked for last.
        """
        return self._model.contact.penetration.met_by(self._part(body))

    def cached_positions(self, body: Body, frame: float) -> np.ndarray:
        """Positions of a body at a cached frame, interpolated linearly, (n, 3) float32 [m].

        Raises:
            ValueError: The frame is not cached.
        """
        return np.ascontiguousarray(self.frames.positions(frame)[:, self._part(body)].T)

    def cached_rest_shape(self, body: Body, frame: int) -> np.ndarray:
        """Rest shape of a body at a cached frame, (n, 3) [m].

        Raises:
            ValueError: The frame is not cached.
        """
        part = self._part(self._body("body", body))
        return rest_shape(self._model, self.frames.state(frame))[part]

    def coasting_positions(self, body: Body, seconds: float) -> np.ndarray:
        """Positions of a body extrapolated from the last frame by its velocities, (n, 3) float32 [m]."""
        part, state = self._part(body), self._state
        seconds = arguments.number("seconds", seconds, -LONGEST_FRAME, LONGEST_FRAME, "s")
        return np.ascontiguousarray((state.x[:, part] + seconds * state.v[:, part]).T, np.float32)

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

    def take_inputs(self, inputs: FrameInputs) -> None:
        """Set the targets of the next frame."""
        arguments.instance("inputs", inputs, FrameInputs)
        for body, targets in inputs.pin_targets.items():
            self.set_pin_targets(body, targets)
        for body, vertices in inputs.rest_shapes.items():
            self.set_rest_shape(body, vertices)
        for plane, place in inputs.planes.items():
            if not isinstance(place, Sequence) or len(place) != 2:
                arguments.refuse("FrameInputs.planes", "a point and a normal", place)
            self.move_plane(plane, *place)
        for collider, vertices in inputs.colliders.items():
            self.move_collider(collider, vertices)
        for body, vertices in inputs.rails.items():
            self.move_rail(body, vertices)

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

    def _body(self, where: str, body: Body) -> Body:
        return arguments.member(where, body, self._number)

    def _part(self, body: Body) -> slice:
        """The range of a body's particles."""
        return self._model.slices[self._number[self._body("body", body)]]

    def _place(self, state: State) -> None:
        self._state = state
        self._take_past()
        self._model.contact.reset(bool(state.memory["obstacles"]["is_apart"]))
        for part in self._model.parts:
            part.place(self._model, state)
        self._targets = Targets.of(state)
