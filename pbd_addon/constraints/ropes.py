"""Bending of ropes: chains of edges without faces, solved all at once, as plates are.

C = |D| − |D0|, with D = (c − b) / k − (b − a) / l        b: between a and c, with edges of the lengths l and k
∇C = d / l, −(1 / l + 1 / k) d, d / k at a, b, c, with d = D / |D|
α = (l + k) / (2 EI)
from: Euler's elastica, by differences of the edges' directions; implicit Euler: Baraff and Witkin 1998

|D| is 2 sin(angle / 2); for small angles the energy is EI / 2 times the curvature squared per meter. An edge that is
pinned at both ends cannot bend; its length does not count. Only the angle counts, not its direction: twist has no
energy, and a straight rope that is to curl does so where it is pushed. The linear system (M + h² Q) p = M p̃ is solved
in every substep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import Kernels
from ..meshes.factors import of_rows
from ..meshes.mesh import connected_components
from ..settings.solver_settings import SolverSettings
from .base import Constraints, directions
from .plate_blocks import PlateBlocks, levels_of
from .plate_elements import FLAT, PlateElements

if TYPE_CHECKING:
    from ..bodies.material import Material

MOST_TURNS, TURNED = 8, 1e-4
"""A rope that is curled at rest is solved at most this often, until no direction of a curl changes by more [1]."""


def rope_rows(edges: np.ndarray, n: int) -> np.ndarray:
    """Neighbor, vertex, other neighbor of the vertices, below n, at which just two edges (e, 2) meet, (m, 3) int."""
    half = np.concatenate([edges, edges[:, ::-1]]).astype(np.int64)
    half = half[np.bincount(edges.ravel(), minlength=n)[half[:, 0]] == 2]
    half = half[np.lexsort((half[:, 1], half[:, 0]))]
    return np.column_stack([half[::2, 1], half[::2, 0], half[1::2, 1]])


class RopeBendConstraints(Constraints):
    """The inner vertices of ropes.

    Args:
        rows: Particles of each, the middle one in the middle, (m, 3) int.
        rest: Rest positions of all particles, (n, 3) [m].
        width: EI of a rope over its material's `bend` [m].
    """

    name = "rope bend"

    def __init__(self, rows: np.ndarray, body: np.ndarray, rest: np.ndarray, width: float) -> None:
        self.rows, self.body, self.rest, self.width = rows, body, rest, width
        one, middle, other = rest[rows.T]
        first, second = (np.linalg.norm(end - middle, axis=1) for end in (one, other))
        self.stencils = np.column_stack([1.0 / first, -1.0 / first - 1.0 / second, 1.0 / second])
        self.halves = 0.5 * np.stack([first, second])
        self.levels = np.zeros(0, int)
        if len(rows):
            self.levels = levels_of(rest, rows, connected_components(rows[:, [0, 1, 1, 2]].reshape(-1, 2), len(rest)))
        self.curls, self.grown = self.measure(rest), np.ones(len(rows))
        self.factors = self.first_factors = self.masses = np.zeros(0)
        self._map: np.ndarray | float = 1.0
        self.active = False
        self._moved, self._reached = np.zeros((0, 3)), np.zeros((0, 3))

    def measure(self, rest: np.ndarray) -> np.ndarray:
        """|D| of a rest shape (n, 3) by its own lengths, (m,) [1]."""
        one, middle, other = rest[self.rows.T]
        found = np.linalg.norm(directions(other - middle) - directions(middle - one), axis=1)
        return np.where(found < FLAT, 0.0, found)

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self._map = of_rows(maps.get("bend"), self.rows.T)

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        bend = self.width * np.array([material.bend for material in materials])[self.body]
        held = w[self.rows] == 0.0
        rigid = np.stack([held[:, :2].all(axis=1), held[:, 1:].all(axis=1)])  # There the rope is clamped.
        spans = np.where(rigid & ~held.all(axis=1), 0.0, self.halves).sum(axis=0)
        factors = bend * self._map / spans
        with np.errstate(divide="ignore"):
            masses = 1.0 / w
        self.active = settings.method != "PBD" and bool((factors > 0.0).any())
        if self.active and not (np.array_equal(factors, self.first_factors) and np.array_equal(masses, self.masses)):
            self.first_factors, self.masses = factors, masses
            self._assemble()

    def grow(self, factors: np.ndarray) -> None:
        """Let the rest shape of each body be so many times as large, (bodies,) [1]."""
        if not np.array_equal(factors[self.body], self.grown):
            self.grown = factors[self.body]
            if self.active:
                self._assemble()

    def _assemble(self) -> None:
        # Of a rope that is s times as large, D by the first lengths is s times as large too.
        self.factors = self.first_factors / self.grown**3
        count = len(self.rows)
        energy = np.zeros((count, 6, 6))
        energy[:, :3, :3] = self.factors[:, None, None] * self.stencils[:, :, None] * self.stencils[:, None]
        no_slopes, none = np.full((count, 3), -1), np.zeros(0, int)
        elements = PlateElements(
            self.rows, no_slopes, np.zeros((0, 2), int), energy, np.zeros((count, 6)), np.zeros((count, 6, 3)),
            np.zeros(3 * count), 1.0, np.zeros((0, 4), int), none, none,
        )  # fmt: skip
        self.blocks = PlateBlocks(elements, np.ones(count), self.levels, self.masses < np.inf, False)
        self._moved = np.zeros_like(self.rest)
        self._reached = np.zeros((0, 3))

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h = h
        self._moved[:] = 0.0

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        blocks, ids, h = self.blocks, self.blocks.vertices, self.h
        stiffness = blocks.limited(self.masses, h**2)
        factors = blocks.factors(self.masses, stiffness)
        q = p.T - p[:, self.rows[0, 0]]  # Large coordinates would lose digits.
        known = np.zeros((int(blocks.starts[-1]), 3))
        known[blocks.rows] = self.masses[ids, None] * (q - self._moved)[ids]
        for rows, matrix, vertices in blocks.held:
            known[rows] -= stiffness * (matrix @ q[vertices])
        curled, reached = bool(self.curls.any()), q.copy()
        way = self._ways(q) if curled else np.zeros(0)
        for _ in range(MOST_TURNS):
            b = known + stiffness * self._load(way) if curled else known
            kernels.solve_blocks(b, factors)
            reached[ids] = b[blocks.rows]
            if not curled:
                break
            before, way = way, self._ways(reached)
            if np.abs(way - before).max() < TURNED:
                break
        step = reached[ids] - q[ids]
        p[:, ids] += step.T
        self._moved[ids] += step
        self._reached = p.T.copy()

    def _curls(self, p: np.ndarray) -> np.ndarray:
        """D of every row at positions p (n, 3), (m, 3)."""
        return np.asarray(np.einsum("mk,mkc->mc", self.stencils, p[self.rows]))

    def _ways(self, p: np.ndarray) -> np.ndarray:
        """Direction of every D, (m, 3); 0 where a rope is straight."""
        return directions(self._curls(p))

    def _load(self, ways: np.ndarray) -> np.ndarray:
        """Load of what curls at rest in these directions (m, 3), (unknowns, 3)."""
        push = (self.factors * self.grown * self.curls)[:, None, None] * self.stencils[:, :, None] * ways[:, None]
        n = len(self.rest)
        full = np.stack([np.bincount(self.rows.ravel(), push[..., k].ravel(), n) for k in range(3)], axis=1)
        found = np.zeros((int(self.blocks.starts[-1]), 3))
        found[self.blocks.rows] = full[self.blocks.vertices]
        return found

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(self._curls(x), axis=1) - self.grown * self.curls

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.rows, self.stencils[:, :, None] * self._ways(x)[:, None]

    def forces(self) -> np.ndarray:
        """Moment of every row against its curl in the last substep, (m,) [N m]."""
        if not len(self._reached):
            return np.zeros(len(self.rows))
        return -self.factors * self.values(self._reached)

    @property
    def multipliers(self) -> np.ndarray:  # type: ignore[override]
        """The multipliers that belong to `forces`, computed on demand, (m,)."""
        return self.h**2 * self.forces()
