"""The folder of the material presets, and the settings that presets contain.

Blender finds the files of shipped ones beside this module, in ``presets/``, one for each of ``pbd_addon.presets``,
which it names; and the user's, which hold values, in the preset folder of the user's profile.
"""

import dataclasses
import os
import zlib
from typing import Any

from ...bodies.material import PRESETS, Material

CLOTH = "pbd_cloth"
BALLOON = "pbd_balloon"

PRESSURE_FIELDS = (
    *("pressure_mode", "pressure", "overpressure", "k_volume"),
    *("gas_density", "pump", "burst_pressure", "burst_strain"),
)
"""Fabric presets do not set these, so a cushion can change its cover and stay inflated."""

PIN_FIELDS = ("hold_pins", "pin_stiffness")
"""These belong to the scene, not to the material."""

SEWING_FIELDS = ("sewing", "closing_time", "sewing_force", "seam_bend", "seam_angle")
"""These belong to the mesh: what is sewn, and how far apart it lies."""

TEAR_FIELDS = ("tear_strength", "join_borders")
"""These belong to the mesh: whether it is split, so that it can tear or part."""

INSIDE_FIELDS = (
    *("internal_springs", "internal_spring_length", "internal_spring_diversion", "internal_spring_normals"),
    *("internal_tension", "internal_compression"),
)
"""These belong to the mesh: what is inside of it."""

RIGID_FIELDS = ("rigid", "mass")
"""These belong to the object: whether it is a solid, and how heavy it is as a whole."""

CONTACT_FIELDS = ("self_collision", "self_distance")
"""These belong to the mesh: whether it folds, and how fine it is."""


def fields(kind: str) -> tuple[str, ...]:
    """Names of the `Material` fields in preset files of the kind `CLOTH` or `BALLOON`."""
    of_mesh = SEWING_FIELDS + TEAR_FIELDS + INSIDE_FIELDS + RIGID_FIELDS + CONTACT_FIELDS
    left_out = PIN_FIELDS + of_mesh + (() if kind == BALLOON else PRESSURE_FIELDS)
    return tuple(field.name for field in dataclasses.fields(Material) if field.name not in left_out)


def apply(pbd: Any, name: str) -> None:
    """Give an ``Object.pbd`` the settings of a shipped preset; another name does nothing."""
    if name in PRESETS:
        material = PRESETS[name]
        kind = CLOTH if material.pressure_mode == "OFF" else BALLOON
        for field in fields(kind):
            setattr(pbd, field, getattr(material, field))
        note(pbd, kind, name)


def note(pbd: Any, kind: str, name: str) -> None:
    """Remember the preset, of this kind and name, that was just applied to an object."""
    pbd.preset, pbd.preset_mark = name, _mark(pbd, kind)


def chosen(pbd: Any) -> tuple[str, bool]:
    """Name of the preset applied last, or "", and whether the material is unchanged since."""
    return pbd.preset, pbd.preset_mark == _mark(pbd, pbd.preset_mark.partition(" ")[0])


def _mark(pbd: Any, kind: str) -> str:
    """A checksum of the settings in presets of this kind."""
    values = [getattr(pbd, name) for name in fields(kind)]
    return f"{kind} {zlib.crc32(repr(values).encode()):08x}"


def register() -> None:
    """Tell Blender the folder that contains `presets/`."""
    from bpy.utils import register_preset_path

    register_preset_path(os.path.dirname(__file__))


def unregister() -> None:
    """Undo `register`."""
    from bpy.utils import unregister_preset_path

    unregister_preset_path(os.path.dirname(__file__))
