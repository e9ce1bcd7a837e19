"""Files of ours in folders of other people: only what we wrote is written over or deleted, and no link is followed.

A .blend and the folder beside it come from strangers, so that a link there may lead to any file of the user's. What is
opened is a plain file; what is written to has no other name, and a whole file is replaced by another one.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

NEVER = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Flags with which no link is followed, and no pipe waited for. Windows has neither: `is_link` has to do."""

SURROGATE = 0x20000000
"""Bit of a reparse tag that is set where the name stands for another place: of links and junctions of Windows."""


def is_link(path: str | Path) -> bool:
    """Whether a path itself is a link or a junction."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(found.st_mode) or bool(getattr(found, "st_reparse_tag", 0) & SURROGATE)


def check_folder(folder: Path, levels: int) -> None:
    """Raise an `OSError` if a folder, or one of those above it up to so many levels in all, is a link."""
    for part in (folder, *folder.parents)[:levels]:
        if is_link(part):
            raise OSError(errno.ELOOP, f"'{part.name}' is a link, put a folder in its place", str(part))


def open_file(path: str | Path, mode: str) -> BinaryIO:
    """Open a plain file, in binary mode "rb", "r+b" or "xb"; raises `OSError` if it is anything else."""
    name = os.path.basename(path)
    if is_link(path):
        raise OSError(errno.ELOOP, f"'{name}' is a link, put a file in its place", str(path))
    file = open(path, mode, opener=lambda path, flags: os.open(path, flags | NEVER, 0o666))
    found = os.fstat(file.fileno())
    if not stat.S_ISREG(found.st_mode) or (mode != "rb" and found.st_nlink > 1):
        file.close()
        what = "has another name elsewhere" if stat.S_ISREG(found.st_mode) else "is no file"
        raise OSError(errno.EPERM, f"'{name}' {what}, delete it", str(path))
    return file  # type: ignore[return-value]  # binary, by its mode


def read(path: str | Path, most: int) -> bytes:
    """All bytes of a plain file; raises `OSError`, also if there are more than `most`."""
    with open_file(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"'{os.path.basename(path)}' has more than {most / 1e6:.0f} MB", str(path))
        return file.read(size)


def create(path: str | Path, start: bytes) -> BinaryIO:
    """Begin a temporary file; one that was left there begins with `start`, or is empty. Raises `OSError`."""
    try:
        return open_file(path, "xb")
    except FileExistsError:
        with open_file(path, "r+b") as file:
            if not start.startswith(file.read(len(start))):
                raise not_ours(path) from None
        os.remove(path)
        return open_file(path, "xb")


def not_ours(path: str | Path) -> OSError:
    """The error that a file of somebody else is in the way."""
    return OSError(errno.EEXIST, f"'{os.path.basename(path)}' is not ours, move it away", str(path))


def replace(path: Path, data: bytes | memoryview, is_ours: Callable[[Path], bool], lasting: bool = False) -> None:
    """Write a whole file atomically; raises `OSError`, also if there is one that is not ours.

    lasting: Whether to wait until it is on the disk.
    """
    if os.path.lexists(path) and not is_ours(path):
        raise not_ours(path)
    unfinished = path.with_name(f"{path.name}.new")
    with create(unfinished, bytes(data[:4])) as file:
        file.write(data)
        if lasting:
            file.flush()
            os.fsync(file.fileno())
    os.replace(unfinished, path)


def begins_and_ends(path: str | Path, start: bytes, end: bytes = b"") -> bool:
    """Whether a path is a plain file, no link to one, with these bytes at its start and end."""
    try:
        with open_file(path, "rb") as file:
            begins = file.read(len(start)) == start
            size = file.seek(0, os.SEEK_END)
            file.seek(max(size - len(end), 0))
            return begins and file.read() == end if end else begins
    except OSError:
        return False
