"""How NumPy's kernels gather and scatter the particles of a color, and how they cut long arrays."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

CHUNK = 8192
"""Rows handled together: arrays of this length stay in the CPU cache."""


def by_color(
    p: np.ndarray, indices: np.ndarray, starts: np.ndarray, layouts: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the rows of each color, and the positions q (3, k, m) of their particles; changes of q are applied to p.

    Scattering takes NumPy twice as long as gathering. So the particles of wide colors are not written back at each
    color: a copy is put in the order of the first color, so that q is just its front part, then that in the order of
    the second color, and so on. In `layouts` (colors + 1, u) the first row is particles, the following ones are
    indices into the previous order, the last one is particles again. Narrow colors, which have no layout, come last.
    """
    corners, wide = len(indices), max(len(layouts) - 1, 0)
    if wide:
        ordered = p
        for layout, start, stop in zip(layouts[:-1], starts[:wide], starts[1:]):
            ordered = ordered.take(layout, axis=1)
            yield slice(start, stop), ordered[:, : corners * (stop - start)].reshape(3, corners, -1)
        scatter(p, layouts[-1], ordered)
    for start, stop in zip(starts[wide:-1], starts[wide + 1 :]):
        particles = indices[:, start:stop]
        q = p.take(particles, axis=1)
        yield slice(start, stop), q
        scatter(p, particles, q)


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Dot products of the columns of two (3, m) arrays."""
    return np.einsum("ij,ij->j", a, b)


def scatter(p: np.ndarray, particles: np.ndarray, values: np.ndarray) -> None:
    """p[:, particles] = values, an axis at a time, which is what NumPy does fastest."""
    for axis in range(3):
        p[axis][particles] = values[axis]


def chunks(count: int) -> Iterator[slice]:
    """Slices of at most `CHUNK`, at least one."""
    return (slice(start, start + CHUNK) for start in range(0, max(count, 1), CHUNK))


def cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cross products of the columns of two (3, m) arrays."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def ways(p: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """From the second particle of each row (2, m) to the first, (3, m)."""
    start, end = indices
    found = p.take(start, axis=1)
    found -= p.take(end, axis=1)
    return found


def by_sign(error: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The last row of values (1 or 2, m) where the error (m,) is below 0, else the first."""
    return np.asarray(values[0] if len(values) == 1 else np.where(error < 0.0, values[1], values[0]))


def lengths(a: np.ndarray) -> np.ndarray:
    """Lengths of the columns of a (3, m) array."""
    return np.asarray(np.sqrt(dot(a, a)))
