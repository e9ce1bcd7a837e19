"""Strips that are bent far have the shape of the elastica: pear loops under their weight, and strips that buckle.

Both are clamped at both ends by a row of cells whose corners are all pinned. Beside the shape it is told what the
simulation says of it: its estimate of its own error, and the steps of a frame.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Material, Simulation
from tests.helpers.meshes import grid

from .check import NO_BAR, Check
from .rod import SEGMENTS, buckled, pear

DT = 1.0 / 24.0
FRAMES = 96
DRAG = 5.0
"""Slows down what would swing for long; it moves no shape at rest [1/s]."""

ACROSS = 4
"""Cells across each strip."""

BAR = 5.0
"""Largest error of a loop's width and height [%]."""

LOOP, CELLS = 0.2, (24, 48)
"""Length of a loop [m], and cells along it."""

LOOPED, QUICK_LOOPED = ("Paper", "Leather", "Denim", "Cotton", "Silk"), ("Paper", "Cotton")

STRIP, CLOSER, BUCKLED_BAR = 0.1, (0.02, 0.1, 0.3), 3.0
"""Length of a strip that buckles [m], by which share its ends come together, and the largest error of its height [%].

It is flat at the start, exactly."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """Errors of widths, heights, and of rises of what buckles."""
    for preset in QUICK_LOOPED if quick else LOOPED:
        for cells in CELLS:
            for mesh in ("quads",) if quick or cells == CELLS[1] else ("quads", "triangles"):
                yield from looped(preset, Material.preset(preset), cells, mesh, kernels, automatic)
    for preset in ("Paper",) if quick else ("Paper", "Leather", "Denim"):
        for closer in CLOSER:
            yield _buckled(preset, closer, kernels, automatic)


def strip(cells: int, length: float, mesh: str) -> tuple[np.ndarray, list[list[int]], np.ndarray]:
    """A strip along x with a cell before 0 and one behind `length`: vertices, faces, and the vertices to pin."""
    cell = length / cells
    vertices, quads = grid(cells + 2, ACROSS, length + 2.0 * cell, ACROSS * cell)
    vertices[:, 0] += 0.5 * length
    faces = [half for a, b, c, d in quads for half in ([a, b, c], [a, c, d])] if mesh == "triangles" else quads
    return vertices, faces, np.flatnonzero((vertices[:, 0] < 1e-9) | (vertices[:, 0] > length - 1e-9))


def looped(name: str, material: Material, cells: int, mesh: str, kernels: str, automatic: bool) -> Iterator[Check]:
    """Width and height of a loop of a material beside the elastica, and the steps of its last frame."""
    material = dataclasses.replace(material, drag=DRAG)
    rest, faces, pins = strip(cells, LOOP, mesh)
    free, wanted = (pear(LOOP, load) for load in (0.0, 9.81 * material.density / material.bend))
    # From above 0 at the clamps on, both halves of the loop of no weight.
    along = np.abs(rest[:, 0] - 0.5 * LOOP)
    d = 0.5 * LOOP / SEGMENTS
    places = np.column_stack([np.interp(0.5 * LOOP - along, d * np.arange(SEGMENTS + 1), free[:, k]) for k in (0, 1)])
    places[:, 1] += np.maximum(along - 0.5 * LOOP, 0.0)
    side = np.where(rest[:, 0] < 0.5 * LOOP, 1.0, -1.0)
    body = Body(np.column_stack([side * places[:, 0], rest[:, 1], places[:, 1]]), faces, material, pins=pins,
                rest_vertices=rest)  # fmt: skip
    simulation = Simulation([body], kernels=kernels, automatic=automatic, self_collision=False)
    reports = [simulation.step(DT) for _ in range(FRAMES)]
    x = simulation.positions(body)
    name = f"loop of {name}, {cells} cells, {mesh}"
    rows = x[:, 0].reshape(ACROSS + 1, -1)
    width = 100.0 * float(np.mean(_most(rows) + _most(-rows)) / (2.0 * wanted[:, 0].max()) - 1.0)
    yield Check(name, "width beside the elastica [%]", width, BAR)
    height = 100.0 * (float(x[:, 2].min() / wanted[:, 1].min()) - 1.0)
    yield Check(name, "height beside the elastica [%]", height, BAR)
    yield Check(name, "steps of a frame", reports[-1].substeps, NO_BAR)


def _most(rows: np.ndarray) -> np.ndarray:
    """The largest number of curves through those of each row, (k,): that of a parabola around the largest one."""
    at, every = rows.argmax(axis=1), np.arange(len(rows))
    before, here, after = (rows[every, at + k] for k in (-1, 0, 1))
    return np.asarray(here + (after - before) ** 2 / (8.0 * (2.0 * here - before - after)))


def _buckled(preset: str, closer: float, kernels: str, automatic: bool) -> Check:
    material = dataclasses.replace(Material.preset(preset), drag=DRAG)
    rest, faces, pins = strip(20, STRIP, "quads")
    body = Body(rest, faces, material, pins=pins)
    simulation = Simulation([body], kernels=kernels, automatic=automatic, self_collision=False, gravity=(0.0, 0.0, 0.0))
    left = rest[body.pin_ids, 0] < 0.5 * STRIP
    for frame in range(FRAMES):
        way = 0.5 * closer * STRIP * min(1.0, (frame + 1) * DT)
        shift = np.where(left, way, -way)[:, None] * [1.0, 0.0, 0.0]
        simulation.set_pin_targets(body, rest[body.pin_ids] + shift)
        simulation.step(DT)
    rise = float(np.abs(simulation.positions(body)[:, 2]).max() / buckled(STRIP, closer)[:, 1].max())
    return Check(f"strip of {preset}, drawn together by {100.0 * closer:g} %", "rise beside the elastica [%]",
                 100.0 * (rise - 1.0), BUCKLED_BAR)  # fmt: skip
