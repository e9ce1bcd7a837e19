"""Grabs: what a hand holds while the simulation runs."""

from __future__ import annotations

from collections.abc import Sequence

from ..constraints import Grab, GrabConstraints
from ..model.model import Model, State
from ..model.part import Acting, Frame, Part


class Grabs(Part):
    """The hands in a scene: there are as many as `Simulation.grab` has made and `Grab.release` has left."""

    outlives = True

    def __init__(self, model: Model, grabs: Sequence[Grab] = ()) -> None:
        self.grabs = GrabConstraints(model.sewn.joined)
        self.grabs.grabs = list(grabs)
        self.constraints = (self.grabs,)

    @classmethod
    def build(cls, model: Model, before: Grabs | None) -> Grabs | None:
        grabs = before.grabs.grabs if before else []
        # Another object each time: the old model is stepped again if a frame in which cloth tears is given up.
        return cls(model, grabs) if grabs else None

    def begin_frame(self, frame: Frame) -> HeldGrabs:
        return HeldGrabs(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return True


class HeldGrabs(Acting):
    """Hands in a frame."""

    is_driven = True
