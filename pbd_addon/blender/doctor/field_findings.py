"""Sentences on wind and force fields that do nothing, for panels: quick, and only about what is there."""

import math

from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object, Scene
from ..scene.fields import is_field
from ..settings import raw_settings

IDLE = {
    "GUIDE": "Curve Guide",
    "BOID": "Boid",
    "CHARGE": "Charge",
    "LENNARDJ": "Lennard-Jones",
    "FLUID_FLOW": "Fluid Flow",
}
"""Types of fields that do nothing to cloth, as Blender calls them."""

MOST_TOLD = 3
"""So many sentences at most."""


def wind(obj: Object, scene: Scene) -> list[str]:
    """What is to be said of an object and the wind of its scene."""
    if scene.pbd.wind_speed and not (obj.pbd.air_normal or obj.pbd.air_tangent):
        return [iface("'{name}' feels no wind: raise Air Across").format(name=obj.name)]
    return []


def fields(obj: Object, scene: Scene) -> list[str]:
    """What is to be said of the force fields of a scene that do not act on an object."""
    found = []
    for one in scene.objects:
        if not is_field(one):
            continue
        raw = raw_settings.raw_field(one.field)
        if one == obj:
            found.append(iface("'{name}' does not feel its own field").format(name=one.name))
        elif raw.type in IDLE:
            idle = iface("'{name}': {type} fields do nothing to cloth")
            found.append(idle.format(name=one.name, type=iface(IDLE[raw.type])))
        elif not all(math.isfinite(value) for value in raw if isinstance(value, float)):
            found.append(iface("'{name}' has a value that is no finite number: it is left out").format(name=one.name))
        elif raw.type == "TEXTURE" and not raw.texture:
            found.append(iface("'{name}' has no texture: choose one").format(name=one.name))
        elif raw.type == "WIND" and scene.pbd.field_reading == "PHYSICAL" and not obj.pbd.air_normal:
            found.append(iface("'{name}' feels no wind: raise Air Across").format(name=obj.name))
        if len(found) == MOST_TOLD:
            break
    return list(dict.fromkeys(found))
