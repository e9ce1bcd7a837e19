"""Geodesic distances between particles of cloth at rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays.distinct import distinct
from ..arrays.incidence import by_owner, entries
from ..meshes.mesh import TriMesh, pair_keys

CROOKED = 1.15
"""A path is used instead of the arc if it is longer by this factor; a smaller excess may be an error of measurement."""

FLAT_COSINE = 1e-3
"""A surface is flat if all cosines between its normals are within this of 1."""


STRIDE = 2.0
"""How far a search for shortest paths goes at once, in lengths of segments (delta-stepping, Meyer and Sanders 2003).

From a corner of 250 x 250 vertices each vertex is passed 1.03, 1.08, 1.2, 1.5 times with 1, 2, 4, 8, which takes 0.1 s;
without a limit 28 times, which takes 0.6 s."""


class SurfaceGraph:
    """Straight segments between vertices of a mesh at rest, for shortest paths by relaxation of whole arrays.

    Args:
        mesh: Topology.
        rest: Rest positions, (n, 3) [m].

    Attributes:
        pairs: End vertices of each segment, (m, 2) int32: with 15 neighbors a vertex, it is what takes most memory.
        ways: Its length, (m,) [m].
        stride: How far the search goes at once [m], see `STRIDE`.
    """

    def __init__(self, mesh: TriMesh, rest: np.ndarray) -> None:
        n = len(rest)
        pairs, lengths = _links(mesh, rest)
        self.pairs, self.ways, self.n = pairs, lengths, n
        # Every vertex is its own neighbor, so that no list is empty.
        own = np.arange(n, dtype=pairs.dtype)
        to = np.concatenate([pairs[:, 0], pairs[:, 1], own])
        order, self.starts = by_owner(to, n)
        self.neighbors = np.concatenate([pairs[:, 1], pairs[:, 0], own])[order]
        self.lengths = np.concatenate([lengths, lengths, np.zeros(n)])[order]
        self.owners = to[order]
        self.stride = STRIDE * float(np.median(lengths)) if len(lengths) else 1.0

    def distances(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Distance of every vertex from the nearest of `sources`, (n,) [m], inf if unreachable, and that source."""
        distance = np.full(self.n, np.inf)
        distance[sources] = 0.0
        changed, limit = np.asarray(sources), 0.0
        while len(changed):
            # Those nearby first: what is reached by a detour would pass that on.
            ready = distance[changed] <= limit
            if not ready.any():
                limit = float(distance[changed].min()) + self.stride
                continue
            beside = distinct(self.neighbors[entries(self.starts, changed[ready])[0]])
            rows, begins = entries(self.starts, beside)
            reached = np.minimum.reduceat(distance[self.neighbors[rows]] + self.lengths[rows], begins)
            shorter = reached < distance[beside]
            distance[beside[shorter]] = reached[shorter]
            changed = distinct(np.concatenate([changed[~ready], beside[shorter]]))
        through = distance[self.neighbors] + self.lengths == distance[self.owners]
        through &= (self.neighbors != self.owners) & np.isfinite(distance[self.owners])
        # Where vertices are in one place, paths could go around among them for ever.
        here, there = self.owners[through], self.neighbors[through]
        onward = (distance[there] < distance[here]) | ((distance[there] == distance[here]) & (there < here))
        origin = np.arange(self.n)
        origin[here[onward]] = there[onward]
        origin[sources] = sources
        while True:
            further = origin[origin]
            if np.array_equal(further, origin):
                break
            origin = further
        found = np.zeros(self.n, bool)
        found[sources] = True
        while True:
            lost = ~found[origin]
            rows = lost[here] & ~lost[there]
            if not rows.any():
                return distance, origin
            origin[here[rows]] = origin[there[rows]]


def distances_along(
    mesh: TriMesh, rest: np.ndarray, levels: Sequence[tuple[np.ndarray, np.ndarray]]
) -> list[np.ndarray]:
    """Distances along the surface between neighbors in coarse nets.

    On a flat surface they are straight. Otherwise each is that of an arc with the same normals at its ends, or of the
    path along the mesh if this is much longer, as around creases and over waves.

    Args:
        mesh: Topology.
        rest: Rest positions, (n, 3) [m].
        levels: Vertices of each net, (c,) int, and pairs of them, (m, 2) int.

    Returns:
        For each net, (m,) [m]; inf if two vertices are not neighbors along the surface.
    """
    normals = _normals(mesh, rest)
    is_flat = (normals @ normals[0] > 1.0 - FLAT_COSINE).all()
    graph = None if is_flat else SurfaceGraph(mesh, rest)
    found = []
    for members, pairs in levels:
        one, other = pairs.T
        lengths = np.linalg.norm(rest[one] - rest[other], axis=1)
        if graph is not None:
            half = 0.5 * np.arccos(np.einsum("ij,ij->i", normals[one], normals[other]).clip(-1.0, 1.0))
            lengths /= np.sinc(half / np.pi)  # half / sin(half)
            ways = _ways_between(graph, members, pairs)
            lengths = np.where(ways > CROOKED * lengths, ways, lengths)
        found.append(lengths)
    return found


def _ways_between(graph: SurfaceGraph, members: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Length of the shortest path between each pair that stays closer to these two than to others, (m,) [m]."""
    distance, origin = graph.distances(members)
    crossing = np.isfinite(distance[graph.pairs]).all(axis=1)
    between = graph.pairs[crossing]
    ways = distance[between].sum(axis=1) + graph.ways[crossing]
    keys = pair_keys(origin[between], graph.n)
    order = np.lexsort((ways, keys))
    known, first = np.unique(keys[order], return_index=True)
    wanted = pair_keys(pairs, graph.n)
    place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[place] == wanted, ways[order][first][place], np.inf)


def _normals(mesh: TriMesh, rest: np.ndarray) -> np.ndarray:
    """Unit normal at every vertex, (n, 3); 0 without faces."""
    a, b, c = rest[mesh.triangles].swapaxes(0, 1)
    of_triangle = np.repeat(np.cross(b - a, c - a), 3, axis=0)
    corners = mesh.triangles.ravel()
    normals = np.stack([np.bincount(corners, axis, len(rest)) for axis in of_triangle.T], axis=1)
    return np.asarray(normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None])


def _links(mesh: TriMesh, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of vertices with a straight segment between them on the unfolded surface, and its length [m]."""
    pairs = np.concatenate([mesh.edges, mesh.diagonals])
    lengths = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
    a, b, left, right = mesh.hinges.T
    edge = rest[b] - rest[a]
    length = np.maximum(np.linalg.norm(edge, axis=1), 1e-300)
    heights, alongs = [], []
    for tip in (left, right):
        arm = rest[tip] - rest[a]
        along = (arm * edge).sum(axis=1) / length
        alongs.append(along)
        heights.append(np.sqrt(np.maximum((arm**2).sum(axis=1) - along**2, 0.0)))
    # If the line between the tips leaves the two triangles, it is not on the surface.
    crossing = alongs[0] + (alongs[1] - alongs[0]) * heights[0] / np.maximum(heights[0] + heights[1], 1e-300)
    inside = (crossing >= 0.0) & (crossing <= length)
    across = np.hypot(alongs[1] - alongs[0], heights[0] + heights[1])
    return (
        np.concatenate([pairs, mesh.hinges[inside][:, 2:]]).astype(np.int32),
        np.concatenate([lengths, across[inside]]),
    )
