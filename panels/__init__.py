"""Where the verbs stand: the sidebar tab "PBD" and the same panels in Properties > Physics.

Panels draw properties and buttons and compute nothing.
"""

from types import ModuleType

import bpy

from . import (
    advanced,
    attach,
    cache,
    collider,
    collisions,
    doctor,
    entry,
    export,
    inflation,
    last_frame,
    loop,
    main,
    maps,
    menus,
    modifiers,
    overlay,
    physical,
    preferences,
    presets,
    pressure,
    shape,
    status,
    timeline,
    wind,
)
from .places import BodyPanel, in_both_places

MODULES = (
    *(preferences, presets, main, status, pressure, physical, shape, attach, inflation, wind, modifiers, collisions),
    *(maps, cache, loop, export, doctor, advanced, last_frame, collider, entry, menus, overlay, timeline),
)
"""In the order in which their panels stand; a parent before its sub-panels."""

HOOKED = (wind, entry, menus, overlay, timeline)
"""Those that also join Blender's own menus and panels, or draw into views."""

REGISTERED = (bpy.types.Panel, bpy.types.Menu, bpy.types.AddonPreferences)


def classes_of(module: ModuleType) -> tuple[type, ...]:
    """The panels and menus of a module."""
    own = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
    ready = [one for one in own if issubclass(one, REGISTERED)]
    return (*ready, *in_both_places(*(one for one in own if issubclass(one, BodyPanel))))


CLASSES = tuple(one for module in MODULES for one in classes_of(module))
"""All panels and menus."""

register_classes, unregister_classes = bpy.utils.register_classes_factory(CLASSES)


def register() -> None:
    """Register the panels and their places in Blender's own panels."""
    register_classes()
    for module in HOOKED:
        module.register()


def unregister() -> None:
    """Undo `register`, in reverse order."""
    for module in reversed(HOOKED):
        module.unregister()
    unregister_classes()
