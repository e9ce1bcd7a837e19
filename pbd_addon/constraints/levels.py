"""Coarse levels: edges between distant particles, whose corrections are interpolated to the particles in between.

C = (1 + slack) d − |p1 − p2| >= 0        d: the distance at rest along the surface; slack: that of tethers
∇C = −n at p1, n at p2, with n = (p1 − p2) / |p1 − p2|
α = 0
from: Müller 2008, sec. 4

On unstructured meshes chains are short or crooked, so a pull still crosses the cloth in small steps. A few levels of
ever fewer particles transmit it at once: their edges may not become longer than at rest, and the particles around
follow their ends (Müller 2008). They only pull, so that cloth can fold freely.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays.coloring import color
from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from ..kernels.protocol.motion import Islands
from ..meshes.mesh import TriMesh
from ..settings.solver_settings import SolverSettings
from .base import Constraints, gradients_of_distance, make
from .coarsening import find_levels
from .surface_graph import distances_along
from .tether import SLACK_MARGIN, is_tethered, least_strain, worst_case_factors

if TYPE_CHECKING:
    from ..bodies.material import Material


class LevelConstraints(Constraints):
    """The edges of all levels, from the coarsest to the finest.

    Between two levels, particles of the finer one follow the displacement of their parents since the beginning of the
    pass. The mass of a particle includes that of its followers, by the same shares, M = m + P^T m, which preserves
    momentum. So far a pull would turn a free body: the common rotation is taken back, about the positions before the
    substep, about which angular momentum counts. The slack is that of the tethers, see `TetherConstraints`.

    Args:
        pieces: Bodies that need levels: index, first particle and mesh of each.
        rest: Rest positions of all particles, (n, 3) [m].
        sizes: Largest extent of each body at rest, (bodies,) [m].

    Attributes:
        pulls_free: Whether any island that they pull has no firm pin.
    """

    name = "levels"

    def __init__(
        self, pieces: Sequence[tuple[int, int, TriMesh]], rest: np.ndarray, sizes: np.ndarray, w: np.ndarray
    ) -> None:
        pairs = np.concatenate([np.zeros((0, 2), int), *(mesh.edges + start for _, start, mesh in pieces)])
        self.particles, found = find_levels(pairs, rest, w == 0.0)
        self.levels, self.rows = [], []
        ends, at = [np.zeros((2, 0), int)], 0
        for level in found:
            order, starts = color(level.edges, level.size)
            edges = np.ascontiguousarray(level.edges[order].T)
            self.levels.append(level._replace(edges=edges))
            self.rows.append((slice(at, at + len(order)), starts))
            ends.append(self.particles[edges])
            at += len(order)
        self.ends = np.concatenate(ends, axis=1)
        self.unmapped, self.body, self.sizes = np.zeros(at), np.zeros(at, int), sizes
        counts = [mesh.vertex_count for _, _, mesh in pieces]
        members = (start + np.arange(count) for (_, start, _), count in zip(pieces, counts))
        self.members = np.concatenate([np.zeros(0, int), *members])
        self.body_of_members = np.repeat(np.array([number for number, _, _ in pieces], int), counts)
        for number, start, mesh in pieces:
            self._measure(number, start, mesh, rest[start : start + mesh.vertex_count])
        self.lengths, self.softer = self.unmapped, np.ones(len(sizes))
        self._longer = self.grown = np.ones(len(sizes))
        self.pulls_free = False
        self.multipliers, self.reach = np.zeros(at), np.zeros(at)
        self._q, self._before = (np.zeros((3, len(self.particles))) for _ in range(2))
        self._moved = [np.zeros((3, level.size)) for level in self.levels]
        self.strain = np.zeros(len(sizes))

    def _measure(self, number: int, start: int, mesh: TriMesh, rest: np.ndarray) -> None:
        """Measure the rest lengths of the edges of one body."""
        places, nets = [], []
        for level, (rows, _) in zip(self.levels, self.rows):
            members = self.particles[: level.size] - start
            ends = self.ends[:, rows].T - start
            inside = (ends[:, 0] >= 0) & (ends[:, 0] < len(rest))
            places.append(rows.start + np.flatnonzero(inside))
            nets.append((members[(members >= 0) & (members < len(rest))], ends[inside]))
        for place, lengths in zip(places, distances_along(mesh, rest, nets)):
            self.unmapped[place], self.body[place] = lengths, number

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        """As for tethers, the longest and softest path through a body determines the slack."""
        self._longer, self.softer = worst_case_factors(maps, self.members, self.body_of_members, len(self.sizes))
        self.grow(self.grown)

    def grow(self, factors: np.ndarray) -> None:
        """As for tethers."""
        self.grown = factors
        self.lengths = self.unmapped * (self._longer * factors)[self.body]

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        used = np.array([is_tethered(m) and m.stretch > 0.0 for m in materials])
        self.used = (used & (settings.method == "XPBD"))[self.body]
        self.active = bool(self.used.any())
        self.least_strain = least_strain(materials, settings, self.sizes * self.softer)
        self.weights = self._lumped(w)
        self._calls = self._list_calls()
        self.h = 0.0

    def surround(self, w: np.ndarray, masses: np.ndarray, islands: np.ndarray, island_masses: np.ndarray) -> None:
        """Set the islands that levels must not turn, those that are free; w and masses are as in `Model`."""
        free = np.ones(len(island_masses))
        free[islands[(w == 0.0) & (masses > 0.0)]] = 0.0
        self.pulls_free = self.active and bool(free[islands[self.particles]].any())
        self._free, self._islands = free, Islands(masses, islands, island_masses)

    def _lumped(self, w: np.ndarray) -> list[np.ndarray]:
        """Inverse masses at both ends of every edge of each level, (2, m) each: M = m + P^T m, level by level."""
        masses = np.divide(1.0, w, out=np.zeros_like(w), where=w > 0.0)
        free = w[self.particles] > 0.0
        lumped, weights = masses[self.particles], []
        for finest, level in zip([True] + [False] * len(self.levels), self.levels[::-1]):
            carried = (masses if finest else lumped)[level.followers] * level.shares
            lumped = lumped[: level.size] + np.bincount(level.parents.ravel(), carried.ravel(), level.size)
            moves = free[: level.size]
            inverse = np.divide(1.0, lumped, out=np.zeros(level.size), where=moves)
            weights.append(inverse[level.edges])
        return weights[::-1]

    def begin_substep(self, h: float, fraction: float) -> None:
        super().begin_substep(h, fraction)
        slack = SLACK_MARGIN * np.maximum(self.strain, self.least_strain)
        self.reach[:] = np.where(self.used, self.lengths * (1.0 + slack[self.body]), np.inf)

    def begin_calls(self) -> list[Call]:
        found = self.least_strain, SLACK_MARGIN, self.used, self.lengths, self.body, self.reach
        return [Call("clear", 0, (self.multipliers,)), Call("extend", 1, found)]

    def calls(self, last: bool, fresh: bool) -> list[Call] | None:
        return None if self.pulls_free else self._calls

    def _list_calls(self) -> list[Call]:
        found = [Call("gather", 1, (self.particles, q)) for q in (self._q, self._before)]
        for level, (rows, starts), weights, moved in zip(self.levels, self.rows, self.weights, self._moved):
            edges = level.edges, starts, weights, self.reach[rows], self.multipliers[rows]
            is_last = moved is self._moved[-1]  # its followers are in the scene
            followers = level.followers, moved, level.parents, level.shares
            found += [
                Call("project_upper_bound", 0, (self._q, *edges)),
                Call("subtract", 0, (self._q, self._before, moved)),
                Call("prolongate", 1, followers) if is_last else Call("prolongate", 0, (self._q, *followers)),
            ]
        return [*found, Call("scatter", 1, (self.particles, self._q))]

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        start = p.copy() if self.pulls_free else p
        make(kernels, self._calls, p, x)
        if self.pulls_free:
            center, drift, turn = kernels.island_motion(x, p - start, self._islands)
            kernels.add_rigid(p, x, self._islands.of, (center, np.zeros_like(drift), -self._free * turn))

    def values(self, x: np.ndarray) -> np.ndarray:
        return self.reach - np.linalg.norm(x[self.ends[0]] - x[self.ends[1]], axis=1)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows, gradients = gradients_of_distance(x, self.ends)
        return rows, -gradients
