"""Viscosity: velocities of neighbors are evened out where substeps cannot resolve how they differ.

Cloth that a fast body hits or throws flaps, edge by edge, faster than any substep that is paid for, and each flap is
contact, search and strain. As where shocks are too steep for a grid (von Neumann and Richtmyer 1950), or for particles
(Schechter and Bridson 2012), what cannot be resolved is taken for heat: neighbors exchange momentum until they move
alike, so that bodies keep theirs.
"""

from __future__ import annotations

import math

import numpy as np

from ..model.model import Model

PASSES = 8
"""Passes over all edges in a planned substep: velocities even out over about three edges.

30 frames of a ball at 20 m/s through 40² vertices take 5.8 s without, and 3.9 s with 8; at 50 m/s 8.8 and 5.9 s; 24
frames of a blade at 30 m/s 3.7 and 2.2 s. Ten frames of the first ball take 3.7, 3.0 s with 4, 12; but a bar at 40 m/s
through 24² vertices takes 2.3, 1.8, 2.2 s with 0, 4, 12, as cloth goes along that nothing touches."""


class Viscosity:
    """What evens velocities out.

    Args:
        model: As it is.
        bodies: Of which bodies, (bodies,) bool.
    """

    def __init__(self, model: Model, bodies: np.ndarray) -> None:
        rows, w, count = model.stretch.rows, model.w, len(model.w)
        joins = bodies[rows.body] & (w.take(rows.indices) > 0.0).all(axis=0)
        joins &= ~np.isin(rows.indices, model.contact.rigid.particles).any(axis=0)
        self._ends = rows.indices[:, joins]
        valence = np.bincount(self._ends.ravel(), minlength=count)
        # Half of what makes the lighter end go along with the other, and of that its share for each edge.
        self._masses = 0.5 / (w * valence).take(self._ends).max(axis=0)
        self.bodies, self._welds, self._w, self._count = bodies, model.welds, w, count

    @classmethod
    def of(cls, model: Model, bodies: np.ndarray, before: Viscosity | None) -> Viscosity:
        """That of these bodies and of those of the one before, if there was one in this frame."""
        if before is None:
            return cls(model, bodies)
        return before if not (bodies & ~before.bodies).any() else cls(model, bodies | before.bodies)

    def even_out(self, v: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Velocities v (3, n) [m/s] after an exchange of momentum along edges in a `share` of a planned substep."""
        v, (one, other), passes = v.copy(), self._ends, math.ceil(PASSES * share)
        masses = PASSES * share / passes * self._masses
        for _ in range(passes):
            given = masses * (v.take(other, axis=1) - v.take(one, axis=1))
            for axis, each in zip(v, given):
                axis += self._w * (np.bincount(one, each, self._count) - np.bincount(other, each, self._count))
        self._welds.unite(v)
        return v
