"""Internal springs: struts through the inside of a body. Where they run is found by `model/struts.py`."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..constraints import StrutConstraints
from ..model.model import Model
from ..model.part import Part
from ..model.struts import Recipe, struts_of
from ..settings.fields import Checked, multiplies, setting, varies

EIGHTH_TURN = 0.7853982
"""45° in the seven digits that 32 bits keep [rad]."""


@dataclasses.dataclass(frozen=True)
class Inside(Checked):
    """Springs through the inside."""

    internal_springs: bool = setting(
        False,
        "Internal Springs",
        "Connect opposite sides of the mesh through its inside: foam, or the threads and straps of a quilt or mattress",
        rigid=False,
    )
    internal_spring_length: float = setting(
        0.0,
        "Max Spring Creation Length",
        "Largest length of an internal spring in the rest shape. Usually 0 m: any length",
        unit="m",
        low=0.0,
        soft_high=1.0,
    )
    internal_spring_diversion: float = setting(
        EIGHTH_TURN,
        "Max Creation Diversion",
        "Largest angle between an internal spring and the normal where it begins. Foam 45°, upright straps 0°",
        unit="rad",
        low=0.0,
        high=EIGHTH_TURN,
    )
    internal_spring_normals: bool = setting(
        True,
        "Check Surface Normals",
        "Connect only sides whose normals face away from each other, so that springs run through the inside",
    )
    internal_tension: float = setting(
        20_000.0,
        "Tension",
        "Young's modulus of what is inside while it is longer than at rest. Soft foam 20000, straps 10000000 Pa, "
        "0 does not resist",
        unit="Pa",
        low=0.0,
        soft_high=1e7,
    )
    internal_compression: float = setting(
        20_000.0,
        "Compression",
        "Young's modulus of what is inside while it is shorter than at rest. Down 500, soft foam 20000 Pa, threads and "
        "straps 0",
        unit="Pa",
        low=0.0,
        soft_high=1e5,
    )


class Struts(Part):
    """The struts of a scene, made by recipes, one for each body or None."""

    FIELDS = Inside
    MAPS = varies(
        internal=multiplies(
            *("Springs", "the stiffness of Internal Springs", 0.0, "Where there should be none 0"),
            panel="internal springs",
        ),
    )

    def __init__(self, model: Model) -> None:
        self.recipes = list(map(Recipe.of, model.materials))
        ends, areas = [], []
        for body, recipe in zip(model.bodies, self.recipes):
            pairs, sizes = (np.zeros((0, 2), int), np.zeros((0, 2))) if recipe is None else struts_of(body, recipe)
            ends.append(pairs)
            areas.append(sizes)
        pairs, owner = model.stacked(ends)
        if len(model.sewn.joined):
            pairs = model.sewn.joined[pairs]
        rest = model.rest_vertices
        lengths = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
        self.struts = StrutConstraints(pairs, lengths, np.concatenate(areas), owner, model.w)
        self.constraints = (self.struts,)

    @classmethod
    def build(cls, model: Model, before: Struts | None) -> Struts | None:
        recipes = list(map(Recipe.of, model.materials))
        if before and before.recipes == recipes:
            return before
        return cls(model) if any(recipes) else None
