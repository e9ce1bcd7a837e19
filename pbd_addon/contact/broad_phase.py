"""Broad phase: the candidates that two surfaces, or one with itself, can have before their motion bounds run out.

Boxes around patches of both surfaces, swept along their bounded motion, are queried against each other in bounding
volume hierarchies; in the pairs of patches that overlap, so are those around vertices, edges and triangles; of the
pairs of these, those that can come closer than the distance are kept. A query misses nothing that the motion bounds
allow, except smooth edges of cloth farther apart than `SMOOTH_SHARE` of the distance, which vertex-triangle pairs keep
apart, and what is left out as a height field. Everything in a smooth surface moves along with its neighbors, so that
boxes at the beginning and at the end of the bound are compared, not what they sweep over.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from ..kernels import EDGES, FACE, POINTS, Kernels
from .bvh import BVH, FittedBVH
from .candidates import Candidates, concatenate, no_candidates
from .collider import Collider
from .motion_bound import MotionBound
from .patches import Partition
from .surface import Surface

SHARP = math.radians(20.0)
"""Edges with at least this dihedral angle are kept at the whole distance, ..."""

SMOOTH = 0.6
"""... those with less than this share of it at `SMOOTH_SHARE`, and those in between at something in between."""

SMOOTH_SHARE = 0.3
"""Share of the distance that smooth edges keep, which matters where layers are squeezed."""

POKE = 0.2
"""Share of the distance by which an edge of a collider may sink into cloth whose vertices alone are held."""

REST_SHARE = 0.9
"""Neighbors closer at rest than the distance keep this share of their rest distance."""


NARROW_CONE, CONE = math.radians(35.0), math.radians(45.0)
"""Half-angle of the normal cone of a piece that is left out with itself, at the query and for as long as that holds."""

SMOOTH_PATCHES = 0.75
"""A surface is smooth if this share of its large patches have flat neighborhoods. Only then these are left out: where
cloth crumples, more neighbors would become contacts, and none again, as it moves."""


class Side(NamedTuple):
    """Patches of a surface that may meet something, in a query.

    Attributes:
        surface: Theirs.
        motion_bound: Of the surface.
        patches: Their numbers, ascending, (g,) int.
        hulls: Boxes of where each can be, and half of the distance around it, (6 or 12, g) [m]; see `kernels.protocol`.
        with_drift: Whether these contain the mean motion of the surface: not where it meets itself.
    """

    surface: Surface
    motion_bound: MotionBound
    patches: np.ndarray
    hulls: np.ndarray
    with_drift: bool


class Primitives(NamedTuple):
    """Vertices, edges or triangles of a side.

    Attributes:
        side: Theirs.
        particles: Of each, patch by patch, (1 to 3, m) int.
        min_distance: Distance to keep around each, (m,) [m].
        boxes: Of where they can be, and half of that distance around them, (6 or 12, m) [m].
        starts: Where those of each patch begin, and their number, (g + 1,) int.
    """

    side: Side
    particles: np.ndarray
    min_distance: np.ndarray
    boxes: np.ndarray
    starts: np.ndarray


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
    ) -> None:
        self.one, self.other, self.number, self.distance, self.rest = one, other, number, distance, rest
        self.points_only, self.collider = points_only, collider
        self.motion_bounds = one.motion_bound, other.motion_bound
        self.candidates = no_candidates()
        self._queried: tuple[int, int] | None = None
        self.is_smooth = False
        self._is_flat: list[np.ndarray] = []
        self._flat_faces, self._flat_triangles = np.zeros(0, int), np.zeros((3, 0), int)
        self._axes, self._cosines = np.zeros((3, 0)), np.zeros(0)
        self._levels: list[Partition] = []
        self._splits = np.zeros(0, int)

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

    def invalidate(self) -> None:
        """Make the next `query` necessary."""
        self._queried = None

    def query(self, kernels: Kernels, x: np.ndarray) -> None:
        """Find all candidates for as long as both motion bounds and the normal cones hold.

        x: positions at the beginning of the substep, (3, N) [m].
        """
        one, other = self.motion_bounds
        same = one is other
        motions = {
            bound: (bound.relative_displacement if same else bound.displacement, bound.margin)
            for bound in self.motion_bounds
        }
        self.candidates = concatenate(
            [
                self._cull(kernels, x, kind, a, b, groups, motions)
                for kind, a, b, groups in self._pair_primitives(kernels, x)
            ]
        )
        self._queried = one.version, other.version

    def outside_cones(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles of pieces that are no longer known to be height fields at p (3, N), (k,) int."""
        triangles = self.one.triangles
        outside = kernels.outside_cones(p, self._flat_triangles, self._axes, self._cosines)
        if not outside.any():
            return np.zeros(0, int)
        particles = []
        parts = zip(np.split(self._flat_faces, self._splits), np.split(outside, self._splits))
        for level, (faces, are_outside) in zip(self._levels, parts):
            unknown = np.zeros(level.count, bool)
            unknown[level.of_face[faces[are_outside]]] = True
            unknown[level.member[unknown[level.center]]] = True
            particles.append(triangles[:, unknown[level.of_face]].ravel())
        return np.unique(np.concatenate(particles))

    @property
    def knows_cones(self) -> bool:
        """Whether it is known which pieces are height fields."""
        return bool(self._is_flat)

    def forget_cones(self) -> None:
        """Make the next `find_flat_patches` necessary."""
        self._is_flat = []

    def find_flat_patches(self, kernels: Kernels, p: np.ndarray) -> None:
        """Find the pieces that are height fields at p (3, N), for the next query.

        All normals of a neighborhood are in the cone around the axis of its central patch, if those of each patch are
        in the cone around its own axis that is narrower by the angle between both: only that is checked later.
        """
        self._is_flat = []
        checks: list[tuple[Partition, np.ndarray, np.ndarray, np.ndarray]] = []
        is_known = np.zeros(1, bool)
        for level in self.one.patches.levels:
            is_known = np.repeat(is_known, level.count // len(is_known))  # as part of a larger piece
            some = np.flatnonzero(~(is_known.take(level.center) & is_known.take(level.member)))
            is_flat = np.zeros((2, level.count), bool)
            if len(some):
                axes, cosines = kernels.patch_cones(p, self.one.faces_by_patch, level.first_faces[:-1])
                widest = np.arccos(cosines.clip(-1.0, 1.0))
                center, member = level.center[some], level.member[some]
                turn = np.einsum("im,im->m", axes.take(center, axis=1), axes.take(member, axis=1))
                turn = np.arccos(turn.clip(-1.0, 1.0))
                starts = np.flatnonzero(np.append(True, center[1:] != center[:-1]))
                around = np.zeros(level.count)
                around[center[starts]] = np.maximum.reduceat(turn + widest.take(member), starts)
                is_flat = (np.stack([widest, around]) <= NARROW_CONE) & level.can_be_flat & ~is_known
                if not self._is_flat:
                    self.is_smooth = bool(is_flat[1].mean() >= SMOOTH_PATCHES)
                is_flat[1] &= self.is_smooth
                is_flat[0] |= is_flat[1]
                room = np.where(is_flat[0], CONE, np.inf)
                turn[~is_flat[1].take(member)] = -np.inf
                room[center[starts]] = np.minimum(room[center[starts]], CONE - np.maximum.reduceat(turn, starts))
                checked = np.flatnonzero(room < np.inf)
                faces, counts = level.faces_of(checked)
                axes, cosines = axes.take(checked, axis=1), np.cos(room[checked])
                checks.append((level, faces, np.repeat(axes, counts, axis=1), np.repeat(cosines, counts)))
            self._is_flat.append(is_flat)
            is_known = is_known | is_flat[int(self.is_smooth)]
        self._levels = [level for level, _, _, _ in checks]
        self._splits = np.cumsum([len(faces) for _, faces, _, _ in checks])[:-1]
        self._flat_faces, self._axes, self._cosines = (
            np.concatenate(each, axis=-1) for each in zip(*(check[1:] for check in checks))
        )
        self._flat_triangles = self.one.triangles.take(self._flat_faces, axis=1)

    def _meeting_patches(self, kernels: Kernels) -> tuple[Side, Side, np.ndarray]:
        """The patches of both surfaces that can meet, and pairs of their places there, (2, k) int.

        Of a surface with itself, both sides are the same one, and the first of a pair is never above the second.
        """
        boxes = self._boxes(kernels, self.one, self.one.patch_vertices, self.distance)
        tree = self.one.patch_tree.refit(boxes, kernels=kernels, reuse=True)
        if self.one is not self.other:
            other_boxes = self._boxes(kernels, self.other, self.other.patch_vertices, self.distance)
            pairs = np.stack(tree.query_pairs(self.other.patch_tree.refit(other_boxes, kernels=kernels, reuse=True)))
            both = [_renumbered(numbers, each.patches.count) for numbers, each in zip(pairs, (self.one, self.other))]
            sides = [
                Side(surface, bound, patches, around.take(patches, axis=1), True)
                for surface, bound, (patches, _), around in zip(
                    (self.one, self.other), self.motion_bounds, both, (boxes, other_boxes)
                )
            ]
            return sides[0], sides[1], np.stack([places for _, places in both])
        own, pairs, roots = np.zeros(1, int), np.zeros((2, 0), int), 1
        known = self._is_flat or [np.zeros((2, level.count), bool) for level in self.one.patches.levels]
        for level, (is_flat, is_flat_around) in zip(self.one.patches.levels, known):
            part = FittedBVH(kernels, np.arange(level.count), tree.nodes[:, : 2 * level.count], roots)
            pairs = np.stack(part.query_pairs(part, np.concatenate([np.stack([own, own]), pairs], axis=1)))
            left_out = level.are_neighbors(*pairs) & is_flat_around.take(pairs).any(axis=0)
            pairs = pairs.take(np.flatnonzero(~left_out), axis=1)
            own = (own[:, None] * (level.count // roots) + np.arange(level.count // roots)).ravel()
            own, roots = own[~is_flat[own]], level.count
        pairs = np.concatenate([np.stack([own, own]), pairs], axis=1)
        patches, places = _renumbered(pairs, self.one.patches.count)
        side = Side(self.one, self.motion_bounds[0], patches, boxes.take(patches, axis=1), False)
        return side, side, places

    def late_candidates(self, kernels: Kernels, x: np.ndarray, p: np.ndarray, is_late: np.ndarray) -> Candidates:
        """Candidates that can cross on x -> p (3, N), with particles that left their motion bounds, is_late (N,)."""
        one, other = self.one, self.other
        low, high = np.minimum(x, p), np.maximum(x, p)

        def fitted(tree: BVH, primitives: np.ndarray, only_late: bool) -> FittedBVH:
            boxes = kernels.primitive_bounds(low, high, primitives, np.zeros(primitives.shape[1]))
            members = np.asarray(is_late.take(primitives).any(axis=0)) if only_late else None
            return tree.refit(boxes, members, kernels)

        def candidates(particles: np.ndarray, corners: int) -> Candidates:
            adjacent = (particles[:corners, None] == particles[None, corners:]).any(axis=(0, 1))
            particles = particles[:, ~adjacent]
            kind = np.full(particles.shape[1], FACE if corners == 1 else EDGES, np.int8)
            weights, _, normals = kernels.closest_points(x, particles, kind)
            return self._candidates(particles, weights, normals, np.full(len(kind), self.distance), kind)

        parts = []
        for a, b in ((one, other), (other, one))[: 1 if one is other else 2]:
            for late in (True, False):
                points = fitted(a.vertex_tree, a.vertices[None], late)
                vertex, triangle = points.query_pairs(fitted(b.triangle_tree, b.triangles, not late))
                parts.append(candidates(np.concatenate([a.vertices[vertex][None], b.triangles[:, triangle]]), 1))
        for late in (True,) if one is other else (True, False):
            first, second = fitted(one.edge_tree, one.edges, late).query_pairs(
                fitted(other.edge_tree, other.edges, not late)
            )
            parts.append(candidates(np.concatenate([one.edges[:, first], other.edges[:, second]]), 2))
        return concatenate(parts)

    def _edge_distances(
        self, kernels: Kernels, surface: Surface, x: np.ndarray, angle: float, which: np.ndarray
    ) -> np.ndarray:
        """Distance that edges `which` (k,) keep, (k,) [m]: the whole one from a dihedral `angle` [rad] on, or less.

        It is a continuous function of the angle: at a step, layers would be thrown to and fro.
        """
        sharpness = surface.sharpness(kernels, x, which, SMOOTH * angle, angle)
        return self.distance * (SMOOTH_SHARE + (1.0 - SMOOTH_SHARE) * sharpness)

    def _candidates(
        self, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray, distance: np.ndarray, kind: np.ndarray
    ) -> Candidates:
        """Candidates of this pair."""
        count = len(distance)
        number, is_exit = np.full(count, self.number), np.zeros(count, bool)
        return Candidates(particles, weights, normals, distance, kind, number, is_exit)

    def _pair_primitives(self, kernels: Kernels, x: np.ndarray) -> list[tuple[int, Primitives, Primitives, np.ndarray]]:
        """Which primitives are queried against which: the kind of candidates, both sides, and pairs of patches."""
        one, other, groups = self._meeting_patches(kernels)
        if not groups.size:
            return []

        def vertices(side: Side) -> Primitives:
            return self._primitives(kernels, side, side.surface.vertices[None], side.surface.vertex_tree)

        def triangles(side: Side) -> Primitives:
            return self._primitives(kernels, side, side.surface.triangles, side.surface.triangle_tree)

        def edges(side: Side, angle: float | None) -> Primitives:
            distances = None if angle is None else partial(self._edge_distances, kernels, side.surface, x, angle)
            return self._primitives(kernels, side, side.surface.edges, side.surface.edge_tree, distances)

        if self.points_only:
            points = vertices(one)
            return [(POINTS, points, points if one is other else vertices(other), groups)]
        if one is other:
            lines = edges(one, SHARP)
            apart = groups[:, groups[0] != groups[1]]
            both = np.concatenate([groups, apart[::-1]], axis=1)
            return [(FACE, vertices(one), triangles(one), both), (EDGES, lines, lines, groups)]
        # A face of the cloth sinks a quarter of its edge times the angle into a bend of the collider.
        bend = min(SHARP, 4.0 * POKE * self.distance / self.one.longest)
        angles = (None, bend) if self.collider else (SHARP, SHARP)
        return [
            (FACE, vertices(one), triangles(other), groups),
            (FACE, vertices(other), triangles(one), groups[::-1]),
            (EDGES, edges(one, angles[0]), edges(other, angles[1]), groups),
        ]

    def _boxes(
        self, kernels: Kernels, surface: Surface, particles: np.ndarray, distance: float | np.ndarray
    ) -> np.ndarray:
        """Boxes around primitives (k, m) of a surface, with half of the `distance` [m] that they keep, (6 or 12, m)."""
        bound = self.motion_bounds[surface is not self.one]
        local, margin = particles - surface.part.start, np.zeros(particles.shape[1]) + 0.5 * distance
        ranges = bound.ranges(self.one is not self.other)
        return np.concatenate([kernels.primitive_bounds(*corners, local, margin) for corners in ranges])

    def _primitives(
        self,
        kernels: Kernels,
        side: Side,
        particles: np.ndarray,
        tree: BVH,
        distances: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> Primitives:
        """Those of all primitives (k, m) of a surface that are in the patches of a side.

        distances: The distance [m] that primitives keep, by number; default: the pair's.
        """
        leaves = tree.leaves.reshape(side.surface.patches.count, -1)[side.patches]
        used = leaves >= 0
        numbers = leaves[used]
        particles = particles.take(numbers, axis=1)
        distance = np.full(len(numbers), self.distance) if distances is None else distances(numbers)
        boxes = self._boxes(kernels, side.surface, particles, distance)
        return Primitives(side, particles, distance, boxes, np.append(0, np.cumsum(used.sum(axis=1))))

    def _cull(
        self,
        kernels: Kernels,
        x: np.ndarray,
        kind: int,
        a: Primitives,
        b: Primitives,
        groups: np.ndarray,
        motions: dict[MotionBound, tuple[np.ndarray, np.ndarray]],
    ) -> Candidates:
        """Of the pairs of primitives in pairs of patches, those that can come closer than they are to keep.

        groups: places of the patches in both sides, (2, k). motions: displacements (3, n) and margins (n,) [m] of each
        bound.
        """
        one, other = a.side.motion_bound, b.side.motion_bound
        same = one is other
        pairs = kernels.pair_members(groups, a.side.hulls, a.boxes, a.starts, b.side.hulls, b.boxes, b.starts, a is b)
        (displacement, margin), (other_displacement, other_margin) = motions[one], motions[other]
        # Bounds of two surfaces have different durations, and their mean motions may be off as well.
        drift = 0.0 if same else math.sqrt(3.0) * (one.drift_margin + other.drift_margin)
        distance = np.full(len(pairs[0]), self.distance)
        if kind == EDGES:
            distance = np.minimum(a.min_distance.take(pairs[0]), b.min_distance.take(pairs[1]))
        particles, weights, normals, distance = kernels.cull_pairs(
            x, *pairs, a.particles, b.particles, kind, distance, one.part.start, other.part.start, margin, other_margin,
            displacement, other_displacement, drift, same,
        )  # fmt: skip
        kinds = np.full(len(distance), kind, np.int8)
        self._limit_by_rest(kernels, particles, kinds, distance)
        return self._candidates(particles, weights, normals, distance, kinds)

    def _limit_by_rest(self, kernels: Kernels, particles: np.ndarray, kind: np.ndarray, distance: np.ndarray) -> None:
        """Reduce the distance to keep, (m,) [m], of neighbors at rest."""
        if self.rest is None:
            return
        across = self.rest.take(particles[0], axis=1) - self.rest.take(particles[2], axis=1)
        limit = self.distance / REST_SHARE + 2.0 * self.one.longest
        near = np.flatnonzero(np.einsum("im,im->m", across, across) < limit**2)
        gap = kernels.closest_points(self.rest, particles.take(near, axis=1), kind[near])[1]
        distance[near] = np.minimum(distance[near], REST_SHARE * gap)


def _renumbered(numbers: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Which of `count` numbers occur, ascending, (k,) int, and the place of each among these, in the shape of all."""
    occurs = np.zeros(count, bool)
    occurs[numbers] = True
    return np.flatnonzero(occurs), (np.cumsum(occurs) - 1).take(numbers)
