"""Pins: firm ones are put where they are to be, soft ones are pulled there by springs."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints import AttachmentConstraints
from ..kernels.protocol.frames import Pins as PinsOfFrame
from ..model.model import Model
from ..model.part import Acting, Frame, Kept, Part, Substep, remembers
from ..settings.fields import Checked, chooses, setting, varies


@dataclasses.dataclass(frozen=True)
class Pinning(Checked):
    """How pins and what slides are held."""

    hold_pins: bool = setting(
        True,
        "Hold Pins",
        "Hold pinned and attached vertices. Key it off to let the cloth go; keyed on again, they return in one frame",
    )
    pin_stiffness: float = setting(
        100.0,
        "Pin Stiffness",
        "Spring of a vertex pinned with weight 0.5; weight 1 holds it firmly. Usually 100 N/m",
        unit="N/m",
        low=0.0,
        soft_high=10_000.0,
    )


class Pins(Part):
    """All pins of a scene. The inverse mass of those that are firm is 0.

    It remembers the targets at the end of the last frame, (3, k) [m]: where a pin is that is not held.
    """

    FIELDS = Pinning
    MAPS = varies(
        hold=chooses(
            "Hold",
            "Which pinned and attached vertices can let go by themselves",
            "Vertex group of pinned and attached vertices that let go when you key High from 1 to 0: "
            "those of weight 1 at 0.5, lesser weights later, those below 0.5 never",
            "pins hold from 0.5 on. Usually 1; key it to 0 to let go, and to 1 to hold again",
            1.0,
        ),
    )
    name = "pins"
    MEMORY = remembers(targets=Kept(lambda model, x: x[:, model.pins]))

    def __init__(self, model: Model) -> None:
        soft = model.pins[model.soft_pins]
        weights = np.concatenate([body.pin_weights for body in model.bodies])[model.soft_pins]
        self.attachment = AttachmentConstraints(soft, weights, model.body_of_island[model.islands[soft]])
        self.constraints = (self.attachment,)

    def begin_frame(self, frame: Frame) -> MovingPins:
        path = np.stack([frame.state.memory[self.name]["targets"], frame.targets.pins])
        self.attachment.path = path[:, :, frame.model.soft_pins]
        return MovingPins(self, frame, path[:, :, frame.model.firm_pins])


class MovingPins(Acting):
    """Pins in a frame; `path` of the firm ones from its beginning to its end, (2, 3, f) [m]."""

    def __init__(self, part: Pins, frame: Frame, path: np.ndarray) -> None:
        super().__init__(part, frame)
        self.particles, self.start, self.way = frame.model.pinned, path[0], path[1] - path[0]
        self.is_driven = not np.array_equal(self.memory["targets"], frame.targets.pins)

    def predict(self, substep: Substep) -> None:
        substep.p[:, self.particles] = self.start + substep.stop * self.way

    def compiled(self, plan: object) -> PinsOfFrame:
        return PinsOfFrame(self.particles, self.start, self.way)

    def end_frame(self) -> None:
        model, targets = self.frame.model, self.frame.targets.pins.copy()
        targets[:, model.loose_pins] = self.frame.state.x[:, model.pins[model.loose_pins]]
        self.memory["targets"] = targets
