"""Frames of a simulation in a folder: PC2 files for any program, and the data to continue from any frame.

    index.json         first frame, bodies, and for each complete frame the checksums of its parts
    Flag.pc2 …         positions of one body in world space [m], one sample per frame
    frame_000012.npz   other data of frame 12: velocities and so on

Only frames in the index exist. The index, with checksums, is replaced atomically after all data of a frame have been
written: if a process is killed, half-written data are never read.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import pc2

INDEX = "index.json"
FORMAT = "PBD cloth cache"
VERSION = 1
OURS = re.compile(r"index\.json(\.new)?|frame_-?\d+\.npz")
"""Names of our files, in addition to those that the index names."""


class DamagedError(ValueError):
    """Files are missing, truncated, or do not match the index; one sentence."""


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
            OSError: It could not be written.
        """
        names: dict[str, str] = {}
        for name in bodies:
            plain = re.sub(r"[^\w\-. ]", "_", name).strip(". ") or "body"
            while plain.casefold() in names:
                plain += "_"
            names[plain.casefold()] = plain
        files = cls(
            folder, first, [(f"{name}.pc2", count) for name, count in zip(names.values(), bodies.values())], about
        )
        os.makedirs(folder, exist_ok=True)
        delete(folder)
        for name, count in files.bodies:
            with open(files.folder / name, "wb") as file:
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
            OSError: The index could not be read.
        """
        try:
            index = json.loads((Path(folder) / INDEX).read_text(encoding="utf-8"))
            if index["format"] != FORMAT:
                raise DamagedError(f"{INDEX} is of another program")
            if index["version"] != VERSION:
                raise OtherVersionError(f"{INDEX} is of another version")
            files = cls(
                folder, int(index["first"]), [(str(n), int(c)) for n, c in index["bodies"]], dict(index["about"])
            )
            files._checks = [[int(check) for check in checks] for checks in index["frames"]]
        except DamagedError:
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedError(f"{INDEX} cannot be read") from error
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
            with open(self.folder / name, "r+b") as file:
                pc2.append(file, pc2.Header(count, number, float(self.first)), points)
            checks.append(zlib.crc32(np.ascontiguousarray(points, "<f4").data))
        packed = io.BytesIO()
        np.savez(packed, **dict[str, Any](rest))
        checks += zlib.crc32(packed.getbuffer()), packed.getbuffer().nbytes
        self._rest(self.first + number).write_bytes(packed.getbuffer())
        self._checks.append(checks)
        try:
            self.write_index()
        except OSError:
            del self._checks[number:]
            raise

    def positions(self, frame: int) -> list[np.ndarray]:
        """Positions of each body at a frame, (points, 3) float32 [m].

        Raises:
            DamagedError: They are not what was written.
        """
        found = []
        for (name, count), check in zip(self.bodies, self._checks[frame - self.first]):
            header = pc2.Header(count, len(self._checks), float(self.first))
            try:
                with open(self.folder / name, "rb") as file:
                    points = pc2.read_sample(file, header, frame - self.first)
            except (OSError, ValueError) as error:
                raise DamagedError(f"frame {frame} in {name} cannot be read") from error
            if zlib.crc32(points.data) != check:
                raise DamagedError(f"frame {frame} in {name} is damaged")
            found.append(points)
        return found

    def rest(self, frame: int) -> dict[str, np.ndarray]:
        """The other arrays of a frame, by name.

        Raises:
            DamagedError: They are not what was written.
        """
        path = self._rest(frame)
        try:
            packed = path.read_bytes()
        except OSError as error:
            raise DamagedError(f"{path.name} cannot be read") from error
        if zlib.crc32(packed) != self._checks[frame - self.first][-2]:
            raise DamagedError(f"{path.name} is damaged")
        with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
            return dict(arrays)

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`; raises `OSError`."""
        gone = range(frame + 1, self.last + 1)
        if not gone:
            return
        del self._checks[frame - self.first + 1 :]
        self.write_index()
        for name, count in self.bodies:
            header = pc2.Header(count, len(self._checks), float(self.first))
            with open(self.folder / name, "r+b") as file:
                pc2.write_header(file, header)
                file.truncate(header.offset(header.samples))
        for later in gone:
            self._rest(later).unlink(missing_ok=True)

    def write_index(self) -> None:
        """Write the current index atomically; raises `OSError`."""
        index = {
            "format": FORMAT, "version": VERSION, "first": self.first, "bodies": self.bodies, "frames": self._checks,
            "about": self.about,
        }  # fmt: skip
        unfinished = self.folder / f"{INDEX}.new"
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(index, file, separators=(",", ":"))
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, self.folder / INDEX)

    def _rest(self, frame: int) -> Path:
        return self.folder / f"frame_{frame:06d}.npz"

    def _whole_samples(self, name: str, count: int) -> int:
        """Number of complete samples in a body's file."""
        return max(_size(self.folder / name) - pc2.LAYOUT.size, 0) // max(pc2.POINT_BYTES * count, 1)


def _size(path: Path) -> int:
    """Size of a file [bytes], -1 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def is_there(folder: str | Path) -> bool:
    """Whether a folder contains frames, damaged or not."""
    return os.path.isfile(Path(folder) / INDEX)


def delete(folder: str | Path) -> None:
    """Delete our files in a folder, the index first, and nothing else; raises `OSError`."""
    for path in reversed(_ours(Path(folder))):
        path.unlink()


def copy(source: str | Path, target: str | Path) -> None:
    """Copy our files into another folder, the index last, or none of them; raises `OSError`."""
    os.makedirs(target, exist_ok=True)
    begun: list[Path] = []
    try:
        for path in _ours(Path(source)):
            begun.append(Path(target) / path.name)
            shutil.copyfile(path, begun[-1])
    except OSError:
        for path in begun:
            path.unlink(missing_ok=True)
        raise


def _ours(folder: Path) -> list[Path]:
    """Our files in a folder, the index last."""
    if not folder.is_dir():
        return []
    try:
        bodies = {str(name) for name, _count in json.loads((folder / INDEX).read_text(encoding="utf-8"))["bodies"]}
    except FileNotFoundError:
        bodies = set()
    except (OSError, KeyError, TypeError, ValueError):  # A damaged index names no bodies: take all PC2 files.
        bodies = {path.name for path in folder.glob("*.pc2")}
    found = [path for path in folder.iterdir() if path.name in bodies or OURS.fullmatch(path.name)]
    return sorted((path for path in found if path.is_file()), key=lambda path: (path.name == INDEX, path.name))
