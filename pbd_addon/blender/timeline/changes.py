"""Which simulated frames are no longer valid, and why: a pure comparison of the record with the scene as it is now.

A frame is valid while its inputs are unchanged. A manual edit acts from the shown frame on, so frames up to there stay;
if it restores earlier values, as undo does, the frames made with these stay too. An edit of keyframes acts from the
first frame whose value changes. A change of the inputs of the first frame invalidates all.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import mathutils
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..read.snapshot import SceneSnapshot
from ..read.user_state import FirstFrameInputs, Place, UserState
from ..scene import poses
from ..scene.fields import FieldPlace
from ..scene.poses import Pose
from ..scene.surfaces import Surface
from ..settings import raw_settings
from ..settings.raw_settings import Key
from .record import Record
from .simulated_object import SimulatedObject, suits_output

AT_FIRST = ("START", "OUTPUT", "SETTLE")
"""Changes that invalidate all frames, but only once the user goes to the first one; until then all are shown."""

PUT_ELSEWHERE = 1e-4
"""Pins that modifiers move by more than this had other animation when the frame was made [m, object space]."""


class Change(NamedTuple):
    """A changed input of frames."""

    what: str  # SETTING, PLACE, COLLIDERS or COLLIDERS_BACK, FIELDS, ANIMATION, HAND, or one of `AT_FIRST`
    first_frame: int  # the first that depends on it
    why: str  # the end of a sentence: "Tension of 'Flag' changed"
    uid: int = 0  # of the object with pins that was moved


def changes(record: Record, now: SceneSnapshot) -> list[Change]:
    """All changes since frames of a record were made, sorted by the first frame that each invalidates.

    `now` has the user's settings; and poses if it was evaluated. Changes that affect only frames to come are included:
    they allow another try after a failure, or change colliders.
    """
    user, known = now.user, record.known
    if user is None or record.scene_sim is None:
        return []
    found = _outputs(record, user)
    if math.floor(user.frame) == user.first:
        found += _start_changes(record, now)
    if not record.is_pristine:
        undone = [kept for kept in record.undo_states if kept.number > user.hand_count]
        found += [Change("HAND", kept.frame + 1, "what was done by hand was undone") for kept in undone]
        if known is not None:
            found += [
                *setting_changes(record, known, user),
                *_places(record, known, user),
                *_around(record, known, user),
            ]
        found += [*_animation(record, user), *_differences_at_frame(record, now)]
    return sorted(found, key=lambda one: one.first_frame)


def _after_shown(record: Record, known: UserState, fitting: Iterable[int] = ()) -> int:
    """The first invalid frame: the one after the last fitting frame, or else after the shown one."""
    return max(fitting, default=max(math.floor(known.frame), record.first_frame)) + 1


# ------------------------------------------------------------------------------------------ the first frame


def _outputs(record: Record, user: UserState) -> list[Change]:
    """Changes for objects whose frames were made for another output than they have now."""
    members = {member.uid: member for member in record.scene_sim.members}
    what, frames = iface("{setting} of '{owner}'"), record.snapshots.values()
    return [
        Change("OUTPUT", record.first_frame, _changed(what.format(setting=iface("Output"), owner=role.name)))
        for uid, role in user.roles.items()
        if not suits_output(members[uid], role, frames)
    ]


def _start_changes(record: Record, now: SceneSnapshot) -> list[Change]:
    """Changes that invalidate all frames when the first one is shown."""
    user, first = now.user, record.first_frame

    def all_for(why: str) -> list[Change]:
        return [Change("START", first, why)]

    if user.frame < first:
        return all_for("the range begins earlier")
    members = {member.uid: member for member in record.scene_sim.members}
    if user.roles.keys() != user.bodies and user.bodies:
        return all_for("other objects are simulated")
    for uid, role in user.roles.items():
        if not role.baked and role.attached_to != members[uid].attached_to:
            return all_for(f"'{role.name}' is attached to something else")
    if math.floor(user.frame) != first:
        return []
    begin = record.snapshots[first]
    for uid, inputs in now.first_inputs.items():
        if not matches_start(members[uid], inputs, begin.poses[uid], user.roles[uid].baked):
            return all_for(iface("the shape of '{name}' changed").format(name=members[uid].name))
    if _needs_settling(record, begin, user):
        return [Change("SETTLE", first, "the first frame is settled anew")]
    if now.poses is None or not user.frame.is_integer():  # Poses between two frames may differ from the first one's.
        return []
    return [] if now.has_poses_of(begin) and now.has_shapes_of(begin) else all_for("the start is another one")


def matches_start(
    member: SimulatedObject, inputs: FirstFrameInputs, pose: Pose, baked: bool, pins: bool = False
) -> bool:
    """Whether the user's shape under the first pose, and optionally the pins, are those of the member's body."""
    if not np.array_equal(poses.to_world(inputs.shape, pose.matrix), member.undeformed):
        return False
    if not baked and inputs.follows != member.follows:
        return False
    if inputs.weights.keys() == member.weights.keys() and not all(
        np.array_equal(weights, member.weights[kind]) for kind, weights in inputs.weights.items()
    ):
        return False
    body = member.body
    ids, weights = [*body.pin_ids, *body.slide_ids], [*body.pin_weights, *body.slide_weights]
    return not pins or inputs.pins == dict(zip(ids, weights, strict=True))


def _needs_settling(record: Record, begin: SceneSnapshot, user: UserState) -> bool:
    """Whether the first frame is or will be settled, and was made with other settings."""
    wanted = next(raw.settle for raw in user.settings.values() if isinstance(raw, raw_settings.SceneSettings))
    if not (record.settled or wanted):
        return False
    return any(begin.settings.get(key, raw) != raw for key, raw in user.settings.items())


# ------------------------------------------------------------------------------------------ manual edits


def _is_animated(user: UserState, key: Key, raw: raw_settings.RawSettings, field: str) -> bool:
    """Whether a setting is animated, so that each frame has its own value."""
    paths = user.animated.get(key, ())
    return paths is None or any(path.startswith(raw_settings.row_of(raw, field).paths) for path in paths)


def constant_fields(user: UserState, settings: raw_settings.Settings) -> dict[Key, list[str]]:
    """The fields of raw settings that are not animated, by key."""
    return {
        key: [field for field in raw_settings.values_of(raw) if not _is_animated(user, key, raw, field)]
        for key, raw in settings.items()
    }


def settings_agree(settings: raw_settings.Settings, others: raw_settings.Settings, still: dict[Key, list[str]]) -> bool:
    """Whether raw settings are equal in the fields `still`, for the keys that both have."""
    both = settings.keys() & others.keys() & still.keys()
    return not any(set(raw_settings.differences(settings[key], others[key])) & set(still[key]) for key in both)


def setting_changes(record: Record, known: UserState, user: UserState) -> list[Change]:
    """Changes of settings that are not animated."""
    changed = [
        (key, raw, field)
        for key, raw in user.settings.items()
        for field in raw_settings.differences(known.settings.get(key, raw), raw)
        if not _is_animated(user, key, raw, field)
    ]
    if not changed:
        return []
    still = constant_fields(user, user.settings)
    keys = {key for key, _raw, _field in changed}
    fitting = [
        at
        for at, one in record.snapshots.items()
        if keys <= one.settings.keys() and settings_agree(one.settings, user.settings, still)
    ]
    why = iface("settings were undone") if fitting and max(fitting) != math.floor(known.frame) else ""
    first = _after_shown(record, known, fitting)
    if not fitting and any(field == "rigid" for _key, _raw, field in changed):
        first = record.first_frame + 1  # a solid has the shape of the first frame, not one that cloth has fallen into
    return [Change("SETTING", first, why or _changed(_describe(user, *changed[0])))]


def _describe(user: UserState, key: Key, raw: raw_settings.RawSettings, field: str) -> str:
    """A setting in words: "Tension of 'Flag'"."""
    name = iface(raw_settings.row_of(raw, field).label).partition(" (")[0]
    owner = user.names[key[1] if isinstance(key, tuple) else key]
    return iface("{setting} of '{owner}'").format(setting=name, owner=owner) if owner else name


def _changed(what: str) -> str:
    return iface("{what} changed").format(what=what)


def _moved(before: Place | None, now: Place, same_frame: bool, carried_to: mathutils.Matrix | None) -> bool:
    """Whether the user has moved something."""
    if before is None:
        return False
    if before.channels != now.channels or before.keys != now.keys:
        return True
    if carried_to is not None and before.carried is not None:
        return bool(carried_to != before.carried)
    return same_frame and before.carried != now.carried


def _places(record: Record, known: UserState, user: UserState) -> list[Change]:
    """Objects with pins, and attachment targets, that the user has moved."""
    found = []
    for uid, place in user.places["holder"].items():
        if _moved(known.places["holder"].get(uid), place, known.frame == user.frame, user.edits.carried.get(uid)):
            stood = record.snapshots.items() if place.is_still else ()
            fitting = [at for at, one in stood if _had_place(one, uid, place)]
            why = iface("'{name}' was put back") if fitting else iface("'{name}' was moved")
            first = _after_shown(record, known, fitting)
            found.append(Change("PLACE", first, why.format(name=place.name), 0 if fitting else uid))
    return found


def _had_place(snapshot: SceneSnapshot, uid: int, place: Place) -> bool:
    """Whether an object that only the user moves had the same place in a snapshot."""
    if uid in snapshot.poses:
        return poses.Pose(place.matrix, place.keys).is_like(snapshot.poses[uid])
    return _has_transform(snapshot.surfaces.get(uid), place.matrix)


AROUND = {
    "collider": ("COLLIDERS", "there are other colliders", "a collider was put back"),
    "field": ("FIELDS", "there are other force fields", "'{name}' was put back"),
    "absorber": ("FIELDS", "other objects absorb force fields", "'{name}' was put back"),
}
"""By kind of what surrounds cloth: a change of it, and why, where there are others and where one is back."""


def _around(record: Record, known: UserState, user: UserState) -> list[Change]:
    """Colliders, force fields and what absorbs these, that the user has added, removed, moved or reshaped."""
    found = []

    def add(what: str, why: str, fitting: list[int], name: str = "") -> None:
        what = "COLLIDERS_BACK" if fitting and what == "COLLIDERS" else what
        found.append(Change(what, _after_shown(record, known, fitting), iface(why).format(name=name)))

    for kind, (what, others, back) in AROUND.items():
        now, before = user.places[kind], known.places[kind]
        uids = user.uids.get(kind, known.uids.get(kind))
        if now.keys() != before.keys() or uids != known.uids.get(kind, uids):
            there = user.uids.get(kind, now.keys())
            add(what, others, [at for at, one in record.snapshots.items() if one.uids(kind) == there])
        for uid, place in now.items():
            if _moved(before.get(uid), place, known.frame == user.frame, user.edits.carried.get(uid)):
                stood = record.snapshots.items() if place.is_free else ()
                fitting = [at for at, one in stood if _has_transform(one.standing(kind).get(uid), place.matrix)]
                add(what, back if fitting else "'{name}' was moved", fitting, place.name)
    here = record.snapshots.get(math.floor(known.frame))
    for uid, surface in user.edits.surfaces.items():
        was = None if here is None else here.surfaces.get(uid)
        if was is not None and not (surface and surface.fits(was) and np.array_equal(surface.points, was.points)):
            is_collider = uid in user.places["collider"] or uid not in user.places["absorber"]
            add("COLLIDERS" if is_collider else "FIELDS", "the shape of '{name}' changed", [], was.name)
    return found


def _has_transform(surface: Surface | FieldPlace | None, matrix: np.ndarray) -> bool:
    """Whether a surface exists and has this transform (4, 4)."""
    return surface is not None and np.allclose(surface.matrix, matrix, rtol=0.0, atol=1e-6)


# ------------------------------------------------------------------------------------------ animation


def _animation(record: Record, user: UserState) -> list[Change]:
    """Edits of F-curves, from the first frame whose value changes; drivers and strips act from the first frame on."""
    before, now, first = record.curves, user.curves, record.first_frame
    if before is None or now is None or before is now:
        return []
    found = []
    for key in before.samples.keys() | now.samples.keys():
        old, new = before.samples.get(key), now.samples.get(key)
        if old is new or not (key[0] in before.owners and key[0] in now.owners):
            continue
        if old is None or new is None:  # Without a curve the value was constant, but it is unknown.
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


def _differences_at_frame(record: Record, now: SceneSnapshot) -> list[Change]:
    """Differences between a cached frame's snapshot and the scene as evaluated at that frame."""
    user = now.user
    frame = math.floor(user.frame)
    made = record.snapshots.get(frame) if user.frame == frame else None
    guessed = record.first_guess is not None and frame >= record.first_guess
    if made is None or guessed or frame == record.first_frame or now.poses is None:
        return []
    another = iface("{what} is animated in another way")
    # Inputs of drivers are not tracked, so a changed result shows only at the frame itself.
    for key, raw in now.settings.items():
        for field in raw_settings.differences(made.settings.get(key, raw), raw):
            if _is_animated(user, key, raw, field):
                return [Change("ANIMATION", frame, another.format(what=_describe(user, key, raw, field)))]
    for uid, place in user.places["holder"].items():
        same = uid not in made.poses or uid not in now.poses or made.poses[uid].is_like(now.poses[uid])
        if not (same or place.is_still or uid in record.moved_by_hand):
            return [Change("ANIMATION", frame, another.format(what=f"'{place.name}'"))]
    members = {member.uid: member for member in record.scene_sim.members}
    for uid, shape in record.scene_sim.with_pins_only(now).deformed.items():
        before = made.deformed.get(uid)
        if (
            uid in user.places["holder"]
            and uid not in record.moved_by_hand
            and before is not None
            and np.abs(shape - before).max() > PUT_ELSEWHERE
        ):
            why = iface("modifiers put the pins of '{name}' elsewhere")
            if len(shape) > len(members[uid].body.pin_ids):
                why = iface("modifiers give '{name}' another shape")
            return [Change("ANIMATION", frame, why.format(name=user.names[uid]))]
    return []
