"""Raw settings: tuples of values as Blender stores them, quick to read and compare, and their conversion."""

import operator
from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple, TypeVar

import bpy

from ...bodies.material import Material
from ...io.schema import fits, text
from ...parts import MAPS
from ...settings.solver_settings import SolverSettings
from ..errors import refused
from ..kinds import Group, Object, Scene
from ..scene import fields
from . import field_weights, maps, wind
from .field_properties import known, shown_fields
from .properties import PBD_PG_collider, PBD_PG_object, PBD_PG_scene

Key = int | tuple[str, int]
"""Whose settings, and as what: the uid of a simulated object or of the scene, ("collider", uid), ("field", uid) or
("absorber", uid), which force fields with *Absorption* do not act through."""


class Floor(NamedTuple):
    """The floor of a scene."""

    used: bool
    height: float  # [m]
    friction: float


Value = float | int | bool | str


class SceneSettings(NamedTuple):
    """All settings of a scene that affect the solver."""

    solver: tuple[Value, ...]  # of `PARTS`
    gravity: tuple[float, ...]
    settle: int
    floor: Floor
    frame_seconds: float
    wind: wind.WindSettings
    field_reading: str


class ObjectSettings(NamedTuple):
    """The material, maps and field weights of an object."""

    material: tuple[Value, ...]  # of `PARTS`
    maps: tuple[Value, ...]
    field_weights: tuple[float, ...]
    fields: tuple[str, ...] | None  # names of the force fields in a collection; None for no collection


class ColliderSettings(NamedTuple):
    """The settings of an object as a collider."""

    thickness: float
    friction: float
    static_friction: float
    restitution: float
    inside: bool
    join_borders: bool
    group: str


class FieldSettings(NamedTuple):
    """The settings of one of Blender's force fields, under its names."""

    type: str
    shape: str
    falloff_type: str
    z_direction: str
    strength: float
    flow: float
    noise: float
    seed: int
    wind_factor: float
    falloff_power: float
    use_min_distance: bool
    distance_min: float
    use_max_distance: bool
    distance_max: float
    radial_falloff: float
    use_radial_min: bool
    radial_min: float
    use_radial_max: bool
    radial_max: float
    use_gravity_falloff: bool
    size: float
    use_global_coords: bool
    harmonic_damping: float
    apply_to_location: bool
    use_absorption: bool
    texture_mode: str
    texture_nabla: float
    use_object_coords: bool
    use_2d_force: bool
    texture: str  # its name, or ""


class AbsorberSettings(NamedTuple):
    """The share of a field that an object takes."""

    absorption: float


RawSettings = SceneSettings | ObjectSettings | ColliderSettings | FieldSettings | AbsorberSettings

Settings = dict[Key, RawSettings]

R = TypeVar("R", bound=RawSettings)


def _typed(settings: Settings, key: Key, kind: type[R]) -> R:
    found = settings[key]
    assert isinstance(found, kind)
    return found


def scene_settings(settings: Settings, scene: Scene) -> SceneSettings:
    """Those of a scene."""
    return _typed(settings, scene.session_uid, SceneSettings)


def object_settings(settings: Settings, uid: int) -> ObjectSettings:
    """Those of a simulated object."""
    return _typed(settings, uid, ObjectSettings)


def collider_settings(settings: Settings, uid: int) -> ColliderSettings:
    """Those of a collider."""
    return _typed(settings, ("collider", uid), ColliderSettings)


def field_settings(settings: Settings, uid: int) -> FieldSettings:
    """Those of a force field."""
    return _typed(settings, ("field", uid), FieldSettings)


def absorber_settings(settings: Settings, uid: int) -> AbsorberSettings:
    """Those of what takes a share of fields."""
    return _typed(settings, ("absorber", uid), AbsorberSettings)


BY_KIND: dict[str, type[ColliderSettings | FieldSettings | AbsorberSettings]] = {
    "collider": ColliderSettings,
    "field": FieldSettings,
    "absorber": AbsorberSettings,
}
"""The records by the first part of their `Key`."""

COLLIDER_FIELDS = ColliderSettings._fields
FIELD_FIELDS = FieldSettings._fields[:-1]

PARTS = {
    "material": tuple(field.name for field in shown_fields(Material)),
    "maps": maps.FIELDS,
    "solver": tuple(field.name for field in shown_fields(SolverSettings)),
}
"""The settings in those fields of records that hold many."""


# ------------------------------------------------------------------------------------------ the table of settings


class Row(NamedTuple):
    """What is known of a setting: from this come changes and their reasons, and what a file may say."""

    paths: tuple[str, ...]  # prefixes of the data paths that make its value
    label: str
    schema: Any  # of its value, see `io.schema`


OF_TYPE = {"FLOAT": float, "INT": int, "BOOLEAN": bool, "STRING": text}
"""Schemas of the values of Blender's properties, by their types."""


def _schema(type_name: str, choices: Iterable[str] = ()) -> Any:
    """The schema of a property's value."""
    names = frozenset(choices)
    return (lambda value: type(value) is str and value in names) if names else OF_TYPE[type_name]


def _ours(group: type[Group], owner: str, *names: str) -> dict[str, Row]:
    """Rows of properties of one of our groups, which an object or scene has under the name `owner`."""
    found = {}
    for name in names:
        kind = group.__annotations__[name]
        type_name = kind.function.__name__.removesuffix("Property").upper().replace("BOOL", "BOOLEAN")
        choices = [item[0] for item in kind.keywords.get("items", ())]
        found[name] = Row((f"{owner}.{name}",), kind.keywords["name"], _schema(type_name, choices))
    return found


def _blenders(struct: type[bpy.types.bpy_struct], owner: str, *names: str) -> dict[str, Row]:
    """Rows of Blender's own properties."""
    found = {}
    for name in names:
        known: Any = struct.bl_rna.properties[name]
        paths = tuple(f"{owner}.{each}" for each in (name, *SHARED.get(name, ())))
        choices = [item.identifier for item in known.enum_items] if known.type == "ENUM" else ()
        found[name] = Row(paths, known.name, _schema(known.type, choices))
    return found


SHARED = {
    "strength": ("linear_drag",),
    "size": ("rest_length",),
    "harmonic_damping": ("quadratic_drag",),
    "flow": ("inflow",),
}
"""Settings of a force field that Blender stores in one place with others, which have other names for other types."""

_VECTOR, _WEIGHTS = (float, float, float), (float,) * len(field_weights.NAMES)

OF_SCENE = _ours(PBD_PG_scene, "pbd", *PARTS["solver"], "settle", "field_reading") | {
    "gravity": Row(("gravity", "use_gravity"), "Gravity", _VECTOR),
    "floor": Row(("pbd.use_floor", "pbd.floor_height", "pbd.floor_friction"), "Floor", (bool, float, float)),
    "frame_seconds": Row(
        ("pbd.speed", "render.fps", "render.fps_base"),
        "Speed or frame rate",
        lambda value: fits(value, float) and 0.0 < value < 1e6,
    ),
    "wind": Row(("pbd.wind_",), "Wind", (float, _VECTOR, float, float, int, int, bool)),
}
OF_OBJECT = _ours(PBD_PG_object, "pbd", *PARTS["material"], *PARTS["maps"]) | {
    "field_weights": Row(("pbd.field_weights",), "Field Weights", _WEIGHTS),
    "fields": Row((), "Effector Collection", lambda value: value is None or fits(value, [text])),
}
TABLE: dict[type[RawSettings], dict[str, Row]] = {
    SceneSettings: OF_SCENE,
    ObjectSettings: OF_OBJECT,
    ColliderSettings: _ours(PBD_PG_collider, "pbd_collider", *COLLIDER_FIELDS),
    FieldSettings: _blenders(bpy.types.FieldSettings, "field", *FIELD_FIELDS)
    | {"texture": Row(("field.texture",), bpy.types.FieldSettings.bl_rna.properties["texture"].name, text)},
    AbsorberSettings: _blenders(bpy.types.CollisionSettings, "collision", "absorption"),
}
"""All settings that a simulation depends on, by record."""


def schema_of(kind: type[RawSettings]) -> tuple:
    """The schema of a record in a file."""
    rows = TABLE[kind]
    return tuple(
        tuple(rows[each].schema for each in PARTS[name]) if name in PARTS else rows[name].schema
        for name in kind._fields
    )


def values_of(record: RawSettings) -> dict[str, Any]:
    """The values of a record, by setting."""
    found: dict[str, Any] = {}
    value: Any
    for name, value in zip(record._fields, record, strict=True):
        found |= zip(PARTS[name], value, strict=True) if name in PARTS else {name: value}
    return found


def row_of(record: RawSettings, setting: str) -> Row:
    """What is known of a setting in a record."""
    return TABLE[type(record)][setting]


def differences(before: RawSettings, now: RawSettings) -> list[str]:
    """The settings in which two records of the same kind differ."""
    if before == now:
        return []
    others = values_of(before)
    return [name for name, value in values_of(now).items() if value != others[name]]


# ------------------------------------------------------------------------------------------ reading


_material_values = operator.attrgetter(*PARTS["material"])
_map_values = operator.attrgetter(*PARTS["maps"])
_solver_values = operator.attrgetter(*PARTS["solver"])
_collider_values = operator.attrgetter(*COLLIDER_FIELDS)
_field_values = operator.attrgetter(*FIELD_FIELDS)
_weights = operator.attrgetter(*field_weights.NAMES)


def _others_of(group: type[Group], left_out: Collection[str] = ()) -> Callable[[Group], tuple]:
    """A getter of the other properties of one of our groups, except pointers and computed ones."""
    kinds = {name: kind for name, kind in group.__annotations__.items() if "get" not in kind.keywords}
    vectors = [name for name, kind in kinds.items() if kind.function is bpy.props.FloatVectorProperty]
    pointers = [name for name, kind in kinds.items() if kind.function is bpy.props.PointerProperty]
    numbers = operator.attrgetter(*(name for name in kinds if name not in {*vectors, *pointers, *left_out}))
    # What Blender returns for a vector changes with it.
    return lambda owner: (numbers(owner), [tuple(getattr(owner, name)) for name in vectors])


_others_of_object = _others_of(PBD_PG_object, (*PARTS["material"], *PARTS["maps"]))
everything_of_scene = _others_of(PBD_PG_scene)
"""All that a ``Scene.pbd`` holds, but for what it points to."""


class Stored(NamedTuple):
    """All that ``Object.pbd`` and ``Object.pbd_collider`` hold, but for what they point to."""

    settings: ObjectSettings  # without a collection of fields
    others: tuple


def stored(obj: Object) -> Stored:
    """What an object's groups of settings hold; read again where they are animated, or may have been set since."""
    pbd, pbd_collider = obj.pbd, obj.pbd_collider
    # A script can put a setting back to its default, of which nobody is told: then one less is kept.
    count = len(pbd.keys()), len(pbd.field_weights.keys()), len(pbd_collider.keys())
    before: object
    found: Any
    before, found = known.get(obj.session_uid, (None, None))
    if found is None or before != count or obj.animation_data is not None:
        settings = ObjectSettings(_material_values(pbd), _map_values(pbd), _weights(pbd.field_weights), None)
        found = Stored(settings, (_others_of_object(pbd), _collider_values(pbd_collider)))
        known[obj.session_uid] = count, found
        if obj.animation_data is not None:
            del known[obj.session_uid]  # It may be another once nothing animates it any more.
    return found


def raw_material(obj: Object) -> ObjectSettings:
    """The material, maps and field weights of an object."""
    settings, collection = stored(obj).settings, obj.pbd.field_weights.collection
    if collection is None:
        return settings
    names = sorted(obj.name for obj in collection.all_objects if fields.is_field(obj))
    return settings._replace(fields=tuple(names))


def raw_field(field: bpy.types.FieldSettings) -> FieldSettings:
    """The settings of one of Blender's force fields."""
    texture = field.texture
    return FieldSettings._make((*_field_values(field), "" if texture is None else texture.name))


def raw_absorber(obj: Object) -> AbsorberSettings:
    """The share of a field that an object takes: that of its Collision modifier, or all as one of our colliders."""
    return AbsorberSettings(obj.collision.absorption if fields.is_marked(obj) else 1.0)


def raw_collider(pbd_collider: PBD_PG_collider) -> ColliderSettings:
    """The settings of an ``Object.pbd_collider``."""
    return ColliderSettings._make(_collider_values(pbd_collider))


def default_collider() -> ColliderSettings:
    """The settings of a collider that is not marked as one: the defaults."""
    known: Any = PBD_PG_collider.bl_rna.properties
    return ColliderSettings._make(known[name].default for name in COLLIDER_FIELDS)


def raw_scene(scene: Scene) -> SceneSettings:
    """All settings of a scene that affect the solver."""
    pbd = scene.pbd
    render = scene.render
    return SceneSettings(
        solver=_solver_values(pbd),
        gravity=scene.gravity.to_tuple() if scene.use_gravity else (0.0, 0.0, 0.0),
        settle=pbd.settle,
        floor=Floor(pbd.use_floor, pbd.floor_height, pbd.floor_friction),
        frame_seconds=clean(pbd.speed) * clean(render.fps_base) / render.fps,
        wind=wind.raw_wind(scene),
        field_reading=pbd.field_reading,
    )


def clean(value: Any) -> Any:
    """A setting as it was typed: in 32 bits 0.15 becomes 0.15000000596, and a lower limit may fall below itself."""
    return float(f"{value:.7g}") if isinstance(value, float) else value


def material_from(raw: ObjectSettings, name: str) -> Material:
    """The material of a record from `raw_material`; a `PBDError` names a value that is out of range."""
    with refused(f"{name}: "):
        return Material(**dict(zip(PARTS["material"], map(clean, raw.material), strict=True)))


def maps_from(raw: ObjectSettings) -> dict[str, maps.WeightMap]:
    """The settings of each map in a record from `raw_material`."""
    values: list[Any] = [clean(value) for value in raw.maps]
    return {kind: maps.WeightMap(*values[3 * at : 3 * at + 3]) for at, kind in enumerate(MAPS)}


def collider_from(raw: ColliderSettings) -> dict[str, Any]:
    """The settings of a record from `raw_collider`, by argument of `Collider`."""
    values = dict(zip(COLLIDER_FIELDS, map(clean, raw), strict=True))
    del values["group"]  # It chooses what of the mesh is read.
    values["static_friction"] = max(values["static_friction"], values["friction"])
    return values


def settings_from(raw: SceneSettings, name: str) -> SolverSettings:
    """The solver settings, with gravity [m/s²], of a record from `raw_scene`; a `PBDError` names a wrong value."""
    values = dict(zip(PARTS["solver"], map(clean, raw.solver), strict=True))
    with refused(f"{name}: "):
        return SolverSettings(gravity=tuple(map(clean, raw.gravity)), **values)
