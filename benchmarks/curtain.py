"""The curtain: a sheet that hangs by two corners, and how a solver does on it.

A square of 1 m, n × n vertices, starts level and at rest; two neighboring corners are held. It falls, swings and
stretches most at the corners. There is nothing to touch, so that only the cloth itself is measured.
"""

from __future__ import annotations

import dataclasses
import gc
import math
import os
import time
from typing import Protocol

import numpy as np

from tests.helpers.meshes import grid, jittered_sheet

FRAME_RATE = 24
"""Frames of a second."""

FRAMES = 50
"""Frames that are simulated."""

WARM_UP = 5
"""First frames that the medians leave out: the sheet has hardly begun to fall."""

TAIL = 10
"""Last frames over which strain is averaged, because the curtain still swings."""

REST = 0.005
"""Pause after each step [s]. Blender's idle threads look for work for a millisecond before they sleep, and that
must not count for what is measured next."""


@dataclasses.dataclass(frozen=True)
class Curtain:
    """The sheet.

    Attributes:
        n: Vertices along each side.
        vertices: (n * n, 3) float64 [m].
        faces: Quads (f, 4), or triangles (f, 3) of an unstructured mesh, int.
        edges: Sides of the faces, each once, (e, 2) int.
        rest_lengths: (e,) [m].
        pins: The two vertices that are held.
    """

    n: int
    vertices: np.ndarray
    faces: np.ndarray
    edges: np.ndarray
    rest_lengths: np.ndarray
    pins: tuple[int, int]

    @staticmethod
    def of_size(n: int, unstructured: bool = False) -> Curtain:
        """A curtain of n × n vertices: a grid of quads, or a Delaunay mesh of shaken points."""
        if unstructured:
            vertices, faces = jittered_sheet(n)
        else:
            vertices, quads = grid(n - 1, n - 1, 1.0, 1.0)
            faces = np.array(quads)
        corners = range(faces.shape[1])
        sides = np.concatenate([faces[:, [corner, corner - 1]] for corner in corners])
        edges = np.unique(np.sort(sides, axis=1), axis=0)
        rest_lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
        return Curtain(n, vertices, faces, edges, rest_lengths, (n * (n - 1), n * n - 1))

    @property
    def triangles(self) -> np.ndarray:
        """The faces, quads cut along diagonals that alternate like a chessboard, (t, 3) int64."""
        if self.faces.shape[1] == 3:
            return self.faces
        a, b, c, d = self.faces.T
        side = np.arange(self.n - 1)
        odd = (side[:, None] + side).ravel() % 2 == 1
        first = np.where(odd, np.stack([a, b, c]), np.stack([a, b, d]))
        second = np.where(odd, np.stack([a, c, d]), np.stack([b, c, d]))
        return np.stack([first, second], axis=2).transpose(1, 2, 0).reshape(-1, 3)

    @property
    def shares(self) -> np.ndarray:
        """Share of the sheet's mass that each vertex has: a third of that of its triangles, (n * n,), sum 1."""
        corners = self.vertices[self.triangles]
        areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        shares = np.bincount(self.triangles.ravel(), np.repeat(areas, 3), len(self.vertices))
        return np.asarray(shares / shares.sum())

    def strain(self, x: np.ndarray) -> np.ndarray:
        """|length / rest length - 1| of every edge at positions x (n * n, 3), (e,)."""
        lengths = np.linalg.norm(x[self.edges[:, 0]] - x[self.edges[:, 1]], axis=1)
        return np.asarray(np.abs(lengths / self.rest_lengths - 1.0))


class Solver(Protocol):
    """A solver with a curtain of its own.

    Attributes:
        setup: CPU time of building it [s].
    """

    setup: float

    def step(self, frame: int) -> None:
        """Go on to this frame: 1, 2, 3, ... Raises ArithmeticError if the cloth explodes."""

    def positions(self) -> np.ndarray:
        """Where the vertices are now, (n * n, 3) float64 [m]."""


@dataclasses.dataclass(frozen=True)
class Result:
    """How a solver did on a curtain; NaN of what is not known.

    Attributes:
        scene: Name of the curtain.
        n: Vertices along each side.
        solver, setting: Who it was.
        frames: How many frames it simulated.
        cpu, wall: Time of a frame, median [s].
        main: CPU time of the main thread alone, median [s].
        load: Processes that wanted the machine in the last minute of the run.
        setup: CPU time that is paid once: building, and what the first frame takes above the median [s].
        strain_mean, strain_p95, strain_max: Over the edges, averaged over the last frames [1].
        strain_worst: The largest mean over the edges in any frame [1].
        lowest: The lowest that any vertex came [m].
        down: Frame in which the mean height first turned upwards: the end of the first swing.
        slip: How far a held corner was from its place in the worst frame [m].
        runs: How often it was run; figures are medians over these.
        spread: Largest minus smallest CPU time of the runs, over their median [1].
        trouble: What went wrong, or "".
    """

    scene: str
    n: int
    solver: str
    setting: str
    frames: int = 0
    cpu: float = math.nan
    wall: float = math.nan
    main: float = math.nan
    load: float = math.nan
    setup: float = math.nan
    strain_mean: float = math.nan
    strain_p95: float = math.nan
    strain_max: float = math.nan
    strain_worst: float = math.nan
    lowest: float = math.nan
    down: float = math.nan
    slip: float = math.nan
    runs: int = 0
    spread: float = math.nan
    trouble: str = ""


def measure(curtain: Curtain, solver: Solver, frames: int, patience: float) -> dict[str, object]:
    """Let a solver simulate a curtain.

    Args:
        curtain: What it hangs.
        solver: Who does.
        frames: How many.
        patience: Wall time after which it is stopped [s].

    Returns:
        Fields of `Result`, by name.
    """
    cpu: list[float] = []
    wall: list[float] = []
    main: list[float] = []
    shapes: list[tuple[float, ...]] = []
    trouble, shares, held = "", curtain.shares, list(curtain.pins)
    gc.collect()
    for frame in range(1, frames + 1):
        wall_start, cpu_start, main_start = time.perf_counter(), time.process_time(), time.thread_time()
        try:
            solver.step(frame)
        except ArithmeticError as error:
            trouble = f"frame {frame}: {error}"
            break
        main.append(time.thread_time() - main_start)
        cpu.append(time.process_time() - cpu_start)
        wall.append(time.perf_counter() - wall_start)
        x = solver.positions()
        strain = curtain.strain(x)
        height = (shares * x[:, 2]).sum()  # a product of matrices would leave threads that spin through the next step
        slip = np.linalg.norm(x[held] - curtain.vertices[held], axis=1).max()
        shapes.append((strain.mean(), np.percentile(strain, 95.0), strain.max(), x[:, 2].min(), slip, height))
        if sum(wall) > patience and frame < frames:
            trouble = f"stopped after {frame} of {frames} frames, {sum(wall):.0f} s"
            break
        time.sleep(REST)
    told = {"frames": len(cpu), "trouble": trouble, "load": os.getloadavg()[0]}
    return {**told, **_summary(solver, cpu, wall, main, np.array(shapes))}


def _summary(
    solver: Solver, cpu: list[float], wall: list[float], main: list[float], shapes: np.ndarray
) -> dict[str, object]:
    """Sum a run up; shapes (frames, 6): mean, p95, maximum strain, lowest vertex, slip, mean height."""
    if not cpu:
        return {"setup": solver.setup}
    warm = WARM_UP if len(cpu) > WARM_UP else 0
    median = float(np.median(cpu[warm:]))
    mean, p95, largest = shapes[-TAIL:, :3].mean(axis=0).tolist()
    height = shapes[:, 5]
    rising = np.flatnonzero(np.diff(height) > 0.0)
    return {
        "cpu": median, "wall": float(np.median(wall[warm:])), "main": float(np.median(main[warm:])),
        "setup": solver.setup + max(cpu[0] - median, 0.0),
        "strain_mean": mean, "strain_p95": p95, "strain_max": largest, "strain_worst": float(shapes[:, 0].max()),
        "lowest": float(shapes[:, 3].min()), "slip": float(shapes[:, 4].max()),
        "down": float(rising[0] + 1) if len(rising) else math.nan,
    }  # fmt: skip
