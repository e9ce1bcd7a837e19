"""Obstacles: planes and surfaces that bodies meet and never push."""

from __future__ import annotations

from collections.abc import Sequence

from .constraints import Plane
from .contact import Collider


def planes_and_surfaces(colliders: Sequence[Plane | Collider]) -> tuple[list[Plane], list[Collider]]:
    """Planes and surfaces apart.

    Raises:
        ValueError: Something is neither, or is there twice.
    """
    for number, obstacle in enumerate(colliders):
        if not isinstance(obstacle, (Plane, Collider)):
            raise ValueError(f"colliders[{number}] must be a Collider or a Plane, not {type(obstacle).__name__}")
        if any(obstacle is earlier for earlier in colliders[:number]):
            raise ValueError(f"colliders[{number}] is there twice")
    planes = [obstacle for obstacle in colliders if isinstance(obstacle, Plane)]
    return planes, [obstacle for obstacle in colliders if isinstance(obstacle, Collider)]
