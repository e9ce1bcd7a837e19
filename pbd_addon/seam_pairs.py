"""Which vertices of two borders are sewn together: those that are equally far along."""

from __future__ import annotations

import numpy as np


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
    """How far along a border its vertices (k, 3) are, in [0, 1], (k,)."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    whole = steps.sum() + (np.linalg.norm(points[0] - points[-1]) if closed else 0.0)
    return np.concatenate([[0.0], np.cumsum(steps)]) / max(whole, 1e-300)
