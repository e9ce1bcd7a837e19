"""Weight maps: vertex groups that scale a setting over the mesh.

Weight w of a group multiplies the setting by low + w (high - low).
"""

from typing import Any, NamedTuple

import numpy as np

from ...bodies.maps import ABOVE_ZERO, MAPS
from ..errors import PBDError
from ..kinds import Object
from ..scene import user_keys
from .field_properties import Real, Text, on_group

LABELS = {
    "stretch": "Stiffness",
    "bend": "Bending",
    "shrink": "Shrink",
    "density": "Density",
    "pressure": "Pressure",
    "friction": "Friction",
    "tear": "Tearing",
    "internal": "Springs",
    "collision": "Object Collisions",
    "self_collision": "Self Collisions",
    "hold": "Hold",
}

ABOUT = {
    "stretch": ("Tension, Compression and Shear", 0.1, "Lace 0.1, a seam 5"),
    "bend": ("Bending", 0.1, "A collar 20, a crease 0.01"),
    "shrink": (
        "the rest length of edges",
        0.8,
        "Below 1 shrinks, above 1 lengthens; can be animated. An elastic band 0.6, a ruffle 1.5",
    ),
    "density": ("Density", 0.2, "A hem with a lead band 5"),
    "pressure": ("the pressure on the skin", 0.0, "A place where nothing blows 0"),
    "friction": ("Friction", 0.0, "A slippery patch 0.1, a rubber sole 3"),
    "tear": ("Tear Strength", 0.0, "A perforated line 0.1, a hem 3; key it to 0 to let go"),
    "internal": ("the stiffness of Internal Springs", 0.0, "Where there should be none 0"),
}
"""For each map: what its factor multiplies, the default factor at weight 0, and typical values."""

CHOOSES = {
    "collision": "Vertex group of what meets obstacles, floor and other cloth: weights from 0.5 on. "
    "A face with a vertex below passes through. None: all of it",
    "self_collision": "Vertex group of what meets the rest of the same cloth: weights from 0.5 on. "
    "A face with a vertex below passes through. None: all of it",
    "hold": "Vertex group of pinned and attached vertices that let go when you key High from 1 to 0: "
    "those of weight 1 at 0.5, lesser weights later, those below 0.5 never",
}
"""Maps that choose, by factors from `TAKES_PART` on, rather than multiply."""

AT_ZERO = {"hold": 1.0}
"""Their factors at weight 0, where that is not 0."""

LEFT_OUT = "vertices take part from 0.5 on. Exchange 0 and 1 to have the group left out; key it to let go"
ABOUT_ENDS = {"hold": "pins hold from 0.5 on. Usually 1; key it to 0 to let go, and to 1 to hold again"}
"""What both factors do, in tooltips."""

LEAST = 1e-3
"""Smallest factor of maps that must be positive."""

FIELDS = tuple(f"{kind}_{part}" for kind in MAPS for part in ("group", "low", "high"))
"""Names of the properties, three per map."""


def properties() -> dict[str, object]:
    """Blender properties by name: for each map a vertex group, and the factors at weights 0 and 1."""
    found: dict[str, object] = {}
    for kind in MAPS:
        limits: dict[str, Any] = {"min": 0.0, "max": 1.0}
        if kind in CHOOSES:
            group, low = CHOOSES[kind], AT_ZERO.get(kind, 0.0)
            factor = f"Factor where the weight is {{weight}}: {ABOUT_ENDS.get(kind, LEFT_OUT)}"
        else:
            target, low, typical = ABOUT[kind]
            group = f"Vertex group that multiplies {target}: by Low at weight 0, by High at weight 1. "
            group += "None: the same everywhere"
            factor = f"Factor on {target} where the weight is {{weight}}. {typical}"
            least = LEAST if kind in ABOVE_ZERO else 0.0
            limits = {"min": least, "soft_max": 10.0, "precision": 3, "step": 0.5}
        found[f"{kind}_group"] = Text(LABELS[kind], group, update=on_group(f"{kind}_group"))
        for part, weight, default in (("low", 0, low), ("high", 1, 1.0)):
            name, description = f"{LABELS[kind]} {part.capitalize()}", factor.format(weight=weight)
            found[f"{kind}_{part}"] = Real(name, description, default, **limits)
    return found


class WeightMap(NamedTuple):
    """The settings of one map."""

    group: str  # its vertex group, or ""
    low: float  # factor at weight 0
    high: float  # factor at weight 1


def groups(settings: dict[str, WeightMap]) -> dict[str, str]:
    """Names of the groups that are set, by map."""
    return {kind: one.group for kind, one in settings.items() if one.group}


def read(obj: Object, names: dict[str, str]) -> dict[str, np.ndarray]:
    """Weights (n,) float32 of the groups of these names, by map; raises a `PBDError` if one is missing."""
    for kind, name in names.items():
        if name not in obj.vertex_groups:
            raise PBDError(
                f"'{obj.name}' has no vertex group '{name}' for its {LABELS[kind]} map: choose another group"
            )
    return {kind: user_keys.read_weights(obj, name) for kind, name in names.items()}


def factors(settings: dict[str, WeightMap], weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The factors (n,) float64 for weights from `read`, by map, for `Simulation.set_maps`."""
    used = {kind: (settings[kind], w.astype(float)) for kind, w in weights.items()}
    return {kind: one.low + (one.high - one.low) * w for kind, (one, w) in used.items()}
