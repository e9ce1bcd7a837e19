"""Contact of surfaces, with colliders, with other cloth and of cloth with itself, as one kind of constraint."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..constraints import PlaneConstraints, RigidConstraints, WeldConstraints
from ..kernels import Kernels
from ..kernels.protocol.frames import Watch
from ..meshes.factors import left_out
from ..settings.scale import calm_speed, distance_at
from ..settings.solver_settings import SolverSettings
from ..timing.slices import finish
from .broad_phase import Rules, SurfacePair
from .candidate_list import CandidateList
from .collider import Collider
from .contact_rows import ContactRows
from .contacts import Contacts
from .friction import apply_friction_and_restitution, read_coefficients
from .guard_rounds import guard, hold_back
from .narrow_phase import NearSearch, find_contacts
from .penetration import Penetration, crosses_anew
from .seam_neighbors import SeamNeighbors
from .surface import Surface

if TYPE_CHECKING:
    from ..bodies.material import Material

AHEAD = 1.0 / 20.0
"""Unit of time in which free bodies are predicted at the beginning of a frame, in frames."""

AUTO_DISTANCE = 0.5
"""Default distance between layers of cloth, in edges."""


class ContactConstraints(ContactRows):
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
        piece: As in `broad_phase.Rules`.

    Attributes:
        is_crossing_free: Whether the last substep ended without an unresolved crossing.
        keeps_unresolved: Whether a substep counts even if it does not; else it will be tried again in halves.
        unprojected: Positions before contact was projected, (3, n) [m]; None where nothing touches.
        candidate_list: Candidates of all pairs of surfaces.
        usual_edges: Median edge of each body, (bodies,) [m]; 0 for one without a surface.
    """

    name = "contact"

    def __init__(
        self,
        surfaces: Sequence[Surface | None],
        obstacles: Sequence[Surface],
        colliders: Sequence[Collider],
        rest: np.ndarray,
        planes: Sequence[PlaneConstraints],
        welds: WeldConstraints,
        seam_neighbors: SeamNeighbors,
        rigid: RigidConstraints,
        piece: np.ndarray | None = None,
    ) -> None:
        self.rigid, self._piece = rigid, piece
        self.welds = welds
        self.surfaces, self.obstacles, self.colliders = list(surfaces), list(obstacles), list(colliders)
        self.planes, self.n = planes, len(welds.first)
        self.rest = self._unmapped_rest = rest
        self.usual_edges = np.array([surface.edge if surface else 0.0 for surface in self.surfaces])
        # That of the largest body: in a scene of dolls, all are small.
        extents = [np.linalg.norm(np.ptp(rest[:, one.part], axis=1)) for one in self.surfaces if one is not None]
        self.calm = calm_speed(float(max(extents, default=1.0)))
        self._scale = np.ones(len(self.surfaces))
        self._friction_map: np.ndarray | None = None
        total = rest.shape[1] + sum(len(collider.vertices) for collider in colliders)
        self._p, self._x = np.zeros((3, total)), np.zeros((3, total))
        self._left_out: list[np.ndarray | None] = [None, None]
        self._path = self._p[:, self.n :], self._p[:, self.n :]
        self.penetration = Penetration()
        self.candidate_list = CandidateList(surfaces, obstacles, self.n, total, seam_neighbors, self.penetration)
        self._near = NearSearch()
        self.unprojected: np.ndarray | None = None
        self.reset()

    def reset(self, is_apart: bool = False) -> None:
        """Forget everything, also intersections: the particles have been put somewhere else.

        is_apart: `is_apart` when they were there.
        """
        self.candidate_list.reset()
        self.penetration.reset()
        if is_apart:
            self.penetration.is_known, self.penetration.intersecting = True, np.zeros(self._p.shape[1], bool)
        self.is_crossing_free = True
        self._was_pinched = False
        self._touched = np.zeros((2, self._p.shape[1]), bool)
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
        errors = np.full(self.n + bodies, np.nan, np.float32)
        if self.rest.size:
            known = np.concatenate([bounds.prediction_error[: self.n], bounds.error_of_mean[:bodies]])
            exists = np.concatenate([bounds.exists.take(bounds.owner[: self.n]), bounds.exists[:bodies]])
            np.copyto(errors, known, casting="same_kind", where=exists)
        return errors

    @property
    def penetrated(self) -> np.ndarray:
        """Which closed colliders are around or through bodies, or may have pinched them, (bodies, colliders) bool.

        Besides the places, detection depends on nothing else: what a collider went through must not meet it.
        """
        found = np.zeros((len(self.surfaces), len(self.colliders)), bool)
        for pair in self.solid_pairs() if self.penetration.has_unresolved else self.penetration.penetrated_pairs:
            found[self._place_of(pair)] = True
        return found

    @property
    def is_apart(self) -> bool:
        """Whether nothing intersects: the next frame need not look, nor one that goes on from here."""
        return not self.penetration.is_due

    @property
    def has_pinched(self) -> bool:
        """Whether closed colliders pinched cloth in the frame, or overlap around it."""
        return self._was_pinched or self._is_squeezed or self.penetration.has_no_way_out

    def begin_frame(
        self,
        kernels: Kernels,
        x: np.ndarray,
        way: np.ndarray,
        pushed: np.ndarray,
        prediction_error: np.ndarray,
        penetrated: np.ndarray,
    ) -> Generator[None, None, None]:
        """Invalidate the bounds of all bodies, so that a frame depends on its state alone; in slices.

        Then detect intersections and penetrations, if there are any or nothing is known.

        Args:
            kernels: Module of kernels.
            x: Positions, (3, n) [m].
            way: How far they move in the frame at their velocities, (3, n) [m].
            pushed: Which bodies were pushed in the last frame, (bodies,) bool.
            prediction_error: At the end of the last frame, (n + bodies,) [m]; NaN where nothing is known.
            penetrated: At the end of the last frame, (bodies, colliders) bool.
        """
        self.candidate_list.query_seconds = 0.0
        self._touched = np.zeros((2, self._p.shape[1]), bool)
        self._was_pinched = self.keeps_unresolved = False
        if not self.active:
            self.candidate_list.bounds.invalidate()
            return
        self.candidate_list.bounds.restore(prediction_error[: self.n], prediction_error[self.n :])
        way = np.concatenate([way, self._path[1] - self._path[0]], axis=1)
        self.candidate_list.set_reference(way)
        self._read_colliders()
        if self.penetration.is_due:
            self._x[:, : self.n] = x
            may_be_pierced = [pair for pair in self.solid_pairs() if penetrated[self._place_of(pair)]]
            yield from self._detect(kernels, may_be_pierced)
        bounds, self._x[:, : self.n], self._x[:, self.n :] = self.candidate_list.bounds, x, self._p[:, self.n :]
        bounds.find_free(self._x, way, pushed)
        if bounds.are_free:
            self._look_ahead(kernels, way)

    def _look_ahead(self, kernels: Kernels, way: np.ndarray) -> None:
        """Query before the first substep, for the way of all particles at the present velocities, (3, N) [m]."""
        bounds, there = self.candidate_list.bounds, self._x + AHEAD * way
        bounds.advance(AHEAD, 1.0 - self._fraction - AHEAD)
        self.candidate_list.update(kernels, there, self._x)
        bounds.advance(-AHEAD, 1.0 - self._fraction)

    def _detect(self, kernels: Kernels, may_be_pierced: list[SurfacePair]) -> Generator[None, None, None]:
        """Detect what intersects and penetrates, in slices."""
        pairs = self.candidate_list.pairs_at(self._x)
        self.candidate_list.query_anew()
        yield from self.penetration.detect(kernels, self._x, self._w, self.n, pairs, may_be_pierced)

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

    def watch(self, fractions: Sequence[float]) -> Watch | None:
        """What shows that there is nothing to do in substeps that end at these fractions of the frame, all or the first
        ones; None if there may be at once.

        All bodies are free, and nothing else moves, or is to be led out. Bounds of what is not free are too short: a
        substep that has to be made again costs more than is saved.
        """
        if self.candidate_list.moving_parts or self.penetration.is_due or self.welds.active or self.rigid.active:
            return None
        return self.candidate_list.watch(self._p, np.diff(fractions, prepend=self._fraction).tolist(), self._near)

    def idle(self, h: float, fractions: Sequence[float]) -> None:
        """Take note of substeps of h seconds in which there was nothing to do, see `watch`."""
        for fraction in fractions:
            self.begin_substep(h, fraction)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        if not np.isfinite(p).all():
            return  # the solver tries again
        self.welds.unite(p)
        self._p[:, : self.n], self._x[:, : self.n] = p, x
        self._is_far = False
        if self._is_first_pass and self.is_pinched:  # in the last substep, which was taken as it was
            self._was_pinched |= self._is_squeezed
            finish(self._detect(kernels, self.solid_pairs()))
        if self.candidate_list.update(kernels, self._p, self._x) or self._is_first_pass:
            self._rounds.append(self._contacts)
            self._find(kernels)
            self._is_first_pass = False
            self._is_far = not self._contacts.size
        if self._contacts.size:
            self.unprojected = p.copy()
            self._push(kernels)
            p[:] = self._p[:, : self.n]
            self.welds.follow(p)

    def project_again(self, kernels: Kernels, p: np.ndarray) -> None:
        """Find the contacts at p (3, n) anew, among the same candidates, and project them; in place.

        What is no candidate is left to the crossing guard: a query in each round would take most of the time. Planes
        are projected in any case: springs may have pulled through them what touches nothing else.
        """
        self.welds.unite(p)
        self._p[:, : self.n] = p
        before = self._contacts
        self._find(kernels)
        self._contacts.follow(before)
        self._rounds.append(before)
        if self._contacts.size:
            self._push(kernels)
            p[:] = self._p[:, : self.n]
            self.welds.follow(p)
            return
        for plane in self.planes:
            plane.project(kernels, p, self._x[:, : self.n])

    def _find(self, kernels: Kernels) -> None:
        candidates = self.candidate_list.rows
        near = self.penetration.without_resting(self._near.find(kernels, candidates, self._p))
        stuck = self.penetration.stuck
        self._contacts = find_contacts(kernels, candidates, near, self._p, self._x, self._w, self.calm * self.h, stuck)

    def _push(self, kernels: Kernels) -> None:
        """Project the contacts."""
        self._contacts.push(kernels, self._p, self._x, self.planes, self.rigid)
        if len(self.penetration.exiting):
            self.penetration.limit_speed(self._p, self._x, self.calm * self.h)
            if self.rigid.active:
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
                kernels, self._contacts, self._coefficients, self._p, self._x, least_approach,
                self.penetration.exiting_pairs, self.rigid,
            )  # fmt: skip
        self.candidate_list.update(kernels, self._p, self._x, before_guard=True)
        pieces, guarded = self._pieces, self._w.copy() if self._pieces else self._w
        for piece in pieces:
            guarded[piece] = 0.0  # as colliders: nothing that is clamped keeps its shape
        self.is_crossing_free = guard(
            kernels, self.candidate_list, self._near, self._p, self._x, guarded, pieces, self.keeps_unresolved
        )
        if pieces and not self.keeps_unresolved:
            self.is_crossing_free &= self._solids_are_apart(kernels, guarded == 0.0)
        self.penetration.has_unresolved |= not self.is_crossing_free
        p[:] = self._p[:, : self.n]
        self.welds.follow(p)
        if pushes:
            bounces = self._coefficients.restitution > 0.0
            opened = self._contacts.opened(kernels, self._p, self._x, bounces, self.rigid)
            x += (opened - self._x)[:, : self.n]
            self.welds.follow(x)

    def _solids_are_apart(self, kernels: Kernels, firm: np.ndarray) -> bool:
        """Whether rigid pieces cross nothing `firm` (N,) bool: the guard clamps neither, so a shorter substep must do.

        Two sides have a plane between them before the substep and after it: across one of three normals.
        """
        rows = self.candidate_list.rows
        solid = firm.take(rows.particles).all(axis=0) & np.isin(rows.particles, self.rigid.particles).any(axis=0)
        which = np.flatnonzero(solid & ~rows.is_exit)
        for here, there in ((self._p, self._x), (self._x, self._p)):
            which = kernels.unseparated(here, there, rows.particles, rows.normals, rows.kind, which, True)
        return not len(which)

    def hold_back(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, first: np.ndarray) -> np.ndarray:
        """At the end of a frame, which of the particles that become one would cross something on x -> p (3, n), (n,)
        bool; `first` (n,) is the one that stands for each.
        """
        if not self.active:
            return np.zeros(self.n, bool)
        self._p[:, : self.n], self._x[:, : self.n] = p, x
        self._x[:, self.n :] = self._p[:, self.n :]
        of_all = np.concatenate([first, np.arange(self.n, self._p.shape[1])])
        return hold_back(kernels, self.candidate_list, self._p, self._x, self._w, of_all)[: self.n]

    def crosses_anew(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> bool:
        """Whether something crosses at p (3, n) that does not at x (3, n), at the end of a frame."""
        self._p[:, : self.n], self._x[:, : self.n] = p, x
        self._x[:, self.n :] = self._p[:, self.n :]
        pairs = self.candidate_list.pairs_at(self._p) if self.active else []
        return crosses_anew(kernels, self._p, self._x, pairs)

    def withhold(self, kernels: Kernels, moved: np.ndarray, share: float) -> None:
        """Count the pull of springs at held particles as a load on the contacts with colliders that hold them.

        Args:
            kernels: Module of kernels.
            moved: By how much springs moved them, (3, n) [m]; 0 for all others.
            share: Share of their inverse masses that they were moved with.
        """
        if self.colliders:
            mass = np.divide(1.0, self._w[: self.n], out=np.zeros(self.n), where=self._w[: self.n] > 0.0)
            load = np.zeros_like(self._p)
            load[:, : self.n] = (1.0 / share - 1.0) * mass * moved
            self._contacts.withhold(kernels, self.n, load)

    def held(self, kernels: Kernels) -> np.ndarray:
        """Particles that colliders pushed to one side in the last projection, (n,) bool."""
        if not self.colliders:
            return np.zeros(self.n, bool)
        held = self._contacts.pushed_one_way(kernels, self.n, self._p.shape[1])[: self.n]
        self.welds.follow(held)
        return held

    def touching(self, with_colliders: bool) -> np.ndarray:
        """Particles of bodies that touched a collider in the frame, or else other cloth; (k,) int."""
        if not self.active:
            return np.zeros(0, int)
        touched = self._touched[int(with_colliders), : self.n].copy()
        self.welds.follow(touched)
        return np.flatnonzero(touched)

    def met_themselves(self, islands: np.ndarray, count: int) -> np.ndarray:
        """Which of `count` islands, (n,) int of each particle, pushed no other in the substep and have no collider near
        them, (count,) bool.
        """
        alone = np.ones(count, bool)
        rows = [found.particles.take(found.pushing, axis=1) for found in (*self._rounds, self._contacts)]
        for particles in (self.candidate_list.rows.particles, *rows) if self.obstacles else ():
            beside = particles[:, (particles >= self.n).any(axis=0)]
            alone[islands[beside[beside < self.n]]] = False
        for particles in rows:
            met = islands[particles[:, (particles < self.n).all(axis=0)]]
            alone[met[:, (met != met[0]).any(axis=0)]] = False
        return alone

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
        is_fast = settings.collisions == "FAST"
        return Rules(self._distances(), is_self, meet, is_fast, self.rest, self._left_out, self._piece)

    def _thickness(self) -> np.ndarray:
        return np.array([material.thickness for material in self._materials])

    def _distances(self) -> np.ndarray:
        """As `Rules.distance`: that to colliders may change between frames."""
        of_colliders, own = np.array([collider.thickness for collider in self.colliders]), self._thickness()
        edge = np.array([surface.edge if surface else np.inf for surface in self.surfaces])
        edge[[material.rigid for material in self._materials]] = np.inf
        near = distance_at(own, edge)[:, None] + distance_at(of_colliders, edge[:, None])
        return np.concatenate([self._between, near], axis=1)

    @property
    def is_pinched(self) -> bool:
        """Whether closed colliders pinched cloth: a substep was kept in which something would cross."""
        return self.penetration.has_unresolved and bool(self.solid_pairs())

    @property
    def _is_squeezed(self) -> bool:
        """Whether it can be colliders that pinched: what none of them moves was pulled through them by pins."""
        return self.is_pinched and bool(self.candidate_list.moving_parts)

    def _note_touches(self) -> None:
        hit = self._contacts.particles.take(self._contacts.pushing, axis=1)
        of_collider = (hit >= self.n).any(axis=0)
        for touched, some in zip(self._touched, (~of_collider, of_collider)):
            touched[hit.take(np.flatnonzero(some), axis=1)] = True

    def solid_pairs(self) -> list[SurfacePair]:
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
