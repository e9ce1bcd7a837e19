"""Surface: the vertices, edges and triangles of one body or collider, for collision queries.

A loose edge, as of a rope, meets edges, and its ends meet triangles. Among the patches it is a face with two corners at
one place.
"""

from __future__ import annotations

import numpy as np

from ..meshes.mesh import TriMesh
from .bvh import BVH
from .patches import Patches


class Surface:
    """One mesh among the particles of a scene, its hierarchies and a bound on its motion.

    Args:
        mesh: Topology.
        vertices: Positions where neighbors in the mesh are neighbors in space, (n, 3) [m].
        start: Particle number of vertex 0.
        first: Particle that stands for each vertex where some are welded, (n,) int; default: each for itself.
        loose_edges: Edges without a triangle that take part, (k, 2) int; default: none.

    Attributes:
        part: Its particles, a slice.
        vertices: Particles with edges (v,); edges: (2, e); triangles: (3, t); int32, numbered as in the scene.
        loose_edges: Those edges that have no triangle, (2, k) int.
        is_in_rope: Which vertices of the mesh have no triangle, (n,) bool.
        edge, longest: Median and longest edge [m].
        center: Mean of the given positions, (3,) [m].
        patches: Its partitions into patches, which all hierarchies share.
        edge_tree, triangle_tree: Hierarchies over edges and triangles.
        faces: Particles of each triangle and loose edge, (3, t); left, right: numbers of the faces of each edge, the
            second -1 where there are not two, (e,) int32.
    """

    def __init__(
        self,
        mesh: TriMesh,
        vertices: np.ndarray,
        start: int,
        first: np.ndarray | None = None,
        loose_edges: np.ndarray | None = None,
    ) -> None:
        self.part = slice(start, start + len(vertices))
        loose = np.zeros((0, 2), int) if loose_edges is None else loose_edges
        # Where they are at rest, which differs for vertices that are welded.
        corners = np.concatenate([mesh.triangles, loose[:, [0, 1, 1]]]).astype(int)
        faces, count = corners, len(mesh.triangles)
        if first is not None:
            faces = (first - start)[corners]
            whole = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
            whole[count:] = faces[count:, 0] != faces[count:, 1]
            faces, corners, count = faces[whole], corners[whole], int(whole[:count].sum())
        sides, ends = (
            np.concatenate([*(each[:count, way] for way in ([0, 1], [1, 2], [2, 0])), each[count:, :2]])
            for each in (faces, corners)
        )
        keys = np.sort(sides, axis=1) @ np.array([len(vertices), 1])
        _, first_side, of_side = np.unique(keys, return_index=True, return_inverse=True)
        edges = sides[first_side]
        of_side = of_side.reshape(-1)
        of_triangles, of_loose = of_side[: 3 * count].reshape(3, -1).T, of_side[3 * count :, None]
        self._note_wings(of_side, len(edges), count)
        used, number = np.unique(faces, return_inverse=True)
        self.vertices = (used + start).astype(np.int32)
        self.edges, self.faces = (np.ascontiguousarray(each.T + start, np.int32) for each in (edges, faces))
        self.triangles = np.ascontiguousarray(self.faces[:, :count])
        self.is_in_rope = np.bincount(faces[:count].ravel(), minlength=len(vertices)) == 0
        self.loose_edges = np.ascontiguousarray(self.faces[:2, count:])
        edge_of_corner = np.concatenate([of_triangles, of_loose.repeat(3, axis=1)])
        self.patches = Patches(vertices[corners], number.reshape(-1, 3), edge_of_corner, self.vertices, len(of_loose))
        self.edge_tree = BVH(self.patches.edge_leaves.ravel())
        self.triangle_tree = BVH(self.patches.face_leaves.ravel())
        ends = ends[first_side]
        lengths = np.linalg.norm(vertices[ends[:, 0]] - vertices[ends[:, 1]], axis=1)
        self.center = vertices.mean(axis=0)
        self.edge, self.longest = float(np.median(lengths)), float(lengths.max())

    @property
    def border_edges(self) -> np.ndarray:
        """Edges that have not two triangles, (2, k)."""
        return self.edges[:, self.right < 0]

    def _note_wings(self, of_side: np.ndarray, edges: int, triangles: int) -> None:
        """Note the two triangles of every edge, -1 where there are not two; a loose edge has itself as a face."""
        order = np.argsort(of_side, kind="stable")
        counts = np.bincount(of_side, minlength=edges)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        of_triangle = np.where(order < 3 * triangles, order % max(triangles, 1), order - 2 * triangles).astype(np.int32)
        self.left = of_triangle[starts]
        self.right = np.where(counts == 2, of_triangle[np.minimum(starts + 1, len(order) - 1)], np.int32(-1))
