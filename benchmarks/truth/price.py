"""What usual cloth costs a frame: CPU time, beside what it cost before physics was true at the default settings.

A machine is not always as quick, so milliseconds have no bar. Bars are on the share of a frame that residuals
take, on kinds that are projected twice, as only soft cloth needs it, and on what rounds take beside frames without.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from pbd_addon import PRESETS, Body, Simulation
from pbd_addon.stepping import adaptive

from .check import NO_BAR, Check
from .drapes import Drape, disc

DT = 1.0 / 24.0
FRAMES = 10
RESIDUALS = 5.0
"""Share of a frame that the residuals may take [%]: all that made the physics true may cost no more."""

EXTRA = 10.0
"""By how much directions of the weave, and friction of bending, may make a frame dearer [%]."""

ROUNDS = 2.0
"""How many times as long a frame with rounds may take as one without."""

IN_ROUNDS = (("Cotton", "quads"), ("Cotton", "Delaunay"), ("Leather", "quads"))
"""Drapes that are compared with and without: hinges, triangles, plates."""

EXTRAS = {
    "warp and weft": {"weft_stretch": 0.5, "weft_bend": 0.6},
    "bending friction": {"bend_friction": 18.0 * PRESETS["Cotton"].bend},
}


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """CPU time of a frame of cotton that swings on two corners, and of what measures it."""
    for side in (33, 65) if quick else (33, 65, 101):
        simulation = _curtain(side, kernels, automatic)
        for _ in range(2 * FRAMES):  # What compiles, and the fall, are no part of it.
            simulation.step(DT)
        frame = _cpu(functools.partial(simulation.step, DT), FRAMES)
        measured = _cpu(functools.partial(adaptive.measure, simulation._model, simulation._state, DT), 5 * FRAMES)
        name = f"cotton, {side} × {side}, {1000.0 / (side - 1):.0f} mm"
        yield Check(name, "CPU time of a frame [ms]", 1000.0 * frame, NO_BAR)
        yield Check(name, "residuals, share of a frame [%]", 100.0 * measured / frame, RESIDUALS)
        model = simulation._model
        again = sum(model.sequence.count(kind) - 1 for kind in model.constraints)
        yield Check(name, "kinds that are projected twice", float(again), 0.0)
    for preset, mesh in IN_ROUNDS[:1] if quick else IN_ROUNDS:
        times = _in_rounds(preset, mesh, kernels, automatic)
        yield Check(f"drape of {preset}, 10 mm, {mesh}", "CPU time in rounds beside without", times, ROUNDS)
    for name, settings in EXTRAS.items():
        dearer = _dearer(33 if quick else 101, settings, kernels, automatic)
        yield Check(f"cotton with {name}", "CPU time above that without [%]", dearer, EXTRA)


def _in_rounds(preset: str, mesh: str, kernels: str, automatic: bool) -> float:
    """How many times as long a frame with rounds takes as one without, frame by frame in turn."""
    bodies = [disc(Drape(preset, 0.01, mesh, 0.0), 0) for _ in range(2)]
    pair = [Simulation([body], kernels=kernels, automatic=automatic, self_collision=False) for body in bodies]
    ratios = []
    for _ in range(3 * FRAMES):
        spent = []
        for k, simulation in enumerate(pair):
            simulation._state.memory["rounds"]["wanted"] = np.array([float(k)])
            spent.append(_cpu(functools.partial(simulation.step, DT), 1))
        ratios.append(spent[1] / spent[0])
    return float(np.median(ratios[FRAMES:]))


def _dearer(side: int, settings: Mapping[str, float], kernels: str, automatic: bool) -> float:
    """By how much a curtain costs more with settings than without [%]: both move alike, frame by frame in turn."""
    pair = [_curtain(side, kernels, automatic, **each) for each in ({}, settings)]
    ratios = []
    for frame in range(3 * FRAMES):
        plain, extra = (_cpu(functools.partial(simulation.step, DT), 1) for simulation in pair)
        if frame >= FRAMES:
            ratios.append(extra / plain)
    return 100.0 * (float(np.median(ratios)) - 1.0)


def _curtain(side: int, kernels: str, automatic: bool, **settings: float) -> Simulation:
    material = dataclasses.replace(PRESETS["Cotton"], **settings)
    line = np.linspace(-0.5, 0.5, side)
    x, y = (axis.ravel() for axis in np.meshgrid(line, line))
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + side + 1, corner + side])
    body = Body(np.column_stack([x, y, 0.0 * x]), quads.tolist(), material, pins=[0, side - 1])
    return Simulation([body], kernels=kernels, automatic=automatic, self_collision=False)


def _cpu(run: Callable[[], object], times: int) -> float:
    """CPU time of one run [s]: the median of some."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        run()
        spent.append(time.process_time() - start)
    return float(np.median(spent))
