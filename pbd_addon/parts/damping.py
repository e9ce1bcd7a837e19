"""What slows velocities down: damping that keeps rigid motion, and drag of still air as a rate."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints.base import once_if_equal
from ..kernels.protocol.frames import Damping as DampingOfFrame
from ..kernels.protocol.motion import Islands
from ..model.model import Model, State
from ..model.part import Acting, Frame, Part, Plan, Substep
from ..settings.fields import Checked, setting


@dataclasses.dataclass(frozen=True)
class Slowing(Checked):
    """Damping and drag."""

    damping: float = setting(
        0.2,
        "Internal Damping",
        "Rate in 1/s at which deformation dies out; the motion of a piece as a whole is not damped. Cloth 0.2, jelly 5",
        unit="1/s",
        low=0.0,
        soft_high=20.0,
        rigid=0.0,
        short="Internal",
    )
    drag: float = setting(
        0.2,
        "Air Drag",
        "Rate in 1/s at which still air slows all motion. Heavy cloth 0.1, silk 0.7, beach ball 1.7, party balloon 8",
        unit="1/s",
        low=0.0,
        soft_high=20.0,
    )


class Damping(Part):
    """Damping and drag of all bodies.

    Attributes:
        damping: Rate of every island's body, (islands,) [1/s].
        drag: Rate of every particle's body, (n,) [1/s].
        drag_rates: Share of its velocity that drag takes of each particle, (n,) [1/s]; (0,) where there is none.
    """

    FIELDS = Slowing

    def __init__(self, model: Model) -> None:
        counts = [len(body.vertices) for body in model.bodies]
        self.damping = np.array([m.damping for m in model.materials], float)[model.body_of_island]
        self.drag = once_if_equal(np.repeat([m.drag for m in model.materials], counts))
        self.drag_rates = self.drag * model.gravity_fraction if self.drag.any() else np.zeros(0)

    @classmethod
    def build(cls, model: Model, before: Damping | None) -> Damping | None:
        return cls(model) if any(m.damping or m.drag for m in model.materials) else None

    def begin_frame(self, frame: Frame) -> SlowedFrame:
        return (DampedFrame if self.damping.any() else SlowedFrame)(self, frame)

    def slowing_rate(self, model: Model, state: State) -> float:
        return max(float(self.damping.max()), float(self.drag.max()))


class SlowedFrame(Acting):
    """Drag in a frame."""

    part: Damping

    def __init__(self, part: Damping, frame: Frame) -> None:
        super().__init__(part, frame)
        model = frame.model
        self.islands = Islands(model.damping_masses, model.islands, model.damping_island_masses)
        self._decays: dict[float, tuple[np.ndarray | None, np.ndarray]] = {}

    def push(self, substep: Substep) -> None:
        """Let drag take its share of velocities; in second order of the `middle`.

        It comes before gravity, or falls would end below g / drag.
        """
        dragged = self.decay(substep.slowed)[0]
        if dragged is not None:
            substep.v -= dragged * substep.middle

    def decay(self, h: float) -> tuple[np.ndarray | None, np.ndarray]:
        """What drag takes of velocities in h [s], (n,), and what damping takes of all but rigid motion, (islands,).

        None where there is no drag.

        Drag is a force on what has weight, drag · mass · v: the air that a balloon moves only slows the approach, so
        that every fall ends at g / drag. In first order, what it takes is exact for any h. In second order it is what
        ends a fall at exactly g / drag: all of the force, limited as that of the air, see `air`.
        """
        if h not in self._decays:
            dragged = self._dragged(h * self.part.drag_rates, h) if len(self.part.drag_rates) else None
            self._decays[h] = dragged, -np.expm1(-h * self.part.damping)
        return self._decays[h]

    def _dragged(self, rate: np.ndarray, h: float) -> np.ndarray:
        if not self.frame.second_order:
            return -np.expm1(-rate)
        if h * self.part.drag.max() >= 0.5:
            rate = np.where(rate < 0.5, rate, 1.0 - 0.25 / np.maximum(rate, 0.5))
        return rate

    def compiled(self, plan: Plan) -> DampingOfFrame:
        taken = -np.expm1(-np.array(plan.slowed)[:, None] * self.part.damping)
        dragged = [self.decay(duration)[0] for duration in plan.slowed] if len(self.part.drag_rates) else []
        undamped = 0 if self.part.damping.any() else len(taken)
        return DampingOfFrame(self.islands, taken[undamped:], np.array(dragged).reshape(-1, len(self.frame.model.w)))


class DampedFrame(SlowedFrame):
    """Damping and drag in a frame."""

    def damp(self, substep: Substep) -> None:
        """Damp velocities towards each island's rigid motion (Müller et al. 2007, sec. 3.5).

        v_i + k (v_cm + omega x r_i - v_i), with k = 1 - exp(-damping h). A free island keeps its momentum, angular
        momentum, flight and spin. A pinned one is not free to move as a whole: what stays is the rigid motion that its
        firm pins leave it, such as the swing about a pin or an axis, see `Model.damping_masses`.

        Damping comes before gravity: what gravity has just added is no motion yet, and cloth at rest would lose weight.
        """
        model, kernels, x, v = self.frame.model, self.frame.kernels, substep.x, substep.v
        motion = kernels.island_motion(x, v, self.islands)
        kernels.approach(v, x, model.islands, motion, self.decay(substep.slowed)[1])
