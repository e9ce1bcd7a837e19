"""What goes wrong in the last frame, by its name: which collider squeezes which object, or goes through it."""

from typing import NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..kinds import Object
from .record import Record


class Cause(NamedTuple):
    """What a collider does to an object."""

    name: str  # of the collider
    text: str  # in the user's language: "squeezed by 'Body': 40 vertices"
    vertices: np.ndarray  # (k,) int


def colliders(record: Record, obj: Object) -> list[Cause]:
    """What colliders do to an object at the end of the last frame, the most vertices first."""
    if record.scene_sim is None or record.report is None:
        return []
    found = []
    for name, (inside, through) in record.scene_sim.met_by(obj.session_uid).items():
        line, vertices = iface("Crosses '{name}': {count} vertices"), through
        if record.report.no_room:
            line, vertices = iface("Squeezed by '{name}': {count} vertices"), np.union1d(inside, through)
        elif len(inside) >= len(through):
            line, vertices = iface("Inside '{name}': {count} vertices"), inside
        found.append(Cause(name, line.format(name=name, count=len(vertices)), vertices))
    return sorted(found, key=lambda one: -len(one.vertices))
