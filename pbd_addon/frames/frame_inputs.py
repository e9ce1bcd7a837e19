"""Where everything that moves by itself is at the end of a frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import arguments
from ..bodies.body import Body
from ..constraints import Plane
from ..contact import Collider


@dataclasses.dataclass(frozen=True)
class FrameInputs:
    """Targets of pins, planes, colliders and rest shapes at the end of a frame; those not named stay as they are.

    Attributes:
        pin_targets: Targets of a body's pins, in the order of `Body.pin_ids`, (k, 3) [m].
        planes: Point and normal of a plane.
        colliders: Vertices of a collider, (m, 3) [m].
        rest_shapes: Rest shape of a body with `dynamic_mesh`, (n, 3) [m].
        rails: Vertices of the rail of a body, (m, 3) [m].
    """

    pin_targets: Mapping[Body, np.ndarray] = dataclasses.field(default_factory=dict)
    planes: Mapping[Plane, tuple[Sequence[float], Sequence[float]]] = dataclasses.field(default_factory=dict)
    colliders: Mapping[Collider, np.ndarray] = dataclasses.field(default_factory=dict)
    rest_shapes: Mapping[Body, np.ndarray] = dataclasses.field(default_factory=dict)
    rails: Mapping[Body, np.ndarray] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            arguments.instance(f"FrameInputs.{field.name}", getattr(self, field.name), Mapping)  # type: ignore[type-abstract]
