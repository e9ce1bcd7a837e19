"""Where the verbs stand: the sidebar tab "PBD" and the same panels in Properties > Physics.

Panels draw properties and buttons and compute nothing.
"""

from __future__ import annotations

from . import (
    advanced,
    cache,
    collider,
    collisions,
    doctor,
    entry,
    export,
    main,
    maps,
    menus,
    modifiers,
    overlay,
    physical,
    presets,
    pressure,
    shape,
    status,
    timeline,
    times,
    wind,
)

MODULES = (
    presets,
    main,
    status,
    physical,
    shape,
    pressure,
    wind,
    modifiers,
    collisions,
    maps,
    cache,
    export,
    doctor,
    advanced,
    times,
    collider,
    entry,
    menus,
    overlay,
    timeline,
)
"""In the order in which their panels stand; a parent before its sub-panels."""


def register() -> None:
    """Register the panels and their places in Blender's own panels."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Undo `register` in reverse order."""
    for module in reversed(MODULES):
        module.unregister()
