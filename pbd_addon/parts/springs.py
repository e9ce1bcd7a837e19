"""Springs: what they have to know of what pushes bodies after them."""

from __future__ import annotations

import numpy as np

from ..bodies.fields import Elasticity
from ..constraints.distance import SECOND_ORDER_SWEEPS, is_soft
from ..model.model import Model, State, Targets
from ..model.part import Acting, Frame, Kept, Part, Plan, remembers

WAVE_EDGES = 1.75
"""Largest number of edges that a tension wave crosses in a substep of soft cloth.

Sheets of 100 N/m hang 1.0 % (on four corners) to 2.7 % (on two) too deep at 1.72 edges, 4.8 and 12.5 % at 3.44.
"""


class Springs(Part):
    """Stretch and shear.

    They remember which bodies were pushed in the last frame, see `Model.pushed`, (bodies,) bool; all if it is unknown.

    Attributes:
        soft: Which bodies are soft, see `constraints.distance.is_soft`, (bodies,) bool.
    """

    FIELDS = Elasticity
    name = "springs"
    MEMORY = remembers(pushed=Kept(lambda model, x: np.ones(len(model.bodies), bool)))
    reason = "stretch"

    soft = np.zeros(0, bool)

    def settle(self, model: Model) -> None:
        self.soft = is_soft(model.materials, model.settings, model.sizes)

    def begin_frame(self, frame: Frame) -> PushedSprings | None:
        memory, stretch = frame.state.memory[self.name], frame.model.stretch
        stretch.pushed = memory["pushed"]
        stretch.sweeps = SECOND_ORDER_SWEEPS if frame.second_order and not stretch.pushed.any() else 1
        memory["pushed"] = np.zeros_like(stretch.pushed)
        return PushedSprings(self, frame) if frame.model.outer else None

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        first = not len(state.memory["air"]["past"])  # frames leave the time there
        return bool(not first and state.memory[self.name]["pushed"].any()) or bool(self.soft.any())

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """Those in which a tension wave, of speed sqrt(stretch / density), crosses at most `WAVE_EDGES` of soft cloth.

        With fewer a load does not spread far enough in a substep, and the cloth hangs too deep.
        """
        most = 1.0
        for number in np.flatnonzero(self.soft):
            lengths, material, maps = model.bodies[number].rest_lengths, model.materials[number], model.maps[number]
            if len(lengths):
                ratio = maps.get("stretch", np.ones(1)).max() / maps.get("density", np.ones(1)).min()
                speed = np.sqrt(material.stretch / material.density * ratio)
                most = max(most, dt * speed / (WAVE_EDGES * float(np.median(lengths))))
        return most

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        if begun:
            state.memory[self.name]["pushed"] = before.stretch.pushed


class PushedSprings(Acting):
    """What is known of pushed bodies in a frame where anything can push."""

    def compiled(self, plan: Plan) -> None:
        """Nothing, in substeps in which nothing pushes."""

    def remember(self, duration: float, stop: float) -> None:
        model = self.frame.model
        self.memory["pushed"] = self.memory["pushed"] | model.pushed()
        model.stretch.pushed = model.stretch.pushed | self.memory["pushed"]
