"""Atomic writing by Blender's exporters: a complete file replaces the old one, or the old one stays.

Not all exporters report a full disk: Alembic's crashes Blender, USD's leaves a truncated file and reports success.
"""

import contextlib
import errno
import json
import os
import pathlib
import tempfile
import zipfile
from collections.abc import Iterator

from . import own_files

PARTS = {".gltf", ".json", ".usdz"}
"""Formats that contain file names, so they are written under their final names, into a temporary folder."""

CRATE = b"PXR-USDC"
"""Magic number of a binary USD file; byte 16 holds the offset of its table of contents, which is its last part."""


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """Yield a temporary path; what is complete there afterwards replaces `path`, or else an `OSError` is raised."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in PARTS:
        with _replacing_parts(path) as unfinished:
            yield unfinished
        return
    unfinished = f"{stem}.unfinished{extension}"
    if os.path.lexists(unfinished):
        raise OSError(errno.EEXIST, f"'{os.path.basename(unfinished)}' is in the way, move it away")
    own_files.open_file(unfinished, "xb").close()  # Exporters do not report properly if the folder cannot be written.
    try:
        yield unfinished
        _check(unfinished)
        os.replace(unfinished, path)
    finally:
        if os.path.isfile(unfinished):
            os.remove(unfinished)


@contextlib.contextmanager
def _replacing_parts(path: str) -> Iterator[str]:
    """Like `replacing`, for a file with others beside it: either all are replaced or none."""
    folder, name = os.path.split(path)
    with tempfile.TemporaryDirectory(prefix=f"{name}.unfinished-", dir=folder) as held:
        new, old = (os.path.join(held, which) for which in ("new", "old"))
        os.mkdir(new)
        yield os.path.join(new, name)
        _check(os.path.join(new, name))
        found = [os.path.relpath(os.path.join(at, one), new) for at, _, files in os.walk(new) for one in files]
        with contextlib.ExitStack() as undo:
            for part in found:
                if part != name:
                    _move_in(part, new, old, folder, undo)
            os.replace(os.path.join(new, name), path)
            undo.pop_all()


def _move_in(part: str, new: str, old: str, folder: str, undo: contextlib.ExitStack) -> None:
    """Move a file from `new` into a folder; a file it replaces is moved to `old`, and back if `undo` closes."""
    source, kept, target = (os.path.join(place, part) for place in (new, old, folder))
    os.makedirs(os.path.dirname(kept), exist_ok=True)
    own_files.check_folder(pathlib.Path(target).parent, len(pathlib.Path(part).parts) - 1)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isfile(target):
        os.replace(target, kept)
        undo.callback(os.replace, kept, target)
        os.replace(source, target)
    else:
        os.replace(source, target)
        undo.callback(os.remove, target)


def _check(path: str) -> None:
    """Raise an `OSError` if a file is missing or incomplete."""
    if not os.path.isfile(path):
        raise OSError("the folder takes no files")
    if not is_whole(path):
        raise OSError("the disk is full")


def is_whole(path: str) -> bool:
    """Whether a file, with those it refers to, is complete, as far as its format shows."""
    stem, extension = os.path.splitext(path)
    try:
        if extension.lower() == ".gltf":
            with open(path, encoding="utf-8") as file:
                buffers = json.load(file).get("buffers", ())
            return all(os.path.getsize(f"{stem}.bin") == one["byteLength"] for one in buffers)
        if extension.lower() == ".usdz":
            with zipfile.ZipFile(path) as packed, packed.open(packed.infolist()[0]) as layer:
                return _is_whole(layer.read(24), packed.infolist()[0].file_size)
    except (ValueError, KeyError, IndexError, FileNotFoundError, zipfile.BadZipFile):
        return False
    with open(path, "rb") as file:
        return _is_whole(file.read(24), os.path.getsize(path))


def _is_whole(begin: bytes, size: int) -> bool:
    """Whether a file of that size [bytes] is complete, judged by its first 24 bytes."""
    if begin[:8] == CRATE:
        return 0 < int.from_bytes(begin[16:24], "little") < size
    return size > 0
