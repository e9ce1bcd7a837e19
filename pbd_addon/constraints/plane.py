"""Floors and walls: half-spaces that particles cannot enter, with friction (seed report on XPBD, sec. 2.2.5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .. import arguments
from ..kernels import Kernels
from ..maps import TAKES_PART, of_rows
from ..settings import Material, SolverSettings
from .base import Constraints
from .rigid import RigidConstraints
from .rigid_contacts import RIGID_PASSES, ContactPasses

PUSH_SPEED = 1.0
"""Largest speed at which overlaps are resolved [m/s]."""

RIGID_ERROR = 0.1
"""Share of the deepest overlap of a rigid piece that may be left to the next substep."""


class Plane:
    """A collider that fills the half-space behind a plane.

    Args:
        point: A point of the plane, (3,) [m].
        normal: Direction to the free side, (3,), of any length but 0.
        thickness: Distance in addition to the material's own [m].
        friction: Coulomb coefficient; a contact uses the mean of the plane's and the material's.

    Raises:
        ValueError: The normal is zero or a number is out of range.
    """

    def __init__(
        self,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        normal: Sequence[float] = (0.0, 0.0, 1.0),
        thickness: float = 0.0,
        friction: float = 0.4,
    ) -> None:
        self.point, self.normal = checked_place(point, normal)
        self.thickness = arguments.number("Plane.thickness", thickness, low=0.0, unit="m")
        self.friction = arguments.number("Plane.friction", friction, low=0.0)


def checked_place(point: Sequence[float], normal: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """A point (3,) [m] and a unit normal (3,), from sequences of three numbers.

    Raises:
        ValueError: They are not three finite numbers each, or the normal is zero.
    """
    place, direction = arguments.vector("Plane.point", point), arguments.vector("Plane.normal", normal)
    if not direction.any():
        arguments.refuse("Plane.normal", "three numbers that are not all 0", normal)
    direction /= np.abs(direction).max()  # so that squares do not underflow
    return place, direction / np.linalg.norm(direction)


class PlaneConstraints(Constraints):
    """C = (p - point) . normal - thickness >= 0 for every free particle, with Coulomb friction.

    Args:
        plane: The plane.
        particles: All free particles, (m,) int.
        body: Body index of each particle, (m,) int.
        rigid: Which of them are rigid: they come last.
    """

    name = "plane"

    def __init__(self, plane: Plane, particles: np.ndarray, body: np.ndarray, rigid: RigidConstraints) -> None:
        self.plane, self.particles, self.body, self.rigid = plane, particles, body, rigid
        self.soft = slice(None)
        if rigid.active:
            order = np.argsort(rigid.number[particles] >= 0, kind="stable")
            self.particles, self.body = particles[order], body[order]
            self.soft = slice(np.count_nonzero(rigid.number[particles] < 0))
        self.lay_path((plane.point, plane.normal), (plane.point, plane.normal))
        self.multipliers = np.zeros(len(particles))
        self.factors: np.ndarray | float = 1.0
        self.passed = np.zeros(0, int)
        self.h = 0.0

    def lay_path(
        self, start: tuple[np.ndarray, np.ndarray], end: tuple[np.ndarray, np.ndarray], dt: float = 1.0
    ) -> None:
        """Set the plane, (point, unit normal), at the beginning and at the end of a frame of dt [s]."""
        self.path = (start, end)
        self.point, self.normal = start
        self.velocity = (end[0] - start[0]) / dt
        self.motion = np.zeros(3)

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self.factors = of_rows(maps.get("friction"), self.particles[None])
        takes_part = of_rows(maps.get("collision"), self.particles[None])
        self.passed = np.flatnonzero(np.broadcast_to(takes_part, len(self.particles)) < TAKES_PART)

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.use_weights(w)
        self.thickness = self.plane.thickness + np.array([m.thickness for m in materials])[self.body]
        self.thickness[self.passed] = -arguments.FARTHEST
        own = np.array([m.friction for m in materials])[self.body] * self.factors
        self.friction = 0.5 * (self.plane.friction + own)
        self.active = len(self.particles) > 0
        self.h = 0.0

    def use_weights(self, w: np.ndarray) -> None:
        """Set the inverse masses for forces, (n,) [1/kg]; positions do not depend on them."""
        self.weights = w[self.particles]

    def begin_substep(self, h: float, fraction: float) -> None:
        self.multipliers[:] = 0.0
        self.h = h
        (start, from_normal), (end, to_normal) = self.path
        self.point = start + fraction * (end - start)
        self.motion = h * self.velocity
        normal = from_normal + fraction * (to_normal - from_normal)
        self.normal = normal / np.linalg.norm(normal)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        soft, wanted = self.soft, self._wanted(x)
        kernels.project_plane(
            p, self.particles[soft], self.weights[soft], wanted[soft], self.point, self.normal, self.multipliers[soft]
        )
        if self.rigid.active:
            self._push_rigid(kernels, p, wanted + self.normal @ self.point)

    def _push_rigid(self, kernels: Kernels, p: np.ndarray, target: np.ndarray) -> None:
        """Push rigid pieces, in p (3, n), in place, until their particles have heights above `target` (m,) [m]."""
        rigid = np.arange(len(self.particles))[self.soft.stop :]
        depth = target[rigid] - self.normal @ p.take(self.particles[rigid], axis=1)
        near = rigid[(depth > 0.0) | (self.multipliers[rigid] > 0.0)]
        enough, passes, multipliers = RIGID_ERROR * depth.max(initial=0.0), None, self.multipliers[near]
        for _ in range(RIGID_PASSES if enough > 0.0 else 0):
            passes = passes or self._passes(p, near)
            passes.project(kernels, p, target[near], 1.0, multipliers)
            passes.place(p)
            if (target[near] - self.normal @ p.take(self.particles[near], axis=1)).max() <= enough:
                break
        self.multipliers[near] = multipliers

    def _slow_rigid(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, hit: np.ndarray) -> None:
        """Friction of rigid particles `hit` (k,) that go from x to p (3, n), in place."""
        if len(hit):
            friction, multipliers = self.friction[hit], self.multipliers[hit]
            self._passes(p, hit).apply_friction(kernels, p, x, friction, friction, multipliers, RIGID_PASSES)

    def _passes(self, p: np.ndarray, which: np.ndarray) -> ContactPasses:
        """Passes over the particles `which` (k,) as contacts."""
        weights = np.zeros((4, len(which)))
        weights[0] = 1.0
        normals = np.repeat(self.normal[:, None], len(which), axis=1)
        particles = np.tile(self.particles[which], (4, 1))
        return ContactPasses(self.rigid, p, particles, weights, normals, np.zeros((4, len(which))))

    def _wanted(self, x: np.ndarray) -> np.ndarray:
        """Distance to reach in this substep, (m,) [m]: overlaps are resolved at `PUSH_SPEED`."""
        return np.minimum(self.thickness, self._before(x) + PUSH_SPEED * self.h)

    def _before(self, x: np.ndarray) -> np.ndarray:
        """Distance from the plane before the substep, (m,) [m]."""
        return np.asarray(self.normal @ (x.take(self.particles, axis=1) - (self.point - self.motion)[:, None]))

    def apply_friction(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        soft = self.soft
        kernels.apply_plane_friction(
            p, x, self.particles[soft], self.weights[soft], self.friction[soft], self.normal, self.motion,
            self.multipliers[soft],
        )  # fmt: skip
        if self.rigid.active:
            hit = np.flatnonzero(self.multipliers > 0.0)
            hit = hit[hit >= self.soft.stop]
            self._slow_rigid(kernels, p, x + self.motion[:, None], hit)
        before = self._before(x)
        opened = np.flatnonzero((self.multipliers > 0.0) & (before < self.thickness))
        if len(opened):
            ids = self.particles[opened]
            rise = self.normal @ (p.take(ids, axis=1) - self.point[:, None]) - before[opened]
            rise = np.clip(rise, 0.0, (self.thickness - before)[opened])
            if self.rigid.active:
                ids, rise = self.rigid.with_whole_pieces(ids, rise)
            x[:, ids] += np.outer(self.normal, rise)

    def pushing(self) -> np.ndarray:
        return self.touching()

    def touching(self) -> np.ndarray:
        """Particles that touched the plane in the last substep, (k,) int."""
        return self.particles[self.multipliers > 0.0]

    def values(self, x: np.ndarray) -> np.ndarray:
        return (x[self.particles] - self.point) @ self.normal - self.thickness

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.particles[:, None], np.tile(self.normal, (len(self.particles), 1, 1))

    def forces(self) -> np.ndarray:
        return self.multipliers / self.h**2 if self.h else np.zeros_like(self.multipliers)
