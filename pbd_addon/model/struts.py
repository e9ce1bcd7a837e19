"""Struts through the inside of a mesh: which vertices of one side they connect with which of the other.

A ray leaves each vertex inward and ends at the first face that it meets, as Blender's Cloth makes its internal springs;
the corner of that face nearest to it is the other end.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..contact.bvh import BVH
from ..meshes.mesh import TriMesh, pair_keys

if TYPE_CHECKING:
    from ..bodies.body import Body
    from ..bodies.material import Material

SHORTEST = 1e-6
"""A face is met if it is at least so many sizes of the mesh away from the vertex: those around it are not."""

FIRST_PART, GROWTH = 2.0, 1.1
"""Length of the first part of a ray, in usual edges, and by how much each part is longer than the one before it. Boxes
around short parts overlap few faces. Blocks of 10,000 vertices take 0.16 (upright) to 0.27 s (45°), with 4 and 1.25
0.15 to 0.33, with 2 and 1.5 0.16 to 0.41 s."""

SEQUENCE = 0.7548776662466927, 0.5698402909980532
"""1 / p and 1 / p² for p³ = p + 1: the fractional parts of their multiples fill a square evenly (Roberts 2018, "The
unreasonable effectiveness of quasirandom sequences"). They are the same on every machine."""


class Struts(NamedTuple):
    """Struts of a body.

    Attributes:
        pairs: Both vertices of each, (m, 2) int.
        areas: Area of each end, if a ray has left it towards the other, else 0, (m, 2) [m²].
    """

    pairs: np.ndarray
    areas: np.ndarray


class Recipe(NamedTuple):
    """What struts are made by: fields of `Material`."""

    length: float
    diversion: float
    check_normals: bool

    @staticmethod
    def of(material: Material) -> Recipe | None:
        """That of a material, or None if it has no struts."""
        if not material.internal_springs:
            return None
        return Recipe(
            material.internal_spring_length, material.internal_spring_diversion, material.internal_spring_normals
        )


_found: weakref.WeakKeyDictionary[Body, tuple[Recipe, Struts]] = weakref.WeakKeyDictionary()
"""The last ones of each body."""


def struts_of(body: Body, recipe: Recipe) -> Struts:
    """The struts of a body as given, in its rest shape."""
    body = body.origin
    if body not in _found or _found[body][0] != recipe:
        _found[body] = recipe, _find(body, recipe)
    return _found[body][1]


def _find(body: Body, recipe: Recipe) -> Struts:
    mesh, rest = body.mesh, body.rest_vertices
    starts = np.unique(mesh.triangles)
    ways = _directions(mesh, rest, starts, recipe.diversion)
    size = float(np.linalg.norm(np.ptp(rest, axis=0)))
    rays, faces, places = _first_hits(mesh, rest, starts, ways, recipe.length or size, SHORTEST * size)
    corners = mesh.triangles[faces]
    if recipe.check_normals:
        leaves = np.einsum("ij,ij->i", _face_normals(rest, corners), ways[rays]) > 0.0
        rays, corners, places = rays[leaves], corners[leaves], places[leaves]
    off = np.linalg.norm(rest[corners] - places[:, None], axis=2)
    ends = corners[np.arange(len(corners)), off.argmin(axis=1)]
    pairs = np.column_stack([starts[rays], ends]).astype(np.int64)
    known = np.concatenate([pair_keys(mesh.edges, len(rest)), pair_keys(mesh.diagonals, len(rest))])
    pairs = pairs[(pairs[:, 0] != pairs[:, 1]) & ~np.isin(pair_keys(pairs, len(rest)), known)]
    _, at, number = np.unique(pair_keys(pairs, len(rest)), return_index=True, return_inverse=True)
    areas = np.zeros((len(at), 2))
    found = np.sort(pairs[at], axis=1)
    areas[number.ravel(), (pairs[:, 0] != found[number.ravel(), 0]).astype(int)] = mesh.corner_areas[pairs[:, 0]]
    return Struts(found, areas)


def _face_normals(x: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals of triangles (t, 3) at x (n, 3), twice as long as their area, (t, 3)."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    return np.cross(b - a, c - a)


def _directions(mesh: TriMesh, x: np.ndarray, starts: np.ndarray, diversion: float) -> np.ndarray:
    """Unit vectors of the rays from vertices `starts` (s,), (s, 3): inward, leaning by at most `diversion` [rad]."""
    faces = _face_normals(x, mesh.triangles)
    faces /= np.linalg.norm(faces, axis=1)[:, None]
    normals = np.zeros_like(x)
    for k in range(3):  # By the angle at each corner, so that the cut of a quad does not matter.
        corner = x[mesh.triangles[:, k]]
        a, b = (x[mesh.triangles[:, k - side]] - corner for side in (1, 2))
        angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ij,ij->i", a, b))
        np.add.at(normals, mesh.triangles[:, k], angle[:, None] * faces)
    inward = -normals[starts]
    inward /= np.maximum(np.linalg.norm(inward, axis=1), 1e-300)[:, None]
    one, other = ((starts * step) % 1.0 for step in SEQUENCE)
    cosine = 1.0 - one * (1.0 - np.cos(diversion))  # even on the cap of the sphere
    across = np.cross(inward, np.eye(3)[np.abs(inward).argmin(axis=1)])
    across /= np.maximum(np.linalg.norm(across, axis=1), 1e-300)[:, None]
    turn = 2.0 * np.pi * other[:, None]
    around = np.cos(turn) * across + np.sin(turn) * np.cross(inward, across)
    return np.asarray(cosine[:, None] * inward + np.sqrt(1.0 - cosine**2)[:, None] * around)


def _first_hits(
    mesh: TriMesh, x: np.ndarray, starts: np.ndarray, ways: np.ndarray, longest: float, shortest: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first triangle without its start that each ray meets.

    Args:
        mesh: The mesh.
        x: Its vertices, (n, 3) [m].
        starts: Vertices that the rays leave, (s,) int.
        ways: Their directions, unit vectors (s, 3).
        longest: Length of the rays [m].
        shortest: How far away a triangle is at least [m].

    Returns:
        Rays that meet one, (k,) int, that triangle, (k,) int, and where, (k, 3) [m].
    """
    corners, origins = x[mesh.triangles], x[starts]
    centers = corners.mean(axis=1)
    radii = (1.0 + 1e-6) * ((corners - centers[:, None]) ** 2).sum(axis=2).max(axis=1)
    faces = BVH.of_points(centers).refit(
        np.concatenate([corners.min(axis=1).T - shortest, -corners.max(axis=1).T - shortest])
    )
    tree = BVH.of_points(origins)
    left = np.ones(len(starts), bool)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    begin, part = 0.0, FIRST_PART * float(np.median(mesh.edge_lengths(x)))
    while begin < longest and left.any():
        end = min(begin + part, longest)
        one, other = origins + begin * ways, origins + end * ways
        boxes = np.concatenate([np.minimum(one, other).T, -np.maximum(one, other).T])
        ray, face = tree.refit(boxes, left).query_pairs(faces)
        off = [row[face] - start[ray] for row, start in zip(centers.T, origins.T)]
        along = sum(row * way[ray] for row, way in zip(off, ways.T))
        near = sum(row**2 for row in off) - along**2 <= radii[face]
        ray, face = ray[near], face[near]
        ray, face, way = _meet(origins, ways, corners, ray, face)
        met = (way > shortest) & (way <= end) & (mesh.triangles[face] != starts[ray][:, None]).all(axis=1)
        ray, face, way = ray[met], face[met], way[met]
        order = np.lexsort((face, way, ray))
        order = order[np.unique(ray[order], return_index=True)[1]]
        found.append((ray[order], face[order], way[order]))
        left[ray] = False
        begin, part = end, GROWTH * part
    rays, hit, way = (np.concatenate(parts) for parts in zip(*found))
    return rays, hit, origins[rays] + way[:, None] * ways[rays]


def _meet(
    origins: np.ndarray, ways: np.ndarray, corners: np.ndarray, ray: np.ndarray, face: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of pairs of rays and triangles, (q,) int each, those that meet, and how far along the ray [m].

    Each corner is on the inner side of the plane through the ray and the opposite side (Möller and Trumbore 1997).
    """
    a, b, c = (corners[face, k] - origins[ray] for k in range(3))
    way = ways[ray]
    u, v, w = (np.einsum("ij,ij->i", way, np.cross(one, other)) for one, other in ((b, c), (c, a), (a, b)))
    total = u + v + w
    least = -1e-9 * np.abs(total)
    inside = (np.minimum(np.minimum(u, v), w) >= least) | (np.maximum(np.maximum(u, v), w) <= -least)
    inside &= total != 0.0
    far = np.einsum("ij,ij->i", (u[:, None] * a + v[:, None] * b + w[:, None] * c), way)[inside] / total[inside]
    return ray[inside], face[inside], far
