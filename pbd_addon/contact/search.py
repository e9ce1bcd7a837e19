"""Search: the contact rows that two surfaces, or one with itself, can have before their promises run out.

Boxes of vertices, edges and triangles, swept along their promised ways, are looked up in trees; of what overlaps, the
rows are kept that can come closer than the distance. A search misses nothing that the promises allow, except smooth
edges of cloth that meet farther apart than `SMOOTH_SHARE` of the distance, which vertices and triangles keep apart.
Cost with NumPy: about 0.2 µs for each pair of boxes that overlap and 0.05 µs for each pair of nodes looked at; 15 ms
for a flat sheet of 64 x 64 vertices, 70 to 120 ms when it lies in many folds.
"""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np

from .box_tree import Boxes, BoxTree
from .collider import Collider
from .rows import EDGES, FACE, POINTS, Rows, closest, joined, no_rows
from .surface import Surface

SHARP = math.radians(20.0)
"""Edges that are bent by this are kept at the whole distance, ..."""

SMOOTH = 0.6
"""... and those bent by less than this share of it only at `SMOOTH_SHARE`; in between, at something in between."""

SMOOTH_SHARE = 0.3
"""Share of the distance at which smooth edges come in too, where layers are squeezed."""

POKE = 0.2
"""Share of the distance by which an edge of a collider may sink into cloth whose vertices alone are held."""

REST_SHARE = 0.9
"""Neighbours that are closer than the kept distance at rest are kept at this share of their rest distance."""

CHUNK = 8192
"""Rows that are looked at together: arrays of this length stay in the cache."""


class Pair:
    """Two surfaces that can meet, or one that meets itself, and the rows found for them last.

    Args:
        one: A simulated surface.
        other: Another surface, or the same.
        number: Number of the pair.
        distance: To be kept [m].
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
        self.seen = (0, 0)
        self.rows = no_rows()

    @property
    def alike(self) -> tuple[object, ...]:
        """What two pairs must have in common to find the same rows."""
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
        """Whether a surface has promised anew since the last search."""
        return self.seen != (self.one.version, self.other.version)

    def search(self, kernels: ModuleType, x: np.ndarray) -> None:
        """Find all rows that can come into contact while both promises hold. x: positions now, (3, N) [m]."""
        one, other = self.one, self.other
        if self.points_only:
            parts = [self._points(kernels, x)]
        elif one is other:
            kept = self._kept_by_edges(one, x, SHARP)
            parts = [self._vertices_triangles(kernels, x, one, one), self._edges(kernels, x, kept, kept)]
        else:
            if self.collider:
                kept = np.full(one.edges.shape[1], self.distance)
                # A face of the cloth sinks a quarter of its edge times the angle into a bend of the collider.
                angle = min(SHARP, 4.0 * POKE * self.distance / one.longest)
            else:
                kept, angle = self._kept_by_edges(one, x, SHARP), SHARP
            parts = [
                self._vertices_triangles(kernels, x, one, other),
                self._vertices_triangles(kernels, x, other, one),
                self._edges(kernels, x, kept, self._kept_by_edges(other, x, angle)),
            ]
        self.rows = joined(parts)
        self.seen = (one.version, other.version)

    def sudden(self, kernels: ModuleType, x: np.ndarray, p: np.ndarray, stray: np.ndarray) -> Rows:
        """Rows that can cross on the ways x -> p (3, N), with particles that have broken their promise, stray (N,)."""
        one, other = self.one, self.other
        low, high = np.minimum(x, p), np.maximum(x, p)
        nothing = no_rows()

        def boxes(tree: BoxTree, items: np.ndarray, only: bool) -> Boxes:
            corners = np.concatenate([low.take(items, axis=1).min(axis=1), -high.take(items, axis=1).max(axis=1)])
            return tree.fitted(corners, np.asarray(stray.take(items).any(axis=0)) if only else None)

        def rows(particles: np.ndarray, sides: int) -> Rows:
            shared = (particles[:sides, None] == particles[None, sides:]).any(axis=(0, 1))
            particles = particles[:, ~shared]
            kind = np.full(particles.shape[1], FACE if sides == 1 else EDGES, np.int8)
            q = x.take(particles, axis=1)
            share = closest(kernels, q, kind)
            count = len(kind)
            return nothing._replace(
                particles=particles, share=share, normals=kernels.separation(q, share)[1], kind=kind,
                distance=np.full(count, self.distance), pair=np.full(count, self.number), solid=np.zeros(count, bool),
            )  # fmt: skip

        parts = []
        for a, b in ((one, other), (other, one))[: 1 if one is other else 2]:
            for strays in (True, False):
                points = boxes(a.vertex_tree, a.vertices[None], strays)
                vertex, triangle = points.overlaps(boxes(b.triangle_tree, b.triangles, not strays))
                parts.append(rows(np.concatenate([a.vertices[vertex][None], b.triangles[:, triangle]]), 1))
        for strays in (True,) if one is other else (True, False):
            first, second = boxes(one.edge_tree, one.edges, strays).overlaps(
                boxes(other.edge_tree, other.edges, not strays)
            )
            parts.append(rows(np.concatenate([one.edges[:, first], other.edges[:, second]]), 2))
        return joined(parts)

    def _kept_by_edges(self, surface: Surface, x: np.ndarray, angle: float) -> np.ndarray:
        """How far edges are to be kept from others, (e,) [m]: the whole distance if bent by `angle` [rad], less if not.

        Without a step in between, at which layers would be thrown to and fro.
        """
        return self.distance * (SMOOTH_SHARE + (1.0 - SMOOTH_SHARE) * surface.sharpness(x, SMOOTH * angle, angle))

    def _boxes(self, surface: Surface, tree: BoxTree, items: np.ndarray, kept: float | np.ndarray) -> Boxes:
        """Where items (k, m) can be, and half of the distance to be kept around them."""
        return tree.fitted(surface.bounds(items, 0.5 * kept, self.one is not self.other))

    def _vertices_triangles(self, kernels: ModuleType, x: np.ndarray, one: Surface, other: Surface) -> Rows:
        vertices = self._boxes(one, one.vertex_tree, one.vertices[None], self.distance)
        vertex, triangle = vertices.overlaps(self._boxes(other, other.triangle_tree, other.triangles, self.distance))
        particles = np.concatenate([one.vertices[vertex][None], other.triangles.take(triangle, axis=1)])
        if one is other:
            apart = (particles[0] != particles[1]) & (particles[0] != particles[2]) & (particles[0] != particles[3])
            particles = particles.take(np.flatnonzero(apart), axis=1)
        return self._near(kernels, x, particles, one, other, FACE)

    def _edges(self, kernels: ModuleType, x: np.ndarray, kept: np.ndarray, by_other: np.ndarray) -> Rows:
        one, other = self.one, self.other
        edges = self._boxes(one, one.edge_tree, one.edges, kept)
        first, second = edges.overlaps(
            edges if one is other else self._boxes(other, other.edge_tree, other.edges, by_other)
        )
        particles = np.concatenate([one.edges.take(first, axis=1), other.edges.take(second, axis=1)])
        distance = np.minimum(kept.take(first), by_other.take(second))
        if one is other:
            apart = (particles[0] != particles[2]) & (particles[0] != particles[3])
            apart &= (particles[1] != particles[2]) & (particles[1] != particles[3])
            some = np.flatnonzero(apart)
            particles, distance = particles.take(some, axis=1), distance.take(some)
        return self._near(kernels, x, particles, one, other, EDGES, distance)

    def _points(self, kernels: ModuleType, x: np.ndarray) -> Rows:
        one, other = self.one, self.other
        points = self._boxes(one, one.vertex_tree, one.vertices[None], self.distance)
        first, second = points.overlaps(
            points if one is other else self._boxes(other, other.vertex_tree, other.vertices[None], self.distance)
        )
        a, b = one.vertices[first], other.vertices[second]
        return self._near(kernels, x, np.stack([a, a, b, b]), one, other, POINTS)

    def _near(
        self,
        kernels: ModuleType,
        x: np.ndarray,
        particles: np.ndarray,
        first: Surface,
        second: Surface,
        kind: int,
        distance: np.ndarray | None = None,
    ) -> Rows:
        """Of rows whose boxes overlap, those that can come closer than the distance, by default the pair's."""
        if distance is None:
            distance = np.full(particles.shape[1], self.distance)
        parts = []
        for start in range(0, particles.shape[1], CHUNK):
            ids = np.ascontiguousarray(particles[:, start : start + CHUNK])
            kept = distance[start : start + CHUNK]
            kinds = np.full(ids.shape[1], kind, np.int8)
            q = x.take(ids, axis=1)
            share = closest(kernels, q, kinds)
            gap, normals = kernels.separation(q, share)
            near = np.flatnonzero(gap <= kept + self._approach(ids, normals, first, second, 1 if kind == FACE else 2))
            ids, share, normals = (column.take(near, axis=1) for column in (ids, share, normals))
            kinds = kinds[near]
            kept = self._less_for_neighbours(kernels, ids, kinds, kept[near])
            parts.append(
                Rows(ids, share, normals, kept, kinds, np.full(len(near), self.number), np.zeros(len(near), bool))
            )
        return joined(parts)

    def _approach(
        self, particles: np.ndarray, normals: np.ndarray, first: Surface, second: Surface, sides: int
    ) -> np.ndarray:
        """How much closer the sides of each row can come while the promises hold, (m,) [m]."""
        of_first, of_second = particles[:sides] - first.part.start, particles[sides:] - second.part.start
        stray = first.slack.take(of_first).max(axis=0) + second.slack.take(of_second).max(axis=0)
        together = first is second
        way, other_way = (first.way, second.way) if together else (first.whole_way, second.whole_way)
        to_second = -np.einsum("im,ijm->jm", normals, way.take(of_first, axis=1)).min(axis=0)
        to_first = np.einsum("im,ijm->jm", normals, other_way.take(of_second, axis=1)).max(axis=0)
        if together:
            return np.asarray(stray + np.maximum(to_first + to_second, 0.0))
        # The two promise for different times, and their mean motions may stray as well.
        stray += math.sqrt(3.0) * (first.drift_slack + second.drift_slack)
        return np.asarray(stray + np.maximum(to_first, 0.0) + np.maximum(to_second, 0.0))

    def _less_for_neighbours(
        self, kernels: ModuleType, particles: np.ndarray, kind: np.ndarray, distance: np.ndarray
    ) -> np.ndarray:
        """The distance to keep in each row, less for those that are neighbours at rest, (m,) [m]."""
        if self.rest is None:
            return distance
        across = self.rest.take(particles[0], axis=1) - self.rest.take(particles[2], axis=1)
        most = self.distance / REST_SHARE + 2.0 * self.one.longest
        near = np.flatnonzero(np.einsum("im,im->m", across, across) < most**2)
        q = self.rest.take(particles.take(near, axis=1), axis=1)
        gap = kernels.separation(q, closest(kernels, q, kind[near]))[0]
        distance[near] = np.minimum(distance[near], REST_SHARE * gap)
        return distance
