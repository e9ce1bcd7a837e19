"""Tethers and levels: long range attachments to pins, and between far particles of irregular meshes.

Both follow the elastic strain of the springs, which they remember, or soft cloth would become rigid. How they are
solved is in `constraints/tether.py` and `constraints/levels.py`.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints import LevelConstraints, TetherConstraints, tether_rows
from ..constraints.chains import is_structured
from ..kernels.protocol.frames import Strain
from ..model.layout import Layout
from ..model.model import Model, State
from ..model.part import Acting, Frame, Kept, Part, Plan, remembers
from ..settings.fields import Checked, setting


@dataclasses.dataclass(frozen=True)
class Tethering(Checked):
    """Long range attachments."""

    tethers: bool = setting(
        True,
        "Tethers",
        "Keep every vertex within reach of its pins (long range attachments), and of far vertices in meshes of "
        "irregular triangles, which stops fine meshes from sagging",
        rigid=False,
    )


class Tethers(Part):
    """The tethers and levels of a scene; they remember the elastic strain of each body, (bodies,)."""

    FIELDS = Tethering
    name = "tethers"
    MEMORY = remembers(strain=Kept(lambda model, x: np.zeros(len(model.bodies))))

    def __init__(self, model: Model) -> None:
        self.tethers, self.levels = _tethers(model), _levels(model, model.w)
        self.constraints = (self.levels, self.tethers)

    @classmethod
    def build(cls, model: Model, before: Tethers | None) -> Tethers:
        part = before or cls(model)
        part.tethers.sizes = model.sizes
        return part

    def settle(self, model: Model) -> None:
        self.acts = len(self.tethers.lengths) > 0 or len(self.levels.lengths) > 0
        self.levels.surround(model.w, model.damping_masses, model.islands, model.damping_island_masses)

    def begin_frame(self, frame: Frame) -> FollowedStrain:
        self.tethers.strain = self.levels.strain = frame.state.memory[self.name]["strain"]
        return FollowedStrain(self, frame)

    def wants_first_order(self, model: Model, state: State, duration: float) -> bool:
        return self.levels.pulls_free


class FollowedStrain(Acting):
    """The strain that tethers follow in a frame."""

    part: Tethers
    _compiled: Strain | None = None

    def remember(self, duration: float, stop: float) -> None:
        self._take(self.part.tethers.remembered_strain(self.memory["strain"], self.frame.model.stretch, duration))

    def compiled(self, plan: Plan) -> Strain:
        stretch, strain = self.frame.model.stretch, self.memory["strain"]
        bodies = stretch.rows.body if len(strain) > 1 else stretch.rows.body[:0]
        self._compiled = Strain(strain.copy(), stretch.strain_of_one(), stretch.multipliers, bodies)
        return self._compiled

    def ran(self) -> None:
        if self._compiled:
            self._take(self._compiled.memory)

    def _take(self, strain: np.ndarray) -> None:
        self.memory["strain"] = self.part.tethers.strain = self.part.levels.strain = strain


def _tethers(layout: Layout) -> TetherConstraints:
    """Longest distances from firm pins."""
    rows = []
    for body, part, mesh in zip(layout.bodies, layout.slices, layout.meshes()):
        firm = layout.of_body(layout.pinned, part) if body.is_usual else np.zeros(0, int)
        nothing = (np.zeros(0, int), np.zeros(0, int), np.zeros(0))
        rows.append(tether_rows(mesh, body.rest_vertices, firm) if len(firm) else nothing)
    particles, body_of = layout.stacked([row[0] for row in rows])
    anchors = layout.stacked([row[1] for row in rows])[0]
    lengths = np.concatenate([row[2] for row in rows])
    return TetherConstraints(particles, anchors, lengths, body_of, layout.extents)


def _levels(layout: Layout, w: np.ndarray) -> LevelConstraints:
    """Levels for triangle meshes whose chains are not straight; on grids, chains alone do better.

    Meshes with soft pins have none: a level moves whole neighborhoods, which a spring at one vertex cannot resist.
    Neither have meshes with quads, which may shear into diamonds: levels would keep the lengths of their diagonals.
    """
    crooked = [
        (number, part.start, mesh)
        for number, (body, part, mesh) in enumerate(zip(layout.bodies, layout.slices, layout.meshes()))
        if body.is_usual
        and not len(layout.of_body(layout.pins[layout.soft_pins], part))
        and not len(mesh.diagonals)
        and not is_structured(mesh.edges, body.rest_vertices)
    ]
    return LevelConstraints(crooked, layout.rest_vertices, layout.extents, w)
