"""Pictures of simulated meshes, rendered by real Blender in the studio of the samples."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
sys.path[:0] = [str(ROOT / "sample_blends")]

import make_demo  # noqa: E402
import stage  # noqa: E402

WIDTH = 240
"""Of a picture [px]; its height is three quarters of that."""

SAMPLES = 24
LEVELS = 64
"""Shades of each color: fewer than the eye needs for a small picture, so that its file is small."""

BLUE, RED, YELLOW, GREEN = (0.03, 0.17, 0.45), (0.72, 0.06, 0.05), (0.8, 0.45, 0.02), (0.05, 0.36, 0.12)
GRAY = (0.35, 0.37, 0.4)


class Part(NamedTuple):
    """A mesh in a picture.

    Attributes:
        vertices: (n, 3) [m].
        faces: Polygons.
        kind: "fabric", "rubber" or "wall".
        color: Linear RGB.
    """

    vertices: np.ndarray
    faces: Sequence[Sequence[int]] | np.ndarray
    kind: str
    color: tuple[float, float, float]


View = tuple[tuple[float, float, float], tuple[float, float, float]]
"""Where the camera stands and what it looks at [m]."""


def render(name: str, rows: Sequence[Sequence[Sequence[Part]]], view: View, ground: float = 0.0) -> Path:
    """Save docs/images/figure_`name`.png: rows of pictures, each of some parts, on a floor at height `ground` [m]."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    stage.build((0.34, 0.38, 0.44), warmth=0.4)
    stage.add_camera(*view)
    bpy.data.objects["Backdrop"].location.z = ground
    scene = bpy.context.scene
    scene.render.engine = "CYCLES"
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.exposure = -0.9
    make_demo.prepare(scene, WIDTH, SAMPLES)
    with tempfile.TemporaryDirectory(prefix="pbd-figures-") as scratch:
        scene.render.filepath = str(Path(scratch) / "picture.png")
        pictures = [[_photograph(parts) for parts in row] for row in rows]
    return make_demo.write(IMAGES / f"figure_{name}.png", make_demo.sheet(pictures))


def _photograph(parts: Sequence[Part]) -> np.ndarray:
    """One picture, (height, width, 4) float32."""
    added = [_add(number, part) for number, part in enumerate(parts)]
    bpy.ops.render.render(write_still=True)
    picture = make_demo.read(bpy.context.scene.render.filepath)
    for obj in added:
        bpy.data.objects.remove(obj)
    return np.round(picture * LEVELS) / LEVELS


def _add(number: int, part: Part) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(f"Part {number}")
    mesh.from_pydata(np.asarray(part.vertices, float).tolist(), [], [list(map(int, face)) for face in part.faces])
    obj = stage.new_object(mesh.name, mesh)
    made = {"fabric": stage.fabric, "rubber": stage.rubber, "wall": stage.matte}[part.kind]
    mesh.materials.append(made("Part", part.color))
    if part.kind != "wall":
        stage.soften(obj, thickness=0.0015 if part.kind == "fabric" else 0.0)
    return obj
