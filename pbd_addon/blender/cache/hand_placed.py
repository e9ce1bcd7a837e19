"""Where a hand has put objects: those that hold pins, those that cloth is attached to, and colliders."""

from bpy.app.translations import pgettext_iface as iface

from ..scene import animation, poses, user_keys
from ..scene.scene_objects import find

TRANSFORM = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


class Shown:
    """The frame that was shown last: where things stood at it, and what was edited since.

    Attributes:
        frame: The frame.
        standing: Where colliders stood, by uid.
        holding: Where objects with pins, and what vertices are attached to, stood, by uid.
        recast: Whether there may be other colliders since.
        reshaped: Uids of what was edited since and may have another shape.
    """

    def __init__(self, running, scene, frame, obstacles):
        self.frame = frame
        self.standing = standing(obstacles)
        self.holding = holding(running, scene) if running.world else {}
        self.recast = False
        self.reshaped = set()


def standing(objects):
    """Where a hand has put original objects, by uid: what is comparable of their transforms.

    A channel that is animated goes back to its curve by itself.
    """
    return {obj.session_uid: _stands(obj) for obj in objects}


def _stands(obj):
    if obj.animation_data is None or obj.parent is not None or obj.constraints:
        return poses.last_matrix(obj).copy()
    animated = animation.channels(obj)
    return [
        (path, at, value)
        for path in TRANSFORM
        for at, value in enumerate(getattr(obj, path))
        if (path, at) not in animated and not obj.animation_data.nla_tracks
    ]


def holding(running, scene):
    """Where a hand has put what holds pins or is attached to, and how it has set the keys of pinned objects, by uid."""
    held = {obj.session_uid: (_stands(obj), user_keys.key_values(obj)) for obj in pinned(running, scene)}
    return held | {obj.session_uid: _stands(obj) for obj in _followed(running, scene)}


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
    return found


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
