"""Attachment: springs to moving targets, for soft pins. Firm pins need no constraint: their w is 0.

C = |p − t|        t: the target
∇C = (p − t) / C
α = (1 − weight) / (pin stiffness · weight)
from: a spring of rest length 0; the weight takes its stiffness from none, at 0, to a firm pin, at 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.protocol.frames import Call
from ..kernels.protocol.projections import Attached
from ..settings.solver_settings import SolverSettings
from .base import Constraints, compliances, gradients_to_targets, relaxation

if TYPE_CHECKING:
    from ..bodies.material import Material


class AttachmentConstraints(Constraints):
    """Soft pins. The kernel works on the vector p - t, which has the same energy and the same correction.

    Args:
        particles: (m,) int.
        pin_weights: Weight of each pin, in (0, 1), (m,).

    Attributes:
        path: Targets at the beginning and the end of the current frame, (2, 3, m) [m]; set by the solver.
    """

    name = "attachment"

    def __init__(self, particles: np.ndarray, pin_weights: np.ndarray, body: np.ndarray) -> None:
        self.particles, self.pin_weights, self.body = particles, pin_weights, body
        self.path = np.zeros((2, 3, len(particles)))
        self.targets = np.zeros((3, len(particles)))
        self.multipliers = np.zeros((3, len(particles)))

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.weights = w[self.particles]
        stiffness = np.array([m.pin_stiffness for m in materials])[self.body]
        self.compliance = compliances(stiffness * self.pin_weights / (1.0 - self.pin_weights))
        if settings.method == "PBD":
            self.compliance = np.zeros_like(self.compliance)
        self.k = relaxation(self.pin_weights, settings)
        self.active = len(self.particles) > 0
        self.h = 0.0

    def begin_substep(self, h: float, fraction: float) -> None:
        super().begin_substep(h, fraction)
        self.alpha = self.compliance / h**2
        self.targets = self.path[0] + fraction * (self.path[1] - self.path[0])

    def begin_calls(self) -> list[Call]:
        return [
            Call("clear", 0, (self.multipliers.reshape(-1),)),
            Call("aim", 1, (self.path[0], self.path[1], self.targets)),
        ]

    def calls(self, last: bool, fresh: bool) -> list[Call]:
        pins = Attached(self.particles, self.targets, self.weights, self.alpha, self.k)
        return [Call("project_attachment", 1, (pins, self.multipliers))]

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(x[self.particles] - self.targets.T, axis=1)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return gradients_to_targets(x, self.particles, self.targets)
