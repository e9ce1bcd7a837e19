"""Skins under pressure: what they do besides being held by their springs and their volume.

They change what others see, which no other part does: volume, stretch, shear and struts act on effective masses of a
skin instead of its own, planes and contact count forces with these, gravity and air act on pinned skins as forces on
them, and what pushes a skin from outside moves all of it (`rebound`). Why, and how, is in `constraints/skin.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..constraints import Constraints, InflationConstraints, PressurizedSkin, StrutConstraints
from ..kernels import Kernels
from ..kernels.protocol.frames import Call
from ..kernels.protocol.motion import Islands
from ..model.model import Model, State, Targets
from ..model.part import Acting, Frame, Kept, Part, Plan, Substep, remembers

BOUNCING = 3.0
"""Largest multiple of the quality steps that pressure takes. A beach ball of 0.15 m and Volume 1.1, dropped from 1 m,
rises to 0.09, 0.22, 0.30 m at 20, 40, 60 steps, and to 0.40 m when converged."""

STILL = 0.03
"""A skin under pressure is at rest if it moves by less than this fraction of its size in a frame."""


class Skin(Part):
    """The skins of a scene: closed pieces, whether or not there is any pressure.

    They remember what they carry over, see `PressurizedSkin.remember`; (0,) where there is no pressure.

    Attributes:
        pressurized: Their effective masses and what they carry over.
    """

    name = "skin"
    MEMORY = remembers(carried=Kept(lambda model, x: np.zeros(0), any_rows=True, is_single=True))
    reason = "pressure"

    def __init__(self, model: Model) -> None:
        self.nothing = StrutConstraints(np.zeros((0, 2), int), np.zeros(0), np.zeros((0, 2)), np.zeros(0, int), model.w)
        self.pressurized = PressurizedSkin(
            model.volume, [model.stretch, model.shear], self.nothing, [], [], model.islands, model.pins
        )
        self.constraints = (InflationConstraints(model.volume, model.stretch, self.pressurized),)

    @classmethod
    def is_in(cls, model: Model) -> bool:
        return bool(model.volume.pieces)

    def settle(self, model: Model) -> None:
        self.pressurized.struts = model.kind(StrutConstraints) or self.nothing
        self.pressurized.outside = [*model.plane_constraints, model.contact]
        self.pressurized.hinges = list(model.bends[1:])
        self.pressurized.set_materials(model.settings, model.w, model.masses, model.gravity_fraction)

    def begin_frame(self, frame: Frame) -> PressurizedFrame | None:
        if not self.pressurized.active:
            frame.state.memory[self.name]["carried"] = np.zeros(0)
            return None
        return PressurizedFrame(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return self.pressurized.active

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """Those that a skin under pressure needs to bounce and oscillate with its true mass, see `PressurizedSkin`.

        At rest its effective mass is good enough, so only moving skins take more than the quality steps, and at most a
        few times as many.
        """
        needs, most = self.pressurized.substeps(state.memory[self.name]["carried"], state.x, dt), 1.0
        for part in model.slices:
            need = float(needs[model.islands[part]].max())
            if need > most:
                size = np.ptp(state.x[:, part], axis=1).max()
                way = dt * math.sqrt((state.v[:, part] ** 2).sum(axis=0).mean())
                most = max(most, min(need, (BOUNCING if way > STILL * size else 1.0) * quality))
        return most

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        state.memory[self.name]["carried"] = np.zeros(0)


class PressurizedFrame(Acting):
    """Skins under pressure in a frame."""

    def __init__(self, part: Skin, frame: Frame) -> None:
        super().__init__(part, frame)
        self.skin = part.pressurized
        self._before: np.ndarray | None = None

    def push(self, substep: Substep) -> None:
        """Note velocities before air and what else comes later changes them."""
        self._before = substep.v.copy()

    def predict(self, substep: Substep) -> None:
        """Set effective masses, and let gravity and air act on what hangs as forces on these."""
        skin, kernels, h = self.skin, self.frame.kernels, substep.h
        is_blown = self._before is not None and self._is_blown
        skin.begin_substep(kernels, self.memory["carried"], substep.x, h)
        if skin.corrects_fall or is_blown:
            given: Any = self._fall(is_blown).arguments
            before = self._before if self._before is not None else substep.v
            kernels.correct_fall(substep.p, substep.x, substep.v, before, *given)

    def _fall(self, is_blown: bool) -> Call:
        model = self.frame.model
        islands = Islands(model.damping_masses, model.islands, model.damping_island_masses)
        return self.skin.fall_call(model.settings.gravity, model.gravity_fraction, islands, is_blown)

    def compiled(self, plan: Plan) -> None:
        """Nothing that differs from substep to substep."""

    def prepare(self, h: float) -> bool:
        return self.skin.prepare(self.frame.kernels, self.memory["carried"], self.frame.state.x, h)

    def predict_calls(self) -> list[Call]:
        is_blown = self._is_blown
        fall = [self._fall(is_blown)] if self.skin.corrects_fall or is_blown else []
        return self.skin.predict_calls() + fall

    def remember_calls(self) -> list[Call]:
        return [self.skin.rebound_call(self.frame.model.meets_alone), *self.skin.remember_calls(self.skin.left)]

    def ran(self) -> None:
        self.memory["carried"] = self.skin.kept.copy()
        for kind in self.skin.outside:
            kind.use_weights(self.skin.heavy)

    @property
    def _is_blown(self) -> bool:
        """Whether anything pushes after `push` of this one."""
        return self.frame.hooks.push[-1] != self.push

    def end_substep(self, substep: Substep) -> None:
        """Where a piece met only itself, its momenta stay."""
        model = self.frame.model
        if not model.contact.active:
            return
        alone = model.contact.met_themselves(model.islands, len(model.body_of_island))
        for plane in model.plane_constraints:
            alone[model.islands[plane.pushing()]] = False
        self.skin.keep_momentum(self.frame.kernels, substep.p, substep.x, alone)

    def rebound(self, substep: Substep) -> None:
        self.skin.rebound(self.frame.kernels, substep.p, substep.x, self.frame.state.v, self.frame.model.meets_alone)

    def remember(self, duration: float, stop: float) -> None:
        self.memory["carried"] = self.skin.remember(self.frame.kernels, self.frame.state.x)


class EndOfPass(Constraints):
    """What comes after the volume in each pass: skins keep the momentum that they had before it."""

    name = "volume"

    def __init__(self, skin: PressurizedSkin) -> None:
        self.skin = skin

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        return self.skin.end_calls()

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        super().project(kernels, p, x)
        self.skin.has_passed = True


def pressures(model: Model, state: State) -> np.ndarray:
    """Overpressure in each piece of a state, (pieces,) [Pa]; 0 if it is not known."""
    skin = model.part(Skin)
    if skin is None or not skin.pressurized.active:
        return np.zeros(len(model.volume.pieces))
    return skin.pressurized.pressures(state.memory[Skin.name]["carried"])
