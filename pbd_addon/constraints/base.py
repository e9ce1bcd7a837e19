"""The base class of all kinds of constraints: it holds all rows of one kind in a scene, as arrays."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays.coloring import color
from ..arrays.distinct import distinct
from ..kernels import Kernels, numpy as numpy_kernels
from ..kernels.protocol.frames import Call
from ..kernels.protocol.projections import Colored
from ..settings.solver_settings import SolverSettings

if TYPE_CHECKING:
    from ..bodies.material import Material

NO_STIFFNESS = 1e30
"""Compliance that represents a stiffness of zero; finite, so that products with it stay finite."""

NOTHING, NO_PULL = np.zeros(0), np.zeros((3, 0))
"""For kernels, where there is nothing to take."""

WIDE = 0.3
"""A color is wide if its rows use at least this fraction of all particles that rows of its kind use.

To gather all costs 1; to gather the color's own and to scatter them, which takes NumPy twice as long, three times their
fraction: as much at a third."""


class Residual(NamedTuple):
    """The residual C + alpha lambda of one kind at the end of a frame.

    Attributes:
        short: Fraction of the deformation that no force accounts for, sum |C + alpha lambda| / sum |C|, in [0, 1]. A
            single row with effective stiffness k' instead of k is 1 - k' / k short.
        error: 95th percentile of |C + alpha lambda| in the unit of the kind: over the rest length, or in radians.
        change: 95th percentile of the change of C in a frame, in that unit; 0 where it is not asked for.
        folded: 95th percentile of the angles of all folds [rad], of shear; 0 where it is not asked for.
    """

    short: float = 0.0
    error: float = 0.0
    change: float = 0.0
    folded: float = 0.0


SAMPLE = 300
"""Number of rows of a kind that are sampled for the residual, if there are more: of the 95th percentile, 15 are above
it."""

GOLDEN = 0.6180339887498949
"""(√5 − 1) / 2. Multiples of it, without whole numbers, are spread evenly and in no rhythm: every 27th diagonal of a
grid of 64 x 64 cells showed four times its error, as rows of a color follow the grid."""


@functools.lru_cache(maxsize=64)
def sampled(count: int, most: int = SAMPLE) -> slice | np.ndarray:
    """Which of so many rows are looked at for a residual: all, or this many of them at most, (k,) int."""
    if count <= most:
        return slice(None)
    return np.unique((count * np.modf(GOLDEN * np.arange(1, most + 1))[0]).astype(np.int64))


def residual_of(left: np.ndarray, values: np.ndarray, scale: np.ndarray | float = 1.0) -> Residual:
    """The residual from |C + alpha lambda| and |C| of rows, (m,) each; scale: factor from C to the unit of the kind."""
    if not len(left):
        return Residual()
    whole = float(values.sum())
    short = min(float(left.sum()) / whole, 1.0) if whole > 0.0 else 0.0
    return Residual(short, percentile(left * scale))


def percentile(values: np.ndarray) -> float:
    """The 95th percentile of values (m,), rounded up to one of them; 0 of none."""
    place = (95 * len(values)) // 100
    return float(np.partition(values, place)[place]) if len(values) else 0.0


class Rows(NamedTuple):
    """Constraints of one kind sorted by color, without those whose particles are all pinned.

    Attributes:
        indices: Particles of each row, (k, m) int64, or as `laid_out` has them.
        starts: Where each color begins, (colors + 1,) int.
        body: Body index of each row, (m,) int32.
        order: Index of each row in the unsorted input, (m,) int32.
        layouts: Orders of particles in which NumPy's kernels process wide colors, (colors + 1, u) int64; (0, 0) if
            there are none, or before `laid_out`.
    """

    indices: np.ndarray
    starts: np.ndarray
    body: np.ndarray
    order: np.ndarray
    layouts: np.ndarray

    def colored(self) -> Colored:
        """The rows as kernels take them."""
        return Colored(self.indices, self.starts, self.layouts)


def sort_rows(indices: np.ndarray, body: np.ndarray, w: np.ndarray) -> Rows:
    """Rows of particles (m, k), each of body `body` (m,), sorted by color; w (n,) are the inverse masses."""
    moving = np.flatnonzero((w[indices] > 0.0).any(axis=1)) if len(indices) else np.zeros(0, int)
    order, starts = color(indices[moving], len(w))
    order = moving[order]
    sorted_indices = np.ascontiguousarray(indices[order].T, dtype=np.int64)
    small = once_if_equal(body[order].astype(np.int32)), order.astype(np.int32)
    return Rows(sorted_indices, starts, *small, np.zeros((0, 0), np.int64))


def laid_out(rows: Rows, kernels: Kernels) -> Rows:
    """The rows as a backend's kernels take them, see `kernels.protocol.packing`."""
    layouts = np.zeros((0, 0), np.int64) if kernels.PACKED else find_layouts(rows.indices, rows.starts)
    index = np.int32 if len(layouts) else kernels.INDEX  # few rows are then left to gather by them
    return rows._replace(indices=np.asarray(rows.indices, index, order=kernels.ORDER), layouts=layouts)


def find_layouts(indices: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Orders of particles for `kernels.numpy.layout.by_color`, for the leading colors that are wide."""
    used = distinct(indices)
    widths = len(indices) * np.diff(starts)
    narrow = np.flatnonzero(widths < WIDE * len(used))
    wide = int(narrow[0]) if len(narrow) else len(widths)
    if wide < 2:
        return np.zeros((0, 0), np.int64)
    layouts: list[np.ndarray] = []
    place, order = np.zeros(used[-1] + 1, np.int64), used
    for start, stop in zip(starts[:wide], starts[1:]):
        own = indices[:, start:stop].ravel()
        is_own = np.zeros(len(place), bool)
        is_own[own] = True
        place[order] = np.arange(len(order))
        order = np.concatenate([own, order[~is_own[order]]])
        layouts.append(place[order] if layouts else order)
    return np.stack([*layouts, order]).astype(np.int64, copy=False)


def once_if_equal(values: np.ndarray) -> np.ndarray:
    """Values (m,), read-only and in the memory of one if they are equal, as those of one body often are."""
    return np.broadcast_to(values[:1].copy(), len(values)) if len(values) and (values == values[0]).all() else values


def compliances(stiffness: np.ndarray) -> np.ndarray:
    """Inverse of each stiffness; a stiffness of 0 becomes `NO_STIFFNESS`."""
    return np.where(stiffness > 0.0, 1.0 / np.maximum(stiffness, 1e-300), NO_STIFFNESS).clip(max=NO_STIFFNESS)


def relaxation(k: np.ndarray, settings: SolverSettings) -> np.ndarray:
    """Relaxation of a row in one iteration: k' = 1 - (1 - k)^(1/iterations) for PBD (Müller 2007), 1 for XPBD."""
    if settings.method == "PBD":
        return 1.0 - (1.0 - k) ** (1.0 / settings.iterations)
    return np.ones_like(k)


def make(kernels: Kernels, calls: Sequence[Call], p: np.ndarray, x: np.ndarray) -> None:
    """Make calls of kernels for positions p, packed or (3, n), and x before the substep, (3, n)."""
    for name, given, arguments in calls:
        getattr(kernels, name)(*(p, x)[:given], *arguments)


def within_half_turn(angles: np.ndarray) -> np.ndarray:
    """Angles [rad] less whole turns."""
    return np.asarray(angles - 2.0 * np.pi * np.round(angles / (2.0 * np.pi)))


def directions(d: np.ndarray) -> np.ndarray:
    """Vectors (m, 3) over their lengths; 0 where they have none."""
    return np.asarray(d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None])


def gradients_of_distance(x: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of particles (2, m), as rows, and the gradients of their distances at positions x (n, 3), (m, 2, 3)."""
    n = directions(x[pairs[0]] - x[pairs[1]])
    return pairs.T, np.stack([n, -n], axis=1)


def gradients_to_targets(x: np.ndarray, particles: np.ndarray, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same of particles (m,) and the distances from their targets (3, m) [m]."""
    return particles[:, None], directions(x[particles] - targets.T)[:, None]


class Constraints:
    """All constraints of one kind.

    Common arguments of kinds: body, the body index of each row, (m,) int; w, inverse masses of all particles, (n,)
    [1/kg].

    Attributes:
        name: Name in panels and reports.
        multipliers: Lagrange multipliers of the last substep, lambda; divided by h² they are forces.
        active: Whether any row has an effect with the current materials.
        cause: Why more substeps may be needed, one of `model.REASONS`; "" if the residual never asks for more.
        once: Whether one pass a substep is made, and multipliers are asked for only at the end of a frame;
            once_apart: whether that is so where nothing meets.
        inverse_masses: Of all particles, (n,) [1/kg], if `project` takes packed positions; else None.
        kernels: Those that rows are laid out for, once they are.
        h: Length of the substep that was begun last [s]; 0 if what depends on it has to be computed anew.
    """

    name: str
    multipliers: np.ndarray
    active: bool = True
    cause: str = ""
    once: bool = False
    once_apart: bool = False
    inverse_masses: np.ndarray | None = None
    kernels: Kernels = numpy_kernels
    is_laid_out: bool = False
    h: float = 0.0

    def set_maps(self, maps: Mapping[str, np.ndarray]) -> None:
        """Set the factors per particle, (n,) each, by the names in `parts.MAPS`; `set_materials` follows.

        Most kinds use none.
        """

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        """Set the stiffnesses from the bodies' materials, and inverse masses w (n,); the topology does not change."""
        raise NotImplementedError

    def lay_out(self, kernels: Kernels) -> None:
        """Get ready for the kernels of a backend; kinds with many rows lay them out in memory."""
        if not self.is_laid_out or self.kernels is not kernels:
            self.kernels, self.is_laid_out = kernels, True
            self._lay_out()

    def _lay_out(self) -> None:
        """Get ready for `kernels`."""

    def begin_substep(self, h: float, fraction: float) -> None:
        """Begin a substep of h [s], which ends at a fraction of the frame, in (0, 1]: without multipliers."""
        self.multipliers[:] = 0.0
        self.h = h

    def begin_calls(self) -> list[Call]:
        """What `begin_substep` does again in each substep of the same length, see `kernels.protocol.frames`."""
        return []

    def calls(self, kept: bool, fresh: bool) -> list[Call] | None:
        """What `project` calls, for kernels' compiled frames; None for kinds that do anything else.

        With the same arrays in each substep of the same length, for these:

        kept: Whether anything asks for the multipliers of the substep.
        fresh: Whether this kind is projected for the first time in the substep.
        """
        return None

    def begins(self) -> Sequence[Constraints]:
        """Other kinds whose multipliers are not 0 any more once this one is projected."""
        return ()

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        """Move the predicted positions p towards C = 0; x (3, n) are those before the substep.

        p is (3, n), or packed for `inverse_masses`, see `kernels.protocol.packing`.
        """
        calls = self.calls(True, True)
        assert calls is not None, "a kind without calls has a `project` of its own"
        make(kernels, calls, p, x)

    def end_substep(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        """Finish a substep after the last iteration: friction, and for contact restitution and the crossing guard.

        Most kinds do nothing. p (3, n) is changed in place. Where an overlap was resolved, x (3, n) is shifted by as
        much, so that it adds no velocity.
        """

    def pushing(self) -> np.ndarray:
        """Particles that were pushed away from where the springs had them in the last substep, (k,) int.

        One particle of each pushed body is enough. Kinds before stretch push nothing away. Kinds that are not springs
        have this method of their own, and only they may have friction.
        """
        return np.zeros(0, int)

    def residual(self, p: np.ndarray) -> Residual:
        """The residual at the end of the last substep, at positions p (3, n) [m].

        It is zero for rigid kinds, and for those that are solved directly.
        """
        return Residual()

    def shape_error(self, residual: Residual) -> float:
        """By how much a residual puts a shape at rest off, over its size, as measured on drapes and loops; or 0."""
        return 0.0

    def change(self, p: np.ndarray, way: np.ndarray) -> float:
        """`Residual.change` at positions p where particles go so far in a frame, (3, n) [m] each."""
        return 0.0

    def values(self, x: np.ndarray) -> np.ndarray:
        """C of every row at positions x, (n, 3) [m] of all bodies; (m,)."""
        raise NotImplementedError

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Particles of every row (m, k) and the gradient of C there, (m, k, 3), at positions x (n, 3)."""
        raise NotImplementedError

    def forces(self) -> np.ndarray:
        """Strength of every row in the last substep, |lambda| / h² of vectors; (m,) [N] unless the kind says more."""
        strength = np.linalg.norm(self.multipliers, axis=0) if self.multipliers.ndim > 1 else self.multipliers
        return strength / self.h**2 if self.h else np.zeros_like(strength)
