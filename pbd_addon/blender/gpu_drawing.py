"""Drawing points and lines of one color in a 3D View. The module `gpu` needs a window, so it is imported late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import gpu

POINT_SIZE = 7.0
"""Diameter of a point [pixels at interface scale 1]: slightly larger than a vertex in Edit Mode."""


def draw_points(places: np.ndarray, color: tuple[float, float, float, float]) -> None:
    """Draw points (n, 3) float32 in world space, in front of everything so that cloth does not hide them."""
    if not len(places):
        return
    import bpy
    import gpu

    gpu.state.point_size_set(POINT_SIZE * bpy.context.preferences.system.ui_scale)
    _draw("POINTS", _shader("POINT_UNIFORM_COLOR"), places, color, depth_test="NONE")


def draw_lines(places: np.ndarray, color: tuple[float, float, float, float]) -> None:
    """Draw lines between consecutive pairs of points (2 n, 3) float32 in world space; objects may hide them."""
    if len(places):
        _draw("LINES", _shader("UNIFORM_COLOR"), places, color, depth_test="LESS_EQUAL")


def _shader(name: str) -> gpu.types.GPUShader:
    """A builtin shader; the one for points exists since Blender 4.4."""
    import gpu

    try:
        return gpu.shader.from_builtin(name)
    except ValueError:
        return gpu.shader.from_builtin("UNIFORM_COLOR")


def _draw(kind: str, shader: gpu.types.GPUShader, places: np.ndarray, color: tuple, depth_test: str) -> None:
    import gpu
    from gpu_extras.batch import batch_for_shader

    positions: Any = np.ascontiguousarray(places)
    batch = batch_for_shader(shader, kind, {"pos": positions})
    shader.uniform_float("color", color)
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set(depth_test)
    batch.draw(shader)
    gpu.state.depth_test_set("NONE")
    gpu.state.blend_set("NONE")
