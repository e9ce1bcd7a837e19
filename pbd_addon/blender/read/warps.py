"""Where the warp of a weave runs: along the X axis of an object, or along U of its UV map."""

import zlib

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object
from ..scene.arrays import values
from . import mesh_io

FLAT = 1e-9
"""A face has no direction in a UV map if it takes less than this share of the area that its sides could: far below
what an unwrap leaves, and above what 32 bits round."""

NO_UV = "No UV map says where the warp runs: it runs along the X axis"


def read(obj: Object, rest: np.ndarray, matrix: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """As `Body` takes it, for a rest shape (n, 3), and a hint where it is not what was asked for.

    Along the sides of a face, the sum of p dv is the area of the face in the map times the direction in which U grows.
    """
    along_x = matrix[:3, 0] / np.linalg.norm(matrix[:3, 0])
    if obj.pbd.warp == "X":
        return along_x, ()
    uv = _uv(obj)
    if not len(uv):
        return along_x, (iface(NO_UV),)
    corners, starts = mesh_io.read_polygons(obj.data)
    following = np.arange(len(corners)) + 1
    following[starts[1:] - 1] = starts[:-1]
    step, face = uv[following] - uv, np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    middle = 0.5 * (rest[corners] + rest[corners[following]])
    area = 0.5 * np.bincount(face, uv[:, 0] * step[:, 1] - uv[:, 1] * step[:, 0])
    around = np.bincount(face, (step**2).sum(axis=1))
    middle -= np.stack([np.bincount(face, q) for q in middle.T], axis=1)[face] / np.diff(starts)[face][:, None]
    found = np.stack([np.bincount(face, q * step[:, 1]) for q in middle.T], axis=1)
    length = np.linalg.norm(found, axis=1)
    usable = (np.abs(area) > FLAT * around) & (length > 0.0)
    if not usable.any():
        return along_x, (iface(NO_UV),)
    return np.where(usable[:, None], found / np.where(usable, length, 1.0)[:, None], 0.0), ()


def checksum(obj: Object) -> int:
    """A checksum of the UV map, if it says where the warp runs; 0 if not."""
    return zlib.crc32(_uv(obj).tobytes(), 1) if obj.pbd.warp == "UV" else 0


def _uv(obj: Object) -> np.ndarray:
    """The active UV map, of face corners (c, 2) float64; (0, 2) if there is none or it is not finite."""
    layer = obj.data.uv_layers.active
    found = np.zeros((0, 2)) if layer is None else values(layer.uv, "vector", np.float32, 2).astype(float)
    return found if np.isfinite(found).all() else found[:0]
