"""Narrow phase: the candidates that are too close, and the gaps that they are to reach in a substep."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernels
from ..kernels.protocol.frames import WatchedRows
from .candidates import Candidates, no_candidates
from .contacts import Contacts

OPENING_RATE = 0.25
"""Share of an overlap that opens in a substep, no faster than `DEPENETRATION_SPEED`: opened at once, it explodes."""

DEPENETRATION_SPEED = 0.5
"""Overlaps open no faster than this [m/s]."""

ROUNDING = 1e-6
"""Share of its distance by which a contact may be open and still count: one that was just projected touches, and
rounding must not decide whether friction knows of it."""


class NearSearch:
    """Which candidates may be closer than their distance, asked for again and again as particles move.

    Sides that are apart along any direction are at least that far apart, so that an old normal will do. A candidate
    that was farther apart than its distance is measured again only when particles can have come closer by the rest.
    """

    def __init__(self) -> None:
        self._begin(no_candidates(), np.zeros((3, 0)))

    def find(self, kernels: Kernels, candidates: Candidates, p: np.ndarray) -> np.ndarray:
        """Candidates that may be closer than their distance at positions p (3, N), (k,) int."""
        if not candidates.size:
            return np.zeros(0, int)
        closing = kernels.closing_motion(p, self._before) if candidates is self._candidates else np.inf
        if closing < np.inf:
            self._closed += closing
            self._before[:] = p
        else:
            self._begin(candidates, p)
        return kernels.near_candidates(
            *(p, candidates.particles, candidates.normals, candidates.kind),
            *(self._distance, self._spare, float(self._closed[0])),
        )

    def watch(self, candidates: Candidates, p: np.ndarray) -> WatchedRows:
        """What has to stay far apart; p: where particles are, or anywhere, if nothing is known of these, (3, N) [m]."""
        if candidates is not self._candidates:
            self._begin(candidates, p if candidates.size else p[:, :0])
        return WatchedRows(
            *(candidates.particles, candidates.normals, candidates.kind),
            *(self._distance, self._spare, self._before, self._closed),
        )

    def _begin(self, candidates: Candidates, p: np.ndarray) -> None:
        """Measure all of them when asked next."""
        self._candidates, self._distance = candidates, (1.0 + ROUNDING) * candidates.min_distance
        self._spare, self._before, self._closed = np.full(candidates.size, -np.inf), p.copy(), np.zeros(1)


def find_contacts(
    kernels: Kernels,
    candidates: Candidates,
    near: np.ndarray,
    p: np.ndarray,
    x: np.ndarray,
    w: np.ndarray,
    h: float,
    is_stuck: np.ndarray,
) -> Contacts:
    """The contacts among candidates for the motion x -> p (3, N) of a substep of h seconds.

    near: Candidates that may be closer than their distance, (k,) int. w: inverse masses, (N,). is_stuck: Particles
    whose overlaps must not open, (N,) bool, or (0,) for none: beside an intersection, layers are held together by
    what goes through them, and to push would only stretch.
    """
    if not len(near):
        return Contacts.none()
    columns = kernels.find_contacts(
        p, x, w, near, candidates.particles, candidates.kind, candidates.weights, candidates.normals,
        candidates.min_distance, candidates.is_exit, is_stuck, 1.0 + ROUNDING, OPENING_RATE,
        DEPENETRATION_SPEED * h,
    )  # fmt: skip
    return Contacts(candidates, *columns)
