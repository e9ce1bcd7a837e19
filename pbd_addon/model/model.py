"""The scene as arrays: `Model` never changes, `State` is everything that does. `build` makes the model.

All bodies of a scene form one set of n particles, body by body. Arrays of vectors are component-major, (3, n); see
`kernels`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from ..air.surroundings import Surroundings
from ..constraints import (
    Constraints,
    DihedralConstraints,
    DistanceConstraints,
    Folds,
    IsometricConstraints,
    Plane,
    PlaneConstraints,
    PlateConstraints,
    RigidConstraints,
    VolumeConstraints,
    WeldConstraints,
)
from ..contact import Collider, ContactConstraints
from ..settings.solver_settings import SolverSettings
from .layout import Layout
from .part import Part

if TYPE_CHECKING:
    from ..bodies.body import Body
    from ..bodies.material import Material

K = TypeVar("K")
P = TypeVar("P")

Place = tuple[np.ndarray, np.ndarray]

REASONS = ("settings", "motion", "stretch", "shear", "bend", "volume", "pressure", "colliders", "rigid")
"""What determines the number of substeps of a frame."""


class Pace(NamedTuple):
    """The substeps of a frame.

    Attributes:
        substeps: Their number; 0 before the first frame.
        wanted: The number that would have given an acceptable error.
        cause: What asked for the most of them, an index into `REASONS`.
    """

    substeps: float = 0.0
    wanted: float = 0.0
    cause: float = 0.0


@dataclasses.dataclass
class State:
    """Everything that changes in a step.

    Attributes:
        x: Positions, (3, n) float64 [m].
        v: Velocities, (3, n) float64 [m/s].
        memory: What each part remembers, by its name and that of the array, see `Part.MEMORY`.
    """

    x: np.ndarray
    v: np.ndarray
    memory: dict[str, dict[str, Any]]

    def copy(self) -> State:
        """A copy that can change without changing this one; memory is replaced, so they share it until then."""
        return State(self.x.copy(), self.v.copy(), {part: dict(own) for part, own in self.memory.items()})


@dataclasses.dataclass
class Targets:
    """Positions of pins, planes and colliders, and rest shapes, at the end of a frame.

    Attributes:
        pins: (3, k) [m].
        planes: (point, unit normal) of each plane.
        colliders: Vertices of each collider, (3, m) [m] each.
        rest: Rest shape of the bodies with `dynamic_mesh`, one after another, (3, d) [m].
        rails: Vertices of the rail of each body that has one, (3, m) [m] each.
    """

    pins: np.ndarray
    planes: list[Place]
    colliders: list[np.ndarray]
    rest: np.ndarray
    rails: list[np.ndarray]

    @staticmethod
    def of(state: State) -> Targets:
        """The targets at which everything stays as in a state."""
        here, nothing = state.memory["obstacles"], np.zeros((3, 0))
        rest = state.memory["rest"]["shape"] if "rest" in state.memory else nothing
        rails = state.memory["slides"]["rails"] if "slides" in state.memory else []
        planes = [(point, normal) for point, normal in here["planes"]]
        return Targets(state.memory["pins"]["targets"].copy(), planes, list(here["colliders"]), rest, list(rails))


@dataclasses.dataclass(frozen=True, eq=False)
class Model(Layout):
    """Particles, constraints and parts of a scene; another material, collider or grab makes another one, see `build`.

    It is built, then only read. Kinds of constraints are tables with scratch beside their rows: multipliers,
    compliances for the length of a substep, lengths at rest of the moment. What is remembered is in the state.

    Attributes:
        planes: Floors and walls.
        colliders: Surfaces.
        materials: Of each body.
        maps: Of each body, factors (n,) float64 by the names in `parts.MAPS`.
        settings: The settings that the compliances are for.
        sizes: `extents` times the factor by which maps raise a body's strain under its own weight, (bodies,) [m].
        masses: Inertia of every particle, (n,) [kg].
        w: Inverse masses, (n,) [1/kg]; 0 where firmly pinned or isolated.
        gravity_fraction: Fraction of each particle's inertia that has weight, (n,); the rest is air. 0 for particles
            that cannot move.
        damping_masses: Mass of each particle in the rigid motion that damping keeps, (n,) [kg]: its inertia or, if
            firmly pinned, its part of `inertia.PIN_SHARE` times the inertia of all free particles of its island.
        damping_island_masses: Their sum over each island, (islands,) [kg].
        bends, folds: The models of bending, and all hinges, whichever of them holds them.
        shear, stretch, welds, volume, rigid, plane_constraints, contact: The kinds that others ask for.
        parts: What else the scene has, in the order of `parts.PARTS`; acting: those that do anything.
        around: What acts from outside.
        further: Kinds that were added.
        kinds: All kinds of constraints, in the order of projection.
        constraints: The kinds that do something, in the order of projection, contact last.
        sequence: The same as often as an iteration solves them, see `build.SOFT_ROUNDS`.
        outer: Those of them that may push bodies or have friction.
        scratch: What `fused` has written down of the calls of substeps. It is no part of what the model says.
    """

    planes: tuple[Plane, ...]
    colliders: tuple[Collider, ...]
    materials: tuple[Material, ...]
    maps: tuple[Mapping[str, np.ndarray], ...]
    settings: SolverSettings

    sizes: np.ndarray
    masses: np.ndarray
    w: np.ndarray
    gravity_fraction: np.ndarray
    damping_masses: np.ndarray
    damping_island_masses: np.ndarray

    bends: tuple[PlateConstraints, IsometricConstraints, DihedralConstraints]
    folds: Folds
    shear: DistanceConstraints
    stretch: DistanceConstraints
    welds: WeldConstraints
    volume: VolumeConstraints
    rigid: RigidConstraints
    plane_constraints: tuple[PlaneConstraints, ...]
    contact: ContactConstraints
    parts: tuple[Part, ...] = ()
    acting: tuple[Part, ...] = ()
    further: tuple[Constraints, ...] = ()
    around: Surroundings = dataclasses.field(default_factory=Surroundings)
    kinds: tuple[Constraints, ...] = ()
    constraints: tuple[Constraints, ...] = ()
    sequence: tuple[Constraints, ...] = ()
    outer: tuple[Constraints, ...] = ()
    scratch: dict[str, Any] = dataclasses.field(default_factory=dict)

    def part(self, kind: type[P]) -> P | None:
        """The part of that class, if the scene has it."""
        return next((part for part in self.parts if isinstance(part, kind)), None)

    def kind(self, kind: type[K]) -> K | None:
        """The constraints of that class, if there are any of them."""
        return next((constraints for constraints in self.kinds if isinstance(constraints, kind)), None)

    @property
    def springs(self) -> tuple[DistanceConstraints, ...]:
        """Shear and stretch, as far as they are active; none where nothing resists stretching."""
        return tuple(kind for kind in (self.shear, self.stretch) if kind.active) if self.stretch.active else ()

    @property
    def can_tear(self) -> bool:
        """Whether cloth is split and has a strength."""
        return len(self.sewn.joined) > 0 and any(material.tear_strength > 0.0 for material in self.materials)

    @property
    def meets_alone(self) -> bool:
        """Whether pieces cannot meet each other, only colliders."""
        return len(self.body_of_island) == 1 or not self.contact.active

    def initial_velocities(self, x: np.ndarray) -> np.ndarray:
        """`Body.initial_velocities` at positions x (3, n), 0 where pins hold or nothing moves, (3, n) [m/s]."""
        v = np.concatenate([body.initial_velocities(x[:, part].T) for body, part in zip(self.bodies, self.slices)]).T
        v[:, np.concatenate([body.origin.isolated for body in self.bodies])] = 0.0
        v[:, self.pinned] = 0.0
        return v.copy()

    def initial_state(self) -> State:
        """The bodies at their initial positions and velocities."""
        x = np.concatenate([body.vertices for body in self.bodies]).T.copy()
        memory = {
            part.name: {name: kept.first(self, x) for name, kept in part.MEMORY.items()}
            for part in self.parts
            if part.MEMORY
        }
        return State(x, self.initial_velocities(x), memory)

    def pushed(self) -> np.ndarray:
        """Which bodies were pushed by volume, planes or contact after stretch in the last substep, (bodies,) bool."""
        found = np.zeros(len(self.bodies), bool)
        pushing = [ids for constraints in self.outer if len(ids := constraints.pushing())]
        if pushing:
            stops = [part.stop for part in self.slices]
            found[np.searchsorted(stops, np.concatenate(pushing), side="right")] = True
        return found

    def owner(self, particle: int) -> tuple[Body, int]:
        """The body of a particle, as given, and its vertex there."""
        number = next(k for k, part in enumerate(self.slices) if particle < part.stop)
        return self.bodies[number].origin, particle - self.slices[number].start
