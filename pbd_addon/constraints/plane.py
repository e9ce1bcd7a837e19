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
from ..kernels.protocol.frames import Call
from ..kernels.protocol.planes import Floor
from ..meshes.factors import TAKES_PART, of_rows
from ..settings.scale import calm_speed, distance_at
from ..settings.solver_settings import SolverSettings
from .base import Constraints, make
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
        self.soft = slice(0, len(particles))
        if rigid.active:
            order = np.argsort(rigid.number[particles] >= 0, kind="stable")
            self.particles, self.body = particles[order], body[order]
            self.soft = slice(0, int(np.count_nonzero(rigid.number[particles] < 0)))
        self.place = np.zeros(3), np.zeros(3), np.zeros(3)
        self.lay_path((plane.point, plane.normal), (plane.point, plane.normal))
        self.multipliers, self.push = np.zeros(len(particles)), np.zeros(len(particles))
        self.factors: np.ndarray | float = 1.0
        self.passed = np.zeros(0, int)

    def lay_path(
        self, start: tuple[np.ndarray, np.ndarray], end: tuple[np.ndarray, np.ndarray], dt: float = 1.0
    ) -> None:
        """Set the plane, (point, unit normal), at the beginning and at the end of a frame of dt [s]."""
        self.path = (start, end)
        self.stands = all(map(np.array_equal, start, end))
        self._put(*start, np.zeros(3))
        self.velocity = (end[0] - start[0]) / dt

    def _put(self, *place: np.ndarray) -> None:
        """Set the plane's point [m], its normal, and how far it moved in a substep [m], (3,) each."""
        for one, other in zip(self.place, place):
            one[:] = other

    @property
    def point(self) -> np.ndarray:
        return self.place[0]

    @property
    def normal(self) -> np.ndarray:
        return self.place[1]

    @property
    def motion(self) -> np.ndarray:
        return self.place[2]

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
        if h != self.h:
            np.multiply(self.push_speed, h, out=self.push)
        super().begin_substep(h, fraction)
        if self.stands:
            return
        (start, from_normal), (end, to_normal) = self.path
        normal = from_normal + fraction * (to_normal - from_normal)
        self._put(start + fraction * (end - start), normal / np.linalg.norm(normal), h * self.velocity)

    @property
    def _floor(self) -> Floor:
        """The plane and what is not rigid."""
        if not self.rigid.active:
            of_rows = self.thickness, self.push, self.friction, self.multipliers
            return Floor(self.particles, self.weights, *of_rows, *self.place)
        soft = self.soft
        of_rows = self.thickness[soft], self.push[soft], self.friction[soft], self.multipliers[soft]
        return Floor(self.particles[soft], self.weights, *of_rows, *self.place)

    def begin_calls(self) -> list[Call]:
        return [Call("clear", 0, (self.multipliers,))]

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        return [Call("project_floor", 2, (self._floor,))]

    def end_calls(self) -> list[Call]:
        """What `end_substep` calls, where nothing is rigid."""
        return [Call("rub_floor", 2, (self._floor,))]

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        super().project(kernels, p, np.ascontiguousarray(x))  # in rounds of contact it is a part of what all have
        if not self.rigid.active:
            return
        rigid = self._of_rigid((self._heights(p) < self.thickness) | (self.multipliers > 0.0))
        if len(rigid):
            wanted = np.minimum(self.thickness[rigid], self._before(x, rigid) + self.push[rigid])  # [m]
            self._push_rigid(kernels, p, rigid, wanted + self.normal @ self.point)

    def _of_rigid(self, which: np.ndarray) -> np.ndarray:
        """Which of the rows that are so (m,) bool are of rigid particles, (k,) int."""
        return np.flatnonzero(which[self.soft.stop :]) + self.soft.stop

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
        return np.asarray(self.normal @ p.take(self.particles, axis=1) - self.normal @ self.point)

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
        make(kernels, self.end_calls(), p, x)
        hit = self._of_rigid(self.multipliers > 0.0) if self.rigid.active else self.particles[:0]
        if not len(hit):
            return
        self._slow_rigid(kernels, p, x + self.motion[:, None], hit)
        before, thickness = self._before(x, hit), self.thickness[hit]
        is_open = before < thickness
        if is_open.any():
            ids, before, thickness = self.particles[hit[is_open]], before[is_open], thickness[is_open]
            rise = self.normal @ (p.take(ids, axis=1) - self.point[:, None]) - before
            rise = np.clip(rise, 0.0, thickness - before)
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
