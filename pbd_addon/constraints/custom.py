"""Custom constraints: a function from positions to values and gradients, solved like every other kind.

C = C(p), = 0 or >= 0        given by the function
∇C = given by the function
α = given
from: Macklin et al. 2016, eq. 18; of PBD, with k instead of α: Müller et al. 2007, sec. 3.3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import arguments
from ..arrays.coloring import color
from ..kernels import Kernels
from ..settings.solver_settings import SolverSettings
from .base import Constraints, directions, relaxation

if TYPE_CHECKING:
    from ..bodies.material import Material

Function = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""From positions of the particles of r rows (r, k, 3) [m] and their indices (r,) to C (r,) and dC/dx (r, k, 3)."""


class CustomConstraints(Constraints):
    """Rows of a function, see `Simulation.add_constraints`.

    All arrays are in the order of the given rows.

    Args:
        name: Name of the kind.
        particles: Particles of every row, all of them different, (m, k) int.
        function: C and its gradients.
        compliance: (m,) [unit of C, squared, per joule].
        k: Fraction of each row's error that PBD corrects in a substep, (m,) in [0, 1].
        one_sided: Whether C >= 0 is allowed, so that a row only pushes C up.
    """

    def __init__(
        self,
        name: str,
        particles: np.ndarray,
        function: Function,
        compliance: np.ndarray,
        k: np.ndarray,
        one_sided: bool,
        w: np.ndarray,
    ) -> None:
        self.name, self.particles, self.function = name, particles, function
        self.own_compliance, self.own_k, self.one_sided = compliance, k, one_sided
        self.multipliers = np.zeros(len(particles))
        moving = np.flatnonzero((w[particles] > 0.0).any(axis=1))
        order, starts = color(particles[moving], len(w))
        self.colors = [moving[order[start:stop]] for start, stop in zip(starts[:-1], starts[1:])]
        for rows in self.colors:
            rows.flags.writeable = False  # They are passed to the function.
        self.active = len(moving) > 0

    def set_materials(self, materials: Sequence[Material], settings: SolverSettings, w: np.ndarray) -> None:
        self.weights = w[self.particles]
        self.compliance = np.zeros_like(self.own_compliance) if settings.method == "PBD" else self.own_compliance
        self.k = relaxation(self.own_k, settings)

    def project(self, kernels: Kernels, p: np.ndarray, x: np.ndarray) -> None:
        alpha = self.compliance / self.h**2
        for rows in self.colors:
            particles, weights = self.particles[rows], self.weights[rows]
            values, gradients = self._evaluate(p.T, rows)
            leverage = np.einsum("rk,rkc,rkc->r", weights, gradients, gradients) + alpha[rows]
            step = -self.k[rows] * (values + alpha[rows] * self.multipliers[rows])
            step = np.divide(step, leverage, out=np.zeros_like(step), where=leverage > 0.0)
            if self.one_sided:  # An excessive push is undone, but nothing is pulled.
                step = np.maximum(step, -self.multipliers[rows])
            self.multipliers[rows] += step
            p.T[particles] += (weights * step[:, None])[:, :, None] * gradients

    def pushing(self) -> np.ndarray:
        return self.particles[self.multipliers != 0.0].ravel()

    def values(self, x: np.ndarray) -> np.ndarray:
        return self._evaluate(x, np.arange(len(self.particles)))[0]

    def gradients(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.particles, self._evaluate(x, np.arange(len(self.particles)))[1]

    def _evaluate(self, x: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """C and gradients of these rows, (r,) and (r, k, 3), at x (n, 3).

        Raises:
            ValueError: The function returned something else, or numbers that are not finite at finite positions.
        """
        q = x[self.particles[rows]]
        found = self.function(q, rows)
        if not (isinstance(found, tuple) and len(found) == 2):
            raise ValueError(f"function of {self.name} must return values and gradients, not {type(found).__name__}")
        for part in found:
            arguments.unmasked(f"what the function of {self.name} returns", part)
        values, gradients = (np.asarray(part) for part in found)
        for what, part, shape in (("values", values, rows.shape), ("gradients", gradients, q.shape)):
            if part.shape != shape or part.dtype.kind not in "fiu":
                raise ValueError(
                    f"function of {self.name} must return {what} as numbers of shape {shape}, "
                    f"not {part.dtype} of shape {part.shape}"
                )
        finite = np.isfinite(values) & np.isfinite(gradients).all(axis=(1, 2))
        if not finite.all():
            # The solver handles positions that are not finite: it steps again with shorter substeps.
            broken = ~finite & np.isfinite(x[self.particles[rows]]).all(axis=(1, 2))
            if broken.any():
                row = rows[np.argmax(broken)]
                raise ValueError(f"function of {self.name} must return finite numbers, but does not for row {row}")
        return values, gradients


def checked_rows(vertices: Sequence[Sequence[int]] | np.ndarray) -> np.ndarray:
    """Vertices of every row as an array, (m, k) int64.

    Raises:
        ValueError: They are not integers of that shape.
    """
    try:
        ids = np.asarray(vertices)
    except ValueError:
        raise ValueError("vertices must have equally many in each row") from None
    arguments.unmasked("vertices", vertices)
    if ids.ndim != 2 or not ids.shape[1] or (ids.size and ids.dtype.kind not in "iu"):
        raise ValueError(f"vertices must be whole numbers of shape (m, k), not {ids.dtype} of shape {ids.shape}")
    return ids.astype(np.int64)


def checked_particles(ids: np.ndarray, names: Sequence[str], parts: Sequence[slice], joined: np.ndarray) -> np.ndarray:
    """Particles (m, k) of rows of vertices (m, k), whose columns belong to bodies with these names and particles.

    joined: the particle that stands for each, (n,) int, or (0,) where each stands for itself.

    Raises:
        ValueError: There are not k bodies, or a vertex does not exist or occurs twice in a row.
    """
    if len(names) != ids.shape[1]:
        raise ValueError(f"bodies has {len(names)} entries, vertices has {ids.shape[1]} columns")
    particles = ids + np.array([part.start for part in parts])
    outside = np.argwhere((ids < 0) | (particles >= np.array([part.stop for part in parts])))
    if len(outside):
        row, column = outside[0]
        last = parts[column].stop - parts[column].start - 1
        raise ValueError(f"vertices must be from 0 to {last} for {names[column]}, not {ids[row, column]} (row {row})")
    particles = joined[particles] if len(joined) else particles
    twice = np.flatnonzero((np.diff(np.sort(particles, axis=1), axis=1) == 0).any(axis=1))
    if len(twice):
        raise ValueError(f"vertices must be different in each row, not {ids[twice[0]].tolist()} (row {twice[0]})")
    return particles


def checked_number(name: str, number: float | Sequence[float] | np.ndarray, m: int, most: float) -> np.ndarray:
    """A number for each of m rows, (m,) float64, from one or m numbers between 0 and `most`.

    Raises:
        ValueError: The shape is wrong, or a number is not finite or out of range.
    """
    found = arguments.real_array(name, number)
    if found.shape not in ((), (m,)):
        raise ValueError(f"{name} must be a number or {m} of them, not of shape {found.shape}")
    wrong = found[~(np.isfinite(found) & (found >= 0.0) & (found <= most))]
    if len(wrong):
        raise ValueError(f"{name} must be from 0 to {most:.3g}, not {wrong[0]:g}")
    return np.broadcast_to(found, (m,)).copy()


def distance_beyond(distance: float) -> Function:
    """C = |p1 - p2| - distance [m]; one-sided, two particles keep apart."""

    def function(p: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        d = p[:, 0] - p[:, 1]
        n = directions(d)
        return np.linalg.norm(d, axis=1) - distance, np.stack([n, -n], axis=1)

    return function
