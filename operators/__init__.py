"""The verbs a user can press: each operator checks its input, calls the bridge and reports."""

from __future__ import annotations

from . import apply, attach, bake, body, cache, colliders, pins, playback, presets, primitives, tangles

MODULES = (body, pins, attach, colliders, tangles, primitives, playback, cache, bake, apply, presets)


def register() -> None:
    """Register the operators and their menu rows."""
    for module in MODULES:
        module.register()


def unregister() -> None:
    """Undo `register` in reverse order."""
    for module in reversed(MODULES):
        module.unregister()
