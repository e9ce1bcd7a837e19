"""Maps: factors per vertex on a body's material, such as painted weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import arguments

MAPS = (
    *("stretch", "bend", "shrink", "density", "pressure", "friction", "tear", "internal"),
    *("collision", "self_collision", "hold"),
)
"""What can vary over a body: in-plane stiffness, bending stiffness, rest lengths, density, pressure, friction, tear
strength, stiffness of internal springs, what takes part in collisions with other objects and with itself, and
which pins hold."""

TAKES_PART = 0.5
"""From this factor of "collision" or "self_collision" on a vertex takes part, and of "hold" on a pin holds."""

ABOVE_ZERO = ("shrink", "density")
"""Maps whose factors must be positive; the others may be 0."""


def checked_maps(maps: Mapping[str, np.ndarray | Sequence[float]] | None, n: int, name: str) -> dict[str, np.ndarray]:
    """Maps of a body called `name` with n vertices, as arrays (n,) float64; a single number applies to all vertices.

    Raises:
        ValueError: There is no such map, its shape is wrong, or a factor is not finite or too small.
    """
    result = {}
    given = arguments.instance(f"{name}: maps", {} if maps is None else maps, Mapping)  # type: ignore[type-abstract]
    for kind, factors in given.items():
        arguments.choice(f"{name}: a map's name", kind, MAPS)
        where, values = f"{name}: map {kind!r}", arguments.real_array(f"{name}: map {kind!r}", factors)
        above = 0.0 if kind in ABOVE_ZERO else None
        result[kind] = arguments.per_vertex(where, values if values.ndim else np.full(n, values), n, 0.0, above=above)
    return result


def of_particles(kind: str, maps: Sequence[Mapping[str, np.ndarray]], counts: Sequence[int]) -> np.ndarray | None:
    """One map for all bodies, (n,), 1 where a body has none; None if no body has it. counts: vertices of each body."""
    if not any(kind in own for own in maps):
        return None
    return np.concatenate([own.get(kind, np.ones(count)) for own, count in zip(maps, counts)])


def left_out(kind: str, maps: Mapping[str, np.ndarray], total: int) -> np.ndarray | None:
    """Particles that take no part in collisions of this kind, a map of (n,), as (total,) bool; None for none."""
    out = np.flatnonzero(maps[kind] < TAKES_PART) if kind in maps else np.zeros(0, int)
    return np.isin(np.arange(total), out) if len(out) else None


def of_rows(factors: np.ndarray | None, indices: np.ndarray) -> np.ndarray | float:
    """Mean factor of each row's particles, (m,), for indices (k, m); 1 without a map (n,)."""
    return 1.0 if factors is None else factors[indices].mean(axis=0)
