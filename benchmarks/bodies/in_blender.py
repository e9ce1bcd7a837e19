"""Blender's Cloth in the garments of `rows`: its own defaults but for pins, quality 5, self-collision on."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pbd_addon.meshes.mesh import TriMesh, as_polygons

from ..contestants import DEFAULT_QUALITY
from ..stage import Stage
from ..truth.watch import Crossings
from . import figure, shared


def dressed(what: str, own: bool = False, frames: int = 0, patience: float = 600.0) -> dict[str, Any]:
    """A figure walks in a "cape" or a "skirt".

    Returns:
        CPU time of each frame [s], crossings of cloth and with the figure in each, largest strain in each.
    """
    path = None if own else shared.find(f"{what}.npz")
    worn = shared.read_worn(path) if path else figure.worn(what)
    faces, count = np.array(worn.faces), frames or len(worn.body_frames)
    stage = Stage(worn.vertices, faces, count)
    body: Any = stage.add("Figure", worn.body, worn.triangles)
    body.modifiers.new("Collision", "COLLISION")
    group = stage.object.vertex_groups.new(name="Pins")
    pins = np.array(list(worn.pins))
    group.add(pins.tolist(), 1.0, "REPLACE")
    modifier: Any = stage.object.modifiers.new("Cloth", "CLOTH")
    modifier.point_cache.frame_start, modifier.point_cache.frame_end = 1, count + 1
    modifier.settings.vertex_group_mass = "Pins"
    modifier.settings.quality = DEFAULT_QUALITY
    modifier.collision_settings.use_self_collision = True
    own_mesh = TriMesh(worn.rest, as_polygons("faces", worn.faces, len(worn.rest)))
    rest, start = own_mesh.edge_lengths(worn.rest), len(worn.vertices)
    crossings = Crossings(np.concatenate([own_mesh.triangles, worn.triangles + start]), start)
    given = np.repeat(worn.vertices[None], len(worn.pin_frames), axis=0)
    given[:, pins] = worn.pin_frames
    _animate(stage.object, given[:count])
    _animate(body, worn.body_frames[:count])
    stage.show(1)
    found: dict[str, Any] = {"cpu": [], "crossings": [], "hits": [], "strain": []}
    began = time.perf_counter()
    for frame in range(count):
        if time.perf_counter() - began > patience:
            break
        before = time.process_time()
        stage.show(2 + frame)
        found["cpu"].append(time.process_time() - before)
        x = stage.read()
        inner, outer = crossings(np.concatenate([x, worn.body_frames[frame]]))
        found["crossings"].append(inner)
        found["hits"].append(outer)
        found["strain"].append(float(np.abs(own_mesh.edge_lengths(x) / rest - 1.0).max()))
        found["slip"] = float(np.abs(x[pins] - worn.pin_frames[frame]).max())
    return found


def _animate(mesh_object: Any, frames: np.ndarray) -> None:
    """Let a mesh go through places (frames, n, 3) [m] in frames 2, 3 and so on, by absolute shape keys."""
    for x in (None, *frames):
        block = mesh_object.shape_key_add(name="Frame", from_mix=False)
        block.interpolation = "KEY_LINEAR"
        if x is not None:
            block.data.foreach_set("co", x.astype(np.float32).ravel())
    keys = mesh_object.data.shape_keys
    keys.use_relative = False
    for frame, block in enumerate(keys.key_blocks, 1):
        keys.eval_time = block.frame
        keys.keyframe_insert("eval_time", frame=frame)
