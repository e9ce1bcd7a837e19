"""Maps of a body, as the user gives them: which there are is said by the parts that use them, see `parts.MAPS`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import arguments
from ..parts import MAPS


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
        above = 0.0 if MAPS[kind].is_positive else None
        result[kind] = arguments.per_vertex(where, values if values.ndim else np.full(n, values), n, 0.0, above=above)
    return result
