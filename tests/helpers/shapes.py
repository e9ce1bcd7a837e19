"""Closed surfaces to blow up, not made to be easy: `from helpers.shapes import animal, lumpy, uv_sphere`.

Like `meshes`, it works in tests/blender and for benchmarks too.
"""

from __future__ import annotations

import numpy as np

from .meshes import flip_to_delaunay

ANIMAL = (
    (".x...x..", ".xxxxx..", "........", "........"),
    ("........", "xxxxxx..", ".....x..", ".....xxx"),
    (".x...x..", ".xxxxx..", "........", "........"),
)
"""A beast that looks along x, in cells: slices along y, each of rows upwards."""


def uv_sphere(around: int, rings: int, radius: float) -> tuple[np.ndarray, list[list[int]]]:
    """A ball of quads with triangles at its poles, as Blender makes it; facing out."""
    down, turn = np.meshgrid(np.pi * np.arange(1, rings) / rings, 2.0 * np.pi * np.arange(around) / around)
    middle = np.stack([np.sin(down) * np.cos(turn), np.sin(down) * np.sin(turn), np.cos(down)], axis=-1)
    vertices = np.concatenate([[[0.0, 0.0, 1.0]], middle.swapaxes(0, 1).reshape(-1, 3), [[0.0, 0.0, -1.0]]])
    faces: list[list[int]] = []
    for k in range(around):
        after = (k + 1) % around
        faces += [[1 + j * around + k, 1 + (j + 1) * around + k, 1 + (j + 1) * around + after, 1 + j * around + after]
                  for j in range(rings - 2)]  # fmt: skip
        last = 1 + (rings - 2) * around
        faces += [[0, 1 + k, 1 + after], [len(vertices) - 1, last + after, last + k]]
    return radius * vertices, faces


def lumpy(vertices: np.ndarray, height: float, seed: int = 0) -> np.ndarray:
    """A ball with hills and dales of about `height` radii, from the vertices (n, 3) of one around the origin."""
    random = np.random.default_rng(seed)
    waves = random.normal(size=(6, 3))
    waves *= 3.0 / np.linalg.norm(waves, axis=1)[:, None]
    rays = vertices / np.linalg.norm(vertices, axis=1)[:, None]
    hills = np.sin(rays @ waves.T + random.uniform(0.0, 2.0 * np.pi, 6)).mean(axis=1)
    return np.asarray(vertices * (1.0 + height * np.sqrt(1.5) * hills)[:, None])


def animal(cuts: int, length: float) -> tuple[np.ndarray, list[list[int]]]:
    """A beast of quads with four legs, a neck, a head and a tail, of a length [m]; facing out.

    Args:
        cuts: Into how many quads each side of a cell is cut along each of its edges.
        length: Along x [m].
    """
    cells = np.array([[[cell == "x" for cell in row] for row in part] for part in ANIMAL]).transpose(2, 0, 1)
    full = np.pad(np.repeat(np.repeat(np.repeat(cells, cuts, 0), cuts, 1), cuts, 2), 1)
    corners = []
    for axis in range(3):
        square = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]])
        square = np.roll(square, axis, axis=1)
        for way in (1, -1):
            outside = np.roll(full, -way, axis=axis)
            place = np.argwhere(full & ~outside)[:, None] + square[::way]
            place[:, :, axis] += way > 0
            corners.append(place)
    points, numbers = np.unique(np.concatenate(corners).reshape(-1, 3), axis=0, return_inverse=True)
    quads = numbers.reshape(-1, 4)
    vertices = points.astype(float)
    ends = np.concatenate([quads, np.roll(quads, -1, axis=1)], axis=0).reshape(2, -1)
    for _ in range(2 * cuts):  # round its edges
        sums = np.stack([np.bincount(ends[0], vertices[ends[1], axis], len(vertices)) for axis in range(3)], axis=1)
        vertices = 0.5 * (vertices + sums / np.bincount(ends[0])[:, None])
    vertices -= vertices.mean(axis=0)
    return vertices * (length / np.ptp(vertices[:, 0])), quads.tolist()


def flat_discs(rings: int, radius: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Two flat discs that lie on each other and are one at the rim, facing out: a foil balloon before it is filled.

    Rings of 6, 12, 18 ... vertices that were shaken, so that no crimp finds a straight line to the center.
    """
    numbers = np.repeat(np.arange(rings + 1), np.maximum(6 * np.arange(rings + 1), 1))
    turns = np.concatenate([np.arange(max(6 * ring, 1)) / max(6 * ring, 1) for ring in range(rings + 1)])
    angles, inner = 2.0 * np.pi * turns, len(turns) - 6 * rings
    disc = (numbers / rings)[:, None] * np.stack([np.cos(angles), np.sin(angles), np.zeros(len(turns))], axis=1)
    disc[:inner, :2] += np.random.default_rng(seed).uniform(-0.25, 0.25, (inner, 2)) / rings
    triangles = []
    for ring in range(1, rings + 1):
        outer, within = 1 + 3 * ring * (ring - 1), 1 + 3 * (ring - 1) * (ring - 2) if ring > 1 else 0
        for side in range(6):
            for step in range(ring):
                one, other = (outer + (side * ring + step + k) % (6 * ring) for k in (0, 1))
                at, after = (within + (side * (ring - 1) + step + k) % max(6 * (ring - 1), 1) for k in (0, 1))
                triangles += [[one, other, at]] if step == ring - 1 else [[one, other, at], [other, after, at]]
    top = flip_to_delaunay(disc, np.array(triangles))
    below = np.concatenate([len(disc) + np.arange(inner), np.arange(inner, len(disc))])
    return radius * np.concatenate([disc, disc[:inner]]), np.concatenate([top, below[top][:, ::-1]])


def tube(around, rings, radius, height=0.5, wave=0.0, waves=2, slope=0.0):
    """An upright tube around the origin, facing out, whose radius rises and falls by `wave` [m] so often around it."""
    turn, z = np.meshgrid(2.0 * np.pi * np.arange(around) / around, np.linspace(-height / 2, height / 2, rings + 1))
    r = radius + wave * np.cos(waves * turn + slope * z)
    vertices = np.stack([r * np.cos(turn), r * np.sin(turn), z], axis=-1).reshape(-1, 3)
    rows, k = np.arange(rings)[:, None] * around, np.arange(around)
    after = (k + 1) % around
    quads = np.stack([rows + k, rows + after, rows + after + around, rows + k + around], axis=-1)
    return vertices, quads.reshape(-1, 4)
