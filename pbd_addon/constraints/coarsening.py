"""Coarsening: levels of ever fewer particles of a cloth, and how the others follow them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays.distinct import distinct

MAX_LEVELS = 5
"""Each level has a third of the particles of the finer one: five lead from 10,000 to 18, from 40,000 to 78."""

FEWEST = 12
"""Minimum number of particles of a level: a smaller one would add nothing to tethers."""

PARENTS = 4
"""Coarse particles that a finer one follows. A curtain of 60 x 60 vertices, irregular triangles, that swings on two
corners is strained by 0.47, 0.36, 0.32, 0.30, 0.29 % in the mean with 1, 2, 3, 4, 6, and by 13.6, 10.1, 8.5, 8.5, 8.6 %
at most."""


class Level(NamedTuple):
    """A level: edges between its particles, and how the particles of the next finer level follow them.

    Particles are numbered from the coarsest level to the finest, so those of a level are the first `size`.

    Attributes:
        size: Number of particles.
        edges: Pairs of particles with a finer edge between their neighborhoods, at least one of them free, (m, 2) int.
        followers: Particles of the next finer level that are not in this one and not pinned, (f,) int; those of the
            finest level are numbered as in the scene.
        parents: Particles of this level that each follows, (4, f) int.
        shares: Weight of each parent's displacement, (4, f); they sum to 1.
    """

    size: int
    edges: np.ndarray
    followers: np.ndarray
    parents: np.ndarray
    shares: np.ndarray


def find_levels(pairs: np.ndarray, rest: np.ndarray, pinned: np.ndarray) -> tuple[np.ndarray, list[Level]]:
    """Levels over a graph, as in Müller 2008, sec. 4.

    The particles of a level are a maximal independent set of the finer level's graph: no two are neighbors, and every
    other particle has a neighbor among them. Pinned ones are chosen first.

    Args:
        pairs: Edges, (m, 2) int.
        rest: Rest positions, (n, 3) [m].
        pinned: Which particles are pinned, (n,) bool.

    Returns:
        The particles of all levels in their order, (c,) int, and the levels, coarsest first.
    """
    chosen: list[np.ndarray] = []  # particles of each level, numbered as in the scene
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = []
    particles = distinct(pairs)
    edges = np.searchsorted(particles, pairs)
    while len(found) < MAX_LEVELS and len(edges):
        graph = _Neighbors(edges, len(particles))
        at, held = rest[particles], pinned[particles]
        is_coarse = _independent_set(graph, held)
        coarse = np.flatnonzero(is_coarse)
        number = np.cumsum(is_coarse) - 1
        owner = number[_nearest(graph, at, is_coarse)]
        between = np.sort(owner[edges], axis=1)
        between = np.unique(between[between[:, 0] != between[:, 1]], axis=0)
        between = between[~held[coarse][between].all(axis=1)]
        if len(coarse) < FEWEST or not len(between):
            break
        fine = np.flatnonzero(~is_coarse & ~held)
        parents, shares = _parents(at[coarse], between, at[fine], owner[fine])
        found.append((between, particles[fine], parents, shares))
        particles, edges = particles[coarse], between
        chosen.append(particles)
    return _renumber(chosen, found, len(rest))


def _renumber(
    chosen: list[np.ndarray], found: list[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]], n: int
) -> tuple[np.ndarray, list[Level]]:
    order = np.concatenate([np.zeros(0, int), *chosen[::-1]])
    particles = order[np.sort(np.unique(order, return_index=True)[1])]
    place = np.full(n, -1)
    place[particles] = np.arange(len(particles))
    levels = []
    for depth, (members, (edges, followers, parents, shares)) in enumerate(zip(chosen, found)):
        local = place[members]
        levels.append(
            Level(len(members), local[edges], place[followers] if depth else followers, local[parents], shares)
        )
    return particles, levels[::-1]


class _Neighbors:
    """Neighbors of every vertex of a graph in flat arrays."""

    def __init__(self, edges: np.ndarray, n: int) -> None:
        ends = np.concatenate([edges, edges[:, ::-1]])
        order = np.lexsort((ends[:, 1], ends[:, 0]))
        self.of, self.to = ends[order].T
        self.starts = np.searchsorted(self.of, np.arange(n + 1))
        self.n = n


def _independent_set(graph: _Neighbors, first: np.ndarray) -> np.ndarray:
    """A maximal independent set, (n,) bool: greedy in breadth-first order from `first`, which packs it densely."""
    to, starts = graph.to.tolist(), graph.starts.tolist()
    blocked, seen = [False] * graph.n, [False] * graph.n
    result = np.zeros(graph.n, bool)
    queue: list[int] = []
    for seed in (*np.flatnonzero(first).tolist(), -1, *range(graph.n)):
        if seed >= 0 and not seen[seed]:
            seen[seed] = True
            queue.append(seed)
            if first[seed]:  # Start from all pinned ones at once.
                continue
        for vertex in queue:
            near = to[starts[vertex] : starts[vertex + 1]]
            if not blocked[vertex]:
                result[vertex] = True
                for other in near:
                    blocked[other] = True
            for other in near:
                if not seen[other]:
                    seen[other] = True
                    queue.append(other)
        queue = []
    return result


def _nearest(graph: _Neighbors, at: np.ndarray, is_coarse: np.ndarray) -> np.ndarray:
    """The nearest coarse neighbor of every vertex, itself if it is one, (n,) int."""
    owner = np.arange(graph.n)
    usable = is_coarse[graph.to] & ~is_coarse[graph.of]
    of, to = graph.of[usable], graph.to[usable]
    order = np.lexsort((np.linalg.norm(at[of] - at[to], axis=1), of))[::-1]
    owner[of[order]] = to[order]  # The last one written wins.
    return owner


def _parents(
    coarse: np.ndarray, edges: np.ndarray, fine: np.ndarray, owner: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest coarse vertices among the owner and its neighbors, and weights by inverse distance, (4, f) each."""
    graph = _Neighbors(edges, len(coarse))
    counts = np.diff(graph.starts)
    column = np.arange(PARENTS if not len(counts) else max(PARENTS, int(counts.max()) + 1)) - 1
    there = column < counts[owner][:, None]  # column -1 is the owner itself
    is_neighbor = there & (column >= 0)
    slots = np.minimum(graph.starts[owner][:, None] + column, len(graph.to) - 1)
    candidates = np.where(is_neighbor, graph.to[slots], owner[:, None])
    distance = np.where(there, np.linalg.norm(coarse[candidates] - fine[:, None], axis=2), np.inf)
    best = np.argsort(distance, axis=1, kind="stable")[:, :PARENTS]
    parents, distance = np.take_along_axis(candidates, best, 1), np.take_along_axis(distance, best, 1)
    shares = 1.0 / np.maximum(distance, 1e-12)
    shares /= shares.sum(axis=1, keepdims=True)
    return np.ascontiguousarray(parents.T), np.ascontiguousarray(shares.T)
