"""What force fields do where: fields of one kind, shape and falloff are computed together, as arrays.

The formulas stand in `force_fields`. They are those of Blender (`effector_falloff`, `do_physical_effector` and
`do_texture_effector` in its effect.cc), measured in 4.2 and 5.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .field import Field, Outside, TextureOf, Weight

MOST_DRAG = 2.0
"""Blender takes no more of either coefficient of DRAG."""

TINY = 1e-9
"""Nothing is nearer to a field than that, where it would be divided by [m]."""


MOST_TOGETHER = 64
"""So many fields are computed at a time: their vectors take 15 MB for 10 000 particles."""

NOISE_RMS = 0.35
"""How far noise of 1 moves the strength of a field on average: the standard deviation that was measured in Blender."""

NOISE_WAVES = 8
NOISE_HERTZ = (0.5, 4.0)
"""Blender draws noise anew for each particle and evaluation. Here it is a sum of so many waves of these frequencies:
white noise would act less the more substeps there are."""

NUMBERS = (
    *("strength", "flow", "noise", "power", "least", "most", "radial_power", "radial_least", "radial_most"),
    *("linear_drag", "quadratic_drag", "damping", "rest_length", "size", "wind_factor", "nabla"),
)
"""The settings of a `Field` that are interpolated between two frames."""


class Batch:
    """Fields of one kind, shape and falloff, computed together: arrays (fields, particles, 3)."""

    def __init__(self, before: list[Field], after: list[Field], weights: list[Weight], outside: Outside) -> None:
        self.one, self._outside, self._after = after[0], outside, after
        self._ends = [
            {name: np.array([[getattr(field, name)] for field in fields], float) for name in NUMBERS}
            for fields in (before, after)
        ]
        self._origins = [np.array([[field.origin] for field in fields], float) for fields in (before, after)]
        self._axes = [np.array([[field.axis] for field in fields], float) for fields in (before, after)]
        self._weights = np.stack([np.atleast_1d(weight) for weight in np.broadcast_arrays(*weights)])
        self._held: np.ndarray | None = None  # what is computed once a frame: vectors of noise or of a texture
        self._points: tuple[np.ndarray, np.ndarray] | None = None  # on the mesh of SURFACE and POINTS, with normals
        self.place(0.0, 0.0)

    def begin(self, x: np.ndarray, ahead: np.ndarray) -> None:
        """A frame begins with the particles at x (n, 3), on their way to `ahead`: ask what is asked once a frame."""
        one, outside = self.one, self._outside
        if one.shape == "SURFACE" and outside.nearest is not None:
            places, normals = outside.nearest(one.uid, ahead)
            self._points = places[None], normals[None]
        elif one.shape == "POINTS" and outside.points is not None:
            places, normals = outside.points(one.uid)
            if one.kind == "HARMONIC" and len(places):  # Each particle is held by one point.
                at = np.arange(len(x)) % len(places)
                self._points = places[at][None], normals[at][None]
            else:
                self._points = places[:, None], normals[:, None]
        if one.kind == "TURBULENCE" and outside.turbulence is not None:
            places = np.broadcast_to(x if one.global_coordinates else x - self._origin + self._axis, self._shape(x))
            sizes = [field.size for field in self._after]
            self._held = np.stack([outside.turbulence(at, size) for at, size in zip(places, sizes, strict=True)])
        elif one.kind == "TEXTURE" and outside.texture is not None:
            self._held = texture_vectors(one, x, self._axis[0, 0], outside.texture)[None]

    def _shape(self, x: np.ndarray) -> tuple[int, ...]:
        return (len(self._after), *x.shape)

    def pairs(self, x: np.ndarray) -> int:
        """How many pairs of a field and a particle there are."""
        return len(x) * max(len(self._after), 0 if self._points is None else len(self._points[0]))

    def place(self, share: float, t: float) -> None:
        """Stand where the fields are at this share of the frame, with the strength of this time [s]."""
        first, last = self._ends
        with np.errstate(invalid="ignore"):  # Limits that stay infinite.
            self._numbers = {
                name: np.where(first[name] == last[name], last[name], first[name] + share * (last[name] - first[name]))
                for name in NUMBERS
            }
        self._origin = self._origins[0] + share * (self._origins[1] - self._origins[0])
        self._axis = unit(self._axes[0] + share * (self._axes[1] - self._axes[0]))
        if self._numbers["noise"].any():
            waves = np.array([[wave(field.seed, t)] for field in self._after])
            self._numbers["strength"] = self._numbers["strength"] + self._numbers["noise"] * waves

    def parts(self, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations (n, 3) of all fields together: the share of the wind factors, and the rest."""
        pressing, pulling = np.zeros_like(x), np.zeros_like(x)
        share = self._numbers["wind_factor"][:, :, None]
        pieces: list[Any]
        if self._points is None:
            pieces = [(None, None)] if self.one.shape not in ("SURFACE", "POINTS") else []
        else:
            cuts = range(0, len(self._points[0]), MOST_TOGETHER)
            pieces = [tuple(each[at : at + MOST_TOGETHER] for each in self._points) for at in cuts]
        for places, normals in pieces:
            found = self._accelerations(x, v, places, normals)
            if share.any():
                pressing += (share * found).sum(axis=0)
                found = (1.0 - share) * found
            pulling += found.sum(axis=0)
        return pressing, pulling

    def _accelerations(self, x: np.ndarray, v: np.ndarray, places: Any, normals: Any) -> np.ndarray:
        """What each field does, (fields, n, 3); of one on a mesh, each of these places on it."""
        one, numbers, n = self.one, self._numbers, self._axis if normals is None else normals
        c = x - self._origin
        along = dot(n, c)[..., None] * n
        if places is not None:
            r = x - places
        elif one.shape == "LINE" or (one.kind == "VORTEX" and one.shape == "PLANE"):
            r = c - along
        else:
            r = along if one.shape == "PLANE" else c
        d = np.sqrt(dot(r, r))
        w = self._weights * self._falloff(c, along, n, d)
        found = self._of_kind(v, c, r, d, n, w)
        if one.kind not in ("HARMONIC", "DRAG", "TEXTURE") and numbers["flow"].any():
            found = found - (numbers["flow"] * w)[..., None] * v
        return np.where(w[..., None] > 0.0, found, 0.0)

    def _falloff(self, c: np.ndarray, along: np.ndarray, n: np.ndarray, d: np.ndarray) -> np.ndarray:
        """How much of the fields is left at each particle, (fields, n)."""
        one, numbers, z = self.one, self._numbers, dot(n, c)
        limits = [numbers[name] for name in ("power", "least", "most")]
        radial = [numbers[name] for name in ("radial_power", "radial_least", "radial_most")]
        if one.falloff == "SPHERE":
            left = fade(d, *limits)
        elif one.falloff == "TUBE":
            left = fade(np.abs(z), *limits) * fade(np.sqrt(dot(c - along, c - along)), *radial)
        else:
            cosine = np.clip(z / np.maximum(np.sqrt(dot(c, c)), TINY), -1.0, 1.0)
            left = fade(np.abs(z), *limits) * fade(np.degrees(np.arccos(cosine)), *radial)
        if one.side == "BOTH":
            return left
        return np.where(z < 0.0 if one.side == "POSITIVE" else z > 0.0, 0.0, left)

    def _of_kind(
        self, v: np.ndarray, c: np.ndarray, r: np.ndarray, d: np.ndarray, n: np.ndarray, w: np.ndarray
    ) -> np.ndarray:
        """What the fields do without flow, (fields, n, 3)."""
        one, numbers = self.one, self._numbers
        sw = (numbers["strength"] * w)[..., None]
        match one.kind:
            case "WIND":
                return n * sw
            case "FORCE":
                pull = unit(r) * sw
                return pull / np.maximum(d, TINY)[..., None] ** 2 * (d > TINY)[..., None] if one.gravitation else pull
            case "VORTEX":
                if one.shape == "POINT":
                    return unit(np.cross(n, r)) * sw * d[..., None]
                around = np.cross(self._axis, c) * sw
                return np.cross(self._axis, around) * sw + around - v
            case "MAGNET":
                return np.cross(v, (unit(np.cross(n, r)) if one.shape in ("POINT", "LINE") else n) * sw)
            case "HARMONIC":
                rest = numbers["rest_length"]
                stretched = np.where(rest == 0.0, 1.0, (d - rest) / np.maximum(d, TINY))
                damping = 2.0 * numbers["damping"] * np.sqrt(np.abs(numbers["strength"]))
                return -sw * r * stretched[..., None] - damping[..., None] * v
            case "DRAG":
                speed = np.sqrt(dot(v, v))
                a, b = (np.minimum(numbers[name], MOST_DRAG) for name in ("linear_drag", "quadratic_drag"))
                return -(w * (a * speed + b))[..., None] * v
            case _:  # TURBULENCE and TEXTURE: what is computed once a frame.
                return np.zeros((*w.shape, 3)) if self._held is None else self._held * sw


def dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of vectors (..., 3), (...)."""
    return np.asarray(np.einsum("...i,...i->...", a, b))


def unit(a: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) of length 1, or 0 where there is none."""
    return np.asarray(a / np.maximum(np.sqrt(dot(a, a)), 1e-300)[..., None])


def fade(x: np.ndarray, power: np.ndarray, least: np.ndarray, most: np.ndarray) -> np.ndarray:
    """What a falloff leaves at distances x: (1 + x − least)^−power, all within `least`, nothing beyond `most`."""
    return np.where(x > most, 0.0, np.maximum(1.0 + x - least, 1.0) ** -power)


def wave(seed: int, t: float) -> float:
    """How noise of 1 moves the strength of a field at a time [s]: smooth, with the rms `NOISE_RMS` over long times."""
    random = np.random.default_rng(seed)
    rates, phases = random.uniform(*NOISE_HERTZ, NOISE_WAVES), random.uniform(0.0, 2.0 * math.pi, NOISE_WAVES)
    return NOISE_RMS * math.sqrt(2.0 / NOISE_WAVES) * float(np.cos(2.0 * math.pi * rates * t + phases).sum())


def texture_vectors(one: Field, x: np.ndarray, n: np.ndarray, ask: TextureOf) -> np.ndarray:
    """What a TEXTURE field of strength 1 does at places x (n, 3), (n, 3)."""
    at = x
    if one.object_coordinates:
        matrix = np.reshape(one.to_object, (4, 4))
        at = x @ matrix[:3, :3].T + matrix[:3, 3]
        at = at * (1.0, 1.0, 0.0) if one.flat else at
    elif one.flat:
        at = x - (x @ n)[:, None] * n
    colors, is_colored = ask(one.texture, at)
    if is_colored and one.mode == "RGB":
        found = 0.5 - colors[:, :3]
    elif not one.nabla:
        found = np.zeros_like(x)
    else:
        moved = [ask(one.texture, at + one.nabla * axis)[0] for axis in np.eye(3)]
        if one.mode == "CURL" and is_colored:
            by_x, by_y, by_z = ((there - colors)[:, :3].T for there in moved)
            found = np.stack([by_y[2] - by_z[1], by_z[0] - by_x[2], by_x[1] - by_y[0]], axis=1) / one.nabla
        else:  # Of a colored texture the mean of red, green and blue is its intensity.
            lights = [each[:, :3].mean(axis=1) if is_colored else each[:, 3] for each in (colors, *moved)]
            found = (lights[0][:, None] - np.stack(lights[1:], axis=1)) / one.nabla
    return found - (found @ n)[:, None] * n if one.flat else found
