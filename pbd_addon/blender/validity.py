"""Which cached frames still hold, and why others do not.

A frame holds while all that it was made from is as it was: settings, animation, the places of objects. What a user
changes by hand acts from the frame that is shown, so the frames up to there stay. What is keyframed acts from the
first frame at which it has another value.
"""

from typing import NamedTuple

import bpy
import numpy as np

from . import animation, mesh_io, poses, properties, surfaces, user_keys, world
from .errors import PBDError
from .world import Moment, as_collider

OF_SCENE = (
    *(((f"pbd.{name}",), "") for name in properties.SOLVER_FIELDS),
    (("gravity", "use_gravity"), "Gravity"),
    (("pbd.use_floor", "pbd.floor_height", "pbd.floor_friction"), "Floor"),
    (("pbd.speed", "render.fps", "render.fps_base"), "Speed or frame rate"),
)
OF_COLLIDER = tuple(((f"pbd_collider.{name}",), "") for name in properties.COLLIDER_FIELDS)
OF_OBJECT = tuple(((f"pbd.{name}",), "") for name in properties.MATERIAL_FIELDS)
"""Of raw settings, in their order: the paths that make a value, and its name if it is not that of its property."""


class Loss(NamedTuple):
    """Frames that did not hold any more."""

    first: int
    last: int
    why: str  # the end of a sentence: "Tension of 'Flag' changed"


TRANSFORM = ("location", "rotation_euler", "rotation_quaternion", "rotation_axis_angle", "scale")


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
    found = [world.find(scene, one.uid, one.surface.name) for one in bound if one.uid not in running.world.obstacles]
    return [obj for obj in found if obj is not None]


def pinned(running, scene):
    """The simulated objects whose own place and shape matters: vertices are pinned to it."""
    return [obj for member, obj in running.world.objects(scene) if len(member.body.pin_ids) and not obj.pbd.baked]


def moves(running, scene):
    """What was moved by hand since the last frame was shown: uids of objects with the ends of sentences.

    The uid is None if it is a collider, or if there are other colliders. What animation has moved stands as it did
    when the frame was shown.
    """
    found = []
    obstacles = running.obstacles(scene)
    now = standing(obstacles)
    if now != running.standing:
        moved = [obj.name for obj in obstacles if running.standing.get(obj.session_uid) != now[obj.session_uid]]
        found.append((None, f"'{moved[0]}' was moved" if moved else "there are other colliders"))
    elif running.recast:
        found.append((None, "there are other colliders"))
    for uid, stands in holding(running, scene).items():
        if running.pins_standing.get(uid, stands) != stands:
            found.append((uid, f"'{owner_of(scene, uid).name}' was moved"))
    return found


def notice_moves(running, scene):
    """Before a frame change: forget the frames that something which a hand has moved or changed has made wrong."""
    if running.untouched or running.undone is not None or running.shown_frame is None:
        return
    for uid in running.reshaped:
        if _has_other_shape(running, scene, uid):
            disturb(running, int(running.shown_frame), f"the shape of '{world.find(scene, uid, '').name}' changed")
    for uid, why in moves(running, scene):
        if uid is None:
            disturb(running, int(running.shown_frame), why)
        else:
            running.moved_by_hand.add(uid)
            running.truncate(int(running.shown_frame), why)


def _has_other_shape(running, scene, uid):
    """Whether what cloth meets or follows, by uid, is shaped in another way than when the last frame was shown."""
    obj, moment = world.find(scene, uid, ""), running.moments.get(running.shown_frame)
    known = None if moment is None else moment.surfaces.get(uid)
    depsgraph = world.layer_of(scene).depsgraph
    if obj is None or known is None or depsgraph is None:
        return False
    try:
        now = surfaces.read(obj, depsgraph, known=known)
    except PBDError:
        return True
    return not (now.fits(known) and np.array_equal(now.points, known.points))


def pending(running, scene):
    """The `Loss` that the next frame change will find, or None."""
    if running.untouched or running.undone is not None or running.shown_frame is None:
        return None
    why = changed_by_hand(running, scene, present_settings(running, scene))
    why = why or next((sentence for _uid, sentence in moves(running, scene)), "")
    first = max(int(running.shown_frame), running.first_frame) + 1
    return Loss(first, running.last_frame, why) if why and first <= running.last_frame else None


def is_free(obj):
    """Whether nothing but a hand moves an object."""
    return obj.animation_data is None and obj.parent is None and not obj.constraints


def _is_still(obj):
    """Whether nothing but a hand moves an object or sets its keys."""
    keys = obj.data.shape_keys
    return is_free(obj) and (keys is None or keys.animation_data is None)


def disturb(running, frame, why):
    """Forget all frames after `frame`, because the colliders are others from there on."""
    running.truncate(frame, why)
    if running.first_disturbed is None:
        running.first_disturbed = running.last_frame + 1


def notice_changes(running, scene, frame, now):
    """At a new frame: forget the cached frames that do not hold any more.

    Args:
        running: The session; some of its frames are cached.
        scene: Its scene.
        frame: The new frame.
        now: The `Moment` of the new frame.
    """
    if running.undone is not None:
        still = _places_that_stay(scene, now.settings)
        fitting = [known for known, moment in running.moments.items() if _agrees(moment.settings, now.settings, still)]
        if fitting:
            running.truncate(max(fitting), "settings were undone")
            running.settings.update(now.settings)
        _notice_undone_pins(running, scene, now)
        _notice_undone_moves(running, scene, frame)
        running.undone = None
    by_hand = changed_by_hand(running, scene, now.settings)
    if by_hand:
        running.truncate(frame if running.shown_frame is None else int(running.shown_frame), by_hand)
    running.settings.update(now.settings)
    if running.curves_edited or bpy.app.background:
        notice_curves(running, scene)
    known = running.moments.get(frame)
    guessed = running.first_guess is not None and frame >= running.first_guess
    if known is None or guessed or frame == running.first_frame:
        return
    # Drivers and strips of the NLA have no keyframes to compare: what they do is seen where it is looked at.
    for key, raw in now.settings.items():
        changed = [place for place in places(known.settings.get(key, raw), raw) if _animated(scene, key, place)]
        if changed:
            running.truncate(frame - 1, f"{describe(scene, key, changed[0])} is animated in another way")
            return
    for obj in pinned(running, scene):
        uid = obj.session_uid
        same = uid not in known.poses or uid not in now.poses or known.poses[uid].is_like(now.poses[uid])
        if not (same or _is_still(obj) or uid in running.moved_by_hand):
            running.truncate(frame - 1, f"'{obj.name}' is animated in another way")
            return


def present_settings(running, scene):
    """Raw settings as they are now, before any frame was made with them."""
    settings = world.read_last_moment(scene, [obj for _, obj in running.world.objects(scene)]).settings
    settings.update((as_collider(obj.session_uid), world.raw_collider(obj)) for obj in running.obstacles(scene))
    return settings


def changed_by_hand(running, scene, settings):
    """What of raw settings is not what it was and is not animated, as the end of a sentence, or ""."""
    for key, raw in settings.items():
        for place in places(running.settings.get(key, raw), raw):
            if not _animated(scene, key, place):
                return f"{describe(scene, key, place)} changed"
    return ""


def places(before, now):
    """Where two tuples of raw settings differ."""
    return [] if before == now else [place for place, pair in enumerate(zip(before, now)) if pair[0] != pair[1]]


def fields(scene, key):
    """What the raw settings of a key are made from, in their order."""
    if isinstance(key, tuple):
        return OF_COLLIDER
    return OF_SCENE if key == scene.session_uid else OF_OBJECT


def owner_of(scene, key):
    """The scene or object that has the settings of a key, or None."""
    uid = key[1] if isinstance(key, tuple) else key
    return scene if uid == scene.session_uid else world.find(scene, uid, "")


def describe(scene, key, place):
    """A setting for a sentence: "Tension of 'Flag'"."""
    paths, name = fields(scene, key)[place]
    owner = owner_of(scene, key)
    if owner is None:
        return "Something that is gone"
    if not name:
        group, _, prop = paths[0].partition(".")
        name = getattr(owner, group).bl_rna.properties[prop].name.partition(" (")[0]
    return name if owner == scene else f"{name} of '{owner.name}'"


def _animated(scene, key, place):
    """Whether one of the settings of a key is animated: then each frame has its own value."""
    owner = owner_of(scene, key)
    return owner is not None and animation.animates(owner, fields(scene, key)[place][0])


def _places_that_stay(scene, settings):
    """Of raw settings by key: the places of those that are not animated."""
    return {key: [at for at in range(len(raw)) if not _animated(scene, key, at)] for key, raw in settings.items()}


def _agrees(settings, others, still):
    """Whether raw settings are the same in these places, where both are known."""
    return all(settings[key][at] == others[key][at] for key in settings.keys() & still.keys() for at in still[key])


def _owners_of(obj):
    """The IDs whose F-curves move or shape an object: itself, its keys, parents, and what its stack refers to."""
    found, waiting = {}, [obj]
    while waiting:
        one = waiting.pop()
        if one is None or one.session_uid in found:
            continue
        found[one.session_uid] = one
        waiting += [one.parent, *(getattr(part, "target", None) for part in one.constraints)]
        waiting += [getattr(part, name, None) for part in one.modifiers for name in ("object", "target")]
    keys = [getattr(one.data, "shape_keys", None) for one in found.values()]
    return [*found.values(), *(one for one in keys if one is not None)]


class Samples(NamedTuple):
    """The values of one F-curve at all frames of the range."""

    keyframes: bytes  # what it is drawn from: when this is the same, so are the values
    values: np.ndarray  # (frames,)


class Curves(NamedTuple):
    """The F-curves that a simulation depends on, as they were at one time."""

    owners: dict[int, str]  # what is moved or set, by uid of what may have curves
    samples: dict[tuple[int, str, int], Samples]  # by that uid, data path and array index


def read_curves(running, scene, last):
    """The F-curves as they are, over the frames up to `last`."""
    simulated = [obj for _, obj in running.world.objects(scene)]
    objects = [*pinned(running, scene), *running.obstacles(scene)]
    objects += [obj.pbd.attach_object for obj in simulated if mesh_io.attached_to(obj)]
    owners = {owner.session_uid: (owner, obj.name) for obj in objects for owner in _owners_of(obj)}
    owners.update((one.session_uid, (one, one.name)) for one in (*simulated, scene))
    samples = {}
    known = running.curves.samples if running.curves else {}
    for uid, (owner, _name) in owners.items():
        for curve in animation.curves(owner) or ():
            key = (uid, curve.data_path, curve.array_index)
            drawn, old = animation.keyframes(curve), known.get(key)
            same = old is not None and old.keyframes == drawn and not curve.modifiers
            if not (same and len(old.values) == last - running.first_frame + 1):
                values = [curve.evaluate(at) for at in range(running.first_frame, last + 1)]
                samples[key] = Samples(drawn, np.array(values))
            else:
                samples[key] = old
    return Curves({uid: name for uid, (_owner, name) in owners.items()}, samples)


def watch_curves(running, scene, last):
    """Know the F-curves as they are, over the frames up to `last`."""
    running.curves_edited = False
    running.curves = read_curves(running, scene, last)


def settings_at(running, scene, frame, settings):
    """Raw settings with what F-curves make of numbers and switches at a frame that playback has jumped over."""
    found = {}
    for key, raw in settings.items():
        owner, values = owner_of(scene, key), list(raw)
        for place, (paths, _name) in enumerate(fields(scene, key)):
            curve = None if owner is None else running.curves.samples.get((owner.session_uid, paths[0], 0))
            if curve is None or len(paths) > 1 or isinstance(raw[place], str):
                continue
            group, _, name = paths[0].partition(".")
            rna = getattr(owner, group).bl_rna.properties[name]
            value = curve.values[min(frame - running.first_frame, len(curve.values) - 1)]
            if isinstance(raw[place], bool):
                values[place] = bool(value > 0.5)
            else:
                limited = min(max(value, rna.hard_min), rna.hard_max)
                values[place] = round(limited) if isinstance(raw[place], int) else float(np.float32(limited))
        found[key] = tuple(values)
    return found


def notice_curves(running, scene):
    """Forget the frames from the first on at which an F-curve has another value than before."""
    before, first = running.curves, running.first_frame
    watch_curves(
        running, scene, max([running.last_frame, *(first + len(one.values) - 1 for one in before.samples.values())])
    )
    now, changes = running.curves, []
    for key in before.samples.keys() | now.samples.keys():
        old, new = before.samples.get(key), now.samples.get(key)
        if old is new or not (key[0] in before.owners and key[0] in now.owners):
            continue
        if old is None or new is None:  # What was there instead is not known, but that it stood still.
            differ = np.array([np.ptp((old or new).values) > 0.0])
        else:
            differ = old.values != new.values[: len(old.values)]
            differ = np.append(differ, old.keyframes != new.keyframes and len(new.values) > len(old.values))
        if differ.any():
            changes.append((first + int(np.argmax(differ)), now.owners[key[0]]))
    if changes:
        frame, owner = min(changes)
        running.truncate(frame - 1, f"animation of '{owner}' changed")


def _notice_undone_pins(running, scene, now):
    """After undo: forget the frames that were made with a pinned object in another place."""
    for obj in pinned(running, scene):
        uid = obj.session_uid
        if uid in now.poses and _is_still(obj):
            stood = [at for at, moment in running.moments.items() if now.poses[uid].is_like(moment.poses.get(uid))]
            running.truncate(max(stood, default=running.undone), f"'{obj.name}' was put back")


def _notice_undone_moves(running, scene, frame):
    """After undo: forget the frames that were made with colliders in another place, or with others.

    Of one that may move by itself nothing is told by where it stands, unless it stood there at another frame.
    """
    why = "a collider was put back"
    here = running.moments.get(frame)
    cast = {obj.session_uid for obj in surfaces.colliders(scene)}
    limits = []
    if here is None or here.cast != cast:
        limits.append([known for known, moment in running.moments.items() if moment.cast == cast])
    for obj in surfaces.colliders(scene):
        still = is_free(obj)
        known = ((at, moment.surfaces.get(obj.session_uid)) for at, moment in running.moments.items())
        stood = [at for at, surface in known if _stands_at(surface, np.array(obj.matrix_world))]
        if still and not stood:
            disturb(running, running.undone, why)
        elif still or frame not in stood:
            limits.append(stood)
    for fitting in limits:
        if fitting and max(fitting) < running.last_frame:
            disturbed = running.first_disturbed
            running.truncate(max(fitting), why)
            if disturbed is None or disturbed > max(fitting):
                running.first_disturbed = None


def _stands_at(surface, matrix):
    """Whether a surface, or None, has this transform (4, 4)."""
    return surface is not None and np.allclose(surface.matrix, matrix, rtol=0.0, atol=1e-6)


def starts_like(running, scene, pins=False):
    """Whether the user's shapes, and on request the pins, are those that the simulation began with."""
    begin = running.moments[running.first_frame]
    pairs = [(member, obj) for member, obj in running.world.objects(scene) if world.fits(member, obj)]
    return all(world.is_unedited(member, obj, begin.poses[member.uid], pins) for member, obj in pairs)


def of_one_cast(running, scene):
    """Whether the cache is what a run from its first frame, where the scene is, would give now.

    It is not after a setting, a shape, a pin or a collider was changed, or where playback has jumped over moving
    inputs.
    """
    if running.first_disturbed is not None or running.moved_by_hand or not _surrounded_as_at_first(running, scene):
        return False
    still = _places_that_stay(scene, running.settings)
    same = all(_agrees(moment.settings, running.settings, still) for moment in running.moments.values())
    return same and running.first_guess is None and starts_like(running, scene, pins=True)


def _surrounded_as_at_first(running, scene):
    """Whether colliders, and what objects are attached to, are those of the first cached frame."""
    depsgraph = world.layer_of(scene).depsgraph
    if depsgraph is None or scene.frame_current != running.first_frame:
        return True
    objects = [obj for _, obj in running.world.objects(scene)]
    begin = running.moments[running.first_frame]
    try:
        now = world.read_surroundings(scene, depsgraph, Moment({}, {}), objects, begin.surfaces)
    except PBDError:
        return False
    return now.surrounds_like(begin)
