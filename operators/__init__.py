"""The verbs a user can press: each operator checks its input, calls the bridge and reports."""

from __future__ import annotations

from . import (
    apply,
    attach,
    background_bake,
    bake,
    body,
    cache,
    colliders,
    export,
    pins,
    playback,
    presets,
    primitives,
    tangles,
)

MODULES = (
    body,
    pins,
    attach,
    colliders,
    tangles,
    primitives,
    playback,
    cache,
    bake,
    background_bake,
    export,
    apply,
    presets,
)


def register() -> None:
    """Register the operators and their menu rows."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Undo `register` in reverse order."""
    for module in reversed(MODULES):
        module.unregister()
