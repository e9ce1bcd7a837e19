"""Pins as stored in a mesh: vertex groups, and the offsets of vertices that were pinned by grabbing."""

from typing import Any

import bpy
import numpy as np

from ..kinds import Mesh, Object
from ..scene import poses, user_keys
from ..scene.arrays import values
from ..scene.poses import Pose

PIN_OFFSET = "pbd_pin_offset"
"""Mesh attribute: offset of a pin from the vertex's position in the mesh, (x, y, z) in object space [m]."""

NEW_GROUPS = {"pin_group": "Pin", "attach_group": "Attach"}
"""Names of the vertex groups that are created for settings of ``Object.pbd``."""


def ensure_group(obj: Object, setting: str) -> bpy.types.VertexGroup:
    """The vertex group of a setting in `NEW_GROUPS`, created if there is none."""
    name = getattr(obj.pbd, setting) or NEW_GROUPS[setting]
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    setattr(obj.pbd, setting, group.name)
    return group


def pin_where_they_are(obj: Object, ids: np.ndarray, positions: np.ndarray, pose: Pose) -> None:
    """Pin vertices (m,) int with weight 1 at world positions (m, 3), wherever they are in the mesh."""
    ensure_group(obj, "pin_group").add(ids.tolist(), 1.0, "REPLACE")
    shape = user_keys.user_shape(obj, pose.key_values, user_keys.read_masks(obj))
    offsets = read_offsets(obj.data)
    offsets[ids] = poses.to_object(positions, pose.matrix) - shape[ids]
    write_offsets(obj.data, offsets)


def restore(obj: Object, name: str, weights: np.ndarray, offsets: np.ndarray) -> None:
    """Restore the pin group, its weights (n,), or None to remove the current group, and the offsets (n, 3)."""
    group: bpy.types.VertexGroup | None = obj.vertex_groups.get(obj.pbd.pin_group)
    if group is not None:
        if weights is None:
            obj.vertex_groups.remove(group)
        else:
            group.remove(np.flatnonzero(weights == 0.0).tolist())
            for vertex in np.flatnonzero(weights).tolist():
                group.add([vertex], float(weights[vertex]), "REPLACE")
    obj.pbd.pin_group = name
    write_offsets(obj.data, offsets)


def read_offsets(mesh: Mesh) -> np.ndarray:
    """Offsets (n, 3) float32 of pins from their positions in the mesh, object space [m]."""
    attribute: bpy.types.FloatVectorAttribute | None = mesh.attributes.get(PIN_OFFSET)
    if attribute is not None and (attribute.data_type, attribute.domain) == ("FLOAT_VECTOR", "POINT"):
        return values(attribute.data, "vector", size=3)
    return np.zeros((len(mesh.vertices), 3), np.float32)


def write_offsets(mesh: Mesh, offsets: np.ndarray) -> None:
    """Store offsets (n, 3) in the mesh, or remove the attribute if all are zero."""
    if not offsets.any():
        forget_offsets(mesh)
        return
    attribute: Any = mesh.attributes.get(PIN_OFFSET) or mesh.attributes.new(PIN_OFFSET, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.ascontiguousarray(offsets, np.float32).ravel())


def forget_offsets(mesh: Mesh) -> None:
    """Remove the offsets, so that pins stay at their positions in the mesh."""
    attribute: bpy.types.FloatVectorAttribute | None = mesh.attributes.get(PIN_OFFSET)
    if attribute is not None:
        mesh.attributes.remove(attribute)
