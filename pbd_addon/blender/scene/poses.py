"""Where objects stand, and the way between object space and the world.

A shape is (n, 3) float32 in object space [m]. A pose says where the object stood and how far the user's own shape
keys were turned at one moment. World positions, (n, 3) [m], are a shape under a pose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..kinds import Depsgraph, Object
from . import user_keys

TINY_VOLUME = 1e-18
"""Determinant of a transform below which an object counts as flattened, so that it has no inverse."""


class Pose(NamedTuple):
    """What of an object can be animated: its transform and its own shape keys."""

    matrix: np.ndarray  # (4, 4) float64, object to world
    key_values: dict[str, float]  # of the user's shape keys that are not at rest

    def blend(self, other: Pose, fraction: float) -> Pose:
        """The pose on the straight way to `other`; 0 is here, 1 is there."""
        names = self.key_values.keys() | other.key_values.keys()
        start, end = self.key_values, other.key_values
        values = {name: (1 - fraction) * start.get(name, 0.0) + fraction * end.get(name, 0.0) for name in names}
        return Pose((1 - fraction) * self.matrix + fraction * other.matrix, values)

    def is_like(self, other: Pose | None) -> bool:
        """Whether the other, or None, is the same place and shape."""
        if other is None:
            return False
        return np.array_equal(self.matrix, other.matrix) and self.key_values == other.key_values


def read_pose(obj: Object, depsgraph: Depsgraph) -> Pose:
    """Where the object stands in the evaluated scene."""
    return Pose(np.array(obj.evaluated_get(depsgraph).matrix_world), user_keys.key_values(obj, depsgraph))


def read_last_pose(obj: Object) -> Pose:
    """Where the object stood when its scene was evaluated last, before the frame that is coming.

    What a script has moved but nothing has evaluated yet is known for objects without parent and constraints.
    """
    return Pose(np.array(last_matrix(obj)), user_keys.key_values(obj))


def last_matrix(obj: Object) -> Any:
    """The transform of an object that was evaluated last, or was set since then, where that can be known."""
    free = obj.parent is None and not obj.constraints
    return obj.matrix_basis if free else obj.matrix_world


def to_world(shape: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """World positions (n, 3) float64 of a shape (n, 3) under a transform (4, 4)."""
    return shape.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def to_object(positions: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Shape (n, 3) float32 of world positions (n, 3); the transform (4, 4) must not be flat."""
    inverse = np.linalg.inv(matrix[:3, :3]).astype(np.float32)
    return (positions - matrix[:3, 3].astype(np.float32)) @ inverse.T


def is_flat(matrix: np.ndarray) -> bool:
    """Whether a transform squeezes the object to a plane, a line or a point, or has invalid numbers."""
    return not abs(np.linalg.det(matrix[:3, :3])) > TINY_VOLUME
