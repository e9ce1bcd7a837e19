"""Raw settings: tuples of values as Blender stores them, quick to read and compare, and their conversion."""

import itertools
import operator
from collections import namedtuple
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import bpy

from ...bodies.maps import MAPS
from ...bodies.settings import Material, SolverSettings
from ..errors import refused
from ..kinds import Object, Scene
from ..scene import fields
from . import field_weights, maps, wind
from .field_properties import known, shown_fields
from .properties import PBD_PG_collider, PBD_PG_object, PBD_PG_scene

Key = int | tuple[str, int]
"""Whose settings, and as what: the uid of a simulated object or of the scene, ("collider", uid), ("field", uid) or
("absorber", uid), which force fields with *Absorption* do not act through."""


MATERIAL_FIELDS = tuple(field.name for field in shown_fields(Material))
SOLVER_FIELDS = tuple(field.name for field in shown_fields(SolverSettings))
COLLIDER_FIELDS = ("thickness", "friction", "static_friction", "restitution", "inside", "join_borders")

OF_SCENE = {name: ((f"pbd.{name}",), "") for name in SOLVER_FIELDS} | {
    "gravity": (("gravity", "use_gravity"), "Gravity"),
    "settle": (("pbd.settle",), ""),
    "floor": (("pbd.use_floor", "pbd.floor_height", "pbd.floor_friction"), "Floor"),
    "frame_seconds": (("pbd.speed", "render.fps", "render.fps_base"), "Speed or frame rate"),
    "wind": (("pbd.wind_",), "Wind"),
    "field_reading": (("pbd.field_reading",), ""),
}
OF_COLLIDER = {name: ((f"pbd_collider.{name}",), "") for name in COLLIDER_FIELDS}
OF_ABSORBER = {"absorption": (("collision.absorption",), "")}
OF_OBJECT = {name: ((f"pbd.{name}",), "") for name in (*MATERIAL_FIELDS, *maps.FIELDS)} | {
    "field_weights": (("pbd.field_weights",), "Field Weights"),
    "fields": ((), "Effector Collection"),
}
SHARED = {
    "strength": ("linear_drag",),
    "size": ("rest_length",),
    "harmonic_damping": ("quadratic_drag",),
    "flow": ("inflow",),
}
"""Settings of a force field that Blender stores in one place with others, which have other names for other types."""

FIELD_FIELDS = (
    *("type", "shape", "falloff_type", "z_direction", "strength", "flow", "noise", "seed", "wind_factor"),
    *("falloff_power", "use_min_distance", "distance_min", "use_max_distance", "distance_max"),
    *("radial_falloff", "use_radial_min", "radial_min", "use_radial_max", "radial_max", "use_gravity_falloff"),
    *("size", "use_global_coords", "harmonic_damping", "apply_to_location", "use_absorption"),
    *("texture_mode", "texture_nabla", "use_object_coords", "use_2d_force"),
)
OF_FIELD = {name: (tuple(f"field.{each}" for each in (name, *SHARED.get(name, ()))), "") for name in FIELD_FIELDS} | {
    "texture": (("field.texture",), "")
}
"""For each field: the data paths that make its value, and its name if it differs from that of the property."""

Record = Any
"""One of the five below: mypy cannot see fields that are made from a table."""

_record: Any = namedtuple
SceneSettings = _record("SceneSettings", tuple(OF_SCENE))
ColliderSettings = _record("ColliderSettings", COLLIDER_FIELDS)
ObjectSettings = _record("ObjectSettings", tuple(OF_OBJECT))
FieldSettings = _record("FieldSettings", tuple(OF_FIELD))
AbsorberSettings = _record("AbsorberSettings", tuple(OF_ABSORBER))
RECORDS: dict[Any, Any] = {
    SceneSettings: (OF_SCENE, PBD_PG_scene),
    ColliderSettings: (OF_COLLIDER, PBD_PG_collider),
    ObjectSettings: (OF_OBJECT, PBD_PG_object),
    FieldSettings: (OF_FIELD, bpy.types.FieldSettings),
    AbsorberSettings: (OF_ABSORBER, bpy.types.CollisionSettings),
}


BY_KIND = {"collider": ColliderSettings, "field": FieldSettings, "absorber": AbsorberSettings}
"""The records by the first part of their `Key`."""


class Floor(NamedTuple):
    """The floor of a scene."""

    used: bool
    height: float  # [m]
    friction: float


def paths_of(record: Record, field: str) -> tuple[str, ...]:
    """Prefixes of the data paths that make the value of a field."""
    return RECORDS[type(record)][0][field][0]


def label_of(record: Record, field: str) -> str:
    """The label of a field in the panels."""
    fields, group = RECORDS[type(record)]
    paths, name = fields[field]
    known: Any = group.bl_rna.properties
    return name or known[paths[0].partition(".")[2]].name


def differences(before: Record, now: Record) -> list[str]:
    """The fields in which two records of the same kind differ."""
    return [] if before == now else [name for name, a, b in zip(now._fields, before, now, strict=True) if a != b]


_object_values = operator.attrgetter(*MATERIAL_FIELDS, *maps.FIELDS)
_collider_values = operator.attrgetter(*COLLIDER_FIELDS)
_field_values = operator.attrgetter(*FIELD_FIELDS)
_weights = operator.attrgetter(*field_weights.NAMES)


def _others_of(group: Any, left_out: Collection[str] = ()) -> Callable[[Any], tuple]:
    """A getter of the other properties of one of our groups, except pointers and computed ones."""
    kinds = {name: kind for name, kind in group.__annotations__.items() if "get" not in kind.keywords}
    vectors = [name for name, kind in kinds.items() if kind.function is bpy.props.FloatVectorProperty]
    pointers = [name for name, kind in kinds.items() if kind.function is bpy.props.PointerProperty]
    numbers = operator.attrgetter(*(name for name in kinds if name not in {*vectors, *pointers, *left_out}))
    # What Blender returns for a vector changes with it.
    return lambda owner: (numbers(owner), [tuple(getattr(owner, name)) for name in vectors])


_others_of_object = _others_of(PBD_PG_object, (*MATERIAL_FIELDS, *maps.FIELDS))
everything_of_scene = _others_of(PBD_PG_scene)
"""All that a ``Scene.pbd`` holds, but for what it points to."""


class Stored(NamedTuple):
    """All that ``Object.pbd`` and ``Object.pbd_collider`` hold, but for what they point to."""

    settings: Record  # `ObjectSettings` without a collection of fields
    others: tuple


def stored(obj: Object) -> Stored:
    """What an object's groups of settings hold; read again where they are animated, or may have been set since."""
    found = known.get(obj.session_uid) if obj.animation_data is None else None
    if found is None:
        pbd = obj.pbd
        settings = ObjectSettings(*_object_values(pbd), _weights(pbd.field_weights), None)
        found = Stored(settings, (_others_of_object(pbd), _collider_values(obj.pbd_collider)))
        if obj.animation_data is None:
            known[obj.session_uid] = found
    return found


READ_ANYWAY = 8
"""Settings of so many objects are read again at each frame, by turns, whether one was set or not: a script can put them
back to their defaults, of which nobody is told. All of 100 objects would take 3 ms."""


def forget_some() -> None:
    """A frame is shown: what was known for longest has to be read again."""
    for uid in [*itertools.islice(known, READ_ANYWAY)]:
        del known[uid]


def raw_material(obj: Object) -> Record:
    """The material, maps and field weights of an object."""
    settings, collection = stored(obj).settings, obj.pbd.field_weights.collection
    return settings if collection is None else settings._replace(fields=fields_of(collection))


def fields_of(collection: Any) -> tuple[str, ...] | None:
    """The names of the force fields in a collection; None for no collection."""
    if collection is None:
        return None
    return tuple(sorted(obj.name for obj in collection.all_objects if fields.is_field(obj)))


def raw_field(field: Any) -> Record:
    """The settings of one of Blender's force fields."""
    texture = field.texture
    return FieldSettings(*_field_values(field), "" if texture is None else texture.name)


def raw_absorber(obj: Any) -> Record:
    """The share of a field that an object takes: that of its Collision modifier, or all as one of our colliders."""
    return AbsorberSettings(obj.collision.absorption if fields.is_marked(obj) else 1.0)


def raw_collider(pbd_collider: Any) -> Record:
    """The settings of an ``Object.pbd_collider``."""
    return ColliderSettings._make(_collider_values(pbd_collider))


def default_collider() -> Record:
    """The settings of a collider that is not marked as one: the defaults."""
    known: Any = PBD_PG_collider.bl_rna.properties
    return ColliderSettings._make(known[name].default for name in COLLIDER_FIELDS)


def raw_scene(scene: Scene) -> Record:
    """All settings of a scene that affect the solver."""
    pbd = scene.pbd
    render = scene.render
    return SceneSettings(
        *(getattr(pbd, name) for name in SOLVER_FIELDS),
        gravity=tuple(scene.gravity) if scene.use_gravity else (0.0, 0.0, 0.0),
        settle=pbd.settle,
        floor=Floor(pbd.use_floor, pbd.floor_height, pbd.floor_friction),
        frame_seconds=clean(pbd.speed) * clean(render.fps_base) / render.fps,
        wind=wind.raw_wind(scene),
        field_reading=pbd.field_reading,
    )


def clean(value: Any) -> Any:
    """A setting as it was typed: in 32 bits 0.15 becomes 0.15000000596, and a lower limit may fall below itself."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def material_from(raw: Record, name: str) -> Material:
    """The material of a record from `raw_material`; a `PBDError` names a value that is out of range."""
    with refused(f"{name}: "):
        return Material(**dict(zip(MATERIAL_FIELDS, map(clean, raw), strict=False)))


def maps_from(raw: Record) -> dict[str, maps.WeightMap]:
    """The settings of each map in a record from `raw_material`."""
    values = [clean(getattr(raw, name)) for name in maps.FIELDS]
    return {kind: maps.WeightMap(*values[3 * at : 3 * at + 3]) for at, kind in enumerate(MAPS)}


def collider_from(raw: Record) -> dict[str, Any]:
    """The settings of a record from `raw_collider`, by argument of `Collider`."""
    values = dict(zip(COLLIDER_FIELDS, map(clean, raw), strict=True))
    values["static_friction"] = max(values["static_friction"], values["friction"])
    return values


def settings_from(raw: Record, name: str) -> SolverSettings:
    """The solver settings, with gravity [m/s²], of a record from `raw_scene`; a `PBDError` names a wrong value."""
    values = dict(zip(SOLVER_FIELDS, map(clean, raw), strict=False))
    with refused(f"{name}: "):
        return SolverSettings(gravity=tuple(map(clean, raw.gravity)), **values)
