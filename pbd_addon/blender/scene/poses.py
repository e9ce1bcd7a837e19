"""Poses of objects, and the conversion between object space and world space.

A shape is (n, 3) float32 in object space [m]. A pose is the object's transform and the values of the user's shape keys
at one time. World positions, (n, 3) [m], are a shape under a pose.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import mathutils
import numpy as np

from ..kinds import Depsgraph, Object
from . import user_keys

TINY_VOLUME = 1e-18
"""Determinant of a transform below which it counts as singular."""


class Pose(NamedTuple):
    """The transform and shape key values of an object at one time."""

    matrix: np.ndarray  # (4, 4) float64, object to world
    key_values: dict[str, float]  # of the user's shape keys that are not zero

    def blend(self, other: Pose, fraction: float) -> Pose:
        """The linear interpolation to `other`; 0 is this pose, 1 is the other."""
        names = self.key_values.keys() | other.key_values.keys()
        start, end = self.key_values, other.key_values
        values = {name: (1 - fraction) * start.get(name, 0.0) + fraction * end.get(name, 0.0) for name in names}
        return Pose((1 - fraction) * self.matrix + fraction * other.matrix, values)

    def is_like(self, other: Pose | None) -> bool:
        """Whether the other pose is the same; False for None."""
        if other is None:
            return False
        return np.array_equal(self.matrix, other.matrix) and self.key_values == other.key_values


def read_pose(obj: Object, depsgraph: Depsgraph) -> Pose:
    """The pose of an object in the evaluated scene."""
    return Pose(np.array(obj.evaluated_get(depsgraph).matrix_world), user_keys.key_values(obj, depsgraph))


def read_last_pose(obj: Object) -> Pose:
    """The last evaluated pose of an object, or its latest if `last_matrix` knows that."""
    return Pose(np.array(last_matrix(obj)), user_keys.key_values(obj))


def last_matrix(obj: Object) -> mathutils.Matrix:
    """The last evaluated transform of an object, or the one set since then if it has no parent and no constraints."""
    free = obj.parent is None and not obj.constraints
    return obj.matrix_basis if free else obj.matrix_world


def to_world(shape: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """World positions (n, 3) float64 of a shape (n, 3) under a transform (4, 4)."""
    return shape.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


def to_object(positions: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Shape (n, 3) float32 of world positions (n, 3); the transform (4, 4) must be invertible."""
    origin, inverse = _to_object(matrix.tobytes(), matrix.dtype)
    return (positions - origin) @ inverse.T


@functools.lru_cache(maxsize=1024)  # Most objects stand still, and to invert takes longer than all else.
def _to_object(matrix: bytes, kind: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Where the origin of a transform (4, 4) of that type is, (3,), and the way back from there, (3, 3), float32."""
    known = np.frombuffer(matrix, kind).reshape(4, 4)
    return known[:3, 3].astype(np.float32), np.linalg.inv(known[:3, :3]).astype(np.float32)


def is_flat(matrix: np.ndarray) -> bool:
    """Whether a transform flattens the object to a plane, a line or a point, or is not finite."""
    (a, b, c), (d, e, f), (g, h, i) = matrix[:3, :3].tolist()
    return not abs(a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)) > TINY_VOLUME
