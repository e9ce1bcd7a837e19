"""What can be changed from the next step on: constraints, grabs, materials, maps, settings, forces, wind."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..air.force_functions import Function as Force, checked_forces
from ..air.wind import Wind
from ..arrays import arguments
from ..bodies.body import Body
from ..bodies.maps import checked_maps
from ..bodies.material import Material
from ..building import build
from ..constraints import GRIP, CustomConstraints, Grab
from ..constraints.custom import Function, checked_number, checked_particles, checked_rows, distance_beyond
from ..parts.sewing import sewn
from ..parts.tearing import joined_in
from ..settings.solver_settings import SolverSettings
from .inputs import Inputs


class Changes(Inputs):
    """What changes the model; state and cached frames stay."""

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

    def set_settings(self, settings: SolverSettings) -> None:
        """Change the solver settings, from the next step on."""
        settings = arguments.instance("settings", settings, SolverSettings)
        self._rebuild(self._model.materials, self._model.maps, settings)

    def _rebuild(
        self, materials: Sequence[Material], maps: Sequence[Mapping[str, np.ndarray]], settings: SolverSettings
    ) -> None:
        self._judgment.settle()  # by what was
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
