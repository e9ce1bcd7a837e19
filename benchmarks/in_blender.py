"""What a frame change costs in Blender when our frames are cached: the extension is built, installed and measured."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CACHED = range(1, 6)
"""Frames that are simulated before anything is measured."""

REPEATS = 200


def cached_frame(n: int) -> dict[str, float]:
    """Wall time of Blender's change of a frame with a cached sheet of n × n vertices.

    Returns:
        "empty": with the extension at rest and the same mesh in the scene [s]; "cached": with our handler, which
        shows a cached frame [s]; "above": the difference [s]. All are medians.
    """
    sys.path.insert(0, str(ROOT / "tools"))
    import extension

    with extension.installed():
        import bpy

        from .curtain import Curtain

        bpy.ops.wm.read_factory_settings(use_empty=True)
        bpy.ops.preferences.addon_enable(module=extension.PACKAGE)
        scene = bpy.context.scene
        sheet = Curtain.of_size(n)
        mesh = bpy.data.meshes.new("Sheet")
        mesh.from_pydata(sheet.vertices.tolist(), [], sheet.faces.tolist())
        cloth = bpy.data.objects.new("Sheet", mesh)
        scene.collection.objects.link(cloth)
        empty = _median(scene)
        scene.pbd.substeps = 1
        cloth.pbd.enabled = True
        start = _lowest(cloth)
        for frame in CACHED:
            scene.frame_set(frame)
        cached = _median(scene)
        moved = start - _lowest(cloth)
    if not moved > 0.0:
        raise RuntimeError("the sheet does not fall: nothing of ours was measured")
    return {"vertices": n * n, "empty": empty, "cached": cached, "above": cached - empty}


def _median(scene) -> float:
    """Time of a change to one of the cached frames [s]."""
    times = []
    for turn in range(REPEATS):
        frame = CACHED[1 + turn % (len(CACHED) - 1)]
        start = time.perf_counter()
        scene.frame_set(frame)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _lowest(obj) -> float:
    """Height of the lowest vertex that Blender shows [m]."""
    import bpy

    mesh = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    x = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", x)
    return float(x[2::3].min())
