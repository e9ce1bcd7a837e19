"""Small meshes to test with: `from meshes import grid, icosphere`.

Pytest puts this folder on the path because it holds no `__init__.py`; it works in tests/blender too.
"""

from __future__ import annotations

import numpy as np


def grid(rx: int, ry: int, width: float, height: float) -> tuple[np.ndarray, list[list[int]]]:
    """A sheet in the plane z = 0, centred, facing up (+z).

    Args:
        rx: Quads along x.
        ry: Quads along y.
        width: Size along x [m].
        height: Size along y [m].

    Returns:
        Vertices ((rx + 1) * (ry + 1), 3) float64 [m], row by row from the lower left; quads, each a list of
        four vertex ids. Vertex (column i, row j) is `j * (rx + 1) + i`: the last rx + 1 are the upper edge.
    """
    x, y = np.meshgrid(np.linspace(-width / 2, width / 2, rx + 1), np.linspace(-height / 2, height / 2, ry + 1))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
    corner = (np.arange(ry)[:, None] * (rx + 1) + np.arange(rx)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + rx + 2, corner + rx + 1])
    return vertices, quads.tolist()


def icosphere(subdivisions: int, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """A closed ball of nearly equal triangles, facing out.

    Args:
        subdivisions: How often each triangle of the icosahedron is cut in four.
        radius: Distance of each vertex from the origin [m].

    Returns:
        Vertices (10 * 4**subdivisions + 2, 3) float64 [m]; triangles (20 * 4**subdivisions, 3) int32.
    """
    golden = (1 + np.sqrt(5)) / 2
    short, long = np.array([-1.0, 1.0, -1.0, 1.0]), np.array([golden, golden, -golden, -golden])
    flat = np.zeros(4)
    vertices = np.concatenate(
        [np.column_stack(axes) for axes in ((short, long, flat), (flat, short, long), (long, flat, short))]
    )
    triangles = np.array([
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11],
        [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8],
        [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8], [3, 8, 9],
        [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ])  # fmt: skip
    for _ in range(subdivisions):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        unique, inverse = np.unique(edges, axis=0, return_inverse=True)
        middle = len(vertices) + inverse.reshape(-1, 3)
        vertices = np.concatenate([vertices, vertices[unique].mean(axis=1)])
        a, b, c = triangles.T
        ab, bc, ca = middle.T
        triangles = np.concatenate([
            np.column_stack(cut) for cut in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        ])  # fmt: skip
        vertices /= np.linalg.norm(vertices, axis=1)[:, None]
    vertices *= radius / np.linalg.norm(vertices, axis=1)[:, None]
    return vertices, triangles.astype(np.int32)
