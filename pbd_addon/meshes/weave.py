"""Warp and weft: in which direction the threads of cloth run, and what that makes of a stiffness.

A material gives a stiffness along the warp, k, and a ratio r of that along the weft to it. What lies at the angle θ to
the warp has 1 / (cos² θ / k + sin² θ / (r k)). Along the threads it is exact: edges of quads that follow them have the
one or the other. Edges of triangles cannot tell shear from stretch, and share both directions by this law.

Cloth may be cut so that its quads do not follow the threads. Then an edge at the angle θ to the nearest thread, of
stiffness k, has 1 / (cos² 2θ / k + sin² 2θ / 2 G), G being the resistance to shear, and a diagonal of a quad half of
that. At 0° and 45° the lattice of springs is that along the threads, turned: its tensor is symmetric in all indices. In
between it cannot know that a pull skews such cloth. The mean of the stiffnesses would be the same at these angles, and
far too stiff between them: cloth of 60 and 3 N/m, cut at 22.5°, is pulled with 18.7 N/m, by that law with 44.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .mesh import TriMesh, triangle_areas

LEAST_SHARE = 0.25
"""Where less than half of a vector's length lies in a face, the next axis is the warp there: cos² 60°."""


class Woven(NamedTuple):
    """A body's threads.

    Attributes:
        start: Its first particle.
        rest: Rest positions, (n, 3) [m].
        mesh: Its topology.
        warp: Where the warp runs: one vector (3,), with quads along the threads; or one for each face, (f, 3), 0 where
            none is known, if the cloth is cut anyhow.
    """

    start: int
    rest: np.ndarray
    mesh: TriMesh
    warp: np.ndarray

    @property
    def is_cut(self) -> bool:
        """Whether edges need not follow the threads."""
        return self.warp.ndim == 2

    @property
    def is_quads(self) -> bool:
        """Whether most of its faces have diagonals."""
        return 2 * len(self.mesh.diagonals) > len(self.mesh.triangles)

    def of_triangles(self) -> np.ndarray:
        """Unit vectors along the warp in the planes of the triangles, (t, 3)."""
        a, b, c = (self.rest[self.mesh.triangles[:, k]] for k in range(3))
        normals = np.cross(b - a, c - a)
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        given = self.warp
        if self.is_cut:
            given = given if self.mesh.given_faces is None else given[self.mesh.given_faces]
            given = given[self.mesh.triangle_faces]
        found = np.zeros_like(normals)
        usual = np.array([1.0, 0.0, 0.0]) if self.is_cut else given
        for vectors in (given, usual, np.roll(usual, 1)):
            vectors = np.broadcast_to(vectors, normals.shape)
            inside = vectors - np.einsum("ti,ti->t", vectors, normals)[:, None] * normals
            square, whole = (np.einsum("ti,ti->t", q, q) for q in (inside, vectors))
            takes = ~found.any(axis=1) & (square > LEAST_SHARE * whole) & (square > 0.0)
            found[takes] = inside[takes] / np.sqrt(square[takes])[:, None]
        return found


class Weave:
    """The threads of all bodies.

    Attributes:
        is_cut, is_quads: As `Woven` has them, (bodies,) bool.
    """

    def __init__(self, bodies: Sequence[Woven]) -> None:
        self.bodies = tuple(bodies)
        self.is_cut = np.array([body.is_cut for body in bodies], bool)
        self.is_quads = np.array([body.is_quads for body in bodies], bool)

    @functools.cached_property
    def _tensors(self) -> np.ndarray:
        """Sums of area · w w^T over the triangles at each particle, w along the warp, (n, 3, 3) [m²]."""
        found = []
        for body in self.bodies:
            warp, triangles = body.of_triangles(), body.mesh.triangles
            each = triangle_areas(body.rest, triangles)[:, None, None] * warp[:, :, None] * warp[:, None]
            sums = [np.bincount(triangles.ravel(), np.repeat(q, 3), len(body.rest)) for q in each.reshape(-1, 9).T]
            found.append(np.stack(sums, axis=1).reshape(-1, 3, 3))
        return np.concatenate(found)

    def along(self, ends: np.ndarray) -> np.ndarray:
        """cos² of the angle at rest between the warp and lines between two particles (2, m), (m,); 1 without faces.

        The warp is that around both ends, which need not be the same where panels meet.
        """
        rest = np.concatenate([body.rest for body in self.bodies])
        line = rest[ends[0]] - rest[ends[1]]
        tensors = self._tensors[ends[0]] + self._tensors[ends[1]]
        whole = np.einsum("mii->m", tensors) * np.einsum("mi,mi->m", line, line)
        share = np.einsum("mi,mij,mj->m", line, tensors, line)
        return np.where(whole > 0.0, share / np.maximum(whole, 1e-300), 1.0).clip(0.0, 1.0)


def between(along: np.ndarray, ratio: np.ndarray) -> np.ndarray:
    """Factor on a stiffness along the warp where cos² of the angle to it is `along` (m,); ratio: of weft to warp."""
    return np.asarray(1.0 / (along + (1.0 - along) / ratio))


def on_the_bias(along: np.ndarray, ratio: np.ndarray, stretch: np.ndarray, shear: np.ndarray) -> np.ndarray:
    """Stiffness of edges of quads anywhere in cloth that has these two in its own directions, (m,) [N/m]."""
    share, thread = (2.0 * along - 1.0) ** 2, stretch * np.where(along > 0.5, 1.0, ratio)
    return np.asarray(1.0 / (share / np.maximum(thread, 1e-300) + (1.0 - share) / np.maximum(2.0 * shear, 1e-300)))
