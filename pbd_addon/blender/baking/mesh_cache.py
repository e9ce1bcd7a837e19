"""A bake outside the mesh: a PC2 file, and the Mesh Cache modifier that plays it."""

import os
import pathlib
import unicodedata
from typing import cast

import bpy
import numpy as np

from ...io import own_files, pc2
from ..errors import PBDError
from ..kinds import Object, Scene
from ..output import output_modifier, shape_keys
from ..scene import marks
from . import baked_keys

MANY_LOOPS = 100_000
"""More loops than there are before frame 0: Blender's frames begin at -1,048,574."""


def choose_paths(scene: Scene, objects: list[Object]) -> dict[int, str]:
    """A file path for each object, by uid, relative to the .blend if the folder is.

    Raises a `PBDError` if the folder is relative, but the .blend was never saved.
    """
    folder = scene.pbd.bake_folder or "//"
    if folder.startswith("//") and not bpy.data.filepath:
        raise PBDError("Save the file first, or choose a Folder that does not begin with //")
    stem = os.path.splitext(os.path.basename(bpy.data.filepath))[0]
    chosen = {obj.session_uid for obj in objects}
    taken = {_alike(path) for obj in bpy.data.objects if obj.session_uid not in chosen for path in files_of(obj)}
    paths = {}
    for obj in objects:
        name = bpy.path.clean_name(f"{stem}_{obj.name}" if stem else obj.name)
        number, path = 1, os.path.join(folder, name + marks.BAKE_SUFFIX)
        # Where something stands that no bake has written, it stays.
        while _alike(path) in taken or (os.path.lexists(absolute(path)) and not pc2.is_ours(absolute(path))):
            number += 1
            path = os.path.join(folder, f"{name}_{number}{marks.BAKE_SUFFIX}")
        taken.add(_alike(path))
        paths[obj.session_uid] = path
    return paths


def _alike(path: str) -> str:
    """What paths have in common that some systems take for the same: "Day" and "day", or "é" in one sign and in two."""
    return unicodedata.normalize("NFC", absolute(path)).casefold()


def absolute(path: str) -> str:
    """The absolute path, for the operating system."""
    return os.path.normpath(bpy.path.abspath(path))


def files_of(obj: Object) -> list[str]:
    """The files that the modifiers of an object play."""
    return [one.filepath for one in output_modifier.players(obj) if one.filepath]


def bake(obj: Object, frames: range, shapes: list[np.ndarray], path: str) -> None:
    """Write the shapes of consecutive frames, with the user's keys, and add a modifier that plays them.

    It comes in the place of our output modifier, if there is one, or before all others; the live key is removed. Raises
    a `PBDError` if the file, a path of `choose_paths`, cannot be written; then the object is unchanged.
    """
    try:
        folder = os.path.dirname(absolute(path))
        if path.startswith("//"):  # It came with the .blend, and what is above that is the user's.
            levels = len(pathlib.Path(os.path.relpath(folder, absolute("//"))).parts)
            own_files.check_folder(pathlib.Path(folder), levels)
        os.makedirs(folder, exist_ok=True)
        pc2.write(absolute(path), len(obj.data.vertices), shapes, float(frames[0]))
    except OSError as error:
        raise PBDError(f"'{path}' could not be written: {error.strerror or error}") from error
    pbd = obj.pbd
    pbd.key_active_index = obj.active_shape_key_index
    shape_keys.drop_live_key(obj)
    pbd.baked = True
    pbd.bake_start, pbd.bake_end = frames[0], frames[-1]
    modifier = cast(bpy.types.MeshCacheModifier, obj.modifiers.new(marks.BAKE_MODIFIER, "MESH_CACHE"))
    modifier.cache_format = "PC2"
    modifier.filepath = path
    # The modifier does not read the header's first frame.
    modifier.frame_start = frames[0]
    pbd.bake_modifier, pbd.bake_file = modifier.name, path
    output_modifier.switch_off_overwritten(obj)
    has_output = output_modifier.find(obj) is not None
    obj.modifiers.move(len(obj.modifiers) - 1, output_modifier.place(obj) if has_output else 0)
    obj.data.update()


def repeat(obj: Object) -> None:
    """Let the modifier of the bake repeat its file before and after its frames, by a driver that needs no Python."""
    pbd, modifier = obj.pbd, find_modifier(obj)
    pbd.made_animation_data = obj.animation_data is None
    modifier.play_mode = "CUSTOM"
    driver = cast(bpy.types.FCurve, modifier.driver_add("eval_frame")).driver
    # Blender's fmod has the sign of the frame: after so many loops there are no frames below 0.
    driver.expression = f"fmod(frame - {pbd.bake_start} + {pbd.bake_loop * MANY_LOOPS}, {pbd.bake_loop})"


def find_modifier(obj: Object) -> bpy.types.MeshCacheModifier | None:
    """The modifier of the bake, even if it was renamed or its file was moved, or None."""
    caches = output_modifier.players(obj)
    by_name = [modifier for modifier in caches if modifier.name == obj.pbd.bake_modifier]
    by_file = [modifier for modifier in caches if absolute(modifier.filepath) == absolute(obj.pbd.bake_file)]
    return next(iter(by_name or by_file), None)


def file_of(obj: Object) -> str:
    """The path of the file of an object's bake, or ""."""
    modifier = find_modifier(obj)
    return str(obj.pbd.bake_file if modifier is None else modifier.filepath)


def delete_bake(obj: Object, with_file: bool) -> None:
    """Remove the modifier, and if `with_file` also the file, unless another object plays it.

    Raises a `PBDError` if the file is none that a bake has written, or could not be removed; the bake is gone anyway.
    """
    modifier, path = find_modifier(obj), file_of(obj)
    if modifier is not None:
        if obj.pbd.bake_loop:
            modifier.driver_remove("eval_frame")
        obj.modifiers.remove(modifier)
    data = obj.animation_data
    if obj.pbd.made_animation_data and data is not None and not (data.action or data.drivers or data.nla_tracks):
        obj.animation_data_clear()
    obj.active_shape_key_index = obj.pbd.key_active_index
    baked_keys.forget(obj)
    if with_file and path:
        _remove_file(path)


def _remove_file(path: str) -> None:
    """Remove a file unless a modifier plays it."""
    players = {_alike(other) for obj in bpy.data.objects for other in files_of(obj)}
    if _alike(path) in players or not os.path.lexists(absolute(path)):
        return
    if not pc2.is_ours(absolute(path)):
        raise PBDError(f"'{path}' stays, because no bake has written it: delete it yourself if you do not need it")
    try:
        os.remove(absolute(path))
    except OSError as error:
        raise PBDError(f"'{path}' could not be removed: {error.strerror or error}") from error


def baked_shape(obj: Object, frame: int) -> np.ndarray:
    """The shape (n, 3) float32 in the file at a frame, or at the nearest one it has.

    Raises a `PBDError` if the file is missing or belongs to another mesh.
    """
    try:
        with open(absolute(file_of(obj)), "rb") as file:
            header = pc2.read_header(file)
            if header.points != len(obj.data.vertices):
                raise ValueError(f"it is of {header.points} vertices")
            sample = frame - obj.pbd.bake_start
            sample = sample % obj.pbd.bake_loop if obj.pbd.bake_loop else np.clip(sample, 0, header.samples - 1)
            return pc2.read_sample(file, header, int(sample))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise PBDError(f"The file of the bake of '{obj.name}' cannot be read: {reason}") from error
