"""The live shape key, which shows the simulated shape beside the user's shape keys.

It is a relative key of value 1. The effect of the user's keys is subtracted from it, so that the sum that Blender shows
is the simulated shape. It is identified by its mark, whatever its name; `Object.pbd.live_key` has the name.
"""

import bpy
import numpy as np

from ..kinds import KeyBlock, Keys, Object
from ..scene import marks, poses, user_keys
from ..scene.poses import Pose

LIVE_KEY = "PBD"
BASIS = "Basis"


def live_key(obj: Object) -> KeyBlock | None:
    """The live shape key, or None; one that became the reference key, because the Basis was deleted, is not it."""
    keys = obj.data.shape_keys
    if keys is None:
        return None
    noted = keys.key_blocks.get(obj.pbd.live_key)
    if noted is not None and noted.slider_max == marks.LIVE and noted != keys.reference_key:
        return noted
    return next(iter(marks.marked(keys, marks.LIVE)), None)


def ensure_basis(obj: Object) -> None:
    """Give the mesh a Basis; a reference key that was ours becomes the user's."""
    keys = obj.data.shape_keys
    if keys is None:
        marks.mark(obj.shape_key_add(name=BASIS, from_mix=False), marks.BASIS)
    else:
        give_up_reference(keys)


def give_up_reference(keys: Keys) -> None:
    """Unmark the reference key, if it is a live or baked key whose Basis was deleted."""
    reference = keys.reference_key
    if marks.is_marked(reference, marks.LIVE, marks.BAKED):
        marks.give_up(reference)
        reference.name = BASIS


def ensure_live_key(obj: Object) -> KeyBlock:
    """The live shape key; created in the user's shape if there is none."""
    block = live_key(obj)
    if block is None:
        ensure_basis(obj)
        active = obj.active_shape_key_index
        block = obj.shape_key_add(name=LIVE_KEY, from_mix=False)
        obj.active_shape_key_index = active
        marks.mark(block, marks.LIVE)
    if obj.pbd.live_key != block.name:
        obj.pbd.live_key = block.name
    if block.value != 1.0:
        block.value = 1.0
    return block


def write_live_key(obj: Object, positions: np.ndarray, pose: Pose, masks: dict[str, np.ndarray]) -> None:
    """Show world positions (n, 3) float32 [m] as the object's shape, whatever its pose and the user's keys."""
    block = ensure_live_key(obj)
    shape = poses.to_object(positions, pose.matrix)
    if pose.key_values:
        offset = user_keys.user_offset(obj, pose.key_values, masks)
        shape = shape if offset is None else shape - offset
    write_points(obj, block, shape)


def show_user_shape(obj: Object) -> None:
    """Let the live key, if there is one, show the user's shape, because none is simulated."""
    block = live_key(obj)
    if block is not None:
        write_points(obj, block, user_keys.basis_shape(obj))


def write_points(obj: Object, block: KeyBlock, shape: np.ndarray) -> None:
    """Write a shape (n, 3) into a key and update the mesh: otherwise Blender 4.2 shows the old one."""
    block.points.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
    obj.data.update()


def remove_keys(obj: Object, blocks: list[KeyBlock]) -> None:
    """Remove these shape keys of an object; the user's active key stays active."""
    active = obj.active_shape_key_index
    for block in blocks:
        obj.shape_key_remove(block)
    obj.active_shape_key_index = active


def clear(obj: Object) -> None:
    """Remove all keys of a mesh that has some.

    Before Blender 5.0 those of a copied mesh have one user too many, and would stay in the file without a mesh.
    """
    uid = obj.data.shape_keys.session_uid
    obj.shape_key_clear()
    bpy.data.batch_remove([left for left in bpy.data.shape_keys if left.session_uid == uid])


def remove_live_key(obj: Object) -> None:
    """Remove the live key, and the Basis if it is ours and no other key is left."""
    drop_live_key(obj)
    remove_own_basis(obj)


def drop_live_key(obj: Object) -> None:
    """Remove the live key; the Basis stays."""
    remove_keys(obj, marks.marked(obj.data.shape_keys, marks.LIVE))
    obj.pbd.live_key = ""


def give_up_all(obj: Object) -> None:
    """Unmark all shape keys, so that a bake becomes ordinary animation."""
    keys = obj.data.shape_keys
    for block in () if keys is None else keys.key_blocks:
        if marks.is_marked(block, marks.BAKED, marks.BASIS):
            marks.give_up(block)


def remove_own_basis(obj: Object) -> None:
    """Remove the Basis if it is ours and no other key is left; otherwise unmark it."""
    keys = obj.data.shape_keys
    if keys is not None and marks.is_marked(keys.reference_key, marks.BASIS):
        if len(keys.key_blocks) == 1:
            clear(obj)
        else:
            marks.give_up(keys.reference_key)
    obj.data.update()
