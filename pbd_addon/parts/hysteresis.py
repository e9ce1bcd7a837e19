"""Hysteresis: yarns rub on each other, so that cloth keeps a part of what it was bent by, and comes to rest.

A hinge resists bending with the moment B c + m for each meter of its length, at the curvature c. m is dry friction:
that of a spring which slips at the *Bending Friction* HB, and holds from there on. So cloth that was folded and let go
keeps the curvature HB / B, and a swing loses twice that at each turn. The moments of a test sheet (Kawabata's bending
tester) at rising and falling curvature differ by 2HB.

Where friction holds is remembered for each hinge of all bodies, as a curvature, and moves on at the end of a frame;
within one, friction resists by no more than HB wherever a hinge goes.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints.bend import STUCK, DihedralConstraints, IsometricConstraints
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, remembers
from ..settings.fields import Checked, setting
from .plasticity import of_torn


@dataclasses.dataclass(frozen=True)
class Rubbing(Checked):
    """Internal friction."""

    bend_friction: float = setting(
        0.0,
        "Bending Friction",
        "Moment per width by which folds resist being changed either way: cloth keeps soft folds and comes to rest. "
        "Faille 3.4e-5, wool 1.6e-4, cotton 6e-4 N, 0 springs back always",
        unit="N",
        low=0.0,
        soft_high=0.005,
        rigid=0.0,
        panel="bending",
        short="Bend Friction",
    )


class Hysteresis(Part):
    """Friction of folds.

    It remembers at which curvature, beside that at rest, the friction of each hinge holds, (hinges,) float32 [1/m];
    (0,) before the first frame, which begins without friction.

    Attributes:
        kinds: Kinds of hinges on which it acts.
        spans: C of each of their rows over the curvature, (m,) each.
        angles: At which bending has the moment of friction when it slips, of all hinges, (hinges,) [rad].
    """

    FIELDS = Rubbing
    name = "hysteresis"
    MEMORY = remembers(held=Kept(lambda model, x: np.zeros(0, np.float32), any_rows=True))

    def settle(self, model: Model) -> None:
        shifts = np.array([m.bend_friction / m.bend if m.bend else 0.0 for m in model.materials])
        self.kinds: list[IsometricConstraints | DihedralConstraints] = []
        self.spans: list[np.ndarray] = []
        self.angles = np.zeros(len(model.folds.body) if shifts.any() else 0)
        for kind in model.bends[1:] if shifts.any() else ():
            start, end, *tips = model.rest_vertices.T[:, kind.rows.indices].swapaxes(0, 1)
            areas = sum(0.5 * np.linalg.norm(np.cross(end - start, tip - start, axis=0), axis=0) for tip in tips)
            angle = areas / np.linalg.norm(end - start, axis=0)
            span = np.sqrt(areas) if isinstance(kind, IsometricConstraints) else angle
            kind.rub(shifts[kind.rows.body] * span, 0.5 / areas)
            self.angles[kind.numbers] = shifts[kind.rows.body] * angle
            if len(kind.limits):
                self.kinds.append(kind)
                self.spans.append(span)
        self.acts = bool(self.kinds)

    def begin_frame(self, frame: Frame) -> RubbingFrame:
        state, memory = frame.state, frame.state.memory[self.name]
        if len(memory["held"]) != len(frame.model.folds.body):
            memory["held"] = np.zeros(len(frame.model.folds.body), np.float32)
            for kind, span in zip(self.kinds, self.spans):
                memory["held"][kind.numbers] = kind.bent(state.x) / span
        for kind, span in zip(self.kinds, self.spans):
            kind.held[:] = span * memory["held"][kind.numbers]
        return RubbingFrame(self, frame)

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        memory, joined = state.memory[self.name], state.memory["tearing"]["joined"]
        if len(memory["held"]):
            memory["held"] = of_torn(memory["held"], before.folds.hinges.T, after.folds.hinges.T, joined)


class RubbingFrame(Acting):
    """Friction in a frame."""

    part: Hysteresis

    def end_frame(self) -> None:
        """Let friction hold no farther from here than where it slips."""
        state, held = self.frame.state, self.memory["held"].copy()
        for kind, span in zip(self.part.kinds, self.part.spans):
            bent, play = kind.bent(state.x), (1.0 - STUCK) / STUCK * kind.limits
            held[kind.numbers] = kind.held.clip(bent - play, bent + play) / span
        self.memory["held"] = held
