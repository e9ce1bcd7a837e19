"""Plate elements as one block tridiagonal system, factorized once and solved in every substep.

Vertices are ordered in breadth-first levels, from one end of the sheet to the other. A triangle is in one level or
between two neighboring ones, so only neighboring levels are coupled. The unknowns of a level are its vertices and the
slopes of the edges within it. Slopes between two levels have no mass and are eliminated beforehand.

With s unknowns in each of L levels, this takes 16 s² L bytes; a factorization for one h takes 5 s³ L flops and as many
bytes again; a solution reads 24 s² L bytes. s is about twice the number of vertices across the sheet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays.incidence import by_owner, entries
from ..kernels.protocol.blocks import Factors
from .plate_elements import PlateElements

LEAST_UNKNOWNS = 32
"""Levels are merged until they have about this many unknowns: for smaller products call overhead dominates."""

LARGEST_ENTRY = 1e10
"""Largest entry of stiffness · energy, in masses of all: of 16 digits, these are left 6. A sheet of 1 N·m and 100 x 100
vertices a millimeter apart is at 2e4, beside pinned faces at 2e8; from 1e16 on there is no solution."""


KEPT = 3
"""Number of substep lengths whose factors are cached: the usual one and those after halving it."""


class Held(NamedTuple):
    """Coupling of fixed vertices to unknowns: a slice of these, a matrix (k, v) and the vertices (v,)."""

    rows: slice
    matrix: np.ndarray
    vertices: np.ndarray


class Eliminated(NamedTuple):
    """Eliminated slopes: their indices (i,), a slice of the unknowns coupled to them, and the coupling (i, k)."""

    slopes: np.ndarray
    rows: slice
    matrix: np.ndarray


class PlateBlocks:
    """The energy of plate elements in the unknowns of levels, for B = 1 N·m.

    Args:
        elements: Elements of one body.
        factors: Factor on each triangle's energy, (t,).
        levels: Level of each vertex, see `levels_of`, (n,) int.
        free: Which vertices move, (n,) bool.
        bent: Whether `load` will be called.

    Attributes:
        vertices: The unknown vertices, (f,) int; rows: their indices among the unknowns, (f,) int.
        starts: Where the unknowns of each level begin, (levels + 1,) int.
        diagonal, beside: Blocks of each level, and from each to the next.
        held: Couplings of fixed vertices.
    """

    def __init__(
        self, elements: PlateElements, factors: np.ndarray, levels: np.ndarray, free: np.ndarray, bent: bool
    ) -> None:
        n, count = len(free), len(elements.ends)
        low = levels[elements.ends].min(axis=1)
        within = low == levels[elements.ends].max(axis=1)
        used = np.zeros(n, bool)
        used[elements.corners] = True
        unknown = np.concatenate([free & used, within])
        level = np.concatenate([levels, low])
        numbers = np.flatnonzero(unknown)
        numbers = numbers[np.argsort(level[numbers], kind="stable")]
        self.starts = np.searchsorted(level[numbers], np.arange(int(level.max()) + 2))
        place = np.full(n + count, -1)
        place[numbers] = np.arange(len(numbers))
        self.vertices, self.rows = numbers[numbers < n], np.flatnonzero(numbers < n)
        self.slopes, self.slope_rows = numbers[numbers >= n], np.flatnonzero(numbers >= n)
        self.held: list[Held] = []
        self.eliminated: list[Eliminated] = []
        sizes = np.diff(self.starts)
        self.diagonal = [np.zeros((size, size)) for size in sizes]
        self.beside: list[np.ndarray] = []

        unknowns = np.column_stack([elements.corners, np.where(elements.sides < 0, n + count, n + elements.sides)])
        strip = levels[elements.corners].min(axis=1)
        order = np.argsort(strip, kind="stable")
        begins = np.searchsorted(strip[order], np.arange(len(sizes) + 1))
        local = np.full(n + count + 1, -1)
        for k in range(len(sizes)):
            mine = order[begins[k] : begins[k + 1]]
            present = np.unique(unknowns[mine])
            present = present[present < n + count]
            kept = slice(int(self.starts[k]), int(self.starts[min(k + 2, len(sizes))]))
            held = present[(present < n) & ~unknown[np.minimum(present, n + count - 1)]]
            between = present[(present >= n) & ~unknown[np.minimum(present, n + count - 1)]]
            ns, ni, nh = kept.stop - kept.start, len(between), len(held)
            local[numbers[kept]] = np.arange(ns)
            local[between] = ns + np.arange(ni)
            local[held] = ns + ni + np.arange(nh)
            size = ns + ni + nh + 1
            local[-1] = size - 1
            at = local[unknowns[mine]]
            flat = at[:, :, None] * size + at[:, None]
            energy = elements.energy[mine] * factors[mine][:, None, None]
            dense = np.bincount(flat.ravel(), energy.ravel(), size * size).reshape(size, size)
            outer = np.r_[0:ns, ns + ni : size - 1]
            matrix: np.ndarray = dense[:ns, outer]
            if ni:
                inner = dense[ns : ns + ni, ns : ns + ni]
                inner[np.diag_indices(ni)] += inner.diagonal() == 0.0  # A slope whose factors are 0 has no energy.
                answer: np.ndarray = np.linalg.solve(inner, dense[ns : ns + ni, outer])
                matrix = matrix - dense[:ns, ns : ns + ni] @ answer
                if bent:
                    self.eliminated.append(Eliminated(between - n, kept, answer[:, :ns]))
            own = int(sizes[k])
            self.diagonal[k] += matrix[:own, :own]
            if k + 1 < len(sizes):
                self.diagonal[k + 1] += matrix[own:ns, own:ns]
                self.beside.append(matrix[:own, own:ns])
            if nh:
                self.held.append(Held(kept, matrix[:, ns:], held))
        for k, block in enumerate(self.diagonal):
            is_slope = numbers[self.starts[k] : self.starts[k + 1]] >= n
            block[np.diag_indices(len(block))] += is_slope & (block.diagonal() == 0.0)
        entries_of_vertices = np.concatenate([block.diagonal() for block in self.diagonal])[self.rows]
        self._largest = float(entries_of_vertices.max(initial=0.0))
        self._n, self._unknowns = n, unknowns.T.ravel() if bent else unknowns[:0].ravel()
        self._factors: dict[float, Factors] = {}

    def limited(self, masses: np.ndarray, stiffness: float) -> float:
        """The stiffness [kg m²], or the largest beside which masses (n,) [kg] survive rounding, see `LARGEST_ENTRY`."""
        most = LARGEST_ENTRY * float(masses[self.vertices].sum())
        return most / self._largest if stiffness * self._largest > most else stiffness

    def factors(self, masses: np.ndarray, stiffness: float) -> Factors:
        """As `_factorize`, which some of the last ones need not be done again; always for the same masses."""
        if stiffness not in self._factors:
            while len(self._factors) >= KEPT:
                del self._factors[next(iter(self._factors))]
            self._factors[stiffness] = self._factorize(masses, stiffness)
        return self._factors[stiffness]

    def _factorize(self, masses: np.ndarray, stiffness: float) -> Factors:
        """Factors of M + stiffness · energy; masses (n,) [kg], stiffness [kg m²]."""
        weight = np.zeros(int(self.starts[-1]))
        weight[self.rows] = masses[self.vertices]
        sizes = np.diff(self.starts)
        found = Factors(self.starts, np.empty((sizes**2).sum()), np.empty((sizes[1:] * sizes[:-1]).sum()))
        inverse: np.ndarray = np.zeros((0, 0))
        at = of_coupling = 0
        for k, block in enumerate(self.diagonal):
            block = stiffness * block
            block[np.diag_indices(len(block))] += weight[self.starts[k] : self.starts[k + 1]]
            if k:
                beside = stiffness * self.beside[k - 1]
                coupling = beside.T @ inverse
                block -= coupling @ beside
                found.couplings[of_coupling : of_coupling + coupling.size] = coupling.ravel()
                of_coupling += coupling.size
            inverse = np.linalg.inv(block)
            inverse = 0.5 * (inverse + inverse.T)
            found.inverses[at : at + inverse.size] = inverse.ravel()
            at += inverse.size
        return found

    def load(self, elements: PlateElements, factors: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """Load of the rest angles on the unknowns for triangles with these normals (t, 3), (unknowns, 3)."""
        n, push = self._n, np.multiply(elements.push.T, factors, order="C")
        full = np.empty((n + len(elements.ends) + 1, 3))
        for axis in range(3):
            full[:, axis] = np.bincount(self._unknowns, (push * normals[:, axis]).ravel(), len(full))
        found = np.zeros((int(self.starts[-1]), 3))
        found[self.rows], found[self.slope_rows] = full[self.vertices], full[self.slopes]
        for slopes, rows, matrix in self.eliminated:
            found[rows] -= matrix.T @ full[n + slopes]
        return found


def levels_of(rest: np.ndarray, triangles: np.ndarray, islands: np.ndarray) -> np.ndarray:
    """Levels of vertices, (n,) int, such that each triangle is in one level or between two neighboring ones.

    Each island is searched breadth-first from its end along the longest axis of all vertices; the levels of islands
    are consecutive.

    Args:
        rest: Rest positions, (n, 3) [m].
        triangles: (t, 3) int.
        islands: Connected component of each vertex, (n,) int.
    """
    level = np.zeros(len(rest), np.int32)
    if not len(triangles):
        return level
    used, corners = np.unique(triangles, return_inverse=True)
    corners = corners.reshape(-1, 3)
    island = np.unique(islands[used], return_inverse=True)[1].reshape(-1)
    centered = rest[used] - rest[used].mean(axis=0)
    height = centered @ np.linalg.eigh(centered.T @ centered)[1][:, -1]
    lowest = np.full(island.max() + 1, np.inf)
    np.minimum.at(lowest, island, height)
    side = np.linalg.norm(centered[corners[:, 0]] - centered[corners[:, 1]], axis=1).mean()
    found = np.where(height <= lowest[island] + 0.25 * side, 0, -1)
    order, starts = by_owner(corners.ravel(), len(used))
    current, front = 0, np.flatnonzero(found == 0)
    while len(front):
        beside = corners[order[entries(starts, front)[0]] // 3]
        front = np.unique(beside[found[beside] < 0])
        current += 1
        found[front] = current
    depth = np.zeros(len(lowest), np.int64)
    np.maximum.at(depth, island, found)
    found += (np.cumsum(depth + 1) - depth - 1)[island]
    unknowns = 2.0 * len(used) / (found.max() + 1)  # Per level: its vertices, and as many edges along it.
    level[used] = found // max(1, round(LEAST_UNKNOWNS / unknowns))
    return level


def block_entries(levels: np.ndarray, triangles: np.ndarray) -> int:
    """Approximate size of the factors of a sheet with these levels (n,) and triangles (t, 3)."""
    sides = levels[np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)]
    within = sides[sides[:, 0] == sides[:, 1], 0]
    sizes = np.bincount(levels) + np.bincount(within, minlength=int(levels.max()) + 1) // 2  # Two sides per edge.
    return int((sizes**2).sum() + (sizes[1:] * sizes[:-1]).sum())
