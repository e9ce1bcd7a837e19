"""The page of the bodies: what came out beside its bar."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..contestants import BACKENDS
from ..text import bullets, number, table
from ..truth.check import Check
from .rows import RATIOS, ROWS

Runs = Mapping[tuple[str, str], Mapping[str, Any]]
"""What the worker returned, by row and backend."""


def shown(check: Check, form: str = ".3g") -> str:
    """A value, bold where its bar does not hold, and the bar."""
    value = format(check.value, form)
    value = value if check.holds else f"**{value}**"
    return f"{value} ≤ {check.bar:g}" if math.isfinite(check.bar) else value


def of_rows(runs: Runs, blender: Mapping[str, Mapping[str, Any]]) -> str:
    """Table of all rows, and below it what went wrong; a figure with its bar is "value ≤ bar"."""
    head = (
        "scene", "backend", "mean ms", "worst ms", "worst / calm", "crossings of cloth", "with colliders, worst, end",
        "strain %", "open seams", "load", "Blender's Cloth: ms, crossings",
    )  # fmt: skip
    rows, troubles = [], []
    for (name, kernels), run in runs.items():
        if "checks" not in run:
            troubles.append(f"{ROWS[name].case}, {BACKENDS[kernels]}: {run.get('trouble') or run.get('left_out')}")
            continue
        checks = [Check(**check) for check in run["checks"]]
        times = [
            (word, [shown(check, ".0f") for check in checks if check.figure.endswith(f"{word} [ms]")])
            for word in ("mean of a frame", "worst frame")
        ]
        rows.append([
            ROWS[name].case, BACKENDS[kernels], *("; ".join(each) for _, each in times),
            *_some(checks, "worst frame beside"), *_some(checks, "crossings of cloth"),
            ", ".join(_some(checks, "crossings with", 2)), *_some(checks, "largest strain"),
            *_some(checks, "open pairs"), number(run["load"], ".1f"), _blender(blender.get(name, {}), kernels),
        ])  # fmt: skip
        troubles += [
            f"{ROWS[name].case}: {shown(each)} {each.figure}" for each in checks if "not reached" in each.figure
        ]
    return "\n\n".join(part for part in (table(head, rows, texts=2), bullets(troubles)) if part)


def _some(checks: Sequence[Check], begin: str, count: int = 1) -> list[str]:
    """The figures that begin so, `count` of them or dashes."""
    found = [shown(check) for check in checks if check.figure.startswith(begin)]
    return (found + ["–"] * count)[:count]


def _blender(run: Mapping[str, Any], kernels: str) -> str:
    if kernels != "numba" or not run.get("cpu"):
        return "–"
    return f"{1e3 * np.mean(run['cpu']):.0f}, {run['crossings'][-1]} + {run['hits'][-1]}"


def ratios(runs: Runs) -> list[Check]:
    """Mean frames of two runs beside each other."""
    mean = {key: float(np.mean(run["cpu"])) for key, run in runs.items() if run.get("cpu")}
    return [
        Check(each.figure, "mean frame, ratio", mean[each.one] / mean[each.other], each.bar)
        for each in RATIOS if each.one in mean and each.other in mean
    ]  # fmt: skip


def against_blender(scene: str, race: Sequence[tuple[str, float]], bar: float) -> list[Check]:
    """How much of the time of Blender's Cloth, in its quickest setting, ours takes; race: solvers and their times."""
    ours = [time for solver, time in race if solver == "ours" and math.isfinite(time)]
    theirs = [time for solver, time in race if solver != "ours" and math.isfinite(time)]
    return [Check(scene, "ours beside Blender's Cloth", min(ours) / min(theirs), bar)] if ours and theirs else []


def notes(files: Sequence[str]) -> str:
    """How it was measured."""
    others = f"Not ours are {', '.join(files)}" if files else "All bodies and garments are ours"
    return bullets((
        f"{others}; where a file is missing, a figure of our own walks: capsules, merged to one closed mesh that "
        "crosses itself at armpits and hips.",
        "Times are CPU times of `Simulation.step`, at the default settings. Calm is the mean of the cheaper half of a "
        "scene's frames. Crossings are exact counts of edges through faces: of cloth with cloth, worst frame; with "
        "colliders, worst and last frame. Strain is the largest of any edge in any frame. Load: processes that wanted "
        "a core at the end of a run.",
        "The shirt: panels with curved edges, sewn from flat without gravity in 50 frames; then, with gravity, the "
        "arms go up by 40° and down again in 60. Times of both, one after the other.",
        "Blender's Cloth: defaults, quality 5, pins and self-collision; crossings of cloth and with the figure in the "
        "last frame.",
    ))  # fmt: skip
