"""What follows the size of cloth: distances and speeds."""

from __future__ import annotations

import math

import numpy as np

USUAL_DISTANCE = 0.002
"""Default of the distances of cloth and of colliders [m]. Up to it, they follow the size of cloth: `distance_at`."""

EDGE_SHARE = 0.25
"""Largest share of a usual edge that such a distance is: that of cloth and of a collider together are half an edge, as
the automatic distance of self-collision is. Cloth of 1 m and 125 x 125 vertices has edges of 8 mm, so that nothing
coarser is changed; of 2 cm and 30 x 30 it would hover 4 mm, six edges, above everything, and a frame took five times as
long as that of 1 m."""


def distance_at(distance: float | np.ndarray, edge: float | np.ndarray) -> np.ndarray:
    """The distance that counts for cloth with a usual edge [m]: up to `USUAL_DISTANCE`, a share of the edge at most."""
    return np.where(distance <= USUAL_DISTANCE, np.minimum(distance, EDGE_SHARE * edge), distance)


WHOLE_SPEED_SIZE = 0.25
"""Extent of a body from which on overlaps open at their whole speed [m]: a handkerchief, for which 0.5 m/s is a third
of sqrt(g L), its speed after a fall of half of its size. What is larger keeps it, so that nothing bursts open."""


def calm_speed(extent: float) -> float:
    """Share of the speeds at which overlaps open, seams catch up and pins arrive, for a body of an extent [m], [0, 1].

    Under the same gravity, motion of a size L has speeds of sqrt(g L): Froude's number v / sqrt(g L) stays.
    """
    return min(1.0, math.sqrt(extent / WHOLE_SPEED_SIZE))
