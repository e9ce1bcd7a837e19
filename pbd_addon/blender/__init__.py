"""The bridge: all of the add-on that talks to Blender, except operators and panels."""

from . import handlers, translations
from .baking import background_bake, command_line
from .settings import presets, properties
from .timeline import backends

PARTS = (translations, properties, presets, handlers, command_line)
PROCESSES = (backends, background_bake)
"""What may have begun a process."""


def register() -> None:
    """Register the parts, in order."""
    for part in PARTS:
        part.register()


def unregister() -> None:
    """Undo `register`, in reverse order."""
    for part in (*PROCESSES, *reversed(PARTS)):
        part.unregister()
