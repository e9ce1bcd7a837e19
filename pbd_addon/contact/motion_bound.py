"""Motion bounds: where the vertices of a surface can be during the next substeps, so that candidates can be kept.

A kinetic version of the Verlet list (Verlet 1967): each vertex moves linearly, as it does in the present substep, with
a margin (a "skin") around it. What a broad-phase query found within these bounds stays complete until a vertex leaves
its own. Offset Geometric Contact (Chen et al. 2025) bounds each vertex by a fixed sphere around where it was at the
last query; here the sphere moves along with the prediction, and its radius follows the prediction error that was
observed, so that cloth in steady motion is queried as rarely as cloth at rest.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels

DISPLACEMENT_LIMIT, ERROR_LIMIT = 0.8, 0.15
"""How far 95 % of the vertices may go during a bound, relative to the mean motion, and 90 % or the mean may err, in
edges."""

DRIFT_LIMIT = 0.7
"""How far the mean of a surface may go that can meet others, in the frame of reference, in edges: what lies ahead on
the way are candidates."""

ERROR_DECAY = 0.5
"""Share of the observed prediction error that is left at the next observation."""

MAX_DURATION = 40
"""Longest duration of a bound, in substeps as long as the one in which it was predicted."""

BASE_MARGIN = 0.04
"""Margin of every vertex, in edges, ..."""

ERROR_MARGIN = 1.5
"""... plus this times its observed error per substep, for each substep of the bound, ..."""

SPEED_MARGIN, MAX_EXTRA_MARGIN = 0.1, 0.35
"""... or this share of its displacement, if that is more; and the most that is added, in edges."""

EXACT_MARGIN = 1e-6
"""Margin of a collider, in edges: it moves exactly as predicted, up to rounding."""

DRIFT_MARGIN = 0.03
"""Margin of the mean motion, in edges, plus `ERROR_MARGIN` times its observed error for each substep of the bound."""


class Deviation(NamedTuple):
    """How far a surface is from its prediction at the end of a substep.

    Attributes:
        square: Squared distance of each vertex, relative to the mean, (n,) [m²].
        drift: Distance of the mean along each axis, (3,) [m].
    """

    square: np.ndarray
    drift: np.ndarray


class MotionBound:
    """Conservative bound on the motion of each vertex of a surface, in a frame that moves with the surface's mean.

    To other surfaces, the mean motion counts as well. It is predicted like that of a vertex, with a margin along each
    axis, in a frame of reference that moves evenly and is the same for all surfaces: what moves with it, as the clothes
    of somebody who walks, hardly moves in it. A surface that only meets itself may translate as a whole in any way,
    since that brings no two of its vertices closer.

    Args:
        part: Particles of the surface.
        edge: Its median edge [m].
        prediction_error: Observed error per substep of each vertex, and last of the mean motion, (n + 1,) [m];
            updated in place.
        exact: Whether it moves on straight paths and nothing holds it back, as colliders do.

    Attributes:
        self_only: Whether the surface meets nothing but itself.
        reference: Velocity of the frame of reference, (3, 1) [m per unit of time].
        displacement: Predicted displacement of each vertex in it, (3, n) [m]; (3, 0) where it meets nothing but itself.
        start: Where each vertex was in it when the bound began, (3, n) [m].
        margin: Radius of the sphere around each predicted position, (n,) [m]; drift_margin: of the mean motion, along
            each axis [m].
        version: Number of predictions so far.
    """

    def __init__(self, part: slice, edge: float, prediction_error: np.ndarray, exact: bool = False) -> None:
        self.part, self.edge, self.prediction_error, self.exact = part, edge, prediction_error, exact
        self.self_only = False
        self.drift_margin = DRIFT_MARGIN * edge
        self.version = 0
        self._age, self._duration = 1.0, 0
        self._length = self._unit = 1.0
        self._left = math.inf
        self.reference, self._time = np.zeros((3, 1)), 0.0

    def invalidate(self) -> None:
        """Drop the prediction."""
        self._duration = 0

    def use_reference(self, velocity: np.ndarray) -> None:
        """Begin anew in a frame of reference with this velocity, (3,) [m per unit of time]."""
        self.reference, self._time = velocity[:, None], 0.0
        self.invalidate()

    @property
    def is_set(self) -> bool:
        """Whether there is a prediction."""
        return self._duration > 0

    @property
    def is_valid(self) -> bool:
        """Whether the prediction reaches to the end of this substep."""
        return self._age <= self._duration + 1e-9

    def advance(self, length: float, left: float = math.inf) -> None:
        """Begin a substep of this length, after which so much is `left` of the frame, in any unit: those of a frame
        differ in second order.
        """
        self._length, self._left = length, left
        self._time += length
        self._age += length / self._unit

    def predict(self, x: np.ndarray, p: np.ndarray) -> None:
        """Bound the motion that starts with x -> p (3, N) [m] in this substep."""
        here = x[:, self.part] - (self._time - self._length) * self.reference
        step = p[:, self.part] - self._time * self.reference - here
        self._origin = here.mean(axis=1, keepdims=True)
        self._mean_step = step.mean(axis=1, keepdims=True)
        self.start = here
        self._relative_step = step - self._mean_step
        speed = np.sqrt(np.einsum("im,im->m", self._relative_step, self._relative_step))
        rate = DISPLACEMENT_LIMIT / max(_quantile(speed, 0.95), 1e-9)
        drift_rate = np.inf if self.self_only else DRIFT_LIMIT / max(float(np.linalg.norm(self._mean_step)), 1e-9)
        if self.exact:
            self._duration = self._substeps(min(rate, drift_rate))
            self.margin, self.drift_margin = np.full_like(speed, EXACT_MARGIN * self.edge), EXACT_MARGIN * self.edge
        else:
            error = ERROR_MARGIN * self.prediction_error[:-1]
            error_of_mean = 0.0 if self.self_only else ERROR_MARGIN * float(self.prediction_error[-1])
            error_rate = ERROR_LIMIT / max(_quantile(error, 0.9), error_of_mean, 1e-9)
            self._duration = self._substeps(min(rate, error_rate, drift_rate))
            self.margin = self._margins(speed, self._duration)
            drift_error = self._duration * ERROR_MARGIN * float(self.prediction_error[-1])
            self.drift_margin = DRIFT_MARGIN * self.edge + drift_error
        self._age, self._unit = 1.0, self._length
        drift = self._duration * self._mean_step[:, 0]
        self._drift_low = np.minimum(drift, 0.0) - self.drift_margin
        self._drift_high = np.maximum(drift, 0.0) + self.drift_margin
        self.displacement = self._duration * (step[:, :0] if self.self_only else step)
        self.version += 1

    @property
    def relative_displacement(self) -> np.ndarray:
        """`displacement` in the moving frame, (3, n) [m]."""
        return np.asarray(self._duration * self._relative_step)

    def deviation(self, kernels: Kernels, p: np.ndarray) -> Deviation:
        """How far the surface is from its prediction at the end of this substep, positions p (3, N) [m]."""
        here = p[:, self.part]
        drift = here.mean(axis=1) - self._origin[:, 0]
        square = kernels.deviations(here, self.start, self._relative_step, self._age, drift)
        predicted = self._time * self.reference[:, 0] + self._age * self._mean_step[:, 0]
        return Deviation(square, np.abs(drift - predicted))

    def observe(self, deviation: Deviation) -> None:
        """Note the prediction error of this substep."""
        self.prediction_error *= ERROR_DECAY
        error = self.prediction_error
        np.maximum(error[:-1], np.sqrt(deviation.square) / self._age, out=error[:-1])
        if not self.self_only:
            error[-1] = max(error[-1], deviation.drift.max() / self._age)

    def holds_as_a_whole(self, deviation: Deviation) -> bool:
        """Whether the mean is where it was predicted to be, up to its margin."""
        return self.self_only or bool((deviation.drift <= self.drift_margin).all())

    def violations(self, deviation: Deviation, extra_margin: float = 0.0) -> np.ndarray:
        """Vertices that are outside of their bounds, all margins with `extra_margin` [m] more, (k,) int."""
        return np.flatnonzero(deviation.square > (self.margin + extra_margin) ** 2)

    def ranges(self, with_drift: bool) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners of boxes around each vertex for the duration of the bound, (3, n) [m] each.

        with_drift: Whether to add the mean motion, which a surface that meets itself does not need.
        """
        end = self.start + self.relative_displacement
        low, high = np.minimum(self.start, end) - self.margin, np.maximum(self.start, end) + self.margin
        if with_drift:
            low += self._drift_low[:, None]
            high += self._drift_high[:, None]
        return low, high

    def widen(self, outside: np.ndarray, deviation: Deviation) -> None:
        """Give some of the vertices (k,) margins that their deviation is within, and as much as it can still grow."""
        off = np.sqrt(deviation.square[outside])
        growth = ERROR_MARGIN * self._duration / self._age - 1.0
        self.margin[outside] = off + np.minimum(growth * off, MAX_EXTRA_MARGIN * self.edge)

    def _margins(self, speed: np.ndarray, substeps: int) -> np.ndarray:
        """Margins of vertices that move this far in a substep (n,) [m], for so many substeps, (n,) [m]."""
        extra = substeps * np.maximum(ERROR_MARGIN * self.prediction_error[:-1], SPEED_MARGIN * speed)
        return np.asarray(BASE_MARGIN * self.edge + np.minimum(extra, MAX_EXTRA_MARGIN * self.edge))

    def _substeps(self, rate: float) -> int:
        """Duration of a bound in whole substeps, from the duration per edge [1/m]; only that of a collider that stands
        still is used after the end of the frame.
        """
        duration = int(min(max(self.edge * rate, 1.0), MAX_DURATION))
        left = 1 + math.ceil(min(self._left / self._length, MAX_DURATION) - 1e-9)
        return duration if duration == MAX_DURATION else min(duration, left)


def _quantile(values: np.ndarray, share: float) -> float:
    """The least value that so large a share of all does not exceed."""
    place = min(int(share * len(values)), len(values) - 1)
    return float(np.partition(values, place)[place])
