"""Internal springs: struts through the inside of a body. Where they run is found by `model/struts.py`."""

from __future__ import annotations

import numpy as np

from ..bodies.fields import Inside
from ..constraints import StrutConstraints
from ..model.model import Model
from ..model.part import Part
from ..model.struts import Recipe, struts_of


class Struts(Part):
    """The struts of a scene, made by recipes, one for each body or None."""

    FIELDS = Inside

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
