"""Contact of surfaces: with colliders, with other cloth, and of cloth with itself, as one kind of constraint."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np

from ..constraints import Constraints
from ..settings import Material, SolverSettings
from .collider import Collider
from .friction import read_coefficients
from .promise import Promise
from .recovery import Recovery
from .rows import Rows, joined, no_rows
from .search import SMOOTH_SHARE, Pair
from .separation import frames, keep_separate
from .surface import Surface

RELAXATIONS = (1.3, 1.0)
"""Over-relaxation of the passes over all contacts in a substep; the last is exact where a row is alone."""

MOST_PASSES = 16
"""Passes at most, while a row is short by more than `SHORT`."""

SHORT = 0.1
"""Share of the distance."""

RECOVERY = 0.25
"""Share of an overlap that opens in a substep, no faster than `PUSH_SPEED`: what opens at once flies apart."""

PUSH_SPEED = 0.5
"""Overlaps open no faster than this [m/s]."""

SUDDEN = 4
"""Rounds of separation at most, where those that stop are met by others that were not expected there."""

ROUNDING = 1e-6
"""Share of the room for straying by which particles may be outside of a box around their way."""

MANY, FEW = 2000, 0.1
"""In a surface of that many vertices, this share is rather held back at the end of a substep than searched for anew."""

THIN = 0.5
"""Automatic distance between layers of cloth, in edges."""


class ContactConstraints(Constraints):
    """C = n . (sum share_i p_i) - distance >= 0 for every pair of a vertex and a triangle, or of two edges.

    Rows are searched for when a surface's promise runs out (see `surface`), pushed apart in Jacobi passes with
    friction by Coulomb's law at position level, and at the end of the substep kept from crossing (see `separation`).
    The vertices of colliders are particles without inverse mass behind those of the bodies.

    Args:
        surfaces: Those of the bodies, None for one without triangles.
        obstacles: Those of the colliders.
        colliders: The colliders.
        rest: Rest positions of the bodies' particles, (3, n) [m].
        planes: Floors and walls, which are projected between the passes.

    Attributes:
        seconds_of_search: Wall time of all searches of the frame [s].
    """

    name = "contact"

    def __init__(
        self,
        surfaces: Sequence[Surface | None],
        obstacles: Sequence[Surface],
        colliders: Sequence[Collider],
        rest: np.ndarray,
        planes: Sequence[Constraints],
    ) -> None:
        self.surfaces, self.obstacles, self.colliders = list(surfaces), list(obstacles), list(colliders)
        self.planes, self.n = planes, rest.shape[1]
        self.rest = self._unmapped_rest = rest
        self._size = np.ones(len(self.surfaces))
        self._factors: np.ndarray | None = None
        total = self.n + sum(len(collider.vertices) for collider in colliders)
        self._p, self._x = np.zeros((3, total)), np.zeros((3, total))
        self._path = self._p[:, self.n :], self._p[:, self.n :]
        self._still = [False] * len(obstacles)
        self.pairs: list[Pair] = []
        self.recovery = Recovery()
        self.seconds_of_search = 0.0
        self.forget()

    def forget(self) -> None:
        """Search for everything anew, also for tangles: the particles have been put somewhere else."""
        self._search_anew()
        self.recovery.forget()
        self.is_separate = True
        self._touched = np.zeros((2, self.n), bool)
        self._rows = self._near = no_rows()
        self.multipliers = np.zeros(0)
        self.h = 0.0

    def go_back(self, fraction: float) -> None:
        """Be where the colliders were at a fraction of the frame: a substep from there is tried again."""
        self._search_anew()
        self._p[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        """Friction, and the distance of neighbours: that of the most shrunken place of a body."""
        self._factors = maps.get("friction")
        rest, size = self._unmapped_rest.copy(), np.ones(len(self.surfaces))
        for number, surface in enumerate(self.surfaces):
            if "shrink" in maps and surface is not None:
                size[number] = maps["shrink"][surface.part].min()
                rest[:, surface.part] *= size[number]
        if not np.array_equal(size, self._size):
            self.rest, self._size = rest, size
            self.pairs = []  # What was found is kept apart as far as before.

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self._w = np.concatenate([w, np.zeros(self._p.shape[1] - self.n)])
        self._gravity = float(np.linalg.norm(settings.gravity))
        self._frictions = np.zeros(self.n)
        for material, surface in zip(materials, self.surfaces):
            if surface is not None:
                self._frictions[surface.part] = material.friction
        fast = settings.collisions == "FAST"
        between = [
            (material.self_distance or THIN * surface.edge * size) if surface else 0.0
            for material, surface, size in zip(materials, self.surfaces, self._size)
        ]
        pairs: list[Pair] = []
        self._contacts_of: list[tuple[Material, Material | Collider]] = []
        for i, one in enumerate(self.surfaces):
            if one is None:
                continue
            for j, other in enumerate(self.surfaces[: i + 1]):
                if other is None or settings.collisions == "OFF" or (i == j and not materials[i].self_collision):
                    continue
                rest = self.rest if i == j else None
                pairs.append(Pair(one, other, len(pairs), 0.5 * (between[i] + between[j]), rest, points_only=fast))
                self._contacts_of.append((materials[i], materials[j]))
            for collider, obstacle in zip(self.colliders, self.obstacles):
                distance = materials[i].thickness + collider.thickness
                pairs.append(Pair(one, obstacle, len(pairs), distance, collider=collider))
                self._contacts_of.append((materials[i], collider))
        others = {surface for pair in pairs if pair.one is not pair.other for surface in (pair.one, pair.other)}
        for surface in self._all_surfaces():
            if surface.promise.alone != (surface not in others):
                surface.promise.alone = surface not in others
                surface.promise.expire()
        if [pair.alike for pair in pairs] != [pair.alike for pair in self.pairs]:
            self.pairs = pairs
            self._rows = self._near = no_rows()
            self.recovery.known = False
        self.active = bool(self.pairs)
        self.is_separate = True
        self._room = 0.4 * SMOOTH_SHARE * min((pair.distance for pair in self.pairs), default=0.0)

    def lay_path(self, start: Sequence[np.ndarray], end: Sequence[np.ndarray]) -> None:
        """Say where the colliders' vertices stand at the beginning and at the end of a frame, (3, m) [m] each."""
        nothing = np.zeros((3, 0))
        self._path = np.concatenate([nothing, *start], axis=1), np.concatenate([nothing, *end], axis=1)
        still = [np.array_equal(a, b) for a, b in zip(start, end)]
        for obstacle, before, now in zip(self.obstacles, self._still, still):
            if now and not before:
                obstacle.promise.expire()
        self._still = still
        for part in (self._x, self._p):
            part[:, self.n :] = self._path[0]

    @property
    def straying(self) -> np.ndarray:
        """How far each particle strayed from its promise lately, then each body as a whole, (n + bodies,) float32 [m].

        What a promise is made of besides the present motion: with it a frame can be stepped again as it was.
        """
        straying = np.full(self.n + len(self.surfaces), np.nan, np.float32)
        for number, surface in enumerate(self.surfaces):
            if surface is not None:
                straying[surface.part], straying[self.n + number] = surface.straying[:-1], surface.straying[-1]
        return straying

    def begin_frame(self, kernels: ModuleType, x: np.ndarray, straying: np.ndarray) -> None:
        """Forget what promises of moving bodies are left of the last frame, so that a frame depends on its state alone.

        Then look at what is tangled or sunken, if anything is or nothing is known yet.

        Args:
            kernels: Module of kernels.
            x: Positions, (3, n) [m].
            straying: As it was at the end of the last frame, (n + bodies,) [m]; NaN where nothing is known.
        """
        for number, surface in enumerate(self.surfaces):
            if surface is not None and not surface.promise.rests:
                surface.promise.expire()
                surface.recall(np.append(straying[surface.part], straying[self.n + number]))
        self.seconds_of_search = 0.0
        self._take_figures()
        self._touched = np.zeros((2, self.n), bool)
        if self.recovery.is_due:
            self._x[:, : self.n] = x
            self.recovery.look(kernels, self._x, self._w, self.pairs)

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h = h
        if not all(self._still):
            self._x[:, self.n :] = self._p[:, self.n :]
            self._p[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])
        for surface in self._all_surfaces():
            surface.promise.age()
        self.is_separate = True
        self._fresh, self._idle = True, False

    def project(self, kernels: ModuleType, p: np.ndarray, x: np.ndarray) -> None:
        if not np.isfinite(p).all():
            return  # the solver tries again
        self._p[:, : self.n], self._x[:, : self.n] = p, x
        self._idle = False
        if self._find(kernels, False) or self._fresh:
            self._come_near(kernels)
            self._fresh = False
            self._idle = not self._near.size  # where all is now, it is apart
        near = self._near
        if not near.size:
            return
        weights = self._w.take(near.particles)
        enough = self._wanted - SHORT * near.distance
        for number in range(MOST_PASSES):
            relaxation = RELAXATIONS[min(number, len(RELAXATIONS) - 1)]
            kernels.push_apart(
                self._p, near.particles, near.share, near.normals, weights, self._wanted, relaxation, self.multipliers
            )
            for plane in self.planes:
                plane.project(kernels, self._p, self._x)
            if number + 1 >= len(RELAXATIONS) and (self._gaps(kernels, self._p) >= enough).all():
                break
        p[:] = self._p[:, : self.n]

    def rub(self, kernels: ModuleType, p: np.ndarray, x: np.ndarray) -> None:
        if not self._rows.size or not np.isfinite(p).all():
            return
        if self._idle and np.array_equal(p, self._p[:, : self.n]):
            return
        self._p[:, : self.n] = p
        touching = np.flatnonzero(self.multipliers > 0.0)
        if len(touching):
            self._note_touches()
            self._rub_and_bounce(kernels, touching)
        self._find(kernels, True)
        self._keep_separate(kernels)
        p[:] = self._p[:, : self.n]
        if len(touching):
            x += self._opened(kernels)

    def pushing(self) -> np.ndarray:
        hit = np.unique(self._near.particles[:, self.multipliers > 0.0])
        return hit[hit < self.n]

    def touching(self, with_colliders: bool) -> np.ndarray:
        """Particles of bodies that touched a collider in the frame, or else other cloth; (k,) int."""
        return np.flatnonzero(self._touched[int(with_colliders)])

    def _note_touches(self) -> None:
        hit = self._near.particles[:, self.multipliers > 0.0]
        of_collider = (hit >= self.n).any(axis=0)
        for touched, rows in zip(self._touched, (hit[:, ~of_collider], hit[:, of_collider])):
            touched[rows[rows < self.n]] = True

    def _rub_and_bounce(self, kernels: ModuleType, touching: np.ndarray) -> None:
        """Friction and restitution of the near rows that push, (k,) int."""
        rows, multipliers = self._near.chosen(touching), self.multipliers[touching]
        weights = self._w.take(rows.particles)
        sticking, sliding = self._coefficients.friction(rows)
        rubbed = np.zeros((3, len(touching)))
        for _ in range(len(RELAXATIONS)):
            kernels.rub_contacts(
                self._p, self._x, rows.particles, rows.share, rows.normals, weights, sticking, sliding,
                multipliers, rubbed,
            )  # fmt: skip
        self._bounce_off(kernels, rows, weights, self._approach[touching])

    def _keep_separate(self, kernels: ModuleType) -> None:
        """Stop what would cross, and what that brings in the way of others."""
        rows, searched = self._rows, np.zeros(self._p.shape[1], bool)
        low, high = self._x, self._x
        parts = [obstacle.part for obstacle, still in zip(self.obstacles, self._still) if not still]
        moving = frames(self._p, self._x, self._w, parts, min(pair.distance for pair in self.pairs))
        for _ in range(SUDDEN):
            near = self._near_rows(kernels, rows)
            self.is_separate = keep_separate(kernels, self._p, self._x, rows, near, self._w, moving)
            # Who stops breaks a promise, and may now be met by what was not expected there.
            unknown = self._stray() & ~searched
            if searched.any():
                unknown |= ((self._p < low) | (self._p > high)).any(axis=0)
            if not unknown.any():
                break
            found = [pair.sudden(kernels, self._x, self._p, unknown) for pair in self.pairs if not pair.points_only]
            rows = joined([rows, self.recovery.free(joined(found))])
            searched |= unknown
            low = np.minimum(self._x, self._p) - ROUNDING * self._room
            high = np.maximum(self._x, self._p) + ROUNDING * self._room
        else:
            self.is_separate = False
        self.recovery.squeezed |= not self.is_separate

    def values(self, x: np.ndarray) -> np.ndarray:
        positions = np.concatenate([x, self._p[:, self.n :].T])
        return np.einsum("jm,mji,im->m", self._near.share, positions[self._near.particles.T], self._near.normals) - (
            self._near.distance
        )

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._near.particles.T, np.einsum("jm,im->mji", self._near.share, self._near.normals)

    def forces(self) -> np.ndarray:
        return self.multipliers / self.h**2 if self.h else np.zeros_like(self.multipliers)

    def _all_surfaces(self) -> list[Surface]:
        return [surface for surface in (*self.surfaces, *self.obstacles) if surface is not None]

    def _search_anew(self) -> None:
        for surface in self._all_surfaces():
            surface.promise.expire()

    def _take_figures(self) -> None:
        """Distance, friction and restitution of each pair: a collider's may change."""
        for pair, (mine, other) in zip(self.pairs, self._contacts_of):
            if isinstance(other, Collider) and pair.distance != mine.thickness + other.thickness:
                pair.distance, pair.seen = mine.thickness + other.thickness, (-1, -1)
        of_bodies = None if self._factors is None else self._frictions * self._factors
        self._coefficients = read_coefficients(self._contacts_of, self.colliders, of_bodies)

    def _find(self, kernels: ModuleType, last: bool) -> bool:
        """Make sure that the rows hold all that the present ways can bring together; whether there are new ones.

        Args:
            kernels: Module of kernels.
            last: Whether nothing but separation follows. What a search leaves out is farther apart than the distance,
                so that there is room to stray more without crossing.
        """
        amended: dict[Promise, np.ndarray] = {}
        for surface in self._all_surfaces():
            collider = surface.part.start >= self.n
            if collider and surface.promise.is_made and self._still[self.obstacles.index(surface)]:
                continue
            few = last and not collider and MANY < len(surface.vertices)
            promise = surface.promise
            astray = promise.strayed(self._p, self._room if last else 0.0)
            if astray is None:
                promise.make(self._x, self._p)
            elif not len(astray[0]):
                continue
            elif few and len(astray[0]) <= FEW * len(surface.vertices):
                self._p[:, astray[0]] = astray[1]
            elif (particles := promise.amend(self._x, self._p)) is not None:
                amended[promise] = particles
            else:
                promise.make(self._x, self._p)
        stale = [pair for pair in self.pairs if pair.is_stale]
        if not stale and not amended:
            return False
        began = time.perf_counter()
        for pair in self.pairs:
            if pair in stale:
                pair.search(kernels, self._x)
            elif pair.promises[0] in amended:
                pair.amend(kernels, self._x, amended[pair.promises[0]])
        self._rows = self.recovery.free(joined([pair.rows for pair in self.pairs]))
        self.seconds_of_search += time.perf_counter() - began
        return True

    def _stray(self) -> np.ndarray:
        """Particles that are too far from where they were promised to be for what was found to hold, (N,) bool."""
        stray = np.zeros(self._p.shape[1], bool)
        for surface in self._all_surfaces():
            if surface.part.start < self.n:
                astray = surface.promise.strayed(self._p, 1.01 * self._room)
                stray[surface.part if astray is None else astray[0]] = True
        return stray

    def _near_rows(self, kernels: ModuleType, rows: Rows) -> np.ndarray:
        """Rows that can be short of their distance where the particles are now, (k,) int.

        What is apart along any direction is at least that far apart, so the normal may be an old one.
        """
        apart = kernels.clearances(self._p, rows.particles, rows.normals, rows.kind)
        return np.flatnonzero(apart < rows.distance)

    def _come_near(self, kernels: ModuleType) -> None:
        """Take the near rows to work on, each with the plane between its closest points, and what they are to reach."""
        near = self._rows.chosen(self._near_rows(kernels, self._rows))
        close, share, normals = kernels.planes_between(
            self._p, self._x, near.particles, near.kind, near.normals, near.distance, near.solid
        )
        self._near = near = near.chosen(close)._replace(share=share, normals=normals)
        self.multipliers = np.zeros(near.size)
        self._before = self._gaps(kernels, self._x)
        overlap = np.maximum(near.distance - self._before, 0.0)
        self._opening = np.minimum(RECOVERY * overlap, PUSH_SPEED * self.h)
        tangled = self.recovery.tangled
        if tangled.any():
            # Beside a tangle, layers are held together by what goes through them: to push would only stretch them.
            self._opening[tangled.take(near.particles).any(axis=0)] = 0.0
        self._wanted = near.distance - overlap + self._opening
        self._approach = self._gaps(kernels, self._p) - self._before

    def _gaps(self, kernels: ModuleType, positions: np.ndarray) -> np.ndarray:
        """How far the near rows are open at positions (3, N), (m,) [m]."""
        near = self._near
        return np.einsum("jm,jm->m", near.share, kernels.heights(positions, near.particles, near.normals))

    def _opened(self, kernels: ModuleType) -> np.ndarray:
        """How far particles were moved to open overlaps, (3, n) [m]."""
        bounces = self._coefficients.restitution[self._near.pair] > 0.0
        some = np.flatnonzero((self.multipliers > 0.0) & (self._opening > 0.0) & ~bounces)
        start = self._x.copy()
        if len(some):
            rows = self._near.chosen(some)
            wider = np.clip(self._gaps(kernels, self._p) - self._before, 0.0, self._opening)[some]
            kernels.push_apart(
                start, rows.particles, rows.share, rows.normals, self._w.take(rows.particles),
                self._before[some] + wider, 1.0, np.zeros(rows.size),
            )  # fmt: skip
        return (start - self._x)[:, : self.n]

    def _bounce_off(self, kernels: ModuleType, rows: Rows, weights: np.ndarray, approach: np.ndarray) -> None:
        """Give back the share of the approach (k,) [m] of this substep that colliders return."""
        restitution = self._coefficients.restitution[rows.pair]
        if not restitution.any():
            return
        # What only lies there has fallen for one substep.
        thrown = (restitution > 0.0) & (-approach > 2.0 * self._gravity * self.h**2)
        if not thrown.any():
            return
        rows, weights = rows.chosen(thrown), weights[:, thrown]
        before = np.einsum("jm,jm->m", rows.share, kernels.heights(self._x, rows.particles, rows.normals))
        wanted = before - restitution[thrown] * approach[thrown]
        kernels.push_apart(self._p, rows.particles, rows.share, rows.normals, weights, wanted, 1.0, np.zeros(rows.size))
