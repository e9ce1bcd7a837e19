"""Contact of surfaces, with colliders, with other cloth and of cloth with itself, as one kind of constraint."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence

import numpy as np

from ..constraints import Constraints, WeldConstraints
from ..kernels import Kernels
from ..maps import left_out
from ..settings import Material, SolverSettings
from ..slices import finish
from .broad_phase import SMOOTH_SHARE, SurfacePair
from .candidates import Candidates, concatenate, no_candidates
from .collider import Collider
from .crossing_guard import RigidGroups, find_rigid_groups, guard_crossings
from .friction import apply_friction_and_restitution, read_coefficients
from .narrow_phase import Contacts, active
from .penetration import Penetration
from .seam_neighbors import SeamNeighbors
from .surface import Surface

RELAXATIONS = (1.3, 1.0)
"""Over-relaxation of the first Jacobi passes of a substep; the last is exact where a contact is alone."""

MAX_PASSES = 16
"""Most passes, while a gap is short by more than `GAP_TOLERANCE`."""

GAP_TOLERANCE = 0.1
"""Share of the distance."""

MAX_GUARD_ROUNDS = 4
"""Rounds of clamping and querying again, since clamped particles leave their motion bounds."""

MAX_LAYERS = 20
"""Rounds in which cloth without a place gives way, layer by layer from the collider that stands still."""

ROUNDING = 1e-6
"""Share of the final margin by which particles may be outside of a box around their motion."""

CLAMP_VERTICES, CLAMP_SHARE = 2000, 0.1
"""In surfaces of more vertices, up to this share of them is clamped to their bounds rather than queried again."""

FINAL_MARGIN = 0.4
"""Share of the smallest kept distance by which vertices may be beyond their margins where only the guard follows."""

AUTO_DISTANCE = 0.5
"""Default distance between layers of cloth, in edges."""


class ContactConstraints(Constraints):
    """C = n . (sum w_i p_i) - distance >= 0 for every vertex-triangle and edge-edge pair.

    Pairs are queried when a motion bound runs out (see `motion_bound`, `broad_phase`), projected in averaged Jacobi
    passes (Macklin et al. 2014, sec. 4.2; Bridson et al. 2002 for the two kinds of pairs) with Coulomb friction on
    positions, and at the end of the substep kept from crossing (see `crossing_guard`). The vertices of colliders are
    particles without inverse mass, behind those of the bodies.

    Args:
        surfaces: Those of the bodies, None for one without triangles.
        obstacles: Those of the colliders.
        colliders: The colliders.
        rest: Rest positions of the bodies' particles, (3, n) [m].
        planes: Floors and walls, which are projected between the passes.
        welds: Particles that are one; of each group, the surfaces have the first.
        seam_neighbors: What comes closer beside seams.

    Attributes:
        is_crossing_free: Whether the last substep ended without an unresolved crossing.
        unprojected: Positions before contact was projected, (3, n) [m]; None where nothing touches.
        query_seconds: Wall time of all broad-phase queries of the frame [s].
    """

    name = "contact"

    def __init__(
        self,
        surfaces: Sequence[Surface | None],
        obstacles: Sequence[Surface],
        colliders: Sequence[Collider],
        rest: np.ndarray,
        planes: Sequence[Constraints],
        welds: WeldConstraints,
        seam_neighbors: SeamNeighbors,
    ) -> None:
        self.welds, self._seam_neighbors = welds, seam_neighbors
        self.surfaces, self.obstacles, self.colliders = list(surfaces), list(obstacles), list(colliders)
        self.planes, self.n = planes, rest.shape[1]
        self.rest = self._unmapped_rest = rest
        self._scale = np.ones(len(self.surfaces))
        self._friction_map: np.ndarray | None = None
        total = self.n + sum(len(collider.vertices) for collider in colliders)
        self._p, self._x = np.zeros((3, total)), np.zeros((3, total))
        self._left_out: list[np.ndarray | None] = [None, None]
        self._path = self._p[:, self.n :], self._p[:, self.n :]
        self._is_still = [False] * len(obstacles)
        self.pairs: list[SurfacePair] = []
        self._edge = min((surface.edge for surface in surfaces if surface is not None), default=np.inf)
        self.penetration = Penetration()
        self.query_seconds = 0.0
        self.unprojected: np.ndarray | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything, also intersections: the particles have been put somewhere else."""
        self._invalidate()
        self.penetration.reset()
        self.is_crossing_free = True
        self._was_pinched = False
        self._touched = np.zeros((2, self.n), bool)
        self._candidates, self._contacts = no_candidates(), Contacts.none()
        self._rounds: list[Contacts] = []
        self.h = self._fraction = 0.0

    def rewind(self, fraction: float) -> None:
        """Put the colliders where they were at a fraction of the frame: a substep from there is tried again."""
        self._invalidate()
        self._fraction = fraction
        self.penetration.is_squeezed = False
        self._p[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        """Friction, what takes no part, and the distance of neighbors: that of the most shrunken place of a body."""
        self._friction_map = maps.get("friction")
        rest, scale = self._unmapped_rest.copy(), np.ones(len(self.surfaces))
        for number, surface in enumerate(self.surfaces):
            if "shrink" in maps and surface is not None:
                scale[number] = maps["shrink"][surface.part].min()
                rest[:, surface.part] *= scale[number]
        if not np.array_equal(scale, self._scale):
            self.rest, self._scale = rest, scale
            self.pairs = []  # candidates keep the distances that they were found with
        out = [left_out(kind, maps, self._p.shape[1]) for kind in ("collision", "self_collision")]
        before = self._left_out
        if not all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in zip(out, before)):
            self._left_out, self.pairs = out, []

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self._w = self._counted = np.concatenate([self.welds.merged(w), np.zeros(self._p.shape[1] - self.n)])
        self._gravity = float(np.linalg.norm(settings.gravity))
        self._frictions = np.zeros(self.n)
        for material, surface in zip(materials, self.surfaces):
            if surface is not None:
                self._frictions[surface.part] = material.friction
        pairs = self._pair_surfaces(materials, settings)
        others = {surface for pair in pairs if pair.one is not pair.other for surface in (pair.one, pair.other)}
        for surface in self._all_surfaces():
            if surface.motion_bound.self_only != (surface not in others):
                surface.motion_bound.self_only = surface not in others
                surface.motion_bound.invalidate()
        if [pair.key for pair in pairs] != [pair.key for pair in self.pairs]:
            self.pairs = pairs
            self._candidates, self._contacts = no_candidates(), Contacts.none()
            self.penetration.is_known = False
        self.active = bool(self.pairs)
        self.is_crossing_free = True
        least = min((pair.distance for pair in self.pairs), default=0.0)
        self._final_margin = FINAL_MARGIN * SMOOTH_SHARE * least

    def use_weights(self, w: np.ndarray) -> None:
        """Count forces with these inverse masses, (n,) [1/kg]; what is pushed moves by its true mass."""
        self._counted = np.concatenate([self.welds.merged(w), self._w[self.n :]])

    def lay_path(self, start: Sequence[np.ndarray], end: Sequence[np.ndarray], fraction: float = 0.0) -> None:
        """Say where the colliders' vertices are at the beginning and at the end of a frame, (3, m) [m] each.

        A substep from `fraction` of it follows.
        """
        nothing = np.zeros((3, 0))
        self._fraction = fraction
        self._path = np.concatenate([nothing, *start], axis=1), np.concatenate([nothing, *end], axis=1)
        still = [np.array_equal(a, b) for a, b in zip(start, end)]
        for obstacle, before, now in zip(self.obstacles, self._is_still, still):
            if now and not before:
                obstacle.motion_bound.invalidate()
        self._is_still = still
        for part in (self._x, self._p):
            part[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])

    @property
    def prediction_error(self) -> np.ndarray:
        """Observed prediction error per substep of each particle, then of each body's mean, (n + bodies,) float32 [m].

        Besides the motion, motion bounds depend on nothing else: with it, a frame can be stepped again as it was.
        """
        errors = np.full(self.n + len(self.surfaces), np.nan, np.float32)
        for number, surface in enumerate(self.surfaces):
            if surface is not None:
                errors[surface.part] = surface.prediction_error[:-1]
                errors[self.n + number] = surface.prediction_error[-1]
        return errors

    @property
    def penetrated(self) -> np.ndarray:
        """Which closed colliders are around or through which bodies, or left them no place, (bodies, colliders) bool.

        Besides the places, detection depends on nothing else: what a collider went through must not meet it.
        """
        found = np.zeros((len(self.surfaces), len(self.colliders)), bool)
        for pair in self._solid_pairs() if self.penetration.is_squeezed else self.penetration.penetrated:
            found[self._place_of(pair)] = True
        return found

    @property
    def has_no_room(self) -> bool:
        """Whether closed colliders left cloth no place in the frame, go through it, or overlap around it."""
        return self._was_pinched or self.is_pinched or self.penetration.has_no_way_out

    def begin_frame(
        self, kernels: Kernels, x: np.ndarray, prediction_error: np.ndarray, penetrated: np.ndarray
    ) -> Generator[None, None, None]:
        """Invalidate the bounds of bodies that move, so that a frame depends on its state alone; in slices.

        Then detect intersections and penetrations, if there are any or nothing is known.

        Args:
            kernels: Module of kernels.
            x: Positions, (3, n) [m].
            prediction_error: At the end of the last frame, (n + bodies,) [m]; NaN where nothing is known.
            penetrated: At the end of the last frame, (bodies, colliders) bool.
        """
        for number, surface in enumerate(self.surfaces):
            if surface is not None and not surface.motion_bound.is_static:
                surface.motion_bound.invalidate()
                errors = np.append(prediction_error[surface.part], prediction_error[self.n + number])
                surface.restore_prediction_error(errors)
        self.query_seconds = 0.0
        self._read_colliders()
        self._touched = np.zeros((2, self.n), bool)
        self._was_pinched = False
        if self.penetration.is_due:
            self._x[:, : self.n] = x
            may_hook = [pair for pair in self._solid_pairs() if penetrated[self._place_of(pair)]]
            yield from self.penetration.detect(kernels, self._x, self._w, self.pairs, may_hook)

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h = h
        if not all(self._is_still):
            self._x[:, self.n :] = self._p[:, self.n :]
            self._p[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])
        for surface in self._all_surfaces():
            surface.motion_bound.advance(fraction - self._fraction)
        self._fraction = fraction
        self.is_crossing_free = True
        self.unprojected = None
        self._is_first_pass, self._is_far = True, False
        self._contacts, self._rounds = Contacts.none(), []

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        if not np.isfinite(p).all():
            return  # the solver tries again
        self.welds.unite(p)
        self._p[:, : self.n], self._x[:, : self.n] = p, x
        self._is_far = False
        if self._is_first_pass and self.is_pinched:  # in the last substep, which was taken as it was
            self._was_pinched = True
            finish(self.penetration.detect(kernels, self._x, self._w, self.pairs, self._solid_pairs()))
        if self._update_candidates(kernels, False) or self._is_first_pass:
            self._rounds.append(self._contacts)
            self._find(kernels)
            self._is_first_pass = False
            self._is_far = not self._contacts.rows.size
        if self._contacts.rows.size:
            self.unprojected = p.copy()
            self._push(kernels)
            p[:] = self._p[:, : self.n]
            self.welds.follow(p)

    def project_again(self, kernels: Kernels, p: np.ndarray) -> None:
        """Find the contacts at p (3, n) anew, among the same candidates, and project them; in place.

        What is no candidate is left to the crossing guard: a query in each round would take most of the time.
        """
        self.welds.unite(p)
        self._p[:, : self.n] = p
        before = self._contacts
        self._find(kernels)
        self._contacts.follow(before, self._candidates.size)
        self._rounds.append(before)
        if self._contacts.rows.size:
            self._push(kernels)
            p[:] = self._p[:, : self.n]
            self.welds.follow(p)

    def _find(self, kernels: Kernels) -> None:
        self._contacts = Contacts.find(kernels, self._candidates, self._p, self._x, self.h, self.penetration.stuck)

    def _push(self, kernels: Kernels) -> None:
        """Project the contacts."""
        contacts, rows = self._contacts, self._contacts.rows
        inverse_masses = self._w.take(rows.particles)
        enough = contacts.target_gap - GAP_TOLERANCE * rows.min_distance
        for number in range(MAX_PASSES):
            relaxation = RELAXATIONS[min(number, len(RELAXATIONS) - 1)]
            kernels.project_contacts(
                self._p, rows.particles, rows.weights, rows.normals, inverse_masses, contacts.target_gap, relaxation,
                contacts.multipliers,
            )  # fmt: skip
            for plane in self.planes:
                plane.project(kernels, self._p, self._x)
            if number + 1 >= len(RELAXATIONS) and (contacts.gaps(kernels, self._p) >= enough).all():
                break
        self.penetration.limit_speed(self._p, self._x, self.h)

    def apply_friction(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        if not self._candidates.size or not np.isfinite(p).all():
            return
        self.welds.unite(p)
        if self._is_far and np.array_equal(p, self._p[:, : self.n]):
            return
        self._p[:, : self.n] = p
        pushes = len(self._contacts.pushing) > 0
        if pushes:
            self._note_touches()
            least_approach = 2.0 * self._gravity * self.h**2  # what lies still has fallen for one substep
            apply_friction_and_restitution(
                kernels, self._contacts, self._coefficients, self._p, self._x, self._w, least_approach,
                self.penetration.led,
            )  # fmt: skip
        self._update_candidates(kernels, True)
        self._guard(kernels)
        p[:] = self._p[:, : self.n]
        self.welds.follow(p)
        if pushes:
            bounces = self._coefficients.restitution > 0.0
            opened = self._contacts.opened(kernels, self._p, self._x, self._w, bounces)
            x += (opened - self._x)[:, : self.n]
            self.welds.follow(x)

    def approach(self, kernels: Kernels, v: np.ndarray) -> float:
        """By how much what pushed in the last substep was to come closer, had cloth kept the velocities v (3, n), at
        most, in edges.
        """
        rows = self._contacts.rows.take(self._contacts.pushing)
        way = np.concatenate([self.h * v, (self._p - self._x)[:, self.n :]], axis=1)
        opening = np.einsum("jm,jm->m", rows.weights, kernels.heights(way, rows.particles, rows.normals))
        return -float(opening.min(initial=0.0)) / self._edge

    def withhold(self, kernels: Kernels, moved: np.ndarray, share: float) -> None:
        """Count the pull of springs at held particles as a load on the contacts with colliders that hold them.

        Args:
            kernels: Module of kernels.
            moved: By how much springs moved them, (3, n) [m]; 0 for all others.
            share: Share of their inverse masses that they were moved with.
        """
        contacts, pushing = self._contacts, self._contacts.pushing
        pushing = pushing[(contacts.rows.particles[:, pushing] >= self.n).any(axis=0)]
        rows, pull = contacts.rows.take(pushing), np.zeros_like(self._p)
        mass = np.divide(1.0, self._w[: self.n], out=np.zeros(self.n), where=self._w[: self.n] > 0.0)
        pull[:, : self.n] = (1.0 / share - 1.0) * mass * moved
        weights = np.abs(rows.weights)
        all_weights = np.bincount(rows.particles.ravel(), weights.ravel(), pull.shape[1])
        along = np.sign(rows.weights) * kernels.heights(pull, rows.particles, rows.normals)
        shares = weights / np.maximum(all_weights[rows.particles], 1e-300)
        contacts.withheld[pushing] -= (shares * along).sum(axis=0)

    def held(self) -> np.ndarray:
        """Particles that colliders pushed to one side in the last projection, (n,) bool."""
        held = self._contacts.pushed_one_way(self.n, self._p.shape[1])[: self.n]
        self.welds.follow(held)
        return held

    def pushing(self) -> np.ndarray:
        if not self._contacts.rows.size:
            return np.zeros(0, int)
        hit = np.unique(self._contacts.rows.particles[:, self._contacts.pushing])
        return hit[hit < self.n]

    def touching(self, with_colliders: bool) -> np.ndarray:
        """Particles of bodies that touched a collider in the frame, or else other cloth; (k,) int."""
        touched = self._touched[int(with_colliders)].copy()
        self.welds.follow(touched)
        return np.flatnonzero(touched)

    @property
    def multipliers(self) -> np.ndarray:  # type: ignore[override]
        """Of the contacts of the last substep, of all its rounds one after the other, (m,)."""
        return np.concatenate([found.multipliers + found.withheld for found in (*self._rounds, self._contacts)])

    @property
    def _rows(self) -> Candidates:
        return concatenate([found.rows for found in (*self._rounds, self._contacts)])

    def values(self, x: np.ndarray) -> np.ndarray:
        rows, positions = self._rows, np.concatenate([x, self._p[:, self.n :].T])
        gap = np.einsum("jm,mji,im->m", rows.weights, positions[rows.particles.T], rows.normals)
        return np.asarray(gap - rows.min_distance)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = self._rows
        return rows.particles.T, np.einsum("jm,im->mji", rows.weights, rows.normals)

    def forces(self) -> np.ndarray:
        if not self.h:
            return np.zeros_like(self.multipliers)
        rows = self._rows
        true, counted = (
            np.einsum("jm,jm->m", rows.weights**2, w.take(rows.particles)) for w in (self._w, self._counted)
        )
        return self.multipliers / self.h**2 * np.divide(true, counted, out=np.ones_like(true), where=counted > 0.0)

    def _pair_surfaces(self, materials: Sequence[Material], settings: SolverSettings) -> list[SurfacePair]:
        """All pairs of surfaces that can meet; notes the materials of both sides."""
        fast = settings.collisions == "FAST"
        between = [
            (material.self_distance or AUTO_DISTANCE * surface.edge * scale) if surface else 0.0
            for material, surface, scale in zip(materials, self.surfaces, self._scale)
        ]
        pairs: list[SurfacePair] = []
        self._sides: list[tuple[Material, Material | Collider]] = []
        for i, one in enumerate(self.surfaces):
            if one is None:
                continue
            for j, other in enumerate(self.surfaces[: i + 1]):
                if other is None or settings.collisions == "OFF" or (i == j and not materials[i].self_collision):
                    continue
                rest, distance = self.rest if i == j else None, 0.5 * (between[i] + between[j])
                out = self._left_out[int(i == j)]
                pairs.append(SurfacePair(one, other, len(pairs), distance, rest, points_only=fast, left_out=out))
                self._sides.append((materials[i], materials[j]))
            for collider, obstacle in zip(self.colliders, self.obstacles):
                distance = materials[i].thickness + collider.thickness
                out = self._left_out[0]
                pairs.append(SurfacePair(one, obstacle, len(pairs), distance, collider=collider, left_out=out))
                self._sides.append((materials[i], collider))
        return pairs

    @property
    def is_pinched(self) -> bool:
        """Whether closed colliders left cloth no place."""
        return self.penetration.is_squeezed and bool(self._solid_pairs())

    def _note_touches(self) -> None:
        hit = self._contacts.rows.particles[:, self._contacts.pushing]
        of_collider = (hit >= self.n).any(axis=0)
        for touched, rows in zip(self._touched, (hit[:, ~of_collider], hit[:, of_collider])):
            touched[rows[rows < self.n]] = True

    def _guard(self, kernels: Kernels) -> None:
        """Keep everything from crossing; what colliders leave no place, those that move may go through.

        They alone: cloth that has no place crosses neither cloth nor what stands still.
        """
        start, moves = self._p.copy(), np.zeros(self._p.shape[1], bool)
        parts = [obstacle.part for obstacle, still in zip(self.obstacles, self._is_still) if not still]
        for part in parts:
            moves[part] = True
        groups = find_rigid_groups(self._p, self._x, self._w, parts, min(pair.distance for pair in self.pairs))
        gives_way = np.zeros_like(moves)
        for _ in range(MAX_LAYERS):
            without_place = self._clamp(kernels, groups, gives_way, moves)
            if not without_place.any():
                break
            self.is_crossing_free = False
            if not moves.any() or gives_way[without_place].all():
                break
            gives_way |= without_place
            self._p[:] = start
        self.penetration.is_squeezed |= not self.is_crossing_free

    def _clamp(self, kernels: Kernels, groups: RigidGroups, gives_way: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Clamp what would cross, then query what the clamped particles can cross in turn, until nothing does.

        Args:
            kernels: Module of kernels.
            groups: Which colliders move together.
            gives_way: Particles that meet no collider that moves, (N,) bool.
            moves: Particles of colliders that move, (N,) bool.

        Returns:
            Particles that found no place, (N,) bool.
        """

        def counting(candidates: Candidates) -> Candidates:
            if not gives_way.any():
                return candidates
            through = gives_way.take(candidates.particles).any(axis=0) & moves.take(candidates.particles).any(axis=0)
            return candidates.take(np.flatnonzero(~through))

        candidates, known = counting(self._candidates), np.zeros_like(moves)
        low, high = self._x, self._x
        without_place = np.zeros_like(moves)
        for _ in range(MAX_GUARD_ROUNDS):
            near = active(kernels, candidates, self._p)
            squeezed = guard_crossings(kernels, self._p, self._x, candidates, near, self._w, groups, gives_way)
            without_place[squeezed] = True
            late = self._violating(kernels) & ~known
            if known.any():
                late |= ((self._p < low) | (self._p > high)).any(axis=0)
            if not late.any():
                return without_place
            found = [
                pair.late_candidates(kernels, self._x, self._p, late) for pair in self.pairs if not pair.points_only
            ]
            candidates = concatenate([candidates, counting(self._filter(concatenate(found)))])
            known |= late
            low = np.minimum(self._x, self._p) - ROUNDING * self._final_margin
            high = np.maximum(self._x, self._p) + ROUNDING * self._final_margin
        return without_place | late & (self._w > 0.0)

    def _solid_pairs(self) -> list[SurfacePair]:
        return [pair for pair in self.pairs if pair.is_solid]

    def _place_of(self, pair: SurfacePair) -> tuple[int, int]:
        """Numbers of the body and of the collider of a pair."""
        return self.surfaces.index(pair.one), self.obstacles.index(pair.other)

    def _all_surfaces(self) -> list[Surface]:
        return [surface for surface in (*self.surfaces, *self.obstacles) if surface is not None]

    def _invalidate(self) -> None:
        for surface in self._all_surfaces():
            surface.motion_bound.invalidate()

    def _read_colliders(self) -> None:
        """Distance, friction and restitution of each pair: a collider's may change between frames."""
        for pair, (mine, other) in zip(self.pairs, self._sides):
            if isinstance(other, Collider) and pair.distance != mine.thickness + other.thickness:
                pair.distance = mine.thickness + other.thickness
                pair.invalidate()
        of_bodies = None if self._friction_map is None else self._frictions * self._friction_map
        self._coefficients = read_coefficients(self._sides, self.colliders, of_bodies)

    def _update_candidates(self, kernels: Kernels, final: bool) -> bool:
        """Query where motion bounds or height fields are violated; whether the candidates have changed.

        Args:
            kernels: Module of kernels.
            final: Whether only the crossing guard follows. What a query leaves out is farther apart than the distance,
                so that there is room to be beyond the margins without crossing.
        """
        is_late = np.zeros(self._p.shape[1], bool)
        expired = {surface for surface in self._all_surfaces() if self._has_expired(kernels, surface, final, is_late)}
        for pair in self.pairs:
            if pair.one is not pair.other or pair.points_only:
                continue
            if not pair.one.motion_bound.is_set or not pair.height_fields.are_known:
                pair.height_fields.forget()
                pair.height_fields.find(kernels, self._p)
            elif not final and not pair.height_fields.hold(kernels, self._p):
                is_late[pair.height_fields.renew(kernels, self._p)] = True
        smooth = {pair.one for pair in self.pairs if pair.one is pair.other and pair.height_fields.is_smooth}
        for pair in self.pairs:
            if smooth and pair.one is not pair.other and self._are_neighbors(pair.one, pair.other):
                smooth -= {pair.one, pair.other}
        for surface in expired:
            surface.motion_bound.predict(self._x, self._p, surface in smooth)
        stale = [pair for pair in self.pairs if pair.is_stale]
        late = [pair for pair in self.pairs if pair.one is pair.other and is_late[pair.one.part].any()]
        if not stale and not late:
            return False
        began = time.perf_counter()
        for pair in stale:
            pair.query(kernels, self._x)
        for pair in late:
            if pair not in stale:
                pair.query_again(kernels, self._x, is_late)
        self._candidates = self._filter(concatenate([pair.candidates for pair in self.pairs]))
        self.query_seconds += time.perf_counter() - began
        return True

    def _filter(self, candidates: Candidates) -> Candidates:
        if any(out is not None for out in self._left_out):
            parts = np.ones(candidates.size, bool)
            for pair in self.pairs:
                own = np.flatnonzero(candidates.pair == pair.number)
                parts[own] = pair.takes_part(candidates.particles.take(own, axis=1))
            candidates = candidates.take(parts)
        return self.penetration.filter(self._seam_neighbors.bring_closer(candidates))

    def _are_neighbors(self, one: Surface, other: Surface) -> bool:
        """Whether two surfaces are nearer to each other than the larger one is large."""
        mine, theirs = self._x[:, one.part], self._x[:, other.part]
        reach = max(np.ptp(mine, axis=1).max(), np.ptp(theirs, axis=1).max())
        low, high = mine.min(axis=1) - reach, mine.max(axis=1) + reach
        return bool((theirs.max(axis=1) >= low).all() and (theirs.min(axis=1) <= high).all())

    def _is_alone(self, surface: Surface) -> bool:
        """Whether nothing else is near a surface, so that wider margins change nothing but what meets itself."""
        others = [pair for pair in self.pairs if pair.one is not pair.other and surface in (pair.one, pair.other)]
        return not any(self._are_neighbors(pair.one, pair.other) for pair in others)

    def _has_expired(self, kernels: Kernels, surface: Surface, final: bool, is_late: np.ndarray) -> bool:
        """Whether a surface needs a new bound; clamps few vertices to theirs instead, see `_update_candidates`."""
        bound, is_collider = surface.motion_bound, surface.part.start >= self.n
        if is_collider and bound.is_set and self._is_still[self.obstacles.index(surface)]:
            return False
        if not bound.is_set:
            return True
        deviation = bound.deviation(kernels, self._p)
        if not final:
            bound.observe(deviation)  # where the bound has run out too, or one of one substep would never grow
        if not bound.is_valid or not bound.holds_as_a_whole(deviation):
            return True
        outside, clamped = bound.violations(self._p, deviation, self._final_margin if final else 0.0)
        size = len(surface.vertices)
        if final and not is_collider and size > CLAMP_VERTICES and len(outside) <= CLAMP_SHARE * size:
            self._p[:, outside] = clamped
            return False
        if not final and len(outside) <= CLAMP_SHARE * size and self._is_alone(surface):
            bound.widen(outside - surface.part.start, deviation)
            is_late[outside] = True
            return False
        return len(outside) > 0

    def _violating(self, kernels: Kernels) -> np.ndarray:
        """Particles for which the candidates may be incomplete, (N,) bool."""
        violating = np.zeros(self._p.shape[1], bool)
        for surface in self._all_surfaces():
            bound = surface.motion_bound
            if surface.part.start < self.n:
                deviation = bound.deviation(kernels, self._p)
                if bound.holds_as_a_whole(deviation):
                    violating[bound.violations(self._p, deviation, 1.01 * self._final_margin).particles] = True
                else:
                    violating[surface.part] = True
        for pair in self.pairs:
            violating[pair.height_fields.outside(kernels, self._p)] = True
        return violating
