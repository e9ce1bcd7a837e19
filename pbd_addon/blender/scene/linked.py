"""Linked objects and meshes of other .blend files, and library overrides of them.

Blender does not save shape keys or attributes added to an overridden mesh, so only a local mesh can be simulated. Its
object may be an override.
"""

from typing import Any

import bpy

from ..errors import PBDError
from ..kinds import Object


def problem(obj: Object) -> str:
    """Why the simulation of a mesh object could not be saved in this file, and what to do about it, or ""."""
    mesh = obj.data
    if obj.library is not None:
        return f"'{obj.name}' is linked: make a local copy (Object > Relations > Make Local)"
    local = "make it local (Object > Relations > Make Local > Selected Objects and Data)"
    if mesh.library is not None:
        return f"The mesh of '{obj.name}' is linked: {local}"
    if mesh.override_library is not None:
        return f"The mesh of '{obj.name}' is a library override: {local}"
    return ""


def check(obj: Object) -> None:
    """Raise a `PBDError` if the simulation of a mesh object could not be saved in this file."""
    sentence = problem(obj)
    if sentence:
        raise PBDError(sentence)


def before_save() -> None:
    """Make the settings of overridden objects safe to save.

    Since 5.0 Blender fails to read an overridden property group that does not exist in the reference object. Reading a
    setting creates the group in both.
    """
    for obj in bpy.data.objects:
        if obj.override_library is not None:
            reference: Any = obj.override_library.reference  # None if the library has lost it
            for one in filter(None, (obj, reference)):
                _ = one.pbd.enabled, one.pbd_collider.enabled
