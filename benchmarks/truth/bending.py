"""Clamped strips of the presets hang as deep as the elastica, on any mesh, with both models of bending.

The strips are a quarter as wide as
long, clamped by a column of cells whose corners are all pinned. A strip swings for seconds: the last one is averaged.
"""

from __future__ import annotations

import dataclasses
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


def _error(
    preset: str, length: float, segments: int, mesh: str, model: str, turn: np.ndarray, kernels: str, automatic: bool
) -> float:
    vertices, faces, pins = clamped_strip(segments, length, mesh)
    material = dataclasses.replace(Material.preset(preset), bend_model=model)
    body = Body(vertices @ turn.T, faces, material, pins=pins)
    gravity = turn @ [0.0, 0.0, -9.81]
    simulation = Simulation([body], gravity=tuple(gravity), kernels=kernels, automatic=automatic)
    tip, depths = vertices[:, 0] > (1.0 - 1e-6) * length, []
    for _ in range(FRAMES):
        simulation.step(DT)
        depths.append(-float((simulation.positions(body) @ turn)[tip, 2].mean()))
    wanted = hanging(length, 9.81 * material.density / material.bend)
    return 100.0 * (float(np.mean(depths[-AVERAGED:])) / wanted - 1.0)
