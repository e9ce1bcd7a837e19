"""Lift: gas that is lighter than air holds a skin up, water weighs it down.

A gas at rest inside of air at rest has the overpressure P - (rho_air - rho_gas) g . (x - o), with gravity g: more at
the top, where the skin holds a light gas back. P is what `constraints.volume` holds, and acts at o: halfway up, or at
the opening, where inside and outside are one. Over the whole skin this sums up to the weight of the air that the volume
takes the place of, less that of the gas.
"""

from __future__ import annotations

import math

import numpy as np

from ..model.model import Model, State
from ..model.part import Acting, Frame, Part, Substep


class Lift(Part):
    """Gas that is lighter or heavier than the air, and water, in closed pieces."""

    def __init__(self, model: Model) -> None:
        lightness = _lightness(model)
        filled = np.flatnonzero(lightness)
        own = [model.volume.pieces[number] for number in filled]
        counts = [len(piece.triangles) for piece in own]
        side = [-1.0 if piece.rest_volume < 0.0 else 1.0 for piece in own]
        self.gravity = np.array(model.settings.gravity)
        self.triangles = np.ascontiguousarray(np.concatenate([piece.triangles for piece in own]).T, dtype=np.int64)
        self.lightness = np.repeat(lightness[filled] * side, counts)
        self.piece_of_particle = np.zeros(len(model.w), int)
        self.piece_of_particle[self.triangles] = np.repeat(np.arange(len(own)), counts)
        levels = [np.concatenate(piece.caps) if piece.caps else np.unique(piece.triangles) for piece in own]
        self.level, self.owners = np.concatenate(levels), np.repeat(np.arange(len(own)), [len(one) for one in levels])

    @classmethod
    def build(cls, model: Model, before: Lift | None) -> Lift | None:
        return cls(model) if _lightness(model).any() and any(model.settings.gravity) else None

    def begin_frame(self, frame: Frame) -> LiftingGas:
        return LiftingGas(self, frame)

    def slowing_rate(self, model: Model, state: State) -> float:
        return math.inf


def _lightness(model: Model) -> np.ndarray:
    """How much lighter than the air outside each piece's gas is, (pieces,) [kg/m³]; 0 where that is no matter."""
    gas = np.array([model.materials[piece.body].gas_density for piece in model.volume.pieces])
    return np.where((gas > 0.0) & ~model.volume.burst, model.settings.air_density - gas, 0.0)


class LiftingGas(Acting):
    """Gas that pushes velocities in a frame."""

    part: Lift

    def push(self, substep: Substep) -> None:
        part = self.part
        potential = np.einsum("i,in->n", part.gravity, substep.x)
        sums = np.bincount(part.owners, potential[part.level]) / np.bincount(part.owners)
        potential -= sums[part.piece_of_particle]
        self.frame.kernels.push_by_gas(
            substep.v, substep.x, potential, part.triangles, part.lightness, self.frame.model.w, substep.slowed
        )
