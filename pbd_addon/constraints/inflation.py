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
from ..kernels.protocol.inflation import Balance, Skin, SkinRows
from ..settings.solver_settings import SolverSettings
from .base import Constraints
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

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        volume, skin = self.volume, self.skin
        self.pressurized.begin_pass(p)
        if not skin.active:
            return
        volumes, gradients = volume.measure(kernels, p)
        blown = gradients if volume.factors is None else gradients * volume.factors
        w = self.pressurized.heavy
        carried, moved = self.pressurized.apply_carried(kernels, p, blown)
        works, fixed, pieces = volume.working, volume.sets_pressure, volume.piece_of_particle
        edges = SkinRows(skin.rows.indices, skin.rest_lengths, skin.alpha, self.piece_of_row)
        whole = Skin(w, pieces, works)
        pattern, force, sums = kernels.tension_pattern(p, gradients, edges, skin.multipliers, carried, moved, whole)
        stretch, back, swell, wrong, grown = sums
        error, give = volume.errors(volumes + grown)
        cross = back
        if volume.factors is not None:
            cross = volume.sum_up(w * np.einsum("ij,ij->j", force, blown))
            swell = volume.sum_up(w * np.einsum("ij,ij->j", gradients, blown))
        equations = Balance(stretch, cross, back, swell + give, wrong, error, works, fixed)
        size, push = kernels.balance(equations)
        volume.multipliers += push
        kernels.inflate(p, blown, whole, pattern, force, moved, size, push, self.piece_of_row, skin.multipliers)
        skin.fresh = False

    def values(self, x: np.ndarray) -> np.ndarray:
        """As of the volume."""
        return self.volume.values(x)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of the volume."""
        return self.volume.gradients(x)

    def forces(self) -> np.ndarray:
        """Overpressure of every piece in the last substep, (pieces,) [Pa]."""
        return self.volume.forces()
