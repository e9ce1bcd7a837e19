"""Cells: the patches of up to eight faces of many surfaces, in one hierarchy.

Surfaces with more cells come first. As the number of cells of each is a power of two, each has a node of its own, and
all that is below; further up, surfaces with as many cells are neighbors if they are so at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays.distinct import distinct
from ..kernels import Kernels
from ..kernels.protocol.pairs import Primitives
from .bvh import BVH, LeftOut, median_split_order
from .patches import CELL_DEPTH, LARGE_DEPTHS, PATCH_DEPTH
from .surface import Surface


class Level(NamedTuple):
    """The patches of all surfaces that are as many levels above cells; those of no surface are empty.

    Attributes:
        height: How many levels.
        owner: Number of the surface of each patch, (count,) int32; -1 for none.
        can_be_flat: Whether patches, and whether neighborhoods, can be height fields, (2, count) bool.
        first_faces: Where the faces of each patch begin, and their number, (count + 1,) int32.
        left_out: What has the neighborhoods of all levels.
    """

    height: int
    owner: np.ndarray
    can_be_flat: np.ndarray
    first_faces: np.ndarray
    left_out: LeftOut

    @property
    def neighborhoods(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the members of each begin, and their number, (count + 1,) int32, and all these patches, (m,) int32."""
        count = len(self.owner)
        first = self.left_out.first[count : 2 * count + 1]
        return first - first[0], self.left_out.neighbors[first[0] : first[-1]] - np.int32(count)


class Cells:
    """The cells of some surfaces.

    Args:
        surfaces: The surfaces.
        numbers: Their numbers in the scene, (k,) int.

    Attributes:
        owner: Number of the surface of each cell, (c,) int32.
        roots: Node of each of the given surfaces in `tree`, (k,) int.
        tree: The hierarchy.
        points, corners: Vertices and triangles of each cell.
        sharp_edges: Its edges, as if they were all sharp.
        cell_vertices: Particles of the faces of each cell, some of them repeated, (v, c) int32.
        faces: Particles of all triangles and loose edges, cell by cell, (3, t) int32.
        left_out: The neighborhoods as `LeftOut`, nothing being flat.
        levels: Partitions of the faces into patches and cells.
    """

    def __init__(self, surfaces: Sequence[Surface], numbers: np.ndarray) -> None:
        sizes = np.array([len(surface.patches.face_leaves) for surface in surfaces])
        place = median_split_order(np.array([surface.center for surface in surfaces]))
        order = np.lexsort((np.argsort(place[place >= 0]), -sizes))
        starts = np.empty(len(sizes), int)
        starts[order] = np.cumsum(sizes[order]) - sizes[order]
        width, total = 1 << (int(sizes.sum()) - 1).bit_length(), int(sizes.sum())
        self.roots = (width + starts) // sizes
        self.tree = BVH(np.where(np.arange(width) < total, np.arange(width), -1).astype(np.int32))
        own = [surfaces[k] for k in order]
        numbers = numbers[order]
        self.points, self.sharp_edges, self.corners = (
            Primitives(_leaves([getattr(each.patches, name) for each in own], [part.shape[1] for part in parts]),
                       _joined(parts), np.zeros(0))
            for name, parts in (("vertex_leaves", [each.vertices[None] for each in own]),
                                ("edge_leaves", [each.edges for each in own]),
                                ("face_leaves", [each.triangles for each in own]))
        )  # fmt: skip
        tables = [each.patches.cell_vertices for each in own]
        rows = np.arange(max(map(len, tables)))
        tables = [each if len(each) == len(rows) else each[rows.clip(max=len(each) - 1)] for each in tables]
        self.cell_vertices = _joined(tables)
        counts = [each.faces.shape[1] for each in own]
        self._faces_of_edges = _joined([each.faces for each in own])
        self._left, self._right = (
            _shifted([getattr(each, side) for each in own], counts) for side in ("left", "right")
        )
        self.faces = _joined([each.patches.faces for each in own])
        self.left_out, self.levels = self._partitions(own, numbers, counts, self.roots[order], width)
        self.owner = self.levels[-1].owner[:total]

    @staticmethod
    def _partitions(
        surfaces: list[Surface], numbers: np.ndarray, counts: list[int], roots: np.ndarray, width: int
    ) -> tuple[LeftOut, list[Level]]:
        """All neighborhoods, and all levels, from those of the surfaces in the order of their cells."""
        (first, nodes), of_cells = surfaces[0].patches.neighbors, surfaces[0].patches.levels[-1].first_faces
        if len(surfaces) > 1:
            found, first_faces = [], [np.zeros(1, int)]
            for surface, root, start in zip(surfaces, roots.tolist(), np.cumsum(counts) - counts):
                first, nodes = surface.patches.neighbors
                centers = np.arange(len(first) - 1).repeat(np.diff(first))
                # Node n + i of a tree, with n a power of two, becomes node root * n + i.
                found.append(np.stack([centers, nodes]) + (root - 1) * (1 << (np.frexp(centers)[1].astype(int) - 1)))
                first_faces.append(start + surface.patches.levels[-1].first_faces[1:])
            centers, nodes = np.concatenate(found, axis=1)
            order = np.argsort(centers, kind="stable")
            first = np.searchsorted(centers[order], np.arange(2 * width + 1)).astype(np.int32)
            nodes, of_cells = nodes[order].astype(np.int32), np.concatenate(first_faces)
            of_cells = np.pad(of_cells, (0, width + 1 - len(of_cells)), mode="edge").astype(np.int32)
        left_out = LeftOut(np.zeros((2, 2 * width), bool), first, nodes)
        levels = []
        for depth in (*LARGE_DEPTHS, PATCH_DEPTH, CELL_DEPTH):
            height = depth - CELL_DEPTH
            count = width >> height
            owner, can_be_flat = np.full(count, -1, np.int32), np.zeros((2, count), bool)
            for surface, number, root in zip(surfaces, numbers, roots.tolist()):
                for level in surface.patches.levels:
                    if level.count << height == len(surface.patches.face_leaves):
                        part = slice(root * level.count - count, root * level.count - count + level.count)
                        owner[part], can_be_flat[:, part] = number, level.can_be_flat
            first = np.ascontiguousarray(of_cells[:: 1 << height])
            levels.append(Level(height, owner, can_be_flat, first, left_out))
        return left_out, [level for level in levels if len(level.owner)]

    def edges_at(self, kernels: Kernels, x: np.ndarray, cells: np.ndarray) -> Primitives:
        """The edges, with the cosines of their dihedral angles at x (3, N) in these cells, some repeated; -1 at borders
        and of loose edges.
        """
        leaves = self.sharp_edges.leaves[distinct(cells)]
        which, cosines = leaves[leaves >= 0], np.empty(self.sharp_edges.particles.shape[1])
        left, right = (
            kernels.unit_normals(x, self._faces_of_edges.take(side[which], axis=1))
            for side in (self._left, self._right)
        )
        cosines[which] = np.where(self._right[which] < 0, -1.0, np.einsum("im,im->m", left, right))
        return self.sharp_edges._replace(cosines=cosines)


def _joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """All parts side by side, int32; no copy of one alone, which takes a third of the memory of a surface."""
    return parts[0] if len(parts) == 1 else np.ascontiguousarray(np.concatenate(parts, axis=-1), np.int32)


def _shifted(parts: Sequence[np.ndarray], counts: Sequence[int]) -> np.ndarray:
    """Numbers of all parts one after the other, below 0 for none; `counts`: how many there are in each."""
    starts = np.cumsum(counts) - counts
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.where(part < 0, -1, part + start) for part, start in zip(parts, starts)]).astype(np.int32)


def _leaves(parts: Sequence[np.ndarray], counts: Sequence[int]) -> np.ndarray:
    """As `_shifted`, of tables (cells, slots) with as many slots as the widest."""
    slots = max(part.shape[1] for part in parts)
    more = [slots - part.shape[1] for part in parts]
    wide = [np.pad(part, ((0, 0), (0, k)), constant_values=-1) if k else part for part, k in zip(parts, more)]
    return _shifted(wide, counts)
