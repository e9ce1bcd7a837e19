"""How a solver does in a scene of contact: time, depth, crossings, strain, volume."""

from __future__ import annotations

import dataclasses
import gc
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .contact_scenes import ContactScene
from .curtain import REST, TAIL, Solver

PATIENCE = 60.0
"""Wall time after which a solver is stopped in a scene [s]."""

FAR = 100.0
"""Nothing gets this far in any scene unless it explodes [m]."""


@dataclasses.dataclass(frozen=True)
class Times:
    """Time of a frame over all frames [s]."""

    mean: float
    median: float
    p95: float

    @staticmethod
    def of(seconds: Sequence[float]) -> Times:
        """Summed up; NaN if there are none."""
        if not seconds:
            return Times(math.nan, math.nan, math.nan)
        return Times(float(np.mean(seconds)), float(np.median(seconds)), float(np.percentile(seconds, 95.0)))


NO_TIMES = Times.of([])


@dataclasses.dataclass(frozen=True)
class ContactResult:
    """How a solver did in a scene.

    Attributes:
        scene: Name of the scene.
        solver, setting: Who it was.
        frames: How many it simulated.
        cpu, wall: Time of a frame.
        main: CPU time of the main thread alone.
        load: Processes that wanted the machine in the last minute of the run.
        setup: CPU time until the first step [s], or NaN.
        depth: How far the deepest point was inside the obstacle in the worst frame [m]; below 0, the least gap.
        gap: How far the nearest point was from the obstacle in the last frame [m]; below 0, the depth.
        crossings: Pairs of an edge and a face that it goes through, in the worst frame.
        crossings_end: In the last frame.
        crossed: Frames with any.
        strain_mean, strain_p95, strain_max: Over the edges, averaged over the last frames [1].
        strain_worst: The largest strain of any edge in any frame [1].
        volume, volume_worst: Enclosed volume over that at rest in the last frame, and farthest from 1; NaN of a sheet.
        height: Mean height of the vertices in the last frame [m].
        runs, spread: How often it was run, and by how much the CPU time differed, over its median [1].
        trouble: What went wrong, or "".
    """

    scene: str
    solver: str
    setting: str
    frames: int = 0
    cpu: Times = NO_TIMES
    wall: Times = NO_TIMES
    main: Times = NO_TIMES
    load: float = math.nan
    setup: float = math.nan
    depth: float = math.nan
    gap: float = math.nan
    crossings: int = -1
    crossings_end: int = -1
    crossed: int = -1
    strain_mean: float = math.nan
    strain_p95: float = math.nan
    strain_max: float = math.nan
    strain_worst: float = math.nan
    volume: float = math.nan
    volume_worst: float = math.nan
    height: float = math.nan
    runs: int = 0
    spread: float = math.nan
    trouble: str = ""

    @staticmethod
    def of(scene: str, solver: str, setting: str, fields: Mapping[str, Any]) -> ContactResult:
        """What `measure` returned, as a result."""
        times = {name: Times(**fields[name]) for name in ("cpu", "wall", "main") if name in fields}
        return ContactResult(scene, solver, setting, **{**fields, **times})


def measure(scene: ContactScene, solver: Solver, patience: float = PATIENCE) -> dict[str, object]:
    """Let a solver simulate a scene; one that is too slow or explodes stops early.

    Returns:
        Fields of `ContactResult`, by name.
    """
    cpu: list[float] = []
    wall: list[float] = []
    main: list[float] = []
    seen: list[tuple[float, ...]] = []
    trouble = ""
    gc.collect()
    for frame in range(1, scene.frames + 1):
        time.sleep(REST)
        wall_start, cpu_start, main_start = time.perf_counter(), time.process_time(), time.thread_time()
        try:
            solver.step(frame)
            now = time.process_time(), time.perf_counter(), time.thread_time()
            x = solver.positions()
            if not np.abs(x).max() < FAR:  # true for NaN too
                raise ArithmeticError(f"exploded: a vertex is more than {FAR:g} m away")
            seen.append(look(scene, x))
        except ArithmeticError as error:
            trouble = f"frame {frame}: {error}"
            break
        cpu.append(now[0] - cpu_start)
        wall.append(now[1] - wall_start)
        main.append(now[2] - main_start)
        if sum(wall) > patience and frame < scene.frames:
            trouble = f"stopped after {frame} of {scene.frames} frames, {patience:.0f} s"
            break
    spent = {"cpu": cpu, "wall": wall, "main": main}
    times = {name: dataclasses.asdict(Times.of(each)) for name, each in spent.items()}
    fields = {"frames": len(cpu), "setup": solver.setup, "trouble": trouble, "load": os.getloadavg()[0], **times}
    return {**fields, **(_quality(scene, np.array(seen)) if seen else {})}


def look(scene: ContactScene, x: np.ndarray) -> tuple[float, ...]:
    """Depth, crossings, mean, 95th percentile and maximum of strain, volume, mean height at positions x (n, 3)."""
    strain = scene.strain(x)
    volume = scene.volume(x) if scene.inflated else math.nan
    return (
        scene.depth(x), scene.crossings(x), float(strain.mean()), float(np.percentile(strain, 95.0)),
        float(strain.max()), volume, float(x[:, 2].mean()),
    )  # fmt: skip


def _quality(scene: ContactScene, seen: np.ndarray) -> dict[str, object]:
    """Sum a run up; seen (frames, 7) as `look` tells it."""
    depth, crossings, volume = seen[:, 0], seen[:, 1].astype(int), seen[:, 5]
    mean, p95, largest = seen[-TAIL:, 2:5].mean(axis=0).tolist()
    farthest = float(volume[np.argmax(np.abs(volume - 1.0))]) if scene.inflated else math.nan
    return {
        "depth": float(depth.max()), "gap": float(-depth[-1]), "crossings": int(crossings.max()),
        "crossings_end": int(crossings[-1]), "crossed": int((crossings > 0).sum()), "strain_mean": mean,
        "strain_p95": p95, "strain_max": largest, "strain_worst": float(seen[:, 4].max()),
        "volume": float(volume[-1]), "volume_worst": farthest, "height": float(seen[-1, 6]),
    }  # fmt: skip
