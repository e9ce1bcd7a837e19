"""Inflation: the tension of a whole skin answers the pressure in it at once."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

import numpy as np

from ..settings import Material, SolverSettings
from .base import Constraints
from .distance import DistanceConstraints
from .volume import VolumeConstraints


class InflationConstraints(Constraints):
    """A first step on volume and stretch together, before the sweep over the edges.

    Edge by edge, a skin learns of a pressure only through the slight angles between its edges, and a fine balloon would
    swell like dough. So for each piece two numbers are solved for together: the multiplier of its volume, and the size
    s of multipliers for all of its edges in the proportion mu in which growth along the normals pulls at them.
    Afterwards no error of volume is left, and no residual of the edges along mu:

        | mu . (J W J^T + alpha) mu   mu . J W grad V          |  | s        |      | mu . (C + alpha lambda) |
        | mu . J W grad V             grad V . W grad V + give |  | d_lambda |  = - | error of volume         |

    Both go on with these multipliers, so this is XPBD with a better start.

    Args:
        volume: The closed surfaces of the scene.
        skin: The edges of all bodies.
    """

    name = "inflation"

    def __init__(self, volume: VolumeConstraints, skin: DistanceConstraints) -> None:
        self.volume, self.skin = volume, skin
        self.multipliers = volume.multipliers
        self.piece_of_row = volume.piece_of_particle[skin.rows.indices[0]]

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        inflated = any(materials[piece.body].pressure_mode != "OFF" for piece in self.volume.pieces)
        self.active = settings.method == "XPBD" and inflated and len(self.piece_of_row) > 0
        self.w = w

    def begin_substep(self, h: float, fraction: float) -> None:
        """The multipliers are those of the volume and of the skin."""

    def project(self, kernels: ModuleType, p: np.ndarray, x: np.ndarray) -> None:
        volume, skin = self.volume, self.skin
        if not skin.active:
            return
        volumes, gradients = volume.measure(kernels, p)
        error, give = volume.errors(volumes)
        pattern, residual, alpha, force = self._pattern(p, gradients)
        w, blown, works, fixed = self.w, volume.push, volume.working, volume.sets_pressure
        stretch = volume.sum_up(w * _dot(force, force)) + self._sum_rows(alpha * pattern**2)
        along = _dot(force, gradients)
        cross = volume.sum_up(blown * along)
        swell = np.where(fixed, 1.0, volume.sum_up(blown * _dot(gradients, gradients)) + give)
        back = np.where(fixed, 0.0, volume.sum_up(w * along))
        wrong = self._sum_rows(pattern * residual)
        error = np.where(fixed, -error, error)
        tense = stretch > 0.0
        scale = np.where(tense, stretch, 1.0)
        determinant = scale * swell - cross * back
        good = works & (determinant > 0.0)
        safe = np.where(good, determinant, 1.0)
        size = np.where(good & tense, (cross * error - swell * wrong) / safe, 0.0)
        push = np.where(good, (back * wrong - scale * error) / safe, 0.0)
        skin.multipliers += size[self.piece_of_row] * pattern
        volume.multipliers += push
        of_particle = volume.piece_of_particle
        p += w * size[of_particle] * force + blown * push[of_particle] * gradients

    def _pattern(self, p: np.ndarray, gradients: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Of every row mu, C + alpha lambda and alpha, (m,) each; and J^T mu, (3, n)."""
        skin, n = self.skin, p.shape[1]
        start, end = skin.rows.indices
        normals = gradients / np.maximum(np.sqrt(_dot(gradients, gradients)), 1e-300)
        direction = p[:, start] - p[:, end]
        length = np.maximum(np.sqrt(_dot(direction, direction)), 1e-300)
        direction /= length
        error = length - skin.rest_lengths
        alpha = np.where(error < 0.0, skin.alpha[1], skin.alpha[0])
        growth = _dot(direction, normals[:, start] - normals[:, end])
        pattern = np.where(self.volume.working[self.piece_of_row], np.maximum(growth, 0.0) / skin.alpha[0], 0.0)
        force = np.stack([np.bincount(start, row, n) - np.bincount(end, row, n) for row in direction * pattern])
        return pattern, error + alpha * skin.multipliers, alpha, force

    def _sum_rows(self, of_rows: np.ndarray) -> np.ndarray:
        return np.bincount(self.piece_of_row, of_rows, len(self.volume.pieces))

    def values(self, x: np.ndarray) -> np.ndarray:
        """As of the volume."""
        return self.volume.values(x)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """As of the volume."""
        return self.volume.gradients(x)

    def forces(self) -> np.ndarray:
        """Overpressure of every piece in the last substep, (pieces,) [Pa]."""
        return self.volume.forces()


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->j", a, b)
