"""The shape in which a body is not strained: its mesh, its first or each frame, a shape key, or another object."""

import zlib

import numpy as np

from ..errors import PBDError
from ..kinds import Object
from ..scene import poses, user_keys
from . import mesh_io


def read(obj: Object, shape: np.ndarray, start: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """The rest shape (n, 3) [m] of an object with the transform `matrix`; where it lies has no meaning.

    `shape` is the mesh with the user's shape keys, (n, 3) float32 in object space, `start` the first frame, in world
    space. Raises a `PBDError` if the shape key or object is missing, or is another mesh.
    """
    choice = obj.pbd.rest_shape
    if choice in ("DEFORMED", "DYNAMIC"):
        return start
    if choice == "KEY":
        return poses.to_world(_key_shape(obj), matrix)
    if choice == "OBJECT":
        other = _other_shape(obj)
        # A mirrored body has its faces turned around, so its rest shape must be mirrored, too.
        return other * (-1.0, 1.0, 1.0) if np.linalg.det(matrix[:3, :3]) < 0.0 else other
    return poses.to_world(shape, matrix)


def checksum(obj: Object) -> int:
    """A checksum of the rest shape, if a shape key or another object has it; 0 if it cannot be used."""
    if obj.pbd.rest_shape not in ("KEY", "OBJECT"):
        return 0
    try:
        shape = _key_shape(obj) if obj.pbd.rest_shape == "KEY" else _other_shape(obj)
    except PBDError:
        return 0
    return zlib.crc32(shape.astype(np.float32).tobytes())


def _key_shape(obj: Object) -> np.ndarray:
    name, keys = obj.pbd.rest_key, obj.data.shape_keys
    block = keys.key_blocks.get(name) if keys and name else None
    if block is None:
        raise PBDError(
            f"'{obj.name}' has no shape key '{name}' for its rest shape: choose another key"
            if name
            else f"'{obj.name}' takes its rest shape from a shape key: choose the key"
        )
    return user_keys.read_points(block)


def _other_shape(obj: Object) -> np.ndarray:
    """The mesh of the other object (n, 3) in its own size [m]; turning or moving it changes nothing."""
    other = obj.pbd.rest_object
    if other is None:
        raise PBDError(f"'{obj.name}' takes its rest shape from an object: choose the object")
    if other.mode == "EDIT":
        raise PBDError(f"'{other.name}', the rest shape of '{obj.name}', is in Edit Mode: leave it first")
    if mesh_io.fingerprint(other) != mesh_io.fingerprint(obj):
        raise PBDError(
            f"'{other.name}', the rest shape of '{obj.name}', has other vertices or faces: "
            "duplicate the mesh and reshape the copy"
        )
    return np.abs(np.array(other.matrix_world.to_scale())) * mesh_io.base_shape(other)
