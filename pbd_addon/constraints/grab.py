"""Grab: particles that the user grabs, moves and releases while the simulation runs.

C = |p − t|        t: where the particle was grabbed, plus how far the hand has moved
∇C = (p − t) / C
α = compliance of the grip · sum of all weights / weight
from: as `attachment`; springs side by side, so that together they have the compliance of the grip
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import arguments
from ..kernels import Kernels
from ..kernels.protocol.projections import Attached
from ..settings.solver_settings import SolverSettings
from .base import Constraints, compliances, gradients_to_targets

if TYPE_CHECKING:
    from ..bodies.material import Material

GRIP = 0.005
"""Default compliance of a grip, soft enough not to jerk at cloth [m/N]."""


class Grab:
    """Grabbed particles of a body; made by `Simulation.grab`.

    Each is attached by a spring. All springs together have the given compliance, so that the same displacement pulls
    no harder on many particles than on few.

    Args:
        particles: (m,) int.
        places: Their positions, (3, m) [m].
        weights: Relative stiffness of each spring, (m,) above 0.
        compliance: Of the whole grip [m/N]; 0 holds each particle firmly.
        let_go: Called by `release`.

    Attributes:
        start, now: Displacement at the beginning and at the end of the current frame, (3,) [m].
    """

    def __init__(
        self,
        particles: np.ndarray,
        places: np.ndarray,
        weights: np.ndarray,
        compliance: float,
        let_go: Callable[[Grab], None],
    ) -> None:
        self.particles, self.places = particles, places
        share = weights / weights.sum()
        self.compliance = compliances(share / compliance) if compliance > 0.0 else np.zeros(len(particles))
        self._let_go = let_go
        self.start, self.now = np.zeros(3), np.zeros(3)
        self.targets = places
        self.multipliers = np.zeros((3, len(particles)))

    def move(self, way: np.ndarray | Sequence[float]) -> None:
        """Set the displacement from where the particles were grabbed, at the end of the next frame, (3,) [m].

        Raises:
            ValueError: `way` is not three finite numbers.
        """
        self.now = arguments.vector("way", way)

    def release(self) -> None:
        """Release the particles; a second call does nothing."""
        self._let_go(self)


class GrabConstraints(Constraints):
    """All grabs of a scene.

    Attributes:
        grabs: Changed by `Simulation.grab` and `Grab.release`.
        joined: The particle that stands for each where some are one, (n,) int; (0,) if none are.
    """

    name = "grab"

    def __init__(self, joined: np.ndarray) -> None:
        self.joined = joined
        self.grabs: list[Grab] = []
        self.active = False

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.w = w
        self.active = bool(self.grabs)

    def begin_substep(self, h: float, fraction: float) -> None:
        self.h = h
        for grab in self.grabs:
            grab.multipliers[:] = 0.0
            grab.targets = grab.places + (grab.start + fraction * (grab.now - grab.start))[:, None]

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        for grab in self.grabs:
            particles, some = grab.particles, np.arange(len(grab.particles))
            if len(self.joined):
                particles, some = np.unique(self.joined[particles], return_index=True)
            weights = self.w[particles]
            alpha = grab.compliance[some] / self.h**2
            held = np.where(weights + alpha > 0.0, 1.0, 0.0)  # firm pins cannot be moved
            multipliers = np.ascontiguousarray(grab.multipliers[:, some])
            targets = np.ascontiguousarray(grab.targets[:, some])
            pins = Attached(particles, targets, np.maximum(weights, 1e-300), alpha, held)
            kernels.project_attachment(p, pins, multipliers)
            grab.multipliers[:, some] = multipliers

    def arrive(self) -> None:
        """End the frame: the displacements are reached."""
        for grab in self.grabs:
            grab.start = grab.now

    @property
    def multipliers(self) -> np.ndarray:  # type: ignore[override]
        """Of all grabs, (3, m)."""
        return np.concatenate([np.zeros((3, 0)), *(grab.multipliers for grab in self.grabs)], axis=1)

    def values(self, x: np.ndarray) -> np.ndarray:
        particles, targets = self._held()
        return np.linalg.norm(x[particles] - targets.T, axis=1)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        particles, targets = self._held()
        return gradients_to_targets(x, particles, targets)

    def _held(self) -> tuple[np.ndarray, np.ndarray]:
        """Particles (m,) and their targets (3, m) of all grabs."""
        particles = np.concatenate([np.zeros(0, int), *(grab.particles for grab in self.grabs)])
        return particles, np.concatenate([np.zeros((3, 0)), *(grab.targets for grab in self.grabs)], axis=1)
