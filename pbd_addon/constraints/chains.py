"""Chains: straight runs of edges through a mesh, solved as a whole instead of edge by edge.

A sweep over edges propagates a pull by one edge per iteration. The exact solution of all edges of a chain is a
tridiagonal system, so a pull crosses the whole cloth at once. Each edge keeps its own compliance and multiplier, which
later passes and the sweep continue: this is XPBD in a better order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

STRAIGHT = -0.5
"""An edge continues another if the cosine between them, seen from their common vertex, is below this."""

MAX_FAMILIES, MIN_SHARE = 4, 0.1
"""The largest families are kept, if they have at least this fraction of the edges, in chains of two or more.

Grids have two families of half of the edges each, irregular triangles five or six of 10 to 16 %."""

NEARLY_STRAIGHT = -0.97
"""If that cosine is below this at most vertices, the chains of a mesh are good enough without levels."""

STRUCTURED = 0.75
"""The fraction of ends of edges that `NEARLY_STRAIGHT` requires."""


class Family(NamedTuple):
    """Chains that share no vertex, concatenated.

    Attributes:
        vertices: Particles along the chains, (q + 1,) int.
        links: Which of the q steps between these are edges, (e,) int; the others lead to the next chain.
        rows: Row of each of these edges in the distance constraints, (e,) int.
        longest: Number of edges of the longest chain.
        rings: First and last step of each closed chain, (2, r) int; its first vertex is repeated at its end.
    """

    vertices: np.ndarray
    links: np.ndarray
    rows: np.ndarray
    longest: int
    rings: np.ndarray

    @property
    def levels(self) -> int:
        """Number of halvings that cyclic reduction needs for the longest chain."""
        return self.longest.bit_length()


def find_families(pairs: np.ndarray, rest: np.ndarray) -> list[Family]:
    """Families of chains through edges (m, 2) of particles at rest positions (n, 3) [m]; they need not cover all."""
    if len(pairs) == 0:
        return []
    chains = [chain for chain in _walk(pairs, _continuations(pairs, rest)) if len(chain[1]) > 1]
    chains.sort(key=lambda chain: -len(chain[1]))
    used = [0] * len(rest)
    families: dict[int, list[tuple[list[int], list[int]]]] = {}
    for vertices, rows in chains:
        taken = 0
        for vertex in vertices:
            taken |= used[vertex]
        bit = ~taken & (taken + 1)
        for vertex in vertices:
            used[vertex] |= bit
        families.setdefault(bit, []).append((vertices, rows))
    large = sorted(families.values(), key=lambda members: -sum(len(rows) for _, rows in members))
    kept = [members for members in large if sum(len(rows) for _, rows in members) >= MIN_SHARE * len(pairs)]
    return [_join(members) for members in kept[:MAX_FAMILIES]]


def filter_chains(family: Family, chosen: np.ndarray) -> Family:
    """The chains of a family whose edges are in `chosen`, (m,) bool over all rows, which has all of a chain or none."""
    taken = chosen[family.rows]
    links = family.links[taken]
    kept = np.zeros(len(family.vertices), bool)
    kept[links] = kept[links + 1] = True
    place = np.cumsum(kept) - 1
    rings = family.rings[:, kept[family.rings[0]]]
    return Family(family.vertices[kept], place[links], family.rows[taken], family.longest, place[rings])


FULL = 0.4
"""A group of chains is solved side by side if at least this fraction of its steps are edges.

Side by side an edge takes a third of the time that it takes in a row (measured with Numba on a grid of 100²)."""


class Order(NamedTuple):
    """Where the vertices of a family go so that chains lie side by side.

    Attributes:
        vertices: Place in the family of each vertex, (q' + 1,) int; some occur repeatedly.
        steps: Place in the family of each step, (q',) int; where `real` is false it has no meaning.
        real: Which steps are edges, (q',) bool.
        groups: Steps and chains of each group, (g, 2) int, see `project_chains`.
        joints: Which steps lead from one of the other chains to the next, (j,) int.
        rings: As in `Family`.
    """

    vertices: np.ndarray
    steps: np.ndarray
    real: np.ndarray
    groups: np.ndarray
    joints: np.ndarray
    rings: np.ndarray


def lay_out(family: Family, widths: Sequence[int]) -> Order:
    """The order in which chains lie side by side, and after these the others one after another.

    widths: How many may lie side by side, the largest first; without any it is the family's own order.
    """
    is_link = np.zeros(len(family.vertices), bool)
    is_link[family.links] = True
    ends = np.flatnonzero(~is_link)
    firsts = np.append(0, ends[:-1] + 1)
    sizes = ends - firsts
    left = np.flatnonzero(~np.isin(firsts, family.rings[0]))
    grouped = np.zeros(len(firsts), bool)
    vertices, real, groups = [], [], []
    for width in widths:
        for start in range(0, len(left) - width + 1, width):
            group = left[start : start + width]
            steps = int(sizes[group].max())
            if sizes[group].sum() >= FULL * width * steps:
                along = np.arange(steps + 1)[:, None]
                vertices.append((firsts[group] + np.minimum(along, sizes[group])).ravel())
                real.append((along < sizes[group]).ravel())
                groups.append((steps, width))
                grouped[group] = True
        left = left[~grouped[left]]
    alone = np.repeat(~grouped, sizes + 1)
    begin = sum(map(len, vertices))
    vertices.append(np.flatnonzero(alone))
    real.append(is_link[alone])
    order = np.concatenate(vertices)
    is_edge = np.concatenate(real)[:-1]
    places = np.cumsum(alone) - 1 + begin
    joints = np.flatnonzero(~is_edge[begin:]) + begin
    return Order(order, order[:-1], is_edge, np.array(groups, np.int64).reshape(-1, 2), joints, places[family.rings])


def is_structured(pairs: np.ndarray, rest: np.ndarray) -> bool:
    """Whether most edges (m, 2) continue straight, as in grids; rest (n, 3) [m]."""
    following = _continuations(pairs, rest)
    edge, end = np.nonzero(following >= 0)
    vertex, other = pairs[edge, end], following[edge, end]
    one_way = rest[pairs[edge, 1 - end]] - rest[vertex]
    there = np.where(pairs[other, 0] == vertex, pairs[other, 1], pairs[other, 0])
    other_way = rest[there] - rest[vertex]
    scale = np.linalg.norm(one_way, axis=1) * np.linalg.norm(other_way, axis=1)
    straight = np.einsum("ij,ij->i", one_way, other_way) < NEARLY_STRAIGHT * scale
    return bool(straight.sum() > STRUCTURED * 2 * len(pairs))


def _join(chains: list[tuple[list[int], list[int]]]) -> Family:
    sizes = np.array([len(vertices) for vertices, _ in chains])
    ends = np.cumsum(sizes)
    is_link = np.ones(sizes.sum(), bool)
    is_link[ends - 1] = False
    closed = np.array([vertices[0] == vertices[-1] for vertices, _ in chains])
    return Family(
        np.concatenate([vertices for vertices, _ in chains]).astype(np.int32),
        np.flatnonzero(is_link).astype(np.int32),
        np.concatenate([rows for _, rows in chains]).astype(np.int32),
        int(sizes.max()) - 1,
        np.stack([(ends - sizes)[closed], ends[closed] - 2]),
    )


def _continuations(pairs: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """For both ends of each edge the edge that continues it, -1 for none, (m, 2) int.

    Two edges at a vertex continue each other if each is the straightest continuation of the other.
    """
    m = len(pairs)
    vertex = pairs.T.ravel()
    away = rest[pairs[:, ::-1].T.ravel()] - rest[vertex]
    away /= np.maximum(np.linalg.norm(away, axis=1), 1e-300)[:, None]
    order = np.argsort(vertex, kind="stable")
    starts = np.searchsorted(vertex[order], np.arange(len(rest)))
    counts = np.bincount(vertex, minlength=len(rest))
    best = np.full(2 * m, -1)
    best_cosine = np.full(2 * m, STRAIGHT)
    own = np.repeat(np.arange(len(rest)), counts)
    place = np.arange(2 * m) - starts[own]
    for shift in range(1, int(counts.max())):
        some = np.flatnonzero(shift < counts[own])
        one = order[some]
        other = order[starts[own[some]] + (place[some] + shift) % counts[own[some]]]
        cosine = np.einsum("ij,ij->i", away[one], away[other])
        better = cosine < best_cosine[one] - 1e-9
        best[one[better]] = other[better]
        best_cosine[one[better]] = cosine[better]
    mutual = (best >= 0) & (best[best] == np.arange(2 * m))
    return np.where(mutual, best % m, -1).reshape(2, m).T


def _walk(pairs: np.ndarray, following: np.ndarray) -> list[tuple[list[int], list[int]]]:
    """Chains as (vertices, edges), cut where one would cross itself; a ring repeats its first vertex at the end."""
    ends, onward = pairs.tolist(), following.tolist()
    done = [False] * len(ends)
    chains = []
    # Start from loose ends; the rest are rings, which may start anywhere.
    order = np.argsort((following >= 0).all(axis=1), kind="stable").tolist()
    for first in order:
        if done[first]:
            continue
        edge, entry = first, (0 if onward[first][0] < 0 else 1)
        vertices, seen = [ends[edge][entry]], {ends[edge][entry]}
        rows: list[int] = []
        while edge >= 0 and not done[edge]:
            start = vertices[-1]
            leave = 1 if ends[edge][0] == start else 0
            end = ends[edge][leave]
            closes = end == vertices[0] and len(rows) > 1 and onward[edge][leave] == first
            if end in seen and not closes:
                break
            done[edge] = True
            vertices.append(end)
            rows.append(edge)
            seen.add(end)
            edge = onward[edge][leave]
        if rows:
            chains.append((vertices, rows))
        else:
            done[first] = True
    return chains
