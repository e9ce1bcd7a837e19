"""Masses."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..constraints import VolumeConstraints
from ..settings.fields import Checked, multiplies, setting
from ..settings.solver_settings import SolverSettings
from .layout import Layout

if TYPE_CHECKING:
    from ..bodies.material import Material

PIN_SHARE = 1e3
"""Ratio of the mass of an island's firm pins to that of its free particles, for the rigid motion that damping keeps.

Real pins have infinite mass. With this value only 0.1 % of the damping acts on a swing about a single pin, and where
pins lie on a line to within 3 % of the island's size, the free particles decide how it turns about them.
"""

RING_SHARE = 0.3
"""Mass of the ring that a sliding vertex stands for, over that of the cloth that hangs from each pin or sliding vertex.

The mass m of one vertex is nothing against the mass M of what hangs there: each substep takes it off its rail by about
M / m g h². While a curtain of 1 m x 1.5 m, 41 x 61 vertices, is drawn along a rod by 0.6 m in a second, its nine rings
are up to 61, 1.7, 0.7, 0.2 mm off the rod with shares of 0, 0.1, 0.3, 1. Springs that see only the directions in which
such a vertex can move hold it as well as a pin while the cloth is flat, and are unstable where it is folded."""


@dataclasses.dataclass(frozen=True)
class Weight(Checked):
    """What cloth weighs."""

    density: float = setting(
        0.15,
        "Density",
        "Mass of one square meter of the material. Silk 0.07, cotton 0.12, denim 0.37, leather 0.6 kg/m²",
        unit="kg/m²",
        low=1e-4,
        soft_high=2.0,
    )


WEIGHT_MAPS = {"density": multiplies("Density", "Density", 0.2, "A hem with a lead band 5", is_positive=True)}
"""What of it can vary over a body."""


def inertia_of(
    layout: Layout,
    materials: Sequence[Material],
    maps: Sequence[Mapping[str, np.ndarray]],
    settings: SolverSettings,
    volume: VolumeConstraints,
) -> dict[str, Any]:
    """The masses of a `Model`, arrays by name."""
    bodies, free, pinned, islands = layout.bodies, layout.free, layout.pinned, layout.islands
    counts = [len(body.vertices) for body in bodies]
    weighing = np.concatenate([body.masses(m, roped) for body, m, roped in zip(bodies, materials, layout.sewn.roped)])
    own = np.repeat([body.own_masses is not None for body in bodies], counts)
    weighing *= np.where(own, 1.0, layout.maps_of_particles(maps).get("density", 1.0))
    density = settings.air_density
    air = np.concatenate([body.air_masses(m, density) for body, m in zip(bodies, materials)])
    for number in np.flatnonzero(volume.burst):
        air[volume.pieces[number].triangles] = 0.0
    for body, part in zip(bodies, layout.slices):
        if len(body.slide_ids) and body.own_masses is None:
            hung = weighing[part].sum() / (len(body.pin_ids) + len(body.slide_ids))
            weighing[body.slide_ids + part.start] += RING_SHARE * hung
    masses = weighing + air
    gravity_fraction, w = np.zeros_like(masses), np.zeros_like(masses)
    gravity_fraction[free], w[free] = weighing[free] / masses[free], 1.0 / masses[free]
    count = len(layout.body_of_island)
    hanging = np.bincount(islands[free], masses[free], count)
    firm = np.bincount(islands[pinned], minlength=count)
    anchored = pinned[hanging[islands[pinned]] > 0.0]
    damping_masses = masses.copy()
    damping_masses[anchored] = PIN_SHARE * hanging[islands[anchored]] / firm[islands[anchored]]
    return {
        "masses": masses,
        "w": w,
        "gravity_fraction": gravity_fraction,
        "damping_masses": damping_masses,
        "damping_island_masses": np.bincount(islands, damping_masses),
    }
