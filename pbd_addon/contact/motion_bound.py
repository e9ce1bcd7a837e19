"""Motion bounds: where the vertices of a surface can be during the next substeps, so that candidates can be kept.

A kinetic version of the Verlet list (Verlet 1967): each vertex moves linearly, as it does in the present substep, with
a margin (a "skin") around it. What a broad-phase query found within these bounds stays complete until a vertex leaves
its own. Offset Geometric Contact (Chen et al. 2025) bounds each vertex by a fixed sphere around where it was at the
last query; here the sphere moves along with the prediction, and its radius follows the prediction error that was
observed, so that cloth in steady motion is queried as rarely as cloth at rest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

DISPLACEMENT_LIMIT, ERROR_LIMIT = 0.8, 0.15
"""How far 95 % of the vertices may go during a bound, relative to the mean motion, and 90 % may err, in edges."""

ERROR_DECAY = 0.8
"""Share of the observed prediction error that is left at the next observation."""

MAX_DURATION = 40
"""Longest duration of a bound, in substeps."""

BASE_MARGIN = 0.04
"""Margin of every vertex, in edges, ..."""

ERROR_MARGIN = 1.5
"""... plus this times its observed error per substep, for each substep of the bound, ..."""

SPEED_MARGIN, MAX_EXTRA_MARGIN = 0.1, 0.35
"""... or this share of its displacement, if that is more; and the most that is added, in edges."""

EXACT_MARGIN = 1e-6
"""Margin of a collider, in edges: it moves exactly as predicted, up to rounding."""

DRIFT_MARGIN = 0.03
"""Margin of the mean motion, in edges; `ERROR_MARGIN` is added as for a vertex."""

MAX_REFITTED = 0.06
"""Share of the vertices that are refitted before the whole bound is predicted anew."""

REFIT_SHARE = 0.5
"""When some vertices are refitted, those beyond this share of their margin are too."""


class Violations(NamedTuple):
    """Vertices that left their bounds.

    Attributes:
        particles: Their numbers, (k,) int.
        clamped: The nearest positions within their bounds, (3, k) [m].
    """

    particles: np.ndarray
    clamped: np.ndarray


class MotionBound:
    """Conservative bound on the motion of each vertex of a surface, in a frame that moves with the surface's mean.

    To other surfaces, the mean motion is bounded by a box. A surface that only meets itself may translate and rotate
    as a whole in any way, since that brings no two of its vertices closer: where it pays, the frame then rotates too.

    Args:
        part: Particles of the surface.
        edge: Its median edge [m].
        prediction_error: Observed error per substep of each vertex, and last of the mean motion, (n + 1,) [m];
            updated in place.
        exact: Whether it moves on straight paths and nothing holds it back, as colliders do.

    Attributes:
        self_only: Whether the surface meets nothing but itself.
        relative_displacement: Predicted displacement of each vertex in the moving frame, (3, n) [m].
        displacement: The same with the mean motion.
        margin: Radius of the sphere around each predicted position, (n,) [m]; drift_margin: of the mean motion, along
            each axis [m].
        version: Number of predictions so far.
    """

    def __init__(self, part: slice, edge: float, prediction_error: np.ndarray, exact: bool = False) -> None:
        self.part, self.edge, self.prediction_error, self.exact = part, edge, prediction_error, exact
        self.self_only = False
        self.drift_margin = DRIFT_MARGIN * edge
        self.version = 0
        self._age, self._duration, self._refitted = 1, 0, 0

    def invalidate(self) -> None:
        """Drop the prediction."""
        self._duration = 0

    @property
    def is_set(self) -> bool:
        """Whether there is a prediction."""
        return self._duration > 0

    @property
    def is_valid(self) -> bool:
        """Whether the prediction reaches to the end of this substep."""
        return self._age <= self._duration

    @property
    def is_static(self) -> bool:
        """Whether so little moves that the bound has the longest duration."""
        return self._duration == MAX_DURATION

    def advance(self) -> None:
        """Begin a substep."""
        self._age += 1

    def predict(self, x: np.ndarray, p: np.ndarray) -> None:
        """Bound the motion that starts with x -> p (3, N) [m] in this substep."""
        here = x[:, self.part]
        step = p[:, self.part] - here
        self._origin = here.mean(axis=1, keepdims=True)
        self._mean_step = step.mean(axis=1, keepdims=True)
        self._start = self._shape = here - self._origin
        self._co_rotates = False
        self._relative_step = step - self._mean_step
        speed, rate = self._speeds()
        if self.exact:
            self._duration = self._substeps(rate)
            self.margin, self.drift_margin = np.full_like(speed, EXACT_MARGIN * self.edge), EXACT_MARGIN * self.edge
        else:
            error = ERROR_MARGIN * self.prediction_error[:-1]
            error_rate = ERROR_LIMIT / max(float(np.percentile(error, 90.0)), 1e-9)
            if self.self_only and self._substeps(rate) < self._substeps(error_rate):
                self._co_rotates = True
                self._relative_step = self._co_moving(p)[0] - self._start
                speed, rate = self._speeds()
            self._duration = self._substeps(min(rate, error_rate))
            self.margin = self._margins(slice(None), speed, self._duration)
            drift_error = self._duration * ERROR_MARGIN * float(self.prediction_error[-1])
            self.drift_margin = DRIFT_MARGIN * self.edge + drift_error
        self._age, self._refitted = 1, 0
        drift = self._duration * self._mean_step[:, 0]
        self._drift_low = np.minimum(drift, 0.0) - self.drift_margin
        self._drift_high = np.maximum(drift, 0.0) + self.drift_margin
        self.relative_displacement = self._duration * self._relative_step
        self.displacement = self._duration * step
        self._low = here + np.minimum(self.relative_displacement, 0.0) - self.margin
        self._high = here + np.maximum(self.relative_displacement, 0.0) + self.margin
        self.version += 1

    def update_subset(self, x: np.ndarray, p: np.ndarray) -> np.ndarray | None:
        """Predict only those vertices anew that left their bounds or soon will, from x -> p (3, N) of this substep.

        Only for a surface that meets nothing but itself. The duration does not change.

        Returns:
            Their particles (k,); None if they are too many or the surface meets others: then nothing was done.
        """
        if not self.self_only:
            return None
        error = self._error(p)
        own = np.flatnonzero(np.einsum("im,im->m", error, error) > (REFIT_SHARE * self.margin) ** 2)
        self._refitted += len(own)
        if self._refitted > MAX_REFITTED * len(self.margin):
            return None
        if self._start is self._shape:
            self._start = self._shape.copy()
        left = self._duration - self._age + 1
        places, _, self._rotation = self._co_moving(x)
        here = places[:, own]
        step = self._co_moving(p)[0][:, own] - here
        self._relative_step[:, own] = step
        self._start[:, own] = here - (self._age - 1) * step
        self.margin[own] = margin = self._margins(own, np.sqrt(np.einsum("im,im->m", step, step)), left)
        self._low[:, own] = self._origin + here + np.minimum(left * step, 0.0) - margin
        self._high[:, own] = self._origin + here + np.maximum(left * step, 0.0) + margin
        return own + self.part.start

    def remaining_displacement(self) -> tuple[np.ndarray, np.ndarray]:
        """Displacements from the last `update_subset` to the end of the bound, (3, n), and margins, (n,) [m]."""
        # A vertex may be off its path to one side at that time, and to the other at the end: twice the margin.
        left = self._duration - self._age + 1
        return left * np.einsum("ij,jn->in", self._rotation, self._relative_step), 2.0 * self.margin

    def observe(self, p: np.ndarray) -> None:
        """Note the prediction error at the end of this substep, positions p (3, N) [m]."""
        if not self.is_valid:
            return
        self.prediction_error *= ERROR_DECAY
        if not self.self_only:
            drift = self._drift(p)
            if self._drifted(drift):
                return
            off = np.abs(drift - self._age * self._mean_step[:, 0]).max()
            self.prediction_error[-1] = max(self.prediction_error[-1], off / self._age)
        error = self._error(p)
        distance = np.sqrt(np.einsum("im,im->m", error, error))
        np.maximum(self.prediction_error[:-1], distance / self._age, out=self.prediction_error[:-1])

    def covers(self, p: np.ndarray) -> bool:
        """Whether the bound reaches to the end of this substep, and the mean of p (3, N) is within its box."""
        return self.is_valid and (self.self_only or not self._drifted(self._drift(p)))

    def violations(self, p: np.ndarray, extra_margin: float = 0.0) -> Violations:
        """Vertices that are outside of their bounds at the end of this substep, of a bound that `covers` it.

        Args:
            p: Positions of all particles then, (3, N) [m].
            extra_margin: Added to all margins [m].
        """
        error = self._error(p)
        square = np.einsum("im,im->m", error, error)
        outside = np.flatnonzero(square > (self.margin + extra_margin) ** 2)
        excess = 0.99 * (self.margin[outside] + extra_margin) / np.sqrt(square[outside]) - 1.0
        particles = outside + self.part.start
        return Violations(particles, p[:, particles] + self._co_moving(p)[2] @ (error[:, outside] * excess))

    def ranges(self, with_drift: bool) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners of a box around each vertex for the duration of the bound, (3, n) [m] each.

        with_drift: Whether to add the mean motion: not where a surface meets itself.
        """
        if with_drift:
            return self._low + self._drift_low[:, None], self._high + self._drift_high[:, None]
        return self._low, self._high

    def _co_moving(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vertices at x (3, N) in the moving frame, (3, n) [m], its origin (3, 1) and its axes (3, 3)."""
        here = x[:, self.part]
        center = here.mean(axis=1, keepdims=True)
        places = here - center
        if not self._co_rotates:
            return places, center, np.eye(3)
        rotation = kabsch_rotation(self._shape, places)
        return np.einsum("ij,in->jn", rotation, places), center, rotation

    def _error(self, p: np.ndarray) -> np.ndarray:
        """How far each vertex is from where it was predicted at the end of this substep, (3, n) [m]."""
        error = self._co_moving(p)[0]
        error -= self._start
        error -= self._age * self._relative_step
        return error

    def _drift(self, p: np.ndarray) -> np.ndarray:
        """Displacement of the mean since the prediction, (3,) [m]."""
        return np.asarray((p[:, self.part].mean(axis=1, keepdims=True) - self._origin)[:, 0])

    def _drifted(self, drift: np.ndarray) -> bool:
        return bool((drift < self._drift_low).any() or (drift > self._drift_high).any())

    def _margins(self, own: np.ndarray | slice, speed: np.ndarray, substeps: int) -> np.ndarray:
        """Margins of vertices that move this far in a substep (k,) [m], for so many substeps, (k,) [m]."""
        extra = substeps * np.maximum(ERROR_MARGIN * self.prediction_error[:-1][own], SPEED_MARGIN * speed)
        return np.asarray(BASE_MARGIN * self.edge + np.minimum(extra, MAX_EXTRA_MARGIN * self.edge))

    def _speeds(self) -> tuple[np.ndarray, float]:
        """Relative displacement per substep of each vertex, (n,) [m], and the duration it allows, per edge [1/m]."""
        speed = np.sqrt(np.einsum("im,im->m", self._relative_step, self._relative_step))
        return speed, DISPLACEMENT_LIMIT / max(float(np.percentile(speed, 95.0)), 1e-9)

    def _substeps(self, rate: float) -> int:
        """Duration of a bound in whole substeps, from the duration per edge [1/m]."""
        return int(min(max(self.edge * rate, 1.0), MAX_DURATION))


def kabsch_rotation(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) that brings centered points `before` (3, n) closest to `now` (3, n), in least squares.

    By singular values: Kabsch, "A solution for the best rotation to relate two sets of vectors", 1976.
    """
    left, _, right = np.linalg.svd(np.einsum("in,jn->ij", now, before))
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    return np.asarray(left @ right)
