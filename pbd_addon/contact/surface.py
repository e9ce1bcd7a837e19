"""Surface: the vertices, edges and triangles of one body or collider, for collision queries."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernels
from ..mesh import TriMesh
from .bvh import BVH
from .motion_bound import MotionBound
from .patches import Patches

INITIAL_ERROR = 0.015
"""Prediction error per substep that is assumed where none was observed, in edges."""


class Surface:
    """One mesh among the particles of a scene, its hierarchies and a bound on its motion.

    Args:
        mesh: Topology.
        vertices: Positions where neighbors in the mesh are neighbors in space, (n, 3) [m].
        start: Particle number of vertex 0.
        exact: Whether it moves on straight paths and nothing holds it back, as colliders do.
        first: Particle that stands for each vertex where some are welded, (n,) int; default: each for itself.

    Attributes:
        part: Its particles, a slice.
        vertices: Particles with triangles (v,); edges: (2, e); triangles: (3, t); int, numbered as in the scene.
        edge, longest: Median and longest edge [m].
        patches: Its partitions into patches, which all hierarchies share.
        faces_by_patch: Triangles in the order of the patches, (3, t) int.
        cell_vertices: Particles of each cell, some of them repeated, (c, cells) int.
        cell_tree, edge_tree, triangle_tree: Hierarchies over cells, edges and triangles.
        motion_bound: Where its vertices can be for a while.
        prediction_error: Observed error of the motion bound per substep of each vertex, and last of the mean motion,
            (n + 1,) [m].
    """

    def __init__(
        self, mesh: TriMesh, vertices: np.ndarray, start: int, exact: bool = False, first: np.ndarray | None = None
    ) -> None:
        self.part = slice(start, start + len(vertices))
        corners = mesh.triangles.astype(int)  # where they are at rest, which differs for vertices that are welded
        if first is None:
            triangles = corners
        else:
            triangles = (first - start)[corners]
            whole = (triangles != np.roll(triangles, 1, axis=1)).all(axis=1)
            triangles, corners = triangles[whole], corners[whole]
        ways = [[0, 1], [1, 2], [2, 0]]
        sides = np.concatenate([triangles[:, way] for way in ways])
        keys = np.sort(sides, axis=1) @ np.array([len(vertices), 1])
        _, first_side, of_side = np.unique(keys, return_index=True, return_inverse=True)
        edges = sides[first_side]
        of_side = of_side.reshape(-1)
        self._note_wings(of_side, len(edges), len(triangles))
        used, number = np.unique(triangles, return_inverse=True)
        self.vertices = used + start
        self.edges = np.ascontiguousarray(edges.T) + start
        self.triangles = np.ascontiguousarray(triangles.T) + start
        self.patches = Patches(vertices[corners], number.reshape(-1, 3), of_side.reshape(3, -1).T)
        self.faces_by_patch = np.ascontiguousarray(self.triangles[:, self.patches.levels[0].faces])
        self.cell_vertices = self.vertices[self.patches.cell_vertices]
        self.cell_tree = BVH(np.arange(self.patches.cell_vertices.shape[1]))
        self.edge_tree = BVH(self.patches.edge_leaves.ravel())
        self.triangle_tree = BVH(self.patches.face_leaves.ravel())
        ends = np.concatenate([corners[:, way] for way in ways])[first_side]
        lengths = np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1)
        self.edge, self.longest = float(np.median(lengths)), float(lengths.max())
        self.prediction_error = np.full(len(vertices) + 1, INITIAL_ERROR * self.edge)
        self.motion_bound = MotionBound(self.part, self.edge, self.prediction_error, exact)

    def sharpness(self, kernels: Kernels, x: np.ndarray, which: np.ndarray, smooth: float, sharp: float) -> np.ndarray:
        """Sharpness of edges `which` (k,) at x (3, N), (k,): 0 up to an angle `smooth` [rad], 1 from `sharp` on and at
        borders.
        """
        left, right = (
            kernels.unit_normals(x, self.triangles.take(side[which], axis=1)) for side in (self._left, self._right)
        )
        cosine = np.where(self._right[which] < 0, -1.0, np.einsum("im,im->m", left, right))
        return np.asarray(((np.cos(smooth) - cosine) / (np.cos(smooth) - np.cos(sharp))).clip(0.0, 1.0))

    def restore_prediction_error(self, prediction_error: np.ndarray) -> None:
        """Take over the observed prediction error, (n + 1,) [m]; NaN where there is none."""
        self.prediction_error[:] = np.where(np.isnan(prediction_error), INITIAL_ERROR * self.edge, prediction_error)

    def _note_wings(self, of_side: np.ndarray, edges: int, triangles: int) -> None:
        """Note the two triangles of every edge, -1 where there are not two."""
        order = np.argsort(of_side, kind="stable")
        counts = np.bincount(of_side, minlength=edges)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        of_triangle = order % max(triangles, 1)
        self._left = of_triangle[starts]
        self._right = np.where(counts == 2, of_triangle[np.minimum(starts + 1, len(order) - 1)], -1)
