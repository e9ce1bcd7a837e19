"""Bending across edges: by the angle of a hinge or, where the rest shape is flat, by a vector that needs no angle.

C = φ − φ0        φ: the dihedral angle, signed, 0 where flat
∇C = −l n1, −l n2 at the tips, of the normals n1, n2 over their squares; at the ends of the edge their means
α = (A1 + A2) / (bend · l²)        l: length of the edge; A1, A2: areas of the triangles
from: Müller et al. 2007, sec. 4.1, with the gradients of Bridson et al. 2003; α: Grinspun et al. 2003

C = |Σ K_i p_i|        K: the stencil of the hinge at rest, eq. 5, over sqrt(A1 + A2)
∇C = K_i n, with n = Σ K_i p_i / C
α = 1 / bend
from: Bergou et al. 2006: a quadratic energy, whose gradient is constant
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import Kernels
from ..kernels.numpy import dihedral_angles
from ..kernels.protocol.frames import Call
from ..kernels.protocol.guards import SMALLEST
from ..kernels.protocol.projections import LEAST_GIVE, FlatHinges, Hinges, Rubbing
from ..meshes.factors import of_rows
from ..meshes.weave import Weave, between
from ..settings.solver_settings import SolverSettings
from .base import (
    NO_STIFFNESS,
    NOTHING,
    Constraints,
    Residual,
    compliances,
    directions,
    laid_out,
    make,
    once_if_equal,
    percentile,
    relaxation,
    residual_of,
    sampled,
    sort_rows,
    within_half_turn,
)
from .plate import PlateConstraints, visible_share

if TYPE_CHECKING:
    from ..bodies.material import Material

SHAPE_PER_ODDS = 0.05
"""How much of its size a shape is off where hinges are half as stiff as they should be. Pear loops of cotton and silk
are 3 and 4 % too narrow where hinges are 63 and 40 % short, 1 and 2 % at 21 and 11 %."""


def hinge_geometry(rest: np.ndarray, hinges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The quantities of the rest shape that bending needs.

    Args:
        rest: Rest positions, (n, 3) [m].
        hinges: Edge start, edge end, left tip, right tip, (m, 4) int.

    Returns:
        angles: Signed dihedral angle at rest, (m,) [rad].
        stiffness: l² / (A1 + A2), the factor from bend [N m] to the row's stiffness [N m/rad], (m,). It gives a sheet
            rolled to the curvature c the energy bend / 2 x c² per square meter, like a plate.
        stencils: K of Bergou et al. 2006, eq. 5, over sqrt(A1 + A2), (4, m) [1/m].
    """
    q = rest[hinges].transpose(2, 1, 0)
    angles = dihedral_angles(q, with_gradients=False)[0]
    x0, x1, x2, x3 = q.swapaxes(0, 1)
    area = 0.5 * (_cross_length(x1 - x0, x2 - x0) + _cross_length(x1 - x0, x3 - x0))
    length_squared = ((x1 - x0) ** 2).sum(axis=0)
    c01, c02 = _cotangent(x1 - x0, x2 - x0), _cotangent(x1 - x0, x3 - x0)
    c03, c04 = _cotangent(x0 - x1, x2 - x1), _cotangent(x0 - x1, x3 - x1)
    stencils = np.stack([c03 + c04, c01 + c02, -c01 - c03, -c02 - c04]) / np.sqrt(area)
    return angles, length_squared / area, stencils


def _cross_length(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.cross(a, b, axis=0), axis=0)


def _cotangent(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cotangent of the angle between the columns of two (3, m) arrays."""
    return (a * b).sum(axis=0) / np.maximum(_cross_length(a, b), 1e-300)


RESOLVED = 0.7
"""How much of what neighbors take back of a hinge's own motion it moves further, see `resolved_shares`. A clamped strip
of cotton, ten cells of 10 mm, whose end is at 50.1° with 160 steps, is with 20 at 53.7, 50.6, 49.3, 48.0° with 0, 0.5,
0.7, 0.9."""


def resolved_shares(hinges: np.ndarray, stencils: np.ndarray, rest: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Share of each hinge's own motion that its neighbors take back in one pass where a sheet is bent smoothly, (m,).

    A hinge that is projected alone closes by K W K^T of its force. In a smooth field of forces its neighbors open it
    again by nearly as much, so that after a pass over all it has resisted with 1 / (alpha + K W K^T) instead of
    1 / alpha. The fields are those of the quadratic functions of the place at rest. At a border a share is smaller, and
    that of a hinge without neighbors is 0.

    Args:
        hinges: (m, 4) int.
        stencils: K, (4, m) [1/m].
        rest: Rest positions, (n, 3) [m].
        w: Inverse masses, (n,) [1/kg].
    """
    ids = hinges.T
    back, strength = np.zeros(len(hinges)), np.zeros(len(hinges))
    for one, other in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0)):
        centered = rest - rest.mean(axis=0) if len(rest) else rest
        force = ((centered[:, one] * centered[:, other])[ids] * stencils).sum(axis=0)
        moved = w * np.bincount(ids.ravel(), (stencils * force).ravel(), len(rest))
        back += force * (moved[ids] * stencils).sum(axis=0)
        strength += force**2
    own = strength * (w[ids] * stencils**2).sum(axis=0)
    return RESOLVED * np.clip(1.0 - back / np.maximum(own, SMALLEST), 0.0, 1.0)


class _HingeConstraints(Constraints):
    """Rows of hinges (m, 4) with the stiffness of a material's `bend`."""

    cause = "bend"

    def __init__(
        self,
        hinges: np.ndarray,
        body: np.ndarray,
        w: np.ndarray,
        plates: PlateConstraints | None,
        numbers: np.ndarray,
        shares: np.ndarray,
        weave: Weave | None = None,
    ) -> None:
        self.plates, self.weave = plates, weave
        self.rows = sort_rows(hinges, body, w)
        self.shares = shares[self.rows.order]
        self.numbers = numbers[self.rows.order].astype(np.int32) if len(numbers) else numbers
        self.held = self.limits = self.stuck = self.facing = NOTHING
        self.colored = self.rows.colored()
        self.factors: np.ndarray | float = 1.0

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        self.factors = of_rows(maps.get("bend"), self.rows.indices)

    def _set_bend(self, materials: Sequence[Material], settings: SolverSettings, geometry: np.ndarray) -> None:
        body = self.rows.body
        share = self._share(materials)
        bend = share * [m.bend for m in materials]
        bend = bend[body] * geometry * self.factors
        ratio = np.array([m.weft_bend for m in materials])[body]
        if self.weave and (ratio != 1.0).any():
            bend = bend * between(1.0 - self.weave.along(self.rows.indices[:2]), ratio)  # across the edge
        self.compliance = once_if_equal(compliances(bend))
        damping_times = np.array([m.bend_damping for m in materials])[body]
        self.damping_times = damping_times if damping_times.any() else np.zeros(0)
        k = np.array([m.k_bend for m in materials])[body]
        self.k = relaxation(k, settings)
        self.relaxed = settings.method == "PBD"
        if self.relaxed:
            self.compliance = np.where((k > 0.0) & (share[body] > 0.0), 0.0, NO_STIFFNESS)
            self.damping_times = np.zeros(0)
        self.active = bool((self.compliance < NO_STIFFNESS).any())
        self.held = self.limits = self.stuck = NOTHING
        self.h = 0.0

    def shape_error(self, residual: Residual) -> float:
        odds = residual.short / max(1.0 - residual.short, 1e-12)
        return min(SHAPE_PER_ODDS * odds, 1.0) * visible_share(residual)

    def rub(self, limits: np.ndarray, stuck: np.ndarray, facing: np.ndarray) -> None:
        """Let dry friction shift C at rest by so much at most, (m,); `held` is where none acts.

        stuck: share of the stiffness that friction has while it holds, (m,). facing: one over twice the area beside
        each hinge, (m,) [1/m²].
        """
        self.facing = facing
        self.limits, self.stuck = (NOTHING, NOTHING) if self.relaxed or not limits.any() else (limits, stuck)
        self.held, self.h = np.zeros(len(self.limits)), 0.0

    def _rubbed(self, values: np.ndarray, some: slice | np.ndarray) -> np.ndarray:
        """The shift of C at rest by friction where some rows have these values of C, (k,)."""
        pull = self.stuck[some] / (1.0 - self.stuck[some]) * (self.held[some] - values)
        return np.asarray(pull.clip(-self.limits[some], self.limits[some]))

    def bent(self, x: np.ndarray) -> np.ndarray:
        """C of rows at positions x (3, n) [m], signed, on which friction acts, (m,)."""
        raise NotImplementedError

    def _share(self, materials: Sequence[Material]) -> np.ndarray:
        """Factor on `bend` for each body, (bodies,)."""
        return np.ones(len(materials)) if self.plates is None else 1.0 - self.plates.stiff

    def _lay_out(self) -> None:
        self.rows = laid_out(self.rows, self.kernels)
        self.colored = self.rows.colored()

    def begin_substep(self, h: float, fraction: float) -> None:
        begun = self.h
        super().begin_substep(h, fraction)
        if h != begun:
            self._scale(h)

    def _scale(self, h: float) -> None:
        """Compute what depends on h."""
        self.gamma = self.damping_times / h


class DihedralConstraints(_HingeConstraints):
    """Hinges with a rest angle each, in (-pi, pi], which tells the two fold directions apart.

    Args:
        hinges: (m, 4) int.
        rest_angles: (m,) [rad].
        geometry: l² / (A1 + A2), (m,).
        plates: Plate bending of stiff bodies, whose rows have no effect here.
        numbers: Index of each row among `Folds`, (m,) int.
        shares: See `resolved_shares`, (m,).
        weave: Where threads run; default: it does not matter, as in seams.

    Attributes:
        yielded: Whether rest angles may be others than at the beginning.
    """

    name = "dihedral bend"

    def __init__(
        self,
        hinges: np.ndarray,
        rest_angles: np.ndarray,
        geometry: np.ndarray,
        body: np.ndarray,
        w: np.ndarray,
        plates: PlateConstraints | None,
        numbers: np.ndarray,
        shares: np.ndarray,
        weave: Weave | None = None,
    ) -> None:
        super().__init__(hinges, body, w, plates, numbers, shares, weave)
        self.yielded = False
        self.rest_angles = rest_angles[self.rows.order]
        self.geometry = geometry[self.rows.order]
        self.multipliers = np.zeros(len(self.rest_angles))

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self._set_bend(materials, settings, self.geometry)
        self.use_weights(w)

    def use_weights(self, w: np.ndarray) -> None:
        """Use these inverse masses, (n,) [1/kg]."""
        self.weights = w[self.rows.indices]

    def _scale(self, h: float) -> None:
        super()._scale(h)
        self.alpha = self.compliance / h**2

    def fold(self, angles: np.ndarray) -> None:
        """Use these rest angles of all `Folds` from now on, (h,) [rad]."""
        self.rest_angles, self.yielded = angles[self.numbers], True

    def begin_calls(self) -> list[Call]:
        return [Call("clear", 0, (self.multipliers,))]

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        rubbing = self.held, self.limits, self.stuck
        hinges = Hinges(self.weights, self.rest_angles, self.alpha, self.gamma, self.k, self.shares, *rubbing)
        return [Call("project_dihedral", 2, (self.colored, hinges, self.multipliers))]

    def residual(self, p: np.ndarray) -> Residual:
        if not self.h or self.relaxed:
            return Residual()
        some = sampled(len(self.rest_angles))
        error = self._errors(p, some)
        held = self.compliance[some] < NO_STIFFNESS
        shift = self._rubbed(error, some) if len(self.limits) else 0.0
        left = np.abs(error - shift + self.alpha[some] * self.multipliers[some])
        return residual_of(left[held], np.abs(error[held]))

    def bent(self, x: np.ndarray) -> np.ndarray:
        return self._errors(x, slice(None))

    def change(self, p: np.ndarray, way: np.ndarray) -> float:
        hinges = self.rows.indices[:, sampled(len(self.rest_angles))]
        return percentile(np.abs(np.einsum("ijk,ijk->k", dihedral_angles(p[:, hinges])[1], way[:, hinges])))

    def values(self, x: np.ndarray) -> np.ndarray:
        return self._errors(x.T, slice(None))

    def _errors(self, p: np.ndarray, some: slice | np.ndarray) -> np.ndarray:
        """C of some rows at positions p (3, n), (k,) [rad]."""
        angles = dihedral_angles(p[:, self.rows.indices[:, some]], with_gradients=False)[0]
        return within_half_turn(angles - self.rest_angles[some])

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gradients = dihedral_angles(x.T[:, self.rows.indices])[1]
        return self.rows.indices.T, gradients.transpose(2, 1, 0)

    def forces(self) -> np.ndarray:
        """Moment of every hinge against its opening in the last substep, (m,) [N m]."""
        return -super().forces()


class IsometricConstraints(_HingeConstraints):
    """Hinges that are flat at rest.

    The kernel works on the vector sum K_i p_i, three scalar constraints with one compliance; its norm has the same
    energy 1/2 bend |C|² and the same correction.

    Args:
        hinges: (m, 4) int, flat at rest.
        stencils: (4, m) [1/m].
        plates: Plate bending of stiff bodies, whose rows have no effect here.
        numbers: Index of each row among `Folds`, (m,) int, or (0,) where nobody asks for it.
        shares: See `resolved_shares`, (m,).
        weave: Where threads run; default: it does not matter, as in seams.
    """

    name = "isometric bend"
    inverse_masses: np.ndarray

    def __init__(
        self,
        hinges: np.ndarray,
        stencils: np.ndarray,
        body: np.ndarray,
        w: np.ndarray,
        plates: PlateConstraints,
        numbers: np.ndarray,
        shares: np.ndarray,
        weave: Weave | None = None,
    ) -> None:
        super().__init__(hinges, body, w, plates, numbers, shares, weave)
        self.stencils = np.ascontiguousarray(stencils[:, self.rows.order])
        self.rows = self.rows._replace(order=self.rows.order[:0].copy())  # nothing else asks for it
        self.multipliers = np.zeros((3, self.stencils.shape[1]))
        self._no_multipliers = self.multipliers[:, :0]
        self.fresh = self.kept = True

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self._set_bend(materials, settings, np.ones(1))
        self.multipliers[:] = 0.0
        self.inverse_masses = w
        if not self.relaxed:
            self.k = np.ones(1)

    def use_weights(self, w: np.ndarray) -> None:
        """Use these inverse masses from the next substep on, (n,) [1/kg]."""
        self.inverse_masses, self.h = w, 0.0

    def _lay_out(self) -> None:
        super()._lay_out()
        self.stencils = np.asarray(self.stencils, order=self.kernels.ORDER)
        self.h = 0.0

    def begin_substep(self, h: float, fraction: float) -> None:
        if h != self.h:
            self.h = h
            self._scale(h)
        self.fresh, self.kept = True, not self.once or fraction >= 1.0

    def _scale(self, h: float) -> None:
        super()._scale(h)
        leverage = self.inverse_masses[self.rows.indices] * self.stencils
        stiffness = (leverage * self.stencils).sum(axis=0)
        brake = 1.0 + self.gamma if len(self.gamma) else 1.0
        stiffness, alpha = stiffness * brake, self._alpha(slice(None))

        def factor(alpha: np.ndarray) -> np.ndarray:
            give = np.maximum(alpha - self.shares * stiffness, LEAST_GIVE * alpha)
            return np.asarray(-self.k / (stiffness + give))

        self._given: np.ndarray | None = None
        leverage = np.zeros((4, 0)) if self.kernels.PACKED else leverage  # a view would keep all of it
        self.hinges = FlatHinges(self.stencils, leverage, NOTHING, factor(alpha), self.gamma)
        holding = factor((1.0 - self.stuck) * alpha) if len(self.limits) else NOTHING
        self.rubbing = Rubbing(self.held, self.limits, self.facing, holding, self.stuck)

    def _alpha(self, some: slice | np.ndarray) -> np.ndarray:
        """Compliances of some rows for substeps of h, which few ask for, (k,)."""
        return np.asarray(self.compliance[some] / self.h**2)

    def calls(self, kept: bool, fresh: bool) -> list[Call]:
        hinges = self.hinges
        if not fresh:
            self._given = self._alpha(slice(None)) if self._given is None else self._given
            hinges = hinges._replace(alpha=self._given)
        multipliers = self.multipliers if kept else self._no_multipliers
        if len(self.limits):
            return [Call("project_rubbing", 2, (self.colored, hinges, self.rubbing, multipliers, fresh))]
        return [Call("project_isometric", 2, (self.colored, hinges, multipliers, fresh))]

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        make(kernels, self.calls(self.kept, self.fresh), p, x)
        self.fresh = False

    def residual(self, p: np.ndarray) -> Residual:
        if not self.h or self.relaxed:
            return Residual()
        some = sampled(self.stencils.shape[1])
        bent = np.einsum("ijk,jk->ik", p[:, self.rows.indices[:, some]], self.stencils[:, some])
        left = bent + self._alpha(some) * self.multipliers[:, some]
        if len(self.limits):
            q = p[:, self.rows.indices[:, some]]
            normal = self.facing[some] * np.cross(q[:, 1] - q[:, 0], q[:, 2] - q[:, 3], axis=0)
            left -= normal * self._rubbed((normal * bent).sum(axis=0), some)
        held = self.compliance[some] < NO_STIFFNESS
        left, bent = (np.sqrt(np.einsum("ik,ik->k", q, q)) for q in (left, bent))
        return residual_of(left[held], bent[held])

    def change(self, p: np.ndarray, way: np.ndarray) -> float:
        some = sampled(self.stencils.shape[1])
        changes = np.einsum("ijk,jk->ik", way[:, self.rows.indices[:, some]], self.stencils[:, some])
        return percentile(np.linalg.norm(changes, axis=0))

    def bent(self, x: np.ndarray) -> np.ndarray:
        return self.kernels.flat_bends(x, self.rows.indices, self.stencils, self.facing)

    def _curvature(self, x: np.ndarray) -> np.ndarray:
        return np.einsum("ijk,jk->ki", x.T[:, self.rows.indices], self.stencils)

    def values(self, x: np.ndarray) -> np.ndarray:
        return np.linalg.norm(self._curvature(x), axis=1)

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.rows.indices.T, self.stencils.T[:, :, None] * directions(self._curvature(x))[:, None, :]
