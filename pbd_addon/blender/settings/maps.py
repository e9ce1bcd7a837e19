"""Weight maps: vertex groups that scale a setting over the mesh.

Weight w of a group multiplies the setting by low + w (high - low).
"""

from typing import Any, NamedTuple

import numpy as np

from ...parts import MAPS
from ..errors import PBDError
from ..kinds import Object
from ..scene import user_keys
from .field_properties import Real, Text, on_group

LEAST = 1e-3
"""Smallest factor of maps that must be positive."""

FIELDS = tuple(f"{kind}_{part}" for kind in MAPS for part in ("group", "low", "high"))
"""Names of the properties, three per map."""


def properties() -> dict[str, object]:
    """Blender properties by name: for each map a vertex group, and the factors at weights 0 and 1."""
    found: dict[str, object] = {}
    for kind, one in MAPS.items():
        limits: dict[str, Any] = {"low": 0.0, "high": 1.0}
        if not one.chooses:
            limits = {"low": LEAST if one.is_positive else 0.0, "soft_high": 10.0, "precision": 3, "step": 0.5}
        found[f"{kind}_group"] = Text(one.label, one.group, update=on_group(f"{kind}_group"))
        for part, weight, default in (("low", 0, one.low), ("high", 1, 1.0)):
            name, description = f"{one.label} {part.capitalize()}", one.factor.format(weight=weight)
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
                f"'{obj.name}' has no vertex group '{name}' for its {MAPS[kind].label} map: choose another group"
            )
    return {kind: user_keys.read_weights(obj, name) for kind, name in names.items()}


def factors(settings: dict[str, WeightMap], weights: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The factors (n,) float64 for weights from `read`, by map, for `Simulation.set_maps`."""
    used = {kind: (settings[kind], w.astype(float)) for kind, w in weights.items()}
    return {kind: one.low + (one.high - one.low) * w for kind, (one, w) in used.items()}
