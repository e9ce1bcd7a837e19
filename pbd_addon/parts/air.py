"""Air: what wind and still air do to surfaces, and what a caller's fields do to everything.

A triangle of area A and normal n, past which the air flows at u, is pushed by

    F = rho / 2 A (C_n |u| (u . n) n + C_t |u| (u - (u . n) n))

C_n is what it takes to block the flow, C_t to slide along it. Lift needs no term of its own: it is the part of the
first one that is across the flow. Each vertex gets of it what its mass stands for of the area around it, a third
inside of a mesh: so a flat sheet is pushed evenly, its border and corners too.

One explicit step would throw a light sheet back beyond the air's own velocity, and have it rattle long before. With
s = rho / 2 C A |u| h / m, the share of the flow that a step takes of a triangle of mass m, no more is taken than

    s for s < 1/2,  1 - 1 / (4 s) beyond:

the largest force, exact as long as it can be, with which a step after the other never overshoots where something else
pulls too: d(share u)/du stays within 1. The mass of a triangle is that of its lightest corner, per area: so no vertex
is moved by more than the mean of what its triangles want.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..air.force_functions import ForcesOfFrame
from ..air.surroundings import Surroundings
from ..air.wind import MODES, Wind
from ..arrays.arguments import FARTHEST
from ..kernels import Kernels
from ..kernels.protocol.air import Sails
from ..kernels.protocol.frames import Wind as BlowingWind
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, Plan, Substep, remembers
from ..settings.fields import Checked, setting
from .sewing import waiting_bodies

if TYPE_CHECKING:
    from ..bodies.body import Body
    from ..bodies.material import Material

LARGEST_SMOOTH_SHARE = 0.25
"""Largest share s of its flow that air may take of a body in a substep of second order. A flag of cotton in
12 m/s, where it is 0.4, would move at 14.2 instead of 13.6 m/s; in a storm light sheets outran the wind by 7 %."""

GUSTS = 4
"""How often a frame asks for the gusts at each particle. At 12 m/s and 24 frames a second, the air is 12 cm farther."""


class AirSurface(NamedTuple):
    """The triangles that feel air.

    Attributes:
        triangles: Particles of each, (3, k) int for each body that has any.
        masses: Mass of each, as light as its lightest corner is, (t,) [kg].
        shares: Share of the force on its triangles that each particle gets, over its mass, (n,) [1/kg]; 0 for pins.
        normal, tangent: Half the density of the air times the coefficients across and along, of these bodies [kg/m³].
        parts: Where the triangles of these bodies are, by their numbers.
    """

    triangles: list[np.ndarray]
    masses: np.ndarray
    shares: np.ndarray
    normal: list[float]
    tangent: list[float]
    parts: Mapping[int, slice]


def build_surface(
    bodies: Sequence[Body],
    starts: Sequence[int],
    materials: Sequence[Material],
    inertia: np.ndarray,
    w: np.ndarray,
    density: float,
) -> AirSurface:
    """The surface of bodies whose particles begin at `starts`, in air of a density [kg/m³].

    inertia (n,) [kg] and w (n,) [1/kg] are those of all particles.
    """
    triangles: list[np.ndarray] = []
    normal: list[float] = []
    tangent: list[float] = []
    masses, shares = [np.zeros(0)], np.zeros(len(w))
    parts: dict[int, slice] = {}
    at = 0
    for number, (body, start, material) in enumerate(zip(bodies, starts, materials)):
        own, count = body.mesh.triangles.T, len(body.mesh.triangles)
        if not count or not density or not max(material.air_normal, material.air_tangent):
            continue
        corners = body.rest_vertices[own]
        areas = 0.5 * np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]), axis=1)
        around = np.bincount(own.ravel(), np.tile(areas, 3), len(body.vertices))
        part, owned = slice(start, start + len(body.vertices)), body.mesh.corner_areas
        per_area = inertia[part] / np.maximum(owned, 1e-300)
        masses.append(areas * per_area[own].min(axis=0))
        shares[part] = w[part] * np.where(around > 0.0, owned / np.maximum(around, 1e-300), 0.0)
        triangles.append(own + start if start else own)
        normal.append(0.5 * density * material.air_normal)
        tangent.append(0.5 * density * material.air_tangent)
        parts[number] = slice(at, at + count)
        at += count
    return AirSurface(triangles, np.concatenate(masses), shares, normal, tangent, parts)


class Memory(NamedTuple):
    """What a frame has to know of those before it.

    Attributes:
        time: Since the first frame [s].
        velocity: Of the wind at the end of the last frame, (3,) [m/s].
        turbulence: Of that wind.
        lags: How far each wave of the gusts has travelled, (MODES,) [rad].
    """

    time: float
    velocity: np.ndarray
    turbulence: float
    lags: np.ndarray

    @staticmethod
    def of(packed: np.ndarray) -> Memory:
        """From an array: the time alone where there was no wind, nothing at the first frame."""
        time = float(packed[0]) if len(packed) else 0.0
        if len(packed) < 5 + MODES:
            return Memory(time, np.zeros(3), 0.0, np.zeros(MODES))
        return Memory(time, packed[1:4], float(packed[4]), packed[5:])

    def pack(self) -> np.ndarray:
        """All of it in one array, (5 + MODES,) float64; without wind the time alone, (1,)."""
        if not self.velocity.any():
            return np.array([self.time])
        return np.concatenate([[self.time], self.velocity, [self.turbulence], self.lags])


@dataclasses.dataclass(frozen=True)
class Sail(Checked):
    """What moving air does to a surface."""

    air_normal: float = setting(
        0.0,
        "Air Across",
        "Drag coefficient of air that blows against the surface. Cloth 1.2, each side of a ball 0.31, 0 feels no wind",
        low=0.0,
        soft_high=2.0,
        panel="air on the surface",
    )
    air_tangent: float = setting(
        0.0,
        "Air Along",
        "Drag coefficient of air that slides along the surface. Cloth 0.03, film 0.02",
        low=0.0,
        soft_high=0.2,
        panel="air on the surface",
    )


class Air(Part):
    """The surfaces of a scene that feel air, and what a caller lets act on everything.

    It remembers time, wind and gusts, see `Memory`.

    Attributes:
        surface: What feels air.
        starts, counts: Where the particles of each body begin, and how many there are, (bodies,) int.
        rates: Share of its flow that air of 1 m/s takes of each body in a second, (bodies,) [1/m].
    """

    FIELDS = Sail
    name = "air"
    MEMORY = remembers(past=Kept(lambda model, x: np.zeros(0), fits=lambda array, first: _is_past(array)))

    def __init__(self, model: Model) -> None:
        starts, density = [part.start for part in model.slices], model.settings.air_density
        self.surface = build_surface(model.bodies, starts, model.materials, model.masses, model.w, density)
        self.starts = np.array(starts)
        self.counts = np.array([part.stop - part.start for part in model.slices])
        areas = [
            body.mesh.corner_areas.sum() if number in self.surface.parts else 0.0
            for number, body in enumerate(model.bodies)
        ]
        across = 0.5 * density * np.array([material.air_normal for material in model.materials])
        self.rates = across * areas / np.add.reduceat(model.masses, self.starts)

    @classmethod
    def build(cls, model: Model, before: Air | None) -> Air:
        return cls(model)  # other materials have other coefficients and masses

    def begin_frame(self, frame: Frame) -> AirInFrame:
        if frame.model.around.forces:
            return StirredAir(self, frame)
        return MovingAir(self, frame) if len(self.surface.masses) else AirInFrame(self, frame)

    def slowing_rate(self, model: Model, state: State) -> float:
        """The share of its flow that the air takes of the lightest body in a second, see above."""
        if not self.surface.parts:
            return 0.0
        wind = model.around.wind
        blowing = (1.0 + wind.turbulence) * float(np.linalg.norm(wind.velocity)) if wind else 0.0
        squares = np.add.reduceat(np.einsum("in,in->n", state.v, state.v), self.starts)
        return float((self.rates * np.maximum(np.sqrt(squares / self.counts), blowing)).max())

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return bool(model.around.forces) or self.slowing_rate(model, state) * duration >= LARGEST_SMOOTH_SHARE


def _is_past(array: np.ndarray) -> bool:
    """Whether an array can be a packed `Memory`."""
    return array.ndim == 1 and len(array) in (0, 1, 5 + MODES) and bool((np.abs(array) <= FARTHEST).all())


class AirInFrame(Acting):
    """The clock of a frame, and the wind, which goes on where nothing feels it."""

    def __init__(self, part: Air, frame: Frame) -> None:
        super().__init__(part, frame)
        around = frame.model.around
        if len(frame.model.seam_pairs):
            calm = waiting_bodies(frame.model, frame.state)
            still = {number: np.zeros(len(frame.model.bodies[number].mesh.triangles)) for number in calm}
            around = dataclasses.replace(around, shade={**around.shade, **still})
        self.air = AirOfFrame(part.surface, around, self.memory["past"], frame.dt)

    def compiled(self, plan: Plan) -> BlowingWind:
        return self.air.of_substeps(len(self.frame.model.w), np.array(plan.slowed), plan.late)

    def end_frame(self) -> None:
        self.memory["past"] = self.air.memory()


class MovingAir(AirInFrame):
    """Air that surfaces feel."""

    def push(self, substep: Substep) -> None:
        late = substep.stop + (substep.slowed - substep.duration) / self.frame.dt
        self.air.blow(
            self.frame.kernels, substep.x, substep.v, substep.middle, self.frame.model.w, substep.slowed, late
        )


class StirredAir(MovingAir):
    """What functions add, which no compiled frame can ask."""

    compiled = None  # type: ignore[assignment]


class AirOfFrame:
    """Air and fields in one frame of dt seconds.

    Args:
        surface: What feels air.
        around: What acts.
        memory: What the last frame left, see `Memory`.
        dt: Length of the frame [s].
    """

    def __init__(self, surface: AirSurface, around: Surroundings, memory: np.ndarray, dt: float) -> None:
        self.surface, self.around, self.dt = surface, around, dt
        self.before = Memory.of(memory)
        self.asked = ForcesOfFrame(around.forces)
        self.feels = bool(len(surface.masses))
        wind = around.wind
        self.end = np.array(wind.velocity) if wind else np.zeros(3)
        # Wind that is there from the first frame on does not begin with a lull.
        known = self.before.time > 0.0
        self.start = self.before.velocity if known else self.end
        self.turbulence = (self.before.turbulence if known else self._turbulence, self._turbulence)
        self.rates = wind.frequencies(0.5 * (self.start + self.end)) if wind else np.zeros(MODES)
        self._steady = np.array_equal(self.start, self.end) and self.turbulence[0] == self.turbulence[1]
        self._gusts: tuple[np.ndarray, np.ndarray] | None = None
        self._blowing: tuple[int, np.ndarray] | None = None
        nothing = np.zeros(0)
        self._sails = Sails(np.ones(1), np.zeros((3, 0), np.int64), nothing, nothing, nothing, nothing)
        if self.feels:
            counts = [part.stop - part.start for part in surface.parts.values()]
            triangles = np.ascontiguousarray(np.concatenate(surface.triangles, axis=1), np.int64)
            normal, tangent = np.repeat(surface.normal, counts), np.repeat(surface.tangent, counts)
            self._sails = Sails(self._shades(), triangles, surface.masses, normal, tangent, surface.shares)

    @property
    def _turbulence(self) -> float:
        return self.around.wind.turbulence if self.around.wind else 0.0

    def memory(self) -> np.ndarray:
        """What the next frame has to know."""
        before = self.before
        lags = np.remainder(before.lags + self.rates * self.dt, 2.0 * math.pi)
        return Memory(before.time + self.dt, self.end, self._turbulence, lags).pack()

    def blow(
        self,
        kernels: Kernels,
        x: np.ndarray,
        v: np.ndarray,
        moving: np.ndarray,
        w: np.ndarray,
        h: float,
        fraction: float,
    ) -> None:
        """Let wind, still air and fields act on velocities v (3, n), in place, in the h seconds up to `fraction`.

        moving: velocities that these meet, (3, n).

        Raises:
            ValueError: A function fails, or returns what it must not.
        """
        begin = fraction - h / self.dt
        acceleration, stirred = self.asked.ask(x, moving, self.before.time + begin * self.dt)
        if self.feels:
            air = self._air(kernels, x, begin, fraction)
            if stirred is not None:
                air = np.ascontiguousarray(air + stirred)
            kernels.push_by_air(v, moving, x, air, self._sails, h)
        if acceleration is not None:
            v += np.where(w > 0.0, h, 0.0) * acceleration

    def of_substeps(self, particles: int, lengths: np.ndarray, ends: np.ndarray) -> BlowingWind:
        """What `blow` does in substeps of these lengths [s], up to these fractions of the frame, (s,) each.

        What is found of gusts is taken over when it is written there.
        """
        wind = self.around.wind
        periods = ((ends - lengths / self.dt) * GUSTS + 1e-9).astype(np.int64)
        mean = self.start + ends[:, None] * (self.end - self.start)
        intensity = self.turbulence[0] + ends * (self.turbulence[1] - self.turbulence[0])
        strength = intensity * [float(np.linalg.norm(each)) for each in mean] if wind else np.zeros(len(ends))
        vectors = amplitudes = phases = np.zeros((3, 0))
        if strength.any() and wind:
            vectors, amplitudes = wind.waves.vectors, wind.waves.amplitudes
            phases = np.array([self._phases(wind, quarter) for quarter in range(GUSTS + 1)])
            if self._gusts is None:
                self._gusts = np.array([-1]), np.empty((3, particles))
        known, gusts = self._gusts or (np.array([-1]), np.zeros((3, 0)))
        places = mean.reshape(-1, 3, 1)
        return BlowingWind(places, strength, periods, vectors, amplitudes, phases, known, gusts, self._sails)

    def _phases(self, wind: Wind, quarter: int) -> np.ndarray:
        """Of each wave in a quarter of the frame: halfway to the next time they are asked for [rad]."""
        return np.asarray(wind.waves.phases - self.before.lags - self.rates * self.dt * (quarter + 0.5) / GUSTS)

    def _air(self, kernels: Kernels, x: np.ndarray, begin: float, fraction: float) -> np.ndarray:
        """Velocity of the air at each particle, (3, n), or everywhere, (3, 1) [m/s]."""
        quarter = int(begin * GUSTS + 1e-9)
        if self._steady and self._blowing is not None and self._blowing[0] == quarter:
            return self._blowing[1]
        mean = self.start + fraction * (self.end - self.start)
        air = mean.reshape(3, 1)
        intensity = self.turbulence[0] + fraction * (self.turbulence[1] - self.turbulence[0])
        strength = intensity * float(np.linalg.norm(mean))
        if strength and self.around.wind:
            air = air + strength * self._gusts_at(kernels, x, quarter)
        self._blowing = quarter, air
        return air

    def _gusts_at(self, kernels: Kernels, x: np.ndarray, quarter: int) -> np.ndarray:
        """Gusts at each particle for a strength of 1, (3, n), anew for each quarter of the frame."""
        if self._gusts is None or self._gusts[0][0] != quarter:
            wind = self.around.wind
            assert wind is not None
            waves = wind.waves
            found = kernels.gusts(x, waves.vectors, waves.amplitudes, self._phases(wind, quarter))
            self._gusts = np.array([quarter]), found
        return self._gusts[1]

    def _shades(self) -> np.ndarray:
        """Share of the wind that reaches each triangle, (t,), or (1,) where nothing is sheltered."""
        if not any(number in self.surface.parts for number in self.around.shade):
            return np.ones(1)
        shade = np.ones(len(self.surface.masses))
        for number, part in self.surface.parts.items():
            if number in self.around.shade:
                shade[part] = self.around.shade[number]
        return shade
