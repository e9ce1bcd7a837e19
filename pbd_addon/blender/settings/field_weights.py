"""How much of the scene's force fields and gravity an object feels: Blender's Field Weights.

Blender's own group of these, `EffectorWeights`, cannot be given to an object by an extension, so this is one with the
same names and texts.
"""

from typing import Any

import bpy

from .field_properties import Link, Real

BLENDERS_NAME = {
    "GRAVITY": "gravity", "ALL": "all", "FORCE": "force", "VORTEX": "vortex", "MAGNET": "magnetic",
    "HARMONIC": "harmonic", "CHARGE": "charge", "LENNARDJ": "lennardjones", "WIND": "wind", "GUIDE": "curve_guide",
    "TEXTURE": "texture", "FLUID_FLOW": "smokeflow", "TURBULENCE": "turbulence", "DRAG": "drag", "BOID": "boid",
}  # fmt: skip
"""The weight of each type of field, of all of them together, and of gravity."""

NAMES = tuple(BLENDERS_NAME.values())


def _weight(name: str) -> Any:
    """A weight with Blender's own name, tooltip and range."""
    known: Any = bpy.types.EffectorWeights.bl_rna
    about = known.properties[name]
    return Real(
        about.name,
        about.description,
        1.0,
        low=about.hard_min,
        high=about.hard_max,
        soft_min=0.0,
        soft_high=1.0,
        subtype="FACTOR",
    )


class PBD_PG_field_weights(bpy.types.PropertyGroup):
    """How much of each type of force field acts."""

    collection: Link("Collection", "Limit effectors to this collection", type=bpy.types.Collection)


PBD_PG_field_weights.__annotations__.update({name: _weight(name) for name in NAMES})
