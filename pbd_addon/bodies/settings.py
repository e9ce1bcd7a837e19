"""Materials and solver settings. What a material says of each feature is in `fields`, presets have their figures."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from ..arrays import arguments
from .fields import (
    AIR_DENSITY,
    Checked,
    Classic,
    Elasticity,
    Inflation,
    Inside,
    Pinning,
    Sail,
    Seam,
    Slowing,
    Solid,
    Strength,
    Tethering,
    Touch,
    Weight,
    Yielding,
    setting,
)
from .presets import FIGURES

COLLISIONS = ("ACCURATE", "FAST", "OFF")
METHODS = ("XPBD", "PBD")

NOT_RIGID: dict[str, Any] = {
    **dict.fromkeys(("stretch", "compression", "shear", "bend", "stretch_yield", "bend_yield", "damping"), 0.0),
    **dict.fromkeys(("k_stretch", "k_compression", "k_shear", "k_bend", "gas_density", "tear_strength"), 0.0),
    **dict.fromkeys(("tethers", "sewing", "internal_springs", "self_collision", "join_borders"), False),
    "pressure_mode": "OFF",
}
"""What a rigid material does not have, whatever else is asked for."""


@dataclasses.dataclass(frozen=True)
class Material(
    Classic,
    Touch,
    Inflation,
    Strength,
    Inside,
    Seam,
    Pinning,
    Tethering,
    Sail,
    Slowing,
    Yielding,
    Elasticity,
    Solid,
    Weight,
):
    """The material of a cloth, balloon or rigid body. SI units; immutable; a stiffness of 0 removes the constraint.

    One that is `rigid` has no stiffness, pressure or seams, whatever is given: it keeps its shape.

    The method "XPBD" uses the stiffnesses [N/m, N·m], "PBD" the pure numbers ``k_*`` of Müller et al. 2007.

    Raises:
        ValueError: A value is out of range.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, value in NOT_RIGID.items() if self.rigid else ():
            object.__setattr__(self, name, value)

    @staticmethod
    def preset(name: str) -> Material:
        """The material of that name in `PRESETS`.

        Raises:
            ValueError: There is none; the sentence lists the names.
        """
        return PRESETS[arguments.choice("a preset's name", name, PRESETS)]


USUAL_DISTANCE = 0.002
"""Default of the distances of cloth and of colliders [m]. Up to it, they follow the size of cloth: `distance_at`."""

EDGE_SHARE = 0.25
"""Largest share of a usual edge that such a distance is: that of cloth and of a collider together are half an edge, as
the automatic distance of self-collision is. Cloth of 1 m and 125 x 125 vertices has edges of 8 mm, so that nothing
coarser is changed; of 2 cm and 30 x 30 it would hover 4 mm, six edges, above everything, and a frame took five times as
long as that of 1 m."""


def distance_at(distance: float | np.ndarray, edge: float | np.ndarray) -> np.ndarray:
    """The distance that counts for cloth with a usual edge [m]: up to `USUAL_DISTANCE`, a share of the edge at most."""
    return np.where(distance <= USUAL_DISTANCE, np.minimum(distance, EDGE_SHARE * edge), distance)


WHOLE_SPEED_SIZE = 0.25
"""Extent of a body from which on overlaps open at their whole speed [m]: a handkerchief, for which 0.5 m/s is a third
of sqrt(g L), its speed after a fall of half of its size. What is larger keeps it, so that nothing bursts open."""


def calm_speed(extent: float) -> float:
    """Share of the speeds at which overlaps open, seams catch up and pins arrive, for a body of an extent [m], [0, 1].

    Under the same gravity, motion of a size L has speeds of sqrt(g L): Froude's number v / sqrt(g L) stays.
    """
    return min(1.0, math.sqrt(extent / WHOLE_SPEED_SIZE))


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
        "Choose the steps of each frame by its motion and by how far its shape is from the converged one: from a quarter "
        "of Quality Steps to four times as many. XPBD only",
    )
    shape_error: float = setting(
        0.05,
        "Shape Error",
        "How far from the converged shape cloth may be, over its size, before Automatic takes more steps or the panel "
        "says so. 0.05 for most cloth, 0.02 for close-ups",
        low=0.005,
        high=1.0,
        soft_high=0.2,
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


PRESETS: dict[str, Material] = {name: Material(**figures) for name, figures in FIGURES.items()}
"""Materials by name."""
