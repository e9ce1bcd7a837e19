"""Recovery: what to do with cloth that starts out tangled, or inside of a solid collider."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ..kernels import FACE
from .box_tree import BoxTree
from .crossings import crossing_pairs, inside
from .rows import Rows, joined, no_rows
from .search import Pair

ON = 1e-5
"""A vertex this close to a surface is on it, in edges of the surface."""

CLOSER = 12
"""Doublings of the distance at which the nearest face is looked for."""


class Recovery:
    """What is tangled or sunken, and which rows would lock it there.

    Attributes:
        crossings: Edges that go through faces, as counted last.
        known: Whether it was looked for since the particles were put where they are.
        squeezed: Whether colliders left cloth no place since it was looked for.
        tangled: Particles of edges and faces that cross each other, (N,) bool; (0,) before the first look.
    """

    def __init__(self) -> None:
        self.crossings = 0
        self.forget()

    def forget(self) -> None:
        """Nothing is known: the particles have been put somewhere else."""
        self.known = self.squeezed = False
        self.tangled = np.zeros(0, bool)
        self._deep: dict[Pair, np.ndarray] = {}
        self._ways_out = no_rows()

    @property
    def is_due(self) -> bool:
        """Whether to look: something is tangled or sunken, or nothing is known."""
        return not self.known or self.squeezed or bool(self._deep) or bool(self.tangled.any())

    def look(self, kernels: ModuleType, x: np.ndarray, w: np.ndarray, pairs: list[Pair]) -> None:
        """See what is tangled and what is sunken; every pair is to be searched anew.

        Args:
            kernels: Module of kernels.
            x: Positions, (3, N) [m].
            w: Inverse masses, (N,) [1/kg].
            pairs: All pairs of surfaces.
        """
        # A tangle with a solid collider is undone by pushing the cloth out.
        marked, self.crossings = tangled(x, [pair for pair in pairs if not pair.is_solid and not pair.points_only])
        self.tangled = marked | (w == 0.0) & marked.any()
        before, self._deep, parts = self._deep, {}, [no_rows()]
        for pair in pairs:
            if pair.is_solid:
                known = self.known and not self.squeezed
                deep = sunken(x, pair, before.get(pair, np.zeros(0, int)) if known else pair.one.vertices)
                if len(deep):
                    self._deep[pair] = deep
                    parts.append(ways_out(kernels, x, pair, deep))
            pair.seen = (-1, -1)
        self._ways_out = joined(parts)
        self.known, self.squeezed = True, False

    def free(self, rows: Rows) -> Rows:
        """Rows without those that would lock what is tangled or sunken already, and with the ways out."""
        if self.tangled.any():
            locked = self.tangled.take(rows.particles).all(axis=0)
            rows = rows.chosen(np.flatnonzero(~locked))
        for pair, deep in self._deep.items():
            lost = np.zeros(len(self.tangled), bool)
            lost[deep] = True
            locked = (rows.pair == pair.number) & lost.take(rows.particles).any(axis=0)
            rows = rows.chosen(np.flatnonzero(~locked))
        return joined([self._ways_out, rows]) if self._ways_out.size else rows


def tangled(x: np.ndarray, pairs: list[Pair]) -> tuple[np.ndarray, int]:
    """Particles of edges and faces that cross each other, (N,) bool, and how many crossings there are.

    Args:
        x: Positions, (3, N) [m].
        pairs: Pairs of surfaces that meet.
    """
    marked = np.zeros(x.shape[1], bool)
    count = 0
    for pair in pairs:
        ways = [(pair.one, pair.other)] if pair.one is pair.other else [(pair.one, pair.other), (pair.other, pair.one)]
        for of_edges, of_faces in ways:
            edge, triangle = crossing_pairs(x, of_edges.edges, of_faces.triangles)
            marked[of_edges.edges[:, edge]] = True
            marked[of_faces.triangles[:, triangle]] = True
            count += len(edge)
    return marked, count


def sunken(x: np.ndarray, pair: Pair, vertices: np.ndarray) -> np.ndarray:
    """Those of the particles `vertices` (k,) on the wrong side of the pair's closed collider, or on it, (j,) int."""
    collider = pair.other
    here = x[:, vertices]
    if not pair.is_container:
        solid = x[:, collider.part]
        near = (here >= solid.min(axis=1)[:, None] - ON * collider.edge).all(axis=0)
        near &= (here <= solid.max(axis=1)[:, None] + ON * collider.edge).all(axis=0)
        vertices, here = vertices[near], here[:, near]
    if not len(vertices):
        return vertices
    # A direction along no face of a usual mesh.
    aside = ON * collider.edge * np.array([[1.0], [0.7], [0.4]])
    wrong = [inside(here + way, x, collider.triangles) == (not pair.is_container) for way in (0.0, aside, -aside)]
    return vertices[np.any(wrong, axis=0)]


def ways_out(kernels: ModuleType, x: np.ndarray, pair: Pair, vertices: np.ndarray) -> Rows:
    """Rows that lead the particles `vertices` (k,) to the nearest face of the pair's collider and through it."""
    collider = pair.other
    best = np.full(len(vertices), np.inf)
    face = np.zeros(len(vertices), int)
    reach, missing = max(pair.distance, collider.edge), np.arange(len(vertices))
    triangles = x.take(collider.triangles, axis=1)
    bounds = np.concatenate([triangles.min(axis=1), -triangles.max(axis=1)])
    faces = collider.triangle_tree.fitted(bounds, kernels=kernels)
    for _ in range(CLOSER):
        if not len(missing):
            break
        here = x[:, vertices[missing]]
        around = BoxTree(here.T).fitted(np.concatenate([here - reach, -(here + reach)]), kernels=kernels)
        which, triangle = around.overlaps(faces)
        particles = np.concatenate([vertices[missing[which]][None], collider.triangles[:, triangle]])
        gap = kernels.closest_points(x, particles, np.full(len(which), FACE, np.int8))[1]
        order = np.argsort(gap, kind="stable")[::-1]
        best[missing[which[order]]], face[missing[which[order]]] = gap[order], triangle[order]
        missing = np.flatnonzero(best > reach)
        reach *= 2.0
    found = np.flatnonzero(np.isfinite(best))
    if not len(found):
        return no_rows()
    particles = np.concatenate([vertices[found][None], collider.triangles[:, face[found]]])
    kind = np.full(len(found), FACE, np.int8)
    share, gap, normals = kernels.closest_points(x, particles, kind)
    normals *= -1.0
    on = np.flatnonzero(gap < 4.0 * ON * collider.edge)
    if len(on):
        point, a, b, c = x.take(particles[:, on], axis=1).swapaxes(0, 1)
        across = np.cross(b - a, c - a, axis=0)
        across /= np.maximum(np.sqrt(np.einsum("im,im->m", across, across)), 1e-300)
        beside = point + 10.0 * ON * collider.edge * across
        wrong = inside(beside, x, collider.triangles) == (not pair.is_container)
        normals[:, on] = np.where(wrong, -across, across)
    count = len(found)
    return Rows(
        particles, share, normals, np.full(count, pair.distance), kind, np.full(count, pair.number),
        np.ones(count, bool),
    )  # fmt: skip
