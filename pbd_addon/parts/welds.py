"""Welds: particles that are one are put where their mean is, and stay there to the last bit.

Which they are is a field of the model, because contact, bending and masses ask for it.
"""

from __future__ import annotations

from ..model.model import Model, State
from ..model.part import Frame, Part, Substep


class Welds(Part):
    """`Model.welds`; contact solves the springs around them once more even where there are none."""

    @classmethod
    def build(cls, model: Model, before: Welds | None) -> Welds:
        return before or cls()

    def settle(self, model: Model) -> None:
        model.welds.surround(model.springs, model.w, model.damping_masses, model.islands, model.damping_island_masses)

    def begin_frame(self, frame: Frame) -> UnitedWelds | None:
        return UnitedWelds(frame.model) if frame.model.welds.active else None

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return model.welds.active


class UnitedWelds:
    """Welds in a frame."""

    def __init__(self, model: Model) -> None:
        self.welds = model.welds

    def end_substep(self, substep: Substep) -> None:
        self.welds.unite(substep.p, substep.x)
