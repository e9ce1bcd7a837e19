"""Pairs of two borders: equally far along, whatever their numbers of vertices and their directions."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.meshes import grid
from pbd_addon.meshes.seam_pairs import face_each_other, measure_sides, pair_up


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


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [False, True])
def test_a_row_at_one_point(closed, precision):
    """Of no length: each vertex gets a seam, and none a place that is no number, also in the 32 bits of Blender."""
    one, other = np.ones((5, 3), precision), line(np.linspace(0.0, 1.0, 6), 1.0).astype(precision)
    pairs = pair_up(one, other, closed)
    assert sorted(set(pairs[:, 0])) == [0, 1, 2, 3, 4]
    assert len(set(pairs[:, 1])) == 5
    for places, count in zip(face_each_other(one, other, pairs, closed), (5, 6)):
        assert np.abs(places - np.arange(count)).max() <= 0.5


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


def sheet(columns, rows, width, height):
    """A grid and the numbers of its vertices, (rows + 1, columns + 1)."""
    flat, quads = grid(columns, rows, width, height)
    triangles = [corners for a, b, c, d in quads for corners in ([a, b, c], [a, c, d])]
    return flat, np.array(triangles), np.arange(len(flat)).reshape(rows + 1, columns + 1)


def test_each_seam_of_a_garment_is_measured_alone():
    """A shoulder goes on as an armhole at the vertex that is in both; the sleeve is sewn to itself, turned around."""
    x, triangles, ids = sheet(6, 6, 0.6, 0.6)
    count = len(x)
    front, back, sleeve = ids, ids + count, ids + 2 * count
    shoulder = np.column_stack([front[-1, 3:], back[-1, 3:]])
    armhole = np.column_stack([front[:, -1], sleeve[0]])
    under = np.column_stack([sleeve[:, 0], sleeve[:, -1]])
    all_x = np.concatenate([x, 2.0 * x, 1.5 * x])
    all_triangles = np.concatenate([triangles, triangles + count, triangles + 2 * count])
    under[::2] = under[::2, ::-1]
    seams = measure_sides(all_x, np.concatenate([shoulder, armhole, under]), all_triangles)
    assert [seam.pairs.tolist() for seam in seams] == [list(range(4)), list(range(4, 11)), list(range(11, 18))]
    np.testing.assert_allclose([sorted(seam.lengths) for seam in seams], [[0.3, 0.6], [0.6, 0.9], [0.9, 0.9]])


def test_sides_of_a_coarse_and_a_fine_border_are_equally_long():
    """Though vertices of the fine one stay free."""
    x, triangles, ids = sheet(2, 4, 1.0, 1.0)
    fine, others, fine_ids = sheet(2, 9, 1.0, 1.0)
    one, other = ids[:, 0], fine_ids[:, 0]
    pairs = pair_up(x[one], fine[other], False)
    joined = np.column_stack([one[pairs[:, 0]], other[pairs[:, 1]] + len(x)])
    (seam,) = measure_sides(np.concatenate([x, fine]), joined, np.concatenate([triangles, others + len(x)]))
    np.testing.assert_allclose(seam.lengths, 1.0)


def test_no_pairs_are_no_seams():
    x, triangles, _ = sheet(2, 2, 1.0, 1.0)
    assert measure_sides(x, np.zeros((0, 2), int), triangles) == []


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("finer", [0, 5])
def test_what_is_sewn_is_made_equally_far_along(turned, finer):
    """Uneven rows: no vertex slides by more than half an edge, none passes another, and ends stay."""
    rng = np.random.default_rng(3)
    one, other = (
        line(np.concatenate([[0.0], np.arange(1, n) / n + rng.uniform(-0.3, 0.3, n - 1) / n, [1.0]]), y)
        for n, y in ((12, 0.0), (12 + finer, 1.0))
    )
    other = other[:: -1 if turned else 1]
    pairs = pair_up(one, other, False)
    before = np.abs(one[pairs[:, 0], 0] - other[pairs[:, 1], 0]).max()
    places = face_each_other(one, other, pairs, False)
    moved = [np.interp(place, np.arange(len(row)), row[:, 0]) for place, row in zip(places, (one, other))]
    for place, row, x in zip(places, (one, other), moved):
        assert np.abs(place - np.arange(len(row))).max() <= 0.5
        assert (place[0], place[-1]) == (0.0, len(row) - 1)
        assert (np.diff(x) * (1 if row is one or not turned else -1) > 0.0).all()
    after = np.abs(moved[0][pairs[:, 0]] - moved[1][pairs[:, 1]]).max()
    assert before > 0.02
    assert after < (1e-3 if not finer else 0.5 * before)


def test_even_borders_stay_and_so_do_corners():
    """Two rims of squares, one of which has its corners farther along, and rows of equal edges, to the last bit."""
    row = line(np.linspace(0.0, 1.0, 8))
    for other in (row, row[::-1], line(np.linspace(0.0, 1.0, 15))):
        places = face_each_other(row, other, pair_up(row, other, False), False)
        assert [place.tolist() for place in places] == [list(range(8)), list(range(len(other)))]
    turn = np.arange(8) * np.pi / 4.0
    square = (
        np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn]) * np.where(np.arange(8) % 2, 1.0, 0.5**0.5)[:, None]
    )
    uneven = square.copy()
    uneven[2::4] += 0.15 * (square[1::4] - square[2::4])
    for border in (square, np.roll(square[::-1], 3, axis=0)):
        pairs = pair_up(border, uneven, True)
        here, there = face_each_other(border, uneven, pairs, True)
        corners = np.flatnonzero(np.linalg.norm(border, axis=1) > 0.9)
        np.testing.assert_array_equal(here[corners], corners)
        np.testing.assert_array_equal(there[1::2], [1, 3, 5, 7])
        assert np.abs(there - np.arange(8)).max() > 0.05
