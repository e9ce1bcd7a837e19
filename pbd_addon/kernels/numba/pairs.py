"""Pairs of primitives that can meet, compiled by Numba, one by one."""

from __future__ import annotations

import numpy as np

from .. import FACE
from ..protocol.pairs import Bounds, Primitives
from .closest import clip, closest_of, height_of
from .compile import helper, kernel


@helper
def _fit_cell(
    cell: int,
    leaves: np.ndarray,
    primitives: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    boxes: np.ndarray,
    around: np.ndarray,
) -> None:
    """Boxes around the primitives of a cell, and around all of them, unless they are there; NaN says that not."""
    if not np.isnan(around[cell, 0]):
        return
    around[cell] = np.inf
    for slot in range(leaves.shape[1]):
        if leaves[cell, slot] < 0:
            break
        i = np.uint64(leaves[cell, slot])
        for axis in range(3):
            particle = np.uint64(primitives[0, i])
            lowest, highest = low[axis, particle], high[axis, particle]
            for corner in range(1, len(primitives)):
                particle = np.uint64(primitives[corner, i])
                lowest, highest = min(lowest, low[axis, particle]), max(highest, high[axis, particle])
            boxes[i, axis], boxes[i, 3 + axis] = lowest, -highest
            around[cell, axis], around[cell, 3 + axis] = (
                min(around[cell, axis], lowest),
                min(around[cell, 3 + axis], -highest),
            )


@helper
def _around(boxes: np.ndarray, i: int, distance: float) -> tuple[float, float, float, float, float, float]:
    """A box with a distance added on every side."""
    x, y, z = boxes[i, 0] - distance, boxes[i, 1] - distance, boxes[i, 2] - distance
    return x, y, z, boxes[i, 3] - distance, boxes[i, 4] - distance, boxes[i, 5] - distance


@helper
def _overlap(box: tuple[float, float, float, float, float, float], boxes: np.ndarray, i: int) -> bool:
    """Whether a box overlaps one of others."""
    return (
        (box[0] <= -boxes[i, 3])
        & (box[1] <= -boxes[i, 4])
        & (box[2] <= -boxes[i, 5])
        & (boxes[i, 0] <= -box[3])
        & (boxes[i, 1] <= -box[4])
        & (boxes[i, 2] <= -box[5])
    )


@helper
def _can_meet(
    gap: float,
    normal: tuple[float, float, float],
    kind: int,
    a: int,
    b: int,
    c: int,
    d: int,
    margin: np.ndarray,
    displacement: np.ndarray,
    drift: np.ndarray,
    together: bool,
) -> bool:
    """Whether the bounds allow two sides to close a gap."""
    first_margin, second_margin = margin[a], max(margin[c], margin[d])
    down, up = (
        height_of(displacement, normal, a),
        max(height_of(displacement, normal, c), height_of(displacement, normal, d)),
    )
    if kind == FACE:
        second_margin, up = max(second_margin, margin[b]), max(up, height_of(displacement, normal, b))
    else:
        first_margin, down = max(first_margin, margin[b]), min(down, height_of(displacement, normal, b))
    if together:
        closer = max(up - down, 0.0)
    else:
        closer = max(up, 0.0) + max(-down, 0.0)
        closer += (drift[a] + drift[d]) * (abs(normal[0]) + abs(normal[1]) + abs(normal[2]))
    return gap <= first_margin + second_margin + closer


@helper
def _overlapping(
    box: tuple[float, float, float, float, float, float], many: int, low: np.ndarray, high: np.ndarray, hits: np.ndarray
) -> int:
    """Write to `hits` which of the first boxes, corners low and high (3, m), a box overlaps, in order; how many do.

    No test is left out, and their corners lie side by side: of 30 handkerchiefs in a pile, a quarter of those that are
    tested overlap, and pairs of edges take 8 to 14 % less time than where each test ends as soon as it can.
    """
    flags = hits[1]
    for k in range(many):
        flags[k] = (
            (box[0] <= high[0, k])
            & (box[1] <= high[1, k])
            & (box[2] <= high[2, k])
            & (low[0, k] <= -box[3])
            & (low[1, k] <= -box[4])
            & (low[2, k] <= -box[5])
        )
    count = 0
    for k in range(many):
        hits[0, count] = k
        count += flags[k]
    return count


@helper
def _share(cosine: float, flat: float, sharp: float, flat_share: float) -> float:
    """Share of the distance that an edge keeps."""
    return flat_share + (1.0 - flat_share) * clip((flat - cosine) / max(flat - sharp, 1e-300))


@helper
def _grown(array: np.ndarray) -> np.ndarray:
    more = np.empty((len(array), 2 * array.shape[1]), array.dtype)
    more[:, : array.shape[1]] = array
    return more


@kernel(
    "Tuple((i8[:,::1], f8[:,::1], f8[:,::1], f8[::1]))"
    "(f8[:,::1], f8[:,::1], f8[:,::1], i8[:,:], i4[:,:], i4[:,:], f8[:], i4[:,:], i4[:,:], f8[:], i8, i8[:],"
    "f8[:,:,::1], f8, f8[:], f8[:,:], f8[:], b1, b1[:], b1)"
)
def _close_pairs(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    cells: np.ndarray,
    leaves: np.ndarray,
    primitives: np.ndarray,
    cosines: np.ndarray,
    other_leaves: np.ndarray,
    other_primitives: np.ndarray,
    other_cosines: np.ndarray,
    kind: int,
    owner: np.ndarray,
    tables: np.ndarray,
    flat_share: float,
    margin: np.ndarray,
    displacement: np.ndarray,
    drift: np.ndarray,
    together: bool,
    is_late: np.ndarray,
    once: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    # Memory that is never written costs nothing.
    boxes, other_boxes = np.empty((primitives.shape[1], 6)), np.empty((other_primitives.shape[1], 6))
    around, other_around = np.full((len(leaves), 6), np.nan), np.full((len(other_leaves), 6), np.nan)
    room, count = max(256, 8 * cells.shape[1]), 0
    ids, values = np.empty((4, room), np.int64), np.empty((8, room))
    some, hits = np.empty(other_leaves.shape[1], np.int64), np.empty((2, other_leaves.shape[1]), np.int64)
    near_low, near_high = np.empty((2, 3, other_leaves.shape[1]))
    last, other_last = len(primitives) - 1, len(other_primitives) - 1
    for k in range(cells.shape[1]):
        cell, other_cell = np.uint64(cells[0, k]), np.uint64(cells[1, k])
        if leaves[cell, 0] < 0 or other_leaves[other_cell, 0] < 0:
            continue
        _fit_cell(cell, leaves, primitives, low, high, boxes, around)
        _fit_cell(other_cell, other_leaves, other_primitives, low, high, other_boxes, other_around)
        one = owner[primitives[0, leaves[cell, 0]]]
        other = owner[other_primitives[0, other_leaves[other_cell, 0]]]
        one, other = min(one, other), max(one, other)
        distance, reach, flat, sharp = (
            tables[0, one, other], tables[1, one, other], tables[2, one, other], tables[3, one, other]
        )  # fmt: skip
        box, many = _around(around, cell, reach), 0
        if not _overlap(box, other_around, other_cell):
            continue
        for slot in range(other_leaves.shape[1]):
            if other_leaves[other_cell, slot] < 0:
                break
            j = np.uint64(other_leaves[other_cell, slot])
            some[many] = slot
            for axis in range(3):
                near_low[axis, many], near_high[axis, many] = other_boxes[j, axis], -other_boxes[j, 3 + axis]
            many += _overlap(box, other_boxes, j)
        box = _around(other_around, other_cell, reach)
        for slot in range(leaves.shape[1]):
            if leaves[cell, slot] < 0:
                break
            i = np.uint64(leaves[cell, slot])
            if not _overlap(box, boxes, i):
                continue
            of_one = _share(cosines[i], flat, sharp, flat_share) if len(cosines) else 1.0
            own_box = _around(boxes, i, of_one * reach)
            a, b = np.uint64(primitives[0, i]), np.uint64(primitives[last, i])
            for hit in range(_overlapping(own_box, many, near_low, near_high, hits)):
                which = some[hits[0, hit]]
                if once and cell == other_cell and which <= slot:
                    continue
                j = np.uint64(other_leaves[other_cell, which])
                share = of_one
                if len(other_cosines):
                    share = min(share, _share(other_cosines[j], flat, sharp, flat_share))
                    if share < of_one and not _overlap(_around(boxes, i, share * reach), other_boxes, j):
                        continue
                c, d = np.uint64(other_primitives[0, j]), np.uint64(other_primitives[other_last, j])
                if kind == FACE:
                    b, c = np.uint64(other_primitives[0, j]), np.uint64(other_primitives[1, j])
                if a in (c, d) or (a == b if kind == FACE else b in (c, d)):
                    continue
                if len(is_late) and not (is_late[a] or is_late[b] or is_late[c] or is_late[d]):
                    continue
                weights, gap, normal = closest_of(x, kind, a, b, c, d)
                kept = share * distance
                if not _can_meet(gap - kept, normal, kind, a, b, c, d, margin, displacement, drift, together):
                    continue
                if count == ids.shape[1]:
                    ids, values = _grown(ids), _grown(values)
                ids[0, count], ids[1, count], ids[2, count], ids[3, count] = a, b, c, d
                values[0, count], values[1, count], values[2, count], values[3, count] = weights
                values[4, count], values[5, count], values[6, count] = normal
                values[7, count] = kept
                count += 1
    return ids[:, :count].copy(), values[:4, :count].copy(), values[4:7, :count].copy(), values[7, :count].copy()


def close_pairs(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    cells: np.ndarray,
    one: Primitives,
    other: Primitives,
    kind: int,
    owner: np.ndarray,
    tables: np.ndarray,
    flat_share: float,
    bounds: Bounds,
    is_late: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    once = kind != FACE and one.leaves is other.leaves
    found: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] = _close_pairs(
        x, low, high, cells, *one, *other, kind, owner, tables, flat_share, bounds.margin, bounds.displacement,
        bounds.drift, bounds.together, is_late, once,
    )  # fmt: skip
    return found


@helper
def _volume(p: np.ndarray, a: int, b: int, c: int, d: int) -> float:
    """Six times the signed volume of a tetrahedron."""
    ux, uy, uz = p[0, b] - p[0, a], p[1, b] - p[1, a], p[2, b] - p[2, a]
    vx, vy, vz = p[0, c] - p[0, a], p[1, c] - p[1, a], p[2, c] - p[2, a]
    wx, wy, wz = p[0, d] - p[0, a], p[1, d] - p[1, a], p[2, d] - p[2, a]
    return ux * (vy * wz - vz * wy) + uy * (vz * wx - vx * wz) + uz * (vx * wy - vy * wx)


@kernel("i8[::1](f8[:,::1], i4[:,:], i4[:,:], i8[:], i8[:], f8)")
def crossing(
    x: np.ndarray, edges: np.ndarray, triangles: np.ndarray, edge: np.ndarray, triangle: np.ndarray, rounding: float
) -> np.ndarray:
    found, count = np.empty(len(edge), np.int64), 0
    for k in range(len(edge)):
        i, j = np.uint64(edge[k]), np.uint64(triangle[k])
        p, q = np.uint64(edges[0, i]), np.uint64(edges[1, i])
        a, b, c = np.uint64(triangles[0, j]), np.uint64(triangles[1, j]), np.uint64(triangles[2, j])
        if p in (a, b, c) or q in (a, b, c):
            continue
        size, far = 0.0, 0.0
        for axis in range(3):
            size += abs(x[axis, q] - x[axis, p]) + abs(x[axis, b] - x[axis, a]) + abs(x[axis, c] - x[axis, a])
            far = max(far, abs(x[axis, p]))
        least = rounding * size * size * (size + far)
        one, other = _volume(x, p, a, b, c), -_volume(x, q, a, b, c)
        if not (min(one, other) > least or max(one, other) < -least):
            continue
        first, second, third = _volume(x, p, q, a, b), _volume(x, p, q, b, c), _volume(x, p, q, c, a)
        if min(min(first, second), third) > least or max(max(first, second), third) < -least:
            found[count] = k
            count += 1
    return found[:count].copy()
