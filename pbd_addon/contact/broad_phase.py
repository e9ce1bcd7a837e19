"""Broad phase: the candidates that two surfaces, or one with itself, can have before their motion bounds run out.

Boxes around cells of both surfaces, which are patches of up to eight faces, are queried against each other in bounding
volume hierarchies; below the pairs of cells that overlap, so are those around vertices, edges and triangles; of the
pairs of these, those that can come closer than the distance are kept. A query misses nothing that the motion bounds
allow, except flat edges of cloth farther apart than `SMOOTH_SHARE` of the distance, which vertex-triangle pairs keep
apart, and what is left out as a height field. Boxes hold the whole way along the bounded motion.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..distinct import distinct
from ..kernels import EDGES, FACE, POINTS, Kernels
from .bvh import BVH, FittedBVH, LeftOut
from .candidates import Candidates, concatenate, no_candidates
from .collider import Collider
from .crossing_guard import CLEARANCE
from .height_fields import HeightFields
from .surface import Surface

SHARP = math.radians(45.0)
"""Edges with at least this dihedral angle are kept at the whole distance, flat ones at `SMOOTH_SHARE` of it, and those
in between at something in between.

What is pushed apart becomes flatter, and is pushed less after the next query: where the distance falls steeply, folds
go on trembling. Draped sheets move at 0.03 to 0.07 m/s rms for ever with a rise from 12 to 20 degrees, and come to rest
with one from 0 to 45, 60 or 90."""

SMOOTH = 0.6
"""Edges of colliders are flat below this share of the angle from which on they are sharp: no contact bends them."""

SMOOTH_SHARE = 0.3
"""Share of the distance that flat edges keep, which matters where layers are squeezed."""

POKE = 0.2
"""Share of the distance by which an edge of a collider may sink into cloth whose vertices alone are held."""

REST_SHARE = 0.9
"""Neighbors closer at rest than the distance keep this share of their rest distance."""


Range = tuple[np.ndarray, np.ndarray]
"""Lower and upper corners of boxes around all vertices of a surface, (3, n) [m] each; see `MotionBound.ranges`."""


class Primitives(NamedTuple):
    """Vertices, edges or triangles of some cells of a surface, in a query.

    Attributes:
        surface: Theirs.
        particles: Of each, (1 to 3, m) int.
        min_distance: Distance to keep around each, (m,) [m].
        fitted: Trees, one for each cell, with boxes of where they can be, and half of that distance around them.
    """

    surface: Surface
    particles: np.ndarray
    min_distance: np.ndarray
    fitted: FittedBVH


class SurfacePair:
    """Two surfaces that can meet, or one that meets itself, and their current candidates.

    Args:
        one: A simulated surface.
        other: Another surface, or the same.
        number: Number of the pair.
        distance: To keep [m].
        rest: Rest positions of all particles, (3, N) [m]; None if the two are different.
        points_only: Whether only vertices meet.
        collider: The collider whose surface `other` is, if it is one.
        left_out: Particles that take no part, nor do edges and faces with one of them, (N,) bool; None for none.
    """

    def __init__(
        self,
        one: Surface,
        other: Surface,
        number: int,
        distance: float,
        rest: np.ndarray | None = None,
        points_only: bool = False,
        collider: Collider | None = None,
        left_out: np.ndarray | None = None,
    ) -> None:
        self.one, self.other, self.number, self.distance, self.rest = one, other, number, distance, rest
        self.points_only, self.collider, self.left_out = points_only, collider, left_out
        self.motion_bounds = one.motion_bound, other.motion_bound
        self.candidates = no_candidates()
        self._queried: tuple[int, int] | None = None
        self.height_fields = HeightFields(one)
        self._memory: dict[tuple[int, int], list[np.ndarray]] = {}

    @property
    def key(self) -> tuple[object, ...]:
        """What two pairs must have in common to have the same candidates."""
        return id(self.one), id(self.other), self.distance, id(self.collider), self.points_only

    @property
    def is_solid(self) -> bool:
        """Whether the other surface is that of a closed collider."""
        return self.collider is not None and self.collider.closed

    @property
    def is_container(self) -> bool:
        """Whether cloth belongs inside of it."""
        return self.collider is not None and self.collider.inside

    @property
    def is_stale(self) -> bool:
        """Whether a motion bound was predicted anew since the last query."""
        return self._queried != (self.motion_bounds[0].version, self.motion_bounds[1].version)

    def takes_part(self, particles: np.ndarray) -> np.ndarray:
        """Which vertices, edges, faces or candidates (k, m) of the two surfaces take part, (m,) bool."""
        if self.left_out is None:
            return np.ones(particles.shape[-1], bool)
        return np.asarray(~self.left_out.take(particles).any(axis=0))

    def invalidate(self) -> None:
        """Make the next `query` necessary."""
        self._queried = None

    def query(self, kernels: Kernels, x: np.ndarray) -> None:
        """Find all candidates for as long as both motion bounds and the normal cones hold.

        x: positions at the beginning of the substep, (3, N) [m].
        """
        ranges = self._ranges()
        self.candidates = self._find(kernels, x, ranges, self._meeting_cells(kernels, ranges))
        self._note_query()

    def clear(self) -> None:
        """Note that there are no candidates for as long as both motion bounds hold."""
        self.candidates = no_candidates()
        self._note_query()

    def _note_query(self) -> None:
        self._queried = self.motion_bounds[0].version, self.motion_bounds[1].version

    def query_again(self, kernels: Kernels, x: np.ndarray, is_late: np.ndarray) -> None:
        """Find anew the candidates with particles is_late (N,) whose margins or height fields have changed since.

        x: as in `query`.
        """
        ranges = self._ranges()
        cells = self._late_cells(kernels, ranges, is_late, self.distance, self._left_out)
        found = self._find(kernels, x, ranges, cells, is_late)
        late = is_late.take(self.candidates.particles).any(axis=0)
        self.candidates = concatenate([self.candidates.take(np.flatnonzero(~late)), found])

    def _ranges(self) -> dict[Surface, Range]:
        """Where the vertices of both surfaces can be."""
        with_drift = self.one is not self.other
        return {surface: surface.motion_bound.ranges(with_drift) for surface in dict.fromkeys((self.one, self.other))}

    def _find(
        self,
        kernels: Kernels,
        x: np.ndarray,
        ranges: Mapping[Surface, Range],
        cells: np.ndarray,
        is_late: np.ndarray | None = None,
    ) -> Candidates:
        """Candidates of pairs of cells (2, k) for as long as the motion bounds hold, with planes at x (3, N).

        is_late: If given, only those with such a particle, (N,) bool.
        """
        start = x.copy()  # from where the margins of each surface count
        for bound in self.motion_bounds:
            start[:, bound.part] = bound.start
        pairs = self._pair_primitives(kernels, start, ranges, cells, self.distance, is_late)
        found = concatenate([self._cull(kernels, start, *each) for each in pairs])
        if np.array_equal(x, start):
            return found
        weights, _, normals = kernels.closest_points(x, found.particles, found.kind)
        return found._replace(weights=weights, normals=normals)

    def late_candidates(self, kernels: Kernels, x: np.ndarray, p: np.ndarray, is_late: np.ndarray) -> Candidates:
        """Candidates that can cross on x -> p (3, N), with particles that left their motion bounds, is_late (N,)."""
        low, high = np.minimum(x, p), np.maximum(x, p)
        ranges = {each: (low[:, each.part], high[:, each.part]) for each in (self.one, self.other)}
        cells = self._late_cells(kernels, ranges, is_late, 0.0, None)
        parts = []
        for kind, a, b, (first, second) in self._pair_primitives(kernels, x, ranges, cells, 0.0, is_late):
            particles = np.concatenate([a.particles[:, first], b.particles[:, second]])
            corners = len(a.particles)
            particles = particles[:, (particles[:corners, None] != particles[None, corners:]).all(axis=(0, 1))]
            kinds = np.full(particles.shape[1], kind, np.int8)
            weights, _, normals = kernels.closest_points(x, particles, kinds)
            parts.append(
                self._candidates(kernels, particles, weights, normals, np.full(len(kinds), self.distance), kinds)
            )
        return concatenate(parts)

    def _cell_boxes(
        self, kernels: Kernels, ranges: Mapping[Surface, Range], distance: float
    ) -> dict[Surface, np.ndarray]:
        """Boxes of the cells of each surface with half of the `distance` [m] around them, (6, cells) [m]."""
        sides = dict.fromkeys((self.one, self.other))
        return {each: self._boxes(kernels, each, ranges[each], each.patches.cell_vertices, distance) for each in sides}

    @property
    def _left_out(self) -> LeftOut | None:
        """Cells that cannot meet."""
        return self.height_fields.left_out if self.one is self.other else None

    def _late_cells(
        self,
        kernels: Kernels,
        ranges: Mapping[Surface, Range],
        is_late: np.ndarray,
        distance: float,
        left_out: LeftOut | None,
    ) -> np.ndarray:
        """As `_meeting_cells`, pairs of cells one of which has a late particle, is_late (N,)."""
        boxes = self._cell_boxes(kernels, ranges, distance)
        trees = [surface.cell_tree.refit(own, kernels=kernels) for surface, own in boxes.items()]
        late = [
            surface.cell_tree.refit(own, is_late.take(surface.patches.cell_vertices).any(axis=0), kernels)
            for surface, own in boxes.items()
        ]
        found = [late[0].query_pairs(trees[-1], left_out=left_out), *(trees[0].query_pairs(each) for each in late[1:])]
        cells = np.concatenate(found, axis=1)
        first, second = cells if self.one is not self.other else (cells.min(axis=0), cells.max(axis=0))
        count = len(trees[-1].leaves)
        return np.stack(np.divmod(distinct(first * count + second), count))

    def _meeting_cells(self, kernels: Kernels, ranges: Mapping[Surface, Range]) -> np.ndarray:
        """Cells of both surfaces that can meet, (2, k) int; of one with itself the first is never above the second."""
        boxes = self._cell_boxes(kernels, ranges, self.distance)
        trees = [surface.cell_tree.refit(own, kernels=kernels) for surface, own in boxes.items()]
        return np.stack(trees[0].query_pairs(trees[-1], left_out=self._left_out))

    def _edge_distances(
        self, kernels: Kernels, surface: Surface, x: np.ndarray, angle: float, which: np.ndarray
    ) -> np.ndarray:
        """Distance that edges `which` (k,) keep, (k,) [m]: the whole one from a dihedral `angle` [rad] on, or less."""
        smooth = SMOOTH * angle if self.collider and surface is self.other else 0.0
        sharpness = surface.sharpness(kernels, x, which, smooth, angle)
        return self.distance * (SMOOTH_SHARE + (1.0 - SMOOTH_SHARE) * sharpness)

    def _candidates(
        self,
        kernels: Kernels,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        distance: np.ndarray,
        kind: np.ndarray,
    ) -> Candidates:
        """Candidates of this pair."""
        count = len(distance)
        number, is_exit = np.full(count, self.number), np.zeros(count, bool)
        rows = Candidates(particles, weights, normals, distance, kind, number, is_exit)
        apart = self.are_apart_at_rest(kernels, particles, kind)
        return rows if apart.all() else rows.take(apart)

    def are_apart_at_rest(self, kernels: Kernels, particles: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """Whether the sides of pairs, particles (4, m) and kind (m,), can meet, (m,) bool.

        What ropes touch at rest, as struts of a frame that cross, and edges beside one without a length, has no side.
        """
        if self.rest is None or not self.one.loose_edges.size:
            return np.ones(particles.shape[1], bool)
        gap = kernels.closest_points(self.rest, particles, kind)[1]
        of_ropes = self.one.is_in_rope.take(particles - self.one.part.start).any(axis=0)
        return np.asarray(~of_ropes | (gap > CLEARANCE * self.distance))

    def _pair_primitives(
        self,
        kernels: Kernels,
        x: np.ndarray,
        ranges: Mapping[Surface, Range],
        cells: np.ndarray,
        distance: float,
        is_late: np.ndarray | None,
    ) -> list[tuple[int, Primitives, Primitives, tuple[np.ndarray, np.ndarray]]]:
        """Primitives of pairs of cells (2, k) whose boxes overlap: the kind of candidates, both sides, and the pairs.

        Args:
            kernels: Module of kernels.
            x: Positions at which edges are sharp, (3, N) [m].
            ranges: Where the vertices of both surfaces can be.
            cells: The pairs of cells.
            distance: That vertices and triangles keep, and the most that edges do [m].
            is_late: If given, only pairs with such a particle count, (N,) bool.
        """
        if not cells.size:
            return []
        one, other = self.one, self.other
        same = one is other
        used = [distinct(cells)] * 2 if same else [distinct(each) for each in cells]
        places = np.stack([np.searchsorted(numbers, each) + len(numbers) for numbers, each in zip(used, cells)])

        def primitives(side: int, leaves: np.ndarray, particles: np.ndarray, angle: float | None = None) -> Primitives:
            surface, own = (one, other)[side], leaves[used[side]]
            is_used = own >= 0
            numbers = own[is_used]
            own = np.where(is_used, np.cumsum(is_used).reshape(own.shape) - 1, -1)
            particles = particles.take(numbers, axis=1).astype(np.int64, copy=False)
            kept = np.full(len(numbers), distance)
            if angle is not None and distance:
                kept = self._edge_distances(kernels, surface, x, angle, numbers)
            boxes = self._boxes(kernels, surface, ranges[surface], particles, kept)
            memory = self._memory.setdefault((side, len(particles)), [np.empty(0)])
            fitted = BVH(own.ravel(), len(own)).refit(boxes, kernels=kernels, memory=memory)
            return Primitives(surface, particles, kept, fitted)

        def vertices(side: int) -> Primitives:
            surface = (one, other)[side]
            return primitives(side, surface.patches.vertex_leaves, surface.vertices[None])

        def triangles(side: int) -> Primitives:
            surface = (one, other)[side]
            return primitives(side, surface.patches.face_leaves, surface.triangles)

        def edges(side: int, angle: float | None) -> Primitives:
            surface = (one, other)[side]
            return primitives(side, surface.patches.edge_leaves, surface.edges, angle)

        if self.points_only:
            points = vertices(0)
            sides = [(POINTS, points, points if same else vertices(1), places)]
        elif same:
            lines, apart = edges(0, SHARP), places[:, places[0] != places[1]]
            both = np.concatenate([places, apart[::-1]], axis=1)
            sides = [(FACE, vertices(0), triangles(0), both), (EDGES, lines, lines, places)]
        else:
            # A face of the cloth sinks a quarter of its edge times the angle into a bend of the collider.
            bend = min(SHARP, 4.0 * POKE * self.distance / one.longest)
            angles = (None, bend) if self.collider else (SHARP, SHARP)
            sides = [
                (FACE, vertices(0), triangles(1), places),
                (FACE, vertices(1), triangles(0), places[::-1]),
                (EDGES, edges(0, angles[0]), edges(1, angles[1]), places),
            ]
        found = [(kind, a, b, a.fitted.query_pairs(b.fitted, roots)) for kind, a, b, roots in sides]
        if is_late is None:
            return found
        return [(kind, a, b, _with_late(is_late, a, b, *pairs)) for kind, a, b, pairs in found]

    def _boxes(
        self, kernels: Kernels, surface: Surface, corners: Range, particles: np.ndarray, distance: float | np.ndarray
    ) -> np.ndarray:
        """Boxes around primitives (k, m) of a surface, with half of the `distance` [m] that they keep, (6, m)."""
        local = np.subtract(particles, surface.part.start, dtype=np.int64)
        margin = np.zeros(particles.shape[1]) + 0.5 * distance
        return kernels.primitive_bounds(*corners, local, margin)

    def _cull(
        self,
        kernels: Kernels,
        x: np.ndarray,
        kind: int,
        a: Primitives,
        b: Primitives,
        pairs: tuple[np.ndarray, np.ndarray],
    ) -> Candidates:
        """Of pairs of primitives whose boxes overlap, those that can come closer than they are to keep.

        pairs: numbers of primitives (m,) and (m,).
        """
        one, other = a.surface.motion_bound, b.surface.motion_bound
        same = one is other
        displacement, other_displacement = (
            bound.relative_displacement if same else bound.displacement for bound in (one, other)
        )
        # Bounds of two surfaces have different durations, and their mean motions may be off as well.
        drift = 0.0 if same else one.drift_margin + other.drift_margin
        distance = np.full(len(pairs[0]), self.distance)
        if kind == EDGES:
            distance = np.minimum(a.min_distance.take(pairs[0]), b.min_distance.take(pairs[1]))
        particles, weights, normals, distance = kernels.cull_pairs(
            x, *pairs, a.particles, b.particles, kind, distance, one.part.start, other.part.start, one.margin,
            other.margin, displacement, other_displacement, drift, same,
        )  # fmt: skip
        kinds = np.full(len(distance), kind, np.int8)
        self._limit_by_rest(kernels, particles, kinds, distance)
        return self._candidates(kernels, particles, weights, normals, distance, kinds)

    def _limit_by_rest(self, kernels: Kernels, particles: np.ndarray, kind: np.ndarray, distance: np.ndarray) -> None:
        """Reduce the distance to keep, (m,) [m], of neighbors at rest."""
        if self.rest is None:
            return
        across = self.rest.take(particles[0], axis=1) - self.rest.take(particles[2], axis=1)
        limit = self.distance / REST_SHARE + 2.0 * self.one.longest
        near = np.flatnonzero(np.einsum("im,im->m", across, across) < limit**2)
        gap = kernels.closest_points(self.rest, particles.take(near, axis=1), kind[near])[1]
        distance[near] = np.minimum(distance[near], REST_SHARE * gap)


def _with_late(
    is_late: np.ndarray, a: Primitives, b: Primitives, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Those of the pairs of primitives (k,) and (k,) that have a late particle, is_late (N,) bool."""
    one, other = (is_late.take(each.particles).any(axis=0) for each in (a, b))
    has_late = one.take(first) | other.take(second)
    return first[has_late], second[has_late]
