"""Our solver on the curtain."""

from __future__ import annotations

import time

import numpy as np

from pbd_addon import PRESETS, Body, Simulation, kernels as backends

from .contestants import FABRIC, LeftOut
from .curtain import FRAME_RATE, Curtain
from .stage import Stage


def need(kernels: str) -> None:
    """Load a backend, so that its own start does not count for the cloth.

    Raises:
        LeftOut: It is not installed.
    """
    try:
        backends.load(kernels)
    except ImportError as error:
        raise LeftOut(str(error)) from error


def hung(
    curtain: Curtain, kernels: str, self_collision: bool, substeps: int, automatic: bool = False
) -> tuple[Body, Simulation]:
    """The curtain of cotton in our solver, the rest at its defaults."""
    body = Body(curtain.vertices, curtain.faces, material=PRESETS[FABRIC], pins=curtain.pins, name="Curtain")
    settings = {"substeps": substeps, "automatic": automatic}
    return body, Simulation([body], kernels=kernels, self_collision=self_collision, **settings)


class Ours:
    """Our solver with cotton and, but for what is said here, default settings.

    Args:
        curtain: What it simulates.
        kernels: Backend.
        self_collision: Whether the curtain meets itself, as it does by default.
        substeps: Of a frame.
        automatic: Whether they are chosen for each frame, from a quarter to four times as many.

    A step also hands the positions to a mesh in Blender and lets Blender update its scene: the modifier that we are
    compared with pays for that too.
    """

    def __init__(
        self, curtain: Curtain, kernels: str, self_collision: bool, substeps: int, automatic: bool = False
    ) -> None:
        need(kernels)
        self.stage = Stage(curtain.vertices, curtain.faces)
        start = time.process_time()
        self.body, self.simulation = hung(curtain, kernels, self_collision, substeps, automatic)
        self.setup = time.process_time() - start

    def step(self, frame: int) -> None:
        self.simulation.step(1.0 / FRAME_RATE)
        self.stage.write(self.simulation.positions(self.body))
        self.stage.show(1 + frame)

    def positions(self) -> np.ndarray:
        return self.simulation.positions(self.body)
