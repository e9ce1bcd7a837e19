"""The cache on disk, beside the .blend: written as frames are simulated, read when the file is loaded.

It is in ``//cache_pbd/FILE/SCENE/``, so it moves with the file. Positions are in world space. Nothing is written
unless the user has switched it on, and frames of another run are never overwritten unasked.
"""

import contextlib
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ...arrays.arguments import FARTHEST
from ...frames import metrics
from ...io import state_files
from ...io.frame_files import LEVELS, DamagedError, FrameFiles, copy, delete, is_there, plain_name
from ...model.model import Pace, State
from ..errors import DamagedFrame, PBDError
from ..kinds import Scene
from ..read.snapshot import SceneSnapshot
from ..scene import surfaces
from ..settings.raw_settings import TABLE, object_settings
from . import checksums, disk_format
from .disk_format import About, Names
from .record import Record
from .scene_simulation import SceneSimulation

ROOT = "cache_pbd"
SAVE_FIRST = "Save the file first: until then frames are kept in memory alone"
HELD = "Frames are kept in memory alone from where a hand has pinned vertices: press Reset to have all on disk"

LAYOUT = zlib.crc32(repr([state_files.NAMES, Pace._fields, *map(list, TABLE.values())]).encode())
"""What the files hold of each frame and of all settings: those of a version with others cannot be read."""

_claimed: set[str] = set()
"""Folders whose frames this session of Blender has written or loaded, and may replace."""


def folder_of(scene: Scene) -> str | None:
    """The folder for the cache of a scene, or None before the .blend was saved."""
    path = bpy.data.filepath
    if not path:
        return None
    # Some systems take "Day" and "day" for the same.
    alike = {one.name.casefold() for one in bpy.data.scenes if one.name < scene.name}
    stem = Path(path).stem
    if not stem.strip(". "):  # "...blend" would lead out of our folder
        stem = plain_name(stem)
    return str(Path(path).parent / ROOT / stem / plain_name(scene.name, alike))


def shown_path(folder: str) -> str:
    """A folder relative to the .blend, to be shown."""
    return bpy.path.relpath(folder).replace("\\", "/")


@contextlib.contextmanager
def whole(frame: int) -> Iterator[None]:
    """A context that reads a frame; raises `DamagedFrame`."""
    try:
        yield
    except DamagedError as error:
        raise DamagedFrame(frame, f"The cache on disk is damaged: {error}") from error


def read_state(scene_sim: SceneSimulation, snapshot: SceneSnapshot, arrays: dict[str, np.ndarray]) -> State:
    """The exact state of a frame from the arrays of its file; raises `DamagedError`."""
    known = snapshot.surfaces
    rails = [(one.attachment.uid, one.body.rail) for one in scene_sim.members if one.body.rail is not None]
    colliders = [(uid, one.collider) for uid, one in scene_sim.colliders.items()]
    places, paths = (
        [
            known[uid].world().T if uid in known and len(known[uid].points) == len(body.vertices) else body.vertices.T
            for uid, body in each
        ]
        for each in (colliders, rails)
    )
    if not all((np.abs(place) <= FARTHEST).all() for place in (*places, *paths)):
        raise DamagedError("a surface is too far away")
    state = scene_sim.simulation.state_from(arrays, places, paths)
    if snapshot.uids("collider") != scene_sim.colliders.keys():  # they were others then
        past = state.memory["obstacles"]
        past["penetrated"], past["is_apart"] = np.zeros_like(past["penetrated"]), np.array(False)
    return state


class DiskCache:
    """The frames of a record in a folder: the `store` of the simulation's frame cache."""

    def __init__(
        self,
        files: FrameFiles,
        record: Record,
        names: Names | None = None,
        made: dict[int, SceneSnapshot] | None = None,
    ) -> None:
        self.files, self.record = files, record
        self.names = names or Names()
        self.made = dict(made or {})  # snapshot of each frame on disk
        self._written: disk_format.Written = {}

    def holds(self, frame: int) -> bool:
        """Whether a frame is on disk, in the version of the record."""
        made = self.made.get(frame)
        return made is not None and made is self.record.snapshots.get(frame)

    def positions(self, frame: int) -> np.ndarray:
        """Positions at a frame, (3, n) float32 [m]; raises `DamagedFrame`."""
        with whole(frame):
            return np.concatenate(self.files.positions(frame)).T

    def state(self, frame: int) -> State:
        """The exact `State` of a frame; raises `DamagedFrame`."""
        with whole(frame):
            return read_state(self.record.scene_sim, self.record.snapshots[frame], self.files.rest(frame))

    def write(self, scene: Scene, state: State, snapshot: SceneSnapshot) -> None:
        """Append a frame; raises `OSError`."""
        arrays, written = disk_format.pack(snapshot, self.names, self.files.last + 1, self._written)
        report = self.record.reports.get(self.files.last + 1)
        if report is not None:
            arrays["report"] = metrics.figures(report)
        self.describe(scene)
        ends = np.cumsum([len(member.body.vertices) for member in self.record.scene_sim.members])
        positions = [part.T for part in np.split(state.x, ends[:-1], axis=1)]
        self.files.append(positions, state_files.arrays_of(state) | arrays)
        self.made[self.files.last] = snapshot
        self._written = written

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`; raises `OSError`."""
        self._written = {uid: known for uid, known in self._written.items() if max(known[1].values()) <= frame}
        self.made = {known: one for known, one in self.made.items() if known <= frame}
        self.files.truncate(frame)

    def describe(self, scene: Scene) -> None:
        """Write names and checksums into the index: all that must match for the frames to be valid."""
        record, members = self.record, self.record.scene_sim.members
        about = About(
            layout=LAYOUT,
            settings=disk_format.named(record.known.settings, self.names),
            members=[self.names.number(member.uid) for member in members],
            fingerprints=[
                [*one.fingerprint[0], one.fingerprint[2], checksums.undeformed(one), checksums.pins(one), one.loose]
                for one in members
            ],
            shapes=[checksums.shape_check(member) for member in members],
            painted=[
                checksums.painted(member, object_settings(record.scene_sim.applied, member.uid)) for member in members
            ],
            colliders=sorted(obj.name for obj in surfaces.colliders(scene)),
            curves=checksums.curve_checks(record),
            first_guess=record.first_guess,
            first_disturbed=record.first_disturbed,
            disturbed_by=record.disturbed_by,
            settled=record.settled,
            shaped=record.shaped,
            rested=record.scene_sim.in_place_steps,
            hand_count=scene.pbd.hand_count,
            moved_by_hand=[self.names.number(uid) for uid in sorted(record.moved_by_hand)],
            names=[],
        )
        self.files.about = about._replace(names=self.names.take(scene))._asdict()


def keep(record: Record, scene: Scene) -> None:
    """Write the record's new frames to disk if the disk cache is on; `disk_note` says why they cannot be."""
    _forget_stale(record)
    writes = scene.pbd.use_disk_cache and not record.storage.failed
    if record.scene_sim is not None:
        record.scene_sim.simulation.frames.keeps_all = writes
    if not writes or record.is_pristine or (record.disk and record.disk.files.last >= record.last_frame):
        return
    if record.scene_sim.simulation.is_held:  # Grabbed pins are in no file, so a run loaded from disk would drop them.
        record.storage.note = HELD if record.grab_pins else record.disk_note
        return
    folder = folder_of(scene)
    if folder is None:
        record.storage.note = iface(SAVE_FIRST)
        return
    try:
        if record.disk is None and not _create(record, folder):
            return
        for frame in range(record.disk.files.last + 1, record.last_frame + 1):
            record.disk.write(scene, record.scene_sim.simulation.frames.state(frame), record.snapshots[frame])
            record.storage.note = ""
        record.scene_sim.simulation.frames.forget_exact(record.disk.files.last)
    except OSError as error:
        give_up(record, error)


def _create(record: Record, folder: str) -> bool:
    """Create the cache of a run; returns False if another run's is there. Raises `OSError`."""
    if is_there(folder) and folder not in _claimed:
        note = iface("{folder} holds another run: load or delete it to have new frames on disk")
        record.storage.note = note.format(folder=shown_path(folder))
        return False
    points = {member.name: len(member.body.vertices) for member in record.scene_sim.members}
    record.storage.cache = DiskCache(FrameFiles.create(folder, record.first_frame, points, {}), record)
    record.scene_sim.simulation.frames.store = record.disk
    claim(folder)
    return True


def claim(folder: str) -> None:
    """Let this session of Blender replace the frames in a folder."""
    _claimed.add(folder)


def forget_claims() -> None:
    """Forget all claims, because another file is loaded."""
    _claimed.clear()


def give_up(record: Record, error: OSError) -> None:
    """Continue in memory after a write error, until the file is saved again."""
    record.storage.failed = True
    note = iface("Frames are kept in memory alone, the disk takes none: {error}")
    record.storage.note = note.format(error=error.strerror or error)


def _forget_stale(record: Record) -> None:
    """Delete frames on disk that the record no longer holds, or holds in another version."""
    disk = record.disk
    if disk is None:
        return
    frames = range(disk.files.first, disk.files.last + 1)
    stale = next((at for at in frames if record.snapshots.get(at) is not disk.made.get(at)), None)
    if stale is not None:
        try:
            disk.truncate(stale - 1)
        except OSError as error:
            give_up(record, error)


def count(record: Record) -> int:
    """Number of frames that will be on disk when the file is saved."""
    last = record.last_frame
    if record.scene_sim.simulation.is_held:
        last = record.disk.files.last if record.disk is not None else record.first_frame - 1
    return last - record.first_frame + 1


def bring_up_to_date(record: Record, scene: Scene) -> None:
    """After the .blend was saved: copy the cache beside it if it was renamed, and bring it up to date."""
    if not scene.pbd.use_disk_cache or record.scene_sim is None or record.is_pristine:
        return
    folder, disk = folder_of(scene), record.disk
    record.storage.failed = False
    try:
        if disk is not None and str(disk.files.folder) != folder:
            if is_there(folder):
                record.storage.failed = True
                record.storage.note = (
                    f"{shown_path(folder)} holds another run: load or delete it to have new frames on disk"
                )
                return
            copy(disk.files.folder, folder)
            disk.files.folder = Path(folder)
            claim(folder)
        keep(record, scene)
        if record.disk is not None and not record.storage.failed:
            record.disk.describe(scene)
            record.disk.files.write_index()
    except OSError as error:
        give_up(record, error)


def is_on_disk(scene: Scene) -> bool:
    """Whether the folder of a scene's cache holds one."""
    folder = folder_of(scene)
    return folder is not None and is_there(folder)


def discard(scene: Scene) -> list[str]:
    """Delete the files of this scene's cache, and folders left empty; raises `OSError`.

    Returns the names of files that are named like ours and stay, because nothing else says that they are.
    """
    folder = folder_of(scene)
    if folder is None:
        return []
    left = delete(folder)
    _claimed.discard(folder)
    for above in (Path(folder), *Path(folder).parents)[:LEVELS]:
        if above.is_dir() and not any(above.iterdir()):
            above.rmdir()
    return left


def bring(scene: Scene, source: str | Path) -> None:
    """Copy a cache from another folder to this scene's; raises an `OSError` if that fails.

    Raises a `PBDError` if there is none in that folder, or this scene has one already.
    """
    folder = folder_of(scene)
    if folder is None:
        raise PBDError("Save the file first: its cache lies beside it")
    if not is_there(source):
        inside = [entry for entry in Path(source).glob("*") if is_there(entry)] if os.path.isdir(source) else []
        if len(inside) != 1:
            raise PBDError(f"There is no PBD cache in {source}")
        source = inside[0]
    if os.path.exists(folder) and os.path.samefile(source, folder):
        raise PBDError("That is where the cache belongs already")
    if is_there(folder):
        raise PBDError(f"{shown_path(folder)} holds a cache already: delete it first")
    copy(source, folder)
