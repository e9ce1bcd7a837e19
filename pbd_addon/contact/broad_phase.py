"""Broad phase: the candidates that surfaces can have, with each other and with themselves, before their bounds run out.

Boxes around the cells of all surfaces, which are patches of up to eight faces, are queried against each other in one
hierarchy of bodies and one of colliders; below the pairs of cells that overlap, so are those around vertices, edges and
triangles; of the pairs of these, those that can come closer than the distance are kept. A query misses nothing that the
motion bounds allow, except flat edges of cloth farther apart than `SMOOTH_SHARE` of the distance, which vertex-triangle
pairs keep apart, and what is left out as a height field. Boxes hold the whole way along the bounded motion.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..arrays.distinct import distinct
from ..kernels import EDGES, FACE, POINTS, Kernels
from .bvh import BVH, ROOTS, FittedBVH, LeftOut
from .candidates import Candidates, concatenate
from .cells import Cells
from .collider import Collider
from .crossing_guard import CLEARANCE
from .height_fields import HeightFields
from .motion_bound import MotionBounds
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
"""Lower and upper corners of boxes around all particles, (3, N) [m] each; see `MotionBounds.ranges`."""


class Rules(NamedTuple):
    """Which surfaces meet, and how, numbered as `MotionBounds` does; a pair of them is number
    one * (k + 1) + other, with the smaller first.

    Attributes:
        distance: To keep between a body and any surface, (bodies, k) [m], for bodies symmetric.
        is_self: Which bodies meet themselves, (bodies,) bool.
        between: Whether bodies meet each other.
        points_only: Whether only vertices of bodies meet.
        rest: Rest positions of the particles of bodies, (3, n) [m].
        left_out: Particles that meet nothing but their own body, and those that do not meet this, (N,) bool each, None
            for none; nor do edges and faces with one of them.
    """

    distance: np.ndarray
    is_self: np.ndarray
    between: bool
    points_only: bool
    rest: np.ndarray
    left_out: Sequence[np.ndarray | None]

    def equals(self, other: Rules) -> bool:
        """Whether all is the same, up to distances and rest positions."""
        if (self.between, self.points_only) != (other.between, other.points_only):
            return False
        pairs = [(self.is_self, other.is_self), *zip(self.left_out, other.left_out)]
        return all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in pairs)


@dataclasses.dataclass(frozen=True, eq=False)
class SurfacePair:
    """Two surfaces that can meet, or one that meets itself, for detection.

    Attributes:
        one: A simulated surface.
        other: Another surface, or the same.
        number: Number of the pair.
        distance: To keep [m].
        collider: The collider whose surface `other` is, if it is one.
        left_out: Particles that take no part, nor do edges and faces with one of them, (N,) bool; None for none.
        rest: Rest positions of all particles, (3, N) [m]; None if the two are different.
    """

    one: Surface
    other: Surface
    number: int
    distance: float
    collider: Collider | None = None
    left_out: np.ndarray | None = None
    rest: np.ndarray | None = None

    @property
    def is_solid(self) -> bool:
        """Whether the other surface is that of a closed collider."""
        return self.collider is not None and self.collider.closed

    @property
    def is_container(self) -> bool:
        """Whether cloth belongs inside of it."""
        return self.collider is not None and self.collider.inside

    def takes_part(self, particles: np.ndarray) -> np.ndarray:
        """Which vertices, edges, faces or candidates (k, m) of the two surfaces take part, (m,) bool."""
        return take_part(self.left_out, particles)

    def are_apart_at_rest(self, kernels: Kernels, particles: np.ndarray, kind: np.ndarray) -> np.ndarray:
        """Whether the sides of pairs, particles (4, m) and kind (m,), can meet, (m,) bool.

        What ropes touch at rest, as struts of a frame that cross, and edges beside one without a length, has no side.
        """
        if self.rest is None or not self.one.loose_edges.size:
            return np.ones(particles.shape[1], bool)
        gap = kernels.closest_points(self.rest, particles, kind)[1]
        of_ropes = self.one.is_in_rope.take(particles - self.one.part.start).any(axis=0)
        return np.asarray(~of_ropes | (gap > CLEARANCE * self.distance))


class Encounter(NamedTuple):
    """Surfaces of one hierarchy that can meet those of another, or others in it, or themselves.

    Attributes:
        first, second: Their cells; the same for those of bodies.
        is_self: Whether each meets itself alone.
        reach: Half of the distance to keep around each surface, (k + 1,) [m].
        roots: Nodes that are tested first, those of each level, (2, m) int each.
        left_out: What is not tested.
    """

    first: Cells
    second: Cells
    is_self: bool
    reach: np.ndarray
    roots: Sequence[np.ndarray]
    left_out: LeftOut | None


class Primitives(NamedTuple):
    """Vertices, edges or triangles of some cells, in a query.

    Attributes:
        particles: Of each, (1 to 3, m) int.
        cosines: Of the dihedral angles of edges where those matter, (m,); else (0,).
        fitted: Trees, one for each cell, with boxes of where they can be, and half of their distance around them.
    """

    particles: np.ndarray
    cosines: np.ndarray
    fitted: FittedBVH


Found = tuple[int, Primitives, Primitives, tuple[np.ndarray, np.ndarray]]
"""Kind of candidates, the primitives of both sides, and numbers of those whose boxes overlap, (m,) int each."""


class BroadPhase:
    """Finds the candidates of all surfaces of a scene.

    Args:
        surfaces: Those of the bodies, None for one without any, then those of the colliders.
        bodies: How many of them are of bodies.
        bounds: Where their vertices can be.

    Attributes:
        height_fields: Pieces of the bodies that need not be tested.
    """

    def __init__(self, surfaces: Sequence[Surface | None], bodies: int, bounds: MotionBounds) -> None:
        self._bounds, self._owner, self._count = bounds, bounds.owner, len(surfaces)
        there = [(number, surface) for number, surface in enumerate(surfaces) if surface is not None]
        parts = [[each for each in there if (each[0] < bodies) == of_bodies] for of_bodies in (True, False)]
        self._numbers = [np.array([number for number, _ in part], int) for part in parts]
        cells = [Cells([surface for _, surface in part], numbers) if part else None
                 for part, numbers in zip(parts, self._numbers)]  # fmt: skip
        self._longest = np.array([surface.longest if surface else 0.0 for surface in surfaces] + [0.0])
        ropes = [surface for _, surface in parts[0] if surface.loose_edges.size]
        self._is_in_rope = np.zeros(bounds.n if ropes else 0, bool)
        for surface in ropes:
            self._is_in_rope[surface.part] = surface.is_in_rope
        self._cells = cells
        self.height_fields = HeightFields(cells[0], self._count) if cells[0] else None
        self._memory: dict[tuple[int, int, int], list[np.ndarray]] = {}
        self.encounters: list[Encounter] = []

    def set_rules(self, rules: Rules) -> None:
        """Say what meets, and at which distance."""
        self._rules, self.encounters = rules, []
        bodies, colliders = self._cells
        count = len(rules.distance)
        distance, own = rules.distance[:, :count], rules.distance.diagonal()
        self._distance = np.zeros((self._count + 1, self._count + 1))
        self._distance[:count, : self._count] = rules.distance
        if bodies is None or self.height_fields is None:
            return
        if rules.is_self.any():
            some = bodies.roots[rules.is_self[self._numbers[0]]]
            levels = np.frexp(some)[1]
            roots = [np.stack([nodes, nodes]) for nodes in (some[levels == level] for level in distinct(levels))]
            left_out = self.height_fields.left_out
            self.encounters.append(Encounter(bodies, bodies, True, self._reach(own / 2.0), roots, left_out))
        if rules.between and len(self._numbers[0]) > 1:
            # That of a pair is at most the sum of what both need beside any other.
            reach = self._reach((distance - own / 2.0).max(axis=1))
            is_flat = np.zeros_like(bodies.left_out.is_flat)
            is_flat[0, bodies.roots] = True
            left_out = LeftOut(is_flat, np.zeros(is_flat.shape[1] + 1, np.int32), np.zeros(0, np.int32))
            self.encounters.append(Encounter(bodies, bodies, False, reach, [ROOTS], left_out))
        if colliders is not None:
            # A face of the cloth sinks a quarter of its edge times the angle into a bend of the collider.
            bend = 4.0 * POKE * self._distance / np.maximum(self._longest, 1e-300)[:, None]
            self._bend = np.minimum(SHARP, bend)
            self._least_bend = self._bend[self._numbers[0]].min(axis=0)
            far = rules.distance[self._numbers[0], count:]
            reach = self._reach(np.concatenate([rules.distance[:, count:].max(axis=1), far.max(axis=0)]) / 2.0)
            self.encounters.append(Encounter(bodies, colliders, False, reach, [ROOTS], None))

    def _reach(self, values: np.ndarray) -> np.ndarray:
        return np.pad(values, (0, self._count + 1 - len(values)))

    def find(self, kernels: Kernels, x: np.ndarray, is_late: np.ndarray | None = None) -> Candidates:
        """All candidates for as long as the motion bounds and the normal cones hold, with planes at x (3, N) [m].

        is_late: If given, only those with such a particle, (N,) bool.
        """
        start, parts, ranges = self._bounds.start, [], self._bounds.ranges()
        has_drift = False
        for encounter in self.encounters:  # themselves first
            if not encounter.is_self and not has_drift:
                ranges, has_drift = self._bounds.with_drift(ranges), True
            pairs = self._pair_primitives(kernels, start, encounter, ranges, is_late)
            parts += [self._cull(kernels, encounter, *each) for each in pairs]
        found = concatenate(parts)
        if np.array_equal(x, start):
            return found
        weights, _, normals = kernels.closest_points(x, found.particles, found.kind)
        return found._replace(weights=weights, normals=normals)

    def late_candidates(self, kernels: Kernels, x: np.ndarray, p: np.ndarray, is_late: np.ndarray) -> Candidates:
        """Candidates that can cross on x -> p (3, N), with particles that left their motion bounds, is_late (N,)."""
        ranges, nothing = (np.minimum(x, p), np.maximum(x, p)), np.zeros(self._count + 1)
        parts = []
        for encounter in self.encounters:
            if self._rules.points_only and encounter.first is encounter.second:
                continue
            # What has left its bound can have left its height field as well.
            left_out = None if encounter.is_self else encounter.left_out
            anywhere = encounter._replace(reach=nothing, left_out=left_out)
            for kind, a, b, (first, second) in self._pair_primitives(kernels, x, anywhere, ranges, is_late):
                particles = np.concatenate([a.particles[:, first], b.particles[:, second]])
                corners = len(a.particles)
                particles = particles[:, (particles[:corners, None] != particles[None, corners:]).all(axis=(0, 1))]
                kinds = np.full(particles.shape[1], kind, np.int8)
                weights, _, normals = kernels.closest_points(x, particles, kinds)
                distance = self._distance.ravel()[self._pair(particles[0], particles[3])]
                parts.append(self._candidates(kernels, encounter, particles, weights, normals, distance, kinds))
        return concatenate(parts)

    def _pair(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Places in `_distance` of the surfaces of particles (m,) and (m,), (m,) int."""
        one, other = self._owner.take(one), self._owner.take(other)
        return np.asarray(np.minimum(one, other) * (self._count + 1) + np.maximum(one, other))

    def _meeting_cells(
        self, kernels: Kernels, encounter: Encounter, ranges: Range, is_late: np.ndarray | None
    ) -> np.ndarray:
        """Cells of both sides that can meet, and one of which has a late particle if given, is_late (N,); (2, k) int.

        Of one hierarchy with itself, the first is never above the second.
        """
        reach, left_out = encounter.reach, encounter.left_out
        sides = list(dict.fromkeys((encounter.first, encounter.second)))
        boxes = [
            kernels.primitive_bounds(*ranges, side.cell_vertices.astype(np.int64), reach.take(side.owner))
            for side in sides
        ]
        trees = [side.tree.refit(own, kernels=kernels) for side, own in zip(sides, boxes)]
        if is_late is None:
            return np.concatenate(
                [trees[0].query_pairs(trees[-1], roots, left_out) for roots in encounter.roots], axis=1
            )
        late = [
            side.tree.refit(own, np.any(is_late.take(side.cell_vertices), axis=0), kernels)
            for side, own in zip(sides, boxes)
        ]
        found = [late[0].query_pairs(trees[-1], roots, left_out) for roots in encounter.roots]
        found += [trees[0].query_pairs(each) for each in late[1:]]
        first, second = np.concatenate(found, axis=1)
        if len(sides) == 1:
            first, second = np.minimum(first, second), np.maximum(first, second)
        count = len(sides[-1].owner)
        return np.stack(np.divmod(distinct(first * count + second), count))

    def _pair_primitives(
        self,
        kernels: Kernels,
        x: np.ndarray,
        encounter: Encounter,
        ranges: Range,
        is_late: np.ndarray | None,
    ) -> Iterator[Found]:
        """Primitives whose boxes overlap.

        Args:
            kernels: Module of kernels.
            x: Positions at which edges are sharp, (3, N) [m].
            encounter: What meets.
            ranges: Where all particles can be.
            is_late: If given, only pairs with such a particle count, (N,) bool.
        """
        cells = self._meeting_cells(kernels, encounter, ranges, is_late)
        if not cells.size:
            return
        both = encounter.first, encounter.second
        same = both[0] is both[1]
        used = [distinct(cells)] * 2 if same else [distinct(each) for each in cells]
        places = np.stack([np.searchsorted(numbers, each) + len(numbers) for numbers, each in zip(used, cells)])

        def primitives(side: int, of_cells: np.ndarray, particles: np.ndarray, has_angles: bool = False) -> Primitives:
            own = of_cells[used[side]]
            is_used = own >= 0
            numbers = own[is_used]
            own = np.where(is_used, np.cumsum(is_used).reshape(own.shape) - 1, -1)
            particles = particles.take(numbers, axis=1).astype(np.int64, copy=False)
            margin, cosines = encounter.reach.take(self._owner.take(particles[0])), np.zeros(0)
            if has_angles:
                cosines = both[side].cosines(kernels, x, numbers)
                margin *= self._shares(cosines, SHARP if same else self._least_bend.take(self._owner[particles[0]]))
            boxes = kernels.primitive_bounds(*ranges, particles, margin)
            memory = self._memory.setdefault((side, len(particles), same), [np.empty(0)])
            fitted = BVH(own.ravel(), len(own)).refit(boxes, kernels=kernels, memory=memory)
            return Primitives(particles, cosines, fitted)

        def vertices(side: int) -> Primitives:
            return primitives(side, both[side].vertex_leaves, both[side].vertices)

        def triangles(side: int) -> Primitives:
            return primitives(side, both[side].face_leaves, both[side].triangles)

        def edges(side: int) -> Primitives:
            return primitives(side, both[side].edge_leaves, both[side].edges, same or side == 1)

        if same and self._rules.points_only:
            points = vertices(0)
            sides = [(POINTS, points, points, places)]
        elif same:
            lines, apart = edges(0), places[:, places[0] != places[1]]
            sides = [(FACE, vertices(0), triangles(0), np.concatenate([places, apart[::-1]], axis=1)),
                     (EDGES, lines, lines, places)]  # fmt: skip
        else:
            sides = [(FACE, vertices(0), triangles(1), places), (FACE, vertices(1), triangles(0), places[::-1]),
                     (EDGES, edges(0), edges(1), places)]  # fmt: skip
        for kind, a, b, roots in sides:
            pairs = a.fitted.query_pairs(b.fitted, roots)
            yield kind, a, b, pairs if is_late is None else _with_late(is_late, a, b, *pairs)

    def _shares(self, cosines: np.ndarray, sharp: float | np.ndarray) -> np.ndarray:
        """Shares of the distance that edges keep with these cosines of their dihedral angles (m,): 1 from `sharp` on.

        sharp: `SHARP` for edges of cloth, or (m,) for those of colliders [rad].
        """
        smooth = np.cos(SMOOTH * sharp if isinstance(sharp, np.ndarray) else 0.0)
        sharpness = ((smooth - cosines) / (smooth - np.cos(sharp))).clip(0.0, 1.0)
        return np.asarray(SMOOTH_SHARE + (1.0 - SMOOTH_SHARE) * sharpness)

    def _cull(
        self, kernels: Kernels, encounter: Encounter, kind: int, a: Primitives, b: Primitives,
        pairs: tuple[np.ndarray, np.ndarray],
    ) -> Candidates:  # fmt: skip
        """Of pairs of primitives whose boxes overlap, those that can come closer than they are to keep."""
        bounds, same = self._bounds, encounter.is_self
        number = self._pair(a.particles[0].take(pairs[0]), b.particles[0].take(pairs[1]))
        distance = self._distance.ravel().take(number)
        if kind == EDGES and len(a.cosines):
            shares = (self._shares(side.cosines, SHARP) for side in (a, b))
            distance *= np.minimum(*(share.take(rows) for share, rows in zip(shares, pairs)))
        elif kind == EDGES:
            distance *= self._shares(b.cosines.take(pairs[1]), self._bend.ravel().take(number))
        displacement = bounds.relative_displacement if same else bounds.displacement
        particles, weights, normals, distance = kernels.cull_pairs(
            bounds.start, *pairs, a.particles, b.particles, kind, distance, bounds.margin, displacement,
            bounds.drift_margin.take(self._owner), same,
        )  # fmt: skip
        kinds = np.full(len(distance), kind, np.int8)
        if same:
            self._limit_by_rest(kernels, particles, kinds, distance)
        return self._candidates(kernels, encounter, particles, weights, normals, distance, kinds)

    def _limit_by_rest(self, kernels: Kernels, particles: np.ndarray, kind: np.ndarray, distance: np.ndarray) -> None:
        """Reduce the distance to keep, (m,) [m], of neighbors at rest."""
        rest, owner = self._rules.rest, self._owner.take(particles[0])
        across = rest.take(particles[0], axis=1) - rest.take(particles[2], axis=1)
        limit = self._distance.diagonal() / REST_SHARE + 2.0 * self._longest
        near = np.flatnonzero(np.einsum("im,im->m", across, across) < (limit**2).take(owner))
        gap = kernels.closest_points(rest, particles.take(near, axis=1), kind[near])[1]
        distance[near] = np.minimum(distance[near], REST_SHARE * gap)

    def _candidates(
        self,
        kernels: Kernels,
        encounter: Encounter,
        particles: np.ndarray,
        weights: np.ndarray,
        normals: np.ndarray,
        distance: np.ndarray,
        kind: np.ndarray,
    ) -> Candidates:
        """The candidates among these that take part, and can meet at rest as `SurfacePair.are_apart_at_rest` says."""
        number = self._pair(particles[0], particles[3])
        is_meant = take_part(self._rules.left_out[int(encounter.is_self)], particles)
        if encounter.is_self and self._is_in_rope.size:
            gap = kernels.closest_points(self._rules.rest, particles, kind)[1]
            of_ropes = self._is_in_rope.take(particles).any(axis=0)
            is_meant &= ~of_ropes | (gap > CLEARANCE * self._distance.ravel()[number])
        rows = Candidates(particles, weights, normals, distance, kind, number, np.zeros(len(kind), bool))
        return rows if is_meant.all() else rows.take(is_meant)


def take_part(left_out: np.ndarray | None, particles: np.ndarray) -> np.ndarray:
    """Which vertices, edges, faces or candidates (k, m) have no particle that is left out, (m,) bool."""
    if left_out is None:
        return np.ones(particles.shape[-1], bool)
    return np.asarray(~left_out.take(particles).any(axis=0))


def _with_late(
    is_late: np.ndarray, a: Primitives, b: Primitives, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Those of the pairs of primitives (k,) and (k,) that have a late particle, is_late (N,) bool."""
    one, other = (is_late.take(each.particles).any(axis=0) for each in (a, b))
    has_late = one.take(first) | other.take(second)
    return first[has_late], second[has_late]
