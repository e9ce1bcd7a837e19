"""The user's shape keys, which the simulation starts from and does not change.

Blender shows Basis + sum of value * mask * (key - relative key); a mask is a vertex group.
"""

import numpy as np

from ..kinds import Depsgraph, KeyBlock, Mesh, Object
from . import animation, marks
from .arrays import values


def read_points(key_block: KeyBlock) -> np.ndarray:
    """The shape (n, 3) float32 of one shape key."""
    return values(key_block.points, "co", size=3)


def read_vertices(mesh: Mesh) -> np.ndarray:
    """The vertices (n, 3) float32 of a mesh in Object Mode, without its keys, or of an evaluated mesh."""
    if not len(mesh.vertices):
        return np.zeros((0, 3), np.float32)
    return values(mesh.attributes["position"].data, "vector", size=3)


def read_weights(obj: Object, group_name: str, mesh: Mesh | None = None) -> np.ndarray:
    """Weights (n,) float32 of a vertex group, zero outside it; of the object's mesh, or an evaluated one.

    Blender has no bulk access to vertex groups, so this loops; it runs when a simulation is built, not at each frame.
    """
    index, vertices = obj.vertex_groups[group_name].index, (obj.data if mesh is None else mesh).vertices
    members = [(vertex.index, item.weight) for vertex in vertices for item in vertex.groups if item.group == index]
    weights = np.zeros(len(vertices), np.float32)
    if members:
        ids, values = zip(*members, strict=True)
        weights[list(ids)] = values
    return weights


def user_keys(obj: Object) -> list[KeyBlock]:
    """The user's shape keys, without the Basis."""
    keys = obj.data.shape_keys
    if keys is None:
        return []
    return [block for block in keys.key_blocks[1:] if not marks.is_marked(block, marks.LIVE, marks.BAKED)]


def key_values(obj: Object, depsgraph: Depsgraph | None = None) -> dict[str, float]:
    """Nonzero values of the user's keys, by name; as evaluated in `depsgraph` if one is given."""
    keys = obj.data.shape_keys
    if keys is None:
        return {}
    blocks = animation.animated(keys, depsgraph).key_blocks
    values = ((block.name, blocks[block.name].value) for block in user_keys(obj) if not block.mute)
    return {name: value for name, value in values if value != 0.0}


def read_masks(obj: Object) -> dict[str, np.ndarray]:
    """Masks of the user's keys: weights (n,) float32 of their vertex groups, by name of the key."""
    groups = ((block.name, block.vertex_group) for block in user_keys(obj))
    return {name: read_weights(obj, group) for name, group in groups if group in obj.vertex_groups}


def user_offset(obj: Object, values: dict[str, float], masks: dict[str, np.ndarray]) -> np.ndarray | None:
    """The sum of the user's keys at these values, (n, 3) float32, without the Basis; None if it is zero."""
    blocks = obj.data.shape_keys.key_blocks if obj.data.shape_keys else {}
    total = None
    for name, value in values.items():
        block = blocks.get(name)
        if block is None:
            continue
        offset = value * (read_points(block) - read_points(block.relative_key))
        if name in masks:
            offset *= masks[name][:, None]
        total = offset if total is None else total + offset
    return total


def basis_shape(obj: Object) -> np.ndarray:
    """The shape (n, 3) float32 of the Basis, or of the mesh if it has no keys."""
    keys = obj.data.shape_keys
    return read_vertices(obj.data) if keys is None else read_points(keys.reference_key)


def user_shape(obj: Object, values: dict[str, float], masks: dict[str, np.ndarray]) -> np.ndarray:
    """The shape (n, 3) float32 of the user's keys at these values, without the simulation's."""
    offset = user_offset(obj, values, masks)
    return basis_shape(obj) if offset is None else basis_shape(obj) + offset
