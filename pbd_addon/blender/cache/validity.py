"""Which cached frames still hold, and why others do not.

A frame holds while all that it was made from is as it was: settings, animation, the places of objects. What a user
changes by hand acts from the frame that is shown, so the frames up to there stay. What is keyframed acts from the
first frame at which it has another value.
"""

from typing import NamedTuple

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ..errors import PBDError
from ..input import deformed_input
from ..input.members import fits, is_unedited, suits_output
from ..input.moments import Moment, peek_deformed, read_deformed, read_surroundings
from ..scene import surfaces
from ..scene.scene_objects import layer_of
from ..scene.simulated_range import shown_frame
from . import changed_settings, hand_placed, watched_curves
from .hand_placed import is_free, is_still, pinned

PUT_ELSEWHERE = 1e-4
"""Pins that modifiers put so far from where they were had other animation then [m, object space]."""


class Loss(NamedTuple):
    """Frames that did not hold any more."""

    first: int
    last: int
    why: str  # the end of a sentence: "Tension of 'Flag' changed"


def pending(running, scene):
    """The `Loss` that the next frame change will find, or None."""
    if running.untouched or running.undone is not None or running.shown is None:
        return None
    pairs, moments = running.world.objects(scene), running.moments.values()
    other = next((obj.name for member, obj in pairs if not suits_output(member, obj, moments)), None)
    if other is not None:
        what = iface("{setting} of '{owner}'").format(setting=iface("Output"), owner=other)
        return Loss(running.first_frame, running.last_frame, iface("{what} changed").format(what=what))
    why = changed_settings.changed_by_hand(running, scene, changed_settings.present_settings(running, scene))
    why = why or next((sentence for _uid, sentence in hand_placed.moves(running, scene)), "")
    first = max(int(running.shown.frame), running.first_frame) + 1
    return Loss(first, running.last_frame, why) if why and first <= running.last_frame else None


def notice_moves(running, scene):
    """Before a frame change: forget the frames that something which a hand has moved or changed has made wrong.

    Raises:
        DamagedFrame: As `Session.truncate`.
    """
    if running.untouched or running.undone is not None or running.shown is None:
        return
    shown = running.shown
    for uid, why in hand_placed.moves(running, scene):
        if uid is None:
            disturb(running, int(shown.frame), why)
        else:
            running.moved_by_hand.add(uid)
            running.truncate(int(shown.frame), why)


def disturb(running, frame, why):
    """Forget all frames after `frame`, because the colliders are others from there on."""
    running.truncate(frame, why)
    if running.first_disturbed is None:
        running.first_disturbed, running.disturbed_by = running.last_frame + 1, "COLLIDERS"


def notice_changes(running, scene, depsgraph, frame, now):
    """At a new frame: forget the cached frames that do not hold any more.

    Args:
        running: The session; some of its frames are cached.
        scene: Its scene.
        depsgraph: What has evaluated the new frame.
        frame: The new frame, an integer unless it lies between two.
        now: The `Moment` of the new frame.
    """
    if running.undone is not None:
        still = changed_settings.places_that_stay(scene, now.settings)
        fitting = [
            known
            for known, moment in running.moments.items()
            if changed_settings.agree(moment.settings, now.settings, still)
        ]
        if fitting:
            running.truncate(max(fitting), iface("settings were undone"))
            running.settings.update(now.settings)
        _notice_undone_pins(running, scene, now)
        _notice_undone_moves(running, scene, frame)
        running.undone = None
    by_hand = changed_settings.changed_by_hand(running, scene, now.settings)
    if by_hand:
        running.truncate(int(frame if running.shown is None else running.shown.frame), by_hand)
    running.settings.update(now.settings)
    if running.curves_edited or bpy.app.background:
        watched_curves.notice(running, scene)
    known = running.moments.get(frame)
    guessed = running.first_guess is not None and frame >= running.first_guess
    if known is None or guessed or frame == running.first_frame:
        return
    # What a driver makes of values that nobody watches is seen where it is looked at.
    for key, raw in now.settings.items():
        changed = [
            place
            for place in changed_settings.places(known.settings.get(key, raw), raw)
            if changed_settings.is_animated(scene, key, place)
        ]
        if changed:
            what = changed_settings.describe(scene, key, changed[0])
            running.truncate(frame - 1, iface("{what} is animated in another way").format(what=what))
            return
    for obj in pinned(running, scene):
        uid = obj.session_uid
        same = uid not in known.poses or uid not in now.poses or known.poses[uid].is_like(now.poses[uid])
        if not (same or is_still(obj) or uid in running.moved_by_hand):
            running.truncate(frame - 1, iface("{what} is animated in another way").format(what=f"'{obj.name}'"))
            return
    _notice_deformed(running, scene, depsgraph, frame)


def _notice_deformed(running, scene, depsgraph, frame):
    """Forget the frames from this one on, if modifiers now put its pins elsewhere than when it was simulated.

    A render may have other modifiers. While it plays, a mesh that is subdivided behind is left alone: Blender
    subdivides where it draws, and to look at the mesh here takes longer. A bake looks at all, however long it takes.
    """
    if depsgraph.mode == "RENDER":
        return
    known = running.moments[frame]
    plays = any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)
    objects = [obj for obj in pinned(running, scene) if obj.session_uid not in running.moved_by_hand]
    if running.bake:
        shapes = read_deformed(objects, depsgraph)
    else:
        quick = [obj for obj in objects if not (plays and deformed_input.is_subdivided(obj))]
        shapes = peek_deformed(quick, depsgraph)
    seen = running.world.held(known._replace(deformed=shapes)).deformed
    for obj in objects:
        now, before = seen.get(obj.session_uid), known.deformed.get(obj.session_uid)
        if now is not None and before is not None and np.abs(now - before).max() > PUT_ELSEWHERE:
            why = iface("modifiers put the pins of '{name}' elsewhere").format(name=obj.name)
            running.truncate(frame - 1, why)
            return


def _notice_undone_pins(running, scene, now):
    """After undo: forget the frames that were made with a pinned object in another place."""
    for obj in pinned(running, scene):
        uid = obj.session_uid
        if uid in now.poses and is_still(obj):
            stood = [at for at, moment in running.moments.items() if now.poses[uid].is_like(moment.poses.get(uid))]
            why = iface("'{name}' was put back").format(name=obj.name)
            running.truncate(max(stood, default=running.undone), why)


def _notice_undone_moves(running, scene, frame):
    """After undo: forget the frames that were made with colliders in another place, or with others.

    Of one that may move by itself nothing is told by where it stands, unless it stood there at another frame.
    """
    why = iface("a collider was put back")
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
    pairs = [(member, obj) for member, obj in running.world.objects(scene) if fits(member, obj)]
    return all(is_unedited(member, obj, begin.poses[member.uid], pins) for member, obj in pairs)


def of_one_cast(running, scene):
    """Whether the cache is what a run from its first frame, where the scene is, would give now.

    It is not after a setting, a shape, a pin or a collider was changed, or where playback has jumped over moving
    inputs.
    """
    if running.first_disturbed is not None or running.moved_by_hand or not _surrounded_as_at_first(running, scene):
        return False
    still = changed_settings.places_that_stay(scene, running.settings)
    same = all(changed_settings.agree(moment.settings, running.settings, still) for moment in running.moments.values())
    return same and running.first_guess is None and starts_like(running, scene, pins=True)


def _surrounded_as_at_first(running, scene):
    """Whether colliders, and what objects are attached to, are those of the first cached frame."""
    depsgraph = layer_of(scene).depsgraph
    if depsgraph is None or shown_frame(scene) != running.first_frame:
        return True
    objects = [obj for _, obj in running.world.objects(scene)]
    begin = running.moments[running.first_frame]
    try:
        now = read_surroundings(scene, depsgraph, Moment({}, {}), objects, begin.surfaces)
    except PBDError:
        return False
    return now.surrounds_like(begin)
