"""Floors and walls: half-spaces that particles cannot enter, with friction.

C = (p − q) · n − thickness >= 0        q: a point of the plane; n: its normal
∇C = n
α = 0
from: Müller et al. 2007, sec. 3.4; friction: Macklin et al. 2014, eq. 24
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import arguments
from ..kernels import Kernels
from ..meshes.factors import TAKES_PART, of_rows
from ..settings.scale import calm_speed, distance_at
from ..settings.solver_settings import SolverSettings
from .base import Constraints
from .rigid import RigidConstraints
from .rigid_contacts import NO_PLANES, RIGID_PASSES, ContactPasses

if TYPE_CHECKING:
    from ..bodies.material import Material

PUSH_SPEED = 1.0
"""Largest speed at which overlaps are resolved [m/s]; less for small bodies, see `scale.calm_speed`."""

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
    """One plane and every free particle.

    Args:
        plane: The plane.
        particles: All free particles, (m,) int.
        body: Body index of each particle, (m,) int.
        rigid: Which of them are rigid: they come last.
        sizes: Usual edge and extent of each body, (bodies, 2) [m].
    """

    name = "plane"

    def __init__(
        self, plane: Plane, particles: np.ndarray, body: np.ndarray, rigid: RigidConstraints, sizes: np.ndarray
    ) -> None:
        self.plane, self.particles, self.body, self.rigid, self.sizes = plane, particles, body, rigid, sizes
        self.soft = slice(None)
        if rigid.active:
            order = np.argsort(rigid.number[particles] >= 0, kind="stable")
            self.particles, self.body = particles[order], body[order]
            self.soft = slice(np.count_nonzero(rigid.number[particles] < 0))
        self.lay_path((plane.point, plane.normal), (plane.point, plane.normal))
        self.multipliers = np.zeros(len(particles))
        self.factors: np.ndarray | float = 1.0
        self.passed = np.zeros(0, int)

    def lay_path(
        self, start: tuple[np.ndarray, np.ndarray], end: tuple[np.ndarray, np.ndarray], dt: float = 1.0
    ) -> None:
        """Set the plane, (point, unit normal), at the beginning and at the end of a frame of dt [s]."""
        self.path = (start, end)
        self.stands = all(map(np.array_equal, start, end))
        self.point, self.normal = start
        self.velocity = (end[0] - start[0]) / dt
        self.motion = np.zeros(3)

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self.factors = of_rows(maps.get("friction"), self.particles[None])
        takes_part = of_rows(maps.get("collision"), self.particles[None])
        self.passed = np.flatnonzero(np.broadcast_to(takes_part, len(self.particles)) < TAKES_PART)

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.use_weights(w)
        own = [
            m.thickness if m.rigid else distance_at(m.thickness, edge) for m, (edge, _) in zip(materials, self.sizes)
        ]
        self.thickness = self.plane.thickness + np.array(own)[self.body]
        self.push_speed = PUSH_SPEED * np.array([calm_speed(extent) for _, extent in self.sizes])[self.body]
        self.thickness[self.passed] = -arguments.FARTHEST
        own = np.array([m.friction for m in materials])[self.body] * self.factors
        self.friction = 0.5 * (self.plane.friction + own)
        self.active = len(self.particles) > 0
        self.h = 0.0

    def use_weights(self, w: np.ndarray) -> None:
        """Set the inverse masses for forces, (n,) [1/kg]; positions do not depend on them."""
        self.weights = w

    def begin_substep(self, h: float, fraction: float) -> None:
        super().begin_substep(h, fraction)
        if self.stands:
            return
        (start, from_normal), (end, to_normal) = self.path
        self.point = start + fraction * (end - start)
        self.motion = h * self.velocity
        normal = from_normal + fraction * (to_normal - from_normal)
        self.normal = normal / np.linalg.norm(normal)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        near = np.flatnonzero((self._heights(p) < self.thickness) | (self.multipliers > 0.0))
        if not len(near):
            return
        wanted = np.minimum(self.thickness[near], self._before(x, near) + self.push_speed[near] * self.h)  # [m]
        count = self._soft_ones(near)
        soft = near[:count]
        multipliers, particles = self.multipliers[soft], self.particles[soft]
        kernels.project_plane(
            p, particles, self.weights[particles], wanted[:count], self.point, self.normal, multipliers
        )
        self.multipliers[soft] = multipliers
        if count < len(near):
            self._push_rigid(kernels, p, near[count:], wanted[count:] + self.normal @ self.point)

    def floor(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As `floors`, of this plane."""
        heights, pushes = np.full(x.shape[1], -np.inf), np.zeros(x.shape[1])
        before = self._heights(x) + self.normal @ self.motion
        wanted = np.minimum(self.thickness, before + self.push_speed * self.h)
        heights[self.particles] = wanted + self.normal @ self.point
        pushes[self.particles] = self.multipliers * self.weights[self.particles]
        return heights, pushes

    def take_pushes(self, pushes: np.ndarray) -> None:
        """Go on with by how far the plane has pushed each particle, (N,) [m]."""
        self.multipliers[:] = pushes[self.particles] / self.weights[self.particles]

    def _heights(self, p: np.ndarray) -> np.ndarray:
        """Distance of all particles from the plane at p (3, n), (m,) [m]."""
        every = len(self.particles) == p.shape[1] and not self.rigid.active
        return np.asarray(self.normal @ (p if every else p.take(self.particles, axis=1)) - self.normal @ self.point)

    def _soft_ones(self, which: np.ndarray) -> int:
        """How many of the particles `which` (k,), which ascend, are not rigid."""
        return len(which) if self.soft.stop is None else int(np.searchsorted(which, self.soft.stop))

    def _push_rigid(self, kernels: Kernels, p: np.ndarray, rigid: np.ndarray, target: np.ndarray) -> None:
        """Push rigid pieces, in p (3, n), in place, until their particles `rigid` (k,) are above `target` (k,) [m]."""
        depth = target - self.normal @ p.take(self.particles[rigid], axis=1)
        chosen = (depth > 0.0) | (self.multipliers[rigid] > 0.0)
        near, target = rigid[chosen], target[chosen]
        enough, passes, multipliers = RIGID_ERROR * depth.max(initial=0.0), None, self.multipliers[near]
        for _ in range(RIGID_PASSES if enough > 0.0 else 0):
            passes = passes or self._passes(p, near)
            passes.project(kernels, p, target, 1.0, multipliers)
            passes.place(p)
            if (target - self.normal @ p.take(self.particles[near], axis=1)).max() <= enough:
                break
        self.multipliers[near] = multipliers

    def _slow_rigid(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, hit: np.ndarray) -> None:
        """Friction of rigid particles `hit` (k,) that go from x to p (3, n), in place."""
        friction, multipliers = self.friction[hit], self.multipliers[hit]
        self._passes(p, hit).apply_friction(kernels, p, x, friction, friction, multipliers, RIGID_PASSES)

    def _passes(self, p: np.ndarray, which: np.ndarray) -> ContactPasses:
        """Passes over the particles `which` (k,) as contacts."""
        weights = np.zeros((4, len(which)))
        weights[0] = 1.0
        normals = np.repeat(self.normal[:, None], len(which), axis=1)
        particles = np.tile(self.particles[which], (4, 1))
        return ContactPasses(self.rigid, p, particles, weights, normals, np.zeros((4, len(which))))

    def _before(self, x: np.ndarray, which: np.ndarray) -> np.ndarray:
        """Distance of the particles `which` (k,) from the plane before the substep, (k,) [m]."""
        return np.asarray(self.normal @ (x.take(self.particles[which], axis=1) - (self.point - self.motion)[:, None]))

    def end_substep(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        hit = np.flatnonzero(self.multipliers > 0.0)
        if not len(hit):
            return
        count = self._soft_ones(hit)
        soft = hit[:count]
        particles = self.particles[soft]
        kernels.apply_plane_friction(
            p, x, particles, self.weights[particles], self.friction[soft], self.normal, self.motion,
            self.multipliers[soft],
        )  # fmt: skip
        if count < len(hit):
            self._slow_rigid(kernels, p, x + self.motion[:, None], hit[count:])
        before, thickness = self._before(x, hit), self.thickness[hit]
        is_open = before < thickness
        if is_open.any():
            ids, before, thickness = self.particles[hit[is_open]], before[is_open], thickness[is_open]
            rise = self.normal @ (p.take(ids, axis=1) - self.point[:, None]) - before
            rise = np.clip(rise, 0.0, thickness - before)
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


def floors(planes: Sequence[PlaneConstraints], x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Planes as `kernels.project_contacts` takes them in a substep from x (3, N); `take_pushes` follows.

    Returns:
        Normals (planes, 3), how high along these each particle must be, (planes, N) [m], and by how far the planes have
        pushed it so far, (planes, N) [m].
    """
    if not planes:
        return NO_PLANES
    heights, pushes = zip(*(plane.floor(x) for plane in planes))
    return np.stack([plane.normal for plane in planes]), np.stack(heights), np.stack(pushes)
