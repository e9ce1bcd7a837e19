"""Patches: partitions of the faces of a surface, and which pieces of it can be height fields.

A piece of a surface whose face normals lie in a cone of less than 90° is a height field over the plane across the
cone's axis: as long as its outline does not meet itself there, neither does the piece (Volino & Magnenat-Thalmann 1994;
Provot 1997), and two of its points are at least as far apart as the cosine of the half-angle of the cone times their
way along the cloth. The outline is not tested while it moves: only pieces take part that are connected and compact at
rest, without slits and holes. A map of a convex piece of the plane that changes no length by more than a factor of
cos 45° = 1 / √2 beside another is one to one (F. John 1968), so that an outline could meet itself only with strains far
above those of cloth.

Pieces that overlap leave no seams between them: each patch is one piece, and with the patches around it another, its
neighborhood. Patches are neighbors if a cell touches both, so that others are farther apart than a cell is wide, and
cells if they share a vertex. Vertices and edges belong to one representative face each (Curtis, Tamstorf & Manocha
2008), so that all hierarchies share the patches.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from ..arrays.distinct import distinct
from .bvh import median_split_order

PATCH_DEPTH, CELL_DEPTH = 5, 3
"""Levels of the tree of faces below patches and cells: these have up to 32 and 8 faces, and more than half."""

LARGE_DEPTHS = 9, 7
"""The same for larger patches, where a sheet lies flat."""

MAX_ASPECT = 6.0
"""Largest squared length of a piece over its area. A strip of that aspect meets its own end at a strain of a half."""

MAX_REFLEX = math.radians(30.0)
"""How much farther than straight the border of the mesh may turn into a piece, in sum: a slit has 180°."""

MAX_ANGLE = 3.0 * math.pi
"""Largest sum of angles around a vertex of one fan of faces; two closed fans that share it have 4 π where flat."""

MAX_VALENCE = 16
"""Most patches at a vertex that count as neighbors of each other: the pole of a fan has no neighborhood."""


class Neighbors(NamedTuple):
    """The neighborhoods of all patches: patch i of a partition into n is node n + i of the tree of cells.

    Attributes:
        first: Where those of each node begin, and how many there are, (2 * cells + 1,) int32; a node has none where
            there is no partition into as many patches.
        nodes: Neighbors of each node, itself included, in ascending order, (m,) int32.
    """

    first: np.ndarray
    nodes: np.ndarray

    def among(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The neighborhoods of the partition into `count` patches.

        Returns:
            Where the members of each begin, and how many there are, (count + 1,) int32; the patches in each, one
            neighborhood after another, (m,) int32.
        """
        first = self.first[count : 2 * count + 1]
        return np.asarray(first - first[0]), np.asarray(self.nodes[first[0] : first[-1]] - np.int32(count))


class Patches:
    """Partitions of the faces of a mesh into patches, in the order of one hierarchy.

    Args:
        corners: Rest positions of the corners of each face, (t, 3, 3) [m].
        vertex: Number of the vertex at each corner, (t, 3) int.
        edge: Number of the edge from each corner to the next, (t, 3) int.
        particles: The particle at each vertex, (v,) int32.
        loose: How many of the faces, the last ones, are loose edges, with their second end twice and one edge.

    Attributes:
        levels: Partitions into large patches and into small ones, the cells, each with more of them.
        neighbors: Which patches are neighbors.
        faces: Particles of all faces patch by patch, (3, t) int.
        face_leaves, vertex_leaves, edge_leaves: The primitives of each cell, -1 behind them, (cells, 2**i) int;
            loose edges are no faces.
        cell_vertices: Particles of the faces of each cell, some of them repeated, (c, cells) int.

    All indices are int32.
    """

    def __init__(
        self, corners: np.ndarray, vertex: np.ndarray, edge: np.ndarray, particles: np.ndarray, loose: int
    ) -> None:
        count = len(corners) - loose
        leaves = median_split_order(corners.mean(axis=1))
        used = np.flatnonzero(leaves >= 0)
        places = np.zeros(len(corners), int)
        places[leaves[used]] = used
        self.faces = np.ascontiguousarray(particles[vertex[leaves[used]].T])
        numbers = {max(len(leaves) >> depth, 1) for depth in (*LARGE_DEPTHS, PATCH_DEPTH, CELL_DEPTH)}
        *large, cells = (
            _Pieces(places * number // len(leaves), leaves[used], vertex, edge, count) for number in sorted(numbers)
        )
        reflex = _turns_of_border(corners[:count], vertex[:count], edge[:count], int(vertex.max()) + 1)
        self.neighbors = _find_neighbors(large, cells, len(reflex))
        self.levels = [patches.partition(self.neighbors, corners, reflex) for patches in (*large, cells)]
        of_cells = np.where(leaves < count, leaves, -1).reshape(cells.count, -1).astype(np.int32)
        self.face_leaves = np.take_along_axis(of_cells, np.argsort(of_cells < 0, axis=1, kind="stable"), axis=1)
        self.vertex_leaves, self.edge_leaves = (cells.leaves_of(places, each) for each in (vertex, edge))
        first = np.searchsorted(cells.owner, np.arange(cells.count + 1))
        slot = np.arange(np.diff(first).max(initial=1))[:, None]
        self.cell_vertices = particles[cells.vertex[np.minimum(first[:-1] + slot, first[1:] - 1)]]


@dataclasses.dataclass(frozen=True, eq=False)
class Partition:
    """A partition of faces into patches, and the neighborhoods of these.

    Attributes:
        count: Number of patches.
        can_be_flat: Whether patches, and whether neighborhoods, can be height fields, (2, count) bool.
        first_faces: Where the faces of each patch begin, and how many there are, (count + 1,) int32.
        neighbors: Of all partitions.
    """

    count: int
    can_be_flat: np.ndarray
    first_faces: np.ndarray
    neighbors: Neighbors

    @property
    def neighborhoods(self) -> tuple[np.ndarray, np.ndarray]:
        """As `Neighbors.among`."""
        return self.neighbors.among(self.count)


class _Pieces:
    """A partition of faces in the making.

    Args:
        of_face: The patch of each face, (t,) int.
        faces: All faces patch by patch, (t,) int.
        vertex: Number of the vertex at each corner, (t, 3) int.
        edge: Number of the edge from each corner to the next, (t, 3) int.
        loose_from: Number of the first face that is a loose edge.

    Attributes:
        count: Number of patches.
        owner, vertex: Pairs of a patch and one of its vertices, sorted, (i,) int each.
    """

    def __init__(
        self, of_face: np.ndarray, faces: np.ndarray, vertex: np.ndarray, edge: np.ndarray, loose_from: int
    ) -> None:
        self._of_face, self._faces, self.count = of_face, faces, int(of_face.max()) + 1
        self._first_faces = np.searchsorted(of_face[faces], np.arange(self.count + 1))
        self.owner, self.vertex = self._distinct(vertex)
        # Euler's characteristic; two pieces that share one vertex pass too, see `_turns_of_border`.
        self._is_disk = np.bincount(self.owner) - np.bincount(self._distinct(edge)[0]) + np.bincount(of_face) == 1
        self._is_disk[of_face[loose_from:]] = False

    def _distinct(self, primitive: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a patch and a vertex or edge of its faces, (t, 3) int, sorted, (i,) int each."""
        count = int(primitive.max()) + 1
        patch, number = np.divmod(distinct(self._of_face[:, None] * count + primitive), count)
        return patch, number

    def leaves_of(self, places: np.ndarray, primitive: np.ndarray) -> np.ndarray:
        """Leaves with each primitive in the patch of the first of its faces, and in the order of these.

        places: leaf of each face, (t,); primitive: number of the vertices or edges of each face, (t, 3).
        """
        place, ids = np.repeat(places, 3), primitive.ravel()
        order = np.lexsort((place, ids))
        firsts = order[np.append(True, np.diff(ids[order]) > 0)]
        firsts = firsts[np.lexsort((ids[firsts], place[firsts]))]
        patch = self._of_face[firsts // 3]
        count = np.bincount(patch, minlength=self.count)
        slots = 1 << max(int(count.max()) - 1, 0).bit_length()
        leaves = np.full((self.count, slots), -1, np.int32)
        leaves[patch, np.arange(len(patch)) - (np.cumsum(count) - count)[patch]] = ids[firsts]
        return leaves

    def neighborhoods(self, touching: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Each patch and each member of its neighborhood, sorted, (m,) int each.

        Neighbors touch the same one of `count` things, vertices or cells; each patch is its own.

        touching: each patch and thing that touch, as patch * count + thing, (i,) int.
        """
        owner, touched = np.divmod(touching, count)
        order = np.argsort(touched, kind="stable")
        owner, touched = owner[order], touched[order]
        keys = [np.arange(self.count) * (self.count + 1)]
        for shift in range(1, MAX_VALENCE):
            one, other = (each[touched[shift:] == touched[:-shift]] for each in (owner[:-shift], owner[shift:]))
            keys += [one * self.count + other, other * self.count + one]
        center, member = np.divmod(distinct(np.concatenate(keys)), self.count)
        return center, member

    def partition(self, neighbors: Neighbors, corners: np.ndarray, reflex: np.ndarray) -> Partition:
        """The partition.

        Args:
            neighbors: Of all partitions.
            corners: Rest positions of the corners of each face, (t, 3, 3) [m].
            reflex: How much farther than straight the border turns at each vertex, see `_turns_of_border`, (v,) [rad].
        """
        can_be_flat = self._find_compact(*neighbors.among(self.count), corners, reflex)
        return Partition(self.count, can_be_flat, self._first_faces.astype(np.int32), neighbors)

    def _find_compact(
        self, first_members: np.ndarray, members: np.ndarray, corners: np.ndarray, reflex: np.ndarray
    ) -> np.ndarray:
        """Which pieces are connected, compact and nearly convex at rest, as `Partition.can_be_flat`."""
        a, b, c = corners.swapaxes(0, 1)
        area = np.bincount(self._of_face, 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))
        turn = np.where(self._is_disk, np.bincount(self.owner, reflex[self.vertex]), math.pi)
        low = np.minimum.reduceat(corners.min(axis=1)[self._faces], self._first_faces[:-1])
        high = np.maximum.reduceat(corners.max(axis=1)[self._faces], self._first_faces[:-1])

        def is_compact(area: np.ndarray, turn: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
            longest = (high - low).max(axis=1)
            return np.asarray((longest**2 <= MAX_ASPECT * area) & (turn <= MAX_REFLEX))

        def around(function: np.ufunc, values: np.ndarray) -> np.ndarray:
            return np.asarray(function.reduceat(values[members], first_members[:-1]))

        bounds = around(np.minimum, low), around(np.maximum, high)
        of_neighborhoods = is_compact(around(np.add, area), around(np.add, turn), *bounds)
        return np.stack([is_compact(area, turn, low, high), of_neighborhoods])


def _find_neighbors(large: list[_Pieces], cells: _Pieces, vertices: int) -> Neighbors:
    """Cells are neighbors where they share one of so many `vertices`, larger patches where they touch the same cell."""
    center, member = cells.neighborhoods(cells.owner * vertices + cells.vertex, vertices)
    found = [cells.count + np.stack([center, member])]
    for patches in reversed(large):
        touching = distinct(center // (cells.count // patches.count) * cells.count + member)
        found.insert(0, patches.count + np.stack(patches.neighborhoods(touching, cells.count)))
    centers, nodes = np.concatenate(found, axis=1)
    return Neighbors(np.searchsorted(centers, np.arange(2 * cells.count + 1)).astype(np.int32), nodes.astype(np.int32))


def _turns_of_border(corners: np.ndarray, vertex: np.ndarray, edge: np.ndarray, count: int) -> np.ndarray:
    """How much farther than straight the border turns at each of `count` vertices, (count,) [rad].

    A vertex counts as a half-turn at which more than one fan of faces meets, an edge with more than two, or one of two
    that face opposite sides, as where panels of other winding are sewn: folded face to face, their normals are equal.
    """
    forward, back = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
    lengths = np.linalg.norm(forward, axis=2) * np.linalg.norm(back, axis=2)
    cosine = (forward * back).sum(axis=2) / np.maximum(lengths, 1e-300)
    angle = np.bincount(vertex.ravel(), np.arccos(cosine.clip(-1.0, 1.0)).ravel(), count)
    faces_at_edge = np.bincount(edge.ravel())[edge]
    ends = np.stack([vertex, np.roll(vertex, -1, axis=1)])
    forward_at_edge = np.bincount(edge.ravel(), (ends[0] < ends[1]).ravel())[edge]
    is_twisted = (faces_at_edge == 2) & (forward_at_edge != 1)
    borders = np.bincount(ends[:, faces_at_edge == 1].ravel(), minlength=len(angle))
    is_joint = (borders > 2) | ((borders == 0) & (angle > MAX_ANGLE))
    is_joint[ends[:, (faces_at_edge > 2) | is_twisted]] = True
    turn = np.where(borders > 0, np.maximum(angle - math.pi, 0.0), 0.0)
    return np.where(is_joint, math.pi, turn)
