"""Our solver on the curtain, and on balloons."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from pbd_addon import PRESETS, Body, Material, Plane, Simulation, SolverSettings
from tests.meshes import icosphere

from . import cost
from .curtain import FRAME_RATE, FRAMES, REST, WARM_UP, Curtain
from .stage import Stage

FABRIC = "Cotton"
DEFAULT_SUBSTEPS = SolverSettings().substeps
LABELS = {"numpy": "NumPy", "numba": "Numba"}
"""Backends as people write them."""

INFLATED = Material(pressure_mode="VOLUME", pressure=1.2)
RADIUS = 0.5
"""Of the balloons [m]."""


class Ours:
    """Our solver with cotton and, but for what is said here, default settings.

    Args:
        curtain: What it simulates.
        substeps: Of a frame.
        kernels: Backend.
        self_collision: Whether the curtain meets itself, as it does by default.

    A step also hands the positions to a mesh in Blender and lets Blender update its scene: the modifier that we are
    compared with pays for that too.
    """

    solver = "ours"

    def __init__(self, curtain: Curtain, substeps: int, kernels: str = "numpy", self_collision: bool = True) -> None:
        words = [f"{substeps} substeps", LABELS[kernels], *([] if self_collision else ["no self-collision"])]
        default = (substeps, kernels, self_collision) == (DEFAULT_SUBSTEPS, "numpy", True)
        self.setting = ", ".join(words) + (" (default)" if default else "")
        self.stage = Stage(f"Ours, {self.setting}", curtain.vertices, curtain.quads)
        start = time.process_time()
        self.body = Body(curtain.vertices, curtain.quads, material=PRESETS[FABRIC], pins=curtain.pins, name="Curtain")
        self.simulation = Simulation([self.body], substeps=substeps, kernels=kernels, self_collision=self_collision)
        self.setup = time.process_time() - start

    def step(self, frame: int) -> None:
        self.simulation.step(1.0 / FRAME_RATE)
        self.stage.write(self.simulation.positions(self.body))
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.simulation.positions(self.body)

    def close(self) -> None:
        """Remove its scene."""
        self.stage.close()


@dataclasses.dataclass(frozen=True)
class BalloonResult:
    """What a balloon on a floor costs.

    Attributes:
        vertices, triangles: Their numbers.
        cpu, wall: Time of a frame, median [s].
        volume_cpu: CPU time of a frame that is the volume's [s].
        setup: CPU time until the first step [s].
        volume: Enclosed volume at the end over the volume at rest.
    """

    vertices: int
    triangles: int
    cpu: float
    wall: float
    volume_cpu: float
    setup: float
    volume: float


def balloon(subdivisions: int, frames: int = FRAMES) -> tuple[BalloonResult, Simulation]:
    """Blow a ball on a floor up to 1.2 times its volume."""
    vertices, triangles = icosphere(subdivisions, RADIUS)
    vertices[:, 2] += RADIUS
    start = time.process_time()
    body = Body(vertices, triangles, material=INFLATED, name="Balloon")
    simulation = Simulation([body], colliders=[Plane((0.0, 0.0, 0.0), (0.0, 0.0, 1.0))])
    setup = time.process_time() - start
    cpu, wall = [], []
    for _ in range(frames):
        wall_start, cpu_start = time.perf_counter(), time.process_time()
        simulation.step(1.0 / FRAME_RATE)
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
        time.sleep(REST)
    inflation = body.volume(simulation.positions(body)) / body.volume(vertices)
    parts = cost.of_a_frame(simulation, 1.0 / FRAME_RATE)
    result = BalloonResult(
        len(vertices), len(triangles), float(np.median(cpu[WARM_UP:])), float(np.median(wall[WARM_UP:])),
        parts.get("volume", 0.0), setup, inflation,
    )  # fmt: skip
    return result, simulation


def workbench(curtain: Curtain) -> Simulation:
    """A curtain every vertex of which has a soft pin and a neighbor to keep apart from: kinds the race has not."""
    every = np.arange(len(curtain.vertices))
    body = Body(curtain.vertices, curtain.quads, material=PRESETS[FABRIC], pins=dict.fromkeys(every.tolist(), 0.5))
    simulation = Simulation([body])
    across = curtain.quads[:, [0, 2]]
    simulation.keep_apart(body, across[:, 0], body, across[:, 1], 0.9 / curtain.n)
    for _ in range(3):
        simulation.step(1.0 / FRAME_RATE)
    return simulation
