"""Welds: particles that are one are put where their mean is, and stay there to the last bit.

Which they are is a field of the model, because contact, bending and masses ask for it.
"""

from __future__ import annotations

from ..model.model import Model, State
from ..model.part import Acting, Frame, Part, Substep


class Welds(Part):
    """`Model.welds`; contact solves the springs around them once more even where there are none."""

    def settle(self, model: Model) -> None:
        self.acts = model.welds.active
        model.welds.surround(model.springs, model.w, model.damping_masses, model.islands, model.damping_island_masses)

    def begin_frame(self, frame: Frame) -> UnitedWelds:
        return UnitedWelds(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return True


class UnitedWelds(Acting):
    """Welds in a frame."""

    def end_substep(self, substep: Substep) -> None:
        self.frame.model.welds.unite(substep.p, substep.x)
