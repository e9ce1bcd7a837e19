"""Bodies and garments that are not ours: read from where they are, never copied into the project.

They are looked for in the folder that `PBD_SHARED_DATA` names, else in `../shared/data` beside the repository. Where a
file is missing, `figure` has one of our own making.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = "PBD_SHARED_DATA"
"""Environment variable with the folder."""

FILES = ("cape.npz", "skirt.npz", "shirt_mean_specification.json", "mean_all.obj")

NEAR = Path(__file__).resolve().parents[3] / "shared" / "data"


def find(name: str) -> Path | None:
    """The file of that name, or None where there is none."""
    path = Path(os.environ.get(FOLDER, NEAR)) / name
    return path if path.is_file() else None


class Worn(NamedTuple):
    """A garment on a body that moves, as the add-on hands both to the engine.

    Attributes:
        vertices, rest: Where the garment starts and where it is at rest, (n, 3) [m].
        faces: Its polygons, a list.
        pins: Pinned vertices, by id their weight.
        pin_frames: Where these are at the end of each frame, (frames, k, 3) [m].
        body, triangles: The body, (m, 3) [m] and (t, 3) int.
        body_frames: Where it is at the end of each frame, (frames, m, 3) [m].
        material, collider: Settings of both, by name.
    """

    vertices: np.ndarray
    rest: np.ndarray
    faces: list[list[int]]
    pins: dict[int, float]
    pin_frames: np.ndarray
    body: np.ndarray
    triangles: np.ndarray
    body_frames: np.ndarray
    material: dict[str, Any]
    collider: dict[str, Any]


def read_worn(path: Path) -> Worn:
    """A garment from a file."""
    with np.load(path) as file:
        data = {name: file[name] for name in file.files}
    about = json.loads(str(data["about"]))
    starts = data["starts"].tolist()  # of each polygon, and the end
    faces = [data["corners"][a:b].tolist() for a, b in zip(starts[:-1], starts[1:])]
    return Worn(
        data["vertices"].astype(float), data["rest"].astype(float), faces,
        dict(zip(data["pins"].tolist(), data["pin_weights"].tolist())), data["pin_frames"].astype(float),
        data["collider"].astype(float), data["collider_triangles"], data["collider_frames"].astype(float),
        about["material"], about["collider"],
    )  # fmt: skip


def read_obj(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (t, 3) int of a file of triangles, with z up instead of y."""
    lines = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    x, y, z = np.array([line[1:4] for line in lines if line and line[0] == "v"], float).T
    faces = np.array([[corner.split("/")[0] for corner in line[1:4]] for line in lines if line and line[0] == "f"], int)
    return np.column_stack([x, -z, y]), faces - 1
