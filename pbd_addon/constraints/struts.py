"""Struts: springs through the inside of a body, each with its own stiffness in tension and in compression.

C = |p1 − p2| − l        l: the length at rest
∇C = n at p1, −n at p2, with n = (p1 − p2) / |p1 − p2|
α = l / (E A)        E: Young's modulus of the inside [Pa]; A: half of the areas of both ends
from: the bar of Hooke's law; rows as in `distance`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .distance import DistanceConstraints

if TYPE_CHECKING:
    from ..bodies.material import Material


class StrutConstraints(DistanceConstraints):
    """Struts of all bodies.

    Bars share the inside: the bar of each vertex has half of its area, because the one of the other side has the other
    half. So a slab between parallel sides has Young's modulus E, whatever its mesh.

    Args:
        pairs: Both particles of every row, (m, 2) int.
        rest_lengths: (m,) [m].
        areas: Of each end, if it has a bar to the other, else 0, (m, 2) [m²].
    """

    def __init__(
        self, pairs: np.ndarray, rest_lengths: np.ndarray, areas: np.ndarray, body: np.ndarray, w: np.ndarray
    ) -> None:
        fields = ("internal_tension", "internal_compression")
        super().__init__("struts", pairs, rest_lengths, np.zeros(len(pairs)), body, w, fields)
        self.areas = areas[self.rows.order].T

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        super().set_maps({kind: maps[kind] for kind in ("shrink",) if kind in maps})
        factors = maps.get("internal")
        shares = self.areas if factors is None else self.areas * factors[self.rows.indices]
        self.geometry = 0.5 * shares.sum(axis=0) / self.unmapped[0]

    def _pure_numbers(self, materials: Sequence[Material]) -> np.ndarray:
        """Those of stretch and compression, where a stiffness is given: PBD has no pascals."""
        k = [
            [getattr(m, name) * (getattr(m, field) > 0.0) for m in materials]
            for name, field in zip(("k_stretch", "k_compression"), self.fields)
        ]
        return np.array(k)[:, self.rows.body] * (self.geometry > 0.0)
