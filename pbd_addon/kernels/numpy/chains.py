"""Whole chains of edges in NumPy, by cyclic reduction: all chains of a family at once."""

from __future__ import annotations

import numpy as np

from ..protocol.guards import TINY
from .layout import dot as _dot, scatter as _scatter

WIDTHS: tuple[int, ...] = ()


def project_chains(p, x, along, links, multipliers, passes, fresh):
    vertices, levels, rings, joints = along[:4]
    weights, rest_lengths, alpha, gamma = links
    if fresh:
        multipliers[:] = 0.0
    q = p.take(vertices, axis=1)
    before = np.diff(x.take(vertices, axis=1)) if len(gamma) else None
    first, last = rings
    size = len(rest_lengths)
    padded = -(-size // 2**levels) * 2**levels
    for _ in range(passes):
        d = q[:, 1:] - q[:, :-1]
        length = np.sqrt(_dot(d, d)) + TINY
        residual = length - rest_lengths
        give = alpha[0] if len(alpha) == 1 else np.where(residual < 0.0, alpha[1], alpha[0])
        residual += give * multipliers
        d /= length
        if before is not None:
            residual += gamma * (length - _dot(d, before))
            residual /= 1.0 + gamma
            give = give / (1.0 + gamma)
        # A joint is an uncoupled unknown with the solution 0.
        d[:, joints] = 0.0
        diagonal, coupling, right = np.ones(padded), np.zeros(padded), np.zeros(padded)
        np.add(weights[1:], weights[:-1], out=diagonal[:size])
        diagonal[:size] += give
        np.negative(residual, out=right[:size])
        diagonal[joints], right[joints] = 1.0, 0.0
        np.multiply(_dot(d[:, :-1], d[:, 1:]), -weights[1:-1], out=coupling[: size - 1])
        if len(first):
            corner = -weights[first] * _dot(d[:, first], d[:, last])
            step = _solve_with_corners(diagonal, coupling, right, levels, first, last, corner)[:size]
        else:
            step = solve_tridiagonal(diagonal, coupling, right, levels)[:size]
        multipliers += step
        d *= step
        change = np.empty_like(q)
        change[:, 0], change[:, -1] = -d[:, 0], d[:, -1]
        np.subtract(d[:, :-1], d[:, 1:], out=change[:, 1:-1])
        # The first vertex of a ring is repeated at its end.
        both = change[:, first] + change[:, last + 1]
        change[:, first] = change[:, last + 1] = both
        change *= weights
        q += change
    _scatter(p, vertices, q)


def put(values, places, into, rows):
    into[rows if len(rows) else slice(None)] = values[places] if len(places) else values[: len(rows)]


def _solve_with_corners(
    diagonal: np.ndarray,
    coupling: np.ndarray,
    right: np.ndarray,
    levels: int,
    first: np.ndarray,
    last: np.ndarray,
    corner: np.ndarray,
) -> np.ndarray:
    """Solve as `solve_tridiagonal`, with an entry `corner` (r,) between the unknowns `first` and `last` of some blocks.

    This uses the Sherman–Morrison formula with a second right-hand side.
    """
    pivot = -diagonal[first]
    diagonal[first] -= pivot
    diagonal[last] -= corner**2 / pivot
    both = np.stack([right, np.zeros_like(right)])
    both[1, first], both[1, last] = pivot, corner
    plain, extra = solve_tridiagonal(diagonal, coupling, both, levels)
    ratio = corner / pivot
    factor = (plain[first] + ratio * plain[last]) / (1.0 + extra[first] + ratio * extra[last])
    # `extra` is 0 outside the blocks with corners.
    block = np.searchsorted(np.sort(first), np.arange(len(right)), side="right") - 1
    return plain - factor[np.argsort(first)][block] * extra


def solve_tridiagonal(diagonal: np.ndarray, coupling: np.ndarray, right: np.ndarray, levels: int) -> np.ndarray:
    """Solve a symmetric tridiagonal system of independent blocks shorter than 2**levels, by cyclic reduction.

    Args:
        diagonal: (m,), m a multiple of 2**levels.
        coupling: Off-diagonal entry of unknowns k and k + 1, (m,); 0 between blocks and at the end.
        right: Right hand sides, (..., m).
        levels: Halvings, each of which eliminates the even unknowns with whole arrays.

    Returns:
        The solutions, (..., m).
    """
    if levels == 0:
        return right / diagonal
    inverse = 1.0 / diagonal[0::2]
    inner, outer = coupling[0::2], coupling[1:-1:2]
    even = right[..., 0::2] * inverse  # without neighbors
    from_right = inner * inverse
    from_left = outer * inverse[1:]
    reduced_diagonal = diagonal[1::2] - from_right * inner
    reduced_diagonal[:-1] -= from_left * outer
    reduced_right = right[..., 1::2] - inner * even
    reduced_right[..., :-1] -= outer * even[..., 1:]
    reduced_coupling = np.zeros_like(inverse)
    np.multiply(from_left, -inner[1:], out=reduced_coupling[:-1])
    odd = solve_tridiagonal(reduced_diagonal, reduced_coupling, reduced_right, levels - 1)
    even -= from_right * odd
    even[..., 1:] -= from_left * odd[..., :-1]
    solution = np.empty_like(right)
    solution[..., 0::2] = even
    solution[..., 1::2] = odd
    return solution
