"""Rubber: skin that softens when it is stretched, and stiffens when it is stretched far.

The energy is that of Mooney and Rivlin, C1 (I1 - 3) + C2 (I2 - 3), with C2 = `STIFFENING` C1. A skin of the thickness d
that is stretched to l in all directions carries, per length of now (Müller and Strehlow, Rubber and Rubber Balloons,
2004, sec. 2),

    T(l) = mu d (1 - 1 / l^6) (1 + k l^2), with mu = 2 C1

and a mesh of springs K f(l) carries 3/2 K f(l) / l. So `f` makes it that skin, with K = 4 (1 + k) mu d, which is 4/3 of
Young's modulus times thickness. Stretched in one direction, springs are as stiff as the skin is in all, and compressed
ones stay as they were.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..model.model import Model, State, Targets
from ..model.part import Acting, Frame, Part, Substep
from ..settings.fields import Checked, setting

STIFFENING = 0.06
"""C2 / C1. The pressure of a ball, (1 / l - 1 / l^7) (1 + k l^2), then has its peak at l = 1.43 and falls to 0.70 of it
at 4.1: a party balloon was measured with 5 kPa, then 3.5. With 0.1, another usual value, it falls to 0.85."""

FARTHEST_STRETCH = 6.0
"""Stretch from which on rubber is a spring again, which party balloons do not reach. Up to here `f` is steeper than its
secant by less than two times: more, and a substep with the secant of its beginning would not be stable."""


@dataclasses.dataclass(frozen=True)
class Elastomer(Checked):
    """Whether springs are those of rubber."""

    rubber: bool = setting(
        False,
        "Rubber",
        "Tension softens as rubber does when it is stretched, and stiffens again beyond three times the length. "
        "A balloon needs the most pressure at the beginning",
        rigid=False,
        panel="stiffness",
    )


def secant(stretch: np.ndarray) -> np.ndarray:
    """Tension of rows over that of a spring, at these stretches, length over that at rest (m,) [1]; 1 below 1.

    It is f(l) / (l - 1), with f(l) = l (1 - 1 / l^6) (1 + k l^2) / (6 (1 + k)).
    """
    x = np.clip(stretch, 1.0, FARTHEST_STRETCH)
    y = 1.0 / x
    powers = 1.0 + y * (1.0 + y * (1.0 + y * (1.0 + y * (1.0 + y))))  # (1 - y^6) / (1 - y), and x (1 - y) = x - 1
    return np.asarray(powers * (1.0 + STIFFENING * x * x) / (6.0 * (1.0 + STIFFENING)))


class Rubber(Part):
    """The springs of rubber.

    Attributes:
        kinds: Those that are, in any body, and which of their rows, (m,) bool each.
    """

    FIELDS = Elastomer
    name = "rubber"

    def settle(self, model: Model) -> None:
        of_rubber = np.array([material.rubber for material in model.materials], bool)
        found = ((kind, of_rubber[kind.rows.body]) for kind in model.springs if not kind.relaxed)
        self.kinds = [(kind, rows & np.isnan(kind.own_compliance)) for kind, rows in found if rows.any()]
        self.acts = bool(self.kinds)

    def begin_frame(self, frame: Frame) -> RubberFrame:
        return RubberFrame(self, frame)

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        self.soften(state.x)  # skins, which are asked later, count on it
        return 1.0

    def soften(self, x: np.ndarray) -> None:
        """Make each row as stiff as the secant of its tension from rest to where it is, at x (3, n)."""
        for kind, rows in self.kinds:
            kind.soften(np.where(rows, 1.0 / secant(kind.stretches(x)), 1.0))


class RubberFrame(Acting):
    """Rubber in a frame."""

    part: Rubber

    def begin_substep(self, substep: Substep) -> None:
        self.part.soften(substep.x)
