"""The writer: it alone changes the record. It truncates, steps one frame at a time, and goes back."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable
from typing import Any, TypedDict, Unpack

from bpy.app.translations import pgettext_iface as iface

from ... import UnstableError
from ..errors import DamagedFrame, LateError, PBDError
from ..kinds import Scene
from ..read import user_state
from ..read.snapshot import SceneSnapshot
from ..read.user_state import Heard, UserState
from ..scene.scene_objects import live_bodies
from ..scene.simulated_range import last_live_frame
from ..scene.surfaces import Surface
from . import air, backends, changes
from .changes import Change
from .record import BakeProgress, InvalidRange, Record, Seen, UndoState
from .scene_simulation import SceneSimulation

UNDOABLE = 16
"""So many uses of the hand can be undone with the cloth."""


# ------------------------------------------------------------------------------------------ what holds


def truncate(record: Record, frame: int, why: str) -> None:
    """Forget all frames after `frame`, but for the first; `why` is the end of a sentence.

    Raises:
        DamagedFrame: Nothing is left that could be gone on from, so that all is forgotten and begins anew.
    """
    record.blocked, record.seen = "", {}
    frame = max(frame, record.first_frame)
    for _pinned, grab in [pin for pin in record.held if pin[0] > frame]:
        grab.release()  # It has not been pinned yet.
    record.held = [pin for pin in record.held if pin[0] <= frame]
    if frame >= record.last_frame:
        return
    record.lost = InvalidRange(frame + 1, record.last_frame, why)
    try:
        record.world.simulation.truncate(frame)
    except DamagedFrame:
        if frame == record.first_frame:
            record.forget(record.start)
            raise
        truncate(record, frame - 1, why)
        return
    record.touched = {known: touching for known, touching in record.touched.items() if known <= frame}
    record.snapshots = {known: one for known, one in record.snapshots.items() if known <= frame}
    if record.first_guess is not None and record.first_guess > frame:
        record.first_guess = None
    if record.first_disturbed is not None:
        record.first_disturbed = min(record.first_disturbed, frame + 1)


def apply(record: Record, found: Iterable[Change], user: UserState) -> None:
    """Let what has changed take its frames; raises `DamagedFrame` where all begins anew."""
    for change in found:
        record.seen = {}
        if change.what in changes.AT_FIRST:
            continue
        if change.what == "HAND":
            undo_hands(record, user.hand_count)
            continue
        disturbed = record.first_disturbed
        truncate(record, change.first_frame - 1, change.why)
        if change.what == "COLLIDERS" and disturbed is None:
            record.first_disturbed, record.disturbed_by = record.last_frame + 1, "COLLIDERS"
        elif change.what == "COLLIDERS_BACK" and (disturbed is None or disturbed >= change.first_frame):
            record.first_disturbed = None
        if change.uid:
            record.moved_by_hand.add(change.uid)
    if user.curves is not None:
        record.curves = user.curves


def remember(record: Record, user: UserState) -> None:
    """A frame is shown with what the user had set then."""
    known = record.known
    if user.cast is None and known is not None:
        user = user._replace(cast=known.cast)
    if user.cast is None and record.world is not None:
        user = user._replace(cast=frozenset(record.world.obstacles))
    if user.blowing is None and record.world is not None:
        user = user._replace(blowing=known.blowing if known and known.blowing is not None else _all_blowing(record))
    record.known = user._replace(heard=Heard(), curves=None)
    record.heard = Heard()


def _all_blowing(record: Record) -> frozenset[int]:
    return frozenset(record.world.fields)


def note_seen(record: Record, frame: float, seen: Seen) -> None:
    """A cached frame is shown, as Blender counts it, and nothing is left to do about it."""
    record.seen[frame], record.known = seen, seen.user


def forget_damaged(record: Record, frame: int) -> None:
    """Forget a frame that cannot be read, and those after it; begin anew if that is the first one."""
    if record.world is None or frame == record.first_frame:
        record.forget(record.start)
        return
    with contextlib.suppress(DamagedFrame):  # It has begun anew then.
        truncate(record, frame - 1, iface("the cache on disk is damaged"))


# ------------------------------------------------------------------------------------------ one frame more


def build(record: Record, scene: Scene, frame: int, snapshot: SceneSnapshot) -> None:
    """Make the simulation from the scene as it stood at its first frame; raises `PBDError`."""
    objects = live_bodies(scene)
    if not objects:
        raise PBDError("There is no PBD cloth or balloon to simulate")
    lost = record.lost  # What has taken all frames but the first has them built anew.
    record.forget(snapshot)
    record.lost = lost
    built = SceneSimulation(scene, objects, snapshot)
    built.simulation.begin(frame)
    record.world = built
    record.snapshots = {frame: snapshot}
    record.notes = built.notes()
    _remember_start(record, scene)


def take_up(record: Record, scene: Scene, built: SceneSimulation, made: dict[int, SceneSnapshot], disk: Any) -> None:
    """Have what was simulated before, as files on disk hold it."""
    record.forget(made[disk.files.first])
    record.storage.cache = disk
    record.world, record.snapshots, record.notes = built, made, built.notes()
    built.simulation.take_up(disk, disk.files.first, disk.files.last)
    _remember_start(record, scene)


def _remember_start(record: Record, scene: Scene) -> None:
    """A simulation was made: what the user has set, and the animation, are what it was made with."""
    user = read_user(record, scene, Heard(curves=True), with_curves=True)
    record.curves = user.curves
    remember(record, user)


def read_user(record: Record, scene: Scene, heard: Heard | None = None, with_curves: bool = False) -> UserState:
    """What the user has set; on request the animation over the frames of a record and those to come, if edited."""
    frames = None
    if with_curves and record.world is not None:
        frames = range(record.first_frame, max(record.last_frame, last_live_frame(scene)) + 1)
    return user_state.read(scene, record.watched, heard or Heard(), record.curves, frames)


def stand(record: Record, snapshot: SceneSnapshot) -> None:
    """Stand at the first frame, with nothing built."""
    record.forget(snapshot)


def advance(record: Record, scene: Scene, frame: int, snapshot: SceneSnapshot, guessed: bool = False) -> None:
    """Step to the next frame, at whose end the scene stands as in a snapshot.

    Raises:
        PBDError: It cannot go on.
    """
    for _share in advancing(record, scene, frame, snapshot, guessed):
        pass


def advancing(
    record: Record, scene: Scene, frame: int, snapshot: SceneSnapshot, guessed: bool = False
) -> Generator[float, None, None]:
    """As `advance`, in slices: yields the share of the frame that is done. Closed early, nothing is stepped."""
    world, simulation = record.world, record.world.simulation
    world.check(scene, snapshot, record.snapshots.values())
    if record.blocked:
        raise PBDError(record.blocked)
    _make_room(record, scene)
    cast = world.obstacles.keys()
    if world.recast(snapshot):
        record.seen = {}
        if world.obstacles.keys() != cast and record.first_disturbed is None:
            record.first_disturbed, record.disturbed_by = record.last_frame + 1, "COLLIDERS"
    world.apply(scene, snapshot.settings)
    if world.fields.keys() != snapshot.fields.keys():
        record.seen, world.fields = {}, {uid: place.name for uid, place in snapshot.fields.items()}
    record.notes = {**world.notes(), **world.newcomers(scene)}
    simulation.use_kernels(backends.choose(scene))
    snapshot = world.held(snapshot)._replace(user=None, begins={})
    seconds = snapshot.settings[scene.session_uid].frame_seconds
    try:
        simulation.take_inputs(world.inputs(scene, snapshot))
        air.surround(world, scene, record.snapshots.get(frame - 1, snapshot), snapshot)
        report = yield from simulation.slices(seconds)
    except UnstableError as error:
        record.blocked = f"{error}; frame {frame - 1} is kept"
        raise PBDError(record.blocked) from error
    except ValueError as error:
        raise PBDError(str(error)) from error
    if record.world is not world:
        return  # It was forgotten meanwhile.
    record.report = report
    record.stepping += report.seconds
    record.snapshots[frame] = snapshot
    if guessed and record.first_guess is None:
        record.first_guess = frame
    _note_touching(record, scene, frame)
    if frame == record.first_frame + 1 and report.crossings:
        record.tangled = world.count_tangled()


def _make_room(record: Record, scene: Scene) -> None:
    """Let frames go from memory that the disk has, if the next one would be too much; raises `PBDError`."""
    simulation, limit = record.world.simulation, scene.pbd.cache_limit * 1e6
    if simulation.frames.nbytes + simulation.frames.frame_bytes <= limit:
        return
    if record.disk is not None and record.disk.files.last == record.last_frame:
        simulation.frames.release()
        record.seen = {}  # They hold positions.
        return
    raise PBDError(
        f"The cache is full: frames {record.first_frame} to {record.last_frame} take the {scene.pbd.cache_limit} MB "
        "that it may have. Raise Memory Limit, or switch on Disk Cache"
    )


def _note_touching(record: Record, scene: Scene, frame: int) -> None:
    """Remember what touches something at a frame that was stepped last, while contact is shown."""
    if scene.pbd.heat_map == "CONTACT":
        touching = record.world.simulation.touching
        record.touched[frame] = {member.uid: touching(member.body) for member in record.world.members}


class Noted(TypedDict, total=False):
    """Attributes of a record that are only noted: nothing else is to be done when they change."""

    bake: BakeProgress | None
    heard: Heard
    loaded: int
    surfaces: dict[int, Surface]
    visits: bool
    stepping: float
    exchange: float
    first_guess: int | None
    first_disturbed: int | None
    disturbed_by: str
    moved_by_hand: set[int]
    held: list[tuple]
    settled: int
    shaped: bool


def note(record: Record, **noted: Unpack[Noted]) -> None:
    """Set attributes of a record."""
    for name, value in noted.items():
        setattr(record, name, value)


def say(record: Record, message: str, is_late: bool = False) -> None:
    """Why nothing is simulated, or ""."""
    record.message, record.is_late = message, is_late


# ------------------------------------------------------------------------------------------ changed in place


def settle(record: Record, scene: Scene, patience: float) -> None:
    """Settle a first frame that was just built, if the scene says so.

    Raises:
        PBDError: It cannot be done.
        LateError: It takes longer than `patience` seconds.
    """
    deadline = time.monotonic() + patience
    frames = frames_to_settle(record, scene)
    for done in range(1, frames + 1):
        settle_on(record, scene, done, frames)
        if done < frames and time.monotonic() > deadline:
            raise LateError(f"Settled {done} of {frames} frames in {patience:.0f} s: press Settle for all of them")


def frames_to_settle(record: Record, scene: Scene) -> int:
    """How many frames a simulation that was just built is to settle."""
    return record.snapshots[record.first_frame].settings[scene.session_uid].settle


def settle_on(record: Record, scene: Scene, done: int, frames: int) -> None:
    """Let the first frame hang for one frame more, with which so many of so many are done; raises `PBDError`.

    Left early, the frame says that it is not settled to the end.
    """
    rest(record, scene)
    record.settled = done
    unsettled = record.first_frame, "SETTLE"
    record.first_disturbed, record.disturbed_by = unsettled if done < frames else (None, "")


def rest(record: Record, scene: Scene) -> None:
    """Step the last cached frame in place, while everything stands still as it is there; raises `PBDError`."""
    frame, simulation = record.last_frame, record.world.simulation
    snapshot = record.snapshots[frame]
    record.world.rested += 1
    simulation.use_kernels(backends.choose(scene))
    try:
        simulation.take_inputs(record.world.inputs(scene, snapshot))
        air.surround(record.world, scene, snapshot, snapshot)
        record.report = simulation.step(snapshot.settings[scene.session_uid].frame_seconds, in_place=True)
    except UnstableError as error:
        raise PBDError(str(error)) from error
    record.snapshots[frame] = snapshot._replace()  # Another version of the frame.
    _note_touching(record, scene, frame)


def take_settings_of_first(record: Record, scene: Scene) -> None:
    """Let the settings that the scene has now be those that the first frame was made with."""
    user = read_user(record, scene)
    first, raw = record.first_frame, user.settings[scene.session_uid]
    record.world.applied[scene.session_uid] = raw
    known = record.snapshots[first]
    record.seen = {}
    record.snapshots[first] = known._replace(settings={**known.settings, scene.session_uid: raw})
    remember(record, user)


def keep(record: Record, scene: Scene, frame: int) -> UndoState:
    """What to go back to after a hand has changed a cached frame."""
    state = record.world.simulation.frames.state(frame)
    disturbed = record.first_disturbed, record.disturbed_by
    return UndoState(scene.pbd.hand_count + 1, frame, state, disturbed, record.shaped, tuple(record.held))


def disturb(record: Record, frame: int) -> None:
    """A hand changes a frame, and so all after it; at the first one, it shapes what the cloth begins with."""
    truncate(record, frame, f"frame {frame} was shaped by hand")
    if frame == record.first_frame:
        record.shaped = True
    elif record.first_disturbed is None or record.first_disturbed > frame:
        record.first_disturbed, record.disturbed_by = frame, "HAND"


def note_hand(record: Record, scene: Scene, kept: UndoState) -> None:
    """Count a use of the hand; undo, which counts back, will go back to what was kept."""
    scene.pbd.hand_count = kept.number
    record.hands = [*record.hands, kept][-UNDOABLE:]


def undo_hands(record: Record, count: int) -> None:
    """Take back the uses of the hand after that many."""
    undone = [kept for kept in record.hands if kept.number > count]
    if undone:
        go_back_to(record, undone[0])
        record.hands = record.hands[: -len(undone)]


def go_back_to(record: Record, kept: UndoState) -> None:
    """Take back what a hand has done since."""
    simulation = record.world.simulation
    if not simulation.frames.holds(kept.frame):
        return
    truncate(record, kept.frame, "what was done by hand was undone")
    record.held = [pin for pin in record.held if pin in kept.held]
    simulation.restore(kept.frame, kept.state, [grab for _, grab in record.held])
    record.snapshots[kept.frame] = record.snapshots[kept.frame]._replace()  # Another version of the frame.
    record.first_disturbed, record.disturbed_by = kept.disturbed
    record.shaped = kept.shaped
