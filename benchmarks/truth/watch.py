"""Play a scene of contact and watch it: crossings, strain, speed and CPU time of every frame."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pbd_addon import Body, Collider, Material, Plane, Simulation

from ..contact_measures import crossing_pairs, edges_of
from .check import Check

DT = 1.0 / 24.0
CLOTH = Material(bend=1e-5)

Move = Callable[[Simulation, int], None]


class Scene(NamedTuple):
    """Something to play.

    Attributes:
        bodies, colliders: Of the simulation.
        move: move(simulation, frame) says where pins and colliders go in each frame, from 1 on; or None.
        frames: How many.
        options: Further ones of `Simulation`.
    """

    bodies: list[Body]
    colliders: list[Collider | Plane]
    move: Move | None
    frames: int
    options: Mapping[str, Any] = MappingProxyType({})

    def play(self, kernels: str, automatic: bool = False, say: Callable[[str], None] | None = None,
             patience: float = math.inf) -> tuple[Simulation, Watched]:  # fmt: skip
        """Play it, see `watch`."""
        return watch(
            self.bodies, self.colliders, self.move, self.frames, kernels, automatic, say, patience, **self.options
        )


@dataclasses.dataclass
class Watched:
    """What was seen of a scene in each frame.

    Attributes:
        crossings: Of cloth with itself and other cloth; hits: of cloth with colliders.
        strain: Largest |strain| of an edge; mean: of all edges.
        speed: Of the fastest vertex; rms: of all vertices [m/s].
        cpu: CPU time [s].
        counts: Whole numbers of the frame's report, by name.
    """

    crossings: list[int] = dataclasses.field(default_factory=list)
    hits: list[int] = dataclasses.field(default_factory=list)
    strain: list[float] = dataclasses.field(default_factory=list)
    mean: list[float] = dataclasses.field(default_factory=list)
    speed: list[float] = dataclasses.field(default_factory=list)
    rms: list[float] = dataclasses.field(default_factory=list)
    counts: list[dict[str, int]] = dataclasses.field(default_factory=list)
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
    say: Callable[[str], None] | None = None,
    patience: float = math.inf,
    **options: Any,
) -> tuple[Simulation, Watched]:
    """Play a scene; move(simulation, frame) says where pins and colliders go in each frame, from 1 on.

    say: is told each frame in a line; patience: wall time after which no further frame begins [s]; options: further
    ones of `Simulation`.
    """
    simulation = Simulation(bodies, colliders, kernels=kernels, automatic=automatic, **options)
    seen, began = Watched(), time.perf_counter()
    meshes = [each for each in colliders if isinstance(each, Collider)]
    starts = np.cumsum([0, *(len(each.vertices) for each in (*bodies, *meshes))])
    faces = [each.mesh.triangles + start for each, start in zip((*bodies, *meshes), starts)]
    of_cloth = starts[len(bodies)]
    count = Crossings(np.concatenate(faces), of_cloth)
    for frame in range(1, frames + 1):
        if time.perf_counter() - began > patience:
            break
        if move is not None:
            move(simulation, frame)
        start = time.process_time()
        report = simulation.step(DT)
        seen.cpu.append(time.process_time() - start)
        x = [simulation.positions(body) for body in bodies]
        solid = [vertices.T for vertices in simulation._state.memory["obstacles"]["colliders"]]
        inner, outer = count(np.concatenate([*x, *solid]))
        seen.crossings.append(inner)
        seen.hits.append(outer)
        strains = np.abs(np.concatenate([body.edge_strain(each)[~body.is_seam] for body, each in zip(bodies, x)]))
        seen.strain.append(float(strains.max()))
        seen.mean.append(float(strains.mean()))
        speeds = np.concatenate([np.linalg.norm(simulation.velocities(body), axis=1) for body in bodies])
        seen.speed.append(float(speeds.max()))
        seen.rms.append(float(np.sqrt((speeds**2).mean())))
        seen.counts.append({name: int(value) for name, value in vars(report).items() if isinstance(value, int)})
        if say is not None:
            say(_line(frame, seen))
    return simulation, seen


def _line(frame: int, seen: Watched) -> str:
    """The last frame in a line."""
    counts = ", ".join(f"{name} {value}" for name, value in seen.counts[-1].items() if value)
    return (
        f"{frame:4d} {1e3 * seen.cpu[-1]:8.0f} ms; crossings {seen.crossings[-1]} cloth, {seen.hits[-1]} collider; "
        f"strain {100.0 * seen.mean[-1]:.2f} / {100.0 * seen.strain[-1]:.0f} %; speed {seen.rms[-1]:.2f} / "
        f"{seen.speed[-1]:.2f} m/s; {counts}"
    )


class Crossings:
    """Counts crossings of cloth with cloth and with colliders, exactly.

    Args:
        triangles: Of cloth and colliders, (t, 3) int.
        of_cloth: How many vertices are of cloth, the first ones.
    """

    def __init__(self, triangles: np.ndarray, of_cloth: int) -> None:
        self.triangles, self.edges, self.of_cloth = triangles, edges_of(triangles), of_cloth

    def __call__(self, x: np.ndarray) -> tuple[int, int]:
        """Edges through faces at positions x (n, 3) [m]: of cloth with cloth, and of cloth with colliders."""
        cloth = x[: self.of_cloth]
        low, high = cloth.min(axis=0), cloth.max(axis=0)
        triangles, edges = (  # what is not near any cloth crosses none
            rows[((x[rows].max(axis=1) >= low) & (x[rows].min(axis=1) <= high)).all(axis=1)]
            for rows in (self.triangles, self.edges)
        )
        faces_of_cloth, edges_of_cloth = (rows[:, 0] < self.of_cloth for rows in (triangles, edges))
        _, face = crossing_pairs(x, triangles, edges[edges_of_cloth]).T
        inner = int(faces_of_cloth[face].sum())
        others = crossing_pairs(x, triangles[faces_of_cloth], edges[~edges_of_cloth])
        return inner, len(face) - inner + len(others)


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
