"""Surfaces of a search for candidates, without a simulation."""

from __future__ import annotations

import numpy as np

from pbd_addon import Collider
from pbd_addon.contact.broad_phase import BroadPhase, Rules
from pbd_addon.contact.candidates import concatenate
from pbd_addon.contact.height_fields import HeightFields
from pbd_addon.contact.motion_bound import MotionBounds
from pbd_addon.contact.surface import Surface
from pbd_addon.kernels import Kernels, numpy as numpy_kernels


class World:
    """Surfaces that meet each other, or one that meets itself, with bounds on their motion and candidates.

    Colliders may stray from their way as bodies do, by as much as their margins.
    """

    def __init__(
        self,
        *surfaces: Surface,
        distance: float = 0.01,
        rest: np.ndarray | None = None,
        points_only: bool = False,
        collider: Collider | None = None,
    ) -> None:
        count, bodies = max(surface.part.stop for surface in surfaces), len(surfaces) - (collider is not None)
        self.one, self.other, self.collider, self.distance = surfaces[0], surfaces[-1], collider, distance
        self.bounds = MotionBounds(surfaces, count, count)
        self.bounds.exists[:-1] = True
        self.search = BroadPhase(surfaces, bodies, self.bounds)
        rest = np.zeros((3, count)) if rest is None else rest
        is_self = np.full(bodies, len(surfaces) == 1)
        distances = np.full((bodies, len(surfaces)), distance)
        self.search.set_rules(Rules(distances, is_self, True, points_only, rest, (None, None)))

    @property
    def height_fields(self) -> HeightFields:
        return self.search.height_fields

    def margins(self, surface: Surface) -> np.ndarray:
        return self.bounds.margin[surface.part]

    def predict(self, x: np.ndarray, p: np.ndarray, which: Surface | None = None) -> None:
        """Bound the motion, which goes from x to p in this substep, (n, 3) each, of all or of one of both surfaces."""
        chosen = [which in (None, one) for one in (self.one, self.other)[: len(self.bounds.exists) - 1]]
        x, p = (np.ascontiguousarray(each.T) for each in (x, p))
        self.bounds.predict(x, p, np.array([*chosen, False]))
        self.height_fields.update(numpy_kernels, p, np.array([self.one is self.other, *chosen[1:], False]), True)

    def query(self, kernels: Kernels, x: np.ndarray) -> None:
        self.candidates = self.search.find(kernels, x)

    def query_again(self, kernels: Kernels, x: np.ndarray, is_late: np.ndarray) -> None:
        kept = ~is_late.take(self.candidates.particles).any(axis=0)
        self.candidates = concatenate([self.candidates.take(kept), self.search.find(kernels, x, is_late)])

    def outside(self, p: np.ndarray) -> np.ndarray:
        """Particles that are outside of their bounds at positions p (3, n), (k,) int."""
        return np.flatnonzero(self.bounds.violations(self.bounds.deviation(numpy_kernels, p)))

    def widen(self, outside: np.ndarray, p: np.ndarray) -> None:
        self.bounds.widen(outside, self.bounds.deviation(numpy_kernels, p))

    def holds(self, p: np.ndarray) -> bool:
        """Whether all motion bounds and height fields hold at positions p, (3, n)."""
        deviation = self.bounds.deviation(numpy_kernels, p)
        if not (self.bounds.is_valid() & self.bounds.hold_as_wholes(deviation))[:-1].all():
            return False
        return not self.bounds.violations(deviation).any() and not len(self.height_fields.outside(numpy_kernels, p))
