"""Frames that are changed in place: a first one that settles, and any that a hand has shaped.

A hand's work lasts as long as the frames after it, and undo takes it back. What a hand has shaped into the first frame
is what the simulation begins with.
"""

import math
import time
from typing import NamedTuple

from ... import UnstableError
from ...model import State
from ..cache import changed_settings, disk_cache
from ..errors import LateError, PBDError
from ..settings import raw_settings
from . import backends, heat_map

UNDOABLE = 16
"""So many uses of the hand can be undone with the cloth."""


class Kept(NamedTuple):
    """A frame before a hand changed it, to go back to."""

    number: int  # of the use of the hand that follows
    frame: int
    state: State
    disturbed: tuple[int | None, str]  # from where on, and by what
    shaped: bool
    held: tuple  # of `Session.held`


def settle_first(running, scene, patience=math.inf):
    """Settle a first frame that was just built, if the scene says so.

    Raises:
        PBDError: It cannot be done.
        LateError: It takes longer than `patience` seconds.
    """
    deadline = time.monotonic() + patience
    frames = frames_to_settle(running, scene)
    for done in settling(running, scene, frames):
        if done < frames and time.monotonic() > deadline:
            raise LateError(f"Settled {done} of {frames} frames in {patience:.0f} s: press Settle for all of them")


def frames_to_settle(running, scene):
    """How many frames a simulation that was just built is to settle."""
    return raw_settings.settle_from(running.start.moment.settings[scene.session_uid])


def settling(running, scene, frames):
    """Let the first frame hang for some frames, as a generator of how many are done; raises `PBDError`.

    Left early, the frame says that it is not settled to the end.
    """
    for done in range(1, frames + 1):
        settle_on(running, scene, done, frames)
        yield done


def settle_on(running, scene, done, frames):
    """Let the first frame hang for one frame more, with which so many of so many are done; raises `PBDError`."""
    rest(running, scene)
    running.settled = done
    unsettled = running.first_frame, "SETTLE"
    running.first_disturbed, running.disturbed_by = unsettled if done < frames else (None, "")


def settles_anew(running, scene, now):
    """Whether the first frame, or what is to become it, is settled and was made with other settings."""
    if not (running.settled or raw_settings.settle_from(now.settings[scene.session_uid])):
        return False
    known = running.moments[running.first_frame].settings
    return any(changed_settings.places(known.get(key, raw), raw) for key, raw in now.settings.items())


def rest(running, scene):
    """Step the last cached frame in place, while everything stands still as it is there; raises `PBDError`."""
    frame, simulation = running.last_frame, running.world.simulation
    moment = running.moments[frame]
    running.world.rested += 1
    simulation.use_kernels(backends.choose(scene))
    try:
        simulation.take_inputs(running.world.inputs(scene, moment))
        running.report = simulation.step(raw_settings.frame_seconds(moment.settings[scene.session_uid]), in_place=True)
    except UnstableError as error:
        raise PBDError(str(error)) from error
    disk_cache.truncate(running, frame - 1)
    heat_map.note_touching(running, scene, frame)


def take_settings_of_first(running, scene):
    """Let the settings that the scene has now be those that the first frame was made with."""
    raw = raw_settings.raw_scene(scene)
    running.settings[scene.session_uid] = running.world.applied[scene.session_uid] = raw
    running.moments[running.first_frame].settings[scene.session_uid] = raw


def keep(running, scene, frame):
    """What to go back to after a hand has changed a cached frame."""
    state = running.world.simulation.state_at(frame)
    disturbed = running.first_disturbed, running.disturbed_by
    return Kept(scene.pbd.hand_count + 1, frame, state, disturbed, running.shaped, tuple(running.held))


def disturb(running, frame):
    """A hand changes a frame, and so all after it; at the first one, it shapes what the cloth begins with."""
    running.truncate(frame, f"frame {frame} was shaped by hand")
    if frame == running.first_frame:
        running.shaped = True
    elif running.first_disturbed is None or running.first_disturbed > frame:
        running.first_disturbed, running.disturbed_by = frame, "HAND"


def note(running, scene, kept):
    """Count a use of the hand; undo, which counts back, will go back to what was kept."""
    scene.pbd.hand_count = kept.number
    running.hands = [*running.hands, kept][-UNDOABLE:]


def go_back_to(running, kept):
    """Take back what a hand has done since."""
    simulation = running.world.simulation
    if not simulation.is_cached(kept.frame):
        return
    running.truncate(kept.frame, "what was done by hand was undone")
    running.held = [pin for pin in running.held if pin in kept.held]
    simulation.restore(kept.frame, kept.state, [grab for _, grab in running.held])
    disk_cache.truncate(running, kept.frame - 1)
    running.first_disturbed, running.disturbed_by = kept.disturbed
    running.shaped = kept.shaped


def notice_undo(running, scene):
    """After undo: take back what was done by a hand whose use is undone."""
    undone = [kept for kept in running.hands if kept.number > scene.pbd.hand_count]
    if undone:
        go_back_to(running, undone[0])
        running.hands = running.hands[: -len(undone)]


def let_go_after(running, frame):
    """Let go of what a hand has pinned after a frame, because that has not happened there yet."""
    for _pinned, grab in [pin for pin in running.held if pin[0] > frame]:
        grab.release()
    running.held = [pin for pin in running.held if pin[0] <= frame]
