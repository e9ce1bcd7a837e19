"""Files that Blender's exporters write: whole, or not at all, and then the one that was there stays.

Not all exporters say that a disk is full: Alembic's ends Blender, USD's leaves a part of the file and reports success.
"""

import contextlib
import os
import re
import shutil

import bpy

from .errors import PBDError

PARTS = {".gltf", ".usdz"}
"""Files that name others, or themselves, so that they cannot be written under another name first."""

CRATE = b"PXR-USDC"
"""How a binary USD file begins; from byte 16 on it says where its table of contents is, its last part."""

CORNER_BYTES = 12
"""Of a position, or of the normal of a face corner, in one frame."""


def check_room(path, objects, frames):
    """Raise a `PBDError` if the disk is too full for the meshes of these frames.

    Args:
        path: Of the file.
        objects: What is to be written; that which has a mesh counts, with its modifiers.
        frames: How many.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    meshes = [obj.evaluated_get(depsgraph).data for obj in objects if obj.type == "MESH"]
    size = frames * CORNER_BYTES * sum(len(mesh.vertices) + len(mesh.loops) for mesh in meshes)
    free = shutil.disk_usage(os.path.dirname(path)).free
    if free < size:
        raise PBDError(
            f"'{os.path.basename(path)}' may take {size / 1e6:.1f} MB, and the disk has only {free / 1e6:.1f} MB left"
        )


@contextlib.contextmanager
def replacing(path):
    """Give the path to write to; what is there afterwards takes the place of `path` if it is whole.

    Raises:
        OSError: It is not there, or only in part.
    """
    stem, extension = os.path.splitext(path)
    unfinished = path if extension.lower() in PARTS else f"{stem}.unfinished{extension}"
    try:
        yield unfinished
        if not os.path.isfile(unfinished):
            raise OSError("the folder takes no files")
        if not is_whole(unfinished):
            raise OSError("the disk is full")
        if unfinished != path:
            os.replace(unfinished, path)
    finally:
        if unfinished != path and os.path.isfile(unfinished):
            os.remove(unfinished)


def is_whole(path):
    """Whether a file is there to its end, as far as its format tells."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        begin = file.read(24)
    if begin[:8] == CRATE:
        return 0 < int.from_bytes(begin[16:24], "little") < size
    return size > 0


def reason(error):
    """Why an exporter has failed, of what it says: a sentence over lines, or the traceback of a script."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    said = str(error).removeprefix("Error: ")
    if "Traceback" in said:
        known = re.findall(r"\[Errno \d+\] ([^:\n]+)", said)
        return known[-1] if known else "the exporter stopped, the console says where"
    return " ".join(said.split())
