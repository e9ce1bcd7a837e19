"""Cloth that meets itself: Müller et al. 2007, Fig. 6 and 9, with a cloth of as many vertices and triangles."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from pbd_addon import PRESETS, Body, Collider, Material, Plane, Simulation
from tests.helpers.meshes import circle, prism, turned

from .sheets import grid

COLUMNS, ROWS = 21, 61
"""Quads of the paper's cloth: no other grid has its 1364 vertices and, each quad cut in two, its 2562 triangles."""

DT = 1 / 24
RADIUS, LENGTH, SIDES = 0.4, 0.75, 36
TURN = 2.0 * np.pi / 4.0 * DT
"""Of the barrel in a frame, one round in four seconds [rad]."""


class Folded(NamedTuple):
    """A cloth in folds.

    Attributes:
        body: It.
        frames: Its positions in the frames that were asked for, (n, 3) [m] each.
        height: Of the heap over the floor [m].
        layers: Folds that lie on one another, at most.
        speed: Of its vertices at the end, rms [m/s].
        crossings: Edges that went through faces, as the simulation counts them.
        cpu: Mean CPU time of a frame [s].
    """

    body: Body
    frames: list[np.ndarray]
    height: float
    layers: int
    speed: float
    crossings: int
    cpu: float


def lay_down(
    columns: int = COLUMNS, rows: int = ROWS, shown: tuple[int, ...] = (24, 40, 56, 120), kernels: str = "auto"
) -> Folded:
    """A strip of *Cotton* is let down on a floor by its upper edge, to and fro, and comes to rest in folds.

    Its edge goes down in 60 frames, in five strokes, and is let go of.
    """
    size = 0.02
    flat, quads = grid(columns, rows, columns * size, rows * size)
    upright = np.column_stack([flat[:, 0], np.zeros(len(flat)), flat[:, 1] - flat[:, 1].min() + 0.01])
    upper = np.flatnonzero(upright[:, 2] > upright[:, 2].max() - 0.5 * size)
    body = Body(upright, quads, PRESETS["Cotton"])
    simulation = Simulation([body], [Plane(friction=0.6)], kernels=kernels)
    hand = simulation.grab(body, upper, compliance=0.0)
    frames, spent, report = [], 0.0, None
    down, stroke = 60 if rows > 40 else 24, 0.09 * min(1.0, rows / 40)
    for frame in range(1, max(shown) + 1):
        if frame <= down:
            part = frame / down
            at = np.array([0.0, stroke * np.sin(5.0 * np.pi * part), -0.97 * part * upright[upper[0], 2]])
            hand.move(at)
        elif frame == down + 1:
            hand.release()
        begun = time.process_time()
        report = simulation.step(DT)
        spent += time.process_time() - begun
        if frame in shown:
            frames.append(simulation.positions(body).copy())
    assert report is not None
    x = frames[-1]
    speed = float(np.sqrt((simulation.velocities(body) ** 2).sum(axis=1).mean()))
    return Folded(
        body, frames, float(x[:, 2].max()), count_layers(x, body.mesh.triangles), speed, report.crossings,
        spent / max(shown),
    )  # fmt: skip


def count_layers(x: np.ndarray, triangles: np.ndarray, samples: int = 40) -> int:
    """Most triangles that one upright line meets, of lines through the middles of some triangles; x (n, 3)."""
    a, b, c = x[triangles][:, :, :2].transpose(1, 0, 2)
    most = 0
    for middle in (a + b + c)[:: max(1, len(a) // samples)] / 3.0:
        sides = [_turn(q - p, middle - p) for p, q in ((a, b), (b, c), (c, a))]
        most = max(most, int((np.min(sides, axis=0) > 0.0).sum() + (np.max(sides, axis=0) < 0.0).sum()))
    return most


def _turn(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Z of u x v, of vectors (m, 2)."""
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]


def paddles() -> tuple[np.ndarray, np.ndarray]:
    """Four boards along the barrel that stand inwards from its wall, 10 cm high; they reach through it and its ends."""
    half = 0.5 * np.array([0.02, LENGTH + 0.04, 0.14])
    board = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) + [0.0, 0.0, RADIUS - 0.03]
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    vertices = np.concatenate([turned(board, quarter * np.pi / 2, 1) for quarter in range(4)])
    return vertices, np.concatenate([triangles + k * len(board) for k in range(4)])


class Tumbling(NamedTuple):
    """A cloth in a turning barrel, after a frame.

    Attributes:
        simulation, body: Those of the cloth.
        barrel, boards: Vertices of the wall and of the paddles then, (m, 3) [m].
    """

    simulation: Simulation
    body: Body
    barrel: np.ndarray
    boards: np.ndarray


def tumble(
    frames: int, columns: int = COLUMNS, rows: int = ROWS, size: tuple[float, float] = (0.42, 1.0),
    kernels: str = "auto",
) -> Iterator[Tumbling]:  # fmt: skip
    """A cloth of a size [m] tumbles in a closed barrel that turns; yields after every frame."""
    barrel, barrel_triangles = prism(circle(RADIUS, SIDES), LENGTH)
    boards, board_triangles = paddles()
    vertices, quads = grid(columns, rows, *size)
    # Rolled to an open U, so that it fits in.
    bent = vertices[:, 1] / 0.25
    rolled = np.column_stack([0.25 * np.sin(bent), vertices[:, 0], -0.25 * np.cos(bent)])
    material = Material(friction=0.5, thickness=0.001, self_distance=0.008)
    body = Body(rolled, quads, material, rest_vertices=vertices)
    wall = Collider(barrel, barrel_triangles, 0.002, friction=0.6, inside=True, name="Barrel")
    lifters = Collider(boards, board_triangles, 0.002, friction=0.6, name="Paddles")
    simulation = Simulation([body], [wall, lifters], kernels=kernels)
    for frame in range(1, frames + 1):
        now = turned(barrel, TURN * frame, 1), turned(boards, TURN * frame, 1)
        simulation.move_collider(wall, now[0])
        simulation.move_collider(lifters, now[1])
        simulation.step(DT)
        yield Tumbling(simulation, body, *now)
