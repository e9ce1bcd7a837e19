"""Recovery: what to do with cloth that starts out tangled, or inside of a solid collider."""

from __future__ import annotations

from types import ModuleType

import numpy as np

from ..kernels import FACE
from .box_tree import BoxTree
from .crossings import crossing_pairs, inside
from .rows import Rows, no_rows
from .search import Pair

ON = 1e-5
"""A vertex this close to a surface is on it, in edges of the surface."""

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
