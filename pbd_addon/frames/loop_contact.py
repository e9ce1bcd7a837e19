"""Contact in the frames of a fade: what goes through each other there is led apart.

The mean of two shapes may go through itself, and what it has lost in length may buckle into it. There the part around
is replaced by that of a shape that was simulated, in the place and direction in which it is now: nothing crosses in it,
and projection joins it to the rest. Where cloth and a closed obstacle go through each other, its normals lead out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..contact.crossings import crossing_pairs
from ..meshes.mesh import Polygons, connected_components, vertex_normals
from ..meshes.surface_points import closest_weights


class Mesh(NamedTuple):
    """What is cloth.

    Attributes:
        faces: (t, 3) int.
        edges: (e, 2) int, their sides.
    """

    faces: np.ndarray
    edges: np.ndarray


class Planes(NamedTuple):
    """Gaps n · (Σ wᵢ pᵢ) + offset >= 0.

    Attributes:
        ids: Vertices, (m, k) int.
        weights: Barycentric weights, (m, k).
        normals: (m, 3).
        offsets: (m,) [m].
        moves: By how much of the missing gap each vertex moves along the normal, (m, k).
    """

    ids: np.ndarray
    weights: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray
    moves: np.ndarray

    def project(self, p: np.ndarray) -> None:
        """Move vertices p (n, 3) until gaps are kept, in place; where planes compete, by the mean of them."""
        gaps = np.einsum("mi,mij,mj->m", self.weights, p[self.ids], self.normals) + self.offsets
        bad = np.flatnonzero(gaps < 0.0)
        if not len(bad):
            return
        moves, ids = self.moves[bad], self.ids[bad].ravel()
        ways = (-gaps[bad, None] * moves)[:, :, None] * self.normals[bad, None]
        count = np.maximum(np.bincount(ids, (moves != 0.0).ravel(), len(p)), 1.0)
        for axis in range(3):
            p[:, axis] += np.bincount(ids, ways[:, :, axis].ravel(), len(p)) / count


def sides_of(faces: np.ndarray) -> np.ndarray:
    """The edges (e, 2) of triangles (t, 3)."""
    return np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)


def replace_crossing(x: np.ndarray, cloth: Mesh, held: np.ndarray, known: np.ndarray, rings: int) -> bool:
    """Where cloth at x (n, 3) [m] goes through itself, give it the shape that it has at `known` (n, 3), in place.

    Args:
        x: Where it is.
        cloth: The mesh.
        held: Which vertices stay where they are, (n,) bool.
        known: Where nothing crosses.
        rings: How many edges around what crosses are replaced too.

    Returns:
        Whether something crossed.
    """
    crossing = _crossing(np.ascontiguousarray(x.T), cloth.edges, cloth.faces)
    chosen = np.zeros(len(x), bool)
    chosen[crossing.ids] = True
    for _ring in range(rings):
        chosen[cloth.edges[chosen[cloth.edges].any(axis=1)]] = True
    parts = connected_components(cloth.edges[chosen[cloth.edges].all(axis=1)], len(x))
    for part in np.unique(parts[chosen]):
        ids = np.flatnonzero(parts == part)
        moved = _moved_rigidly(known[ids], x[ids])
        x[ids] = np.where(held[ids, None], x[ids], moved)
    return bool(chosen.any())


def _moved_rigidly(shape: np.ndarray, to: np.ndarray) -> np.ndarray:
    """A shape (k, 3) turned and moved to where it is nearest to other places of its points (Kabsch 1976)."""
    center, other = shape.mean(axis=0), to.mean(axis=0)
    u, _s, v = np.linalg.svd((shape - center).T @ (to - other))
    u[:, 2] *= np.sign(np.linalg.det(u @ v))
    return np.asarray((shape - center) @ u @ v + other)


def around(
    x: np.ndarray, cloth: Mesh, held: np.ndarray, vertices: np.ndarray, faces: np.ndarray, distance: float, side: int
) -> list[Planes]:
    """Planes that lead cloth at x (n, 3) out of what goes through it: a closed obstacle, or into it for a side of -1.

    Its vertices are not asked: what is nearest to each of them is known.
    """
    n, low, high = len(x), x.min(axis=0), x.max(axis=0)
    corners = vertices[faces]
    near = faces[((corners.max(axis=1) >= low) & (corners.min(axis=1) <= high)).all(axis=1)]
    up = side * vertex_normals(vertices, Polygons(faces.ravel(), np.arange(0, faces.size + 1, 3)))
    p = np.ascontiguousarray(np.concatenate([x, vertices]).T)
    through = _crossing(p, sides_of(near) + n, cloth.faces)
    ends = through.ids[:, :2] - n
    normals = up[ends].mean(axis=1)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    outer = np.einsum("mij,mj->mi", vertices[ends], normals).max(axis=1)
    into = _crossing(p, cloth.edges, near + n)
    bases = into.ids[:, 2:] - n
    outwards = np.einsum("mi,mij->mj", into.places, up[bases])
    outwards /= np.maximum(np.linalg.norm(outwards, axis=1, keepdims=True), 1e-300)
    feet = np.einsum("mi,mij,mj->m", into.places, vertices[bases], outwards)
    free = ~held
    return [
        _planes(through.ids[:, 2:], through.places, normals, -outer - distance, free[through.ids[:, 2:]]),
        _planes(into.ids[:, :2], into.shares, outwards, -feet - distance, free[into.ids[:, :2]]),
    ]


class _Crossing(NamedTuple):
    """Edges that go through faces.

    Attributes:
        ids: Ends of the edge and corners of the face, (m, 5) int.
        shares: Barycentric weights of the ends where it goes through, (m, 2).
        places: Of the corners, (m, 3).
    """

    ids: np.ndarray
    shares: np.ndarray
    places: np.ndarray


def _crossing(p: np.ndarray, edges: np.ndarray, faces: np.ndarray) -> _Crossing:
    """Which edges (e, 2) go through which faces (t, 3) at p (3, n)."""
    edge, face = crossing_pairs(p, edges.T, faces.T)
    ids = np.concatenate([edges[edge], faces[face]], axis=1)
    x = p.T
    corners = x[ids[:, 2:]]
    heights = np.einsum("mij,mj->mi", x[ids[:, :2]] - corners[:, :1], _normals(x, ids[:, 2:]))
    share = np.abs(heights) / np.maximum(np.abs(heights).sum(axis=1, keepdims=True), 1e-300)
    shares = share[:, ::-1]
    return _Crossing(ids, shares, closest_weights(np.einsum("mi,mij->mj", shares, x[ids[:, :2]]), corners))


def _normals(x: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Unit normals (t, 3) of triangles (t, 3)."""
    a, b, c = x[faces].swapaxes(0, 1)
    normals = np.cross(b - a, c - a)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300))


def _planes(ids: np.ndarray, weights: np.ndarray, normals: np.ndarray, offsets: np.ndarray, free: np.ndarray) -> Planes:
    """Planes of which something can move."""
    moves = np.where(free, weights, 0.0)
    total = np.einsum("mi,mi->m", moves, moves)
    can = total > 1e-9
    return Planes(ids[can], weights[can], normals[can], offsets[can], moves[can] / total[can, None])
