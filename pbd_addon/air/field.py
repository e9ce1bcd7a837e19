"""One force field as data, and what it asks from outside."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

KINDS = ("WIND", "FORCE", "VORTEX", "MAGNET", "HARMONIC", "TURBULENCE", "DRAG", "TEXTURE")


@dataclasses.dataclass(frozen=True)
class Field:
    """One force field as it stands at one time. SI units; `strength` in the unit of its kind."""

    kind: str  # one of `KINDS`
    origin: tuple[float, ...]  # [m]
    axis: tuple[float, ...]  # unit vector: the field's Z
    shape: str = "POINT"  # POINT, LINE, PLANE, SURFACE or POINTS
    falloff: str = "SPHERE"  # SPHERE, TUBE or CONE
    side: str = "BOTH"  # BOTH, POSITIVE or NEGATIVE: of its Z where it acts
    strength: float = 1.0
    flow: float = 0.0  # [1/s]
    noise: float = 0.0  # as the strength
    seed: int = 0
    power: float = 0.0  # of the falloff with distance
    least: float = 0.0  # distance within which nothing fades [m]
    most: float = math.inf  # distance beyond which nothing acts [m]
    radial_power: float = 0.0
    radial_least: float = 0.0  # from the axis [m], of CONE [degrees]
    radial_most: float = math.inf
    gravitation: bool = False
    linear_drag: float = 1.0  # multiplies |v|² [1/m]
    quadratic_drag: float = 1.0  # multiplies |v| [1/s]; Blender's names are swapped
    damping: float = 1.0
    rest_length: float = 0.0  # [m]
    size: float = 0.0  # of turbulence [m]
    global_coordinates: bool = False
    wind_factor: float = 0.0
    texture: str = ""
    mode: str = "RGB"  # RGB, GRADIENT or CURL
    nabla: float = 0.025  # step of a texture's derivative [m]
    object_coordinates: bool = False
    flat: bool = False  # texture only across the axis
    to_object: tuple[float, ...] = ()  # world to object, 16 numbers in rows, where `object_coordinates` asks for it
    uid: int = 0  # of its object

    @property
    def like(self) -> tuple:
        """What fields have in common that are computed together."""
        own = self.uid if self.shape in ("SURFACE", "POINTS") or self.kind == "TEXTURE" else 0
        flags = self.gravitation, self.global_coordinates, self.mode, self.object_coordinates, self.flat
        return self.kind, self.shape, self.falloff, self.side, flags, self.texture, own

    @property
    def acts(self) -> bool:
        """Whether it does anything with its present strength."""
        always = self.kind == "DRAG" or (self.kind == "VORTEX" and self.shape != "POINT")
        return always or bool(self.strength or self.noise or self.flow)

    def nearest(self, x: np.ndarray) -> np.ndarray:
        """Its point that is nearest to each of x (n, 3), (n, 3) [m]; the object's origin if it is a mesh."""
        origin, n = np.array(self.origin), np.array(self.axis)
        along = ((x - origin) @ n)[:, None] * n
        if self.shape == "PLANE" and self.kind != "VORTEX":
            return x - along
        if self.shape in ("LINE", "PLANE"):
            return origin + along
        return np.broadcast_to(origin, x.shape)


Weight = float | np.ndarray
TextureOf = Callable[[str, np.ndarray], tuple[np.ndarray, bool]]


class Outside(NamedTuple):
    """What a field needs to ask from Blender, once a frame; places are (k, 3) [m]."""

    turbulence: Callable[[np.ndarray, float], np.ndarray] | None = None  # noise vectors (k, 3) of places, for a size
    texture: TextureOf | None = None  # (k, 4) red, green, blue and intensity, and whether it has colors
    nearest: Callable[[int, np.ndarray], tuple[np.ndarray, np.ndarray]] | None = None  # on a field's surface: p, normal
    points: Callable[[int], tuple[np.ndarray, np.ndarray]] | None = None  # of a field's mesh: (m, 3), normals


NOTHING = Outside()
"""Where nothing can be asked: fields that need it do nothing."""
