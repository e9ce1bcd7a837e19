"""Bending across welded seams.

C = φ − φ0        φ: the dihedral angle across a closed seam; φ0: the angle of the material's seams
∇C = as of dihedral angles in `bend`
α = 2 (A1 + A2) / (seam bend · bend · l1 l2)        l1, l2: lengths of both edges; a row for either, with half of it
from: as there
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..meshes.mesh import half_edges
from ..settings.solver_settings import SolverSettings
from .bend import DihedralConstraints

if TYPE_CHECKING:
    from ..bodies.material import Material


class SeamFoldConstraints(DihedralConstraints):
    """Hinges across closed seams.

    The ends of such a hinge are two particles each, which are one. There is a row for either edge, with half of the
    stiffness: a row moves its own particles, and welds, projected later, hand on the mean.

    Args:
        hinges: (m, 4) int.
        geometry: Half of l² / (A1 + A2), (m,).
    """

    name = "seam bend"

    def __init__(self, hinges: np.ndarray, geometry: np.ndarray, body: np.ndarray, w: np.ndarray) -> None:
        angles = shares = np.zeros(len(hinges))
        super().__init__(hinges, angles, geometry, body, w, None, np.arange(len(hinges)), shares)

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        super().set_materials(materials, settings, w)
        self.rest_angles = np.array([m.seam_angle for m in materials])[self.rows.body]

    def _share(self, materials: Sequence[Material]) -> np.ndarray:
        return np.array([m.seam_bend for m in materials])


def folds_across(triangles: np.ndarray, first: np.ndarray, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The hinges between triangles whose borders are welded to each other, where exactly two of them meet.

    Args:
        triangles: Of all bodies, (t, 3) int.
        first: The first particle of the group of each particle, see `WeldConstraints.first`, (n,) int.
        rest: Rest positions, (n, 3) [m].

    Returns:
        hinges: Edge start, edge end, left tip, right tip, (m, 4) int, two for each pair of edges.
        geometry: Half of l² / (A1 + A2), see `hinge_geometry`, (m,).
    """
    half, tips = half_edges(triangles)
    groups = first[half]
    welded = (np.bincount(first, minlength=len(first))[groups] > 1).all(axis=1)
    half, tips, groups = half[welded], tips[welded], groups[welded]
    _, edge, count = np.unique(np.sort(groups, axis=1), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge, kind="stable")
    one, other = order[count[edge[order]] == 2].reshape(-1, 2).T
    sewn = np.sort(half[one], axis=1) != np.sort(half[other], axis=1)  # else both are sides of an edge of the mesh
    one, other = one[sewn.any(axis=1)], other[sewn.any(axis=1)]
    own, opposite = half[one], half[other]
    turned = groups[one, 0] != groups[other, 0]
    opposite[turned] = opposite[turned, ::-1]
    lengths, areas = zip(_size(rest, own, tips[one]), _size(rest, opposite, tips[other]))
    geometry = 0.5 * lengths[0] * lengths[1] / (areas[0] + areas[1])
    sides = np.stack([tips[one], tips[other]], axis=1)
    hinges = np.concatenate([np.concatenate([ends, sides], axis=1) for ends in (own, opposite)])
    return hinges, np.tile(geometry, 2)


def _size(rest: np.ndarray, ends: np.ndarray, tips: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Length of each edge (m, 2) [m], and area of the triangle with it and its tip [m²], at rest (n, 3)."""
    along, aside = rest[ends[:, 1]] - rest[ends[:, 0]], rest[tips] - rest[ends[:, 0]]
    return np.linalg.norm(along, axis=1), 0.5 * np.linalg.norm(np.cross(along, aside), axis=1)
