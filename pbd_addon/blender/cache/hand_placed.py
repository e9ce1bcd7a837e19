"""Where a hand has put objects: those that hold pins, those that cloth is attached to, and colliders."""

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..errors import PBDError
from ..scene import animation, surfaces, user_keys
from ..scene.scene_objects import find
from ..scene.simulated_range import shown_frame

TRANSFORM = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class Shown:
    """The frame that was shown last: where things stood at it, and what was edited since.

    Attributes:
        frame: The frame.
        standing: Where colliders stood, by uid.
        holding: Where objects with pins, and what vertices are attached to, stood, by uid.
        carried: Transforms of what a parent or constraint places too, by uid.
        recast: Whether there may be other colliders since.
        edits: Why what was edited since and has another shape, or is carried elsewhere, takes frames, by uid.
    """

    def __init__(self, running, scene, frame, obstacles):
        self.frame = frame
        self.standing = standing(obstacles)
        self.holding = holding(running, scene) if running.world else {}
        self.carried = carried(running, scene) if running.world else {}
        self.recast = False
        self.edits = {}


def standing(objects):
    """Where a hand has put original objects, by uid: what is comparable of their transforms.

    A channel that is animated goes back to its curve by itself.
    """
    return {obj.session_uid: _stands(obj) for obj in objects}


def _stands(obj):
    if obj.animation_data is None:
        return obj.matrix_basis.copy()
    animated = animation.channels(obj)
    return [
        (path, at, value)
        for path in TRANSFORM
        for at, value in enumerate(getattr(obj, path))
        if (path, at) not in animated and not obj.animation_data.nla_tracks
    ]


def holding(running, scene):
    """Where a hand has put what holds pins or is attached to, and how it has set the keys of pinned objects, by uid."""
    held = {obj.session_uid: (_stands(obj), _set_keys(obj)) for obj in pinned(running, scene)}
    return held | {obj.session_uid: _stands(obj) for obj in _followed(running, scene)}


def _set_keys(obj):
    """How a hand has set the user's keys: values of those that are not animated, by name."""
    keys = obj.data.shape_keys
    if keys is None or keys.animation_data is None:
        return user_keys.key_values(obj)
    animated = {path for path, _ in animation.channels(keys)}
    free = {block.name for block in keys.key_blocks if f"{block.path_from_id()}.value" not in animated}
    return {name: value for name, value in user_keys.key_values(obj).items() if name in free}


def carried(running, scene):
    """Transforms of objects that matter and have a parent or constraints, by uid: as comparable as they stand still."""
    objects = (*running.obstacles(scene), *pinned(running, scene), *_followed(running, scene))
    return {obj.session_uid: obj.matrix_world.copy() for obj in objects if obj.parent is not None or obj.constraints}


def notice_edits(running, scene, depsgraph):
    """Something was edited while a frame is shown: see what stands elsewhere, or has another shape."""
    shown = running.shown
    if running.untouched or shown.frame != shown_frame(scene):
        return
    for uid, matrix in carried(running, scene).items():
        shown.edits.pop(uid, None)
        if shown.carried.get(uid, matrix) != matrix:
            shown.edits[uid] = was_moved(find(scene, uid, "").name)
    edited = (update.id.original for update in depsgraph.updates if update.is_updated_geometry)
    for obj in edited:
        if isinstance(obj, bpy.types.Object) and obj.session_uid in running.surfaces:
            if _has_other_shape(running, scene, obj, depsgraph):
                shown.edits[obj.session_uid] = iface("the shape of '{name}' changed").format(name=obj.name)
            else:
                shown.edits.pop(obj.session_uid, None)


def _has_other_shape(running, scene, obj, depsgraph):
    """Whether what cloth meets or follows is shaped in another way than at the frame that is shown."""
    moment = running.moments.get(running.shown.frame)
    known = None if moment is None else moment.surfaces.get(obj.session_uid)
    if known is None or find(scene, obj.session_uid, obj.name) is None:
        return False
    try:
        now = surfaces.read(obj, depsgraph, known=known)
    except PBDError:
        return True
    return not (now.fits(known) and np.array_equal(now.points, known.points))


def _followed(running, scene):
    """What vertices are attached to, but for colliders."""
    bound = [member.attachment for member in running.world.members if member.attachment is not None]
    found = [find(scene, one.uid, one.surface.name) for one in bound if one.uid not in running.world.obstacles]
    return [obj for obj in found if obj is not None]


def pinned(running, scene):
    """The simulated objects whose own place and shape matters: vertices are pinned to it."""
    return [obj for member, obj in running.world.objects(scene) if len(member.body.pin_ids) and not obj.pbd.baked]


def moves(running, scene):
    """What was moved by hand since the last frame was shown: uids of objects with the ends of sentences.

    The uid is None if it is a collider, or if there are other colliders. What animation has moved stands as it did
    when the frame was shown.
    """
    found, shown = [], running.shown
    obstacles = running.obstacles(scene)
    now = standing(obstacles)
    if now != shown.standing:
        moved = [obj.name for obj in obstacles if shown.standing.get(obj.session_uid) != now[obj.session_uid]]
        found.append((None, was_moved(moved[0]) if moved else iface("there are other colliders")))
    elif shown.recast:
        found.append((None, iface("there are other colliders")))
    for uid, stands in holding(running, scene).items():
        if shown.holding.get(uid, stands) != stands:
            found.append((uid, was_moved(find(scene, uid, "").name)))
    return found + [(None if uid in shown.standing else uid, why) for uid, why in shown.edits.items()]


def was_moved(name):
    """Why frames do not hold any more, of an object that a hand has moved."""
    return iface("'{name}' was moved").format(name=name)


def is_free(obj):
    """Whether nothing but a hand moves an object."""
    return obj.animation_data is None and obj.parent is None and not obj.constraints


def is_still(obj):
    """Whether nothing but a hand moves an object or sets its keys."""
    keys = obj.data.shape_keys
    return is_free(obj) and (keys is None or keys.animation_data is None)
