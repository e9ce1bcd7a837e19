"""Patches: the partition of a surface that all its hierarchies share, and which of its parts cannot meet themselves.

A patch whose face normals lie in a cone of less than 90° is a height field over the plane across the cone's axis: as
long as its outline does not meet itself there, neither does the patch (Volino & Magnenat-Thalmann 1994; Provot 1997),
and two of its points are at least as far apart as the cosine of the half-angle of the cone times their way along the
cloth. The outline is not tested while it moves: only patches take part that are disks at rest, compact and nearly
convex, whose outline could meet itself only with strains far above those of cloth.

Vertices and edges belong to one representative face each (Curtis, Tamstorf & Manocha 2008), so that a node of a
hierarchy over vertices, edges or triangles stands for the same patch.
"""

from __future__ import annotations

import math

import numpy as np

from .bvh import median_split_order

CELL_DEPTH = 3
"""Levels of the tree of faces below the smallest patches: these have 5 to 8 faces."""

MAX_ASPECT = 6.0
"""Largest squared length of a patch over its area. A strip of that aspect meets its own end at a strain of a half."""

MAX_REFLEX = math.radians(30.0)
"""How much farther than straight the border of the mesh may turn into a patch, in sum: a slit has 180°."""


class Patches:
    """A binary partition of the faces of a mesh into patches, of which the smallest are cells.

    Args:
        corners: Rest positions of the corners of each face, (t, 3, 3) [m].
        vertex: Number of the vertex at each corner, (t, 3) int.
        edge: Number of the edge from each corner to the next, (t, 3) int.

    Attributes:
        face_leaves, vertex_leaves, edge_leaves: The primitive in each leaf of its hierarchy, -1 for none, (2**k,) int.
            The nodes 1 to 2 * cells - 1 of all three stand for the same patches.
        can_be_flat: Whether a patch can be a height field, by node, (2 * cells,) bool.
    """

    def __init__(self, corners: np.ndarray, vertex: np.ndarray, edge: np.ndarray) -> None:
        leaves = median_split_order(corners.mean(axis=1))
        self._depth = max(len(leaves).bit_length() - 1 - CELL_DEPTH, 0)
        self._height = len(leaves).bit_length() - 1
        places = np.zeros(len(corners), int)
        used = np.flatnonzero(leaves >= 0)
        places[leaves[used]] = used
        vertex, edge = vertex.ravel(), edge.ravel()
        vertex_first, vertex_split = self._incidences(np.repeat(places, 3), vertex)
        edge_first, edge_split = self._incidences(np.repeat(places, 3), edge)
        by_face = self._pack(places, np.arange(len(corners)))
        by_vertex = self._pack(*vertex_first)
        slots = max(len(by_face), len(by_vertex)) >> self._depth
        self.face_leaves, self.vertex_leaves = (self._spread(each, slots) for each in (by_face, by_vertex))
        self.edge_leaves = self._pack(*edge_first)
        self._places = places
        self.can_be_flat = self._find_disks(corners, vertex, edge, vertex_split, edge_split)

    def _incidences(
        self, places: np.ndarray, primitive: np.ndarray
    ) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """The first face of each primitive, by leaf, and at which heights each incidence is the first one of its node.

        places: leaf of the face of each incidence, (i,); primitive: number of the vertex or edge, (i,).

        Returns:
            Leaf and number of each primitive, (m,) each; leaf of each incidence and the number of levels, counted from
            the leaves, in which an earlier face of the primitive is in another node, (i,) each.
        """
        order = np.lexsort((places, primitive))
        place, owner = places[order], primitive[order]
        is_first = np.append(True, owner[1:] != owner[:-1])
        across = np.where(is_first, 1 << self._height, np.append(0, place[1:] ^ place[:-1]))
        split = np.frexp(across.astype(float))[1]  # length of the number in bits
        return (place[is_first], owner[is_first]), (place, split)

    def _pack(self, places: np.ndarray, primitives: np.ndarray) -> np.ndarray:
        """Leaves with primitives in the cells of their faces, in the order of these."""
        cells = 1 << self._depth
        cell = places >> (self._height - self._depth)
        order = np.lexsort((primitives, places))
        count = np.bincount(cell, minlength=cells)
        slots = 1 << max(int(count.max(initial=1)) - 1, 0).bit_length()
        starts = np.concatenate([[0], np.cumsum(count)[:-1]])
        leaves = np.full(cells * slots, -1)
        cell = cell[order]
        leaves[cell * slots + np.arange(len(order)) - starts[cell]] = primitives[order]
        return leaves

    def _spread(self, leaves: np.ndarray, slots: int) -> np.ndarray:
        """The leaves with this many in each cell."""
        cells = leaves.reshape(1 << self._depth, -1)
        return np.pad(cells, ((0, 0), (0, slots - cells.shape[1])), constant_values=-1).ravel()

    def _find_disks(
        self,
        corners: np.ndarray,
        vertex: np.ndarray,
        edge: np.ndarray,
        vertex_split: tuple[np.ndarray, np.ndarray],
        edge_split: tuple[np.ndarray, np.ndarray],
    ) -> np.ndarray:
        """Which patches are disks at rest, compact and nearly convex; see the class and `_incidences`."""
        a, b, c = corners.swapaxes(0, 1)
        area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1)
        faces_at_edge = np.bincount(edge)
        border_edges = faces_at_edge[edge].reshape(-1, 3) == 1
        is_border = np.zeros(vertex.max() + 1, bool)
        at = vertex.reshape(-1, 3)
        is_border[at[border_edges]] = True
        is_border[np.roll(at, -1, axis=1)[border_edges]] = True
        forward, back = np.roll(corners, -1, axis=1) - corners, np.roll(corners, 1, axis=1) - corners
        cosine = (forward * back).sum(axis=2) / np.maximum(
            np.linalg.norm(forward, axis=2) * np.linalg.norm(back, axis=2), 1e-300
        )
        angle = np.bincount(vertex, np.arccos(cosine.clip(-1.0, 1.0)).ravel())
        reflex = np.where(is_border, np.maximum(angle - math.pi, 0.0), 0.0)[np.sort(vertex)]
        many = faces_at_edge[np.sort(edge)] > 2
        low, high = corners.min(axis=1), corners.max(axis=1)
        can_be_flat = np.zeros(2 << self._depth, bool)
        for level in range(self._depth + 1):
            shift, nodes = self._height - level, 1 << level
            node = self._places >> shift
            new_vertices, new_edges = vertex_split[1] > shift, edge_split[1] > shift
            of_vertex, of_edge = vertex_split[0] >> shift, edge_split[0] >> shift
            euler = np.bincount(node, minlength=nodes) + np.bincount(of_vertex, new_vertices, nodes)
            euler -= np.bincount(of_edge, new_edges, nodes)
            turn = np.bincount(of_vertex, new_vertices * reflex, nodes)
            joints = np.bincount(of_edge, new_edges * many, nodes)
            bottom, top = np.full((nodes, 3), np.inf), np.full((nodes, 3), -np.inf)
            np.minimum.at(bottom, node, low)
            np.maximum.at(top, node, high)
            longest = (top - bottom).max(axis=1)
            compact = longest**2 <= MAX_ASPECT * np.bincount(node, area, nodes)
            can_be_flat[nodes : 2 * nodes] = (euler == 1) & (turn <= MAX_REFLEX) & (joints == 0) & compact
        return can_be_flat
