"""Surface: the vertices, edges and triangles of one body or collider, as the search for contacts sees them."""

from __future__ import annotations

import numpy as np

from ..mesh import TriMesh
from .box_tree import BoxTree

LOOK_AHEAD, STRAY_AHEAD = 0.8, 0.15
"""Way that most vertices may be promised to go, relative to their surface's mean, and to stray on it, in edges."""

LONGEST = 40
"""Substeps that a promise lasts at most."""

SLACK = 0.04
"""How far a vertex may stray from its predicted way, in edges, ..."""

STRAYING = 1.5
"""... and how much farther in each substep, relative to how far it strayed in a substep lately, ..."""

SPEED_SLACK, MOST_SLACK = 0.1, 0.35
"""... or if it is fast, as share of its way in a substep; and the most of it all, in edges."""

UNKNOWN = 0.015
"""Straying that is expected in a substep where nothing is known of it, in edges."""

EXACT = 1e-6
"""Slack of a collider, in edges: it goes exactly where it is said to, but for rounding."""

FORGET = 0.8
"""Share of what is known of a vertex's straying that is left a substep later."""

DRIFT_SLACK = 0.03
"""How far the mean motion may stray, in edges; with `STRAYING` as for a vertex."""


class Surface:
    """One mesh among the particles of a scene, with a promise of where each of its vertices will be for a while.

    A vertex is promised to go on as in one substep, relative to the mean motion of the surface, and to stray no
    farther from there than its slack. The mean motion is promised to stay in a box. While the promises hold, what a
    search found by them is all there is to find.

    Args:
        mesh: Topology.
        vertices: Positions where neighbours in the mesh are neighbours in space, (n, 3) [m].
        start: Particle number of vertex 0.
        exact: Whether it goes on straight paths and nothing holds it up, as colliders do.

    Attributes:
        part: Its particles, a slice.
        vertices: Particles with triangles (v,); edges: (2, e); triangles: (3, t); int, numbered as in the scene.
        edge, longest: Median and longest edge [m].
        way: Predicted way of each vertex, (3, n) [m]; with the mean motion: `whole_way`.
        slack: How far each vertex may stray, (n,) [m]; drift_slack: the mean motion, along each axis [m].
        version: Counts the promises.
        straying: How far each vertex, and last the mean motion, strayed from a promise in a substep lately,
            (n + 1,) [m].
    """

    def __init__(self, mesh: TriMesh, vertices: np.ndarray, start: int, exact: bool = False) -> None:
        self.exact = exact
        self.part = slice(start, start + len(vertices))
        triangles = mesh.triangles.astype(int)
        sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        keys = np.sort(sides, axis=1) @ np.array([len(vertices), 1])
        _, first, of_side = np.unique(keys, return_index=True, return_inverse=True)
        edges = sides[first]
        self._note_wings(of_side.reshape(-1), len(edges), len(triangles))
        used = np.unique(triangles)
        self.vertices = used + start
        self.edges = np.ascontiguousarray(edges.T) + start
        self.triangles = np.ascontiguousarray(triangles.T) + start
        self.vertex_tree = BoxTree(vertices[used])
        self.edge_tree = BoxTree(vertices[edges].mean(axis=1))
        self.triangle_tree = BoxTree(vertices[triangles].mean(axis=1))
        lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        self.edge, self.longest = float(np.median(lengths)), float(lengths.max())
        self.drift_slack = DRIFT_SLACK * self.edge
        self.straying = np.full(len(vertices) + 1, UNKNOWN * self.edge)
        self.version = 0
        self._age, self._lasts = 1, 0

    def sharpness(self, x: np.ndarray, smooth: float, sharp: float) -> np.ndarray:
        """How sharp edges are at positions x (3, N), (e,): 0 bent by `smooth` [rad], 1 by `sharp` and at borders."""
        a, b, c = x.take(self.triangles, axis=1).swapaxes(0, 1)
        normals = np.cross(b - a, c - a, axis=0)
        normals /= np.maximum(np.sqrt(np.einsum("im,im->m", normals, normals)), 1e-300)
        cosine = np.einsum("im,im->m", normals.take(self._left, axis=1), normals.take(self._right, axis=1))
        cosine[self._right < 0] = -1.0
        return np.asarray(((np.cos(smooth) - cosine) / (np.cos(smooth) - np.cos(sharp))).clip(0.0, 1.0))

    def recall(self, straying: np.ndarray) -> None:
        """Take what is known of the straying, (n + 1,) [m]; NaN where nothing is."""
        self.straying[:] = np.where(np.isnan(straying), UNKNOWN * self.edge, straying)

    def expire(self) -> None:
        """The promise is over."""
        self._lasts = 0

    @property
    def is_promised(self) -> bool:
        """Whether something was promised that is not expired."""
        return self._lasts > 0

    @property
    def rests(self) -> bool:
        """Whether so little moves that the promise is one of the longest."""
        return self._lasts == LONGEST

    def age(self) -> None:
        """A substep has begun."""
        self._age += 1

    def promise(self, x: np.ndarray, p: np.ndarray) -> None:
        """Say where the vertices will be, from the way x -> p (3, N) of this substep."""
        here = x[:, self.part]
        way = p[:, self.part] - here
        self._mean_way = way.mean(axis=1, keepdims=True)
        self._step = way - self._mean_way
        speed = np.sqrt(np.einsum("im,im->m", self._step, self._step))
        ahead = LOOK_AHEAD / max(float(np.percentile(speed, 95.0)), 1e-9)
        if self.exact:
            self._lasts = self._substeps(ahead)
            self.slack, self.drift_slack = np.full_like(speed, EXACT * self.edge), EXACT * self.edge
        else:
            straying = STRAYING * self.straying[:-1]
            self._lasts = self._substeps(min(ahead, STRAY_AHEAD / max(float(np.percentile(straying, 90.0)), 1e-9)))
            stray = self._lasts * np.maximum(straying, SPEED_SLACK * speed)
            self.slack = SLACK * self.edge + np.minimum(stray, MOST_SLACK * self.edge)
            self.drift_slack = DRIFT_SLACK * self.edge + self._lasts * STRAYING * float(self.straying[-1])
        self._age = 1
        self._origin = here.mean(axis=1)
        drift = self._lasts * self._mean_way[:, 0]
        self._drift_low = np.minimum(drift, 0.0) - self.drift_slack
        self._drift_high = np.maximum(drift, 0.0) + self.drift_slack
        self._start = here.copy()
        self.way = self._lasts * self._step
        self.whole_way = self._lasts * way
        self._low = here + np.minimum(self.way, 0.0) - self.slack
        self._high = here + np.maximum(self.way, 0.0) + self.slack
        self.version += 1

    def _substeps(self, ahead: float) -> int:
        """How long a promise lasts whose vertices get away by an edge in 1 / ahead [1/m]."""
        return int(min(max(self.edge * ahead, 1.0), LONGEST))

    def strayed(self, p: np.ndarray, room: float = 0.0) -> tuple[np.ndarray, np.ndarray] | None:
        """Vertices that are not where they were said to be at the end of this substep.

        Args:
            p: Positions of all particles then, (3, N) [m].
            room: How much farther than said they may stray [m].

        Returns:
            The particles (k,) and where the promise would let them be, (3, k); None if the promise is over for all.
        """
        if self._age > self._lasts:
            return None
        here = p[:, self.part]
        drift = here.mean(axis=1) - self._origin
        if (drift < self._drift_low).any() or (drift > self._drift_high).any():
            return None
        away = np.abs(drift - self._age * self._mean_way[:, 0]).max()
        off = here - self._start
        off -= self._age * self._step
        off -= drift[:, None]
        square = np.einsum("im,im->m", off, off)
        self.straying *= FORGET
        np.maximum(self.straying, np.append(np.sqrt(square), away) / self._age, out=self.straying)
        astray = np.flatnonzero(square > (self.slack + room) ** 2)
        back = off[:, astray] * (0.99 * (self.slack[astray] + room) / np.sqrt(square[astray]) - 1.0)
        return astray + self.part.start, here[:, astray] + back

    def ranges(self, drifting: bool) -> tuple[np.ndarray, np.ndarray]:
        """Between which corners each vertex stays while the promise holds, (3, n) [m] each.

        drifting: whether to take in the mean motion: not where a surface meets itself.
        """
        if drifting:
            return self._low + self._drift_low[:, None], self._high + self._drift_high[:, None]
        return self._low, self._high

    def _note_wings(self, of_side: np.ndarray, edges: int, triangles: int) -> None:
        """Note the two triangles of every edge, -1 where there are not two."""
        order = np.argsort(of_side, kind="stable")
        counts = np.bincount(of_side, minlength=edges)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        of_triangle = order % max(triangles, 1)
        self._left = of_triangle[starts]
        self._right = np.where(counts == 2, of_triangle[np.minimum(starts + 1, len(order) - 1)], -1)
