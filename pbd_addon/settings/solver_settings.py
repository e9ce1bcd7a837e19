"""Settings of the solver."""

from __future__ import annotations

import dataclasses

from ..arrays import arguments
from .fields import Checked, setting

COLLISIONS = ("ACCURATE", "FAST", "OFF")
METHODS = ("XPBD", "PBD")

ATMOSPHERE = 101_325.0
"""Standard air pressure outside every balloon [Pa]."""

AIR_DENSITY = 1.2
"""Density of air at 20 °C and `ATMOSPHERE` [kg/m³]."""


@dataclasses.dataclass(frozen=True)
class SolverSettings(Checked):
    """How a scene is stepped. Immutable.

    Raises:
        ValueError: A value is out of range.
    """

    method: str = setting(
        "XPBD",
        "Method",
        "XPBD: stiffness in physical units, independent of the quality steps. PBD: the classic of 2007, pure numbers",
        choices=METHODS,
    )
    substeps: int = setting(
        20,
        "Quality Steps",
        "Substeps of one frame: more are stiffer and more exact. 20 for most cloth, 40 for fine meshes",
        low=1,
        high=1000,
        soft_high=80,
    )
    automatic: bool = setting(
        False,
        "Automatic",
        "Choose the steps of each frame by its motion and by what is short of each stiffness: down to a quarter of "
        "Quality Steps while cloth rests, up to four times as many while it whips about. XPBD only",
    )
    iterations: int = setting(
        1,
        "Iterations",
        "Solver passes within a substep, usually 1. More quality steps are better than more iterations",
        low=1,
        high=1000,
        soft_high=20,
    )
    collisions: str = setting(
        "ACCURATE",
        "Collisions",
        "How cloth meets itself and other cloth. Accurate: surface against surface, nothing goes through. "
        "Fast: only vertex against vertex, for cloth that barely touches itself. Off: not at all. "
        "Obstacles are always accurate",
        choices=COLLISIONS,
    )
    air_density: float = setting(
        AIR_DENSITY,
        "Air Density",
        "Mass of a cubic meter of what is around the cloth. Air 1.2, vacuum 0, water 1000 kg/m³",
        unit="kg/m³",
        low=0.0,
        soft_high=2.0,
    )
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    def __post_init__(self) -> None:
        super().__post_init__()
        x, y, z = arguments.vector("SolverSettings.gravity", self.gravity).tolist()
        object.__setattr__(self, "gravity", (x, y, z))
