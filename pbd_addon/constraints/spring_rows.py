"""Springs between two particles as rows: their rest lengths and stiffnesses, and how strained they are.

Maps, yielding and rest shapes change rest lengths; materials, threads and softening change stiffnesses. `distance` has
the formula and solves them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels.protocol.frames import Call
from ..meshes.factors import of_rows
from ..meshes.weave import Weave, between, on_the_bias
from ..settings.solver_settings import SolverSettings
from .base import (  # fmt: skip
    NO_STIFFNESS,
    NOTHING,
    Constraints,
    Residual,
    compliances,
    gradients_of_distance,
    once_if_equal,
    percentile,
    relaxation,
    residual_of,
    sampled,
    sort_rows,
)

if TYPE_CHECKING:
    from ..bodies.material import Material

SHAPE_PER_STRAIN = 7.5
"""How much of its size a shape is off by a residual strain of 1 in stretch, measured on Cusick's drapes of triangles,
where nothing else resists shear: 0.029, 0.019 and 0.007 go with 24, 12 and 4 points of cover."""

SHAPE_PER_SHEAR, LEAST_FOLDED = 10.0, 0.33
"""The same in shear, where folds are 1 rad sharp, and the angle up to which it is as if they were that sharp [rad].

Drapes of quads that began with the converged shape went on with 20, 40 and 80 steps. Their cover changed by so many
points per percent of residual strain: denim of 10 mm, whose angles are 0.24, by 1 to 1.5; cotton, 0.33, by 1.5 to 3.3;
wool and silk, 0.45, by 2.2 to 4.5; denim and cotton of 20 mm, 0.53 to 0.6, by 4.7 to 9; silk, 0.7, by 4 to 8. Where
folds are wider than in the least of these, they may still fall in another way: denim with 1 and cotton with 3 came out
4 to 6 points beside the mean of converged drapes."""

SOFT_STRAIN = 0.005
"""Cloth is soft if its strain under its own weight, density · g · size / stretch, exceeds this [1].

Stiffer cloth hangs by its geometry: cotton of 1 m lengthens by 0.0002. Sheets of 100 N/m, which hang 12 % too deep with
one round of shear and stretch, lengthen by 0.015."""


class SpringRows(Constraints):
    """Rows of `DistanceConstraints`, where arguments and attributes are explained."""

    inverse_masses: np.ndarray
    alpha: np.ndarray

    def __init__(
        self,
        name: str,
        indices: np.ndarray,
        rest_lengths: np.ndarray,
        geometry: np.ndarray,
        body: np.ndarray,
        w: np.ndarray,
        fields: tuple[str, str],
        compliance: np.ndarray | None,
        is_rope: np.ndarray | None,
        weave: Weave | None,
    ) -> None:
        self.name = name
        self.cause = name if name in ("stretch", "shear") else ""
        self.rows = sort_rows(indices, body, w)
        order = self.rows.order
        self.unmapped = np.asarray(rest_lengths, float)[order], np.asarray(geometry, float)[order]
        self.rest_lengths, self.geometry = self.unmapped
        self.numbers, self.first_number = order, 0
        self.yielded, self._lengthening = False, np.broadcast_to(1.0, len(order))
        self._measured, self._shrink = self.rest_lengths, np.ones(())
        is_rope = np.zeros(len(order), bool) if is_rope is None else is_rope[order]
        self.fields, self.is_rope, self.weave = fields, once_if_equal(is_rope), weave
        self.own_compliance = np.broadcast_to(np.nan, len(order))
        if compliance is not None and not np.isnan(compliance).all():
            self.own_compliance = compliance[order]
        self.multipliers = np.zeros(len(order))
        self._strain_of_one, self._is_stale = NOTHING, True
        self.relaxed = False
        self._reweighed, self.softness, self.released = False, NOTHING, NOTHING

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self._shrink = np.asarray(of_rows(maps.get("shrink"), self.rows.indices))
        self._combine()
        self.geometry = self.unmapped[1]
        if "stretch" in maps:
            self.geometry = self.geometry * of_rows(maps["stretch"], self.rows.indices)

    def _combine(self) -> None:
        factors = self._shrink * self._lengthening
        self.rest_lengths = self._measured if (factors == 1.0).all() else self._measured * factors
        self.h = 0.0

    def lengthen(self, factors: np.ndarray) -> None:
        """Use rest lengths that are so many times those of the beginning from now on, (m,) [1]."""
        if not np.array_equal(factors, self._lengthening):
            self._lengthening, self.yielded = factors, True
            self._combine()

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.inverse_masses = w
        self.compliance = np.stack([self._compliance(materials, field) for field in self.fields])
        damping_times = np.array([m.stretch_damping for m in materials])[self.rows.body]
        self.damping_times = damping_times if damping_times.any() else np.zeros(0)
        self.k = np.ones((1, 1))
        self.relaxed = settings.method == "PBD"
        if self.relaxed:
            k = self._pure_numbers(materials)
            self.k = relaxation(k, settings)
            self.compliance = np.where(k > 0.0, 0.0, NO_STIFFNESS)
            self.damping_times = np.zeros(0)
        # If all rows have equal stiffness in tension and compression, one array serves both.
        same = np.array_equal(self.compliance[0], self.compliance[1]) and np.array_equal(self.k[0], self.k[-1])
        self.sides = 1 if same else 2
        self.compliance = self.compliance[: self.sides].copy()
        self._given, self.softness, self.released = self.compliance, NOTHING, NOTHING
        self.active = bool((self.compliance < NO_STIFFNESS).any())
        self.h = 0.0

    def _pure_numbers(self, materials: Sequence[Material]) -> np.ndarray:
        """What PBD has instead of stiffness in tension and in compression, (2, m)."""
        return np.array([[getattr(m, f"k_{field}") for m in materials] for field in self.fields])[:, self.rows.body]

    def _compliance(self, materials: Sequence[Material], field: str) -> np.ndarray:
        stiffness = np.array([getattr(m, field) for m in materials], float)[self.rows.body]
        if self.weave and is_woven(materials, self.weave):
            stiffness = self._woven(stiffness, materials, self.weave)
        stiffness = stiffness * self.geometry
        return np.where(np.isnan(self.own_compliance), compliances(stiffness), self.own_compliance)

    def _woven(self, stiffness: np.ndarray, materials: Sequence[Material], weave: Weave) -> np.ndarray:
        """What a stiffness of each row in the directions of the threads is in its own, (m,) [N/m]."""
        body, is_shear = self.rows.body, self.name == "shear"
        ratio, stretch, shear = np.array([(m.weft_stretch, m.stretch, m.shear) for m in materials]).T[:, body]
        along = weave.along(self.rows.indices)
        cut = on_the_bias(along, ratio, stretch if is_shear else stiffness, shear)
        aligned = stiffness if is_shear else stiffness * between(along, ratio)
        found = np.where((weave.is_cut & weave.is_quads)[body], 0.5 * cut if is_shear else cut, aligned)
        return np.where(self.is_rope, stiffness, found)

    def use_weights(self, w: np.ndarray) -> None:
        """Use these inverse masses from the next substep on, (n,) [1/kg]."""
        self.inverse_masses, self._reweighed = w, True

    def soften(self, factors: np.ndarray) -> None:
        """Be so many times softer in tension than the material from the next substep on, (m,) [1]."""
        if not np.array_equal(factors, self.softness):
            self.softness = factors
            self._give()

    def release(self, factors: np.ndarray) -> None:
        """Be so many times softer again from the next substep on, (m,) [1]; (0,): not at all."""
        if not np.array_equal(factors, self.released):
            if len(factors) == len(self.released):
                self.released[:] = factors
            else:
                self.released = factors
            self._give()

    def reweigh(self) -> None:
        """Look at compliances and inverse masses again in the next substep, as they have changed in place."""
        self._reweighed = True

    def _give(self) -> None:
        self._reweighed = True
        if self.compliance is self._given:
            self.compliance = self._given.copy()
        self.kernels.soften_rows(self._given, self.softness, self.released, self.compliance)

    def soften_calls(self) -> list[Call]:
        """What `release` does again with other factors in the same array."""
        return [Call("soften_rows", 0, (self._given, self.softness, self.released, self.compliance))]

    @property
    def weights(self) -> np.ndarray:
        """Inverse masses of the particles of all rows, (2, m) [1/kg]."""
        return self.inverse_masses.take(self.rows.indices)

    def values(self, x: np.ndarray) -> np.ndarray:
        return self._lengths(x.T) - self.rest_lengths

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return gradients_of_distance(x, self.rows.indices)

    def _ways(self, q: np.ndarray, some: slice | np.ndarray = slice(None)) -> np.ndarray:
        """From the second to the first end of some rows, in vectors q (3, n), (3, k)."""
        start, end = self.rows.indices[:, some]
        found = q.take(start, axis=1)
        found -= q.take(end, axis=1)
        return found

    def _lengths(self, p: np.ndarray, some: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Lengths of some rows at positions p (3, n), (k,) [m]."""
        d = self._ways(p, some)
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", d, d)))

    def stretches(self, p: np.ndarray, some: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Length over rest length of some rows, or of every one, at positions p (3, n) [m], (m,)."""
        return self._lengths(p, some) / self.rest_lengths[some]

    def strains(self, p: np.ndarray, some: slice | np.ndarray = slice(None)) -> np.ndarray:
        """|length / rest length - 1| of some rows, or of every one, at positions p (3, n) [m], (m,)."""
        return np.abs(self.stretches(p, some) - 1.0)

    def compressed(self, p: np.ndarray, some: np.ndarray) -> float:
        """By how much the most compressed of some rows is shorter than at rest at positions p (3, n) [m], [1]."""
        return float((1.0 - self.stretches(p, some)).max())

    def forces(self) -> np.ndarray:
        """Tension of every row in the last substep, (m,) [N]; negative in compression."""
        return -super().forces()

    def elastic_strain(self) -> np.ndarray:
        """Strain by the multipliers of the last substep, (m,); negative in compression."""
        return self.strain_of_one() * self.multipliers if self.h else np.zeros_like(self.multipliers)

    def work(self) -> np.ndarray:
        """What every row has stored in tension by the multipliers of the last substep, (m,) [J]."""
        if not self.h:
            return np.zeros_like(self.multipliers)
        return np.asarray(0.5 * self.alpha[0] * (np.minimum(self.multipliers, 0.0) / self.h) ** 2)

    def most_work(self) -> float:
        """Sum of `work` over all rows if compression stored as much as tension, which is quicker to find [J]."""
        if not self.h:
            return 0.0
        return 0.5 * float(np.einsum("m,m->", self.alpha[0] * self.multipliers, self.multipliers)) / self.h**2

    def strain_of_one(self) -> np.ndarray:
        """Elastic strain of each row by a multiplier of 1 in a substep of h, (m,)."""
        if self._is_stale:
            if len(self._strain_of_one) != len(self.rest_lengths):
                self._strain_of_one = np.zeros(len(self.rest_lengths))
            self.kernels.strain_rows(self.alpha, self.rest_lengths, self._strain_of_one)
            self._is_stale = False
        return self._strain_of_one

    def residual(self, p: np.ndarray) -> Residual:
        if not self.h or self.relaxed:
            return Residual()
        some = sampled(len(self.rest_lengths))
        change = self._lengths(p, some) - self.rest_lengths[some]
        alpha = np.where(change < 0.0, self.alpha[-1, some], self.alpha[0, some])
        held = alpha < NO_STIFFNESS
        left = np.abs(change + alpha * self.multipliers[some])
        return residual_of(left[held], np.abs(change[held]), 1.0 / self.rest_lengths[some][held])

    def shape_error(self, residual: Residual) -> float:
        sheared = self.cause == "shear"
        return (SHAPE_PER_SHEAR * max(residual.folded, LEAST_FOLDED) if sheared else SHAPE_PER_STRAIN) * residual.error

    def change(self, p: np.ndarray, way: np.ndarray) -> float:
        some = sampled(len(self.rest_lengths))
        d, gone = self._ways(p, some), self._ways(way, some)
        return percentile(np.abs(np.einsum("ij,ij->j", d, gone)) / self.rest_lengths[some] ** 2)


def is_woven(materials: Sequence[Material], weave: Weave) -> bool:
    """Whether the directions of threads matter to stretch and shear."""
    return bool(weave.is_cut.any()) or any(material.weft_stretch != 1.0 for material in materials)


def is_soft(materials: Sequence[Material], settings: SolverSettings, sizes: np.ndarray) -> np.ndarray:
    """Which bodies of these sizes (bodies,) [m] are strained by more than `SOFT_STRAIN` by their own weight, (bodies,).

    Bodies under pressure are never soft, because their tension is not due to their weight.
    """
    load = np.array([m.density for m in materials]) * float(np.linalg.norm(settings.gravity)) * sizes
    stretch = np.array([m.least_stretch for m in materials])
    opened = np.array([m.pressure_mode == "OFF" for m in materials])
    return np.asarray((settings.method == "XPBD") & opened & (stretch > 0.0) & (load > SOFT_STRAIN * stretch))
