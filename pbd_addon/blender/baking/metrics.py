"""A table of what the simulation says of each frame, as a file."""

import os
import pathlib

import bpy

from ...frames import metrics
from ..errors import PBDError
from ..kinds import Scene
from ..timeline import session
from . import mesh_cache


def write(scene: Scene, path: str) -> int:
    """Write the figures of all simulated frames whose figures are known, as CSV; returns their number.

    They are of those that were simulated since the file was opened, and of what the cache on disk holds.

    Raises a `PBDError` if there are none, or the file cannot be written.
    """
    running = session.get(scene)
    reports = {} if running is None else running.reports
    if not reports:
        raise PBDError("No frame was simulated since the file was opened: press Reset, and play or bake")
    if path.startswith("//") and not bpy.data.filepath:
        raise PBDError("Save the file first, or choose a path that does not begin with //")
    target = mesh_cache.absolute(with_extension(path))
    unfinished = f"{target}.unfinished"
    try:
        pathlib.Path(unfinished).write_text(metrics.table(reports), encoding="utf-8")
        os.replace(unfinished, target)
    except OSError as error:
        raise PBDError(f"'{os.path.basename(target)}' could not be written: {error.strerror or error}") from error
    finally:
        if os.path.isfile(unfinished):
            os.remove(unfinished)
    return len(reports)


def with_extension(path: str) -> str:
    """The path of a table."""
    return path if path.lower().endswith(".csv") else f"{path}.csv"
