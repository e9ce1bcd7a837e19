"""The curtain: a sheet that hangs by two corners, and a race of solvers over it.

A square of 1 m, n × n vertices, starts level and at rest; two neighboring corners are held. It falls, swings and
stretches most at the corners. There is nothing to touch, so that only the cloth itself is measured.
"""

from __future__ import annotations

import dataclasses
import gc
import math
import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tests.meshes import grid

FRAME_RATE = 24
"""Frames of a second."""

FRAMES = 50
"""Frames that are simulated."""

WARM_UP = 5
"""First frames that the medians leave out: the sheet has hardly begun to fall."""

TAIL = 10
"""Last frames over which strain is averaged, because the curtain still swings."""

REST = 0.02
"""Pause after each step [s]. Blender's idle threads look for work for a millisecond before they sleep, and that
must not count for whoever is next."""


@dataclasses.dataclass(frozen=True)
class Curtain:
    """The sheet.

    Attributes:
        n: Vertices along each side.
        vertices: (n * n, 3) float64 [m].
        quads: (f, 4) int.
        edges: Sides of the quads, each once, (e, 2) int.
        rest_lengths: (e,) [m].
        pins: The two vertices that are held.
    """

    n: int
    vertices: np.ndarray
    quads: np.ndarray
    edges: np.ndarray
    rest_lengths: np.ndarray
    pins: tuple[int, int]

    @staticmethod
    def of_size(n: int) -> Curtain:
        """A curtain of n × n vertices."""
        vertices, faces = grid(n - 1, n - 1, 1.0, 1.0)
        quads = np.array(faces)
        sides = np.concatenate([quads[:, [0, 1]], quads[:, [1, 2]], quads[:, [2, 3]], quads[:, [3, 0]]])
        edges = np.unique(np.sort(sides, axis=1), axis=0)
        rest_lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        return Curtain(n, vertices, quads, edges, rest_lengths, (n * (n - 1), n * n - 1))

    def strain(self, x: np.ndarray) -> np.ndarray:
        """|length / rest length - 1| of every edge at positions x (n * n, 3), (e,)."""
        lengths = np.linalg.norm(x[self.edges[:, 0]] - x[self.edges[:, 1]], axis=1)
        return np.asarray(np.abs(lengths / self.rest_lengths - 1.0))


class Contestant(Protocol):
    """A solver with a curtain of its own.

    Attributes:
        solver: Whose it is; one curve of the picture.
        setting: What distinguishes it from others of this solver.
        setup: CPU time until the first step [s], NaN where it cannot be told from the first step's.
    """

    solver: str
    setting: str
    setup: float

    def step(self, frame: int) -> None:
        """Go on to this frame: 1, 2, 3, ... Raises ArithmeticError if the cloth explodes."""

    def positions(self) -> np.ndarray:
        """Where the vertices are now, (n * n, 3) float64 [m]."""


@dataclasses.dataclass(frozen=True)
class Result:
    """How a contestant did.

    Attributes:
        solver, setting: Of the contestant.
        n: Vertices along each side.
        cpu, wall: Time of a frame, median [s]; NaN if the cloth exploded.
        setup: CPU time until the first step [s], or NaN.
        strain_mean, strain_p95, strain_max: Over the edges, averaged over the last frames [1].
        strain_worst: The largest mean over the edges in any frame [1].
        lowest: The lowest that any vertex came [m].
        down: Frame in which the mean height first turned upwards: the end of the first swing.
        trouble: What went wrong, or "".
    """

    solver: str
    setting: str
    n: int
    cpu: float
    wall: float
    setup: float
    strain_mean: float
    strain_p95: float
    strain_max: float
    strain_worst: float
    lowest: float
    down: float
    trouble: str = ""


def race(curtain: Curtain, contestants: Sequence[Contestant], frames: int = FRAMES) -> list[Result]:
    """Let the contestants take turns, a frame each, so that a busy minute of the machine is everyone's."""
    cpu: list[list[float]] = [[] for _ in contestants]
    wall: list[list[float]] = [[] for _ in contestants]
    shapes: list[list[tuple[float, ...]]] = [[] for _ in contestants]
    troubles = [""] * len(contestants)
    gc.collect()
    for frame in range(1, frames + 1):
        for number, contestant in enumerate(contestants):
            if troubles[number]:
                continue
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            try:
                contestant.step(frame)
            except ArithmeticError as error:
                troubles[number] = f"frame {frame}: {error}"
                continue
            cpu[number].append(time.process_time() - cpu_start)
            wall[number].append(time.perf_counter() - wall_start)
            x = contestant.positions()
            strain, height = curtain.strain(x), x[:, 2]
            shapes[number].append(
                (strain.mean(), np.percentile(strain, 95.0), strain.max(), height.min(), height.mean())
            )
            time.sleep(REST)
    return [
        _result(contestant, curtain.n, cpu[number], wall[number], np.array(shapes[number]), troubles[number])
        for number, contestant in enumerate(contestants)
    ]


def _result(
    contestant: Contestant,
    n: int,
    cpu: list[float],
    wall: list[float],
    shapes: np.ndarray,
    trouble: str,
) -> Result:
    """Sum a contestant up; shapes (frames, 5): mean, 95th percentile and maximum strain, lowest and mean height."""
    who = (contestant.solver, contestant.setting, n)
    if trouble:
        return Result(*who, math.nan, math.nan, contestant.setup, *[math.nan] * 6, trouble=trouble)
    cpu_time, wall_time = (float(np.median(seconds[WARM_UP:])) for seconds in (cpu, wall))
    mean, p95, largest = shapes[-TAIL:, :3].mean(axis=0).tolist()
    worst, lowest = float(shapes[:, 0].max()), float(shapes[:, 3].min())
    rising = np.flatnonzero(np.diff(shapes[:, 4]) > 0.0)
    down = float(rising[0] + 1) if len(rising) else math.nan
    if not lowest < -0.5:  # false for NaN too
        trouble = "does not fall"
    return Result(*who, cpu_time, wall_time, contestant.setup, mean, p95, largest, worst, lowest, down, trouble=trouble)
