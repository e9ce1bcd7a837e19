"""PBD Cloth & Balloons, a Blender extension: position-based cloth and balloons, baked to shape keys.

Nothing is imported before `register` is called, because test runners import this file without Blender.
"""


def _parts():
    from . import operators, panels
    from .pbd_addon import blender

    return blender, operators, panels


def register():
    """Register properties and handlers, then operators, then panels; all of them or none."""
    from contextlib import ExitStack

    with ExitStack() as undo:
        for part in _parts():
            part.register()
            undo.callback(part.unregister)
        undo.pop_all()


def unregister():
    """Undo `register` in reverse order."""
    for part in reversed(_parts()):
        part.unregister()
