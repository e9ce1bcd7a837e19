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
from ..kernels.protocol.pairs import Bounds
from .bvh import ROOTS, LeftOut
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
        piece: Of each particle of bodies a number that those have in common whose rest positions say how far apart they
            are, (n,) int; None: all of a body.
    """

    distance: np.ndarray
    is_self: np.ndarray
    between: bool
    points_only: bool
    rest: np.ndarray
    left_out: Sequence[np.ndarray | None]
    piece: np.ndarray | None = None

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
        self.encounters: list[Encounter] = []

    def set_rules(self, rules: Rules) -> None:
        """Say what meets, and at which distance."""
        self._rules, self.encounters = rules, []
        bodies, colliders = self._cells
        count = len(rules.distance)
        distance, own = rules.distance[:, :count], rules.distance.diagonal()
        self._distance = np.zeros((self._count + 1, self._count + 1))
        self._distance[:count, : self._count] = rules.distance
        flat_and_sharp = np.broadcast_to(np.cos([[[0.0]], [[SHARP]]]), (2, *self._distance.shape))
        self._tables = np.stack([self._distance, self._distance, *flat_and_sharp])
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
            bend = np.minimum(SHARP, bend)[:, count:]
            self._tables[2:, :, count:] = np.cos([SMOOTH * bend, bend])
            far = rules.distance[self._numbers[0], count:]
            reach = self._reach(np.concatenate([rules.distance[:, count:].max(axis=1), far.max(axis=0)]) / 2.0)
            self.encounters.append(Encounter(bodies, colliders, False, reach, [ROOTS], None))

    def _reach(self, values: np.ndarray) -> np.ndarray:
        return np.pad(values, (0, self._count + 1 - len(values)))

    def find(self, kernels: Kernels, x: np.ndarray, is_late: np.ndarray | None = None) -> Candidates:
        """All candidates for as long as the motion bounds and the normal cones hold, with planes at x (3, N) [m].

        is_late: If given, only those with such a particle, (N,) bool.
        """
        bounds, ranges, drift = self._bounds, self._bounds.ranges(), None
        parts: list[Candidates] = []
        for encounter in self.encounters:  # themselves first
            if not encounter.is_self and drift is None:
                ranges, drift = bounds.with_drift(ranges), bounds.drift_margin.take(self._owner)
            way = bounds.relative_displacement if encounter.is_self else bounds.displacement
            moving = Bounds(bounds.margin, way, bounds.margin if drift is None else drift, encounter.is_self)
            for rows in self._close_pairs(kernels, bounds.start, encounter, ranges, self._tables, moving, is_late):
                if encounter.is_self:
                    self._limit_by_rest(kernels, rows)
                parts.append(rows)
        found = concatenate(parts)
        if np.array_equal(x, bounds.start):
            return found
        weights, _, normals = kernels.closest_points(x, found.particles, found.kind)
        return found._replace(weights=weights, normals=normals)

    def late_candidates(self, kernels: Kernels, x: np.ndarray, p: np.ndarray, is_late: np.ndarray) -> Candidates:
        """Candidates that can cross on x -> p (3, N), with particles that left their motion bounds, is_late (N,)."""
        ranges, tables = (np.minimum(x, p), np.maximum(x, p)), self._tables.copy()
        tables[1] = 0.0
        anywhere = np.full(len(is_late), np.inf)
        moving = Bounds(anywhere, np.zeros_like(x), anywhere, True)
        parts: list[Candidates] = []
        for encounter in self.encounters:
            if self._rules.points_only and encounter.first is encounter.second:
                continue
            # What has left its bound can have left its height field as well.
            left_out = None if encounter.is_self else encounter.left_out
            near = encounter._replace(reach=np.zeros(self._count + 1), left_out=left_out)
            parts += self._close_pairs(kernels, x, near, ranges, tables, moving, is_late)
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

    def _close_pairs(
        self,
        kernels: Kernels,
        x: np.ndarray,
        encounter: Encounter,
        ranges: Range,
        tables: np.ndarray,
        moving: Bounds,
        is_late: np.ndarray | None,
    ) -> Iterator[Candidates]:
        """What can come closer than its distance.

        Args:
            kernels: Module of kernels.
            x: Positions at which edges are sharp, (3, N) [m].
            encounter: What meets.
            ranges: Where all particles can be.
            tables: As `kernels.protocol.pairs` has them.
            moving: How particles move.
            is_late: If given, only pairs with such a particle count, (N,) bool.
        """
        cells = self._meeting_cells(kernels, encounter, ranges, is_late)
        if not cells.size:
            return
        one, other = encounter.first, encounter.second
        if one is other and self._rules.points_only:
            kinds = [(POINTS, cells, one.points, one.points)]
        elif one is other:
            edges, both_ways = one.edges_at(kernels, x, cells), [cells, cells[::-1, cells[0] != cells[1]]]
            kinds = [(FACE, np.concatenate(both_ways, axis=1), one.points, one.corners), (EDGES, cells, edges, edges)]
        else:
            edges = other.edges_at(kernels, x, cells[1])
            kinds = [(FACE, cells, one.points, other.corners), (FACE, cells[::-1], other.points, one.corners),
                     (EDGES, cells, one.sharp_edges, edges)]  # fmt: skip
        late = np.zeros(0, bool) if is_late is None else is_late
        for kind, pairs, first, second in kinds:
            if not (first.particles.size and second.particles.size):
                continue  # ropes alone have no faces
            particles, weights, normals, distance = kernels.close_pairs(
                x, *ranges, pairs, first, second, kind, self._owner, tables, SMOOTH_SHARE, moving, late
            )
            kinds_of_rows = np.full(len(distance), kind, np.int8)
            yield self._candidates(kernels, encounter, particles, weights, normals, distance, kinds_of_rows)

    def _limit_by_rest(self, kernels: Kernels, rows: Candidates) -> None:
        """Reduce the distance to keep of neighbors at rest, in place."""
        rest, (one, _, other, _) = self._rules.rest, rows.particles
        across = rest.take(one, axis=1) - rest.take(other, axis=1)
        limit = self._distance.diagonal() / REST_SHARE + 2.0 * self._longest
        near = np.einsum("im,im->m", across, across) < (limit**2).take(self._owner.take(one))
        if self._rules.piece is not None:
            pieces = self._rules.piece.take(rows.particles)
            near &= (pieces == pieces[0]).all(axis=0)
        near = np.flatnonzero(near)
        gap = kernels.closest_points(rest, rows.particles.take(near, axis=1), rows.kind[near])[1]
        rows.min_distance[near] = np.minimum(rows.min_distance[near], REST_SHARE * gap)

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
