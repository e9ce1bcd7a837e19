"""What a user can do: each operator checks its input, calls the bridge and reports."""

import bpy

from . import (
    apply,
    bake,
    balloon_text,
    body,
    cache,
    catch_up,
    colliders,
    creases,
    doctor,
    export,
    grab,
    heat_map,
    key_setting,
    links,
    maps,
    pins,
    playback,
    presets,
    primitives,
    seams,
    settle,
)

MODULES = (
    *(body, pins, maps, seams, creases, colliders, doctor, heat_map, primitives, balloon_text, playback, grab, settle),
    *(catch_up, cache, bake, export, apply, presets, key_setting, links),
)
HOOKED = (pins, primitives, balloon_text, catch_up, key_setting)
"""Those that also join menus, keys or listeners."""

CLASSES = tuple(
    one
    for module in MODULES
    for one in vars(module).values()
    if isinstance(one, type) and issubclass(one, bpy.types.Operator) and one.__module__ == module.__name__
)
"""All operators."""

register_classes, unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    """Register the operators and their menu rows."""
    register_classes()
    for module in HOOKED:
        module.register()


def unregister() -> None:
    """Undo `register`, in reverse order."""
    for module in reversed(HOOKED):
        module.unregister()
    unregister_classes()
