"""Rigid bodies: pieces that keep their arrangement, fly and spin as a whole, and meet others with their whole mass.

Contact and planes know which particles are rigid, and push whole pieces: the kind of constraints is a field of the
model. How it is solved is in `constraints/rigid.py`.
"""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np

from ..model.model import Model, Place, State, Targets
from ..model.part import Acting, Frame, Part, Substep
from ..settings.fields import Checked, setting

LEANING = 0.01
"""Largest share of an edge by which a rigid body of mass M may lean on what is light in a substep, M / m g h².

Contact hands the pull of cloth to a rigid body only by the mass of the vertices that touch it. A tray of 2 kg that
falls by 1 cm onto four party balloons of 23 g presses them to 9 cm with 20 substeps, where edges are strained by 73 %,
and to 14 cm with the 80 of this share, by 35 %."""


@dataclasses.dataclass(frozen=True)
class Solid(Checked):
    """What rigid bodies are."""

    rigid: bool = setting(
        False,
        "Rigid",
        "Keep the shape: the mesh is a solid that pushes cloth and is pushed by it. Mass is its weight",
    )
    mass: float = setting(
        1.0,
        "Mass",
        "Mass of a rigid object, spread over its surface. Tennis ball 0.06, football 0.43, tray 1, bowling ball 6 kg",
        unit="kg",
        low=1e-6,
        soft_high=100.0,
    )


class Rigid(Part):
    """The rigid bodies of a scene."""

    FIELDS = Solid
    reason = "rigid"

    @classmethod
    def build(cls, model: Model, before: Rigid | None) -> Rigid | None:
        model.rigid.weigh(model.damping_masses)
        return cls(model) if model.rigid.active else None

    def begin_frame(self, frame: Frame) -> FlyingPieces:
        return FlyingPieces(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return True

    def substeps(self, model: Model, state: State, targets: Targets, quality: int, dt: float) -> float:
        """Those in which rigid bodies lean by at most `LEANING` on what they may meet and is not rigid."""
        rigid = [number for number, material in enumerate(model.materials) if material.rigid]
        soft = [number for number in range(len(model.bodies)) if number not in rigid]
        most, gravity = 1.0, float(np.linalg.norm(model.settings.gravity))
        ways = [(state.x[:, part], state.x[:, part] + dt * state.v[:, part]) for part in model.slices]
        for one, other in itertools.product(rigid, soft):
            surface = model.contact.surfaces[other]
            if surface is not None and _meet(ways[one], ways[other], surface.edge):
                ratio = model.masses[model.slices[one]].sum() / model.masses[model.slices[other]].sum()
                most = max(most, dt * math.sqrt(ratio * gravity / (LEANING * surface.edge)))
        return most


class FlyingPieces(Acting):
    """Rigid bodies in a frame."""

    def predict(self, substep: Substep) -> None:
        self.frame.model.rigid.predict(substep.p, substep.x)


def _meet(one: Place, other: Place, margin: float) -> bool:
    """Whether the bounding boxes of two motions, each from (3, k) to (3, k), come closer than a margin [m]."""
    low, high = np.minimum(*one).min(axis=1) - margin, np.maximum(*one).max(axis=1) + margin
    return bool((np.minimum(*other).min(axis=1) <= high).all() and (np.maximum(*other).max(axis=1) >= low).all())
