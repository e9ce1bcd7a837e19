"""Motion loses no energy that nothing takes: a double pendulum, a disc that spins, silk that slides off an edge."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from pbd_addon import Body, Collider, Material, Simulation
from tests.helpers.meshes import grid, prism

from .check import NO_BAR, Check
from .drapes import Drape, disc

DT = 1.0 / 24.0
FRAMES = 48

PENDULUM_BAR, SPIN_BAR, SLIDE_BAR = 3.0, 1.0, 15.0
"""Largest loss of energy and of angular momentum in two seconds, and error of a tail's length [%]."""

CLOTH, TAIL, ROUND = 1.0, 0.35, 0.03
"""Length of the silk, of what hangs freely at the start, and radius of the edge [m]."""

LET_GO, REST_BAR = 8.0, 5.0
"""How long a curtain swings [s], and the largest speed at which it is at rest then [mm/s]."""

SPIN = 10.0
"""Of the disc [rad/s]."""


def checks(kernels: str, automatic: bool, quick: bool) -> Iterator[Check]:
    """What is lost, and how far the silk has come after 4 and 8 frames."""
    yield from _pendulum(kernels, automatic)
    yield _spin(kernels, automatic)
    yield from _slide(kernels, automatic)
    yield let_go(Material.preset("Cotton"), "Cotton as it is", kernels, automatic)


def _pendulum(kernels: str, automatic: bool) -> Iterator[Check]:
    """Two masses of 0.1 kg on two stiff links of 0.5 m that are let go of from the level."""
    vertices = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [1.0, 0.0, 0.0]])
    body = Body(vertices, edges=[[0, 1], [1, 2]], masses=[0.1] * 3, compliances=[1e-7] * 2, pins=[0],
                material=Material(damping=0.0, drag=0.0))  # fmt: skip
    simulation = Simulation([body], kernels=kernels, automatic=automatic, air_density=0.0)
    counts = [simulation.step(DT).substeps for _ in range(FRAMES)]
    x, v = simulation.positions(body), simulation.velocities(body)
    change = 0.05 * float((v**2).sum()) + 0.981 * float(x[1:, 2].sum())
    name = "double pendulum of rope, 2 s"
    # Of what both masses fall through until they hang.
    yield Check(name, "energy lost [%]", -100.0 * change / (0.981 * 1.5), PENDULUM_BAR)
    yield Check(name, "mean steps of a frame", float(np.mean(counts)), NO_BAR)


def _spin(kernels: str, automatic: bool) -> Check:
    """A disc of *Cotton* that spins about its axis in a vacuum without weight."""
    whole = disc(Drape("Cotton", 0.01, "quads", 0.0), 0)
    material = dataclasses.replace(whole.material, damping=0.0, drag=0.0)
    body = Body(whole.rest_vertices, whole.mesh.triangles, material, angular_velocity=(0.0, 0.0, SPIN))
    simulation = Simulation([body], kernels=kernels, automatic=automatic, gravity=(0.0, 0.0, 0.0), air_density=0.0,
                            self_collision=False)  # fmt: skip

    def spin() -> float:
        x, v = simulation.positions(body), simulation.velocities(body)
        return float((simulation._model.masses * np.cross(x, v)[:, 2]).sum())

    before = spin()
    for _ in range(FRAMES):
        simulation.step(DT)
    return Check("free disc at 10 rad/s, 2 s", "angular momentum lost [%]", 100.0 * (1.0 - spin() / before), SPIN_BAR)


def let_go(material: Material, name: str, kernels: str, automatic: bool) -> Check:
    """A curtain of a square meter that hangs from two corners and was level when it was let go."""
    rest, quads = grid(32, 32, 1.0, 1.0)
    body = Body(rest, quads, material, pins=[32 * 33, 33 * 33 - 1])
    simulation = Simulation([body], kernels=kernels, automatic=automatic, self_collision=False)
    speeds = []
    for _ in range(round(LET_GO / DT)):
        simulation.step(DT)
        speeds.append(float((simulation.velocities(body) ** 2).sum(axis=1).mean()))
    return Check(f"curtain let go, {name}", "rms speed in the eighth second [mm/s]",
                 1e3 * float(np.sqrt(np.mean(speeds[-24:]))), REST_BAR)  # fmt: skip


def _slide(kernels: str, automatic: bool) -> Iterator[Check]:
    """A strip of *Silk* that slides off a table over a rounded edge without friction, in a vacuum.

    What hangs, s, pulls at the whole length L: L s'' = g (s + r), of which r is the radius of its way round the edge.
    """
    material = dataclasses.replace(Material.preset("Silk"), friction=0.0, damping=0.0)
    gap = material.thickness + THICKNESS
    r = ROUND + gap
    rest, quads = grid(100, 6, CLOTH, 0.06)
    along = rest[:, 0] - rest[:, 0].max() + TAIL + 0.5 * np.pi * r  # from the beginning of the edge on
    turn = np.clip(along / r, 0.0, 0.5 * np.pi)
    over, down = np.minimum(along, 0.0), np.maximum(along - 0.5 * np.pi * r, 0.0)
    start = np.column_stack([over + r * np.sin(turn), rest[:, 1], gap - r * (1.0 - np.cos(turn)) - down])
    corner = ROUND * np.exp(1j * np.linspace(0.5 * np.pi, 0.0, 33))
    profile = np.array([-CLOTH - 0.2j, -CLOTH + 0.0j, *(corner - 1j * ROUND), ROUND - 0.2j]) + MIDDLE
    table, triangles = prism(np.column_stack([profile.imag, profile.real])[::-1], 0.3)
    table -= [MIDDLE.real, 0.0, MIDDLE.imag]
    body = Body(start, quads, material, rest_vertices=rest)
    edge = Collider(table, triangles, THICKNESS, friction=0.0)
    simulation = Simulation([body], [edge], kernels=kernels, automatic=automatic, air_density=0.0,
                            self_collision=False)  # fmt: skip
    lowest = float(start[:, 2].min())
    for frame in range(1, 9):
        simulation.step(DT)
        if frame in (4, 8):
            law = (TAIL + r) * (np.cosh(np.sqrt(9.81 / CLOTH) * frame * DT) - 1.0)
            gone = lowest - float(simulation.positions(body)[:, 2].min())
            yield Check(f"silk over an edge, {frame} frames", f"way of the tail beside {1e3 * law:.0f} mm [%]",
                        100.0 * (gone / float(law) - 1.0), SLIDE_BAR)  # fmt: skip


THICKNESS = 0.001
"""Of the table [m]."""

MIDDLE = 0.5 + 0.1j
"""Of the table's profile, from where all of it is seen [m]."""
