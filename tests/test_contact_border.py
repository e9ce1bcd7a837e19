"""Cloth that was cut: its pieces start with a common border and go their own ways."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.crossings import crossing_pairs
from helpers.meshes import grid
from pbd_addon import Body, Simulation

DT = 1 / 24


@pytest.mark.parametrize("kernels", ["numpy", "numba"])
@pytest.mark.newest
def test_a_piece_that_is_cut_off_falls_from_the_pinned_one(kernels):
    """A level sheet of which a corner was separated: it falls as it does alone, and what is pinned swings down."""
    if kernels == "numba":
        pytest.importorskip("numba")
    n = 10
    vertices, quads = grid(n, n, 1.0, 1.0)
    quads = np.array(quads)
    is_free = (np.arange(n * n) % n < 6) & (np.arange(n * n) // n < 6)

    def piece(faces: np.ndarray) -> Body:
        used, ids = np.unique(faces, return_inverse=True)
        return Body(vertices[used], ids.reshape(-1, 4), pins=np.flatnonzero(vertices[used, 1] > 0.49))

    def heights(*bodies: Body) -> list[np.ndarray]:
        simulation = Simulation(bodies, kernels=kernels)
        for _ in range(16):
            simulation.step(DT)
        both = np.concatenate([simulation.positions(body) for body in bodies])
        start = np.cumsum([0, *(len(body.vertices) for body in bodies)])
        triangles = np.concatenate([body.mesh.triangles + first for body, first in zip(bodies, start)])
        assert not len(crossing_pairs(both, triangles))
        return [simulation.positions(body)[:, 2] for body in bodies]

    alone = heights(piece(quads[~is_free]))[0], heights(piece(quads[is_free]))[0]
    for beside, other in zip(heights(piece(quads[~is_free]), piece(quads[is_free])), alone):
        assert beside.mean() == pytest.approx(other.mean(), rel=0.1)  # borders that brush each other drag a little
