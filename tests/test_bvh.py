"""Hierarchies find the boxes that overlap: all of them, once each, and no others but those a millionth apart."""

from __future__ import annotations

import numpy as np
import pytest

from pbd_addon.contact import bvh
from pbd_addon.contact.bvh import BVH, FittedBVH, median_split_order
from pbd_addon.kernels.numpy.bvh import CHUNK

Corners = tuple[np.ndarray, np.ndarray]


def random_boxes(rng: np.random.Generator, count: int, size: float) -> Corners:
    """Lower and upper corners of boxes in the unit cube whose sides are up to `size` long, (count, 3) [m] each."""
    low = rng.uniform(0.0, 1.0, (count, 3))
    return low, low + rng.uniform(0.0, size, (count, 3))


def uneven_boxes(rng: np.random.Generator, count: int, size: float) -> Corners:
    """Mostly specks, some slabs across everything, one of them all of space, many at the same place."""
    low, high = random_boxes(rng, count, 0.05 * size)
    slabs = rng.random(count) < 0.05
    axis = rng.integers(0, 3, count)
    low[slabs, axis[slabs]], high[slabs, axis[slabs]] = -5.0, 5.0
    low[0], high[0] = -100.0, 100.0
    low[count // 2 :: 2], high[count // 2 :: 2] = [0.4, 0.5, 0.6], [0.41, 0.5, 0.6]
    return low, high


def fitted(boxes: Corners, members: np.ndarray | None = None, centers: np.ndarray | None = None) -> FittedBVH:
    """A tree fitted to boxes; it is made for the places `centers` of the items, by default those of the boxes."""
    low, high = boxes
    tree = BVH.of_points(0.5 * (low + high) if centers is None else centers)
    return tree.refit(np.concatenate([low.T, -high.T]), members)


def brute_force(one: Corners, other: Corners, gap: float = 0.0) -> set[tuple[int, int]]:
    """Pairs of boxes that overlap or touch, by comparing each with each; also those that are up to `gap` apart [m]."""
    (low, high), (other_low, other_high) = one, other
    meet = (low[:, None] <= other_high[None] + gap).all(axis=2) & (other_low[None] <= high[:, None] + gap).all(axis=2)
    return {(int(i), int(j)) for i, j in zip(*np.nonzero(meet))}


def nearly(one: Corners, other: Corners) -> set[tuple[int, int]]:
    """Pairs of boxes that overlap or are up to four millionths of the whole space apart: those that may be found."""
    low, high = np.concatenate([one[0], other[0]]).min(axis=0), np.concatenate([one[1], other[1]]).max(axis=0)
    return brute_force(one, other, 4e-6 * float((high - low).max()))


def found(one: FittedBVH, other: FittedBVH) -> set[tuple[int, int]]:
    """The pairs that a walk finds; none may come twice, nor an item with itself."""
    first, second = one.query_pairs(other)
    if one is other:
        assert (first != second).all()
        first, second = np.minimum(first, second), np.maximum(first, second)
    pairs = list(zip(first.tolist(), second.tolist()))
    assert len(set(pairs)) == len(pairs)
    return set(pairs)


COUNTS = [1, 2, 3, 7, 64, 65, 300]


@pytest.mark.parametrize("make", [random_boxes, uneven_boxes])
@pytest.mark.parametrize("count", COUNTS)
def test_a_tree_with_itself_finds_each_pair_once(make, count):
    """All pairs i < j that overlap, as many as comparing each with each finds."""
    boxes = make(np.random.default_rng(count), count, 0.3)
    expected = {(i, j) for i, j in brute_force(boxes, boxes) if i < j}
    tree = fitted(boxes)
    assert expected <= found(tree, tree) <= nearly(boxes, boxes)
    assert len(expected) > 0 or count < 64


@pytest.mark.parametrize("make", [random_boxes, uneven_boxes])
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("other_count", [1, 5, 130])
def test_two_trees_of_any_sizes(make, count, other_count):
    """Trees need not be of one depth; the first number is that of the first tree's item."""
    rng = np.random.default_rng(1000 * count + other_count)
    one, other = make(rng, count, 0.4), random_boxes(rng, other_count, 0.4)
    expected = brute_force(one, other)
    assert expected <= found(fitted(one), fitted(other)) <= nearly(one, other)
    assert {(j, i) for i, j in expected} <= found(fitted(other), fitted(one)) <= nearly(other, one)


def test_boxes_that_touch_overlap():
    """A common side, edge or corner is enough; a gap of a hundred thousandth of the space is not."""
    low = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]])
    touching = fitted((low, low + 1.0))
    assert found(touching, touching) == {(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)}
    low[:, 0] = [0.0, 1.0 + 1e-4, 5.0, 7.0]
    apart = fitted((low, low + np.array([1.0, 5.0, 5.0])))
    assert found(apart, apart) == set()


def test_points_are_boxes_too():
    """Boxes without extent at one place all overlap."""
    points = np.tile([0.3, -2.0, 7.0], (9, 1))
    tree = fitted((points, points))
    assert len(found(tree, tree)) == 36


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_only_members_take_part(share):
    """What is no member overlaps nothing, in either tree."""
    rng = np.random.default_rng(3)
    one, other = random_boxes(rng, 200, 0.3), random_boxes(rng, 90, 0.3)
    members, other_members = rng.random(200) < share, rng.random(90) < share
    tree = fitted(one, members)
    alone = {(i, j) for i, j in brute_force(one, one) if i < j and members[i] and members[j]}
    assert alone <= found(tree, tree) <= {(i, j) for i, j in nearly(one, one) if members[i] and members[j]}
    both = {(i, j) for i, j in brute_force(one, other) if members[i] and other_members[j]}
    among = {(i, j) for i, j in nearly(one, other) if members[i] and other_members[j]}
    assert both <= found(tree, fitted(other, other_members)) <= among
    assert bool(both) == bool(alone) == (share > 0.0)


@pytest.mark.parametrize("block", [2, 8, 128, 4096])
def test_blocks_have_all_pairs_once(block, monkeypatch):
    """Whether pairs are looked for block by block or a tree is fitted so, of one tree or two."""
    monkeypatch.setattr(bvh, "BLOCK", block)
    rng = np.random.default_rng(5)
    boxes, others = random_boxes(rng, 150, 0.3), random_boxes(rng, 90, 0.3)
    tree, other = fitted(boxes), fitted(others)
    topology = BVH(tree.leaves)
    parts = list(topology.refit_in_blocks(np.concatenate([boxes[0].T, -boxes[1].T]), tree.kernels))
    with_itself, either = tree.query_in_blocks(tree), tree.query_in_blocks(other)
    assert len(parts) == max(len(tree.leaves) // block, 1)
    assert sorted_pairs(*with_itself, unordered=True) == sorted_pairs(tree.query_pairs(tree), unordered=True)
    assert sorted_pairs(*either) == sorted_pairs(tree.query_pairs(other))
    assert sorted_pairs(*(part.query_pairs(other) for part in parts)) == sorted_pairs(tree.query_pairs(other))


def sorted_pairs(*found: tuple[np.ndarray, np.ndarray], unordered: bool = False) -> list[list[int]]:
    pairs = np.concatenate(found, axis=1)
    return sorted((np.sort(pairs, axis=0) if unordered else pairs).T.tolist())


def test_a_tree_of_nothing():
    """No items, no pairs: with itself, and with others."""
    nothing = fitted((np.zeros((0, 3)), np.zeros((0, 3))))
    some = fitted(random_boxes(np.random.default_rng(0), 20, 0.9))
    assert found(nothing, nothing) == found(nothing, some) == found(some, nothing) == set()
    first, second = nothing.query_pairs(some)
    assert first.dtype.kind == second.dtype.kind == "i"


def test_infinite_boxes():
    """Boxes without a place, whose corners are infinite and the wrong way round, overlap nothing, not even each other;
    huge ones overlap everything."""
    rng = np.random.default_rng(5)
    low, high = random_boxes(rng, 60, 0.3)
    lost = rng.random(60) < 0.3
    low[lost], high[lost] = np.inf, -np.inf
    tree = fitted((low, high), centers=rng.random((60, 3)))
    expected = {(i, j) for i, j in brute_force((low, high), (low, high)) if i < j}
    assert expected and not any(lost[i] or lost[j] for i, j in expected)
    assert found(tree, tree) == expected
    huge = np.full((1, 3), -1e300), np.full((1, 3), 1e300)
    assert found(fitted(huge), tree) == {(0, i) for i in np.flatnonzero(~lost).tolist()}
    nowhere = fitted((np.full((5, 3), np.inf), np.full((5, 3), -np.inf)), centers=rng.random((5, 3)))
    assert found(nowhere, nowhere) == found(nowhere, tree) == found(tree, nowhere) == set()


def test_the_tree_need_not_fit_the_boxes():
    """Items that are far from where the tree was made for are found as well, only more slowly."""
    rng = np.random.default_rng(6)
    boxes = random_boxes(rng, 300, 0.3)
    tree = fitted(boxes, centers=rng.normal(size=(300, 3)))
    assert found(tree, tree) == {(i, j) for i, j in brute_force(boxes, boxes) if i < j}


def test_a_tree_can_be_fitted_again():
    """The boxes of one moment stay as they were when the tree is fitted to those of another."""
    rng = np.random.default_rng(7)
    one, other = random_boxes(rng, 100, 0.3), random_boxes(rng, 100, 0.3)
    tree = BVH.of_points(one[0])
    first, second = (tree.refit(np.concatenate([low.T, -high.T])) for low, high in (one, other))
    assert found(first, first) == {(i, j) for i, j in brute_force(one, one) if i < j}
    assert found(first, second) == brute_force(one, other)


def test_more_pairs_than_a_chunk():
    """Where everything overlaps everything, the walk goes on in parts and loses none."""
    count = 200
    assert count * (count - 1) // 2 > 2 * CHUNK
    boxes = np.zeros((count, 3)), np.ones((count, 3))
    tree, other = fitted(boxes, centers=np.random.default_rng(8).random((count, 3))), fitted((boxes[0], boxes[1]))
    assert len(found(tree, tree)) == count * (count - 1) // 2
    assert len(found(tree, other)) == count**2


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8, 100, 1000])
def test_every_item_has_one_leaf(count):
    """A perfect tree, with as few levels as hold all items, and no item left out, also of points in one place."""
    for points in (np.random.default_rng(count).random((count, 3)), np.zeros((count, 3))):
        leaves = median_split_order(points)
        assert len(leaves) == 2 ** max(0, int(np.ceil(np.log2(max(count, 1)))))
        np.testing.assert_array_equal(np.sort(leaves[leaves >= 0]), np.arange(count))


def test_neighbours_in_space_are_neighbours_in_the_tree():
    """Along a line, the leaves follow the line, whichever way it runs in space."""
    along = np.random.default_rng(9).permutation(64)
    leaves = median_split_order(np.outer(along, [0.1, -0.7, 0.2]))
    steps = np.diff(along[leaves])
    assert (steps == 1).all() or (steps == -1).all()
