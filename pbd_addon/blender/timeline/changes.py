"""Which simulated frames do not hold any more, and why: a pure comparison of the record with a scene as it is now.

A frame holds while all that it was made from is as it was. What a user changes by hand acts from the frame that is
shown, so the frames up to there stay; where it goes back to what frames were made with, as by undo, these stay. What is
keyframed acts from the first frame at which it has another value. What decides about the first frame takes all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..read.snapshot import SceneSnapshot
from ..read.user_state import Beginning, Place, UserState
from ..scene import poses
from ..scene.fields import FieldPlace
from ..scene.poses import Pose
from ..scene.surfaces import Surface
from ..settings import raw_settings
from ..settings.raw_settings import Key
from .record import Record
from .simulated_object import SimulatedObject, suits_output

AT_FIRST = ("START", "OUTPUT", "SETTLE")
"""Changes that take all frames, when the user goes to the first one: until then those that are there are shown."""

PUT_ELSEWHERE = 1e-4
"""Pins that modifiers put so far from where they were had other animation then [m, object space]."""


class Change(NamedTuple):
    """Something that frames were made with is not as it was."""

    what: str  # SETTING, PLACE, COLLIDERS or COLLIDERS_BACK, FIELDS, ANIMATION, HAND, or one of `AT_FIRST`
    first_frame: int  # that depends on it
    why: str  # the end of a sentence: "Tension of 'Flag' changed"
    uid: int = 0  # of the object with pins that was moved


def changes(record: Record, now: SceneSnapshot) -> list[Change]:
    """All that takes frames of a record, as a scene stands now: `Change`s, those that take the most first.

    One that takes only frames to come is told too: what has failed may be tried again, and colliders are others then.

    Args:
        record: The `Record`.
        now: A `SceneSnapshot` with what the user has set; without poses where nothing was evaluated.
    """
    user, known = now.user, record.known
    if user is None or record.world is None:
        return []
    found = _outputs(record, user)
    if math.floor(user.frame) == user.first:
        found += _beginning(record, now)
    if not record.untouched:
        undone = [kept for kept in record.hands if kept.number > user.hand_count]
        found += [Change("HAND", kept.frame + 1, "what was done by hand was undone") for kept in undone]
        if known is not None:
            found += [
                *setting_changes(record, known, user),
                *_places(record, known, user),
                *_colliders(record, known, user),
                *_fields(record, known, user),
            ]
        found += [*_animation(record, user), *_here(record, now)]
    return sorted(found, key=lambda one: one.first_frame)


def _after_shown(record: Record, known: UserState, fitting: Iterable[int] = ()) -> int:
    """First frame that does not hold: after the last that fits, or else after the one that is shown."""
    return max(fitting, default=max(math.floor(known.frame), record.first_frame)) + 1


# ------------------------------------------------------------------------------------------ the first frame


def _outputs(record: Record, user: UserState) -> list[Change]:
    """Frames that were made for another output than an object has now."""
    members = {member.uid: member for member in record.world.members}
    what, frames = iface("{setting} of '{owner}'"), record.snapshots.values()
    return [
        Change("OUTPUT", record.first_frame, _changed(what.format(setting=iface("Output"), owner=role.name)))
        for uid, role in user.roles.items()
        if not suits_output(members[uid], role, frames)
    ]


def _beginning(record: Record, now: SceneSnapshot) -> list[Change]:
    """What takes all frames when the first frame is shown."""
    user, first = now.user, record.first_frame

    def all_for(why: str) -> list[Change]:
        return [Change("START", first, why)]

    if user.frame < first:
        return all_for("the range begins earlier")
    members = {member.uid: member for member in record.world.members}
    if user.roles.keys() != user.bodies and user.bodies:
        return all_for("other objects are simulated")
    for uid, role in user.roles.items():
        if not role.baked and role.attached_to != members[uid].attached_to:
            return all_for(f"'{role.name}' is attached to something else")
    if math.floor(user.frame) != first:
        return []
    begin = record.snapshots[first]
    for uid, begins in now.begins.items():
        if not begins_like(members[uid], begins, begin.poses[uid], user.roles[uid].baked):
            return all_for(iface("the shape of '{name}' changed").format(name=members[uid].name))
    if _settles_anew(record, begin, user):
        return [Change("SETTLE", first, "the first frame is settled anew")]
    if now.poses is None or not user.frame.is_integer():  # Where things stand now, they need not have stood then.
        return []
    return [] if now.stands_like(begin) and now.deforms_like(begin) else all_for("the start is another one")


def begins_like(member: SimulatedObject, begins: Beginning, pose: Pose, baked: bool, pins: bool = False) -> bool:
    """Whether the user's shape under the first pose, and on request the pins, are those of the member's body."""
    if not np.array_equal(poses.to_world(begins.shape, pose.matrix), member.undeformed):
        return False
    if not baked and begins.follows != member.follows:
        return False
    if begins.weights.keys() == member.weights.keys() and not all(
        np.array_equal(weights, member.weights[kind]) for kind, weights in begins.weights.items()
    ):
        return False
    body = member.body
    return not pins or begins.pins == dict(zip(body.pin_ids.tolist(), body.pin_weights.tolist(), strict=True))


def _settles_anew(record: Record, begin: SceneSnapshot, user: UserState) -> bool:
    """Whether the first frame, or what is to become it, is settled and was made with other settings."""
    wanted = next(
        raw.settle for key, raw in user.settings.items() if user.names.get(key if isinstance(key, int) else -1) == ""
    )
    if not (record.settled or wanted):
        return False
    return any(begin.settings.get(key, raw) != raw for key, raw in user.settings.items())


# ------------------------------------------------------------------------------------------ what a hand sets


def _is_animated(user: UserState, key: Key, raw: Any, field: str) -> bool:
    """Whether a setting is animated: then each frame has its own value."""
    paths = user.animated.get(key, ())
    return paths is None or any(path.startswith(raw_settings.paths_of(raw, field)) for path in paths)


def stay(user: UserState, settings: dict[Key, Any]) -> dict[Key, list[str]]:
    """Of raw settings by key: the fields that are not animated."""
    return {
        key: [field for field in raw._fields if not _is_animated(user, key, raw, field)]
        for key, raw in settings.items()
    }


def agree(settings: dict[Key, Any], others: dict[Key, Any], still: dict[Key, list[str]]) -> bool:
    """Whether raw settings are the same in these fields, where both are known."""
    both = settings.keys() & others.keys() & still.keys()
    return all(
        settings[key] == others[key] or all(getattr(settings[key], at) == getattr(others[key], at) for at in still[key])
        for key in both
    )


def setting_changes(record: Record, known: UserState, user: UserState) -> list[Change]:
    """Settings that are not what they were, and not animated."""
    changed = [
        (key, raw, field)
        for key, raw in user.settings.items()
        for field in raw_settings.differences(known.settings.get(key, raw), raw)
        if not _is_animated(user, key, raw, field)
    ]
    if not changed:
        return []
    still = stay(user, user.settings)
    fitting = [at for at, one in record.snapshots.items() if agree(one.settings, user.settings, still)]
    why = iface("settings were undone") if fitting and max(fitting) != math.floor(known.frame) else ""
    return [Change("SETTING", _after_shown(record, known, fitting), why or _changed(_describe(user, *changed[0])))]


def _describe(user: UserState, key: Key, raw: Any, field: str) -> str:
    """A setting for a sentence: "Tension of 'Flag'"."""
    name = iface(raw_settings.label_of(raw, field)).partition(" (")[0]
    owner = user.names[key[1] if isinstance(key, tuple) else key]
    return iface("{setting} of '{owner}'").format(setting=name, owner=owner) if owner else name


def _changed(what: str) -> str:
    return iface("{what} changed").format(what=what)


def _moved(before: Place | None, now: Place, same_frame: bool, heard: Any) -> bool:
    """Whether a hand has put something elsewhere."""
    if before is None:
        return False
    if before.channels != now.channels or before.keys != now.keys:
        return True
    if heard is not None and before.carried is not None:
        return bool(heard != before.carried)
    return same_frame and before.carried != now.carried


def _places(record: Record, known: UserState, user: UserState) -> list[Change]:
    """What holds pins or is attached to, moved by hand."""
    found = []
    for uid, place in user.holders.items():
        if _moved(known.holders.get(uid), place, known.frame == user.frame, user.heard.carried.get(uid)):
            stood = record.snapshots.items() if place.is_still else ()
            fitting = [at for at, one in stood if _stood(one, uid, place)]
            why = iface("'{name}' was put back") if fitting else iface("'{name}' was moved")
            first = _after_shown(record, known, fitting)
            found.append(Change("PLACE", first, why.format(name=place.name), 0 if fitting else uid))
    return found


def _stood(snapshot: SceneSnapshot, uid: int, place: Place) -> bool:
    """Whether something that is moved by hand alone stood at a frame where it is put."""
    if uid in snapshot.poses:
        return poses.Pose(place.matrix, place.keys).is_like(snapshot.poses[uid])
    return _stands_at(snapshot.surfaces.get(uid), place.matrix)


def _colliders(record: Record, known: UserState, user: UserState) -> list[Change]:
    """Colliders that a hand has moved or shaped, or that are others."""
    found = []
    if user.colliders.keys() != known.colliders.keys() or (user.cast is not None and user.cast != known.cast):
        cast = user.colliders.keys() if user.cast is None else user.cast
        fitting = [at for at, one in record.snapshots.items() if one.cast == cast]
        what = "COLLIDERS_BACK" if fitting else "COLLIDERS"
        found.append(Change(what, _after_shown(record, known, fitting), iface("there are other colliders")))
    for uid, place in user.colliders.items():
        if _moved(known.colliders.get(uid), place, known.frame == user.frame, user.heard.carried.get(uid)):
            stood = record.snapshots.items() if place.is_free else ()
            fitting = [at for at, one in stood if _stands_at(one.surfaces.get(uid), place.matrix)]
            why = iface("a collider was put back") if fitting else iface("'{name}' was moved").format(name=place.name)
            what = "COLLIDERS_BACK" if fitting else "COLLIDERS"
            found.append(Change(what, _after_shown(record, known, fitting), why))
    here = record.snapshots.get(math.floor(known.frame))
    for uid, surface in user.heard.surfaces.items():
        before = None if here is None else here.surfaces.get(uid)
        if before is not None and not (
            surface and surface.fits(before) and np.array_equal(surface.points, before.points)
        ):
            why = iface("the shape of '{name}' changed").format(name=before.name)
            found.append(Change("COLLIDERS", _after_shown(record, known), why))
    return found


def _fields(record: Record, known: UserState, user: UserState) -> list[Change]:
    """Force fields that a hand has moved, or that are others."""
    found = []
    others = user.blowing is not None and known.blowing is not None and user.blowing != known.blowing
    if others or not user.fields.keys() >= known.fields.keys():
        blowing = user.fields.keys() if user.blowing is None else user.blowing
        fitting = [at for at, one in record.snapshots.items() if one.fields.keys() == blowing]
        found.append(Change("FIELDS", _after_shown(record, known, fitting), iface("there are other force fields")))
    for uid, place in user.fields.items():
        if _moved(known.fields.get(uid), place, known.frame == user.frame, user.heard.carried.get(uid)):
            stood = record.snapshots.items() if place.is_free else ()
            fitting = [at for at, one in stood if _stands_at(one.fields.get(uid), place.matrix)]
            why = iface("'{name}' was put back") if fitting else iface("'{name}' was moved")
            found.append(Change("FIELDS", _after_shown(record, known, fitting), why.format(name=place.name)))
    return found


def _stands_at(surface: Surface | FieldPlace | None, matrix: np.ndarray) -> bool:
    """Whether a surface, or None, has this transform (4, 4)."""
    return surface is not None and np.allclose(surface.matrix, matrix, rtol=0.0, atol=1e-6)


# ------------------------------------------------------------------------------------------ what is animated


def _animation(record: Record, user: UserState) -> list[Change]:
    """From the first frame on at which an F-curve has another value; drivers and strips act from the first frame."""
    before, now, first = record.curves, user.curves, record.first_frame
    if before is None or now is None or before is now:
        return []
    found = []
    for key in before.samples.keys() | now.samples.keys():
        old, new = before.samples.get(key), now.samples.get(key)
        if old is new or not (key[0] in before.owners and key[0] in now.owners):
            continue
        if old is None or new is None:  # What was there instead is not known, but that it stood still.
            differ = np.array([np.ptp((old or new).values) > 0.0])
        else:
            length = min(len(old.values), len(new.values))
            differ = old.values[:length] != new.values[:length]
            differ = np.append(differ, old.keyframes != new.keyframes and len(new.values) > length)
        if differ.any():
            found.append((first + int(np.argmax(differ)), now.owners[key[0]]))
    both = before.rules.keys() & now.rules.keys()
    found += [(first, now.owners[uid]) for uid in both if before.rules[uid] != now.rules[uid]]
    return [Change("ANIMATION", at, iface("animation of '{name}' changed").format(name=owner)) for at, owner in found]


def _here(record: Record, now: SceneSnapshot) -> list[Change]:
    """What a cached frame was not made with, as it is seen at the frame itself."""
    user = now.user
    frame = math.floor(user.frame)
    made = record.snapshots.get(frame) if user.frame == frame else None
    guessed = record.first_guess is not None and frame >= record.first_guess
    if made is None or guessed or frame == record.first_frame or now.poses is None:
        return []
    another = iface("{what} is animated in another way")
    # What a driver makes of values that nobody watches is seen where it is looked at.
    for key, raw in now.settings.items():
        for field in raw_settings.differences(made.settings.get(key, raw), raw):
            if _is_animated(user, key, raw, field):
                return [Change("ANIMATION", frame, another.format(what=_describe(user, key, raw, field)))]
    for uid, place in user.holders.items():
        same = uid not in made.poses or uid not in now.poses or made.poses[uid].is_like(now.poses[uid])
        if not (same or place.is_still or uid in record.moved_by_hand):
            return [Change("ANIMATION", frame, another.format(what=f"'{place.name}'"))]
    for uid, shape in record.world.held(now).deformed.items():
        before = made.deformed.get(uid)
        if (
            uid in user.holders
            and uid not in record.moved_by_hand
            and before is not None
            and np.abs(shape - before).max() > PUT_ELSEWHERE
        ):
            why = iface("modifiers put the pins of '{name}' elsewhere").format(name=user.names[uid])
            return [Change("ANIMATION", frame, why)]
    return []
