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
    garment,
    grab,
    heat_map,
    import_pattern,
    key_setting,
    links,
    loop,
    maps,
    metrics,
    pins,
    playback,
    presets,
    primitives,
    proxy,
    seams,
    settle,
    test_sheet,
    vertex_animation,
)

MODULES = (
    *(body, garment, pins, maps, seams, creases, colliders, doctor, heat_map, primitives, balloon_text, playback, grab),
    *(settle, catch_up, cache, bake, loop, export, vertex_animation, metrics, apply, presets, key_setting, links),
    *(import_pattern, proxy, test_sheet),
)
HOOKED = (pins, primitives, balloon_text, catch_up, key_setting, import_pattern)
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
