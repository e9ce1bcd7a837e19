"""The scenes of contact as text that is as good in a terminal as in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pbd_addon import PRESETS, Material

from .contact_race import ContactResult, Times
from .contact_scenes import BALL_RADIUS, DROP, NOISE, ContactScene
from .contestants import BACKENDS, CLOCK, CLOTH, DEFAULT, FABRIC, LIGHT, LIGHT_AND_STIFF, OURS, SELF_SHARE
from .curtain import FRAME_RATE, TAIL
from .text import bullets, milliseconds, number, percent, table


def times(results: Sequence[ContactResult]) -> str:
    """Table of the time of a frame."""
    rows = [
        [r.scene, f"{r.solver}, {r.setting}", f"{r.frames}", *_three(r.cpu), *_three(r.wall), milliseconds(r.setup),
         f"{r.runs}", number(r.spread, ".0f", 100.0)]
        for r in results
    ]  # fmt: skip
    head = (
        "scene", "solver", "frames", "CPU ms mean", "median", "95th %", "wall ms mean", "median", "95th %", "set-up ms",
        "runs", "spread %",
    )  # fmt: skip
    return table(head, rows, texts=2)


def _three(times: Times) -> list[str]:
    return [milliseconds(times.mean), milliseconds(times.median), milliseconds(times.p95)]


def quality(results: Sequence[ContactResult]) -> str:
    """Table of how well contact came out, and below it what went wrong."""
    rows = [
        [
            r.scene, f"{r.solver}, {r.setting}", number(float(np.maximum(r.depth, 0.0)), ".2f", 1e3),
            number(r.gap, ".1f", 1e3), _count(r.crossings), _count(r.crossings_end), _count(r.crossed),
            percent(r.strain_mean), percent(r.strain_p95), percent(r.strain_max), percent(r.strain_worst),
            number(r.volume, ".3f"), number(r.volume_worst, ".3f"), number(r.height, ".3f"),
        ]
        for r in results
    ]  # fmt: skip
    head = (
        "scene", "solver", "deepest mm", "gap at end mm", "crossings, worst", "at end", "frames with any",
        "mean strain %", "95th %", "max %", "worst max %", "V / V0", "worst V / V0", "height m",
    )  # fmt: skip
    lines = [table(head, rows, texts=2)]
    lines += [f"\n{r.scene}, {r.solver}, {r.setting}: {r.trouble}" for r in results if r.trouble]
    return "\n".join(lines)


def _count(value: int) -> str:
    return "–" if value < 0 else f"{value}"


def readme(results: Sequence[ContactResult], environment: Mapping[str, str]) -> str:
    """The table of the README: a row for each scene, ours beside Blender's Cloth with its default mass and clock."""
    found: dict[str, dict[str, ContactResult]] = {}
    for r in results:
        who = r.setting if r.solver == OURS else CLOTH
        if r.solver == OURS or r.setting.startswith(DEFAULT):
            found.setdefault(r.scene, {}).setdefault(who, r)
    columns = {BACKENDS["numba"]: "Numba", BACKENDS["numpy"]: "NumPy", CLOTH: CLOTH}
    rows = []
    for scene, each in found.items():
        seen = [each.get(who) for who in columns]
        rows.append([scene, *(milliseconds(r.cpu.mean) if r else "–" for r in seen)])
        rows[-1] += [_count(r.crossings) if r else "–" for r in (seen[0] or seen[1], seen[2])]
    machine = ", ".join(environment[name] for name in ("Blender", "Processor") if name in environment)
    head = ("CPU time of a frame [ms]", *columns.values(), "our crossings", "Blender's")
    return "\n\n".join([
        f"Sheets fall on a ball, fold on a floor; balloons fall on a floor (Blender {machine}):",
        table(head, rows),
        f"Crossings are those of the worst frame; `self`: the sheet meets itself, in Blender at {SELF_SHARE:g} edges.\n"
        "Where 40 s were not enough, times are of fewer frames.",
    ])  # fmt: skip


def notes(scene: ContactScene, settings: dict[str, dict[str, float]], checked: Sequence[Sequence[int]]) -> str:
    """How it was measured, of which `scene` is an example, and with which of Blender's settings."""
    cotton = PRESETS[FABRIC]
    stated = "; ".join(
        f"{title}: " + ", ".join(f"{name} {value:g}" for name, value in values.items())
        for title, values in settings.items()
    )
    lines = (
        f"Drape: a level sheet of 1 m falls from {1e3 * DROP:g} mm above on a ball of radius {BALL_RADIUS:g} m and "
        f"{len(scene.obstacle_faces)} triangles. Fold: a sheet of 1 m stands on edge, {1e3 * DROP:g} mm above a floor "
        f"and uneven by {1e3 * NOISE:g} mm (flat at rest), falls and folds. Balloon: a ball of radius "
        f"{BALL_RADIUS:g} m falls on a floor and is to hold its volume. In scenes that say `self` cloth meets itself.",
        f"{FRAME_RATE} fps; each run is a process of its own, the solvers take turns round after round, figures are "
        "medians over the rounds, what takes long runs once. Times are of a frame, over all frames, and include "
        "Blender's update of the scene. CPU time is of all threads: Blender's collisions use several, ours one, so "
        "that wall time is Blender's better side on an idle machine.",
        "`deepest`: how far any point was below the true surface of the obstacle's mesh in any frame; vertices, three "
        "points of each edge and four of each triangle were measured. `crossings`: pairs of an edge and a triangle "
        "without a common vertex that go through each other, counted exactly after every frame; quads are cut into "
        "triangles for it. The count was compared with brute force over all pairs: "
        + ", ".join(f"{quick} and {slow}" for quick, slow in checked) + ".",
        f"Strain is |l / L − 1| over the edges of the faces: mean, 95th percentile and maximum averaged over the last "
        f"{TAIL} frames, `worst max` of any edge in any frame. `height`: mean of the vertices at the end, which tells "
        "whether the cloth has fallen at all.",
        f"Ours at its defaults: {FABRIC} ({cotton.density:g} kg/m²), floors are planes, "
        f"distance {1e3 * cotton.thickness:g} mm, self distance {_self_distance(cotton)}.",
        f"Blender's Cloth at its defaults, {stated}. With default mass (0.3 kg of each vertex) a sheet of "
        f"{len(scene.vertices)} vertices weighs {0.3 * len(scene.vertices):.0f} kg, ours {scene.mass:.2g} kg. "
        f"`{LIGHT}`: that mass, air damping 0, time scale {CLOCK}, because its clock runs that much slow, and "
        "stiffness and damping less by the same factor as the mass, so that it moves as the default does. "
        f"Self distance is Blender's default of 15 mm, or {SELF_SHARE:g} of an edge.",
        f"`{LIGHT_AND_STIFF}` leaves stiffness and damping, which is quick, but look at `height` before its times: "
        "so light for its stiffness, the cloth hardly falls after the first touch, or drifts upwards.",
    )  # fmt: skip
    return bullets(lines)


def _self_distance(material: Material) -> str:
    return "half of an edge (automatic)" if not material.self_distance else f"{1e3 * material.self_distance:g} mm"
