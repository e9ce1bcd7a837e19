"""The file format of PC2 point caches, which Blender's Mesh Cache modifier and most 3D programs read.

A file is a header of 32 bytes and then one sample after another: the positions of all points, three 32-bit numbers
each, x y z. All numbers are little-endian. The header: "POINTCACHE2" and a zero byte, version 1 (int32), number of
points (int32), frame of the first sample (float32), frames from one sample to the next (float32), number of samples
(int32). The Mesh Cache modifier ignores the header's frame; its own Frame Start is the frame of the first sample.
Programs read as many samples as the header says, so a file can end with a mark that says who wrote it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from typing import BinaryIO, NamedTuple

import numpy as np

from . import own_files

MAGIC = b"POINTCACHE2\0"
VERSION = 1
LAYOUT = struct.Struct("<12siiffi")
"""Of the header."""

OURS = b"\0PBD Cloth & Balloons"
"""Behind the last sample of the files that `write` has written."""
POINT_BYTES = 12
"""Size of one point in one sample."""


class Header(NamedTuple):
    """The header of a file."""

    points: int  # in each sample
    samples: int = 0
    start: float = 1.0  # frame of the first sample
    rate: float = 1.0  # frames from one sample to the next

    @property
    def sample_bytes(self) -> int:
        """Bytes of one sample."""
        return POINT_BYTES * self.points

    def offset(self, sample: int) -> int:
        """Position of a sample in the file [bytes]; for the one after the last, the end of the file."""
        return LAYOUT.size + sample * self.sample_bytes


def write_header(file: BinaryIO, header: Header) -> None:
    """Write the header over the beginning of an open file."""
    file.seek(0)
    file.write(LAYOUT.pack(MAGIC, VERSION, header.points, header.start, header.rate, header.samples))


def read_header(file: BinaryIO) -> Header:
    """The header of an open file.

    Raises:
        ValueError: It is not a PC2 file, has another version, or is truncated.
    """
    file.seek(0)
    raw = file.read(LAYOUT.size)
    if len(raw) < LAYOUT.size or raw[: len(MAGIC)] != MAGIC:
        raise ValueError("this is no PC2 file")
    _magic, version, points, start, rate, samples = LAYOUT.unpack(raw)
    if version != VERSION:
        raise ValueError(f"PC2 version {version} is not known, only {VERSION}")
    if points < 0 or samples < 0:
        raise ValueError(f"{samples} samples of {points} points cannot be")
    header = Header(points, samples, start, rate)
    size = file.seek(0, os.SEEK_END)
    if size < header.offset(samples):
        raise ValueError(f"the PC2 file has {size} bytes; {samples} samples of {points} points take more")
    return header


def append(file: BinaryIO, header: Header, positions: np.ndarray) -> Header:
    """Append a sample, then count it in the header; returns the new header.

    Args:
        file: Open for reading and writing.
        header: The file's header.
        positions: (points, 3) [m], written as float32.

    Raises:
        ValueError: The shape is wrong.
        OSError: It could not be written; the header then does not count it.
    """
    file.seek(header.offset(header.samples))
    file.write(_sample(header, positions))
    file.flush()
    longer = header._replace(samples=header.samples + 1)
    write_header(file, longer)
    return longer


def read_sample(file: BinaryIO, header: Header, sample: int) -> np.ndarray:
    """Positions of a sample, counted from 0, (points, 3) float32 [m].

    Raises:
        ValueError: There is no such sample, or the file is truncated.
    """
    if not 0 <= sample < header.samples:
        raise ValueError(f"there is no sample {sample}, only {header.samples} from 0")
    file.seek(header.offset(sample))
    raw = file.read(header.sample_bytes)
    if len(raw) < header.sample_bytes:
        raise ValueError(f"the PC2 file ends in sample {sample}")
    return np.frombuffer(raw, "<f4").reshape(-1, 3).astype(np.float32)


def write(path: str, points: int, samples: Iterable[np.ndarray], start: float = 1.0, rate: float = 1.0) -> int:
    """Write a whole file atomically.

    Args:
        path: The file.
        points: Points of each sample.
        samples: Arrays (points, 3) [m], one after another.
        start: Frame of the first sample.
        rate: Frames from one sample to the next.

    Returns:
        The number of samples written.

    Raises:
        ValueError: A sample has another shape.
        OSError: The file could not be written.
    """
    header = Header(points, 0, start, rate)
    unfinished = f"{path}.unfinished"
    file = own_files.create(unfinished, MAGIC)
    try:
        with file:
            write_header(file, header)
            for positions in samples:
                file.write(_sample(header, positions))
                header = header._replace(samples=header.samples + 1)
            file.write(OURS)
            write_header(file, header)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise
    return header.samples


def is_ours(path: str) -> bool:
    """Whether `write` has written a file: its mark comes right after its samples. Never of a link."""
    try:
        with own_files.open_file(path, "rb") as file:
            header = read_header(file)
            file.seek(header.offset(header.samples))
            return file.read(len(OURS) + 1) == OURS
    except (OSError, ValueError):
        return False


def read(path: str) -> tuple[Header, np.ndarray]:
    """Header of a file, and all its samples, (samples, points, 3) float32 [m].

    Raises:
        ValueError: It is not a complete PC2 file.
        OSError: The file could not be read.
    """
    with open(path, "rb") as file:
        header = read_header(file)
        file.seek(LAYOUT.size)
        raw = file.read(header.samples * header.sample_bytes)
    return header, np.frombuffer(raw, "<f4").reshape(header.samples, header.points, 3).astype(np.float32)


def _sample(header: Header, positions: np.ndarray) -> bytes:
    """Positions in the file's format."""
    if np.shape(positions) != (header.points, 3):
        raise ValueError(f"positions must have shape ({header.points}, 3), not {np.shape(positions)}")
    return np.ascontiguousarray(positions, "<f4").tobytes()
