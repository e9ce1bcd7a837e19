"""The crossing guard on single pairs."""

from __future__ import annotations

import numpy as np
import pytest

from pbd_addon.contact.candidates import Candidates
from pbd_addon.contact.crossing_guard import RigidGroups, guard_crossings
from pbd_addon.kernels import FACE, numpy as kernels


@pytest.mark.parametrize("meets_wall", [False, True])
def test_what_was_proven_apart_does_not_count_as_crossed(meets_wall):
    """A vertex flies from beside a level triangle to above it, and a wall behind that stops it.

    Seen along the shortest way from triangle to vertex at the start, it is behind the triangle at the end; seen from
    above it never was. Where the wall clamps it, the pair with the triangle is tested again.
    """
    x = np.array(
        [[0.5, -0.3, 0.1], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0.3, -1], [1, 0.3, -1], [0.5, 0.3, 1]], float
    ).T
    p = x.copy()
    p[1, 0] = 0.35
    rows = Candidates(
        np.array([[0, 1, 2, 3], [0, 4, 5, 6]]).T,
        np.repeat([[1.0, -1 / 3, -1 / 3, -1 / 3]], 2, axis=0).T,
        np.array([[0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]).T,
        np.full(2, 0.01),
        np.full(2, FACE, np.int8),
        np.zeros(2, int),
        np.zeros(2, bool),
    ).take(np.arange(1 + meets_wall))
    w = np.zeros(7)
    w[0] = 1.0
    still = RigidGroups(np.zeros(7, int), np.zeros((1, 3, 3)))
    found = guard_crossings(kernels, p, x, rows, np.arange(rows.size), w, still, np.zeros(7, bool))
    assert not len(found)
    assert (p[1, 0] < 0.3) == meets_wall
