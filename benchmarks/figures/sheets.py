"""Sheets that hang: Müller et al. 2007, Fig. 3; Macklin et al. 2016, Fig. 6 and Table 1; the seed report's Fig. 5."""

from __future__ import annotations

import dataclasses
import time
from typing import NamedTuple

import numpy as np

from pbd_addon import PRESETS, Body, Material, Simulation
from pbd_addon.kernels.numpy import dihedral_angles

from .springs import raw

STRETCH = {"PBD": ("k_stretch", (1.0, 0.5, 0.01)), "XPBD": ("stretch", (2000.0, 200.0, 20.0))}
BEND = {"PBD": ("k_bend", (1.0, 0.0)), "XPBD": ("bend", (0.03, 0.0))}
"""Columns and rows of Müller et al. 2007, Fig. 3, and figures in physical units that tell sheets apart as far."""

ITERATIONS = (20, 40, 80, 160)
SOFT = 0.01
"""Iterations, and the raw stiffness of PBD, of Macklin et al. 2016, Fig. 6."""

DROP_STEP = 1 / 480
"""Its step [s], which the paper does not name. In steps of 1/60 s such a k would not hold the cloth: 20 iterations let
an edge lengthen by 2 g h² 64 / (20 k) = 1.7 m before they take up as much as gravity adds."""


def grid(rx: int, ry: int, width: float, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A flat sheet of rx by ry quads about the origin, X along the width: vertices (n, 3) [m] and quads (f, 4)."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, rx + 1) * width, np.linspace(-0.5, 0.5, ry + 1) * height)
    corner = np.arange(rx) + (rx + 1) * np.arange(ry)[:, None]
    quads = np.stack([corner, corner + 1, corner + rx + 2, corner + rx + 1], axis=-1).reshape(-1, 4)
    return np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)]), quads


class Hung(NamedTuple):
    """A sheet that hung for a while.

    Attributes:
        body: It.
        x: Its positions, (n, 3) [m].
        strain: Mean lengthening of its edges [1].
        fold: Mean angle of its hinges [degrees].
    """

    body: Body
    x: np.ndarray
    strain: float
    fold: float


def hang(
    method: str, stretch: float, bend: float, side: int = 6, frames: int = 36, substeps: int = 4, iterations: int = 2,
    span: float = 1.0, kernels: str = "auto",
) -> Hung:  # fmt: skip
    """A square metre that hangs from two corners, which move to `span` [m] from each other in half of the frames."""
    settings = {STRETCH[method][0]: stretch, BEND[method][0]: bend}
    if method == "PBD":
        settings |= {"k_compression": stretch, "k_shear": stretch}
    else:
        settings |= {"compression": stretch, "shear": stretch}
    material = Material(**settings, bend_model="DIHEDRAL", tethers=False, drag=2.0, damping=0.5)
    vertices, quads = grid(side, side, 1.0, 1.0)
    corners = [side * (side + 1), side * (side + 2)]
    body = Body(vertices, quads, material, pins=corners)
    # As the corners come together by a third only, no fold meets another.
    simulation = Simulation(
        [body], method=method, substeps=substeps, iterations=iterations, self_collision=False, kernels=kernels
    )
    for frame in range(frames):
        share = 1.0 - (1.0 - span) * min(1.0, 2.0 * (frame + 1) / frames)
        simulation.set_pin_targets(body, vertices[corners] * [share, 1.0, 1.0])
        simulation.step(1 / 24)
    x = simulation.positions(body).copy()
    folds = dihedral_angles(x.T[:, body.mesh.hinges.T], with_gradients=False)[0]
    return Hung(body, x, float(body.edge_strain(x).clip(0.0).mean()), float(np.degrees(np.abs(folds)).mean()))


class Drop(NamedTuple):
    """A sheet that fell from level and swung down.

    Attributes:
        body: It.
        x: Its positions at the end, (n, 3) [m].
        depth: How far its lowest point is below its pins then [m].
        strain: Mean change of length of its edges then [1].
        cpu: Median CPU time of a step [s].
        constraints: How many constraints of stretch, shear and bending it has.
    """

    body: Body
    x: np.ndarray
    depth: float
    strain: float
    cpu: float
    constraints: int


def drop(
    method: str, iterations: int, count: int = 64, seconds: float = 0.75, stretch: float = 20.0, kernels: str = "auto"
) -> Drop:
    """A square metre of count x count particles that hangs by two corners, in steps of `DROP_STEP` seconds.

    Args:
        method: "XPBD" with a stiffness in N/m, or "PBD" with the raw k `SOFT` of every kind.
        iterations: Solver passes in a step.
        count: Particles along a side.
        seconds: How long it falls, from level [s].
        stretch: For XPBD, of edges and diagonals [N/m]; the paper does not name its own.
        kernels: Backend.
    """
    k = raw(SOFT, iterations)
    material = Material(
        density=0.15, stretch=stretch, compression=stretch, shear=stretch, bend=1e-5, damping=0.0, drag=2.0,
        k_stretch=k, k_compression=k, k_shear=k, k_bend=k, tethers=False,
    )  # fmt: skip
    vertices, quads = grid(count - 1, count - 1, 1.0, 1.0)
    body = Body(vertices, quads, material, pins=[count * (count - 1), count * count - 1])
    simulation = Simulation(
        [body], method=method, substeps=1, iterations=iterations, self_collision=False, kernels=kernels
    )
    cpu = []
    for _ in range(round(seconds / DROP_STEP)):
        begun = time.process_time()
        simulation.step(DROP_STEP)
        cpu.append(time.process_time() - begun)
    x = simulation.positions(body).copy()
    mesh = body.mesh
    constraints = len(mesh.edges) + len(mesh.diagonals) + len(mesh.hinges)
    strain = float(body.edge_strain(x).mean())
    return Drop(body, x, float(-x[:, 2].min()), strain, float(np.median(cpu)), constraints)


def profile(
    method: str, iterations: int, side: int = 30, frames: int = 8, k: float = 0.1, kernels: str = "auto"
) -> np.ndarray:
    """The middle line of a square metre of *Cotton* held level by one edge, after falling for so many frames of 1/24 s.

    Args:
        method: "XPBD" with the preset's figures, or "PBD" with the raw k of every kind.
        iterations: Solver passes in each of 5 substeps a frame.
        side: Quads along it.
        frames: How many.
        k: Stiffness of PBD in each iteration.
        kernels: Backend.

    Returns:
        Distance from the pinned edge and height, (side + 1, 2) [m].
    """
    own = raw(k, iterations)
    material = dataclasses.replace(PRESETS["Cotton"], k_stretch=own, k_compression=own, k_shear=own, k_bend=own)
    vertices, quads = grid(side, side, 1.0, 1.0)
    body = Body(vertices, quads, material, pins=np.arange(side + 1) * (side + 1))
    simulation = Simulation(
        [body], method=method, substeps=5, iterations=iterations, self_collision=False, kernels=kernels
    )
    for _ in range(frames):
        simulation.step(1 / 24)
    line = simulation.positions(body).reshape(side + 1, side + 1, 3)[side // 2]
    return line[:, [0, 2]] - line[0, [0, 2]]
