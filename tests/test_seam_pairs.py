"""Pairs of two borders: equally far along, whatever their numbers of vertices and their directions."""

from __future__ import annotations

import numpy as np
import pytest

from pbd_addon.seam_pairs import pair_up


def line(places, y=0.0):
    return np.column_stack([places, np.full(len(places), y), np.zeros(len(places))])


@pytest.mark.parametrize("way", [1, -1])
def test_equal_rows_are_paired_straight_across(way):
    """In whatever direction the other row runs; mirrored, it is crossed over."""
    one, other = line([0.0, 1.0, 3.0, 4.0]), line([0.0, 1.0, 3.0, 4.0], 2.0)[::way]
    pairs = pair_up(one, other, False)
    np.testing.assert_array_equal(one[pairs[:, 0], 0], other[pairs[:, 1], 0])
    crossed = pair_up(one, other, False, mirrored=True)
    np.testing.assert_array_equal(one[crossed[:, 0], 0], 4.0 - other[crossed[:, 1], 0])


def test_a_finer_row_leaves_vertices_out():
    """Each vertex of the coarser one goes to the one that is equally far, none is taken twice, ends meet ends."""
    one, other = line(np.linspace(0.0, 1.0, 5)), line(np.linspace(0.0, 1.0, 9), 1.0)
    np.testing.assert_array_equal(pair_up(one, other, False), np.column_stack([np.arange(5), np.arange(0, 9, 2)]))
    np.testing.assert_array_equal(pair_up(other, one, False), np.column_stack([np.arange(0, 9, 2), np.arange(5)]))
    crowded = line([0.0, 0.01, 0.02, 0.03, 1.0])
    pairs = pair_up(crowded, line(np.linspace(0.0, 1.0, 6), 1.0), False)
    np.testing.assert_array_equal(pairs[:, 1], [0, 1, 2, 3, 5])


@pytest.mark.parametrize("count", [12, 17])
@pytest.mark.parametrize("shift", [0, 5])
def test_loops_begin_where_they_are_near(count, shift):
    """No seam is longer than the distance of the loops and half an edge."""
    turn = 2.0 * np.pi * np.arange(12) / 12
    finer = 2.0 * np.pi * np.roll(np.arange(count), shift)[::-1] / count
    one, other = (np.column_stack([np.cos(a), np.sin(a), z]) for a, z in ((turn, 0 * turn), (finer, 0 * finer + 0.5)))
    pairs = pair_up(one, other, True)
    gaps = np.linalg.norm(one[pairs[:, 0]] - other[pairs[:, 1]], axis=1)
    assert len(np.unique(pairs[:, 1])) == 12
    assert gaps.max() < np.hypot(0.5, np.pi / 12)
