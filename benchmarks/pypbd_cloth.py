"""pyPBD, the Python module of the PositionBasedDynamics library (Bender et al.), on the curtain. Without Blender."""

from __future__ import annotations

import time

import numpy as np

from pbd_addon import PRESETS

from .contestants import FABRIC, LeftOut
from .curtain import FRAME_RATE, Curtain

DISTANCE_XPBD, ISOMETRIC_XPBD = 4, 3
"""How pyPBD numbers its models of stretch and of bending."""

STRETCH = 1e5
"""Stiffness of edges in pyPBD's own examples [N/m]; theirs of bending is for a cloth of 10 m."""

POISSON_RATIO = 0.3
"""An argument that distance constraints make no use of."""


class PyPBD:
    """XPBD with distance constraints on all edges of the triangles, and isometric bending; it weighs and bends as ours.

    Args:
        curtain: What it simulates.
        steps: Time steps of a frame.
        substeps: Substeps of a time step, each with one iteration.

    Raises:
        LeftOut: pyPBD is not installed.
    """

    def __init__(self, curtain: Curtain, steps: int, substeps: int) -> None:
        try:
            import pypbd
        except ImportError as error:
            raise LeftOut(f"pyPBD is not installed ({error})") from error
        start = time.process_time()
        simulation = pypbd.Simulation.getCurrent()
        simulation.initDefault()
        self.model, self.timing, self.steps = simulation.getModel(), simulation.getTimeStep(), steps
        # Its gravity points along -y and cannot be set from Python: its y is our z, its z our -y.
        turned = np.column_stack([curtain.vertices[:, 0], curtain.vertices[:, 2], -curtain.vertices[:, 1]])
        sheet = self.model.addTriangleModel(list(turned), curtain.triangles.ravel().tolist(), testMesh=False)
        self.particles = self.model.getParticles()
        for vertex, mass in enumerate((PRESETS[FABRIC].density * curtain.shares).tolist()):
            self.particles.setMass(vertex, 0.0 if vertex in curtain.pins else mass)
        self.model.addClothConstraints(sheet, DISTANCE_XPBD, *[STRETCH] * 4, *[POISSON_RATIO] * 2, False, False)
        self.model.addBendingConstraints(sheet, ISOMETRIC_XPBD, PRESETS[FABRIC].bend)
        self.timing.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, substeps)
        self.timing.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, 1)
        pypbd.TimeManager.getCurrent().setTimeStepSize(1.0 / FRAME_RATE / steps)
        self.setup = time.process_time() - start

    def step(self, frame: int) -> None:
        for _ in range(self.steps):
            self.timing.step(self.model)

    def positions(self) -> np.ndarray:
        x = np.array(self.particles.getVertices(), float).reshape(-1, 3)
        if not np.isfinite(x).all():
            raise ArithmeticError("positions are not finite")
        return np.column_stack([x[:, 0], -x[:, 2], x[:, 1]])
