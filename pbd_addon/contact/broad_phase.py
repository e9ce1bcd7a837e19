"""Broad phase: the candidates that two surfaces, or one with itself, can have before their motion bounds run out.

Boxes around the vertices, edges and triangles, swept along their bounded motion, are queried against each other in
bounding volume hierarchies; of the pairs that overlap, those that can come closer than the distance are kept. A query
misses nothing that the motion bounds allow, except smooth edges of cloth farther apart than `SMOOTH_SHARE` of the
distance, which vertex-triangle pairs keep apart. With NumPy, it costs about 0.2 µs for each overlapping pair of boxes
and 0.05 µs for each pair of nodes visited.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..kernels import EDGES, FACE, POINTS, Kernels
from .bvh import BVH, NO_PATCHES, FittedBVH
from .candidates import Candidates, concatenate, no_candidates
from .collider import Collider
from .motion_bound import MotionBound
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
"""Half-angle of the normal cone of a patch that is left out with itself, at the query and for as long as that holds."""


LARGE_PATCH, SMOOTH_FACES = 32, 0.9
"""A surface is smooth if this share of its faces is in flat patches of at least so many faces."""


class Primitives(NamedTuple):
    """Vertices, edges or triangles of a surface, in a query.

    Attributes:
        motion_bound: Of their surface.
        particles: Of each, (1 to 3, m) int.
        min_distance: Distance to keep around each, (m,) [m].
        fitted: The tree with boxes of where they can be, and half of that distance around them.
    """

    motion_bound: MotionBound
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
        self.points_only, self.collider, self._left_out = points_only, collider, left_out
        self.motion_bounds = one.motion_bound, other.motion_bound
        self.candidates = no_candidates()
        self._queried: tuple[int, int] | None = None
        self._is_flat = NO_PATCHES
        self._flat_faces, self._patch, self._axes = np.zeros((3, 0), int), np.zeros(0, int), np.zeros((3, 0))

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
        if self._left_out is None:
            return np.ones(particles.shape[-1], bool)
        return np.asarray(~self._left_out.take(particles).any(axis=0))

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
        pairs = self._pair_primitives(kernels, x)
        self.candidates = concatenate(
            [
                self._cull(kernels, x, kind, a, b, a.fitted.query_pairs(b.fitted, self._is_flat), motions)
                for kind, a, b in pairs
            ]
        )
        self._queried = one.version, other.version

    def outside_cones(self, kernels: Kernels, p: np.ndarray) -> np.ndarray:
        """Particles of patches that are no longer known to be height fields at p (3, N), (k,) int."""
        outside = kernels.outside_cones(p, self._flat_faces, self._axes, math.cos(CONE))
        if not outside.any():
            return np.zeros(0, int)
        unknown = np.zeros(len(self.one.patches.can_be_flat), bool)
        unknown[self._patch[outside]] = True
        return np.unique(self._flat_faces[:, unknown[self._patch]])

    def find_flat_patches(self, kernels: Kernels, p: np.ndarray) -> None:
        """Find the patches that are height fields at p (3, N), for the next query."""
        one = self.one
        patch, axes = kernels.find_flat_patches(
            p, one.triangles, one.patches.face_leaves, one.patches.can_be_flat, math.cos(NARROW_CONE)
        )
        faces = np.flatnonzero(patch)
        self._patch, self._axes = patch[faces], axes.take(faces, axis=1)
        self._flat_faces = one.triangles.take(faces, axis=1)
        self._is_flat = np.zeros(len(one.patches.can_be_flat), bool)
        self._is_flat[self._patch] = True

    @property
    def is_smooth(self) -> bool:
        """Whether nearly all faces are in large flat patches: few candidates are to be expected."""
        size = np.bincount(self._patch)[self._patch]
        return bool((size >= LARGE_PATCH).sum() >= SMOOTH_FACES * self.one.triangles.shape[1])

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

    def _edge_distances(self, surface: Surface, x: np.ndarray, angle: float) -> np.ndarray:
        """Distance that edges keep, (e,) [m]: the whole one from a dihedral `angle` [rad] on, less if smooth.

        It is a continuous function of the angle: at a step, layers would be thrown to and fro.
        """
        return self.distance * (SMOOTH_SHARE + (1.0 - SMOOTH_SHARE) * surface.sharpness(x, SMOOTH * angle, angle))

    def _candidates(
        self, particles: np.ndarray, weights: np.ndarray, normals: np.ndarray, distance: np.ndarray, kind: np.ndarray
    ) -> Candidates:
        """Candidates of this pair."""
        count = len(distance)
        number, is_exit = np.full(count, self.number), np.zeros(count, bool)
        return Candidates(particles, weights, normals, distance, kind, number, is_exit)

    def _pair_primitives(self, kernels: Kernels, x: np.ndarray) -> list[tuple[int, Primitives, Primitives]]:
        """Which primitives are queried against which: the kind of candidates, and both sides."""
        one, other = self.one, self.other

        def vertices(surface: Surface) -> Primitives:
            return self._fitted(kernels, surface, surface.vertices[None], surface.vertex_tree)

        def triangles(surface: Surface) -> Primitives:
            return self._fitted(kernels, surface, surface.triangles, surface.triangle_tree)

        def edges(surface: Surface, angle: float | None) -> Primitives:
            distance = None if angle is None else self._edge_distances(surface, x, angle)
            return self._fitted(kernels, surface, surface.edges, surface.edge_tree, distance)

        if self.points_only:
            points = vertices(one)
            return [(POINTS, points, points if one is other else vertices(other))]
        if one is other:
            lines = edges(one, SHARP)
            return [(FACE, vertices(one), triangles(one)), (EDGES, lines, lines)]
        # A face of the cloth sinks a quarter of its edge times the angle into a bend of the collider.
        angles = (None, min(SHARP, 4.0 * POKE * self.distance / one.longest)) if self.collider else (SHARP, SHARP)
        return [
            (FACE, vertices(one), triangles(other)),
            (FACE, vertices(other), triangles(one)),
            (EDGES, edges(one, angles[0]), edges(other, angles[1])),
        ]

    def _fitted(
        self,
        kernels: Kernels,
        surface: Surface,
        particles: np.ndarray,
        tree: BVH,
        distance: np.ndarray | None = None,
    ) -> Primitives:
        """Primitives (k, m) of a surface; distance to keep (m,) [m]: by default the pair's."""
        distance = np.full(particles.shape[1], self.distance) if distance is None else distance
        bound = self.motion_bounds[surface is not self.one]
        boxes = kernels.primitive_bounds(
            *bound.ranges(self.one is not self.other), particles - surface.part.start, 0.5 * distance
        )
        return Primitives(bound, particles, distance, tree.refit(boxes, kernels=kernels, reuse=True))

    def _cull(
        self,
        kernels: Kernels,
        x: np.ndarray,
        kind: int,
        a: Primitives,
        b: Primitives,
        pairs: tuple[np.ndarray, np.ndarray],
        motions: dict[MotionBound, tuple[np.ndarray, np.ndarray]],
    ) -> Candidates:
        """Of pairs of primitives whose boxes overlap, those that can come closer than they are to keep.

        pairs: numbers of primitives (m,) and (m,). motions: displacements (3, n) and margins (n,) [m] of each bound.
        """
        one, other = a.motion_bound, b.motion_bound
        same = one is other
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
