"""Obstacles: planes and surfaces that bodies meet and never push."""

from __future__ import annotations

from collections.abc import Sequence

from . import arguments
from .constraints import Plane
from .contact import Collider


def planes_and_surfaces(colliders: Sequence[Plane | Collider]) -> tuple[list[Plane], list[Collider]]:
    """Planes and surfaces apart.

    Raises:
        ValueError: Something is neither, or is there twice.
    """
    obstacles = arguments.different("colliders", colliders, Collider, Plane)
    planes = [obstacle for obstacle in obstacles if isinstance(obstacle, Plane)]
    return planes, [obstacle for obstacle in obstacles if isinstance(obstacle, Collider)]
