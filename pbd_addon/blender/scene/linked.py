"""Linked objects and meshes of other .blend files, and library overrides of them.

Blender does not save shape keys or attributes added to an overridden mesh, so only a local mesh can be simulated. Its
object may be an override.
"""

from typing import Any

import bpy

from ..errors import PBDError
from ..kinds import Object, Scene, ViewLayer


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


def make_override(scene: Scene, layer: ViewLayer, obj: Object) -> Object:
    """A library override of a linked object, or the override that it is, with a mesh of this file: that one plays.

    Where a linked collection holds the object, all of that is overridden. Raises a `PBDError` if Blender makes none.
    """
    if obj.library is not None:
        if any(one.library is None for one in obj.users_collection) or obj in scene.collection.objects[:]:
            made = obj.override_create(remap_local_usages=True)
        else:
            made = _override_collection(scene, layer, obj)
        if made is None:
            raise PBDError(f"Blender makes no override of '{obj.name}': {problem(obj)}")
        obj = made
    mesh = obj.data.copy()
    obj.data = mesh.make_local() if mesh.override_library or mesh.library else mesh
    return obj


def _override_collection(scene: Scene, layer: ViewLayer, obj: Object) -> Object | None:
    """The override of an object in a linked collection, made with all that the collection holds."""
    linked = {one for one in bpy.data.collections if one.library is not None and obj in one.all_objects[:]}
    here = [one for one in (scene.collection, *scene.collection.children_recursive) if one.library is None]
    for root in [one for one in linked if any(one in each.children[:] for each in here)]:
        root.override_hierarchy_create(scene, layer, do_fully_editable=True)
        for parent in [each for each in here if root in each.children[:]]:
            parent.children.unlink(root)  # Blender leaves it beside its override.
        found = [one for one in scene.objects if one.override_library and one.override_library.reference == obj]
        if found:
            return found[0]
    return None


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
