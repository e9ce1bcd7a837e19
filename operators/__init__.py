"""The verbs a user can press: each operator checks its input, calls the bridge and reports."""

from __future__ import annotations

from . import (
    apply,
    attach,
    background_bake,
    bake,
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
    split,
    tangles,
)

MODULES = (
    body,
    pins,
    maps,
    attach,
    seams,
    creases,
    split,
    colliders,
    tangles,
    doctor,
    heat_map,
    primitives,
    playback,
    grab,
    settle,
    catch_up,
    cache,
    bake,
    background_bake,
    export,
    apply,
    presets,
    key_setting,
    links,
)


def register() -> None:
    """Register the operators and their menu rows."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Undo `register` in reverse order."""
    for module in reversed(MODULES):
        module.unregister()
