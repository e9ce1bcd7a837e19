"""Raw settings: tuples of values as Blender stores them, quick to read and to compare; and what they stand for."""

import operator
from typing import Any

from ...settings import Material, SolverSettings
from ..errors import PBDError
from . import maps
from .field_properties import shown_fields
from .properties import PBD_PG_collider

Key = int | tuple[str, int]
"""Whose settings: the uid of a simulated object or of the scene; of a collider, `as_collider` of its uid."""


def as_collider(uid):
    """The key of an object's settings as a collider; it may have others as a cloth."""
    return ("collider", uid)


MATERIAL_FIELDS = tuple(field.name for field in shown_fields(Material))
SOLVER_FIELDS = tuple(field.name for field in shown_fields(SolverSettings))
COLLIDER_FIELDS = ("thickness", "friction", "static_friction", "restitution", "inside")

OF_SCENE = (
    *(((f"pbd.{name}",), "") for name in SOLVER_FIELDS),
    (("gravity", "use_gravity"), "Gravity"),
    (("pbd.settle",), ""),
    (("pbd.use_floor", "pbd.floor_height", "pbd.floor_friction"), "Floor"),
    (("pbd.speed", "render.fps", "render.fps_base"), "Speed or frame rate"),
)
OF_COLLIDER = tuple(((f"pbd_collider.{name}",), "") for name in COLLIDER_FIELDS)
OF_OBJECT = tuple(((f"pbd.{name}",), "") for name in (*MATERIAL_FIELDS, *maps.FIELDS))
"""Of raw settings, in their order: the paths that make a value, and its name if it is not that of its property."""

raw_material = operator.attrgetter(*MATERIAL_FIELDS, *maps.FIELDS)
"""The settings of material and maps of an ``Object.pbd`` as a tuple."""

raw_collider = operator.attrgetter(*COLLIDER_FIELDS)
"""The settings of an ``Object.pbd_collider`` as a tuple."""


def default_collider():
    """The settings of a collider that is not marked as one, as from `raw_collider`."""
    known: Any = PBD_PG_collider.bl_rna.properties
    return tuple(known[name].default for name in COLLIDER_FIELDS)


def raw_scene(scene):
    """Everything of a scene that steers the solver, as a tuple."""
    pbd = scene.pbd
    render = scene.render
    return (
        *(getattr(pbd, name) for name in SOLVER_FIELDS),
        tuple(scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0),
        pbd.settle,
        (pbd.use_floor, pbd.floor_height, pbd.floor_friction),
        clean(pbd.speed) * clean(render.fps_base) / render.fps,
    )


def clean(value):
    """A setting as it was typed: Blender stores 0.15 as 0.15000000596, and a lower limit a hair below itself."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def material_from(raw, name):
    """The material of a tuple from `raw_material`.

    Raises:
        PBDError: A value is outside of its range; the sentence names the object and the setting.
    """
    try:
        return Material(**dict(zip(MATERIAL_FIELDS, map(clean, raw), strict=False)))
    except ValueError as error:
        raise PBDError(f"{name}: {error}") from error


def maps_from(raw):
    """The values of `maps.FIELDS` of a tuple from `raw_material`."""
    return tuple(map(clean, raw[len(MATERIAL_FIELDS) :]))


def collider_from(raw):
    """The settings of a tuple from `raw_collider` by the names that `Collider` gives them."""
    values = dict(zip(COLLIDER_FIELDS, map(clean, raw), strict=True))
    values["static_friction"] = max(values["static_friction"], values["friction"])
    return values


def settings_from(raw, name):
    """The solver settings, with gravity [m/s²], of a tuple from `raw_scene`.

    Raises:
        PBDError: A value is outside of its range; the sentence names the scene and the setting.
    """
    values = dict(zip(SOLVER_FIELDS, map(clean, raw), strict=False))
    try:
        return SolverSettings(gravity=tuple(map(clean, raw[len(SOLVER_FIELDS)])), **values)
    except ValueError as error:
        raise PBDError(f"{name}: {error}") from error


def settle_from(raw):
    """Frames to settle before the first one, of a tuple from `raw_scene`."""
    return raw[-3]


def floor_from(raw):
    """Whether there is a floor, its height [m] and its friction, of a tuple from `raw_scene`."""
    return raw[-2]


def frame_seconds(raw):
    """Simulated time of one frame [s], of a tuple from `raw_scene`."""
    return raw[-1]


def read_material(obj):
    """The material of an object, original or evaluated; raises `PBDError`."""
    return material_from(raw_material(obj.pbd), obj.name)


def read_settings(scene):
    """The solver settings of a scene, with its gravity; raises `PBDError`."""
    return settings_from(raw_scene(scene), scene.name)
