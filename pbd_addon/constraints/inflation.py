"""Inflation: a whole skin responds to its pressure at once.

C = that of the volume, and those of all edges in the proportion in which growth along the normals stretches them
∇C = as in `volume` and `distance`
α = as in `volume` and `distance`
from: XPBD's system of these two unknowns, which are solved together (Macklin et al. 2016, eq. 16)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from ..kernels.protocol.inflation import Skin, SkinRows
from ..settings.solver_settings import SolverSettings
from .base import NO_PULL, NOTHING, Constraints, make
from .distance import DistanceConstraints
from .skin import PressurizedSkin
from .volume import VolumeConstraints

if TYPE_CHECKING:
    from ..bodies.material import Material


class InflationConstraints(Constraints):
    """A first step on volume and stretch together, before the sweep over the edges.

    Edge by edge, a pressure spreads only through the small angles between edges, and a fine balloon would be far too
    soft. So two unknowns per piece are solved together: the multiplier of its volume, and the size s of multipliers of
    all its edges in the proportion mu, in which growth along the normals stretches them. Afterwards there is no error
    of volume, and no residual of the edges along mu:

        | mu . (J W J^T + alpha) mu   mu . J W grad V          |  | s        |      | mu . (C + alpha lambda) |
        | mu . J W grad V             grad V . W grad V + give |  | d_lambda |  = - | error of volume         |

    Both kinds continue with these multipliers, so this is XPBD with a better start.

    Args:
        volume: The closed surfaces of the scene.
        skin: The edges of all bodies.
        pressurized: Its effective masses are used, and its carried tensions are applied first.
    """

    name = "inflation"

    def __init__(self, volume: VolumeConstraints, skin: DistanceConstraints, pressurized: PressurizedSkin) -> None:
        self.volume, self.skin, self.pressurized = volume, skin, pressurized
        self.multipliers = volume.multipliers

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        inflated = any(materials[piece.body].pressure_mode != "OFF" for piece in self.volume.pieces)
        self.active = settings.method == "XPBD" and inflated and len(self.skin.rest_lengths) > 0
        if self.active:
            self.piece_of_row = self.volume.piece_of_particle[self.skin.rows.indices[0]]

    def begin_substep(self, h: float, fraction: float) -> None:
        """Nothing to reset: the multipliers are those of the volume and the skin."""

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        volume, skin, pressurized = self.volume, self.skin, self.pressurized
        if not pressurized.active:
            return []
        carries, pieces, square = pressurized.carries and skin.active, volume.piece_of_particle, volume.h**2
        measured = pressurized.measured._replace(pull=pressurized.measured.pull if carries else NO_PULL)
        factors = NOTHING if volume.factors is None else volume.factors
        pressures = pressurized.now.pressures if carries else NOTHING
        given = volume.surface(self.kernels), factors, pieces, pressures, volume.multipliers, measured
        found = [Call("measure_skin", 1, given)]
        if not skin.active:
            return found
        carried = [rows.found for rows in pressurized.carried] if carries else []
        for rows, multipliers in zip(pressurized.springs[1:], carried[1:]):
            if rows.active:
                along = rows.rows.indices, multipliers, rows.multipliers, measured.pull
                found.append(Call("pull_along", 1, along))
        edges = SkinRows(skin.rows.indices, skin.rest_lengths, skin.alpha, self.piece_of_row)
        whole = Skin(pressurized.heavy, pieces, volume.working)
        own = carried[0] if carries else NOTHING
        both = edges, skin.multipliers, own, whole, volume.contents, volume.multipliers, square
        return [*found, Call("respond", 1, (measured, *both))]

    def begins(self) -> list[DistanceConstraints]:
        if not (self.pressurized.active and self.skin.active):
            return []
        others = self.pressurized.springs[1:] if self.pressurized.carries else []
        return [rows for rows in (self.skin, *others) if rows.active]

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        self.pressurized.begin_pass(p)
        make(kernels, self.calls(True, True), p, x)
        for rows in self.begins():
            rows.fresh = False
        self.pressurized.carries = False  # once in a substep

    def values(self, x: np.ndarray) -> np.ndarray:
        """As of the volume."""
        return self.volume.values(x)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of the volume."""
        return self.volume.gradients(x)

    def forces(self) -> np.ndarray:
        """Overpressure of every piece in the last substep, (pieces,) [Pa]."""
        return self.volume.forces()
