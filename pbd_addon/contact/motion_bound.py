"""Motion bounds: where the vertices of all surfaces can be during the next substeps, so that candidates can be kept.

A kinetic version of the Verlet list (Verlet 1967): each vertex moves linearly, as it does in the present substep, with
a margin (a "skin") around it. What a broad-phase query found within these bounds stays complete until a vertex leaves
its own. Offset Geometric Contact (Chen et al. 2025) bounds each vertex by a fixed sphere around where it was at the
last query; here the sphere moves along with the prediction, and its radius follows the prediction error that was
observed, so that cloth in steady motion is queried as rarely as cloth at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import WatchedMotion
from .surface import Surface

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

INITIAL_ERROR = 0.015
"""Prediction error per substep that is assumed where none was observed, in edges."""

EXACT_MARGIN = 1e-6
"""Margin of a collider, in edges: it moves exactly as predicted, up to rounding."""

DRIFT_MARGIN = 0.03
"""Margin of the mean motion, in edges, plus `ERROR_MARGIN` times its observed error for each substep of the bound."""


FREE_MARGIN, MOST_FREE_MARGIN, FREE_DRIFT, FREE_DISPLACEMENT = 1.25, 3.0, 1.0, 2.0
"""Margin of each vertex and the most of one that errs, of the mean motion, and `DISPLACEMENT_LIMIT`, of bodies that are
free, in edges: a wide margin costs less than to query anew, and nothing is ahead on their way. In a frame, free fall
errs by 8 mm. A curtain of 100 × 100 vertices that hangs flat is queried 4.1, 2.1, 1.6, 1.4 and 1.1 times a frame with
the margins of others, 0.5, 0.75, 1 and 1.25. One that swings and curls takes 35.0, 32.8 and 30.7 ms a frame with at
most 1.25, 2 and 3 (15 without contact), and 40 with 2 for all of its vertices."""


FREE_DISTANCE = 1.0
"""How much more room free bodies have around them, in edges: they keep half an edge from each other, by default."""


class Deviation(NamedTuple):
    """How far bodies are from their predictions at the end of a substep.

    Attributes:
        square: Squared distance of each particle of a body, relative to the mean of its surface, (n,) [m²].
        drift: Distance of the mean of each surface along each axis, (3, k + 1) [m].
    """

    square: np.ndarray
    drift: np.ndarray


class MotionBounds:
    """Conservative bounds on the motion of each vertex, in a frame that moves with the mean of its surface.

    To other surfaces, the mean motion counts as well. It is predicted like that of a vertex, with a margin along each
    axis, in a frame of reference that moves evenly and is the same for all surfaces: what moves with it, as the clothes
    of somebody who walks, hardly moves in it. A surface that only meets itself may translate as a whole in any way,
    since that brings no two of its vertices closer. Colliders move exactly as predicted until the end of the frame.

    Arrays over k surfaces have one entry more, for the particles that are in none.

    Args:
        surfaces: Those of the bodies, None for one without any, then those of the colliders.
        n: Number of particles of bodies, which come first.
        count: Number of all particles, N.

    Attributes:
        owner: Number of the surface of each particle, (N,) int.
        counts: How many particles each surface has, at least 1, (k + 1,) int.
        exists: Which surfaces there are, (k + 1,) bool.
        self_only: Which of them meet nothing but themselves, (k + 1,) bool.
        is_still: Which do not move in the frame, (k + 1,) bool.
        is_free: Which bodies are far from all others, smooth, and were not pushed in the last frame, (k + 1,) bool.
        is_crowded: Whether bounds of bodies last for one substep alone: so much is near that a long list takes longest.
        reference: Velocity of the frame of reference, (3, 1) [m per unit of time].
        start: Where each particle was in it when its bound began, (3, N) [m].
        margin: Radius of the sphere around each predicted position, (N,) [m].
        drift_margin: Of the mean motion of each surface, along each axis, (k + 1,) [m].
        prediction_error: Observed error per substep of each particle, (N,) [m].
        error_of_mean: Observed error per substep of the mean motion of each surface, (k + 1,) [m].
    """

    def __init__(self, surfaces: Sequence[Surface | None], n: int, count: int) -> None:
        self.n, self._none = n, len(surfaces)
        self.owner, self.edge = np.full(count, self._none), np.ones(self._none + 1)
        self.exists, self._is_exact, self.self_only, self.is_still, self.is_free = np.zeros((5, self._none + 1), bool)
        for number, surface in enumerate(surfaces):
            if surface is not None:
                self.owner[surface.part], self.edge[number] = number, surface.edge
                self.exists[number], self._is_exact[number] = True, surface.part.start >= n
        self.counts = np.maximum(np.bincount(self.owner, minlength=self._none + 1), 1)
        self._age, self._unit = np.ones((2, self._none + 1))
        self._duration = np.zeros(self._none + 1, int)
        self._length, self._left, self.is_crowded = 1.0, np.inf, False
        self.reference, self._time = np.zeros((3, 1)), 0.0
        self._origin, self._mean_step = np.zeros((2, 3, self._none + 1))
        self.start, self._relative_step = np.zeros((2, 3, count))
        self.margin, self.drift_margin = np.zeros(count), np.zeros(self._none + 1)
        self.error_of_mean = np.where(self._is_exact, 0.0, INITIAL_ERROR * self.edge)
        self.prediction_error = self.error_of_mean.take(self.owner)

    def invalidate(self, which: np.ndarray | None = None) -> None:
        """Drop the predictions, or those of some surfaces (k + 1,) bool."""
        self._duration[slice(None) if which is None else which] = 0

    def use_reference(self, velocity: np.ndarray) -> None:
        """Begin anew in a frame of reference with this velocity, (3,) [m per unit of time]."""
        self.reference, self._time = velocity[:, None], 0.0
        self.invalidate()

    def restore(self, prediction_error: np.ndarray, error_of_mean: np.ndarray) -> None:
        """Begin a frame, which depends on its state alone: drop all predictions but those of colliders that stand
        still, and restore observed errors.

        Args:
            prediction_error: Of particles of bodies, (n,) [m]; NaN where nothing is known.
            error_of_mean: Of their means, (bodies,) [m].
        """
        self.is_crowded, ends = False, ~(self._is_exact & self.is_still)
        self.invalidate(ends)
        for own, known, owner in (
            (self.prediction_error, prediction_error, self.owner[: self.n]),
            (self.error_of_mean, error_of_mean, np.arange(len(error_of_mean))),
        ):
            known = np.where(np.isnan(known), INITIAL_ERROR * self.edge.take(owner), known)
            np.copyto(own[: len(known)], known, where=ends.take(owner))

    @property
    def is_set(self) -> np.ndarray:
        """Which surfaces have a prediction, (k + 1,) bool."""
        return np.asarray(self._duration > 0)

    def find_free(self, x: np.ndarray, way: np.ndarray, pushed: np.ndarray) -> None:
        """Find what `is_free`.

        Args:
            x: Positions at the beginning of a frame, (3, N) [m].
            way: How far particles move in it, (3, N) [m].
            pushed: Which bodies were pushed in the last frame, (bodies,) bool.
        """
        begins = np.flatnonzero(np.diff(self.owner, prepend=-1))
        owner, low, high = self.owner[begins], *np.full((2, 3, len(self.exists)), np.inf)
        low[:, owner] = np.minimum.reduceat(np.minimum(x, x + way), begins, axis=1)
        high[:, owner] = np.maximum.reduceat(np.maximum(x, x + way), begins, axis=1)
        room = (FREE_MARGIN + FREE_DRIFT + FREE_DISTANCE) * self.edge
        meet = (low[:, :, None] - room[:, None] <= high[:, None] + room).all(axis=0)
        meet &= meet.T & self.exists & self.exists[:, None]
        np.fill_diagonal(meet, False)
        self.is_free[: len(pushed)] = ~(pushed | meet[: len(pushed)].any(axis=1)) & self.exists[: len(pushed)]

    @property
    def are_free(self) -> bool:
        """Whether all bodies are."""
        return bool((self.is_free | ~self.exists | self._is_exact).all())

    def keep_free(self, which: np.ndarray) -> np.ndarray:
        """Let only these surfaces (k + 1,) be free; which were it and are no longer, (k + 1,) bool."""
        before, self.is_free = self.is_free, self.is_free & which
        return np.asarray(before & ~which)

    def advance(self, length: float, left: float = np.inf) -> None:
        """Begin a substep of this length, after which so much is `left` of the frame, in any unit: those of a frame
        differ in second order.
        """
        self._length, self._left = length, left
        self._time += length
        self._age += length / self._unit

    def is_valid(self) -> np.ndarray:
        """Which predictions reach to the end of this substep, (k + 1,) bool: of what stands still, all."""
        stands = self._is_exact & self.is_still & ~self.reference.any()
        return self.is_set & (stands | (self._age <= self._duration + 1e-9))

    def predict(self, x: np.ndarray, p: np.ndarray, which: np.ndarray) -> None:
        """Bound the motion of surfaces `which` (k + 1,) that starts with x -> p (3, N) [m] in this substep."""
        some = which.take(self.owner)
        of = slice(None) if some.all() else np.flatnonzero(some)
        owner = self.owner[of]
        here = x[:, of] - (self._time - self._length) * self.reference
        step = p[:, of] - self._time * self.reference - here
        self._origin[:, which] = self.means(here, owner)[:, which]
        mean_step = self.means(step, owner)
        self._mean_step[:, which] = mean_step[:, which]
        step -= mean_step.take(owner, axis=1)
        self.start[:, of], self._relative_step[:, of] = here, step
        speed = np.sqrt(np.einsum("im,im->m", step, step))
        error = ERROR_MARGIN * self.prediction_error[of]
        error_of_mean = np.where(self.self_only, 0.0, ERROR_MARGIN * self.error_of_mean)
        drift = np.where(self.self_only, 0.0, np.sqrt(np.einsum("im,im->m", mean_step, mean_step)))
        is_free = bool(self.is_free[which].all())
        most = np.maximum(0.0 if is_free else self._quantiles(error, owner, 0.9), error_of_mean)
        farthest = np.where(self.is_free, FREE_DISPLACEMENT, DISPLACEMENT_LIMIT)
        others = np.where(self.is_free, 0.0, [most / ERROR_LIMIT, drift / DRIFT_LIMIT])
        rates = self._quantiles(speed, owner, 0.95) / farthest, *others
        duration = self._substeps(np.max(rates, axis=0))
        extra = duration.take(owner) * np.maximum(error, SPEED_MARGIN * speed)
        edge = self.edge.take(owner)
        margin = BASE_MARGIN * edge + np.minimum(extra, MAX_EXTRA_MARGIN * edge)
        wide = np.clip(duration.take(owner) * error, FREE_MARGIN * edge, MOST_FREE_MARGIN * edge)
        margin = np.where(self.is_free.take(owner), wide, margin)
        self.margin[of] = np.where(self._is_exact.take(owner), EXACT_MARGIN * edge, margin)
        drift_margin = DRIFT_MARGIN * self.edge + duration * ERROR_MARGIN * self.error_of_mean
        drift_margin = np.where(self.is_free, FREE_DRIFT * self.edge, drift_margin)
        drift_margin[self._is_exact] = EXACT_MARGIN * self.edge[self._is_exact]
        for own, new in ((self._duration, duration), (self.drift_margin, drift_margin), (self._age, np.ones(1))):
            own[which] = np.broadcast_to(new, own.shape)[which]
        self._unit[which] = self._length

    def means(self, values: np.ndarray, owner: np.ndarray | None = None) -> np.ndarray:
        """Means of values (3, m) of particles of surfaces `owner` (m,), by default of all, (3, k + 1)."""
        owner = self.owner if owner is None else owner
        begins = np.flatnonzero(np.diff(owner, prepend=-1))  # those of a surface are together
        sums = np.zeros((3, self._none + 1))
        if len(begins):
            sums[:, owner[begins]] = np.add.reduceat(values, begins, axis=1)
        return sums / self.counts

    def _quantiles(self, values: np.ndarray, owner: np.ndarray, share: float) -> np.ndarray:
        """The least value (m,) of each surface that so large a share of its particles does not exceed, (k + 1,)."""
        counts = np.bincount(owner, minlength=self._none + 1)
        places, some = np.minimum((share * counts).astype(int), counts - 1), counts > 0
        if some.sum() == 1:
            return np.where(some, np.partition(values, places.max())[places.max()], 0.0)
        # Of numbers that are sorted by surface, the part behind the point.
        scale, found = 2.0 * max(float(values.max()), 1e-300), np.zeros(len(counts))
        ordered = np.sort(owner + values / scale)
        found[some] = scale * (ordered[(np.cumsum(counts) - counts + places)[some]] - np.flatnonzero(some))
        return found

    def _substeps(self, rate: np.ndarray) -> np.ndarray:
        """Durations of bounds in whole substeps, from how far they may go in one (k + 1,) [m]: no bound but a static
        one is used after the end of the frame.
        """
        duration = np.clip(self.edge / np.maximum(rate, 1e-9), 1.0, MAX_DURATION).astype(int)
        if self.is_crowded:
            duration[~self._is_exact] = 1
        left = 1 + int(np.ceil(min(self._left / self._length, MAX_DURATION) - 1e-9))
        return np.where(duration == MAX_DURATION, duration, np.minimum(duration, left))

    @property
    def relative_displacement(self) -> np.ndarray:
        """Predicted displacement of each particle in the frame that moves with its surface, (3, N) [m]."""
        return np.asarray(self._duration.take(self.owner) * self._relative_step)

    @property
    def displacement(self) -> np.ndarray:
        """Predicted displacement of each particle in the frame of reference, (3, N) [m]."""
        return self.relative_displacement + (self._duration * self._mean_step).take(self.owner, axis=1)

    def deviation(self, kernels: Kernels, p: np.ndarray) -> Deviation:
        """How far bodies are from their predictions at the end of this substep, positions p (3, N) [m]."""
        part, owner = slice(self.n), self.owner[: self.n]
        square, drift = kernels.deviations(
            p[:, part], self.start[:, part], self._relative_step[:, part], owner, self.counts, self._age, self._origin
        )
        return Deviation(square, np.abs(drift - (self._time * self.reference + self._age * self._mean_step)))

    def _ahead(self, lengths: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
        """Ages after such substeps, (s, k + 1), and how far the means were to go until then, (s, 3, k + 1) [m]."""
        ages, drifts, age, time = [], [], self._age, self._time
        stands = self._is_exact & self.is_still & ~self.reference.any()
        for length in lengths:
            age, time = age + length / self._unit, time + length
            if not (self.is_set & (stands | (age <= self._duration + 1e-9)))[self.exists].all():
                break
            ages.append(age)
            drifts.append(time * self.reference + age * self._mean_step)
        return np.array(ages).reshape(-1, len(age)), np.array(drifts).reshape(-1, 3, len(age))

    def watch(self, lengths: Sequence[float]) -> WatchedMotion:
        """What has to stay true in substeps of these lengths, for as long as all predictions reach."""
        ages, drifts = self._ahead(lengths)
        known, owner = self.is_set & ~self._is_exact, self.owner[: self.n]
        margins = np.where(self.exists.take(owner), self.margin[: self.n], np.inf)
        is_loose = self.self_only | self._is_exact | ~self.exists
        return WatchedMotion(
            self.start, self._relative_step, self.owner, self.counts, self._origin, ages, drifts, margins,
            np.where(is_loose, np.inf, self.drift_margin), np.stack([known, known & ~self.self_only]),
            self.prediction_error, self.error_of_mean, ERROR_DECAY,
        )  # fmt: skip

    def observe(self, deviation: Deviation) -> None:
        """Note the prediction errors of this substep."""
        owner, known = self.owner[: self.n], self.is_set & ~self._is_exact
        rates = np.sqrt(deviation.square) / self._age.take(owner), deviation.drift.max(axis=0) / self._age
        rates[1][self.self_only] = 0.0
        for own, rate, some in zip((self.prediction_error[: self.n], self.error_of_mean), rates, (known[owner], known)):
            np.copyto(own, np.maximum(ERROR_DECAY * own, rate), where=some)

    def hold_as_wholes(self, deviation: Deviation) -> np.ndarray:
        """Which means are where they were predicted to be, up to their margins, (k + 1,) bool."""
        return np.asarray(self.self_only | self._is_exact | (deviation.drift <= self.drift_margin).all(axis=0))

    def violations(self, deviation: Deviation, extra_margin: float = 0.0) -> np.ndarray:
        """Which particles of bodies are outside of their bounds, margins with `extra_margin` [m] more, (n,) bool."""
        return np.asarray(deviation.square > (self.margin[: self.n] + extra_margin) ** 2)

    def ranges(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corners of boxes around each particle for the duration of its bound, (3, N) [m] each.

        They move with the mean of its surface; see `with_drift`.
        """
        end = self.start + self.relative_displacement
        return np.minimum(self.start, end) - self.margin, np.maximum(self.start, end) + self.margin

    def with_drift(self, ranges: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """The `ranges` with the mean motion, which a surface that meets itself does not need."""
        drift = self._duration * self._mean_step
        low, high = np.minimum(drift, 0.0) - self.drift_margin, np.maximum(drift, 0.0) + self.drift_margin
        return ranges[0] + low.take(self.owner, axis=1), ranges[1] + high.take(self.owner, axis=1)

    def widen(self, outside: np.ndarray, deviation: Deviation) -> None:
        """Give particles (m,) int margins that their deviation is within, and as much as it can still grow."""
        off, owner = np.sqrt(deviation.square[outside]), self.owner[outside]
        growth = ERROR_MARGIN * (self._duration / self._age).take(owner) - 1.0
        most = np.where(self.is_free, FREE_MARGIN, MAX_EXTRA_MARGIN) * self.edge
        self.margin[outside] = off + np.minimum(growth * off, most.take(owner))
