"""Frames of a simulation in a folder: PC2 files for any program, and the data to continue from any frame.

    index.json         first frame, bodies, and for each complete frame the checksums of its parts
    Flag.pc2 …         positions of one body in world space [m], one sample per frame
    frame_000012.npz   other data of frame 12: its exact state and so on

Only frames in the index exist. The index, with checksums, is replaced atomically after all data of a frame have been
written: if a process is killed, half-written data are never read.

The folder may come from anybody. What is read is measured and checked before it is used; what is written over or
deleted is ours, and no link is followed, see `own_files`.
"""

from __future__ import annotations

import contextlib
import errno
import io
import itertools
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from . import own_files, pc2, schema

INDEX = "index.json"
FORMAT = "PBD cloth cache"
VERSION = 3
"""Of the files: others are refused."""

START = f'{{"format":"{FORMAT}",'.encode()
"""Every index of ours begins with this."""

MARK = b"PBD cloth cache: state of one frame"
"""Every file of the other data of a frame ends with this: it is the comment of the archive."""

LEVELS = 3
"""The folder and two above it are made for us, `cache_pbd/FILE/SCENE`: none of them may be a link."""

NAME = re.compile(r"(?![. ])[\w\-. ]{1,250}\.pc2")
OURS = re.compile(r"(index\.json|frame_-?\d{6,9}\.npz)(\.new)?")
"""Names of our files, in addition to those that the index names."""

RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names of devices of Windows, whatever comes after a dot."""

MOST_INDEX = 1 << 23
"""Most bytes of an index: of 200,000 frames of one body, or 50,000 of ten. Read, they take up to 25 times as much."""

MOST_FRAME, MOST_OF_POINT = 1 << 27, 256
"""Most bytes of the other data of a frame, and of each point in addition: state and settings take 60 to 150 bytes a
point, and 128 MB hold the moving surfaces of eleven million vertices."""

MOST_MEMBERS = 1 << 14
"""Most arrays of a frame."""

FRAMES = range(-(1 << 20), (1 << 20) + 1)
"""Blender's frames."""

SHAPE = {
    "format": str,
    "version": int,
    "first": FRAMES,
    "bodies": [(lambda name: type(name) is str and bool(NAME.fullmatch(name)), range(1, 1 << 27))],
    "frames": list,  # rows of numbers: NumPy checks them in less time
    "about": dict,
}
"""Schema of an index."""

ARRAY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(\|[biu]1|<[iu][248]|<f[248])', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,12}, ?)*(?:\d{1,12})?)\), \} *\n",
    re.DOTALL,
)
"""What NumPy writes before the numbers of an array."""


class DamagedError(ValueError):
    """Files are missing, truncated, do not match the index, or say what cannot be; one sentence."""


class OtherVersionError(DamagedError):
    """Files are whole, but another version of this software wrote them in another way."""


class FrameFiles:
    """Consecutive frames in a folder.

    Attributes:
        folder: The folder.
        first: First frame.
        bodies: File name and number of points of each body.
        about: The owner's data about the frames, in JSON types.
        damage: What was left out when the folder was opened, one sentence, or "".
    """

    def __init__(
        self, folder: str | Path, first: int, bodies: Sequence[tuple[str, int]], about: dict[str, Any]
    ) -> None:
        self.folder, self.first, self.bodies, self.about = Path(folder), first, list(bodies), about
        self.damage = ""
        self._checks: list[
            list[int]
        ] = []  # of each frame: CRC-32 of each body's sample, of the file of the rest, and its size

    @classmethod
    def create(cls, folder: str | Path, first: int, bodies: Mapping[str, int], about: dict[str, Any]) -> FrameFiles:
        """Start an empty range of frames in a folder, deleting those that are there.

        Args:
            folder: Created if it does not exist.
            first: Number of the first frame, which will be appended next.
            bodies: Number of points by name.
            about: See the class.

        Raises:
            OSError: It could not be written, or what is there is not ours.
        """
        names: dict[str, str] = {}
        for name in bodies:
            plain = plain_name(name, names)
            names[plain.casefold()] = plain
        files = cls(
            folder, first, [(f"{name}.pc2", count) for name, count in zip(names.values(), bodies.values())], about
        )
        own_files.check_folder(files.folder, LEVELS)
        os.makedirs(folder, exist_ok=True)
        for path, is_ours in _files(files.folder):
            if not is_ours:
                raise own_files.not_ours(path)
        delete(folder)
        for name, count in files.bodies:
            with own_files.open_file(files.folder / name, "xb") as file:
                pc2.write_header(file, pc2.Header(count, 0, float(first)))
        files.write_index()
        return files

    @classmethod
    def open(cls, folder: str | Path) -> FrameFiles:
        """The frames of a folder that are complete by file sizes; checksums are compared when frames are read.

        Raises:
            FileNotFoundError: There is no index.
            OtherVersionError: They are of another version.
            DamagedError: The index is invalid.
            OSError: The index could not be read, or is a link.
        """
        own_files.check_folder(Path(folder), LEVELS)
        index = _read_index(Path(folder))
        files = cls(folder, index["first"], [(name, count) for name, count in index["bodies"]], index["about"])
        files._checks = index["frames"]
        whole = min([len(files._checks), *(files._whole_samples(name, count) for name, count in files.bodies)])
        cut = (
            number for number in range(whole) if _size(files._rest(files.first + number)) < files._checks[number][-1]
        )
        whole = next(cut, whole)
        if whole < len(files._checks):
            files.leave_out(files.first + whole, "cut off or missing")
        return files

    def leave_out(self, frame: int, why: str) -> None:
        """Drop all frames from this one on; the files are not changed."""
        count = len(self._checks)
        self.damage = f"{self.last - frame + 1} of {count} frames are {why}"
        del self._checks[frame - self.first :]

    @property
    def last(self) -> int:
        """Last complete frame; `first` - 1 if there is none."""
        return self.first + len(self._checks) - 1

    @property
    def nbytes(self) -> int:
        """Size of the frames on disk [bytes]."""
        samples = sum(pc2.Header(count).offset(len(self._checks)) for _name, count in self.bodies)
        return samples + sum(checks[-1] for checks in self._checks)

    def append(self, positions: Sequence[np.ndarray], rest: Mapping[str, np.ndarray]) -> None:
        """Append a frame.

        Args:
            positions: (points, 3) of each body [m], stored as float32.
            rest: Other arrays of numbers, by name.

        Raises:
            OSError: It could not be written; earlier frames are intact.
        """
        checks, number = [], len(self._checks)
        for (name, count), points in zip(self.bodies, positions, strict=True):
            with self._open_body(name, count) as file:
                pc2.append(file, pc2.Header(count, number, float(self.first)), points)
            checks.append(zlib.crc32(np.ascontiguousarray(points, "<f4").data))
        packed = pack(rest)
        if len(packed) > self._most:
            raise OSError(errno.EFBIG, f"frame {self.first + number} takes more than {self._most / 1e6:.0f} MB")
        checks += zlib.crc32(packed), len(packed)
        own_files.replace(self._rest(self.first + number), packed, _is_state)
        self._checks.append(checks)
        try:
            self.write_index()
        except OSError:
            del self._checks[number:]
            raise

    def positions(self, frame: int) -> list[np.ndarray]:
        """Positions of each body at a frame, (points, 3) float32 [m].

        Raises:
            DamagedError: They are not what was written, or no numbers.
        """
        found = []
        for (name, count), check in zip(self.bodies, self._checks[frame - self.first]):
            header = pc2.Header(count, len(self._checks), float(self.first))
            try:
                with own_files.open_file(self.folder / name, "rb") as file:
                    points = pc2.read_sample(file, header, frame - self.first)
            except (OSError, ValueError) as error:
                raise DamagedError(f"frame {frame} in {name} cannot be read") from error
            if zlib.crc32(points.data) != check or not np.isfinite(points).all():
                raise DamagedError(f"frame {frame} in {name} is damaged")
            found.append(points)
        return found

    def rest(self, frame: int) -> dict[str, np.ndarray]:
        """The other arrays of a frame, by name.

        Raises:
            DamagedError: They are not what was written, or no arrays of numbers.
        """
        path = self._rest(frame)
        try:
            packed = own_files.read(path, self._most)
        except OSError as error:
            raise DamagedError(f"{path.name} cannot be read") from error
        if zlib.crc32(packed) != self._checks[frame - self.first][-2]:
            raise DamagedError(f"{path.name} is damaged")
        try:
            return unpack(packed)
        except ValueError as error:
            raise DamagedError(f"{path.name} is no frame: {error}") from error

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`; raises `OSError`."""
        gone = range(frame + 1, self.last + 1)
        if not gone:
            return
        del self._checks[frame - self.first + 1 :]
        self.write_index()
        for name, count in self.bodies:
            header = pc2.Header(count, len(self._checks), float(self.first))
            with self._open_body(name, count) as file:
                pc2.write_header(file, header)
                file.truncate(header.offset(header.samples))
        for later in gone:
            if _is_state(self._rest(later)):
                self._rest(later).unlink()

    def write_index(self) -> None:
        """Write the current index atomically; raises `OSError`."""
        index = {
            "format": FORMAT, "version": VERSION, "first": self.first, "bodies": self.bodies, "frames": self._checks,
            "about": self.about,
        }  # fmt: skip
        raw = json.dumps(index, separators=(",", ":")).encode()
        if len(raw) > MOST_INDEX:
            raise OSError(errno.EFBIG, f"'{INDEX}' would have more than {MOST_INDEX / 1e6:.0f} MB")
        own_files.check_folder(self.folder, LEVELS)
        own_files.replace(self.folder / INDEX, raw, _is_index, lasting=True)

    def _rest(self, frame: int) -> Path:
        return self.folder / f"frame_{frame:06d}.npz"

    def _open_body(self, name: str, count: int) -> BinaryIO:
        """A body's file, to be written to; raises `OSError` if it is not ours."""
        own_files.check_folder(self.folder, LEVELS)
        if not _is_body(self.folder / name, count):
            raise own_files.not_ours(self.folder / name)
        return own_files.open_file(self.folder / name, "r+b")

    @property
    def _most(self) -> int:
        """Most bytes of the other data of a frame."""
        return MOST_FRAME + MOST_OF_POINT * sum(count for _name, count in self.bodies)

    def _whole_samples(self, name: str, count: int) -> int:
        """Number of complete samples in a body's file."""
        return max(_size(self.folder / name) - pc2.LAYOUT.size, 0) // (pc2.POINT_BYTES * count)


# ------------------------------------------------------------------------------------------ what is in the files


def pack(arrays: Mapping[str, np.ndarray]) -> memoryview:
    """The file of arrays of numbers, by name: one of NumPy's archives, with our mark."""
    packed = io.BytesIO()
    np.savez(packed, **dict[str, Any](arrays))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.comment = MARK
    return packed.getbuffer()


def unpack(packed: bytes) -> dict[str, np.ndarray]:
    """The arrays of a file of `pack`, by name; raises `ValueError`. They take no more memory than the file."""
    if packed.count(b"PK\1\2") > MOST_MEMBERS:  # before they are listed, which takes more
        raise ValueError("it holds too many arrays")
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            members = archive.infolist()
            if any(one.compress_type != zipfile.ZIP_STORED or one.flag_bits & 1 for one in members):
                raise ValueError("it is compressed")
            if sum(one.file_size for one in members) > len(packed):
                raise ValueError("its arrays overlap")
            return {one.filename.removesuffix(".npy"): _array(archive.read(one)) for one in members}
    except (zipfile.BadZipFile, struct.error, RuntimeError, EOFError, OSError, OverflowError) as error:
        raise ValueError("it is no archive of arrays") from error


def _array(raw: bytes) -> np.ndarray:
    """An array from NumPy's format, read-only; raises `ValueError`.

    It is in the memory of its bytes if it lies there as compiled code expects it: aligned, one row after another.
    """
    found = ARRAY.match(raw)
    if found is None:
        raise ValueError("an array does not hold numbers")
    kind, order, sizes = (group.decode() for group in found.groups())
    shape = [int(size) for size in sizes.split(",") if size.strip()]
    if math.prod(shape) * int(kind[2]) != len(raw) - found.end():
        raise ValueError("an array has another size than it says")
    numbers = np.frombuffer(raw, kind, offset=found.end())
    # Where one is more, NumPy miscounts a mask, and writes beyond what it made room for.
    if kind == "|b1" and numbers.view(np.uint8).max(initial=0) > 1:
        raise ValueError("an array holds bits that are none")
    return np.require(numbers.reshape(shape, order="F" if order == "True" else "C"), requirements=["C", "A"])


def _read_index(folder: Path) -> dict[str, Any]:
    """The index of a folder, whose values fit; raises like `FrameFiles.open`."""
    try:
        index = schema.load(own_files.read(folder / INDEX, MOST_INDEX))
        if type(index) is not dict or index.get("format") != FORMAT:
            raise DamagedError(f"{INDEX} is of another program")
        if index.get("version") != VERSION:
            raise OtherVersionError(f"{INDEX} is of another version")
        wrong = schema.misfit(index, SHAPE, INDEX)
        if not wrong and len({name.casefold() for name, _count in index["bodies"]}) < len(index["bodies"]):
            wrong = f"{INDEX}.bodies"
        if wrong:
            raise DamagedError(f"{wrong} cannot be")
        index["frames"] = _rows(index["frames"], len(index["bodies"]) + 2)
    except DamagedError:
        raise
    except ValueError as error:
        raise DamagedError(f"{INDEX} cannot be read") from error
    if index["first"] + len(index["frames"]) > FRAMES.stop:
        raise DamagedError(f"{INDEX}.frames cannot be")
    return index


def _rows(frames: list[Any], columns: int) -> list[list[int]]:
    """The rows of an index, each of so many whole numbers from 0 to 2^32 - 1 (sizes up to 2^53); or `ValueError`."""
    # One long text would make all rows as long.
    if not set(map(type, frames)) <= {list} or not set(map(type, itertools.chain.from_iterable(frames))) <= {int}:
        raise DamagedError(f"{INDEX}.frames cannot be")
    rows = np.array(frames) if frames else np.zeros((0, columns), int)
    if rows.dtype.kind != "i" or rows.shape[1:] != (columns,) or rows.min(initial=0) < 0:
        raise DamagedError(f"{INDEX}.frames cannot be")
    found: list[list[int]] = rows.tolist()
    return found


def plain_name(name: str, taken: Container[str] = ()) -> str:
    """A name for a file or a folder on any system; different names, also of those `taken` in lower case, stay so."""
    plain = re.sub(r"[^\w\-. ]", "_", name).strip(". ")[:200]
    plain = plain.encode()[:240].decode(errors="ignore")  # Systems take 255 bytes, with what may be added.
    if plain != name or RESERVED.fullmatch(plain) or plain.casefold() in taken:
        plain = f"{plain}_{zlib.crc32(name.encode('utf-8', 'surrogatepass')):08x}".lstrip(". ")
        while RESERVED.fullmatch(plain) or plain.casefold() in taken:
            plain = f"_{plain}"
    return plain


def _size(path: Path) -> int:
    """Size of a file [bytes], -1 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


# ------------------------------------------------------------------------------------------ what is ours


def is_there(folder: str | Path) -> bool:
    """Whether a folder contains frames, damaged or not."""
    return os.path.lexists(Path(folder) / INDEX)


def delete(folder: str | Path) -> list[str]:
    """Delete our files in a folder, the index first, and nothing else; raises `OSError`.

    Returns the names of files that are named like ours and stay, because nothing else says that they are.
    """
    own_files.check_folder(Path(folder), LEVELS)
    left = []
    for path, is_ours in reversed(list(_files(Path(folder)))):
        if is_ours:
            path.unlink()
        else:
            left.append(path.name)
    return left


def copy(source: str | Path, target: str | Path) -> None:
    """Copy our files into another folder, the index last, or none of them; raises `OSError`."""
    own_files.check_folder(Path(target), LEVELS)
    os.makedirs(target, exist_ok=True)
    begun: list[Path] = []
    try:
        for path, is_ours in _files(Path(source)):
            if is_ours:
                with own_files.open_file(path, "rb") as file, own_files.open_file(Path(target) / path.name, "xb") as to:
                    begun.append(Path(target) / path.name)
                    while data := file.read(1 << 20):
                        to.write(data)
    except OSError:
        for path in begun:
            path.unlink(missing_ok=True)
        raise


def _files(folder: Path) -> Iterator[tuple[Path, bool]]:
    """The files of a folder that are named like ours, the index last, and whether they are."""
    if not folder.is_dir():
        return
    bodies, is_damaged = {}, os.path.lexists(folder / INDEX)
    with contextlib.suppress(OSError, ValueError):
        bodies, is_damaged = _bodies_of_any_version(folder), False
    for path in sorted(folder.iterdir(), key=lambda path: (path.name == INDEX, path.name)):
        if path.name in bodies:
            yield path, _is_body(path, bodies[path.name])
        elif OURS.fullmatch(path.name):
            starts = START if path.name.startswith(INDEX) else b"PK"
            if path.suffix == ".new":  # It may be cut off.
                starts = starts[: max(_size(path), 0)]
            # The index of an older version says which frames are its own; they have no mark.
            is_marked = path.name.startswith(INDEX) or path.suffix == ".new" or bool(bodies) or _is_state(path)
            yield path, is_marked and own_files.begins_and_ends(path, starts)
        elif is_damaged and NAME.fullmatch(path.name):  # Nothing says whose it is.
            yield path, False


def _bodies_of_any_version(folder: Path) -> dict[str, int]:
    """Number of points by file name, from the index of any version; raises `OSError` or `ValueError`."""
    index = schema.load(own_files.read(folder / INDEX, MOST_INDEX))
    wrong = type(index) is not dict or index.get("format") != FORMAT
    if wrong or schema.misfit(index.get("bodies"), SHAPE["bodies"], "bodies"):
        raise ValueError("it names no bodies")
    return dict(index["bodies"])


def _is_body(path: Path, count: int) -> bool:
    """Whether a file is a PC2 file of so many points."""
    start = pc2.LAYOUT.pack(pc2.MAGIC, pc2.VERSION, count, 0.0, 0.0, 0)[: len(pc2.MAGIC) + 8]
    return own_files.begins_and_ends(path, start)


def _is_index(path: Path) -> bool:
    return own_files.begins_and_ends(path, START)


def _is_state(path: Path) -> bool:
    """Whether a file has our mark, or was cut off: that is no archive, and of use to nobody."""
    if own_files.begins_and_ends(path, b"PK", MARK):
        return True
    return own_files.begins_and_ends(path, b"PK\3\4"[: max(_size(path), 0)]) and not zipfile.is_zipfile(path)
