"""What comes from another .blend: objects and meshes that are linked, and library overrides of them.

Blender saves no shape keys and no attributes that are added to an overridden mesh, so only a mesh of this file can be
simulated. Its object may be an override.
"""

from typing import Any

import bpy

from ..kinds import Object


def problem(obj: Object) -> str:
    """Why nothing of a mesh object's simulation could be saved in this file, and what to do about it, or ""."""
    mesh = obj.data
    if obj.library is not None:
        return f"'{obj.name}' is linked: make a local copy (Object > Relations > Make Local)"
    local = "make it local (Object > Relations > Make Local > Selected Objects and Data)"
    if mesh.library is not None:
        return f"The mesh of '{obj.name}' is linked: {local}"
    if mesh.override_library is not None:
        return f"The mesh of '{obj.name}' is a library override: {local}"
    return ""


def before_save() -> None:
    """Let Blender save the settings of overridden objects.

    Since 5.0 it fails to read an overridden group of settings that does not exist in the object it overrides. To read
    a setting makes the group, there and here.
    """
    for obj in bpy.data.objects:
        if obj.override_library is not None:
            reference: Any = obj.override_library.reference
            for one in (obj, reference):
                _ = one.pbd.enabled, one.pbd_collider.enabled
