"""Clamped strips of the presets hang as deep as the elastica, on any mesh, with both models of bending.

The strips are a quarter as wide as
long, clamped by a column of cells whose corners are all pinned. A strip swings for seconds: the last one is averaged.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Material, Simulation
from tests.helpers.meshes import clamped_strip

from .check import Check
from .rod import hanging

DT = 1.0 / 24.0
FRAMES, AVERAGED = 96, 24

STRIPS = {"Paper": 0.10, "Leather": 0.05, "Denim": 0.03, "Cotton": 0.03}
"""Free lengths [m]."""

BARS = {10: 30.0, 20: 20.0, 40: 15.0}
"""Largest error by the number of cells along the strip [%]; a clamp that gives way by half a cell costs 21, 10, 5."""

MESHES = ("quads", "right", "left", "alternate", "crossed", "irregular")
QUICK_MESHES = ("quads", "irregular")
MODELS = ("ISOMETRIC", "DIHEDRAL")

MASTER = {
    0.1: 0.0125, 1.0: 0.1247, 3.0: 0.365, 5.0: 0.586, 10.0: 1.067, 20.0: 1.864, 50.0: 3.70, 100.0: 5.88, 200.0: 8.90,
    1000.0: 21.3,
}  # fmt: skip
"""Drop over reach of a strip's end by Γ (Romero, Ly, Rasheed, Charrondière, Lazarus, Neukirch, Bertails-Descoubes 2021:
Physical validation of simulators in computer graphics)."""

MASTER_LENGTH, MASTER_SEGMENTS, MASTER_BAR = 0.1, 40, 2.0
"""Free length of these strips [m], least number of cells along them, and the largest error [%]."""

CELLS_OF_A_BEND = 10.0
"""Cells along the bending length (B / (ρ g))^(1/3) at least: with 8.6 the error is 2.3 %, with 4 it is 12 %."""

WEFT, RATIO_BAR = 1.2e-5, 3.0
"""Bending of the weft of a fabric of 4 : 1 [N·m], and the largest error of the ratio of depths [%]."""

ROLL, ROLLED, RUBBING, KEPT_BAR = 0.05, 80.0, 18.0, 5.0
"""Length of a strip that is rolled up [m], its curvature, and that which friction keeps, that of the least of the
measured fabrics, see docs/materials.md [1/m]; the largest error of the latter [%]. Rolled up by less than 58 1/m
friction would not slip on the way back."""

ROLL_CELLS, ROLL_DRAG = 10, 60.0
"""Cells along it, and what slows it down so much that it does not swing back [1/s]: it would swing at 14 rad/s."""

DRAG = 6.0
"""Slows down what would swing for long; it moves no shape at rest [1/s]."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """Error of each tip's depth in percent: flat strips, then some that are turned in space."""
    for preset, length in STRIPS.items():
        for segments, bar in BARS.items():
            for mesh in QUICK_MESHES if quick else MESHES:
                for model in MODELS[:1] if quick else MODELS:
                    if not quick or segments == 10:
                        name = f"{preset} {100.0 * length:.0f} cm, {segments} segments, {mesh}, {model.lower()}"
                        error = _error(preset, length, segments, mesh, model, np.eye(3), kernels, automatic)
                        yield Check(name, "tip beside elastica [%]", error, bar)
    turned = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    for preset, length in STRIPS.items():
        error = _error(preset, length, 10, "irregular", "ISOMETRIC", turned, kernels, automatic)
        yield Check(f"{preset}, turned in space", "tip beside elastica [%]", error, BARS[10])
    yield from _master(kernels, automatic, quick)
    yield from _directions(kernels, automatic)
    for mesh in QUICK_MESHES:
        yield _kept(mesh, kernels, automatic)


def _error(
    preset: str, length: float, segments: int, mesh: str, model: str, turn: np.ndarray, kernels: str, automatic: bool
) -> float:
    material = dataclasses.replace(Material.preset(preset), bend_model=model)
    _, depth = tip(material, length, segments, mesh, kernels, automatic, turn)
    return 100.0 * (depth / hanging(length, 9.81 * material.density / material.bend) - 1.0)


def tip(
    material: Material, length: float, segments: int, mesh: str, kernels: str, automatic: bool,
    turn: np.ndarray | None = None, warp: tuple[float, float, float] = (1.0, 0.0, 0.0),
) -> tuple[float, float]:  # fmt: skip
    """How far from its clamp, and how far below it, the end of a strip is in the last second, means [m]."""
    turn = np.eye(3) if turn is None else turn
    vertices, faces, pins = clamped_strip(segments, length, mesh)
    body = Body(vertices @ turn.T, faces, material, pins=pins, warp=turn @ warp)
    gravity = turn @ [0.0, 0.0, -9.81]
    simulation = Simulation([body], gravity=tuple(gravity), kernels=kernels, automatic=automatic)
    end, places = vertices[:, 0] > (1.0 - 1e-6) * length, []
    for _ in range(FRAMES):
        simulation.step(DT)
        places.append((simulation.positions(body) @ turn)[end].mean(axis=0))
    reach, _, height = np.mean(places[-AVERAGED:], axis=0)
    return float(reach), -float(height)


def _master(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """Drop over reach of a strip by Γ = ρ g L³ / B alone, from a board to a thread."""
    for gamma, wanted in list(MASTER.items())[:5:2] if quick else MASTER.items():
        cotton = Material.preset("Cotton")
        material = dataclasses.replace(
            cotton, bend=9.81 * cotton.density * MASTER_LENGTH**3 / gamma, drag=DRAG, bend_friction=0.0
        )
        segments = max(MASTER_SEGMENTS, math.ceil(CELLS_OF_A_BEND * gamma ** (1.0 / 3.0)))
        reach, depth = tip(material, MASTER_LENGTH, segments, "quads", kernels, automatic)
        error = 100.0 * (depth / reach / wanted - 1.0)
        name = f"strip of {100.0 * MASTER_LENGTH:.0f} cm, Γ = {gamma:g}"
        yield Check(name, "drop over reach beside the elastica [%]", error, MASTER_BAR)


def _directions(kernels: str, automatic: bool) -> Iterator[Check]:
    """Strips of a fabric of 4 : 1 that are cut along its warp and along its weft: their depths over one another."""
    material = dataclasses.replace(Material.preset("Cotton"), bend=4.0 * WEFT, weft_bend=0.25, drag=DRAG)
    load, length = 9.81 * material.density, 0.06
    wanted = hanging(length, load / WEFT) / hanging(length, load / material.bend)
    for mesh in QUICK_MESHES:
        for segments in (10, 20):
            weft, warp = (tip(material, length, segments, mesh, kernels, automatic, warp=way)[1]
                          for way in ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0)))  # fmt: skip
            name = f"strips in weft and warp, 1 : 4, {segments} segments, {mesh}"
            yield Check(
                name, "ratio of depths beside the elastica's [%]", 100.0 * (weft / warp / wanted - 1.0), RATIO_BAR
            )


def _kept(mesh: str, kernels: str, automatic: bool) -> Check:
    """A strip of *Cotton* without weight that is rolled up and let go: friction keeps the curvature HB / B of it."""
    cotton = Material.preset("Cotton")
    material = dataclasses.replace(cotton, bend_friction=RUBBING * cotton.bend, drag=ROLL_DRAG)
    rest, faces, pins = clamped_strip(ROLL_CELLS, ROLL, mesh)
    angle = ROLLED * np.maximum(rest[:, 0], 0.0)
    start = np.column_stack([np.where(rest[:, 0] > 0.0, np.sin(angle) / ROLLED, rest[:, 0]), rest[:, 1],
                             (1.0 - np.cos(angle)) / ROLLED])  # fmt: skip
    body = Body(start, faces, material, pins=pins, rest_vertices=rest)
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), kernels=kernels, automatic=automatic, self_collision=False)
    for _ in range(FRAMES):
        simulation.step(DT)
    free = simulation.positions(body)[rest[:, 0] > 0.0][:, [0, 2]]
    # x² + z² = 2 a x + 2 b z + c of the circle that fits best
    unknowns = np.column_stack([2.0 * free, np.ones(len(free))])
    *center, more = np.linalg.lstsq(unknowns, (free**2).sum(axis=1), rcond=None)[0]
    turned = 1.0 / math.sqrt(more + center[0] ** 2 + center[1] ** 2)
    return Check(f"rolled strip of Cotton that keeps {RUBBING:g} 1/m, {mesh}", "curvature kept beside HB / B [%]",
                 100.0 * (turned / RUBBING - 1.0), KEPT_BAR)  # fmt: skip
