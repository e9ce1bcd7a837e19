"""Springs: what they have to know of what pushes bodies after them."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints.distance import SECOND_ORDER_SWEEPS
from ..constraints.spring_rows import is_soft
from ..model.model import Model, State, Targets
from ..model.part import Acting, Frame, Kept, Part, Plan, remembers
from ..settings.fields import Checked, multiplies, setting, varies

WAVE_EDGES = 1.75
"""Largest number of edges that a tension wave crosses in a substep of soft cloth.

Sheets of 100 N/m hang 1.0 % (on four corners) to 2.7 % (on two) too deep at 1.72 edges, 4.8 and 12.5 % at 3.44.
"""


BEND_MODELS = ("AUTO", "ISOMETRIC", "DIHEDRAL")


@dataclasses.dataclass(frozen=True)
class Elasticity(Checked):
    """How stretch, shear and bending are resisted: by the method "XPBD" or, `k_*`, "PBD" (Müller et al. 2007)."""

    stretch: float = setting(
        5000.0,
        "Tension",
        "Resistance to stretching: Young's modulus times thickness. Knitwear 600, cotton 6000, canvas 20000 N/m",
        unit="N/m",
        low=0.0,
        soft_high=50_000.0,
        rigid=0.0,
        panel="stiffness",
    )
    compression: float = setting(
        5000.0,
        "Compression",
        "Resistance to compression in the plane. The same as Tension or less. Cotton 6000 N/m",
        unit="N/m",
        low=0.0,
        soft_high=50_000.0,
        rigid=0.0,
        panel="stiffness",
    )
    shear: float = setting(
        1000.0,
        "Shear",
        "Resistance of quads to being skewed. Woven cloth 80 N/m or 1 % of Tension, film and leather a third",
        unit="N/m",
        low=0.0,
        soft_high=50_000.0,
        rigid=0.0,
        panel="stiffness",
    )
    bend: float = setting(
        1e-5,
        "Bending",
        "Resistance to folding (flexural rigidity). Silk 3e-6, cotton 1.2e-5, denim 6e-5, paper 2.7e-4 N·m",
        unit="N·m",
        low=0.0,
        soft_high=0.01,
        rigid=0.0,
        panel="stiffness",
    )
    weft_stretch: float = setting(
        1.0,
        "Weft Tension",
        "Tension and Compression along the weft, over those along the warp. Cotton 1, wool 0.8, denim 0.2",
        low=0.01,
        high=100.0,
        soft_high=2.0,
        rigid=1.0,
        panel="weft",
    )
    weft_bend: float = setting(
        1.0,
        "Weft Bending",
        "Bending along the weft, over that along the warp. Most woven cloth 0.6, the same in both directions 1",
        low=0.01,
        high=100.0,
        soft_high=2.0,
        rigid=1.0,
        panel="weft",
    )
    bend_model: str = setting(
        "AUTO",
        "Bending Model",
        "Isometric is quick and made for sheets that are flat at rest, Dihedral keeps any rest angle. "
        "Automatic takes Isometric where the rest shape is flat",
        choices=BEND_MODELS,
        panel="bending",
        short="Bend Model",
    )
    stretch_damping: float = setting(
        0.0,
        "Tension",
        "Internal friction against stretching (Rayleigh time): higher values settle sooner. Rubber 0.01 s",
        unit="s",
        low=0.0,
        soft_high=0.1,
    )
    bend_damping: float = setting(
        0.0,
        "Bending",
        "Internal friction against folding (Rayleigh time): higher values settle sooner. Stiff leather 0.01 s",
        unit="s",
        low=0.0,
        soft_high=0.1,
    )
    k_stretch: float = setting(
        0.9,
        "Stretch",
        "PBD: share of the stretch error that one substep removes. Usually 0.9",
        low=0.0,
        high=1.0,
        rigid=0.0,
        panel="stiffness, PBD",
    )
    k_compression: float = setting(
        0.9,
        "Compression",
        "PBD: share of the compression error that one substep removes. The same as Stretch or less, usually 0.9",
        low=0.0,
        high=1.0,
        rigid=0.0,
        panel="stiffness, PBD",
    )
    k_shear: float = setting(
        0.5,
        "Shear",
        "PBD: share of the shear error that one substep removes. Usually 0.5",
        low=0.0,
        high=1.0,
        rigid=0.0,
        panel="stiffness, PBD",
    )
    k_bend: float = setting(
        0.1,
        "Bend",
        "PBD: share of the bending error that one substep removes. Usually 0.1",
        low=0.0,
        high=1.0,
        rigid=0.0,
        panel="stiffness, PBD",
    )

    @property
    def least_stretch(self) -> float:
        """Tension along the weaker threads [N/m]."""
        return self.stretch * min(self.weft_stretch, 1.0)


class Springs(Part):
    """Stretch and shear.

    They remember which bodies were pushed in the last frame, see `Model.pushed`, (bodies,) bool; all if it is unknown.

    Attributes:
        soft: Which bodies are soft, see `constraints.spring_rows.is_soft`, (bodies,) bool.
    """

    FIELDS = Elasticity
    MAPS = varies(
        stretch=multiplies("Stiffness", "Tension, Compression and Shear", 0.1, "Lace 0.1, a seam 5"),
        bend=multiplies("Bending", "Bending", 0.1, "A collar 20, a crease 0.01"),
        shrink=multiplies(
            "Shrink",
            "the rest length of edges",
            0.8,
            "Below 1 shrinks, above 1 lengthens; can be animated. An elastic band 0.6, a ruffle 1.5",
            is_positive=True,
        ),
    )
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
                stretch = material.stretch * max(material.weft_stretch, 1.0)
                speed = np.sqrt(stretch / material.density * ratio)
                most = max(most, dt * speed / (WAVE_EDGES * float(np.median(lengths))))
        return most

    def inherit(self, before: Model, state: State, after: Model, begun: bool) -> None:
        if begun:
            state.memory[self.name]["pushed"] = before.stretch.pushed


class PushedSprings(Acting):
    """What is known of pushed bodies in a frame where anything can push."""

    def compiled(self, plan: Plan) -> None:
        """Nothing, in substeps in which nothing pushes but what has done so in the last frame."""

    def ran(self) -> None:
        self.remember(0.0, 0.0)

    def remember(self, duration: float, stop: float) -> None:
        model = self.frame.model
        self.memory["pushed"] = self.memory["pushed"] | model.pushed()
        model.stretch.pushed = model.stretch.pushed | self.memory["pushed"]
