"""Which vertices of two borders are sewn together, where these have to be, and how long both sides are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .mesh import connected_components

CORNER = np.cos(np.radians(45.1))
"""Cosine of the turn of a border from which on its vertices are corners: an octagon is the coarsest smooth circle."""

SHIFT = 0.01
"""Least slide of a vertex, in edges: less would strain an edge by 1 % at most."""


def pair_up(one: np.ndarray, other: np.ndarray, closed: bool, mirrored: bool = False) -> np.ndarray:
    """Pairs of vertices of two borders by arc length; each vertex of the border that has fewer is in one of them.

    Of the two directions in which the other border can run, it takes that with the shorter seams. A closed border
    begins where it is nearest to the first vertex of the other.

    Args:
        one: Positions along a border, (k, 3) [m].
        other: Those of another border, (m, 3) [m].
        closed: Whether both are loops.
        mirrored: Whether to take the other direction instead.

    Returns:
        Indices into both, (min(k, m), 2) int.
    """
    if len(one) > len(other):
        return pair_up(other, one, closed, mirrored)[:, ::-1]
    ways: list[tuple[float, int, np.ndarray]] = []
    for order in (np.arange(len(other)), np.arange(len(other))[::-1]):
        if closed:
            order = np.roll(order, -int(np.argmin(np.linalg.norm(other[order] - one[0], axis=1))))
        pairs = np.column_stack([np.arange(len(one)), order[_equally_far(one, other[order], closed)]])
        length = float(np.linalg.norm(one[pairs[:, 0]] - other[pairs[:, 1]], axis=1).sum())
        ways.append((length, len(ways), pairs))
    return max(ways)[2] if mirrored else min(ways)[2]


def _equally_far(one: np.ndarray, other: np.ndarray, closed: bool) -> np.ndarray:
    """For each vertex of one border, an index into another that has at least as many, ascending, (k,) int."""
    k, m = len(one), len(other)
    way, there = _shares(one, closed), _shares(other, closed)
    at = np.searchsorted(0.5 * (there[1:] + there[:-1]), way)
    numbers = np.arange(k)
    at = np.maximum.accumulate(np.maximum(at - numbers, 0)) + numbers  # none twice
    return np.minimum(at, m - k + numbers)


def _shares(points: np.ndarray, closed: bool) -> np.ndarray:
    """How far along a border its vertices (k, 3) are, in [0, 1], (k,); all 0 if it has no length."""
    steps = np.linalg.norm(np.diff(points.astype(float), axis=0), axis=1)  # 1e-300 is 0 in 32 bits
    whole = steps.sum() + (np.linalg.norm(points[0] - points[-1]) if closed else 0.0)
    return np.concatenate([[0.0], np.cumsum(steps)]) / max(whole, 1e-300)


def face_each_other(
    one: np.ndarray, other: np.ndarray, pairs: np.ndarray, closed: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Where along two borders vertices have to be, so that what is sewn together is equally far along.

    Two edges that a seam makes one shall be equally long: else one stays stretched, the other compressed. Each vertex
    slides by at most half an edge; ends and corners stay.

    Args:
        one: Positions along a border, (k, 3) [m].
        other: Those of another border, (m, 3) [m].
        pairs: Indices into both, as of `pair_up`, (p, 2) int.
        closed: Whether both are loops.

    Returns:
        Places along both borders, in numbers of their vertices, (k,) and (m,): 2.25 is a quarter of an edge beyond the
        third vertex. On loops, -0.25 is that much before the first.
    """
    pairs = pairs[np.argsort(pairs[:, 0])]
    turned = np.sum(np.diff(pairs[:, 1]) > 0) < 0.5 * (len(pairs) - 1)
    rows = [np.arange(len(one)), np.arange(len(other))[:: -1 if turned else 1]]
    if closed:
        rows = [np.roll(row, -int(np.flatnonzero(row == start)[0])) for row, start in zip(rows, pairs[0])]
    sewn = [np.argsort(row)[at] for row, at in zip(rows, pairs.T)]
    ways = [_shares(border[row], closed) for row, border in zip(rows, (one, other))]
    stay = [_corners(border[row], closed) for row, border in zip(rows, (one, other))]
    (here, there), (stays, stays_there) = ([of[at] for of, at in zip(each, sewn)] for each in (ways, stay))
    goal = np.where(stays == stays_there, 0.5 * (here + there), np.where(stays, here, there))
    places = []
    for row, way, at, is_firm, sign in zip(rows, ways, sewn, stay, (1.0, -1.0 if turned else 1.0)):
        shift = np.interp(way, np.concatenate([way[at], [1.0]]), np.concatenate([goal, [1.0]])) - way
        steps = np.diff(way, append=1.0)
        shift /= np.maximum(np.where(shift > 0.0, steps, np.roll(steps, 1)), 1e-300)
        shift[is_firm | (np.abs(shift) < SHIFT)] = 0.0
        place = np.empty(len(row))
        place[row] = row + sign * np.clip(shift, -0.5, 0.5)
        places.append(place)
    return places[0], places[1]


def _corners(points: np.ndarray, closed: bool) -> np.ndarray:
    """Which vertices of a border (k, 3) stay where they are: ends, the first of a loop, and corners, (k,) bool."""
    steps = np.roll(points, -1, axis=0) - points
    before = np.roll(steps, 1, axis=0)
    sizes = np.linalg.norm(steps, axis=1) * np.linalg.norm(before, axis=1)
    corners = np.einsum("ij,ij->i", steps, before) < CORNER * sizes
    corners[[0] if closed else [0, -1]] = True
    return np.asarray(corners)


class Sides(NamedTuple):
    """A seam, as a row of pairs, and how long its two sides are."""

    pairs: np.ndarray  # (k,) int, which of the pairs it consists of
    lengths: tuple[float, float]  # along the pairs [m]


def measure_sides(x: np.ndarray, pairs: np.ndarray, triangles: np.ndarray) -> list[Sides]:
    """The seams among pairs of vertices, and the lengths of their sides, from vertex to vertex that is sewn.

    A seam goes on from one pair to another where an edge of the border leads there on either side, and the other side
    stays on its panel: a shoulder, from front to back, does not go on as an armhole, from front to sleeve.

    Args:
        x: Positions, (n, 3) [m].
        pairs: Both vertices of all pairs, (m, 2) int.
        triangles: Faces, (t, 3) int.

    Returns:
        Seams of at least two pairs, in the order of their first ones.
    """
    count, panel = len(pairs), connected_components(triangles[:, [0, 1, 1, 2]].reshape(-1, 2), len(x))
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    border, faces = np.unique(sides, axis=0, return_counts=True)
    border = border[faces == 1]
    # Ends of pairs, as vertices; end i and end i + count are those of pair i.
    ends = pairs.T.ravel()
    order = np.argsort(ends, kind="stable")
    first, last = (np.searchsorted(ends[order], border, how) for how in ("left", "right"))
    sizes = last - first
    chances = sizes.prod(axis=1)
    one = np.repeat(np.arange(len(border)), chances)
    place = np.arange(len(one)) - np.repeat(np.cumsum(chances) - chances, chances)
    here = order[first[one, 0] + place // sizes[one, 1]]
    there = order[first[one, 1] + place % sizes[one, 1]]
    across, beyond = (here + count) % (2 * count), (there + count) % (2 * count)
    goes_on = (panel[ends[across]] == panel[ends[beyond]]) & (here % count != there % count)
    links = np.concatenate([np.stack([here, there], axis=1)[goes_on], np.stack([across, beyond], axis=1)[goes_on]])
    links = np.unique(np.sort(links, axis=1), axis=0)
    side, seam = connected_components(links, 2 * count), connected_components(links % count, count)
    steps = np.linalg.norm(x[ends[links[:, 0]]] - x[ends[links[:, 1]]], axis=1)
    length = np.bincount(side[links[:, 0]], steps, 2 * count)
    rows = (np.flatnonzero(seam == number) for number in range(seam.max(initial=-1) + 1))
    return [
        Sides(row, (float(length[side[row[0]]]), float(length[side[row[0] + count]]))) for row in rows if len(row) > 1
    ]
