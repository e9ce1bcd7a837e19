"""Wind and Blender's force fields on our cloth: what they do, what takes frames, and what does nothing."""

import math

import bpy
import numpy as np
import pytest
import scenes
from scenes import play

pytestmark = pytest.mark.usefixtures("few_substeps")


def add_field(kind="WIND", strength=5.0, location=(0.0, 0.0, 0.0), **settings):
    """A field that blows along +X, if it has a direction."""
    bpy.ops.object.effector_add(type=kind, location=location, rotation=(0.0, math.pi / 2, 0.0))
    obj = bpy.context.object
    obj.field.strength = strength
    for name, value in settings.items():
        setattr(obj.field, name, value)
    return obj


def add_sail(**settings):
    """A sheet in the YZ plane that hangs by its upper edge."""
    sail = scenes.add_grid("Sail", rx=6, ry=6, height=1.0, **{"air_normal": 1.2, "drag": 0.0} | settings)
    x = np.array([vertex.co for vertex in sail.data.vertices])
    sail.data.vertices.foreach_set("co", x[:, [2, 0, 1]].astype(np.float32).ravel())
    scenes.pin(sail, range(30, 36))
    return sail


def drift(obj, last=6):
    """How far the mean of a shown object has moved along X at a frame [m]."""
    start = scenes.shown(obj)[:, 0].mean()
    play([obj], 1, last)
    return scenes.shown(obj)[:, 0].mean() - start


def test_wind_of_the_scene_blows(extension):
    sail = add_sail()
    bpy.context.scene.pbd.wind_speed = 6.0
    assert drift(sail) > 0.02


def test_wind_blows_along_an_object(extension):
    sail, vane = add_sail(), bpy.data.objects.new("Vane", None)
    bpy.context.scene.collection.objects.link(vane)
    vane.rotation_euler.y = math.pi / 2  # Its -Z is -X.
    bpy.context.scene.pbd.wind_speed, bpy.context.scene.pbd.wind_object = 6.0, vane
    bpy.context.view_layer.update()
    assert drift(sail) < -0.02


@pytest.mark.parametrize("reading", ["PHYSICAL", "CLOTH"])
@pytest.mark.parametrize("kind", ["WIND", "FORCE"])
def test_a_field_moves_cloth(extension, kind, reading):
    sail = add_sail()
    bpy.context.scene.pbd.field_reading = reading
    add_field(kind, location=(-1.0, 0.0, 0.0), strength=20.0)
    assert drift(sail) > 0.02
