"""Play a scene of contact and watch it: crossings, strain, speed and CPU time of every frame."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator

import numpy as np

from pbd_addon import Body, Collider, Material, Plane, Simulation

from ..contact_measures import crossing_pairs
from .check import Check

DT = 1.0 / 24.0
NO_BAR = float("inf")
"""Of a figure that is only told."""

CLOTH = Material(bend=1e-5)

Move = Callable[[Simulation, int], None]


@dataclasses.dataclass
class Watched:
    """What was seen of a scene in each frame.

    Attributes:
        crossings: Of cloth with itself and other cloth; hits: of cloth with colliders.
        strain: Largest |strain| of an edge; mean: of all edges.
        speed: Of the fastest vertex [m/s].
        cpu: CPU time [s].
    """

    crossings: list[int] = dataclasses.field(default_factory=list)
    hits: list[int] = dataclasses.field(default_factory=list)
    strain: list[float] = dataclasses.field(default_factory=list)
    mean: list[float] = dataclasses.field(default_factory=list)
    speed: list[float] = dataclasses.field(default_factory=list)
    cpu: list[float] = dataclasses.field(default_factory=list)

    def checks(self, case: str, most: float, last: float) -> Iterator[Check]:
        """No crossing, and strain within the bars `most` in every frame and `last` in the last one [%]."""
        yield Check(case, "crossings of cloth, worst frame", float(max(self.crossings)), 0.0)
        yield Check(case, "crossings with colliders, worst frame", float(max(self.hits)), 0.0)
        yield Check(case, "largest strain, worst frame [%]", 100.0 * max(self.strain), most)
        yield Check(case, "largest strain, last frame [%]", 100.0 * self.strain[-1], last)
        yield Check(case, "CPU time, worst frame beside the first ones", max(self.cpu) / np.median(self.cpu[1:4]), 10.0)


def watch(
    bodies: list[Body],
    colliders: list[Collider | Plane],
    move: Move | None,
    frames: int,
    kernels: str,
    automatic: bool,
) -> tuple[Simulation, Watched]:
    """Play a scene; move(simulation, frame) says where pins and colliders go in each frame, from 1 on."""
    simulation, seen = Simulation(bodies, colliders, kernels=kernels, automatic=automatic), Watched()
    parts, start = [], 0
    meshes = [each for each in colliders if isinstance(each, Collider)]
    for each in (*bodies, *meshes):
        parts.append(each.mesh.triangles + start)
        start += len(each.vertices)
    triangles, of_cloth = np.concatenate(parts), sum(len(body.vertices) for body in bodies)
    for frame in range(1, frames + 1):
        if move is not None:
            move(simulation, frame)
        began = time.process_time()
        simulation.step(DT)
        seen.cpu.append(time.process_time() - began)
        x = [simulation.positions(body) for body in bodies]
        solid = [vertices.T for vertices in simulation._state.colliders]
        inner, outer = count_crossings(np.concatenate([*x, *solid]), triangles, of_cloth)
        seen.crossings.append(inner)
        seen.hits.append(outer)
        strains = np.abs(np.concatenate([body.edge_strain(each) for body, each in zip(bodies, x)]))
        seen.strain.append(float(strains.max()))
        seen.mean.append(float(strains.mean()))
        speeds = [np.linalg.norm(simulation.velocities(body), axis=1).max() for body in bodies]
        seen.speed.append(float(max(speeds)))
    return simulation, seen


def count_crossings(x: np.ndarray, triangles: np.ndarray, of_cloth: int) -> tuple[int, int]:
    """Crossings of cloth with cloth, and of cloth with colliders, whose vertices come after the first `of_cloth`."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = np.unique(np.sort(sides, axis=1), axis=0)
    edge, face = crossing_pairs(x, triangles, edges).T
    one, other = edges[edge, 0] < of_cloth, triangles[face, 0] < of_cloth
    return int((one & other).sum()), int((one != other).sum())


def sheet(n: int, size: float) -> tuple[np.ndarray, np.ndarray]:
    """A square of n x n vertices in the plane z = 0 around the origin, row after row: vertices and quads."""
    line = np.linspace(-0.5 * size, 0.5 * size, n)
    x, y = (axis.ravel() for axis in np.meshgrid(line, line))
    corner = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    return np.column_stack([x, y, 0.0 * x]), np.column_stack([corner, corner + 1, corner + n + 1, corner + n])


def hung(n: int, size: float) -> Body:
    """A curtain of n x n vertices in the plane y = 0 that is pinned along its upper edge."""
    vertices, quads = sheet(n, size)
    return Body(vertices[:, [0, 2, 1]], quads.tolist(), CLOTH, pins=range(n * (n - 1), n * n))


def box(low: tuple[float, ...], high: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A box of twelve triangles that face out."""
    corners = np.array(
        [[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for k in (0, 1) for j in (0, 1) for i in (0, 1)]
    )
    quads = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
    return corners, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def tube(radius: Callable[[np.ndarray], np.ndarray], heights: np.ndarray, around: int = 32) -> tuple[np.ndarray, list]:
    """An open tube about the z axis with a radius at each height, from the top down: vertices and quads."""
    angle, z = np.meshgrid(np.arange(around) * math.tau / around, heights)
    r = radius(z)
    vertices = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1).reshape(-1, 3)
    ids = np.arange(len(vertices)).reshape(len(heights), around)
    there = np.roll(ids, -1, axis=1)
    faces = np.stack([ids[:-1], ids[1:], there[1:], there[:-1]], axis=-1).reshape(-1, 4)
    return vertices, faces.tolist()
