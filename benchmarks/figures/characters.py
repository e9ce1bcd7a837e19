"""Inflated characters: Müller et al. 2007, Fig. 7 and 11, and Macklin et al. 2016, Fig. 1."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import numpy as np

from pbd_addon import PRESETS, Body, Material, Plane, Simulation
from tests.helpers.skins import inner_motion, needed_pressure

CORNERS = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)])
CELL_EDGES = [(a, b) for a in range(8) for b in range(8) if a < b and (CORNERS[a] != CORNERS[b]).sum() == 1]

CAPSULES = (
    # from, to, radius: in units of the height; the character looks along -y
    ((0.0, 0.0, 0.30), (0.0, 0.0, 0.42), 0.17),  # belly and chest
    ((0.0, 0.0, 0.74), (0.0, -0.01, 0.76), 0.165),  # head
    ((0.0, -0.15, 0.715), (0.0, -0.16, 0.715), 0.055),  # snout
    ((-0.125, 0.0, 0.90), (-0.13, 0.0, 0.905), 0.06),  # ears
    ((0.125, 0.0, 0.90), (0.13, 0.0, 0.905), 0.06),
    ((-0.12, 0.0, 0.49), (-0.32, -0.03, 0.40), 0.065),  # arms
    ((0.12, 0.0, 0.49), (0.32, -0.03, 0.40), 0.065),
    ((-0.10, 0.0, 0.22), (-0.15, -0.02, 0.085), 0.085),  # legs
    ((0.10, 0.0, 0.22), (0.15, -0.02, 0.085), 0.085),
)
BLEND = 0.035
"""Radius with which the parts melt into each other, in units of the height."""


def distance(points: np.ndarray) -> np.ndarray:
    """Distance to the character's skin, negative inside, of points (..., 3); all in units of its height."""
    nearest = np.full(points.shape[:-1], np.inf)
    for start, end, radius in CAPSULES:
        a, axis = np.array(start), np.subtract(end, start)
        along = np.clip((points - a) @ axis / (axis @ axis), 0.0, 1.0)
        d = np.linalg.norm(points - a - along[..., None] * axis, axis=-1) - radius
        # A smooth minimum: where two parts are about as near, the skin runs in a fillet.
        close = np.maximum(BLEND - np.abs(d - nearest), 0.0) / BLEND
        nearest = np.minimum(d, nearest) - close**2 * BLEND / 4.0
    return nearest


def bear(height: float = 0.3, cells: int = 26) -> tuple[np.ndarray, np.ndarray]:
    """A toy bear as one closed surface of quads of even size, with its feet on z = 0.

    Surface nets: every cell that the skin runs through holds a vertex, and every grid edge through the skin a quad.

    Args:
        height: Of the bear [m].
        cells: Into how many it is divided; 26 give 1400 vertices.

    Returns:
        Vertices (n, 3) float64 [m] and quads (f, 4) int that face out.
    """
    size = 1.0 / cells
    low = np.array([-0.5, -0.3, -0.1])
    counts = np.ceil((np.array([0.5, 0.3, 1.1]) - low) / size).astype(int)
    lattice = low + size * np.stack(np.meshgrid(*map(np.arange, counts + 1), indexing="ij"), axis=-1)
    d = distance(lattice)
    corners = np.stack([d[tuple(slice(o, o + c) for o, c in zip(corner, counts))] for corner in CORNERS], axis=-1)
    crossed = np.zeros(counts, int)
    middle = np.zeros((*counts, 3))
    for a, b in CELL_EDGES:
        da, db = corners[..., a], corners[..., b]
        through = (da < 0.0) != (db < 0.0)
        share = np.where(through, da / np.where(through, da - db, 1.0), 0.0)[..., None]
        middle += np.where(through[..., None], CORNERS[a] + share * (CORNERS[b] - CORNERS[a]), 0.0)
        crossed += through
    cells_on = crossed > 0
    number = np.full(counts, -1)
    number[cells_on] = np.arange(cells_on.sum())
    cell = np.argwhere(cells_on)
    vertices = low + size * (cell + middle[cells_on] / crossed[cells_on][:, None])
    quads = []
    for axis in range(3):
        step = np.eye(3, dtype=int)
        u, v = step[(axis + 1) % 3], step[(axis + 2) % 3]
        inside = d < 0.0
        first = np.argwhere(np.diff(inside, axis=axis))
        leaves = inside[tuple(first.T)]
        around = [number[tuple((first - shift).T)] for shift in (u + v, v, 0 * u, u)]
        quad = np.stack(around, axis=-1)
        quads.append(np.where(leaves[:, None], quad, quad[:, ::-1]))
    faces = np.concatenate(quads)
    for _ in range(5):  # Even out, and back onto the skin.
        total = np.zeros_like(vertices)
        for shift in (1, 3):
            np.add.at(total, faces, vertices[np.roll(faces, shift, axis=1)])
        counts_of = 2.0 * np.bincount(faces.ravel(), minlength=len(vertices))
        vertices = 0.5 * vertices + 0.5 * total / counts_of[:, None]
        vertices -= distance(vertices)[:, None] * _outward(vertices)
    vertices[:, 2] -= vertices[:, 2].min()
    return height * vertices / vertices[:, 2].max(), faces


def _outward(points: np.ndarray) -> np.ndarray:
    """Unit gradient of `distance` at points (n, 3)."""
    step = 1e-4 * np.eye(3)
    gradient = np.stack([distance(points + s) - distance(points - s) for s in step], axis=-1)
    return gradient / np.linalg.norm(gradient, axis=-1, keepdims=True)


class Inflated(NamedTuple):
    """A character that holds a volume.

    Attributes:
        body: It.
        x: Its positions, (n, 3) [m].
        volume: Over that at rest [1].
        pressure: As the simulation says [Pa].
        needed: What the tension of its edges and diagonals needs, by their virial [Pa].
        motion: Of its skin beside its own rigid motion, rms [m/s].
        strain: Mean lengthening of the edges [1].
        longest: Largest lengthening of an edge [1].
    """

    body: Body
    x: np.ndarray
    volume: float
    pressure: float
    needed: float
    motion: float
    strain: float
    longest: float


def inflate(
    volumes: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0), cells: int = 26, frames: int = 72, kernels: str = "auto"
) -> list[Inflated]:
    """A bear of *Party Balloon* that floats and is blown up to each of these multiples of its volume in turn.

    Each lasts so many frames of 1/24 s; the settings are those of a new simulation.
    """
    skin = PRESETS["Party Balloon"]
    body = Body(*bear(cells=cells), material=dataclasses.replace(skin, pressure=volumes[0]))
    simulation = Simulation([body], gravity=(0.0, 0.0, 0.0), kernels=kernels)
    found = []
    for volume in volumes:
        simulation.set_material(body, dataclasses.replace(skin, pressure=volume))
        for _ in range(frames):
            simulation.step(1 / 24)
        found.append(look(simulation, body))
    return found


def look(simulation: Simulation, body: Body) -> Inflated:
    """What became of the only body of a simulation."""
    x, v = simulation.positions(body).copy(), simulation.velocities(body)
    strain, volume = body.edge_strain(x), body.volume(x)
    pressure = simulation.pressure(body)
    return Inflated(
        body, x, volume / body.volume(body.rest_vertices), pressure[0] if pressure else float("nan"),
        needed_pressure(body, x), inner_motion(body, x, v)[0], float(strain.mean()),
        float(strain.max()),
    )  # fmt: skip


class Pile(NamedTuple):
    """Characters that fell on one another.

    Attributes:
        bodies: They.
        frames: Positions of each of them in the frames that were asked for, [frame][body] (n, 3) [m].
        volumes: Of each body at the end over that held [1].
        crossings: Edges that went through faces, as the simulation counts them.
        touching: Particles that touched another body or their own, at most in a frame.
        motion: Of the skins at the end, rms [m/s].
    """

    bodies: list[Body]
    frames: list[list[np.ndarray]]
    volumes: list[float]
    crossings: int
    touching: int
    motion: float


def pile(shown: tuple[int, ...] = (1, 16, 28, 72), cells: int = 20, volume: float = 1.3, kernels: str = "auto") -> Pile:
    """Three bears of *Party Balloon* at this multiple of their volume fall on one another and on a floor."""
    vertices, quads = bear(cells=cells)
    skin = dataclasses.replace(PRESETS["Party Balloon"], pressure=volume)
    places = ((0.0, 0.0, 0.05, 0.0), (0.10, 0.03, 0.42, 1.9), (-0.09, -0.02, 0.78, 3.6))
    bodies = []
    for x, y, z, angle in places:
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])  # about y, each one differently
        middle = np.array([0.0, 0.0, 0.15])
        start = (vertices - middle) @ turn.T + middle + np.array([x, y, z])
        bodies.append(Body(start, quads, skin))
    simulation = Simulation(bodies, [Plane(friction=0.6)], kernels=kernels)
    frames, touching, report = [], 0, None
    for frame in range(1, max(shown) + 1):
        report = simulation.step(1 / 24)
        touching = max(touching, report.self_contacts)
        if frame in shown:
            frames.append([simulation.positions(body).copy() for body in bodies])
    motion = [inner_motion(b, simulation.positions(b), simulation.velocities(b))[0] for b in bodies]
    held = [b.volume(simulation.positions(b)) / (volume * b.volume(b.rest_vertices)) for b in bodies]
    assert report is not None
    return Pile(bodies, frames, held, report.crossings, touching, max(motion))


STIFF, SOFT = 4000.0, 20.0
"""Skins of Macklin et al. 2016, Fig. 1, as we make it [N/m]."""

SOFT_AIR = 300.0
"""Bulk modulus of what fills a character whose volume gives way [Pa]: a third less volume for its weight's 100 Pa."""


def enclosed(triangles: np.ndarray, rest: float):
    """C = volume - rest [m³] of a closed surface, for a row of all of its vertices."""

    def function(p: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        a, b, c = p[0][triangles].transpose(1, 0, 2)
        gradient = np.zeros_like(p)
        for corner, other, third in ((0, b, c), (1, c, a), (2, a, b)):
            np.add.at(gradient[0], triangles[:, corner], np.cross(other, third) / 6.0)
        volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0
        return np.array([volume - rest]), gradient

    return function


def sit(
    stretch: float, rigid: bool, iterations: int = 1, cells: int = 18, frames: int = 72, kernels: str = "auto"
) -> Inflated:
    """A heavy bear lies on its back: skin of so many N/m, and a volume that is rigid or gives way."""
    vertices, quads = bear(cells=cells)
    vertices = vertices @ np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])  # (x, y, z) to (x, z, -y): it looks up
    vertices[:, 2] += 0.002 - vertices[:, 2].min()
    material = Material(
        density=2.0, stretch=stretch, compression=stretch, shear=stretch / 3.0, bend=1e-4, damping=2.0, drag=1.0,
        friction=0.8, pressure_mode="VOLUME" if rigid else "OFF",
    )  # fmt: skip
    body = Body(vertices, quads, material)
    simulation = Simulation([body], [Plane(friction=0.8)], iterations=iterations, kernels=kernels)
    if not rigid:
        rest = body.volume(vertices)
        every = np.arange(len(vertices))[None]
        air = enclosed(body.mesh.triangles, rest)
        simulation.add_constraints(body, every, air, compliance=rest / SOFT_AIR, name="air")
    for _ in range(frames):
        simulation.step(1 / 24)
    return look(simulation, body)
