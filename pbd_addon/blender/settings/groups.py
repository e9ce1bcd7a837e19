"""Which settings stand together in the panels, in order, and what they are called there where room is short.

Fields and maps of the engine may name their group themselves, as their `panel`; the panels say where a group stands.
"""

from ...bodies.material import Material
from ...parts import MAPS
from ...settings.solver_settings import SolverSettings
from .field_properties import shown_fields

GROUPS: dict[str, tuple[str, ...]] = {
    "quality": ("substeps", "automatic", "speed"),
    "solver": ("method", "iterations", "kernels"),
    "weight": ("density", "drag"),
    "weight of a solid": ("mass", "drag"),
    "stiffness": ("stretch", "compression", "shear", "bend"),
    "stiffness, PBD": ("k_stretch", "k_compression", "k_shear", "k_bend"),
    "bending": ("bend_model", "tethers"),
    "yield": ("bend_yield", "stretch_yield"),
    "yield rate": ("plastic_rate",),
    "damping": ("damping", "stretch_damping", "bend_damping"),
    "damping, PBD": ("damping",),
    "start": ("velocity", "angular_velocity"),
    "volume": ("pressure",),
    "volume, PBD": ("pressure", "k_volume"),
    "overpressure": ("overpressure",),
    "overpressure, PBD": ("overpressure", "k_volume"),
    "gas": ("gas_density",),
    "pump": ("pump",),
    "burst": ("burst_pressure", "burst_strain"),
    "pins": ("pin_stiffness",),
    "holding": ("hold_pins",),
    "attaching": ("attach_slide",),
    "rest": ("rest_shape",),
    "rest object": ("rest_object",),
    "sewing": ("closing_time", "sewing_force", "seam_bend", "seam_angle"),
    "tearing": ("tear_strength",),
    "internal springs": (
        *("internal_spring_length", "internal_spring_diversion", "internal_spring_normals"),
        *("internal_tension", "internal_compression"),
    ),
    "output": ("output",),
    "contact": ("thickness", "friction", "layer"),
    "contact of a solid": ("thickness", "friction"),
    "floor": ("floor_height", "floor_friction"),
    "collider": ("thickness", "friction", "static_friction", "restitution"),
    "wind": ("wind_speed",),
    "gusts": ("wind_turbulence", "wind_eddy", "wind_seed", "wind_loop"),
    "shelter": ("wind_shelter",),
    "air on the surface": ("air_normal", "air_tangent"),
    "air": ("air_density",),
    "field weights": (
        *("gravity", "all", "force", "vortex", "magnetic", "harmonic", "wind", "turbulence", "drag", "texture"),
        *("charge", "lennardjones", "curve_guide", "smokeflow", "boid"),
    ),
    "range": ("use_range",),
    "range of its own": ("range_start", "range_end"),
    "store": ("cache_limit", "use_disk_cache"),
    "heat map": ("heat_full",),
}
"""Names of settings of an object, a collider or a scene, by group."""

SHORT = {
    "bend_model": "Bend Model",
    "bend_yield": "Curvature",
    "stretch_yield": "Strain",
    "plastic_rate": "Rate",
    "damping": "Internal",
    "angular_velocity": "Angular",
    "sewing_force": "Max Force",
    "seam_bend": "Bending",
    "seam_angle": "Angle",
    "internal_spring_length": "Max Length",
    "internal_spring_diversion": "Max Diversion",
    "internal_spring_normals": "Check Normals",
    "wind_speed": "Speed",
    "lennardjones": "Lennard-J.",
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
