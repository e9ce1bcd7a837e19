"""The bridge: all of the add-on that talks to Blender, except operators and panels."""

from . import handlers, translations
from .baking import background_bake, command_line
from .settings import presets, properties
from .timeline import backends

PARTS = (translations, properties, presets, backends, handlers, command_line, background_bake)


def register() -> None:
    """Register the parts, in order."""
    for part in PARTS:
        part.register()


def unregister() -> None:
    """Undo `register`, in reverse order."""
    for part in reversed(PARTS):
        part.unregister()
