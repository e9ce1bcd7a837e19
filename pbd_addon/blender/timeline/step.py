"""The only writer of the record: truncates it, steps one frame at a time, and restores frames on undo."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING

from bpy.app.translations import pgettext_iface as iface

from ... import UnstableError
from ...constraints import Grab
from ...frames.report import StepReport
from ...solver import ChangedError
from ...stepping.time_stepping import LONGEST_FRAME, SHORTEST_FRAME
from ..errors import DamagedFrame, Interruption, LateError, PBDError
from ..kinds import Scene
from ..read import user_state
from ..read.snapshot import SceneSnapshot
from ..read.user_state import Edits, UserState
from ..scene.scene_objects import live_bodies
from ..scene.simulated_range import last_live_frame
from ..settings.raw_settings import scene_settings
from . import air, backends, changes
from .changes import Change
from .progress import Watch
from .record import DisplayedFrame, InvalidRange, Note, Past, Record, UndoState
from .scene_simulation import SceneSimulation

if TYPE_CHECKING:
    from .disk_cache import DiskCache

INTERRUPTED = "The scene was changed while one of its frames was simulated"

UNDOABLE = 16
"""Number of grabs that can be undone."""


# ------------------------------------------------------------------------------------------ what is valid


def truncate(record: Record, frame: int, why: str) -> None:
    """Forget all frames after `frame`, except the first; `why` is the end of a sentence.

    Raises `DamagedFrame` if no readable frame is left to continue from; then the record is reset.
    """
    record.blocked, record.stopped, record.displayed = "", "", {}
    frame = max(frame, record.first_frame)
    for _pinned, grab in [pin for pin in record.grab_pins if pin[0] > frame]:
        grab.release()  # It was pinned later than that.
    record.grab_pins = [pin for pin in record.grab_pins if pin[0] <= frame]
    if frame >= record.last_frame:
        return
    record.invalidated = InvalidRange(frame + 1, record.last_frame, why)
    try:
        record.scene_sim.simulation.truncate(frame)
    except DamagedFrame:
        if frame == record.first_frame:
            record.forget(record.start)
            raise
        truncate(record, frame - 1, why)
        return
    record.contacts = {known: touching for known, touching in record.contacts.items() if known <= frame}
    record.snapshots = {known: one for known, one in record.snapshots.items() if known <= frame}
    record.reports = {known: one for known, one in record.reports.items() if known <= frame}
    if record.first_guess is not None and record.first_guess > frame:
        record.first_guess = None
    if record.first_disturbed is not None:
        record.first_disturbed = min(record.first_disturbed, frame + 1)


def apply(record: Record, found: Iterable[Change], user: UserState) -> None:
    """Truncate the record by changes; raises `DamagedFrame` if everything must restart."""
    for change in found:
        record.displayed = {}
        if change.what in changes.AT_FIRST:
            continue
        if change.what == "HAND":
            undo_grabs(record, user.hand_count)
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
    """Remember the user's settings for the frame that is shown."""
    around = record.scene_sim.around.items() if record.scene_sim is not None else ()
    uids = {kind: frozenset(there) for kind, there in around} | (record.known.uids if record.known is not None else {})
    record.known = user._replace(edits=Edits(), curves=None, uids=uids | user.uids)
    record.edits = Edits()


def note_displayed(record: Record, frame: float, shown: DisplayedFrame) -> None:
    """Remember a cached frame, numbered as by Blender, that is shown and needs nothing else."""
    record.displayed[frame], record.known = shown, shown.user


def forget_damaged(record: Record, frame: int) -> None:
    """Forget a frame that cannot be read, and those after it; reset the record if it is the first one."""
    if record.scene_sim is None or frame == record.first_frame:
        record.forget(record.start)
        return
    with contextlib.suppress(DamagedFrame):  # Then the record is reset already.
        truncate(record, frame - 1, iface("the cache on disk is damaged"))


# ------------------------------------------------------------------------------------------ stepping


def building(record: Record, scene: Scene, frame: int, snapshot: SceneSnapshot) -> Generator[None, None, None]:
    """Build the simulation from the scene's snapshot at its first frame, in slices; raises `PBDError`."""
    objects = live_bodies(scene)
    if not objects:
        raise PBDError("There is no PBD cloth or balloon to simulate")
    invalidated = record.invalidated  # Kept: it may be why the simulation is rebuilt.
    record.forget(snapshot)
    record.invalidated = invalidated
    built = SceneSimulation(scene, objects, snapshot)
    yield from built.prepare()
    built.simulation.use_kernels(backends.choose(scene))
    yield from built.simulation.beginning(frame)
    if record.start is not snapshot or record.scene_sim is not None:
        raise Interruption(INTERRUPTED)
    record.scene_sim = built
    record.snapshots = {frame: snapshot}
    record.notes = built.notes
    _remember_start(record, scene)


def take_up(
    record: Record,
    scene: Scene,
    built: SceneSimulation,
    made: dict[int, SceneSnapshot],
    reports: dict[int, StepReport],
    disk: DiskCache,
    past: Past,
) -> None:
    """Take over frames that were simulated before and are on disk."""
    record.forget(made[disk.files.first])
    record.storage.cache = disk
    record.scene_sim, record.snapshots, record.notes = built, made, built.notes
    record.reports = reports
    built.simulation.take_up(disk, disk.files.first, disk.files.last)
    _remember_start(record, scene)
    note(record, past)


def _remember_start(record: Record, scene: Scene) -> None:
    """Remember the user's settings and the animation that a simulation was just made with."""
    user = read_user(record, scene, Edits(curves=True), with_curves=True)
    record.curves = user.curves
    remember(record, user)


def read_user(record: Record, scene: Scene, edits: Edits | None = None, with_curves: bool = False) -> UserState:
    """What the user has set; optionally also the animation over all frames of the record and the range, if edited."""
    frames = None
    if with_curves and record.scene_sim is not None:
        frames = range(record.first_frame, max(record.last_frame, last_live_frame(scene)) + 1)
    return user_state.read(scene, record.dependencies, edits or Edits(), record.curves, frames)


def clear(record: Record, snapshot: SceneSnapshot) -> None:
    """Drop everything simulated; `snapshot` is the scene at the first frame."""
    record.forget(snapshot)


def advancing(
    record: Record, scene: Scene, frame: int, snapshot: SceneSnapshot, guessed: bool = False
) -> Generator[float, None, None]:
    """Step to the next frame, whose inputs are in a snapshot, in slices; raises `PBDError`.

    Yields the fraction of the frame that is done. If closed early, nothing is stepped.
    """
    scene_sim, simulation = record.scene_sim, record.scene_sim.simulation
    scene_sim.check(scene, snapshot, record.snapshots.values())
    if record.blocked:
        raise PBDError(record.blocked)
    _make_room(record, scene)
    collider_uids = scene_sim.colliders.keys()
    if scene_sim.update_colliders(snapshot):
        record.displayed = {}
        if scene_sim.colliders.keys() != collider_uids and record.first_disturbed is None:
            record.first_disturbed, record.disturbed_by = record.last_frame + 1, "COLLIDERS"
    scene_sim.apply(scene, snapshot.settings)
    if scene_sim.update_fields(snapshot):
        record.displayed = {}
    record.notes = {**scene_sim.notes, **scene_sim.newcomers(scene)}
    simulation.use_kernels(backends.choose(scene))
    snapshot = scene_sim.with_pins_only(snapshot)._replace(user=None, first_inputs={})
    seconds = frame_seconds(scene, snapshot)
    try:
        simulation.take_inputs(scene_sim.inputs(scene, snapshot))
        air.surround(scene_sim, scene, record.snapshots.get(frame - 1, snapshot), snapshot)
        report = yield from simulation.slices(seconds)
    except UnstableError as error:
        record.blocked = f"{error}; frame {frame - 1} is kept"
        raise PBDError(record.blocked) from error
    except ChangedError as error:
        raise Interruption(INTERRUPTED) from error
    except ValueError as error:
        raise PBDError(str(error)) from error
    if record.scene_sim is not scene_sim:
        raise Interruption(INTERRUPTED)  # The record was reset meanwhile.
    record.report = record.reports[frame] = report
    record.stepping += report.seconds
    record.snapshots[frame] = snapshot
    if guessed and record.first_guess is None:
        record.first_guess = frame
    _note_contacts(record, scene, frame)
    if frame == record.first_frame + 1 and report.crossings:
        record.intersecting = scene_sim.count_intersecting()


def frame_seconds(scene: Scene, snapshot: SceneSnapshot) -> float:
    """The length of a frame by a snapshot's settings [s]; raises a `PBDError` if it cannot be stepped."""
    seconds: float = scene_settings(snapshot.settings, scene).frame_seconds
    if not SHORTEST_FRAME <= seconds <= LONGEST_FRAME:
        limits = f"{SHORTEST_FRAME:.0e} to {LONGEST_FRAME:g} s"
        raise PBDError(f"A frame of '{scene.name}' must take {limits}, not {seconds:.3g}: change Speed or Frame Rate")
    return seconds


def _make_room(record: Record, scene: Scene) -> None:
    """Free frames that are also on disk if the next one would exceed the memory limit; raises `PBDError`."""
    simulation, limit = record.scene_sim.simulation, scene.pbd.cache_limit * 1e6
    if simulation.frames.nbytes + simulation.frames.frame_bytes <= limit:
        return
    if record.disk is not None and record.disk.files.last == record.last_frame:
        simulation.frames.release()
        record.displayed = {}  # These keep positions in memory.
        return
    raise PBDError(
        f"The cache is full: frames {record.first_frame} to {record.last_frame} take the {scene.pbd.cache_limit} MB "
        "that it may have. Raise Memory Limit, or switch on Disk Cache"
    )


def _note_contacts(record: Record, scene: Scene, frame: int) -> None:
    """Remember the vertices in contact at the frame that was stepped last, while the heat map shows contact."""
    if scene.pbd.heat_map == "CONTACT":
        touching = record.scene_sim.simulation.touching
        record.contacts[frame] = {member.uid: touching(member.body) for member in record.scene_sim.members}


def note(record: Record, noted: Note) -> None:
    """Write what has no further consequences into a record."""
    for name, value in zip(noted._fields, noted, strict=True):
        setattr(record, name, value)


def note_pin(record: Record, frame: int, grab: Grab) -> None:
    """Remember vertices that were pinned by grabbing in a frame."""
    record.grab_pins = [*record.grab_pins, (frame, grab)]


# ------------------------------------------------------------------------------------------ changed in place


def settle(record: Record, scene: Scene, patience: float, watch: Watch) -> None:
    """Settle a first frame that was just built, if the scene's settings ask for it.

    Raises a `PBDError` if that fails, a `LateError` if it takes longer than `patience` seconds.
    """
    deadline = time.monotonic() + patience
    frames = frames_to_settle(record, scene)
    for done in range(1, frames + 1):
        settle_on(record, scene, done, frames)
        watch.say(f"{done} of {frames} frames are settled")
        if done < frames:
            watch.obey(f"Stopped by Ctrl+C after {done} of {frames} frames were settled")
        if done < frames and time.monotonic() > deadline:
            raise LateError(f"Settled {done} of {frames} frames in {patience:.0f} s: press Settle for all of them")


def frames_to_settle(record: Record, scene: Scene) -> int:
    """Number of frames that a simulation that was just built has to settle."""
    return scene_settings(record.snapshots[record.first_frame].settings, scene).settle


def settle_on(record: Record, scene: Scene, done: int, frames: int) -> None:
    """Settle the first frame by one frame, the `done`-th of `frames`; raises `PBDError`.

    Until the last one the record says that the first frame is not fully settled.
    """
    step_in_place(record, scene)
    record.settled = done
    unsettled = record.first_frame, "SETTLE"
    record.first_disturbed, record.disturbed_by = unsettled if done < frames else (None, "")


def step_in_place(record: Record, scene: Scene) -> None:
    """Step the last cached frame in place, with its own inputs held still; raises `PBDError`.

    Initial velocities wait until the first frame is done.
    """
    frame, simulation = record.last_frame, record.scene_sim.simulation
    waits = 1.0 if frame == record.first_frame else 0.0
    snapshot = record.snapshots[frame]
    record.scene_sim.in_place_steps += 1
    simulation.use_kernels(backends.choose(scene))
    try:
        simulation.take_inputs(record.scene_sim.inputs(scene, snapshot))
        air.surround(record.scene_sim, scene, snapshot, snapshot)
        simulation.add_initial_velocities(-waits)
        record.report = simulation.step(frame_seconds(scene, snapshot), in_place=True)
    except (UnstableError, ValueError) as error:
        raise PBDError(str(error)) from error
    finally:
        simulation.add_initial_velocities(waits)
    record.snapshots[frame] = snapshot._replace()  # A new object marks a new version of the frame.
    _note_contacts(record, scene, frame)


def take_settings_of_first(record: Record, scene: Scene) -> None:
    """Treat the scene's current settings as those that the first frame was made with."""
    user = read_user(record, scene)
    first, raw = record.first_frame, scene_settings(user.settings, scene)
    record.scene_sim.applied[scene.session_uid] = raw
    known = record.snapshots[first]
    record.displayed = {}
    record.snapshots[first] = known._replace(settings={**known.settings, scene.session_uid: raw})
    remember(record, user)


def undo_state(record: Record, scene: Scene, frame: int) -> UndoState:
    """What undo needs to restore a cached frame before it is grabbed."""
    state = record.scene_sim.simulation.frames.state(frame)
    disturbed = record.first_disturbed, record.disturbed_by
    return UndoState(scene.pbd.hand_count + 1, frame, state, disturbed, record.shaped, tuple(record.grab_pins))


def disturb(record: Record, frame: int) -> None:
    """Note that cloth is grabbed at a frame, and drop all frames after it; at the first one it reshapes the start."""
    truncate(record, frame, f"frame {frame} was shaped by hand")
    if frame == record.first_frame:
        record.shaped = True
    elif record.first_disturbed is None or record.first_disturbed > frame:
        record.first_disturbed, record.disturbed_by = frame, "HAND"


def note_grab(record: Record, scene: Scene, kept: UndoState) -> None:
    """Count a grab in the scene; when undo lowers that count, `kept` is restored."""
    scene.pbd.hand_count = kept.number
    record.undo_states = [*record.undo_states, kept][-UNDOABLE:]


def undo_grabs(record: Record, count: int) -> None:
    """Undo all grabs after the first `count`."""
    undone = [kept for kept in record.undo_states if kept.number > count]
    if undone:
        restore(record, undone[0])
        record.undo_states = record.undo_states[: -len(undone)]


def restore(record: Record, kept: UndoState) -> None:
    """Restore a frame as it was before a grab."""
    simulation = record.scene_sim.simulation
    if not simulation.frames.holds(kept.frame):
        return
    truncate(record, kept.frame, "what was done by hand was undone")
    record.grab_pins = [pin for pin in record.grab_pins if pin in kept.grab_pins]
    simulation.restore(kept.frame, kept.state, [grab for _, grab in record.grab_pins])
    record.snapshots[kept.frame] = record.snapshots[kept.frame]._replace()  # A new version of the frame.
    record.first_disturbed, record.disturbed_by = kept.disturbed
    record.shaped = kept.shaped
