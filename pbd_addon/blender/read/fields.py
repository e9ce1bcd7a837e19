"""Force fields of Blender as those of the physics: what is read of them, and what they ask of Blender."""

import functools
import math

import bpy
import numpy as np
from mathutils import Vector, noise
from mathutils.bvhtree import BVHTree

from ...air.field import KINDS, Field, Outside
from ...air.lattice_noise import LatticeNoise
from ..scene.fields import FieldPlace
from ..settings.raw_settings import FieldSettings

COLORED = {
    "CLOUDS": lambda texture: texture.cloud_type == "COLOR",
    "IMAGE": lambda texture: True,
    "MAGIC": lambda texture: True,
    "VORONOI": lambda texture: texture.color_mode != "INTENSITY",
}
"""By type of a texture: whether it gives a color; the others do with a color ramp alone."""


def field_from(uid: int, raw: FieldSettings, place: FieldPlace) -> Field | None:
    """The field that raw settings and a place describe; None if it does nothing to cloth.

    One with a number that is not finite does nothing: `setup_findings` says so.
    """
    if raw.type not in KINDS or not raw.apply_to_location or not is_finite(raw, place):
        return None
    axis = place.matrix[:3, 2]
    return Field(
        kind=raw.type,
        origin=tuple(place.matrix[:3, 3].tolist()),
        axis=tuple((axis / max(float(np.linalg.norm(axis)), 1e-300)).tolist()),
        shape=raw.shape,
        falloff=raw.falloff_type,
        side=raw.z_direction,
        strength=raw.strength,
        flow=raw.flow,
        noise=raw.noise,
        seed=raw.seed,
        power=raw.falloff_power,
        least=raw.distance_min if raw.use_min_distance else 0.0,
        most=raw.distance_max if raw.use_max_distance else math.inf,
        radial_power=raw.radial_falloff,
        radial_least=raw.radial_min if raw.use_radial_min else 0.0,
        radial_most=raw.radial_max if raw.use_radial_max else math.inf,
        gravitation=raw.use_gravity_falloff,
        linear_drag=raw.strength,
        quadratic_drag=raw.harmonic_damping,
        damping=raw.harmonic_damping,
        rest_length=raw.size,
        size=raw.size,
        global_coordinates=raw.use_global_coords,
        wind_factor=raw.wind_factor,
        texture=raw.texture,
        mode=raw.texture_mode,
        nabla=raw.texture_nabla,
        object_coordinates=raw.use_object_coords,
        flat=raw.use_2d_force,
        # Of a scale of zero, nothing is left.
        to_object=tuple(np.linalg.pinv(place.matrix).ravel().tolist()) if raw.use_object_coords else (),
        uid=uid,
    )


def is_finite(raw: FieldSettings, place: FieldPlace) -> bool:
    """Whether all numbers of a field are finite."""
    numbers = [value for value in raw if isinstance(value, float)]
    return bool(np.isfinite(numbers).all() and np.isfinite(place.matrix).all())


# ------------------------------------------------------------------------------------------ asked of Blender


def _perlin(at: np.ndarray) -> np.ndarray:
    """Blender's noise, (k,); asked once for each point of its lattice."""
    return np.array([noise.noise(Vector(p), noise_basis="PERLIN_NEW") for p in at.tolist()])


lattice = LatticeNoise(_perlin)
"""The noise of turbulence, which is the same in all scenes."""


def outside(standing: dict[int, FieldPlace]) -> Outside:
    """What the fields that stand in these places, by uid, may ask, for one frame."""

    @functools.cache
    def tree(uid: int) -> BVHTree:
        points, _normals = standing[uid].world()
        return BVHTree.FromPolygons(points.tolist(), standing[uid].triangles.tolist())

    def nearest(uid: int, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return _nearest(tree(uid), x)

    def points(uid: int) -> tuple[np.ndarray, np.ndarray]:
        return standing[uid].world()

    return Outside(turbulence=lattice.vectors, texture=_texture, nearest=nearest, points=points)


def _nearest(tree: BVHTree, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest points of a surface and the normals there, (n, 3) each; infinitely far where there is no surface.

    Blender's trees take one point at a time; this is asked once a frame.
    """
    nowhere = (math.inf,) * 3
    found = [tree.find_nearest(p) for p in x.tolist()]
    rows = [(*nowhere, 0.0, 0.0, 1.0) if p is None else (*p, *normal) for p, normal, _face, _distance in found]
    array = np.array(rows).reshape(-1, 6)
    return array[:, :3], array[:, 3:]


def _texture(name: str, at: np.ndarray) -> tuple[np.ndarray, bool]:
    """The colors of a texture at places, and whether it has any; Blender is asked once a frame for each point."""
    texture: bpy.types.Texture | None = bpy.data.textures.get(name)
    if texture is None:
        return np.zeros((len(at), 4)), False
    is_colored = texture.use_color_ramp or COLORED.get(texture.type, lambda _texture: False)(texture)
    return np.array([texture.evaluate(p) for p in at.tolist()]).reshape(-1, 4), is_colored
