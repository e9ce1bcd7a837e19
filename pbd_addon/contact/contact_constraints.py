"""Contact of surfaces, with colliders, with other cloth and of cloth with itself, as one kind of constraint."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence

import numpy as np

from ..constraints import Constraints, RigidConstraints, WeldConstraints
from ..constraints.rigid_contacts import ContactPasses
from ..distinct import distinct
from ..kernels import Kernels
from ..maps import left_out
from ..settings import Material, SolverSettings
from ..slices import finish
from .broad_phase import Rules, SurfacePair
from .candidate_list import CandidateList
from .candidates import Candidates, concatenate
from .collider import Collider
from .friction import apply_friction_and_restitution, read_coefficients
from .guard_rounds import guard
from .narrow_phase import Contacts
from .penetration import Penetration
from .seam_neighbors import SeamNeighbors
from .surface import Surface

RELAXATIONS = (1.3, 1.0)
"""Over-relaxation of the first Jacobi passes of a substep; the last is exact where a contact is alone."""

MAX_PASSES = 16
"""Most passes, while a gap is short by more than `GAP_TOLERANCE`."""

GAP_TOLERANCE = 0.1
"""Share of the distance."""

AUTO_DISTANCE = 0.5
"""Default distance between layers of cloth, in edges."""


class ContactConstraints(Constraints):
    """C = n . (sum w_i p_i) - distance >= 0 for every vertex-triangle and edge-edge pair.

    Pairs are queried when a motion bound runs out (see `candidate_list`), projected in averaged Jacobi passes (Macklin
    et al. 2014, sec. 4.2; Bridson et al. 2002 for the two kinds of pairs) with Coulomb friction on positions, and at
    the end of the substep kept from crossing (see `guard_rounds`). The vertices of colliders are particles without
    inverse mass, behind those of the bodies.

    Args:
        surfaces: Those of the bodies, None for one without any.
        obstacles: Those of the colliders.
        colliders: The colliders.
        rest: Rest positions of the bodies' particles, (3, n) [m]; (3, 0) where nothing can meet.
        planes: Floors and walls, which are projected between the passes.
        welds: Particles that are one; of each group, the surfaces have the first.
        seam_neighbors: What comes closer beside seams.
        rigid: Which particles are rigid.

    Attributes:
        is_crossing_free: Whether the last substep ended without an unresolved crossing.
        keeps_unresolved: Whether a substep counts even if it does not; else it will be tried again in halves.
        unprojected: Positions before contact was projected, (3, n) [m]; None where nothing touches.
        candidate_list: Candidates of all pairs of surfaces.
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
        rigid: RigidConstraints,
    ) -> None:
        self.rigid = rigid
        self.welds = welds
        self.surfaces, self.obstacles, self.colliders = list(surfaces), list(obstacles), list(colliders)
        self.planes, self.n = planes, len(welds.first)
        self.rest = self._unmapped_rest = rest
        self._scale = np.ones(len(self.surfaces))
        self._friction_map: np.ndarray | None = None
        total = rest.shape[1] + sum(len(collider.vertices) for collider in colliders)
        self._p, self._x = np.zeros((3, total)), np.zeros((3, total))
        self._left_out: list[np.ndarray | None] = [None, None]
        self._path = self._p[:, self.n :], self._p[:, self.n :]
        self.penetration = Penetration()
        self.candidate_list = CandidateList(surfaces, obstacles, self.n, total, seam_neighbors, self.penetration)
        self.unprojected: np.ndarray | None = None
        self.reset()

    def reset(self) -> None:
        """Forget everything, also intersections: the particles have been put somewhere else."""
        self.candidate_list.reset()
        self.penetration.reset()
        self.is_crossing_free = True
        self._was_pinched = False
        self._touched = np.zeros((2, self.n), bool)
        self._contacts = Contacts.none()
        self._rounds: list[Contacts] = []
        self.h = self._fraction = self._start = 0.0

    def rewind(self, fraction: float) -> None:
        """Put the colliders where they were at a fraction of the frame: a substep from there is tried again."""
        if fraction == self._start:
            self.candidate_list.bounds.advance(fraction - self._fraction, 1.0 - fraction)
        else:
            self.candidate_list.bounds.invalidate()
        self._fraction = self._start = fraction
        self.penetration.has_unresolved = False
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
            self.candidate_list.forget_rules()  # candidates keep the distances that they were found with
        out = [left_out(kind, maps, self._p.shape[1]) for kind in ("collision", "self_collision")]
        before = self._left_out
        if not all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in zip(out, before)):
            self._left_out = out
            self.candidate_list.forget_rules()

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        if not self.rest.size:
            self.active = False
            return
        self._w = self._counted = self.welds.merged(w)
        if self.colliders:
            self._w = self._counted = np.concatenate([self._w, np.zeros(self._p.shape[1] - self.n)])
        self._pieces = np.split(self.rigid.particles, self.rigid.starts[1:]) if self.rigid.active else []
        self._gravity = float(np.linalg.norm(settings.gravity))
        self._frictions = [material.friction for material in materials]
        if self.candidate_list.set_rules(self._rules(materials, settings), self.colliders):
            self._contacts = Contacts.none()
        self.active = self.candidate_list.active
        self.is_crossing_free = True

    def use_weights(self, w: np.ndarray) -> None:
        """Count forces with these inverse masses, (n,) [1/kg]; what is pushed moves by its true mass."""
        if self.active:
            self._counted = np.concatenate([self.welds.merged(w), self._w[self.n :]])

    def lay_path(self, start: Sequence[np.ndarray], end: Sequence[np.ndarray], fraction: float = 0.0) -> None:
        """Say where the colliders' vertices are at the beginning and at the end of a frame, (3, m) [m] each.

        A substep from `fraction` of it follows.
        """
        nothing = np.zeros((3, 0))
        self._fraction = self._start = fraction
        self._path = np.concatenate([nothing, *start], axis=1), np.concatenate([nothing, *end], axis=1)
        self.candidate_list.set_still([np.array_equal(a, b) for a, b in zip(start, end)])
        for part in (self._x, self._p):
            part[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])

    @property
    def prediction_error(self) -> np.ndarray:
        """Observed prediction error per substep of each particle, then of each body's mean, (n + bodies,) float32 [m].

        Besides the motion, motion bounds depend on nothing else: with it, a frame can be stepped again as it was.
        """
        bounds, bodies = self.candidate_list.bounds, len(self.surfaces)
        errors = np.concatenate([bounds.prediction_error[: self.n], bounds.error_of_mean[:bodies]])
        exists = np.concatenate([bounds.exists.take(bounds.owner[: self.n]), bounds.exists[:bodies]])
        return np.where(exists, errors, np.nan).astype(np.float32)

    @property
    def penetrated(self) -> np.ndarray:
        """Which closed colliders are around or through bodies, or may have pinched them, (bodies, colliders) bool.

        Besides the places, detection depends on nothing else: what a collider went through must not meet it.
        """
        found = np.zeros((len(self.surfaces), len(self.colliders)), bool)
        for pair in self._solid_pairs() if self.penetration.has_unresolved else self.penetration.penetrated_pairs:
            found[self._place_of(pair)] = True
        return found

    @property
    def has_pinched(self) -> bool:
        """Whether closed colliders pinched cloth in the frame, go through it, or overlap around it."""
        return self._was_pinched or self.is_pinched or self.penetration.has_no_way_out

    def begin_frame(
        self, kernels: Kernels, x: np.ndarray, way: np.ndarray, prediction_error: np.ndarray, penetrated: np.ndarray
    ) -> Generator[None, None, None]:
        """Invalidate the bounds of bodies that move, so that a frame depends on its state alone; in slices.

        Then detect intersections and penetrations, if there are any or nothing is known.

        Args:
            kernels: Module of kernels.
            x: Positions, (3, n) [m].
            way: How far they move in the frame at their velocities, (3, n) [m].
            prediction_error: At the end of the last frame, (n + bodies,) [m]; NaN where nothing is known.
            penetrated: At the end of the last frame, (bodies, colliders) bool.
        """
        self.candidate_list.query_seconds = 0.0
        self._touched = np.zeros((2, self.n), bool)
        self._was_pinched = self.keeps_unresolved = False
        if not self.active:
            self.candidate_list.bounds.invalidate()
            return
        self.candidate_list.bounds.restore(prediction_error[: self.n], prediction_error[self.n :])
        self.candidate_list.set_reference(np.concatenate([way, self._path[1] - self._path[0]], axis=1))
        self._read_colliders()
        if self.penetration.is_due:
            self._x[:, : self.n] = x
            may_be_pierced = [pair for pair in self._solid_pairs() if penetrated[self._place_of(pair)]]
            yield from self._detect(kernels, may_be_pierced)

    def _detect(self, kernels: Kernels, may_be_pierced: list[SurfacePair]) -> Generator[None, None, None]:
        """Detect what intersects and penetrates, in slices."""
        pairs = self.candidate_list.pairs_at(self._x)
        self.candidate_list.query_anew()
        yield from self.penetration.detect(kernels, self._x, self._w, pairs, may_be_pierced)

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h = h
        if self.candidate_list.moving_parts:
            self._x[:, self.n :] = self._p[:, self.n :]
            self._p[:, self.n :] = self._path[0] + fraction * (self._path[1] - self._path[0])
        self.candidate_list.bounds.advance(fraction - self._fraction, 1.0 - fraction)
        self._start, self._fraction = self._fraction, fraction
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
            finish(self._detect(kernels, self._solid_pairs()))
        if self.candidate_list.update(kernels, self._p, self._x) or self._is_first_pass:
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
        self._contacts.follow(before, self.candidate_list.rows.size)
        self._rounds.append(before)
        if self._contacts.rows.size:
            self._push(kernels)
            p[:] = self._p[:, : self.n]
            self.welds.follow(p)

    def _find(self, kernels: Kernels) -> None:
        self._contacts = Contacts.find(
            kernels, self.candidate_list.rows, self._p, self._x, self.h, self.penetration.stuck
        )

    def _push(self, kernels: Kernels) -> None:
        """Project the contacts."""
        contacts, rows = self._contacts, self._contacts.rows
        passes = ContactPasses(
            self.rigid, self._p, rows.particles, rows.weights, rows.normals, self._w.take(rows.particles)
        )
        enough = contacts.target_gap - GAP_TOLERANCE * rows.min_distance
        for number in range(MAX_PASSES):
            relaxation = RELAXATIONS[min(number, len(RELAXATIONS) - 1)]
            passes.project(kernels, self._p, contacts.target_gap, relaxation, contacts.multipliers)
            for plane in self.planes:
                passes.place(self._p)
                plane.project(kernels, self._p, self._x)
                passes.follow(self._p)
            if number + 1 >= len(RELAXATIONS) and (passes.gaps(kernels, self._p) >= enough).all():
                break
        passes.place(self._p)
        self.penetration.limit_speed(self._p, self._x, self.h)
        if self.rigid.active and len(self.penetration.exiting):
            self.rigid.project(kernels, self._p, self._x)

    def end_substep(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        """Apply friction and restitution, query once more, and run the crossing guard; x (3, n) is changed as well.

        It is shifted by what depenetration moved, so that no velocity comes of that.
        """
        if not self.candidate_list.rows.size or not np.isfinite(p).all():
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
                self.penetration.exiting_pairs, self.rigid,
            )  # fmt: skip
        self.candidate_list.update(kernels, self._p, self._x, before_guard=True)
        pieces, guarded = self._pieces, self._w.copy() if self._pieces else self._w
        for piece in pieces:
            guarded[piece] = 0.0  # as colliders: nothing that is clamped keeps its shape
        self.is_crossing_free = guard(
            kernels, self.candidate_list, self._p, self._x, guarded, pieces, self.keeps_unresolved
        )
        if pieces and not self.keeps_unresolved:
            self.is_crossing_free &= self._solids_are_apart(kernels, guarded == 0.0)
        self.penetration.has_unresolved |= not self.is_crossing_free
        p[:] = self._p[:, : self.n]
        self.welds.follow(p)
        if pushes:
            bounces = self._coefficients.restitution > 0.0
            opened = self._contacts.opened(kernels, self._p, self._x, self._w, bounces, self.rigid)
            x += (opened - self._x)[:, : self.n]
            self.welds.follow(x)

    def _solids_are_apart(self, kernels: Kernels, firm: np.ndarray) -> bool:
        """Whether rigid pieces cross nothing `firm` (N,) bool: the guard clamps neither, so a shorter substep must do.

        Two sides have a plane between them before the substep and after it: across one of three normals.
        """
        rows = self.candidate_list.rows
        solid = firm.take(rows.particles).all(axis=0) & np.isin(rows.particles, self.rigid.particles).any(axis=0)
        rows = rows.take(np.flatnonzero(solid & ~rows.is_exit))
        apart = np.zeros(rows.size, bool)
        closest = [kernels.closest_points(q, rows.particles, rows.kind)[2] for q in (self._p, self._x)]
        for normals in (rows.normals, *closest):
            both = [kernels.clearances(q, rows.particles, normals, rows.kind) > 0.0 for q in (self._p, self._x)]
            apart |= both[0] & both[1]
        return bool(apart.all())

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
        hit = distinct(self._contacts.rows.particles[:, self._contacts.pushing])
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

    def _rules(self, materials: Sequence[Material], settings: SolverSettings) -> Rules:
        """Which surfaces meet; notes the materials."""
        self._materials = list(materials)
        meet, is_rigid = settings.collisions != "OFF", np.array([material.rigid for material in materials], bool)
        between = np.array([
            (material.self_distance or AUTO_DISTANCE * surface.edge * scale) if surface else 0.0
            for material, surface, scale in zip(materials, self.surfaces, self._scale)
        ])  # fmt: skip
        self._between = 0.5 * (between[:, None] + between)
        thickness = self._thickness()
        self._between = np.where(is_rigid | is_rigid[:, None], thickness[:, None] + thickness, self._between)
        is_self = np.array([meet and material.self_collision for material in materials], bool)
        return Rules(self._distances(), is_self, meet, settings.collisions == "FAST", self.rest, self._left_out)

    def _thickness(self) -> np.ndarray:
        return np.array([material.thickness for material in self._materials])

    def _distances(self) -> np.ndarray:
        """As `Rules.distance`: that to colliders may change between frames."""
        of_colliders = np.array([collider.thickness for collider in self.colliders])
        return np.concatenate([self._between, self._thickness()[:, None] + of_colliders], axis=1)

    @property
    def is_pinched(self) -> bool:
        """Whether closed colliders pinched cloth: a substep was kept in which something would cross."""
        return self.penetration.has_unresolved and bool(self._solid_pairs())

    def _note_touches(self) -> None:
        hit = self._contacts.rows.particles[:, self._contacts.pushing]
        of_collider = (hit >= self.n).any(axis=0)
        for touched, rows in zip(self._touched, (hit[:, ~of_collider], hit[:, of_collider])):
            touched[rows[rows < self.n]] = True

    def _solid_pairs(self) -> list[SurfacePair]:
        solid = [k for k, collider in enumerate(self.colliders) if collider.closed]
        bodies = [k for k, surface in enumerate(self.surfaces) if surface is not None]
        return [self.candidate_list.pair(body, len(self.surfaces) + k) for body in bodies for k in solid]

    def _place_of(self, pair: SurfacePair) -> tuple[int, int]:
        """Numbers of the body and of the collider of a pair."""
        return self.surfaces.index(pair.one), self.obstacles.index(pair.other)

    def _read_colliders(self) -> None:
        """Distance, friction and restitution of each pair: a collider's may change between frames."""
        self.candidate_list.set_distance(self._distances())
        of_bodies = None if self._friction_map is None else self._friction_map.copy()
        for surface, friction in zip(self.surfaces, self._frictions):
            if surface is not None and of_bodies is not None:
                of_bodies[surface.part] *= friction
        self._coefficients = read_coefficients(self._materials, self.colliders, of_bodies)
