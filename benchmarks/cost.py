"""Where our time goes: nanoseconds of a constraint, and the parts of a frame."""

from __future__ import annotations

import dataclasses
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import numpy as np

from pbd_addon import Simulation, kernels
from pbd_addon.constraints import Constraints, VolumeConstraints
from pbd_addon.contact import ContactConstraints
from pbd_addon.parts.air import AirOfFrame
from pbd_addon.parts.damping import DampedFrame

PATIENCE = 0.4
"""How long one kind of constraint is measured [s]."""

FEWEST = 20
"""Projections that are measured at least."""

AIR = "air"
REST_OF_A_FRAME = "prediction, velocities, cache and report"


@dataclasses.dataclass(frozen=True)
class KindResult:
    """What one kind of constraint costs.

    Attributes:
        kind: Its name.
        kernels: The backend.
        scene: Where it was measured.
        rows: Number of constraints; of volume, of the triangles that enclose it.
        unit: What a row is.
        seconds: CPU time of projecting one row once, median [s].
    """

    kind: str
    kernels: str
    scene: str
    rows: int
    unit: str
    seconds: float


def of_constraints(simulation: Simulation, scene: str, dt: float) -> list[KindResult]:
    """Project each kind of constraint again and again on the present state, which stays as it is, by each backend."""
    settled = np.concatenate([simulation.positions(body) for body in simulation.bodies]).T.copy()
    h = dt / simulation.settings.substeps
    modules = {name: kernels.load(name) for name in kernels.available()}
    return [
        _measure(constraints, name, module, settled, scene, h)
        for constraints in simulation.constraints
        if not isinstance(constraints, ContactConstraints)  # it works within a frame alone, and has a page of its own
        for name, module in modules.items()
    ]


def first_of_each(results: Sequence[KindResult]) -> list[KindResult]:
    """One result for each kind and backend, from the scene that came first."""
    found: dict[tuple[str, str], KindResult] = {}
    for result in results:
        found.setdefault((result.kind, result.kernels), result)
    return list(found.values())


def _measure(constraints: Constraints, name: str, module: Any, settled: np.ndarray, scene: str, h: float) -> KindResult:
    rows, unit = _rows(constraints, settled)
    seconds = []
    constraints.lay_out(module)
    deadline = time.perf_counter() + PATIENCE
    while len(seconds) < FEWEST or time.perf_counter() < deadline:
        # Every projection starts from the same error, or all but the first would find nothing to do.
        w = constraints.inverse_masses
        p = settled.copy() if w is None else module.pack(settled, w)
        constraints.begin_substep(h, 1.0)
        start = time.process_time()
        constraints.project(module, p, settled)
        seconds.append(time.process_time() - start)
    return KindResult(constraints.name, name, scene, rows, unit, float(np.median(seconds)) / max(rows, 1))


def _rows(constraints: Constraints, settled: np.ndarray) -> tuple[int, str]:
    if isinstance(constraints, VolumeConstraints):
        return sum(len(piece.triangles) for piece in constraints.pieces), "triangle"
    return len(constraints.values(settled.T)), "constraint"


def of_a_frame(simulation: Simulation, dt: float, frames: int = 5) -> dict[str, float]:
    """CPU time of each part of a frame [s], the largest first: mean of some frames, which are stepped."""
    spent: dict[str, float] = defaultdict(float)
    with ExitStack() as watches:
        watched: list[tuple[Any, str, str]] = [
            (constraints, name, constraints.name)
            for constraints in simulation.constraints
            for name in ("begin_substep", "project", "end_substep")
        ]
        watched += [(AirOfFrame, "blow", AIR), (DampedFrame, "damp", "damping")]
        for owner, name, label in watched:
            timed = _timed(getattr(owner, name), spent, label)
            watches.enter_context(patch.object(owner, name, timed))
        start = time.process_time()
        for _ in range(frames):
            simulation.step(dt)
        whole = time.process_time() - start
    spent[REST_OF_A_FRAME] = whole - sum(spent.values())
    return {label: seconds / frames for label, seconds in sorted(spent.items(), key=lambda item: -item[1])}


def _timed(function: Callable[..., Any], spent: dict[str, float], label: str) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **options)
        finally:
            spent[label] += time.process_time() - start

    return timed
