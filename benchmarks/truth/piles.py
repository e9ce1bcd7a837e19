"""Contact of much cloth, and of bad meshes: a scan that crosses itself, ten layers, slivers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Collider, Plane, Simulation

from ..contact_scenes import icosphere
from .check import Check
from .watch import CLOTH, Scene, box, sheet

LAYERS_MS, SLIVERS_MS = 600.0, 100.0
"""CPU time of a frame with Numba where the fold of 64² takes 285 ms."""


def crossing_scan() -> tuple[np.ndarray, np.ndarray]:
    """Two rough balls that go through each other, with fins: edges of three faces. Vertices and triangles."""
    random = np.random.default_rng(3)
    ball, faces = icosphere(3, 0.1)
    rough = [ball * random.normal(1.0, 0.02, (len(ball), 1)) + [side, 0.0, 0.0] for side in (0.0, 0.08)]
    vertices, triangles = np.concatenate(rough), np.concatenate([faces, faces + len(ball)])
    rooted = triangles[:: len(triangles) // 47]
    middle = vertices[rooted[:, :2]].mean(axis=1)
    tips = middle + 0.15 * (middle - vertices.mean(axis=0))
    fins = np.column_stack([rooted[:, 0], rooted[:, 1], len(vertices) + np.arange(len(rooted))])
    return np.concatenate([vertices, tips]), np.concatenate([triangles, fins])


def scan_scene() -> Scene:
    """A scan that crosses itself falls 0.05 m on a box and lies there for two seconds."""
    vertices, triangles = crossing_scan()
    vertices[:, 2] += 0.05 - vertices[:, 2].min()
    floor = Collider(*box((-0.5, -0.5, -0.1), (0.5, 0.5, 0.0)))
    return Scene([Body(vertices, triangles, CLOTH)], [floor], None, 60)


def scan(kernels: str, automatic: bool) -> Iterator[Check]:
    """What becomes of `scan_scene`."""
    scene, lowest = scan_scene(), []
    (body,) = scene.bodies

    def note(simulation: Simulation, frame: int) -> None:
        lowest.append(float(simulation.positions(body)[:, 2].min()))

    seen = scene._replace(move=note).play(kernels, automatic)[1]
    case = "scan that crosses itself"
    yield Check(case, "crossings with the floor, worst frame", float(max(seen.hits)), 0.0)
    yield Check(case, "deepest vertex below the floor [mm]", 1000.0 * max(0.0, -min(lowest)), 0.0)
    yield Check(case, "crossings, last frame beside the first", seen.crossings[-1] / seen.crossings[0], 1.0)
    yield Check(case, "fastest vertex, last second [m/s]", max(seen.speed[-24:]), 0.1)
    yield Check(case, "largest strain, worst frame [%]", 100.0 * max(seen.strain), 30.0)


def layers_scene(n: int = 24) -> Scene:
    """Ten sheets of n x n vertices fall on a box, one after the other."""
    vertices, quads = sheet(n, 0.4)
    random = np.random.default_rng(1)
    bodies = [
        Body(
            vertices + np.array([0.0, 0.0, 0.02 + 0.02 * k]) + random.normal(0.0, 1e-4, vertices.shape),
            quads.tolist(),
            CLOTH,
        )
        for k in range(10)
    ]
    return Scene(bodies, [Collider(*box((-0.12, -0.12, -0.2), (0.12, 0.12, 0.0)))], None, 36)


def layers(kernels: str, automatic: bool) -> Iterator[Check]:
    """What becomes of `layers_scene`."""
    seen = layers_scene().play(kernels, automatic)[1]
    yield from seen.checks("ten layers on a box", 40.0, 5.0)
    yield Check("ten layers on a box", "CPU time of a frame [ms]", 1000.0 * float(np.mean(seen.cpu)), LAYERS_MS)


def slivers_scene(n: int = 101) -> Scene:
    """A sheet of quads of 85 : 1 falls on a ball: 100 of them side by side, in 7 rows."""
    x, y = np.meshgrid(np.linspace(-0.035, 0.035, n), np.linspace(-0.21, 0.21, 8))
    vertices = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 0.18)])
    corner = (np.arange(7)[:, None] * n + np.arange(n - 1)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + n + 1, corner + n])
    ball, faces = icosphere(3, 0.15)
    floor = Plane((0.0, 0.0, -0.15))
    return Scene([Body(vertices, quads.tolist(), CLOTH)], [Collider(ball, faces), floor], None, 24)


def slivers(kernels: str, automatic: bool) -> Iterator[Check]:
    """What becomes of `slivers_scene`."""
    seen = slivers_scene().play(kernels, automatic)[1]
    yield from seen.checks("slivers of 85 : 1 on a ball", 40.0, 10.0)
    yield Check(
        "slivers of 85 : 1 on a ball", "CPU time of a frame [ms]", 1000.0 * float(np.mean(seen.cpu)), SLIVERS_MS
    )
