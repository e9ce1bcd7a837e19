"""Cloth that the tests bake, and how."""

import bpy

from helpers import scenes
from helpers.scenes import add_key, go

FIRST, LAST = 1, 14


def run(bake, objects, mode, first=FIRST, last=LAST):
    return list(bake.start(bpy.context.scene, objects, mode, first, last))


def flag(name="Flag"):
    """Cloth on a pole that moves, turned and scaled."""
    obj = scenes.add_grid(name)
    scenes.pin(obj, [0, 5, 10, 15])
    obj.scale = (1.5, 0.8, -1.2)
    obj.rotation_euler = (0.5, 0.2, 0.1)
    scenes.animate_location(obj, 1, LAST, (1.0, 0.3, 0.0))
    return obj


def keyed_flag():
    """A flag with animated shape keys of the user's, one of them masked."""
    obj = flag("Keyed")
    wave = add_key(obj, "Wave", (0.0, 0.0, 0.3), [3, 7, 11], value=0.2)
    wave.keyframe_insert("value", frame=1)
    wave.value = 0.9
    wave.keyframe_insert("value", frame=LAST)
    masked = add_key(obj, "Masked", (0.1, 0.0, 0.0), range(20), value=0.7)
    masked.vertex_group = "Pin"
    obj.active_shape_key_index = 2
    go(FIRST)
    return obj
