"""What a frame change costs in Blender, with many cloths or cached frames: the extension is built and installed."""

from __future__ import annotations

import os
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


WARM, LIVE = 4, 20
"""Frames of many cloths that are left out, and that are measured."""

PINS = "Pins"


def many_cloths(count: int, n: int) -> dict[str, float]:
    """CPU time of a frame with so many curtains of n × n vertices in Blender, without contact.

    Returns:
        "cpu": ours, live, with the extension's handlers; "main": of Blender's main thread with its own Cloth on each,
        quality 5; medians [s]. "load": processes that wanted the machine in the last minute.
    """
    sys.path.insert(0, str(ROOT / "tools"))
    import extension

    cpu: dict[bool, list[float]] = {False: [], True: []}
    with extension.installed():
        import bpy

        for is_ours, spent in cpu.items():
            bpy.ops.wm.read_factory_settings(use_empty=True)
            scene = bpy.context.scene
            bpy.ops.preferences.addon_enable(module=extension.PACKAGE)
            cloths = _spread_out(count, n)
            if is_ours:
                scene.pbd.collisions = "OFF"
            for cloth in cloths:
                if is_ours:
                    cloth.pbd.enabled, cloth.pbd.pin_group = True, PINS
                else:
                    settings = cloth.modifiers.new("Cloth", "CLOTH").settings
                    settings.quality, settings.vertex_group_mass = 5, PINS
            start = _lowest(cloths[-1])
            for frame in range(1, 1 + WARM + LIVE):
                begun = time.process_time() if is_ours else time.thread_time()
                scene.frame_set(frame)
                spent.append((time.process_time() if is_ours else time.thread_time()) - begun)
            if not start > _lowest(cloths[-1]):
                raise RuntimeError("the cloths do not fall: nothing was measured")
    middles = {is_ours: float(np.median(spent[WARM:])) for is_ours, spent in cpu.items()}
    return {"cpu": middles[True], "main": middles[False], "load": os.getloadavg()[0]}


def _spread_out(count: int, n: int) -> list:
    """Curtains of n × n vertices in a row, 2 m apart, with their pins in a vertex group."""
    import bpy

    from .curtain import Curtain

    sheet, found = Curtain.of_size(n), []
    for number in range(count):
        mesh = bpy.data.meshes.new("Sheet")
        mesh.from_pydata(sheet.vertices.tolist(), [], sheet.faces.tolist())
        found.append(bpy.data.objects.new(f"Sheet {number}", mesh))
        found[-1].location.x = 2.0 * number
        found[-1].vertex_groups.new(name=PINS).add(list(sheet.pins), 1.0, "REPLACE")
        bpy.context.scene.collection.objects.link(found[-1])
    return found


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
