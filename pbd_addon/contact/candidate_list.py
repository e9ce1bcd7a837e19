"""Candidate list: when candidates are queried anew, and for which particles they may be incomplete.

A Verlet list whose skins are motion bounds: a query holds until a bound runs out or something leaves it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..kernels import Kernels
from .broad_phase import SMOOTH_SHARE, Range, SurfacePair
from .candidates import Candidates, concatenate, no_candidates
from .penetration import Penetration
from .seam_neighbors import SeamNeighbors
from .surface import Surface

LATE_SHARE = 0.02
"""Up to this share of the vertices of a surface are queried again alone, rather than all of it."""

GUARD_MARGIN = 0.4
"""Share of the smallest kept distance by which vertices may be beyond their margins where only the guard follows."""


class CandidateList:
    """The candidates of all pairs of surfaces.

    Args:
        surfaces: Those of the bodies, None for one without triangles.
        obstacles: Those of the colliders, whose particles are behind those of the bodies.
        seam_neighbors: What comes closer beside seams.
        penetration: What leaves candidates out and adds those that lead out.

    Attributes:
        pairs: Which surfaces meet.
        rows: Their candidates.
        guard_margin: By how much vertices may be beyond their margins where only the guard follows [m].
        is_still: Which obstacles do not move in the frame.
        query_seconds: Wall time of all queries since it was set to 0 [s].
    """

    def __init__(
        self,
        surfaces: Sequence[Surface | None],
        obstacles: Sequence[Surface],
        seam_neighbors: SeamNeighbors,
        penetration: Penetration,
    ) -> None:
        self._obstacles = list(obstacles)
        self._surfaces = [*(surface for surface in surfaces if surface is not None), *obstacles]
        self._seam_neighbors, self._penetration = seam_neighbors, penetration
        self.pairs: list[SurfacePair] = []
        self._sides = np.zeros((2, 0), int)
        self.rows = no_candidates()
        self.guard_margin = 0.0
        self.is_still = [False] * len(self._obstacles)
        self.query_seconds = 0.0

    def set_pairs(self, pairs: list[SurfacePair]) -> bool:
        """Use these pairs; whether they are not the same as before, whose candidates hold."""
        others = {surface for pair in pairs if pair.one is not pair.other for surface in (pair.one, pair.other)}
        for surface in self._surfaces:
            if surface.motion_bound.self_only != (surface not in others):
                surface.motion_bound.self_only = surface not in others
                surface.motion_bound.invalidate()
        is_new = [pair.key for pair in pairs] != [pair.key for pair in self.pairs]
        if is_new:
            self.pairs, self.rows = pairs, no_candidates()
            number = {surface: k for k, surface in enumerate(self._surfaces)}
            self._sides = np.array([[number[pair.one], number[pair.other]] for pair in pairs], int).reshape(-1, 2).T
            self._penetration.is_known = False
        self.guard_margin = GUARD_MARGIN * SMOOTH_SHARE * min((pair.distance for pair in self.pairs), default=0.0)
        return is_new

    def set_reference(self, ways: np.ndarray) -> None:
        """Choose the frame of reference in which both sides of all pairs move least: a surface's, or that at rest.

        Bounds of two sides end at different times, so that both sides of a pair count, even if they move as one.

        ways: how far each surface moves in the frame, those of the bodies first, (surfaces, 3) [m].
        """
        number = {surface: k for k, surface in enumerate(self._surfaces)}
        sides = [[number[pair.one], number[pair.other]] for pair in self.pairs if pair.one is not pair.other]
        meeting = ways[np.array(sides, int).ravel()]
        edges = np.array([surface.edge for surface in self._surfaces])
        choices = np.concatenate([np.zeros((1, 3)), ways[np.linalg.norm(ways, axis=1) > edges]])
        reference = choices[np.argmin(np.linalg.norm(choices[:, None] - meeting, axis=2).sum(axis=1))]
        for surface in self._surfaces:
            if reference.any() or surface.motion_bound.reference.any():
                surface.motion_bound.use_reference(reference)

    def set_still(self, is_still: list[bool]) -> None:
        """Say which obstacles do not move in the frame; the bounds of all others end."""
        for obstacle, before, now in zip(self._obstacles, self.is_still, is_still):
            if not (now and before):
                obstacle.motion_bound.invalidate()
        self.is_still = is_still

    def reset(self) -> None:
        """Forget everything."""
        self.invalidate()
        self.rows = no_candidates()

    def invalidate(self) -> None:
        """Let no motion bound hold."""
        for surface in self._surfaces:
            surface.motion_bound.invalidate()

    def advance(self, length: float, left: float) -> None:
        """Begin a substep of this length, after which so much is `left` of the frame, in any unit."""
        for surface in self._surfaces:
            surface.motion_bound.advance(length, left)

    @property
    def moving_parts(self) -> list[slice]:
        """Particles of each obstacle that moves in the frame."""
        return [obstacle.part for obstacle, still in zip(self._obstacles, self.is_still) if not still]

    def update(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, before_guard: bool = False) -> bool:
        """Query where motion bounds or height fields are violated; whether the candidates have changed.

        Args:
            kernels: Module of kernels.
            p: Positions after the substep, (3, N) [m].
            x: Positions before it, (3, N) [m].
            before_guard: Whether only the crossing guard follows. What a query leaves out is farther apart than the
                distance, so that there is room to be beyond the margins without crossing.
        """
        is_late = np.zeros(p.shape[1], bool)
        expired = {one for one in self._surfaces if self._has_expired(kernels, p, one, before_guard, is_late)}
        lost: dict[SurfacePair, np.ndarray] = {}
        for pair in self.pairs:
            if pair.one is not pair.other or pair.points_only:
                continue
            if not pair.one.motion_bound.is_set or not pair.height_fields.are_known:
                pair.height_fields.forget()
                pair.height_fields.find(kernels, p)
            elif not before_guard and not pair.height_fields.hold(kernels, p):
                lost[pair] = pair.height_fields.renew(kernels, p)
        for surface in expired:
            surface.motion_bound.predict(x, p)
        has_late = {surface for surface in self._surfaces if is_late[surface.part].any()}
        stale = {pair for pair in self.pairs if pair.is_stale}
        late = {pair for pair in self.pairs if pair not in stale and not has_late.isdisjoint((pair.one, pair.other))}
        late |= {pair for pair in lost if pair not in stale and len(lost[pair])}
        if not stale and not late:
            return False
        began = time.perf_counter()
        near = set(self._near([surface.motion_bound.ranges(with_drift=True) for surface in self._surfaces]))
        for pair in stale - near:
            pair.clear()
        for pair in stale & near:
            pair.query(kernels, x)
        for pair in late & near:
            of_pair = is_late.copy()
            of_pair[lost.get(pair, [])] = True
            pair.query_again(kernels, x, of_pair)
        self.rows = self._filter(concatenate([pair.candidates for pair in self.pairs]))
        self.query_seconds += time.perf_counter() - began
        return True

    def late_candidates(self, kernels: Kernels, p: np.ndarray, x: np.ndarray, is_late: np.ndarray) -> Candidates:
        """Candidates that can cross on x -> p (3, N), with particles that left their motion bounds, is_late (N,)."""
        low, high = np.minimum(x, p), np.maximum(x, p)
        near = self._near([(low[:, surface.part], high[:, surface.part]) for surface in self._surfaces])
        pairs = [pair for pair in near if not pair.points_only]
        return self._filter(concatenate([pair.late_candidates(kernels, x, p, is_late) for pair in pairs]))

    def violating(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles for which the candidates may be incomplete, (N,) bool."""
        violating = np.zeros(p.shape[1], bool)
        for surface in self._surfaces:
            bound = surface.motion_bound
            if surface not in self._obstacles:
                deviation = bound.deviation(kernels, p)
                if bound.holds_as_a_whole(deviation):
                    violating[bound.violations(deviation, 1.01 * self.guard_margin) + bound.part.start] = True
                else:
                    violating[surface.part] = True
        for pair in self.pairs:
            violating[pair.height_fields.outside(kernels, p)] = True
        return violating

    def _near(self, ranges: Sequence[Range]) -> list[SurfacePair]:
        """Pairs whose surfaces come as near as their distance; ranges: where the vertices of each surface can be."""
        low, high = np.array([(low.min(axis=1), high.max(axis=1)) for low, high in ranges]).transpose(1, 0, 2)
        one, other = self._sides
        gap = np.maximum(low[one] - high[other], low[other] - high[one]).max(axis=1)
        distance = np.array([pair.distance for pair in self.pairs])
        return [self.pairs[k] for k in np.flatnonzero(gap <= distance)]

    def _filter(self, candidates: Candidates) -> Candidates:
        if any(pair.left_out is not None for pair in self.pairs):
            parts = np.ones(candidates.size, bool)
            for pair in self.pairs:
                own = np.flatnonzero(candidates.pair == pair.number)
                parts[own] = pair.takes_part(candidates.particles.take(own, axis=1))
            candidates = candidates.take(parts)
        return self._penetration.filter(self._seam_neighbors.bring_closer(candidates))

    def _has_expired(
        self, kernels: Kernels, p: np.ndarray, surface: Surface, before_guard: bool, is_late: np.ndarray
    ) -> bool:
        """Whether a surface needs a new bound; few vertices outside of theirs are late instead, (N,) bool."""
        bound, is_collider = surface.motion_bound, surface in self._obstacles
        if is_collider and bound.is_set and not bound.reference.any() and self.is_still[self._obstacles.index(surface)]:
            return False
        if not bound.is_set:
            return True
        deviation = bound.deviation(kernels, p)
        if not before_guard:
            bound.observe(deviation)  # where the bound has run out too, or one of one substep would never grow
        if not bound.is_valid or not bound.holds_as_a_whole(deviation):
            return True
        outside = bound.violations(deviation, self.guard_margin if before_guard else 0.0)
        if is_collider or len(outside) > LATE_SHARE * len(surface.vertices):
            return len(outside) > 0
        bound.widen(outside, deviation)
        is_late[outside + surface.part.start] = True
        return False
