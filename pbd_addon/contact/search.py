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

from ..kernels import EDGES, FACE, POINTS
from .box_tree import Boxes, BoxTree
from .collider import Collider
from .rows import Rows, joined, no_rows
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

        def boxes(tree: BoxTree, items: np.ndarray, only: bool) -> Boxes:
            corners = kernels.bounds_of(low, high, items, np.zeros(items.shape[1]))
            return tree.fitted(corners, np.asarray(stray.take(items).any(axis=0)) if only else None, kernels)

        def rows(particles: np.ndarray, sides: int) -> Rows:
            shared = (particles[:sides, None] == particles[None, sides:]).any(axis=(0, 1))
            particles = particles[:, ~shared]
            kind = np.full(particles.shape[1], FACE if sides == 1 else EDGES, np.int8)
            share, _, normals = kernels.closest_points(x, particles, kind)
            return self._rows(particles, share, normals, np.full(len(kind), self.distance), kind)

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

    def _rows(
        self, particles: np.ndarray, share: np.ndarray, normals: np.ndarray, distance: np.ndarray, kind: np.ndarray
    ) -> Rows:
        """Rows of this pair."""
        count = len(distance)
        return Rows(particles, share, normals, distance, kind, np.full(count, self.number), np.zeros(count, bool))

    def _boxes(
        self, kernels: ModuleType, surface: Surface, tree: BoxTree, items: np.ndarray, kept: np.ndarray | None = None
    ) -> Boxes:
        """Where items (k, m) can be, and half of the distance (m,) to be kept around them, by default the pair's."""
        margin = 0.5 * (np.full(items.shape[1], self.distance) if kept is None else kept)
        low, high = surface.ranges(self.one is not self.other)
        return tree.fitted(kernels.bounds_of(low, high, items - surface.part.start, margin), kernels=kernels)

    def _vertices_triangles(self, kernels: ModuleType, x: np.ndarray, one: Surface, other: Surface) -> Rows:
        items, other_items = one.vertices[None], other.triangles
        vertex, triangle = self._boxes(kernels, one, one.vertex_tree, items).overlaps(
            self._boxes(kernels, other, other.triangle_tree, other_items)
        )
        distance = np.full(len(vertex), self.distance)
        return self._near(kernels, x, one, other, FACE, (vertex, triangle, items, other_items), distance)

    def _edges(self, kernels: ModuleType, x: np.ndarray, kept: np.ndarray, by_other: np.ndarray) -> Rows:
        one, other = self.one, self.other
        edges = self._boxes(kernels, one, one.edge_tree, one.edges, kept)
        first, second = edges.overlaps(
            edges if one is other else self._boxes(kernels, other, other.edge_tree, other.edges, by_other)
        )
        distance = np.minimum(kept.take(first), by_other.take(second))
        return self._near(kernels, x, one, other, EDGES, (first, second, one.edges, other.edges), distance)

    def _points(self, kernels: ModuleType, x: np.ndarray) -> Rows:
        one, other = self.one, self.other
        items, other_items = one.vertices[None], other.vertices[None]
        points = self._boxes(kernels, one, one.vertex_tree, items)
        first, second = points.overlaps(
            points if one is other else self._boxes(kernels, other, other.vertex_tree, other_items)
        )
        distance = np.full(len(first), self.distance)
        return self._near(kernels, x, one, other, POINTS, (first, second, items, other_items), distance)

    def _near(
        self,
        kernels: ModuleType,
        x: np.ndarray,
        one: Surface,
        other: Surface,
        kind: int,
        pairs: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
        distance: np.ndarray,
    ) -> Rows:
        """Of pairs whose boxes overlap, those that can come closer than the distance (m,) while the promises hold.

        pairs: numbers of items (m,) and (m,), and the particles of all items, (k, i) and (l, j).
        """
        together = one is other
        way, other_way = (one.way, other.way) if together else (one.whole_way, other.whole_way)
        # Two surfaces promise for different times, and their mean motions may stray as well.
        loose = 0.0 if together else math.sqrt(3.0) * (one.drift_slack + other.drift_slack)
        particles, share, normals, distance = kernels.rows_in_reach(
            x, *pairs, kind, distance, one.part.start, other.part.start, one.slack, other.slack, way, other_way,
            loose, together,
        )  # fmt: skip
        kinds = np.full(len(distance), kind, np.int8)
        self._less_for_neighbours(kernels, particles, kinds, distance)
        return self._rows(particles, share, normals, distance, kinds)

    def _less_for_neighbours(
        self, kernels: ModuleType, particles: np.ndarray, kind: np.ndarray, distance: np.ndarray
    ) -> None:
        """Lessen the distance to keep, (m,) [m], in rows of those that are neighbours at rest."""
        if self.rest is None:
            return
        across = self.rest.take(particles[0], axis=1) - self.rest.take(particles[2], axis=1)
        most = self.distance / REST_SHARE + 2.0 * self.one.longest
        near = np.flatnonzero(np.einsum("im,im->m", across, across) < most**2)
        gap = kernels.closest_points(self.rest, particles.take(near, axis=1), kind[near])[1]
        distance[near] = np.minimum(distance[near], REST_SHARE * gap)
