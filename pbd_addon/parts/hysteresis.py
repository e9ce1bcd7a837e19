"""Hysteresis: yarns rub on each other, so that cloth keeps a part of what it was bent by, and comes to rest.

A hinge resists bending with the moment B c + m for each meter of its length, at the curvature c. m is dry friction:
that of a spring which slips at the *Bending Friction* HB, `STICKS` away from where it holds. So cloth that was folded
and let go keeps the curvature HB / B, and wide swings lose the same at each turn. The moments of a test sheet
(Kawabata's bending tester) at rising and falling curvature differ by 2HB.

While it holds, fibers give way slowly: a spring as stiff follows within `FOLLOWS` seconds and calms what moves, but
carries no weight (fabrics as fibers that creep and yarns that rub: Chapman 1975).

Where friction holds is remembered for each hinge of all bodies, as a curvature, and moves on at the end of a frame;
within one, a hinge resists by no more than HB wherever it goes. Friction and bending are one spring of one stiffness,
whose rest is between both, of hinges and of plates.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints.bend import DihedralConstraints, IsometricConstraints
from ..constraints.folds import SPRINGS, STICKS
from ..constraints.plate import Plate
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, remembers
from ..settings.fields import Checked, setting
from .plasticity import of_torn

FOLLOWS = 0.08
"""Time in which the slow spring follows [s]. Drapes of cotton and silk that keep 18 1/m move at 0.5 and 2 mm/s four
seconds after they are let go, with 0.2 s at 4 and 3, without that spring at 17 and 11."""


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

    It remembers at which curvature, beside that at rest, the friction of each hinge holds, and where its slow spring
    is, (hinges,) float32 each [1/m]; (0,) before the first frame, which begins without friction.

    Attributes:
        kinds: Kinds of hinges on which it acts.
        spans: C of each of their rows over the curvature, (m,) each.
        plates: Those on which it acts, and their hinges among all, (h,) int.
        widths: Angles of all hinges over their curvatures, (hinges,) [m]; (0,) where nothing rubs.
        angles: At which bending has the moment of friction when it slips, of all hinges, (hinges,) [rad].
    """

    FIELDS = Rubbing
    name = "hysteresis"
    MEMORY = remembers(**dict.fromkeys(("held", "slow"), Kept(lambda model, x: np.zeros(0, np.float32), any_rows=True)))

    def settle(self, model: Model) -> None:
        shifts = np.array([m.bend_friction / m.bend if m.bend else 0.0 for m in model.materials])
        self.kinds: list[IsometricConstraints | DihedralConstraints] = []
        self.spans: list[np.ndarray] = []
        self.plates: list[tuple[Plate, np.ndarray]] = []
        self.widths = self.angles = np.zeros(0)
        if shifts.any():
            start, end, *tips = model.rest_vertices.T[:, model.folds.hinges].swapaxes(0, 1)
            areas = sum(0.5 * np.linalg.norm(np.cross(end - start, tip - start, axis=0), axis=0) for tip in tips)
            self.widths = areas / np.linalg.norm(end - start, axis=0)
            self.angles = shifts[model.folds.body] * self.widths
            sheets, flat, folded = model.bends
            for kind in (flat, folded):
                area, shift = areas[kind.numbers], shifts[kind.rows.body]
                span = np.sqrt(area) if isinstance(kind, IsometricConstraints) else self.widths[kind.numbers]
                kind.rub(shift * span, SPRINGS * shift / (SPRINGS * shift + STICKS), 0.5 / area)
                if len(kind.limits) and kind.active:
                    self.kinds.append(kind)
                    self.spans.append(span)
            for number, plate in sheets.plates.items():
                if plate.stuck:
                    self.plates.append((plate, sheets.hinges_of(number, model.folds)))
        self.acts = bool(self.kinds or self.plates)

    def begin_frame(self, frame: Frame) -> RubbingFrame:
        memory = frame.state.memory[self.name]
        if len(memory["held"]) != len(self.widths):
            memory["held"] = memory["slow"] = self.bent(frame.state.x)
        rest = (memory["held"] + (SPRINGS - 1) * memory["slow"]) / SPRINGS
        for kind, span in zip(self.kinds, self.spans):
            kind.held[:] = span * rest[kind.numbers]
        for plate, own in self.plates:
            plate.hold(self.widths[own] * rest[own])
        return RubbingFrame(self, frame)

    def bent(self, x: np.ndarray) -> np.ndarray:
        """Curvature of hinges that rub, beside that at rest, at positions x (3, n) [m], (hinges,) float32 [1/m]."""
        found = np.zeros(len(self.widths), np.float32)
        for kind, span in zip(self.kinds, self.spans):
            found[kind.numbers] = kind.bent(x) / span
        for plate, own in self.plates:
            found[own] = plate.angles(x.T[plate.part]) / self.widths[own]
        return found

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        memory, joined = state.memory[self.name], state.memory["tearing"]["joined"]
        for name in ("held", "slow"):
            if len(memory[name]):
                memory[name] = of_torn(memory[name], before.folds.hinges.T, after.folds.hinges.T, joined)


class RubbingFrame(Acting):
    """Friction in a frame."""

    part: Hysteresis

    def end_frame(self) -> None:
        """Let friction hold no farther from here than where it slips, and slow springs follow."""
        part, held, slow = self.part, self.memory["held"], self.memory["slow"]
        bent = part.bent(self.frame.state.x)
        away = bent - held
        way = np.abs(away)
        for plate, own in part.plates:
            way[own] = plate.curvatures(part.widths[own] * away[own])
        self.memory["held"] = held + away * (1.0 - STICKS / np.maximum(way, STICKS))
        self.memory["slow"] = bent + (slow - bent) * np.float32(np.exp(-self.frame.dt / FOLLOWS))
