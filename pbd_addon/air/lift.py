"""Lift: gas that is lighter than air holds a skin up, water weighs it down.

A gas at rest inside of air at rest has the overpressure P - (rho_air - rho_gas) g . (x - o), with gravity g: more at
the top, where the skin holds a light gas back. P is what `constraints.volume` holds, and acts at o: halfway up, or at
the opening, where inside and outside are one. Over the whole skin this sums up to the weight of the air that the volume
takes the place of, less that of the gas.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..bodies.settings import Material, SolverSettings
from ..constraints import Piece
from ..kernels import Kernels


class Lift:
    """Gas and water in closed pieces.

    Args:
        pieces: The closed pieces of a scene of n particles.
        materials: Of each body.
        settings: Whose gravity and air.
        burst: Which pieces have burst, (pieces,) bool.
        n: Number of particles.

    Attributes:
        active: Whether any gas is lighter or heavier than the air, and gravity pulls.
    """

    def __init__(
        self,
        pieces: Sequence[Piece],
        materials: Sequence[Material],
        settings: SolverSettings,
        burst: np.ndarray,
        n: int,
    ) -> None:
        self.gravity = np.array(settings.gravity)
        gas = np.array([materials[piece.body].gas_density for piece in pieces])
        lightness = np.where((gas > 0.0) & ~burst, settings.air_density - gas, 0.0)
        filled = np.flatnonzero(lightness)
        self.active = bool(len(filled) and self.gravity.any())
        if not self.active:
            return
        own = [pieces[number] for number in filled]
        counts = [len(piece.triangles) for piece in own]
        side = [-1.0 if piece.rest_volume < 0.0 else 1.0 for piece in own]
        self.triangles = np.ascontiguousarray(np.concatenate([piece.triangles for piece in own]).T, dtype=np.int64)
        self.lightness = np.repeat(lightness[filled] * side, counts)
        self.piece_of_particle = np.zeros(n, int)
        self.piece_of_particle[self.triangles] = np.repeat(np.arange(len(own)), counts)
        levels = [np.concatenate(piece.caps) if piece.caps else np.unique(piece.triangles) for piece in own]
        self.level, self.owners = np.concatenate(levels), np.repeat(np.arange(len(own)), [len(one) for one in levels])

    def push(self, kernels: Kernels, x: np.ndarray, v: np.ndarray, w: np.ndarray, h: float) -> None:
        """Let what is inside push velocities (3, n) for h seconds, in place; x (3, n) [m], w (n,) [1/kg]."""
        potential = np.einsum("i,in->n", self.gravity, x)
        sums = np.bincount(self.owners, potential[self.level]) / np.bincount(self.owners)
        potential -= sums[self.piece_of_particle]
        kernels.push_by_gas(v, x, potential, self.triangles, self.lightness, w, h)
