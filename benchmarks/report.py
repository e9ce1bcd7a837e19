"""The curtain's tables, and what they say in sentences."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence

from pbd_addon import PRESETS

from .contestants import (
    AUTOMATIC,
    BACKENDS,
    CLOCK,
    CLOTH,
    DEFAULT_QUALITY,
    DEFAULT_SUBSTEPS,
    DYNAMICS,
    ENOUGH,
    FABRIC,
    ORIGINAL,
    OURS,
    PEER,
)  # fmt: skip
from .curtain import FRAME_RATE, TAIL, WARM_UP, Result
from .pypbd_cloth import STRETCH
from .text import bullets, milliseconds, number, percent, table, times


def against_peer(result: Result, results: Sequence[Result]) -> float:
    """How many times as fast as Blender's Cloth at its default, in the same scene; NaN if it is not known."""
    peer = [r.cpu for r in results if (r.scene, r.solver, r.setting) == (result.scene, CLOTH, PEER)]
    return peer[0] / result.cpu if peer else math.nan


def curtains(results: Sequence[Result]) -> str:
    """Table of all contestants in all curtains, and below it what went wrong."""
    rows = [
        [
            r.scene, f"{r.solver}, {r.setting}", milliseconds(r.cpu), milliseconds(r.wall),
            milliseconds(r.main), number(against_peer(r, results), ".2f"), percent(r.strain_mean),
            percent(r.strain_p95), percent(r.strain_max), percent(r.strain_worst),
            number(r.lowest, ".3f"), number(r.down, ".0f"), number(r.slip, ".0f", 1e3),
            milliseconds(r.setup), f"{r.runs}", number(r.spread, ".0f", 100.0),
        ]
        for r in results
    ]  # fmt: skip
    head = (
        "curtain", "solver", "CPU ms", "wall ms", "main thread ms", "speed", "mean strain %", "95th %", "max %",
        "worst mean %", "lowest m", "down at frame", "slip mm", "set-up ms", "runs", "spread %",
    )  # fmt: skip
    return "\n".join([table(head, rows, texts=2), *troubles(results)])


def troubles(results: Sequence[Result]) -> list[str]:
    """A line about each result that is not what it should be."""
    return [f"\n{r.scene}, {r.solver}, {r.setting}: {r.trouble}" for r in results if r.trouble]


def absent(left_out: Mapping[str, str]) -> str:
    """One line for each reason that left somebody out, or "nobody"."""
    reasons: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        reasons.setdefault(reason, []).append(name)
    return bullets([f"Left out, {'; '.join(names)}: {reason}." for reason, names in reasons.items()])


def verdicts(results: Sequence[Result], peers: Container[tuple[str, str]] | None = None) -> list[str]:
    """Each curtain in a sentence or two, like with like: no self-collision; only these peers, if given."""
    sentences = []
    for scene in dict.fromkeys(r.scene for r in results):
        there = {(r.solver, r.setting): r for r in results if r.scene == scene and math.isfinite(r.cpu)}
        mine = [there[OURS, name] for name in BACKENDS.values() if (OURS, name) in there]
        if not mine:
            sentences.append(f"At {scene} ours has no figure.")
            continue
        best = mine[0]
        named = ", ".join(f"{milliseconds(r.cpu)} ms with {r.setting}" for r in mine)
        text = f"At {scene} a frame of ours takes {named}, at {percent(best.strain_mean)} % mean strain."
        others = [r for who, r in there.items() if who[0] != OURS and (peers is None or who in peers)]
        if others:
            text += f" Beside {best.setting}: " + "; ".join(_beside(best, r) for r in others) + "."
        sentences.append(text)
    return sentences


def _beside(ours: Result, other: Result) -> str:
    stopped = f", stopped after {other.frames} frames" if other.trouble.startswith("stopped") else ""
    return (
        f"{other.solver}, {other.setting}: {times(other.cpu / ours.cpu)} times the time, "
        f"{times(other.strain_mean / ours.strain_mean)} times the strain{stopped}"
    )


def notes(n: int, frames: int, blender_settings: Mapping[str, float]) -> str:
    """How it was measured, and what the solvers do not have in common on a curtain of n × n."""
    cotton = PRESETS[FABRIC]
    heavy = blender_settings.get("mass", math.nan) * n * n
    stated = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in blender_settings.items())
    return bullets((
        f"{frames} frames at {FRAME_RATE} fps. Each run is a process of its own; the contestants take turns, round "
        "after round, each round begins with another one, and figures are medians over the rounds. `runs` says how "
        "many; what takes long runs once. `spread` is the largest minus the smallest CPU time of these runs. Times are "
        f"of a frame, medians over frames {WARM_UP + 1} to {frames}, and include Blender's update of the scene, but "
        f"for pyPBD, which does without. `speed` is against Blender's Cloth at quality {DEFAULT_QUALITY}.",
        "CPU time, of all threads, is the figure to compare: wall time also counts waiting for whatever else the "
        "machine is doing. Blender's solvers do a part of their work on other cores, so that on an idle machine their "
        "wall time is shorter than their CPU time; of that, `main thread` is what Blender's window waits for. "
        "Ours uses one.",
        f"Strain is |l / L − 1| over the edges of the faces: mean, 95th percentile and maximum, each averaged over the "
        f"last {TAIL} frames. The curtain still swings then, and not all at the same point of the swing, hence `worst "
        "mean`: the mean of the worst frame of all. Of who was stopped these are its own last frames. `lowest` is the "
        "lowest vertex of any frame, `down` the end of the first swing, `slip` how far a held corner was from its "
        "place. `set-up` is CPU time that is paid once: building, and what the first frame takes above the others. "
        "`unstructured` is a Delaunay mesh.",
        f"Ours: {FABRIC} ({cotton.density:g} kg/m², {cotton.stretch:g} N/m), XPBD, {DEFAULT_SUBSTEPS} substeps of "
        f"1 iteration. With {AUTOMATIC} each frame has a quarter to four times as many, by motion and stretch. Its "
        "default is with self-collision, which the others do not have or have switched off; those are "
        "rows of their own.",
        f"Blender's Cloth is untouched but for the pins and its quality. Its defaults: {stated}. Its mass and air drag "
        f"are per vertex, so that a finer curtain is heavier: the default one of {n} × {n} weighs {heavy:.0f} kg, ours "
        f"{cotton.density:g} kg. Its clock runs {CLOCK} times slower than its frames. Quality 1 is left out: it damps "
        "so much that the sheet needs 22 frames to swing down, for which physics needs 12.",
        f"{DYNAMICS} is the node group of that name, called experimental, which Blender ships since 5.2 in its own "
        "data files, in geometry_nodes_dynamics_assets.blend: XPBD, by default 5 substeps × 15 constraint steps, "
        "neither stretchy nor bendy, 1 kg per vertex.",
        "pyPBD is the Python module of the PositionBasedDynamics library: XPBD with our weight and bending, its "
        f"examples' stiffness of edges ({STRETCH:g} N/m) and one thread, which is its fastest. 8 × 5 is its examples' "
        "rate, 8 steps of 5 substeps a frame. Its strain grows with the mesh at any fixed number: "
        f"{ENOUGH} n substeps keep it near 1 % on n × n vertices, so that its time grows with n³.",
        "They do not simulate the same cloth, and are compared by outcome: time against strain.",
    ))  # fmt: skip


SHOWN = "100 × 100"
"""The curtain of the README's table; where it was not run, the last one is shown."""


def readme(results: Sequence[Result], environment: Mapping[str, str]) -> str:
    """The four rows of the README: ours beside Blender's two, without self-collision, at usual settings."""
    rivals = {
        (OURS, BACKENDS["numba"]): "PBD Cloth, Numba",
        (OURS, BACKENDS["numpy"]): "PBD Cloth, NumPy",
        (CLOTH, PEER): CLOTH,
        (DYNAMICS, ORIGINAL): f"Blender's {DYNAMICS}",
    }
    scenes = [r.scene for r in results]
    scene = SHOWN if SHOWN in scenes else scenes[-1]
    found = {(r.solver, r.setting): r for r in results if r.scene == scene}
    rows = [
        [name, f"{milliseconds(found[who].cpu)} ms", f"{milliseconds(found[who].main)} ms",
         f"{percent(found[who].strain_mean)} %", f"{percent(found[who].strain_p95)} %"]
        for who, name in rivals.items() if who in found
    ]  # fmt: skip
    machine = ", ".join(environment[name] for name in ("Blender", "Processor") if name in environment)
    return "\n\n".join([
        f"A curtain of {scene} vertices, hung by two corners, each solver at its defaults (Blender {machine}):",
        table(("", "CPU time of a frame", "of its main thread", "mean strain", "95th percentile"), rows),
    ])  # fmt: skip
