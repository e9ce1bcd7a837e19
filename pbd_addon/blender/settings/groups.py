"""Which settings stand together in the panels, in order, and what they are called there where room is short.

Fields and maps of the engine may name their group themselves, as their `panel`; the panels say where a group stands.
"""

from ...bodies.material import Material
from ...parts import MAPS
from ...settings.solver_settings import SolverSettings
from ..kinds import Group
from .field_properties import shown_fields
from .properties import PBD_PG_object, PBD_PG_scene
from .shown_units import SHOWN_AS

GROUPS: dict[str, tuple[str, ...]] = {
    "quality": ("substeps", "automatic"),
    "accuracy": ("shape_error",),
    "solver": ("speed", "method", "iterations", "kernels"),
    "weight": ("density", "drag"),
    "weight of a solid": ("mass", "drag"),
    "damping": ("resilience", "damping", "stretch_damping", "bend_damping"),
    "damping, PBD": ("damping",),
    "start": ("velocity", "angular_velocity"),
    "volume": ("pressure",),
    "volume, PBD": ("pressure", "k_volume"),
    "overpressure": ("overpressure",),
    "overpressure, PBD": ("overpressure", "k_volume"),
    "attaching": ("attach_slide",),
    "rest": ("rest_shape",),
    "weft": ("warp",),
    "rest object": ("rest_object",),
    "output": ("output",),
    "contact": ("thickness", "friction", "layer", "fit"),
    "contact of a solid": ("thickness", "friction"),
    "floor": ("floor_height", "floor_friction"),
    "collider": ("thickness", "friction", "static_friction", "restitution"),
    "wind": ("wind_speed",),
    "gusts": ("wind_turbulence", "wind_eddy", "wind_seed", "wind_loop"),
    "shelter": ("wind_shelter",),
    "field weights": (
        *("gravity", "all", "force", "vortex", "magnetic", "harmonic", "wind", "turbulence", "drag", "texture"),
        *("charge", "lennardjones", "curve_guide", "smokeflow", "boid"),
    ),
    "range": ("use_range",),
    "range of its own": ("range_start", "range_end"),
    "loop": ("loop_length", "loop_fade", "loop_gap"),
    "store": ("cache_limit", "use_disk_cache"),
    "heat map": ("heat_full",),
}
"""Names of settings of an object, a collider or a scene, by group, where they do not name it themselves."""

SHORT_LABELS = {
    "angular_velocity": "Angular",
    "wind_speed": "Speed",
    "lennardjones": "Lennard-J.",
    **{field.name: field.metadata["short"] for field in shown_fields(Material) if field.metadata["short"]},
}
"""Labels that are shorter than the names of the settings."""


def names(group: str) -> tuple[str, ...]:
    """The settings of a group, in order."""
    fields = (*shown_fields(Material), *shown_fields(SolverSettings))
    own = (field.name for field in fields if field.metadata.get("panel") == group)
    return tuple(dict.fromkeys((*GROUPS.get(group, ()), *own)))


def maps(group: str) -> tuple[str, ...]:
    """The maps that stand below the settings of a group."""
    return tuple(kind for kind, one in MAPS.items() if one.panel == group)


UNITS = {"cache_limit": "MB"} | {
    field.name: SHOWN_AS[field.name].unit if field.name in SHOWN_AS else field.metadata["unit"]
    for settings in (Material, SolverSettings)
    for field in shown_fields(settings)
    if field.metadata["unit"] not in ("", "m", "rad")
}
"""Units that Blender does not show itself, by the name of the setting."""


def unit(owner: Group, name: str) -> str:
    """The unit of a setting of an object or a scene, where Blender does not show it, or ""."""
    return UNITS.get(name, "") if isinstance(owner, PBD_PG_object | PBD_PG_scene) else ""
