"""Frames on disk whose content follows from their number, and their writer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pbd_addon.io.frame_files import FrameFiles

POINTS = {"Flag": 7, "Ball": 4}


def shape(frame: int, count: int) -> np.ndarray:
    """What the points of a body are at a frame, (count, 3) float32."""
    return (frame + np.arange(3 * count).reshape(-1, 3) / 64.0).astype(np.float32)


def append(files: FrameFiles) -> None:
    """One more frame."""
    frame = files.last + 1
    velocities = np.full((3, 11), float(frame), np.float32)
    files.append([shape(frame, count) for _name, count in files.bodies], {"v": velocities})


def write(folder: Path, frames: int = 4, first: int = 3) -> FrameFiles:
    """Some frames from `first` on."""
    files = FrameFiles.create(folder, first, POINTS, {"what": "a test"})
    for _ in range(frames):
        append(files)
    return files
