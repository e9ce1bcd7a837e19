"""Planes and surfaces, which bodies collide with and cannot push."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays import arguments
from ..constraints import Plane
from ..contact import Collider


def planes_and_surfaces(colliders: Sequence[Plane | Collider]) -> tuple[list[Plane], list[Collider]]:
    """Planes and surfaces as separate lists.

    Raises:
        ValueError: An item is neither, or occurs twice.
    """
    obstacles = arguments.different("colliders", colliders, Collider, Plane)
    planes = [obstacle for obstacle in obstacles if isinstance(obstacle, Plane)]
    return planes, [obstacle for obstacle in obstacles if isinstance(obstacle, Collider)]
