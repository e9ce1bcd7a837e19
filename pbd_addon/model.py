"""The scene as arrays: `Model` never changes while it runs but for stiffness, `State` is all that does.

All bodies of a scene are one set of n particles, one body after the other. Arrays of vectors are component-major,
(3, n); see `kernels`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .body import ROPE_WIDTH, Body
from .constraints import (
    AttachmentConstraints,
    Constraints,
    DihedralConstraints,
    DistanceConstraints,
    Grab,
    GrabConstraints,
    InflationConstraints,
    IsometricConstraints,
    LevelConstraints,
    Piece,
    Plane,
    PlaneConstraints,
    PlateConstraints,
    PressurizedSkin,
    Sheet,
    TetherConstraints,
    VolumeConstraints,
    hinge_geometry,
    levels_of,
    tether_rows,
)
from .constraints.chains import runs_straight
from .constraints.distance import is_soft
from .constraints.plate_elements import FLAT
from .contact import Collider, ContactConstraints, Surface
from .maps import MAPS, of_particles
from .mesh import EMPTY, enclosed_volume
from .settings import Material, SolverSettings

Place = tuple[np.ndarray, np.ndarray]

PIN_SHARE = 1e3
"""Mass of an island's firm pins in the rigid motion that damping keeps, over that of all that is free in it.

Pins do not give way: their mass is infinite. This takes 0.1 % of the damping to a swing about a lone pin, and lets the
free particles say how an island turns about pins that lie within 3 % of its size to a line, not what is left of them.
"""


REASONS = ("settings", "motion", "stretch", "shear", "bend", "volume", "pressure", "colliders")
"""Why a frame takes as many substeps as it does."""


class Pace(NamedTuple):
    """How a frame was stepped.

    Attributes:
        substeps: Into how many substeps it was cut; 0 before the first frame.
        wanted: How many would have left as much error as is to be left.
        cause: What asked for most of them, a place in `REASONS`.
    """

    substeps: float = 0.0
    wanted: float = 0.0
    cause: float = 0.0


SOFT_ROUNDS = 2
"""How often shear and stretch are solved in turn where cloth is soft, multipliers carried on.

Top sag of a sheet of 100 N/m on two corners, 33 vertices a side, 20 substeps: 10.7, 2.7, 1.0 % off with 1, 2, 3; the
second costs less than the 1.7 times as many substeps that would do as much."""


@dataclasses.dataclass
class State:
    """What changes in a step.

    Attributes:
        x: Positions, (3, n) float64 [m].
        v: Velocities, (3, n) float64 [m/s].
        pin_targets: Where the pins were asked to be at the end of the last frame, (3, k) [m].
        planes: Where the planes were then, (point, unit normal) of each.
        colliders: Where the vertices of each collider were then, (3, m) [m] of each.
        strain: Elastic strain that the tethers and levels of each body remember, (bodies,).
        prediction_error: What contact observed of each particle, see `ContactConstraints.prediction_error`.
        pushed: Which bodies were pushed in the last frame, see `Model.pushed`, (bodies,) bool;
            all as long as nothing is known.
        skin: What skins under pressure carry over, see `PressurizedSkin.remember`; (0,) where there are none.
        pace: How the last frame was stepped, for frames that choose their substeps.
    """

    x: np.ndarray
    v: np.ndarray
    pin_targets: np.ndarray
    planes: list[Place]
    colliders: list[np.ndarray]
    strain: np.ndarray
    prediction_error: np.ndarray
    pushed: np.ndarray
    skin: np.ndarray
    pace: Pace

    def copy(self) -> State:
        """A state whose arrays can be replaced and changed without changing this one; colliders are only replaced."""
        return State(
            self.x.copy(), self.v.copy(), self.pin_targets.copy(), list(self.planes), list(self.colliders),
            self.strain.copy(), self.prediction_error.copy(), self.pushed.copy(), self.skin.copy(), self.pace,
        )  # fmt: skip


@dataclasses.dataclass
class Targets:
    """Where the moving parts of a scene stand at the end of a frame.

    Attributes:
        pins: (3, k) [m].
        planes: (point, unit normal) of each plane.
        colliders: Vertices of each collider, (3, m) [m] each.
    """

    pins: np.ndarray
    planes: list[Place]
    colliders: list[np.ndarray]

    @staticmethod
    def of(state: State) -> Targets:
        """Everything stays where it is in a state."""
        return Targets(state.pin_targets.copy(), list(state.planes), list(state.colliders))


class Model:
    """Particles and constraints of a scene.

    Args:
        bodies: Simulated meshes.
        planes: Floors and walls.
        colliders: Surfaces to meet.
        settings: Solver settings.

    Attributes:
        slices: Where each body's particles are, list of slices.
        w: Inverse masses, (n,) [1/kg]; 0 where firmly pinned or isolated.
        masses: Inertia of every particle, (n,) [kg].
        weighing: Share of each particle's inertia that has weight, (n,); the rest is air. 0 where nothing can fall.
        held: Particles with firm pins, (f,) int; `held_pins` says which pin each is.
        drag: Rate of every particle's body, (n,) [1/s].
        damping: Rate of every island's body, (islands,) [1/s].
        islands: Connected component of every particle, (n,) int.
        maps: The maps of each body; `set_materials` takes them over.
        sizes: Largest extent of each body at rest, the diagonal of its box, times what its maps add to its strain under
            its own weight, (bodies,) [m].
        damping_masses: What each particle counts for in the rigid motion that damping keeps, (n,) [kg]: its inertia,
            where it is firmly pinned, its part of `PIN_SHARE` times that of all that is free in its island.
        damping_island_masses: Their sum over each island, (islands,) [kg].
        constraints: In the order of projection, contact last.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        planes: Sequence[Plane],
        colliders: Sequence[Collider],
        settings: SolverSettings,
    ) -> None:
        self.bodies, self.planes, self.colliders = list(bodies), list(planes), list(colliders)
        offsets = np.concatenate([[0], np.cumsum([len(body.vertices) for body in bodies])]).astype(int)
        self.slices = [slice(start, stop) for start, stop in zip(offsets[:-1], offsets[1:])]
        self.n = int(offsets[-1])
        pins = [body.pin_ids + start for body, start in zip(bodies, offsets)]
        self.pin_slices = _slices([len(ids) for ids in pins])
        self.pins = np.concatenate(pins)
        self.pin_weights = np.concatenate([body.pin_weights for body in bodies])
        self.held_pins = np.flatnonzero(self.pin_weights >= 1.0)
        self.held = self.pins[self.held_pins]
        still = np.concatenate([body.isolated for body in bodies])
        still[self.held] = True
        self.free = np.flatnonzero(~still)
        island_counts = [int(body.mesh.islands.max()) + 1 for body in bodies]
        before = np.cumsum([0, *island_counts])
        self.islands = np.concatenate([body.mesh.islands + start for body, start in zip(bodies, before)])
        self.islands = self.islands.astype(np.int64)
        self._body_of_island = np.repeat(np.arange(len(bodies)), island_counts)
        materials = [body.material for body in bodies]
        self.maps = [body.maps for body in bodies]
        self._extents = np.array([np.linalg.norm(np.ptp(body.rest_vertices, axis=0)) for body in bodies])
        self.sizes = self._extents.copy()
        self._set_masses(materials)
        self._bend_models = [m.bend_model for m in materials]
        self.contact: ContactConstraints
        self._bends = self._build_bends()
        self._all = self._build()
        self.set_materials(materials, settings)

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings) -> None:
        """Rewrite masses and compliances for the bodies' materials; only another bending model takes new rows."""
        self._set_masses(materials)
        counts = [len(body.vertices) for body in self.bodies]
        self.drag = np.repeat([m.drag for m in materials], counts)
        self.damping = np.array([m.damping for m in materials], float)[self._body_of_island]
        self._decay = (0.0, self.drag, self.damping)
        models = [m.bend_model for m in materials]
        if models != self._bend_models:
            self._bend_models = models
            old, self._bends = self._bends, self._build_bends()
            at = self._all.index(old[0])
            self._all[at : at + len(old)] = self._bends
        maps = self._maps_of_particles()
        means = [{kind: factors.mean() for kind, factors in own.items()} for own in self.maps]
        self.sizes[:] = self._extents * [own.get("density", 1.0) / max(own.get("stretch", 1.0), 1e-9) for own in means]
        for constraints in self._all:
            constraints.set_maps(maps)
            constraints.set_materials(materials, settings, self.w)
        self.skin.set_materials(settings, self.w, self.masses)
        self._soft = bool(is_soft(materials, settings, self.sizes).any())
        self._put_in_order()

    def _put_in_order(self) -> None:
        self.constraints = [constraints for constraints in self._all if constraints.active]

    @property
    def sequence(self) -> list[Constraints]:
        """The constraints in one iteration: for soft cloth, shear and stretch in turn, `SOFT_ROUNDS` times."""
        pair = [constraints for constraints in self.constraints if constraints in (self.shear, self.stretch)]
        if not self._soft or len(pair) < 2:
            return self.constraints
        after = self.constraints.index(self.stretch) + 1
        return [*self.constraints[:after], *pair * (SOFT_ROUNDS - 1), *self.constraints[after:]]

    def add(self, constraints: Constraints, materials: Sequence[Material], settings: SolverSettings) -> None:
        """Take a further kind of constraint in, before contact."""
        place = len(self._all) - len(self.planes) - 1
        self._all.insert(place, constraints)
        self.set_materials(materials, settings)

    def set_colliders(
        self, colliders: Sequence[Collider], materials: Sequence[Material], settings: SolverSettings
    ) -> None:
        """Meet other colliders than before."""
        self.colliders = list(colliders)
        place = self._all.index(self.contact)
        self.contact = self._build_contact()
        self._all[place] = self.contact
        self.set_materials(materials, settings)

    def hold(self, grabs: list[Grab]) -> None:
        """Let hands hold these, and nothing else."""
        self.grabs.grabs, self.grabs.active = grabs, bool(grabs)
        self._put_in_order()

    def initial_state(self) -> State:
        """The bodies at rest where they were made."""
        x = np.concatenate([body.vertices for body in self.bodies]).T.copy()
        planes = [(plane.point, plane.normal) for plane in self.planes]
        colliders = [collider.vertices.T.copy() for collider in self.colliders]
        bodies = len(self.bodies)
        return State(
            x, np.zeros_like(x), x[:, self.pins], planes, colliders, np.zeros(bodies),
            np.full(self.n + bodies, np.nan), np.ones(bodies, bool), np.zeros(0), Pace(),
        )  # fmt: skip

    def lay_paths(self, state: State, targets: Targets, dt: float) -> None:
        """Tell everything that moves by itself where it goes from `state` until the end of a frame of dt [s]."""
        path = np.stack([state.pin_targets, targets.pins])
        self.held_path = path[:, :, self.held_pins]
        self.attachment.path = path[:, :, self.soft_pins]
        for constraints, start, end in zip(self.plane_constraints, state.planes, targets.planes):
            constraints.lay_path(start, end, dt)
        self.contact.lay_path(state.colliders, targets.colliders)
        self.tethers.strain = self.levels.strain = state.strain

    def remember_strain(self, before: np.ndarray) -> np.ndarray:
        """What tethers and levels know, or will once pressure is off, of each body's elastic strain, (bodies,)."""
        if not (len(self.tethers.lengths) or len(self.levels.lengths)):
            return before
        self.tethers.strain = self.levels.strain = self.tethers.follow(before, self.stretch)
        return self.tethers.strain

    def pushed(self) -> np.ndarray:
        """Which bodies volume, planes or contact pushed after stretch was solved in the last substep, (bodies,)."""
        ids = np.concatenate([constraints.pushing() for constraints in self.constraints] or [np.zeros(0, int)])
        found = np.zeros(len(self.bodies), bool)
        found[np.searchsorted([part.stop for part in self.slices], ids, side="right")] = True
        return found

    @property
    def meets_alone(self) -> bool:
        """Whether no piece can meet another one, only obstacles."""
        return len(self._body_of_island) == 1 or not self.contact.active

    def decay(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """What drag leaves of velocities in h [s], (n,), and what damping takes of all but rigid motion, (islands,).

        Drag is a force on what has weight, drag · mass · v: the air that a balloon moves only slows the approach, so
        that every fall ends at g / drag.
        """
        if self._decay[0] != h:
            self._decay = (h, np.exp(-h * self.drag * self.weighing), -np.expm1(-h * self.damping))
        return self._decay[1:]

    def owner(self, particle: int) -> tuple[Body, int]:
        """The body of a particle and its vertex there."""
        number = next(k for k, part in enumerate(self.slices) if particle < part.stop)
        return self.bodies[number], particle - self.slices[number].start

    def _maps_of_particles(self) -> dict[str, np.ndarray]:
        """The maps that any body has, (n,) each."""
        counts = [len(body.vertices) for body in self.bodies]
        found = {kind: of_particles(kind, self.maps, counts) for kind in MAPS}
        return {kind: factors for kind, factors in found.items() if factors is not None}

    def _set_masses(self, materials: Sequence[Material]) -> None:
        weighing = np.concatenate([body.masses(m) for body, m in zip(self.bodies, materials)])
        own = np.concatenate([np.full(len(body.vertices), body.own_masses is not None) for body in self.bodies])
        weighing *= np.where(own, 1.0, self._maps_of_particles().get("density", 1.0))
        self.masses = weighing + np.concatenate([body.air_masses(m) for body, m in zip(self.bodies, materials)])
        self.weighing = np.zeros(self.n)
        self.weighing[self.free] = weighing[self.free] / self.masses[self.free]
        self.w = np.zeros(self.n)
        self.w[self.free] = 1.0 / self.masses[self.free]
        count = len(self._body_of_island)
        hanging = np.bincount(self.islands[self.free], self.masses[self.free], count)
        firm = np.bincount(self.islands[self.held], minlength=count)
        anchored = self.held[hanging[self.islands[self.held]] > 0.0]
        own = self.islands[anchored]
        self.damping_masses = self.masses.copy()
        self.damping_masses[anchored] = PIN_SHARE * hanging[own] / firm[own]
        self.damping_island_masses = np.bincount(self.islands, self.damping_masses)

    def _build(self) -> list[Constraints]:
        soft = np.flatnonzero(self.pin_weights < 1.0)
        owner = np.repeat(np.arange(len(self.bodies)), [len(body.vertices) for body in self.bodies])
        soft_ids = self.pins[soft]
        self.attachment = AttachmentConstraints(soft_ids, self.pin_weights[soft], owner[soft_ids])
        self.soft_pins = soft
        self.grabs = GrabConstraints()
        self.tethers = self._build_tethers()
        self.levels = self._build_levels()
        self.stretch = self._build_stretch()
        self.volume = VolumeConstraints(self._closed_pieces(), self.n)
        self.shear = self._build_shear()
        self.skin = PressurizedSkin(self.volume, [self.stretch, self.shear], self.islands, self.pins)
        inflation = InflationConstraints(self.volume, self.stretch, self.skin)
        self.plane_constraints = [PlaneConstraints(plane, self.free, owner[self.free]) for plane in self.planes]
        self.contact = self._build_contact()
        springs = [*self._bends, self.levels, self.tethers, self.shear, self.stretch]
        return [self.attachment, self.grabs, inflation, *springs, self.volume, *self.plane_constraints, self.contact]

    def _build_contact(self) -> ContactConstraints:
        """Surfaces of all bodies and colliders; the particles of colliders come after those of bodies."""
        rest = np.concatenate([body.rest_vertices for body in self.bodies])
        surfaces = [
            Surface(body.mesh, body.rest_vertices, part.start) if len(body.mesh.triangles) else None
            for body, part in zip(self.bodies, self.slices)
        ]
        obstacles, at = [], self.n
        for collider in self.colliders:
            obstacles.append(Surface(collider.mesh, collider.vertices, at, exact=True))
            at += len(collider.vertices)
        return ContactConstraints(surfaces, obstacles, self.colliders, rest.T.copy(), self.plane_constraints)

    def _stacked(self, rows: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Vertex numbers of each body as particle numbers of the scene, and the body of each row."""
        shifted = [ids + part.start for ids, part in zip(rows, self.slices)]
        return np.concatenate(shifted), np.repeat(np.arange(len(rows)), [len(ids) for ids in rows])

    def _build_stretch(self) -> DistanceConstraints:
        edges, body = self._stacked([b.mesh.edges for b in self.bodies])
        lengths = np.concatenate([b.rest_lengths for b in self.bodies])
        area = np.concatenate([b.mesh.edge_areas for b in self.bodies])
        own = np.concatenate([b.edge_compliances for b in self.bodies])
        rest = np.concatenate([b.rest_vertices for b in self.bodies])
        # Van Gelder 1998: the same sheet is as stiff in a fine mesh as in a coarse one.
        geometry = np.where(area > 0.0, area / np.maximum(lengths, 1e-300), ROPE_WIDTH) / np.maximum(lengths, 1e-300)
        usable = lengths > 0.0
        return DistanceConstraints(
            "stretch", edges[usable], lengths[usable], geometry[usable], body[usable], self.w,
            ("stretch", "compression"), own[usable], rest,
        )  # fmt: skip

    def _build_shear(self) -> DistanceConstraints:
        diagonals, body = self._stacked([b.mesh.diagonals for b in self.bodies])
        area = np.concatenate([b.mesh.diagonal_areas for b in self.bodies])
        rest = np.concatenate([b.rest_vertices for b in self.bodies])
        lengths = np.linalg.norm(rest[diagonals[:, 0]] - rest[diagonals[:, 1]], axis=1)
        geometry = 2.0 * area / lengths**2
        return DistanceConstraints(
            "shear", diagonals, lengths, geometry, body, self.w, ("shear", "shear"), None, rest, self.sizes
        )

    def _build_bends(self) -> list[Constraints]:
        hinges, body = self._stacked([b.mesh.hinges for b in self.bodies])
        rest = np.concatenate([b.rest_vertices for b in self.bodies])
        angles, geometry, stencils = hinge_geometry(rest, hinges)
        model = np.array(self._bend_models)[body]
        sheets = [
            Sheet(
                part.start, b.rest_vertices, b.mesh.triangles, b.mesh.corner_areas,
                levels_of(b.rest_vertices, b.mesh.triangles, b.mesh.islands), m != "ISOMETRIC",
            )
            for b, part, m in zip(self.bodies, self.slices, self._bend_models)
        ]  # fmt: skip
        plates = PlateConstraints(sheets)
        isometric = (model == "ISOMETRIC") | ((model == "AUTO") & (np.abs(angles) < FLAT))
        angular = ~isometric
        return [
            plates,
            IsometricConstraints(hinges[isometric], stencils[:, isometric], body[isometric], self.w, plates),
            DihedralConstraints(hinges[angular], angles[angular], geometry[angular], body[angular], self.w, plates),
        ]

    def _build_tethers(self) -> TetherConstraints:
        rows = []
        for body in self.bodies:
            firm = body.pin_ids[body.pin_weights >= 1.0] if _is_usual(body) else np.zeros(0, int)
            nothing = (np.zeros(0, int), np.zeros(0, int), np.zeros(0))
            rows.append(tether_rows(body.mesh, body.rest_vertices, firm) if len(firm) else nothing)
        particles, body_of = self._stacked([row[0] for row in rows])
        anchors = self._stacked([row[1] for row in rows])[0]
        lengths = np.concatenate([row[2] for row in rows])
        return TetherConstraints(particles, anchors, lengths, body_of, self.sizes)

    def _build_levels(self) -> LevelConstraints:
        """Levels for triangle meshes whose chains are crooked; on grids, chains alone do better.

        None where pins are soft: a level moves whole neighborhoods, and a spring at one vertex cannot answer that. And
        none where there are quads, which may turn into diamonds: levels would hold the lengths of their diagonals.
        """
        crooked = [
            (number, part.start, body.mesh)
            for number, (body, part) in enumerate(zip(self.bodies, self.slices))
            if _is_usual(body)
            and (body.pin_weights >= 1.0).all()
            and not len(body.mesh.diagonals)
            and not runs_straight(body.mesh.edges, body.rest_vertices)
        ]
        rest = np.concatenate([body.rest_vertices for body in self.bodies])
        return LevelConstraints(crooked, rest, self._extents, self.w)

    def _closed_pieces(self) -> list[Piece]:
        pieces = []
        for number, (body, part) in enumerate(zip(self.bodies, self.slices)):
            mesh, rest = body.mesh, body.rest_vertices
            of_triangle = mesh.islands[mesh.triangles[:, 0]] if len(mesh.triangles) else np.zeros(0, int)
            for island in np.unique(of_triangle):
                triangles = mesh.triangles[of_triangle == island]
                caps = [rim for rim in mesh.boundary_loops if mesh.islands[rim[0]] == island]
                volume = enclosed_volume(rest, triangles, caps)
                area = mesh.corner_areas[mesh.islands == island].sum()
                if abs(volume) < EMPTY * area**1.5:
                    volume = 0.0
                pieces.append(Piece(number, triangles + part.start, [rim + part.start for rim in caps], volume))
        return pieces


def _is_usual(body: Body) -> bool:
    """Whether its stretch under its weight is known beforehand: without masses or compliances of its own."""
    return body.own_masses is None and bool(np.isnan(body.edge_compliances).all())


def _slices(counts: Sequence[int]) -> list[slice]:
    ends = np.cumsum(counts)
    return [slice(int(end - count), int(end)) for count, end in zip(counts, ends)]
