"""Springs: what they have to know of what pushes bodies after them."""

from __future__ import annotations

import numpy as np

from ..constraints.distance import AGAIN, is_soft
from ..model.model import Model, State, Targets
from ..model.part import Frame, Part

EDGES = 1.75
"""Largest number of edges that a tension wave crosses in a substep of soft cloth.

Sheets of 100 N/m hang 1.0 % (on four corners) to 2.7 % (on two) too deep at 1.72 edges, 4.8 and 12.5 % at 3.44.
"""


class Springs(Part):
    """Stretch and shear."""

    reason = "stretch"

    @classmethod
    def build(cls, model: Model, before: Springs | None) -> Springs:
        return before or cls()

    def begin_frame(self, frame: Frame) -> object | None:
        state, stretch = frame.state, frame.model.stretch
        stretch.sweeps = AGAIN if frame.second_order and not state.pushed.any() else 1
        stretch.pushed, state.pushed = state.pushed, np.zeros_like(state.pushed)
        return PushedSprings(frame) if frame.model.outer else None

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        first = not len(state.air)  # frames leave the time there
        return bool(not first and state.pushed.any()) or bool(
            is_soft(model.materials, model.settings, model.sizes).any()
        )

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """Those in which a tension wave of speed sqrt(stretch / density) crosses at most `EDGES` edges of soft cloth.

        With fewer a load does not spread far enough in a substep, and the cloth hangs too deep.
        """
        most = 1.0
        for number in np.flatnonzero(is_soft(model.materials, model.settings, model.sizes)):
            lengths, material, maps = model.bodies[number].rest_lengths, model.materials[number], model.maps[number]
            if len(lengths):
                ratio = maps.get("stretch", np.ones(1)).max() / maps.get("density", np.ones(1)).min()
                speed = np.sqrt(material.stretch / material.density * ratio)
                most = max(most, dt * speed / (EDGES * float(np.median(lengths))))
        return most

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        if begun:
            state.pushed = before.stretch.pushed


class PushedSprings:
    """What is known of pushed bodies in a frame where anything can push."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def remember(self, duration: float, stop: float) -> None:
        model, state = self.frame.model, self.frame.state
        state.pushed = state.pushed | model.pushed()
        model.stretch.pushed = model.stretch.pushed | state.pushed
