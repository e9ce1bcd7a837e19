"""How NumPy's kernels get at the particles of a whole color of rows, and hand them back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np


def by_color(
    p: np.ndarray, indices: np.ndarray, starts: np.ndarray, layouts: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """The rows of each color, and the positions q (3, k, m) of their particles; what is changed in q changes in p.

    Writing to scattered places takes NumPy twice as long as reading from them. Thus the particles of wide colors are
    never written back: a copy of them is put in the order of the first color, so that q is just its front part, then
    from there in the order of the second color, and so on. `layouts` (colors + 1, u) says how: its first line holds
    particles, the following ones places in the order before, the last one particles again. Narrow colors, which have
    no layout, come last.
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


def scatter(p: np.ndarray, particles: np.ndarray, values: np.ndarray) -> None:
    """p[:, particles] = values, an axis at a time, which is what NumPy does fastest."""
    for axis in range(3):
        p[axis][particles] = values[axis]
