"""Pins as a mesh keeps them: vertex groups, and how far from the mesh a hand has left what it pinned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kinds import Object
from ..scene import poses, user_keys
from ..scene.poses import Pose

PIN_OFFSET = "pbd_pin_offset"
"""Attribute of a mesh: how far from its place in the mesh a vertex is pinned, (x, y, z) in object space [m]."""

NEW_GROUPS = {"pin_group": "Pin", "attach_group": "Attach"}
"""Names of the vertex groups that are made for settings of ``Object.pbd``."""


def ensure_group(obj: Object, setting: str) -> Any:
    """The vertex group that one of `NEW_GROUPS` names, made if there is none."""
    name = getattr(obj.pbd, setting) or NEW_GROUPS[setting]
    group = obj.vertex_groups.get(name) or obj.vertex_groups.new(name=name)
    setattr(obj.pbd, setting, group.name)
    return group


def pin_where_they_are(obj: Object, ids: np.ndarray, positions: np.ndarray, pose: Pose) -> None:
    """Pin vertices (m,) int firmly at world positions (m, 3), whatever their place in the mesh."""
    ensure_group(obj, "pin_group").add(ids.tolist(), 1.0, "REPLACE")
    shape = user_keys.user_shape(obj, pose.key_values, user_keys.read_masks(obj))
    offsets = read_offsets(obj.data)
    offsets[ids] = poses.to_object(positions, pose.matrix) - shape[ids]
    write_offsets(obj.data, offsets)


def restore(obj: Object, name: str, weights: np.ndarray, offsets: np.ndarray) -> None:
    """Give pins back their weights (n,), or None for no group, and their offsets (n, 3)."""
    group = obj.vertex_groups.get(obj.pbd.pin_group)
    if group is not None:
        if weights is None:
            obj.vertex_groups.remove(group)
        else:
            group.remove(np.flatnonzero(weights == 0.0).tolist())
            for vertex in np.flatnonzero(weights).tolist():
                group.add([vertex], float(weights[vertex]), "REPLACE")
    obj.pbd.pin_group = name
    write_offsets(obj.data, offsets)


def read_offsets(mesh: Any) -> np.ndarray:
    """How far from their place in the mesh vertices are pinned, (n, 3) float32, object space [m]."""
    offsets = np.zeros((len(mesh.vertices), 3), np.float32)
    attribute = mesh.attributes.get(PIN_OFFSET)
    if attribute is not None and (attribute.data_type, attribute.domain) == ("FLOAT_VECTOR", "POINT"):
        attribute.data.foreach_get("vector", offsets.ravel())
    return offsets


def write_offsets(mesh: Any, offsets: np.ndarray) -> None:
    """Keep offsets (n, 3) with the mesh; none, if all are zero."""
    if not offsets.any():
        forget_offsets(mesh)
        return
    attribute = mesh.attributes.get(PIN_OFFSET) or mesh.attributes.new(PIN_OFFSET, "FLOAT_VECTOR", "POINT")
    attribute.data.foreach_set("vector", np.ascontiguousarray(offsets, np.float32).ravel())


def forget_offsets(mesh: Any) -> None:
    """Hold pins at their places in the mesh again."""
    attribute = mesh.attributes.get(PIN_OFFSET)
    if attribute is not None:
        mesh.attributes.remove(attribute)
