"""Graph coloring: groups of constraints that share no particle.

All constraints of one color can be projected at once with whole arrays, and the result is still that of Gauss–Seidel:
no row reads what another row of its color writes.
"""

from __future__ import annotations

import numpy as np

AT_ONCE = 50_000
"""Number of rows that are made lists at once: as lists a row takes 200 bytes."""


def color(indices: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort constraints into colors, first fit.

    Args:
        indices: Particles of every constraint, (m, k) int.
        n: Number of particles.

    Returns:
        order: Permutation that sorts the rows by color, (m,) int.
        starts: Where each color begins in the sorted rows, (colors + 1,) int.
    """
    if len(indices) == 0:
        return np.zeros(0, int), np.zeros(1, int)
    used, colors = [0] * n, np.empty(len(indices), np.int32)
    for start in range(0, len(indices), AT_ONCE):
        bits = []
        for particles in indices[start : start + AT_ONCE].tolist():
            taken = 0
            for particle in particles:
                taken |= used[particle]
            bit = ~taken & (taken + 1)
            for particle in particles:
                used[particle] |= bit
            bits.append(bit)
        colors[start : start + AT_ONCE] = np.fromiter(map(int.bit_length, bits), np.int32, len(bits)) - 1
    order = np.argsort(colors, kind="stable")
    return order, np.concatenate([[0], np.cumsum(np.bincount(colors))])
