"""Contact of surfaces, with colliders, with other cloth and of cloth with itself, as one kind of constraint."""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Watch
from ..timing.slices import finish
from .contact_scene import ContactScene
from .contacts import Contacts
from .friction import apply_friction_and_restitution
from .guard_rounds import guard, hold_back
from .narrow_phase import find_contacts
from .penetration import crosses_anew

AHEAD = 1.0 / 20.0
"""Unit of time in which free bodies are predicted at the beginning of a frame, in frames."""


class ContactConstraints(ContactScene):
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
            yield from self._detect(kernels, penetrated & self.solid)
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

    def _detect(self, kernels: Kernels, may_be_pierced: np.ndarray) -> Generator[None, None, None]:
        """Detect what intersects and penetrates, in slices; may_be_pierced: (bodies, colliders) bool."""
        pairs = self.candidate_list.pairs_at(self._x)
        self.candidate_list.query_anew()
        yield from self.penetration.detect(kernels, self._x, self._w, self.n, pairs, self._numbers_of(may_be_pierced))

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
            finish(self._detect(kernels, self.solid))
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

    @property
    def is_pinched(self) -> bool:
        """Whether closed colliders pinched cloth: a substep was kept in which something would cross."""
        return self.penetration.has_unresolved and bool(self.solid.any())

    @property
    def _is_squeezed(self) -> bool:
        """Whether it can be colliders that pinched: what none of them moves was pulled through them by pins."""
        return self.is_pinched and bool(self.candidate_list.moving_parts)

    def _note_touches(self) -> None:
        hit = self._contacts.particles.take(self._contacts.pushing, axis=1)
        of_collider = (hit >= self.n).any(axis=0)
        for touched, some in zip(self._touched, (~of_collider, of_collider)):
            touched[hit.take(np.flatnonzero(some), axis=1)] = True
