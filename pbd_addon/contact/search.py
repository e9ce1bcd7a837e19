"""Search: the contact rows that two surfaces, or one with itself, can have before their promises run out.

Boxes of vertices, edges and triangles, swept along their promised ways, are looked up in trees; of what overlaps, the
rows are kept that can come closer than the distance. A search misses nothing that the promises allow, except smooth
edges of cloth that meet farther apart than `SMOOTH_SHARE` of the distance, which vertices and triangles keep apart.
Cost with NumPy: about 0.2 µs for each pair of boxes that overlap and 0.05 µs for each pair of nodes looked at; 15 ms
for a flat sheet of 64 x 64 vertices, 70 to 120 ms when it lies in many folds. Where a few vertices of a surface that
only meets itself leave their ways, only what they can meet is looked up anew.
"""

from __future__ import annotations

import math
from types import ModuleType
from typing import NamedTuple

import numpy as np

from ..kernels import EDGES, FACE, POINTS
from .box_tree import Boxes, BoxTree
from .collider import Collider
from .promise import Promise
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


class Items(NamedTuple):
    """Vertices, edges or triangles of a surface, in a search.

    Attributes:
        promise: Of their surface.
        particles: Of each, (1 to 3, m) int.
        tree: Theirs.
        kept: Distance to be kept around them, (m,) [m].
        boxes: Where they can be while the promise holds, with half of that distance around them.
    """

    promise: Promise
    particles: np.ndarray
    tree: BoxTree
    kept: np.ndarray
    boxes: Boxes


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
        self.promises = one.promise, other.promise
        self.seen = (0, 0)
        self.rows = no_rows()
        self._meetings: list[tuple[int, Items, Items]] = []

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
    def versions(self) -> tuple[int, int]:
        """Of both promises."""
        return self.promises[0].version, self.promises[1].version

    @property
    def is_stale(self) -> bool:
        """Whether a surface has promised anew since the last search."""
        return self.seen != self.versions

    def search(self, kernels: ModuleType, x: np.ndarray) -> None:
        """Find all rows that can come into contact while both promises hold. x: positions now, (3, N) [m]."""
        one, other = self.promises
        together = one is other
        ways = {each: (each.way if together else each.whole_way, each.slack) for each in self.promises}
        meetings = self._items(kernels, x)
        parts = [self._near(kernels, x, kind, a, b, a.boxes.overlaps(b.boxes), ways) for kind, a, b in meetings]
        self.rows = joined(parts)
        self._meetings = meetings if together else []
        self.seen = self.versions

    def amend(self, kernels: ModuleType, x: np.ndarray, particles: np.ndarray) -> None:
        """Find the rows of particles (k,) anew whose promise to their own surface was amended. x: as in `search`."""
        promise = self.promises[0]
        anew = np.zeros(x.shape[1], bool)
        anew[particles] = True
        ways = {promise: promise.onward()}
        parts = [self.rows.chosen(np.flatnonzero(~anew.take(self.rows.particles).any(axis=0)))]
        for kind, a, b in self._meetings:
            some, of_some = self._amended(kernels, a, anew)
            others, of_others = (some, of_some) if a is b else self._amended(kernels, b, anew)
            first, second = of_some.overlaps(b.boxes)
            if a is b:
                once = np.flatnonzero(~some.take(second) | (first < second))
                pairs = first.take(once), second.take(once)
            else:
                more, others = a.boxes.overlaps(of_others)
                once = np.flatnonzero(~some.take(more))
                pairs = np.append(first, more.take(once)), np.append(second, others.take(once))
            parts.append(self._near(kernels, x, kind, a, b, pairs, ways))
        self.rows = joined(parts)

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

    def _items(self, kernels: ModuleType, x: np.ndarray) -> list[tuple[int, Items, Items]]:
        """Who meets whom: the kind of rows, and both sides."""
        one, other = self.one, self.other

        def vertices(surface: Surface) -> Items:
            return self._boxed(kernels, surface, surface.vertices[None], surface.vertex_tree)

        def triangles(surface: Surface) -> Items:
            return self._boxed(kernels, surface, surface.triangles, surface.triangle_tree)

        def edges(surface: Surface, angle: float | None) -> Items:
            kept = None if angle is None else self._kept_by_edges(surface, x, angle)
            return self._boxed(kernels, surface, surface.edges, surface.edge_tree, kept)

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

    def _boxed(
        self,
        kernels: ModuleType,
        surface: Surface,
        particles: np.ndarray,
        tree: BoxTree,
        kept: np.ndarray | None = None,
    ) -> Items:
        """Items (k, m) of a surface; kept (m,) [m]: by default the pair's distance."""
        kept = np.full(particles.shape[1], self.distance) if kept is None else kept
        promise = self.promises[surface is not self.one]
        bounds = kernels.bounds_of(
            *promise.ranges(self.one is not self.other), particles - surface.part.start, 0.5 * kept
        )
        return Items(promise, particles, tree, kept, tree.fitted(bounds, kernels=kernels))

    def _amended(self, kernels: ModuleType, items: Items, anew: np.ndarray) -> tuple[np.ndarray, Boxes]:
        """Which items have particles anew (N,) bool, (m,) bool, and these alone, put where they will be now."""
        some = np.asarray(anew.take(items.particles).any(axis=0))
        numbers = np.flatnonzero(some)
        own = items.particles.take(numbers, axis=1) - items.promise.part.start
        bounds = kernels.bounds_of(*items.promise.ranges(False), own, 0.5 * items.kept.take(numbers))
        return some, items.tree.amended(items.boxes, numbers, bounds)

    def _near(
        self,
        kernels: ModuleType,
        x: np.ndarray,
        kind: int,
        a: Items,
        b: Items,
        pairs: tuple[np.ndarray, np.ndarray],
        ways: dict[Promise, tuple[np.ndarray, np.ndarray]],
    ) -> Rows:
        """Of pairs of items whose boxes overlap, those that can come closer than is kept while the promises hold.

        pairs: numbers of items (m,) and (m,). ways: where the vertices of each promise go, (3, n), and how far they
        may stray from there, (n,) [m].
        """
        one, other = a.promise, b.promise
        together = one is other
        (way, slack), (other_way, other_slack) = ways[one], ways[other]
        # Two surfaces promise for different times, and their mean motions may stray as well.
        loose = 0.0 if together else math.sqrt(3.0) * (one.drift_slack + other.drift_slack)
        distance = np.full(len(pairs[0]), self.distance)
        if kind == EDGES:
            distance = np.minimum(a.kept.take(pairs[0]), b.kept.take(pairs[1]))
        particles, share, normals, distance = kernels.rows_in_reach(
            x, *pairs, a.particles, b.particles, kind, distance, one.part.start, other.part.start, slack, other_slack,
            way, other_way, loose, together,
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
