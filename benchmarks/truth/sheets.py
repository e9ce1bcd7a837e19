"""Soft sheets hang as deep as converged ones, however finely they are cut: 100 N/m, at the default quality steps.

The references on four corners and on four edges are equilibria of the same mesh and the same energy of stretch, shear,
bending and weight, found offline by Newton's method with sparse direct solves until the largest force left is below
1e-4 of a vertex's weight (2e-3 on four corners with 129 vertices a side). On two corners the cloth buckles, and which
of its folds it finds is a matter of its way there: these references, and that of 129 vertices on four edges, are the
engine's own, of 80 substeps x 5 iterations from the same start, at rest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Material, Simulation

from .check import Check

DT = 1.0 / 24.0
FRAMES = 96
STRETCH, SHEAR = 100.0, 20.0
"""Of all sheets [N/m]; the rest of the material is the default but for more damping and drag, to come to rest."""

SIDES, QUICK_SIDES = (17, 33, 65, 129), (17, 33)
BAR = 5.0
"""Largest error [%]."""

CONVERGED = {
    ("four corners", 0.0): {17: 0.18729, 33: 0.19594, 65: 0.20310, 129: 0.2093},
    ("four edges", 0.0): {17: 0.06951, 33: 0.06944, 65: 0.06942, 129: 0.06942},
    ("two corners", 0.0): {17: 0.0706, 33: 0.0982, 65: 0.1080},
    ("two corners", 0.2): {17: 0.2758, 33: 0.2809, 65: 0.2868},
}
"""How far the lowest vertex, of two corners that of the top edge, comes below the pins [m], by vertices along a side;
and by how much the corners are drawn together [m]."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """Error of each depth in percent."""
    for (how, drawn), depths in CONVERGED.items():
        for side, depth in depths.items():
            if not quick or side in QUICK_SIDES:
                found, substeps = _sag(side, how, drawn, kernels, automatic)
                name = f"{how}{', drawn to 0.8 m' if drawn else ''}, {side} × {side}, {substeps} substeps"
                yield Check(name, "sag beside converged [%]", 100.0 * (found / depth - 1.0), BAR)


def _sag(side: int, how: str, drawn: float, kernels: str, automatic: bool) -> tuple[float, int]:
    body = sheet(side, how)
    simulation = Simulation([body], kernels=kernels, automatic=automatic, self_collision=False)
    pins, substeps = body.vertices[body.pin_ids], 0
    for frame in range(FRAMES):
        if drawn:
            way = drawn / 2.0 * min(1.0, (frame + 1) * DT)
            simulation.set_pin_targets(body, pins + way * np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]]))
        substeps = simulation.step(DT).substeps
    x = simulation.positions(body)[-side:] if how == "two corners" else simulation.positions(body)
    return float(pins[:, 2].max() - x[:, 2].min()), substeps


def sheet(side: int, how: str) -> Body:
    """A square metre of side x side vertices, level; upright and 1 cm off its plane where it hangs from two corners."""
    line = np.linspace(-0.5, 0.5, side)
    x, y = (axis.ravel() for axis in np.meshgrid(line, line))
    flat = np.zeros(side * side)
    last = side * (side - 1)
    corners = [0, side - 1, last, side * side - 1]
    on_edge = np.flatnonzero(np.maximum(np.abs(x), np.abs(y)) > 0.5 - 0.1 / side).tolist()
    pins = {"four corners": corners, "four edges": on_edge, "two corners": corners[2:]}[how]
    upright = how == "two corners"
    rest = np.column_stack([x, flat, y] if upright else [x, y, flat])
    start = np.column_stack([x, 0.01 * np.cos(2.0 * np.pi * x), y]) if upright else rest
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.column_stack([corner, corner + 1, corner + side + 1, corner + side])
    material = Material(stretch=STRETCH, compression=STRETCH, shear=SHEAR, damping=2.0, drag=2.0)
    return Body(start, quads.tolist(), material, pins=pins, rest_vertices=rest)
