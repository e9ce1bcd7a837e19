"""Meshes that are a grid of quads: found by their faces alone, and made coarser by leaving out rows."""

from __future__ import annotations

import numpy as np


def rows_and_columns(quads: np.ndarray, count: int) -> np.ndarray | None:
    """The vertices of a rectangular grid, (rows, columns) int, or None if quads (f, 4) of `count` vertices are none.

    Beginning with the first quad, each gives places to the corners that its neighbors do not know yet.
    """
    if not len(quads):
        return None
    places, known = np.zeros((count, 2), int), np.zeros(count, bool)
    places[quads[0]], known[quads[0]] = [(0, 0), (0, 1), (1, 1), (1, 0)], True
    waiting = quads[1:]
    while len(waiting):
        ready = np.zeros(len(waiting), bool)
        for corner in range(4):
            a, b, c, d = np.roll(waiting, -corner, axis=1).T
            some = known[a] & known[b] & ~ready
            way = places[b[some]] - places[a[some]]
            beside = np.column_stack([way[:, 1], -way[:, 0]])
            for end, new in ((b[some], c[some]), (a[some], d[some])):
                fresh = ~known[new]
                places[new[fresh]] = (places[end] + beside)[fresh]
            known[c[some]] = known[d[some]] = True
            ready |= some
        if not ready.any():
            return None
        waiting = waiting[~ready]
    places -= places.min(axis=0)
    shape = places.max(axis=0) + 1
    grid = np.full(shape, -1)
    if shape.prod() != count or not known.all():
        return None
    grid[tuple(places.T)] = np.arange(count)
    return grid if (grid >= 0).all() and len(quads) == (shape - 1).prod() and _are_cells(places[quads]) else None


def _are_cells(corners: np.ndarray) -> bool:
    """Whether quads with their corners at these places, (f, 4, 2) int, are cells of a grid that turn alike."""
    sides = np.roll(corners, -1, axis=1) - corners
    turned = np.stack([sides[..., 1], -sides[..., 0]], axis=-1)
    return bool((np.abs(sides).sum(axis=2) == 1).all() and (np.roll(sides, -1, axis=1) == turned).all())


def coarser(grid: np.ndarray, count: int) -> np.ndarray:
    """Some rows and columns of a grid, with its border, at equal steps, so that about `count` vertices are left."""
    step = (grid.size / count) ** 0.5
    picked = [np.unique(np.rint(np.linspace(0, n - 1, max(round(n / step), 2))).astype(int)) for n in grid.shape]
    return grid[np.ix_(*picked)]
