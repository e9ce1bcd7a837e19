"""What acts from outside on a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from .force_functions import Function
from .wind import Wind


@dataclasses.dataclass(frozen=True, eq=False)
class Surroundings:
    """What acts from outside, until something else is said.

    Attributes:
        forces: Functions, see `force_functions`.
        wind: The wind at the end of the next frame, or None.
        shade: Share of the wind that reaches each of a body's `mesh.triangles`, (t,), by the body's number.
    """

    forces: tuple[Function, ...] = ()
    wind: Wind | None = None
    shade: Mapping[int, np.ndarray] = dataclasses.field(default_factory=dict)
