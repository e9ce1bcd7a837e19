"""The live shape key, which shows the simulated shape beside the shape keys of the user.

It is a relative key of value 1. What the user's own keys add to the basis is taken off it, so that the sum that
Blender shows is the simulated shape.
"""

import bpy
import numpy as np

from ..scene import poses, user_keys

LIVE_KEY = "PBD"
BASIS = "Basis"


def live_key(obj):
    """The live shape key, or None."""
    keys = obj.data.shape_keys
    return None if keys is None or not obj.pbd.live_key else keys.key_blocks.get(obj.pbd.live_key)


def ensure_basis(obj):
    """Give the mesh a basis key to lean on; it is remembered whether it is ours."""
    if obj.data.shape_keys is None:
        obj.shape_key_add(name=BASIS, from_mix=False)
        obj.pbd.made_basis = True


def ensure_live_key(obj):
    """The live shape key; made, in the user's shape, if there is none."""
    block = live_key(obj)
    if block is None:
        ensure_basis(obj)
        active = obj.active_shape_key_index
        block = obj.shape_key_add(name=LIVE_KEY, from_mix=False)
        obj.active_shape_key_index = active
        obj.pbd.live_key = block.name
    if block.value != 1.0:
        block.value = 1.0
    return block


def write_live_key(obj, positions, pose=None, masks=None):
    """Show world positions (n, 3) float32 [m] as the object's shape, whatever its pose and its own keys."""
    if pose is None:
        pose = poses.read_last_pose(obj)
    block = ensure_live_key(obj)
    shape = poses.to_object(positions, pose.matrix)
    if pose.key_values:
        offset = user_keys.user_offset(obj, pose.key_values, user_keys.read_masks(obj) if masks is None else masks)
        shape = shape if offset is None else shape - offset
    write_points(obj, block, shape)


def show_user_shape(obj):
    """Let the live key, if there is one, show what the user made: nothing is simulated at this moment."""
    block = live_key(obj)
    if block is not None:
        write_points(obj, block, user_keys.basis_shape(obj))


def write_points(obj, block, shape):
    """Write a shape (n, 3) into a key, and tell Blender: without the update 4.2 shows the old mesh."""
    block.points.foreach_set("co", np.ascontiguousarray(shape, np.float32).ravel())
    obj.data.update()


def remove_keys(obj, names):
    """Remove the keys of these names; the user's active key stays active."""
    keys = obj.data.shape_keys
    if keys is None:
        return
    gone = [block for block in keys.key_blocks if block.name in names]
    if len(gone) == len(keys.key_blocks):
        clear(obj)
        return
    active = obj.active_shape_key_index
    for block in gone:
        obj.shape_key_remove(block)
    obj.active_shape_key_index = active


def clear(obj):
    """Remove all keys of a mesh that has some.

    Until Blender 5.0 those of a copied mesh count as used twice, and stay in the file without a mesh.
    """
    uid = obj.data.shape_keys.session_uid
    obj.shape_key_clear()
    bpy.data.batch_remove([left for left in bpy.data.shape_keys if left.session_uid == uid])


def remove_live_key(obj):
    """Take back the live key, and the basis if it was ours and nothing else leans on it."""
    remove_keys(obj, {obj.pbd.live_key} - {""})
    obj.pbd.live_key = ""
    remove_own_basis(obj)


def remove_own_basis(obj):
    """Take back the basis, if it was ours and no other key is left."""
    keys = obj.data.shape_keys
    if obj.pbd.made_basis and keys is not None and len(keys.key_blocks) == 1:
        clear(obj)
    if obj.data.shape_keys is None or len(obj.data.shape_keys.key_blocks) > 1:
        obj.pbd.made_basis = False
    obj.data.update()
