"""Promise: where each vertex of a surface will be for a while, so that a search need not be made in every substep."""

from __future__ import annotations

import numpy as np

LOOK_AHEAD, STRAY_AHEAD = 0.8, 0.15
"""Way that most vertices may be promised to go, relative to their surface's mean, and to stray on it, in edges."""

FORGET = 0.8
"""Share of what is known of a vertex's straying that is left at the next look."""

LONGEST = 40
"""Substeps that a promise lasts at most."""

SLACK = 0.04
"""How far a vertex may stray from its predicted way, in edges, ..."""

STRAYING = 1.5
"""... and how much farther in each substep, relative to how far it strayed in a substep lately, ..."""

SPEED_SLACK, MOST_SLACK = 0.1, 0.35
"""... or if it is fast, as share of its way in a substep; and the most of it all, in edges."""

EXACT = 1e-6
"""Slack of a collider, in edges: it goes exactly where it is said to, but for rounding."""

DRIFT_SLACK = 0.03
"""How far the mean motion may stray, in edges; with `STRAYING` as for a vertex."""

MOST_AMENDED = 0.06
"""Share of the vertices whose promise is amended before all are promised anew."""

SOON = 0.5
"""Who has strayed by this share of its slack when another's promise is amended is amended too."""


class Promise:
    """Where the vertices of a surface will be, as seen by someone who goes along with it.

    A vertex is promised to go on as in one substep, relative to the mean motion of the surface, and to stray no
    farther from there than its slack. While the promise holds, what a search found by it is all there is to find.

    To others, the mean motion is promised to stay in a box. A surface that only meets itself may move and turn as a
    whole however it likes, since that brings no two of its vertices closer: who goes along then turns with it too if
    their ways would else end the promise early, and vertices have much less way to go.

    Args:
        part: Particles of the surface.
        edge: Its median edge [m].
        straying: How far each vertex, and last the mean motion, strayed from a promise in a substep lately,
            (n + 1,) [m]; noted here.
        exact: Whether it goes on straight paths and nothing holds it up, as colliders do.

    Attributes:
        alone: Whether the surface only meets itself.
        way: Predicted way of each vertex, (3, n) [m]; with the mean motion: `whole_way`.
        slack: How far each vertex may stray, (n,) [m]; drift_slack: the mean motion, along each axis [m].
        version: Counts the promises.
    """

    def __init__(self, part: slice, edge: float, straying: np.ndarray, exact: bool = False) -> None:
        self.part, self.edge, self.straying, self.exact = part, edge, straying, exact
        self.alone = False
        self.drift_slack = DRIFT_SLACK * edge
        self.version = 0
        self._age, self._lasts, self._amended = 1, 0, 0

    def expire(self) -> None:
        """It is over."""
        self._lasts = 0

    @property
    def is_made(self) -> bool:
        """Whether something was promised that is not expired."""
        return self._lasts > 0

    @property
    def holds(self) -> bool:
        """Whether it reaches to the end of this substep."""
        return self._age <= self._lasts

    @property
    def rests(self) -> bool:
        """Whether so little moves that the promise is one of the longest."""
        return self._lasts == LONGEST

    def age(self) -> None:
        """A substep has begun."""
        self._age += 1

    def make(self, x: np.ndarray, p: np.ndarray) -> None:
        """Say where the vertices will be, from the way x -> p (3, N) of this substep."""
        here = x[:, self.part]
        way = p[:, self.part] - here
        self._origin = here.mean(axis=1, keepdims=True)
        self._mean_way = way.mean(axis=1, keepdims=True)
        self._start = self._shape = here - self._origin
        self._turns = False
        self._step = way - self._mean_way
        speed, ahead = self._pace()
        if self.exact:
            self._lasts = self._substeps(ahead)
            self.slack, self.drift_slack = np.full_like(speed, EXACT * self.edge), EXACT * self.edge
        else:
            straying = STRAYING * self.straying[:-1]
            most = STRAY_AHEAD / max(float(np.percentile(straying, 90.0)), 1e-9)
            if self.alone and self._substeps(ahead) < self._substeps(most):
                self._turns = True
                self._step = self._seen(p)[0] - self._start
                speed, ahead = self._pace()
            self._lasts = self._substeps(min(ahead, most))
            self.slack = self._slack_of(slice(None), speed, self._lasts)
            self.drift_slack = DRIFT_SLACK * self.edge + self._lasts * STRAYING * float(self.straying[-1])
        self._age, self._amended = 1, 0
        drift = self._lasts * self._mean_way[:, 0]
        self._drift_low = np.minimum(drift, 0.0) - self.drift_slack
        self._drift_high = np.maximum(drift, 0.0) + self.drift_slack
        self.way = self._lasts * self._step
        self.whole_way = self._lasts * way
        self._low = here + np.minimum(self.way, 0.0) - self.slack
        self._high = here + np.maximum(self.way, 0.0) + self.slack
        self.version += 1

    def amend(self, x: np.ndarray, p: np.ndarray) -> np.ndarray | None:
        """Promise those that strayed at the last look or soon will anew, from the way x -> p (3, N) of this substep.

        Their promise lasts as long as that of the others. Only of a surface that is alone.

        Returns:
            These particles (k,); None if they are too many or the surface is not alone: then nothing was done.
        """
        if not self.alone:
            return None
        own = np.flatnonzero(self._square > (SOON * self.slack) ** 2)
        self._amended += len(own)
        if self._amended > MOST_AMENDED * len(self.slack):
            return None
        if self._start is self._shape:
            self._start = self._shape.copy()
        left = self._lasts - self._age + 1
        seen, _, self._turn = self._seen(x)
        here = seen[:, own]
        step = self._seen(p)[0][:, own] - here
        self._step[:, own] = step
        self._start[:, own] = here - (self._age - 1) * step
        self.slack[own] = slack = self._slack_of(own, np.sqrt(np.einsum("im,im->m", step, step)), left)
        self._low[:, own] = self._origin + here + np.minimum(left * step, 0.0) - slack
        self._high[:, own] = self._origin + here + np.maximum(left * step, 0.0) + slack
        return own + self.part.start

    def onward(self) -> tuple[np.ndarray, np.ndarray]:
        """Predicted way of vertices from where they were when it was amended, (3, n), and slack there, (n,) [m].

        Both are as seen in the scene, and for the rest of the promise.
        """
        # Where a vertex was then may be off its way to one side, and later to the other.
        return (self._lasts - self._age + 1) * np.einsum("ij,jn->in", self._turn, self._step), 2.0 * self.slack

    def strayed(self, p: np.ndarray, room: float = 0.0) -> tuple[np.ndarray, np.ndarray] | None:
        """Vertices that are not where they were said to be at the end of this substep.

        Args:
            p: Positions of all particles then, (3, N) [m].
            room: How much farther than said they may stray [m].

        Returns:
            The particles (k,) and where the promise would let them be, (3, k); None if the promise is over for all.
        """
        if not self.holds:
            return None
        self.straying *= FORGET
        off, center, turn = self._seen(p)
        if not self.alone:
            drift = (center - self._origin)[:, 0]
            if (drift < self._drift_low).any() or (drift > self._drift_high).any():
                return None
            away = np.abs(drift - self._age * self._mean_way[:, 0]).max()
            self.straying[-1] = max(self.straying[-1], away / self._age)
        off -= self._start
        off -= self._age * self._step
        self._square = square = np.einsum("im,im->m", off, off)
        np.maximum(self.straying[:-1], np.sqrt(square) / self._age, out=self.straying[:-1])
        astray = np.flatnonzero(square > (self.slack + room) ** 2)
        back = off[:, astray] * (0.99 * (self.slack[astray] + room) / np.sqrt(square[astray]) - 1.0)
        astray = astray + self.part.start
        return astray, p[:, astray] + turn @ back

    def ranges(self, drifting: bool) -> tuple[np.ndarray, np.ndarray]:
        """Between which corners each vertex stays while the promise holds, (3, n) [m] each.

        drifting: whether to take in the mean motion: not where a surface meets itself.
        """
        if drifting:
            return self._low + self._drift_low[:, None], self._high + self._drift_high[:, None]
        return self._low, self._high

    def _seen(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Vertices at x (3, N) around their mean as seen by who goes along, (3, n), that mean, (3, 1), and the turn."""
        here = x[:, self.part]
        center = here.mean(axis=1, keepdims=True)
        places = here - center
        if not self._turns:
            return places, center, np.eye(3)
        turn = best_turn(self._shape, places)
        return np.einsum("ij,in->jn", turn, places), center, turn

    def _slack_of(self, own: np.ndarray | slice, speed: np.ndarray, substeps: int) -> np.ndarray:
        """How far vertices of this speed [m] may stray in so many substeps, (k,) [m]."""
        stray = substeps * np.maximum(STRAYING * self.straying[:-1][own], SPEED_SLACK * speed)
        return np.asarray(SLACK * self.edge + np.minimum(stray, MOST_SLACK * self.edge))

    def _pace(self) -> tuple[np.ndarray, float]:
        """How far each vertex goes in a substep, (n,) [m], and in how many most would go `LOOK_AHEAD` edges [1/m]."""
        speed = np.sqrt(np.einsum("im,im->m", self._step, self._step))
        return speed, LOOK_AHEAD / max(float(np.percentile(speed, 95.0)), 1e-9)

    def _substeps(self, ahead: float) -> int:
        """How long a promise lasts whose vertices get away by an edge in 1 / ahead [1/m]."""
        return int(min(max(self.edge * ahead, 1.0), LONGEST))


def best_turn(before: np.ndarray, now: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) that brings points (3, n) around their middle closest to where they are now, (3, n).

    Least squares by singular values: Kabsch, "A solution for the best rotation to relate two sets of vectors", 1976.
    """
    left, _, right = np.linalg.svd(np.einsum("in,jn->ij", now, before))
    left[:, 2] *= np.sign(np.linalg.det(left @ right))
    return np.asarray(left @ right)
