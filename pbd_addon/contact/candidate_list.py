"""Candidate list: when candidates are queried anew, and for which particles they may be incomplete.

A Verlet list whose skins are motion bounds: a query holds until a bound runs out or something leaves it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Watch, WatchedCones
from .broad_phase import SMOOTH_SHARE, BroadPhase, Rules, SurfacePair
from .candidates import Candidates, concatenate, no_candidates
from .collider import Collider
from .motion_bound import MotionBounds
from .narrow_phase import NearSearch
from .penetration import Penetration
from .seam_neighbors import SeamNeighbors
from .surface import Surface

LATE_SHARE = 0.02
"""Up to this share of the vertices of a surface are queried again alone, rather than all of it."""

CROWDED = 10
"""Candidates between cloth and cloth, for each vertex of a body, from which on no body is free, and if there are still
as many, bounds last for one substep until the frame ends: most of a long list is never near, and each body that is
queried alone is queried with all around it."""

GUARD_MARGIN = 0.4
"""Share of the smallest kept distance by which vertices may be beyond their margins where only the guard follows."""

NEAR = 1e-3
"""Share of the longest usual edge by which surfaces may be apart that are tested for what intersects. What touches is
within `exits.SURFACE_EPSILON` of an edge, or rounding."""


class CandidateList:
    """The candidates of all surfaces.

    Args:
        surfaces: Those of the bodies, None for one without triangles.
        obstacles: Those of the colliders, whose particles are behind those of the bodies.
        n: Number of particles of bodies.
        count: Number of all particles, N.
        seam_neighbors: What comes closer beside seams.
        penetration: What leaves candidates out and adds those that lead out.

    Attributes:
        rules: What meets, and how.
        bounds: Where all vertices can be.
        broad_phase: What finds candidates.
        rows: The candidates.
        least_distance: The smallest that is kept [m].
        guard_margin: By how much vertices may be beyond their margins where only the guard follows [m].
        query_seconds: Wall time of all queries since it was set to 0 [s].
    """

    def __init__(
        self,
        surfaces: Sequence[Surface | None],
        obstacles: Sequence[Surface],
        n: int,
        count: int,
        seam_neighbors: SeamNeighbors,
        penetration: Penetration,
    ) -> None:
        self._surfaces, self._bodies = [*surfaces, *obstacles], len(surfaces)
        self.bounds = MotionBounds(self._surfaces, n, count)
        self.broad_phase = BroadPhase(self._surfaces, self._bodies, self.bounds)
        self._seam_neighbors, self._penetration = seam_neighbors, penetration
        self.rules: Rules | None = None
        self._pairs: dict[int, SurfacePair] = {}
        self.rows = no_candidates()
        self.guard_margin = self.least_distance = 0.0
        self._found, self._is_stale = no_candidates(), True
        self.query_seconds = 0.0

    @property
    def active(self) -> bool:
        """Whether anything can meet."""
        return bool(self.broad_phase.encounters)

    def set_rules(self, rules: Rules, colliders: Sequence[Collider]) -> bool:
        """Say what meets; whether it is not the same as before, for which the candidates hold."""
        before, self._colliders = self.rules, colliders
        is_new = before is None or not rules.equals(before) or not np.array_equal(rules.distance, before.distance)
        if is_new:
            self._use(rules)
            self.rows, self._penetration.is_known = no_candidates(), False
            count = self._bodies
            meets_others = self.bounds.exists & ((rules.between and count > 1) or len(self._surfaces) > count)
            changed = self.bounds.self_only != ~meets_others
            self.bounds.self_only = ~meets_others
            self.bounds.invalidate(changed)
        return is_new

    def _use(self, rules: Rules) -> None:
        self.rules, self._pairs, self._is_stale = rules, {}, True
        self.broad_phase.set_rules(rules)
        there = rules.distance[self.bounds.exists[: self._bodies]]
        there = there[:, self.bounds.exists[:-1]]
        self.least_distance = float(there.min(initial=np.inf)) if there.size else 0.0
        self.guard_margin = GUARD_MARGIN * SMOOTH_SHARE * self.least_distance

    def set_distance(self, distance: np.ndarray) -> None:
        """Keep these distances, as `Rules.distance`, from now on."""
        if self.rules is not None and not np.array_equal(distance, self.rules.distance):
            self._use(self.rules._replace(distance=distance))

    def forget_rules(self) -> None:
        """Let `set_rules` begin anew: candidates keep what they were found with."""
        self.rules = None

    def pair(self, one: int, other: int) -> SurfacePair:
        """The pair of two surfaces, the first that of a body and with the smaller number."""
        number = one * (len(self._surfaces) + 1) + other
        if number not in self._pairs and self.rules is not None:
            sides = self._surfaces[one], self._surfaces[other]
            collider = self._colliders[other - self._bodies] if other >= self._bodies else None
            distance, left_out = float(self.rules.distance[one, other]), self.rules.left_out[int(one == other)]
            rest = self.rules.rest if one == other else None
            self._pairs[number] = SurfacePair(*sides, number, distance, collider, left_out, rest)  # type: ignore[arg-type]
        return self._pairs[number]

    def pairs_at(self, x: np.ndarray) -> list[SurfacePair]:
        """Pairs that meet with more than points and may intersect at x (3, N), and those with containers."""
        rules, bounds = self.rules, self.bounds
        if rules is None:
            return []
        low, high = np.full((2, 3, len(bounds.exists)), np.inf)
        for box, places in ((low, x), (high, -x)):
            for side, axis in zip(box, places):
                np.minimum.at(side, bounds.owner, axis)
        both = low[:, : self._bodies, None] <= NEAR * bounds.edge.max() - high[:, None, :-1]
        both &= low[:, None, :-1] <= NEAR * bounds.edge.max() - high[:, : self._bodies, None]
        near = both.all(axis=0) & bounds.exists[: self._bodies, None] & bounds.exists[:-1]
        near[:, self._bodies :] |= np.array([collider.inside for collider in self._colliders], bool)
        own = np.arange(self._bodies)
        near[:, : self._bodies] &= (rules.between and not rules.points_only) & (own[:, None] < own)
        near[own, own] = rules.is_self & (not rules.points_only)
        near &= bounds.exists[: self._bodies, None]
        return [self.pair(one, other) for one, other in np.argwhere(near).tolist()]

    def set_reference(self, way: np.ndarray) -> None:
        """Choose the frame of reference in which both sides of all pairs move least: a surface's, or that at rest.

        Bounds of two sides end at different times, so that both sides of a pair count, even if they move as one.

        way: how far each particle moves in the frame, (3, N) [m].
        """
        bounds, bodies = self.bounds, self._bodies
        ways = bounds.means(way).T[:-1]
        count = bounds.exists[:bodies].sum()
        others = len(ways) - bodies + (count - 1 if self.rules is not None and self.rules.between else 0)
        weight = np.where(np.arange(len(ways)) < bodies, others, count) * bounds.exists[:-1]
        far = bounds.exists[:-1] & (np.sqrt(np.einsum("ki,ki->k", ways, ways)) > bounds.edge[:-1])
        choices = np.concatenate([np.zeros((1, 3)), ways[far]])
        off = np.sqrt(((choices[:, None] - ways) ** 2).sum(axis=2))
        reference = choices[np.argmin(off @ weight)]
        if reference.any() or bounds.reference.any():
            bounds.use_reference(reference)

    def set_still(self, is_still: Sequence[bool]) -> None:
        """Say which obstacles do not move in the frame that begins."""
        now = np.zeros_like(self.bounds.is_still)
        now[self._bodies : -1] = is_still
        self.bounds.invalidate(self.bounds.is_still != now)
        self.bounds.is_still = now

    def reset(self) -> None:
        """Forget everything."""
        self.bounds.invalidate()
        self.rows = no_candidates()

    def query_anew(self) -> None:
        """Let the next update query everything."""
        self._is_stale = True

    @property
    def moving_parts(self) -> list[slice]:
        """Particles of each obstacle that moves in the frame."""
        still = self.bounds.is_still[self._bodies : -1]
        return [one.part for one, is_still in zip(self._surfaces[self._bodies :], still) if one and not is_still]

    def watch(self, p: np.ndarray, lengths: Sequence[float], near_search: NearSearch) -> Watch | None:
        """What shows that no query is due in substeps of these lengths of time, or some of them, and nothing near;
        None if one is due.

        p: Where particles will be, (3, N) [m].
        """
        fields, bounds = self.broad_phase.height_fields, self.bounds
        if fields is None or self._is_stale or not bounds.are_free or (self._have_fields & ~fields.are_known).any():
            return None
        motion = bounds.watch(lengths)
        cones = WatchedCones(fields.faces, *fields.checks[2:])
        return Watch(p, motion, cones, near_search.watch(self.rows, p)) if len(motion.steps) else None

    def update(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, before_guard: bool = False) -> bool:
        """Query where motion bounds or height fields are violated; whether the candidates have changed.

        Args:
            kernels: Module of kernels.
            p: Positions after the substep, (3, N) [m].
            x: Positions before it, (3, N) [m].
            before_guard: Whether only the crossing guard follows. What a query leaves out is farther apart than the
                distance, so that there is room to be beyond the margins without crossing.
        """
        bounds, fields = self.bounds, self.broad_phase.height_fields
        expired, is_late = self._look(kernels, p, before_guard)
        if fields is not None:
            fresh = self._have_fields & ~(bounds.is_set & fields.are_known)
            is_late[fields.update(kernels, p, fresh, before_guard)] = True
            expired |= bounds.keep_free(fields.is_smooth | ~self._have_fields)
        if expired.any():
            bounds.predict(x, p, expired)
            is_late |= expired.take(bounds.owner)
        if not is_late.any() and not self._is_stale:
            return False
        began = time.perf_counter()
        everything = self._is_stale or bool((expired | ~bounds.exists)[: self._bodies].all())
        found = self.broad_phase.find(kernels, x, None if everything else is_late)
        rows = self._seam_neighbors.bring_closer(found)
        if not everything:
            kept = ~is_late.take(self._found.particles).any(axis=0)
            rows = concatenate([self._found.take(np.flatnonzero(kept)), rows])
        self._found, self._is_stale = rows, False
        is_crowded = (rows.particles[[0, 3]] < bounds.n).all(axis=0).sum() > CROWDED * bounds.n
        self.query_seconds += time.perf_counter() - began
        if is_crowded and bounds.is_free.any():
            bounds.invalidate(bounds.keep_free(np.zeros_like(bounds.is_free)))
            return self.update(kernels, p, x, before_guard)
        bounds.is_crowded |= is_crowded
        self.rows = self._penetration.filter(rows)
        return True

    def late_candidates(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, is_late: np.ndarray) -> Candidates:
        """Candidates that can cross on x -> p (3, N), with particles that left their motion bounds, is_late (N,)."""
        found = self.broad_phase.late_candidates(kernels, x, p, is_late)
        return self._penetration.filter(self._seam_neighbors.bring_closer(found))

    def violating(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles for which the candidates may be incomplete, (N,) bool."""
        bounds, violating = self.bounds, np.zeros(p.shape[1], bool)
        deviation = bounds.deviation(kernels, p)
        off = (bounds.exists & ~bounds.hold_as_wholes(deviation)).take(bounds.owner[: bounds.n])
        off |= bounds.violations(deviation, 1.01 * self.guard_margin)
        violating[: bounds.n] = off & bounds.exists.take(bounds.owner[: bounds.n])
        if self.broad_phase.height_fields is not None:
            violating[self.broad_phase.height_fields.outside(kernels, p)] = True
        return violating

    @property
    def _have_fields(self) -> np.ndarray:
        """Which surfaces have pieces that need not meet themselves, (k + 1,) bool."""
        have = np.zeros_like(self.bounds.exists)
        if self.rules is not None and not self.rules.points_only:
            have[: self._bodies] = self.rules.is_self
        return have & self.bounds.exists

    def _look(self, kernels: Kernels, p: np.ndarray, before_guard: bool) -> tuple[np.ndarray, np.ndarray]:
        """Which surfaces need a new bound, (k + 1,) bool; few particles outside of theirs are late instead, (N,)."""
        bounds, is_late = self.bounds, np.zeros(p.shape[1], bool)
        expired = bounds.exists & ~bounds.is_valid()
        if not bounds.is_set[: self._bodies].any():
            return expired, is_late
        deviation, of_bodies = bounds.deviation(kernels, p), bounds.owner[: bounds.n]
        if not before_guard:
            bounds.observe(deviation)  # where the bound has run out too, or one of one substep would never grow
        expired |= bounds.exists & bounds.is_set & ~bounds.hold_as_wholes(deviation)
        outside = bounds.violations(deviation, self.guard_margin if before_guard else 0.0)
        outside &= (bounds.exists & ~expired).take(of_bodies)
        many = np.bincount(of_bodies[outside], minlength=len(expired)) > LATE_SHARE * bounds.counts
        expired |= many
        late = np.flatnonzero(outside & ~many.take(of_bodies))
        bounds.widen(late, deviation)
        is_late[late] = True
        return expired, is_late
