"""Where the verbs stand: the sidebar tab "PBD" and the same panels in Properties > Physics.

Panels draw properties and buttons and compute nothing.
"""

from __future__ import annotations

from . import (
    advanced,
    cache,
    collider,
    collisions,
    entry,
    export,
    main,
    physical,
    presets,
    pressure,
    shape,
    timeline,
    times,
)

MODULES = (
    presets,
    entry,
    collider,
    main,
    physical,
    pressure,
    shape,
    collisions,
    cache,
    export,
    advanced,
    times,
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
