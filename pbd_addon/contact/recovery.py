"""Recovery: what to do with cloth that starts out tangled, or inside of a solid collider."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from .box_tree import BoxTree
from .crossings import crossing_pairs, inside
from .rows import FACE, Rows, no_rows
from .search import Pair

CLOSER = 12
"""Doublings of the distance at which the nearest face is looked for."""


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
    """Those of the particles `vertices` (k,) that are on the wrong side of the pair's solid collider, (j,) int."""
    solid = x[:, pair.other.part]
    low, high = solid.min(axis=1), solid.max(axis=1)
    here = x[:, vertices]
    if pair.collider is not None and not pair.collider.inside:
        candidates = vertices[((here >= low[:, None]) & (here <= high[:, None])).all(axis=0)]
        return candidates[inside(x[:, candidates], x, pair.other.triangles)] if len(candidates) else candidates
    return vertices[~inside(here, x, pair.other.triangles)]


def ways_out(kernels: ModuleType, x: np.ndarray, pair: Pair, vertices: np.ndarray) -> Rows:
    """Rows that lead the particles `vertices` (k,) to the nearest face of the pair's collider and through it."""
    collider = pair.other
    best = np.full(len(vertices), np.inf)
    face = np.zeros(len(vertices), int)
    reach, missing = max(pair.distance, collider.edge), np.arange(len(vertices))
    triangles = x.take(collider.triangles, axis=1)
    bounds = np.concatenate([triangles.min(axis=1), -triangles.max(axis=1)])
    faces = collider.triangle_tree.fitted(bounds)
    for _ in range(CLOSER):
        if not len(missing):
            break
        here = x[:, vertices[missing]]
        around = BoxTree(here.T).fitted(np.concatenate([here - reach, -(here + reach)]))
        which, triangle = around.overlaps(faces)
        particles = np.concatenate([vertices[missing[which]][None], collider.triangles[:, triangle]])
        q = x.take(particles, axis=1)
        gap = kernels.separation(q, kernels.closest_on_triangles(q))[0]
        order = np.argsort(gap, kind="stable")[::-1]
        best[missing[which[order]]], face[missing[which[order]]] = gap[order], triangle[order]
        missing = np.flatnonzero(best > reach)
        reach *= 2.0
    found = np.flatnonzero(np.isfinite(best))
    if not len(found):
        return no_rows()
    particles = np.concatenate([vertices[found][None], collider.triangles[:, face[found]]])
    q = x.take(particles, axis=1)
    share = kernels.closest_on_triangles(q)
    normals = -kernels.separation(q, share)[1]
    count = len(found)
    return Rows(
        particles, share, normals, np.full(count, pair.distance), np.full(count, FACE, np.int8),
        np.full(count, pair.number), np.ones(count, bool),
    )  # fmt: skip
