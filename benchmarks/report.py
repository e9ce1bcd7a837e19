"""What was measured, as text that is as good in a terminal as in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pbd_addon import PRESETS

from .blender_cloth import DEFAULT_QUALITY, BlenderCloth
from .cost import KindResult
from .curtain import FRAME_RATE, FRAMES, TAIL, WARM_UP, Result
from .ours import DEFAULT_SUBSTEPS, FABRIC, BalloonResult, Ours
from .picture import Curve

CLOCK = 1.3176
"""How much faster than its frames Blender's cloth runs: one frame at 24 fps is 1/31.6 s to it."""


SHADES = {
    Ours.solver: ("#0b62a4", "#4d94cf", "#7fb8e6", "#0a3a66"),
    BlenderCloth.solver: ("#b5480f", "#df8f55", "#f0bd95"),
}
"""Colors of each solver's curves."""


def table(head: Sequence[str], rows: Sequence[Sequence[str]], texts: int = 1) -> str:
    """A Markdown table with columns of even width; all but the first `texts` columns are aligned to the right."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        aligned = [
            cell.ljust(width) if column < texts else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths))
        ]
        return f"| {' | '.join(aligned)} |"

    rule = ["-" * width if column < texts else "-" * (width - 1) + ":" for column, width in enumerate(widths)]
    return "\n".join([line(head), line(rule), *(line(row) for row in rows)])


def number(value: float, form: str, scale: float = 1.0) -> str:
    """A figure, or a dash where there is none."""
    return "–" if math.isnan(value) else format(scale * value, form)


def milliseconds(seconds: float) -> str:
    """Three digits."""
    return number(seconds, ".1f" if 1e3 * seconds < 99.95 else ".0f", 1e3)


def percent(share: float) -> str:
    """Two digits or more."""
    return number(share, ".2f" if share < 0.1 else ".1f", 100.0)


def is_default(result: Result, solver: str) -> bool:
    """Whether this is what a user of that solver gets without touching a setting."""
    return result.solver == solver and result.setting.endswith("(default)")


def curtains(results: Sequence[Result]) -> str:
    """Table of the race."""
    rows = []
    for result in results:
        peer = next(one for one in results if one.n == result.n and is_default(one, BlenderCloth.solver))
        rows.append([
            f"{result.n} × {result.n}", f"{result.solver}, {result.setting}",
            milliseconds(result.cpu), milliseconds(result.wall), number(peer.cpu / result.cpu, ".2f"),
            percent(result.strain_mean), percent(result.strain_p95), percent(result.strain_max),
            percent(result.strain_worst), number(result.lowest, ".3f"), number(result.down, ".0f"),
            milliseconds(result.setup),
        ])  # fmt: skip
    head = (
        "vertices", "solver", "CPU ms", "wall ms", "speed", "mean strain %", "95th %", "max %", "worst mean %",
        "lowest m", "down at frame", "set-up ms",
    )  # fmt: skip
    lines = [table(head, rows, texts=2)]
    lines += [f"\n{r.n} × {r.n}, {r.solver}, {r.setting}: {r.trouble}" for r in results if r.trouble]
    return "\n".join(lines)


def verdict(results: Sequence[Result]) -> str:
    """The finest curtain in one sentence."""
    n = max(result.n for result in results)
    ours, peer = (
        next(result for result in results if result.n == n and is_default(result, solver))
        for solver in (Ours.solver, BlenderCloth.solver)
    )
    if math.isnan(ours.cpu):
        return f"At {n} × {n} ours failed ({ours.trouble})."
    return (
        f"At {n} × {n}, both at their defaults: ours {milliseconds(ours.cpu)} ms a frame with "
        f"{percent(ours.strain_mean)} % mean strain, Blender's Cloth {milliseconds(peer.cpu)} ms with "
        f"{percent(peer.strain_mean)} %."
    )


def notes(n: int, blender_settings: dict[str, float]) -> str:
    """How it was measured, and what the two solvers do not have in common on a curtain of n × n."""
    cotton = PRESETS[FABRIC]
    heavy = blender_settings["mass"] * n * n
    stated = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in blender_settings.items())
    lines = (
        f"{FRAMES} frames at {FRAME_RATE} fps in one process; the solvers take turns, a frame each. Times are of a "
        f"frame, medians over frames {WARM_UP + 1} to {FRAMES}; `speed` is against Blender's default. Both include "
        "Blender's update of the scene.",
        "CPU time, of all threads, is the figure to compare: wall time also counts waiting for whatever else the "
        "machine is doing. Blender's Cloth does a part of its work on a second core, so that on an idle machine its "
        "wall time is shorter than its CPU time.",
        f"Strain is |l / L − 1| over the edges of the quads: mean, 95th percentile and maximum, each averaged over the "
        f"last {TAIL} frames. The curtain still swings then, and not all at the same point of the swing, hence `worst "
        "mean`: the mean of the worst frame of all. `lowest` is the lowest vertex of any frame, `down` the end of the "
        "first swing.",
        f"Ours: {FABRIC} ({cotton.density:g} kg/m², {cotton.stretch:g} N/m), XPBD, {DEFAULT_SUBSTEPS} substeps of "
        "1 iteration, the curtain meets itself, NumPy kernels by default. Blender's Cloth does not meet itself by "
        "default.",
        f"Blender's Cloth at quality {DEFAULT_QUALITY} is untouched but for the pins, the other differs in quality "
        f"alone. Its defaults: {stated}.",
        "The two do not simulate the same cloth. Blender's mass and air drag are per vertex, so that its default "
        f"curtain of {n} × {n} weighs {heavy:.0f} kg and ours {cotton.density:g} kg; its clock runs {CLOCK} times "
        "slower than its frames. They are compared by outcome, time against strain.",
    )
    return "\n".join(f"- {line}" for line in lines)


def kinds(results: Sequence[KindResult]) -> str:
    """Table of the kinds of constraints, with a column for each backend."""
    backends = list(dict.fromkeys(r.kernels for r in results))
    times = {(r.kind, r.kernels): f"{1e9 * r.seconds:.1f} ns" for r in results}
    rows = [
        [r.kind, r.scene, f"{r.rows}", *(times.get((r.kind, name), "") for name in backends), r.unit]
        for r in results
        if r.kernels == backends[0]
    ]
    return table(("kind", "scene", "rows", *(f"{name}, CPU" for name in backends), "of a"), rows, texts=2)


def parts(split: dict[str, float]) -> str:
    """Table of the parts of a frame."""
    whole = sum(split.values())
    rows = [[label, f"{1e3 * seconds:.2f}", f"{100 * seconds / whole:.0f}"] for label, seconds in split.items()]
    return table(("part", "CPU ms", "%"), [*rows, ["all", f"{1e3 * whole:.2f}", "100"]])


def balloons(results: Sequence[BalloonResult]) -> str:
    """Table of the balloons."""
    rows = [
        [f"{r.vertices}", f"{r.triangles}", milliseconds(r.cpu), milliseconds(r.wall), milliseconds(r.volume_cpu),
         f"{r.volume:.4f}", milliseconds(r.setup)]
        for r in results
    ]  # fmt: skip
    return table(("vertices", "triangles", "CPU ms", "wall ms", "of it volume", "V / V0", "set-up ms"), rows, texts=0)


def curves(results: Sequence[Result]) -> list[Curve]:
    """One curve for each solver and setting, through the sizes of the curtain."""
    found: dict[str, Curve] = {}
    for result in results:
        if not math.isnan(result.cpu):
            name = f"{result.solver}, {result.setting.removesuffix(' (default)')}"
            if name not in found:
                shades = SHADES[result.solver]
                earlier = sum(other.startswith(result.solver) for other in found)
                found[name] = Curve(name, shades[earlier % len(shades)], [])
            found[name].points.append((1e3 * result.cpu, 100.0 * result.strain_mean, f"{result.n}²"))
    return list(found.values())
