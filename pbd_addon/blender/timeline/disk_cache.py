"""The cache on disk, beside the .blend: written as frames are simulated, taken up again when the file is loaded.

It lies in ``//cache_pbd/FILE/SCENE/``, so it moves with the file. Positions are in world space. Nothing is written
unless the user has switched it on, and nothing that another run has left there is written over unasked.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ...io.frame_files import DamagedError, FrameFiles, copy, delete, is_there
from ...model import Pace, State
from ..errors import DamagedFrame, PBDError
from ..kinds import Scene
from ..read.snapshot import SceneSnapshot
from ..scene import surfaces
from ..scene.surfaces import Surface
from ..settings.raw_settings import Key
from . import checksums
from .record import Record

ROOT = "cache_pbd"
SAVE_FIRST = "Save the file first: until then frames are kept in memory alone"
HELD = "Frames are kept in memory alone from where a hand has pinned vertices: press Reset to have all on disk"

PAST = ("first_guess", "first_disturbed", "disturbed_by", "settled", "shaped")
"""What of a record is in the index under the same name."""

_claimed: set[str] = set()
"""Folders whose frames are of this session of Blender, so that it may replace them."""


def folder_of(scene: Scene) -> str | None:
    """Where the cache of a scene belongs, or None before the .blend was saved."""
    path = bpy.data.filepath
    if not path:
        return None
    name = re.sub(r"[^\w\-. ]", "_", scene.name).strip(". ") or "scene"
    return str(Path(path).parent / ROOT / Path(path).stem / name)


def shown_path(folder: str) -> str:
    """A folder for a sentence, relative to the .blend."""
    return bpy.path.relpath(folder).replace("\\", "/")


class DiskCache:
    """Frames of a record simulation in a folder; what `Simulation` calls a store."""

    def __init__(
        self,
        files: FrameFiles,
        record: Record,
        uids: Iterable[int | None] = (),
        made: dict[int, SceneSnapshot] | None = None,
    ) -> None:
        self.files, self.record = files, record
        self.uids = list(uids)  # of objects and scene, in the order of the index's table of names
        self.made = dict(made or {})  # what the frames on disk were made with, by frame
        self._written: dict[int, Any] = {}  # of each surface, by uid: what was written last, and in which frames' files

    def positions(self, frame: int) -> np.ndarray:
        """Positions at a frame, (3, n) float32 [m]; raises `DamagedFrame`."""
        try:
            return np.concatenate(self.files.positions(frame)).T
        except DamagedError as error:
            raise DamagedFrame(frame, f"The cache on disk is damaged: {error}") from error

    def state(self, frame: int) -> State:
        """The `State` of a frame; raises `DamagedFrame`."""
        try:
            rest = self.files.rest(frame)
        except DamagedError as error:
            raise DamagedFrame(frame, f"The cache on disk is damaged: {error}") from error
        known = self.record.snapshots[frame].surfaces
        places = [
            known[uid].world().T if uid in known else one.collider.vertices.T
            for uid, one in self.record.world.obstacles.items()
        ]
        return State(
            x=self.positions(frame), v=rest["v"], pin_targets=rest["pin_targets"],
            planes=list(map(tuple, rest["planes"])), colliders=places, strain=rest["strain"],
            prediction_error=rest["straying"], pushed=rest.get("pushed", np.ones(len(rest["strain"]), bool)),
            skin=rest.get("skin", np.zeros(0)), pace=Pace(*rest["pace"].tolist()),
            air=rest.get("air", np.zeros(0)), inside=rest.get("inside", np.zeros((2, 0))),
        )  # fmt: skip

    def write(self, scene: Scene, state: State, snapshot: SceneSnapshot) -> None:
        """Append a frame; raises `OSError`."""
        arrays = {
            "v": state.v.astype(np.float32),
            "pin_targets": state.pin_targets,
            "planes": np.array(state.planes).reshape(-1, 2, 3),
            "strain": state.strain,
            "straying": state.prediction_error,
            "pushed": state.pushed,
            "skin": state.skin.astype(np.float32),
            "pace": np.array(state.pace),
            "air": state.air,
            "inside": state.inside,
        }
        stood = {
            self._number(uid): (pose.matrix.ravel().tolist(), pose.key_values) for uid, pose in snapshot.poses.items()
        }
        written, around = {}, {}
        for uid, surface in snapshot.surfaces.items():
            frames = self._add(arrays, uid, surface)
            written[uid] = surface, frames
            around[self._number(uid)] = {"name": surface.name, "matrix": surface.matrix.ravel().tolist(), **frames}
        arrays |= {f"deformed_{self._number(uid)}": shape for uid, shape in snapshot.deformed.items()}
        note: dict[str, Any] = {"poses": stood, "settings": self._named(snapshot.settings), "surfaces": around}
        if snapshot.fields:
            blowing = snapshot.fields.items()
            note["fields"] = {
                self._number(uid): [place.name, *(a.tolist() for a in place[1:])] for uid, place in blowing
            }
        arrays["note"] = np.frombuffer(json.dumps(note).encode(), np.uint8)
        self.describe(scene)
        ends = np.cumsum([len(member.body.vertices) for member in self.record.world.members])
        self.files.append([part.T for part in np.split(state.x, ends[:-1], axis=1)], arrays)
        self.made[self.files.last] = snapshot
        self._written = written

    def _add(self, arrays: dict[str, np.ndarray], uid: int, surface: Surface) -> dict[str, int]:
        """Add to the arrays what of a surface is not in an earlier frame's file; returns in which frames' it is."""
        before, frames = self._written.get(uid, (None, {}))
        frames, number = dict(frames), self._number(uid)
        if before is None or before.points is not surface.points:
            frames["points"] = self.files.last + 1
            arrays[f"points_{number}"] = surface.points
        if before is None or before.faces is not surface.faces:
            frames["faces"] = self.files.last + 1
            arrays[f"corners_{number}"], arrays[f"starts_{number}"] = surface.faces
        return frames

    def truncate(self, frame: int) -> None:
        """Forget all frames after `frame`; raises `OSError`."""
        self._written = {uid: known for uid, known in self._written.items() if max(known[1].values()) <= frame}
        self.made = {known: one for known, one in self.made.items() if known <= frame}
        self.files.truncate(frame)

    def describe(self, scene: Scene) -> None:
        """Put into the index what has to be the same for the frames to hold, and what the objects are called."""
        record, members = self.record, self.record.world.members
        known = self.files.about.get("names", ())
        self.files.about.update(
            settings=self._named(record.known.settings),
            members=[self._number(member.uid) for member in members],
            fingerprints=[
                [*one.fingerprint[0], one.fingerprint[1], checksums.undeformed(one), checksums.held(one)]
                for one in members
            ],
            shapes=[checksums.shape_check(member) for member in members],
            painted=[checksums.painted(member, record.world.applied[member.uid]) for member in members],
            colliders=sorted(obj.name for obj in surfaces.colliders(scene)),
            curves=checksums.curve_checks(record),
            **{name: getattr(record, name) for name in PAST},
            rested=record.world.rested,
            hand_count=scene.pbd.hand_count,
            moved_by_hand=[self._number(uid) for uid in sorted(record.moved_by_hand)],
        )
        names = {**dict(zip(self.uids, known)), **{obj.session_uid: obj.name for obj in scene.objects}}
        names[scene.session_uid] = ""
        self.files.about["names"] = [names.get(uid) for uid in self.uids]

    def _number(self, uid: int) -> str:
        """The place of an object or scene in the table of names, as text."""
        if uid not in self.uids:
            self.uids.append(uid)
        return str(self.uids.index(uid))

    def _named(self, settings: dict[Key, Any]) -> dict[str, Any]:
        """Raw settings by keys that a file can hold."""
        return {
            f"{key[0]} {self._number(key[1])}" if isinstance(key, tuple) else self._number(key): raw
            for key, raw in settings.items()
        }


def keep(record: Record, scene: Scene) -> None:
    """Have on disk what the record holds, if the user wants that; `disk_note` says why it cannot be."""
    _forget_stale(record)
    if not scene.pbd.use_disk_cache or record.untouched or record.storage.failed:
        return
    if record.world.simulation.is_held:  # No file says what, so a run that went on from there would drop it.
        record.storage.note = HELD if record.held else record.disk_note
        return
    folder = folder_of(scene)
    if folder is None:
        record.storage.note = iface(SAVE_FIRST)
        return
    try:
        if record.disk is None and not _begin(record, scene, folder):
            return
        for frame in range(record.disk.files.last + 1, record.last_frame + 1):
            record.disk.write(scene, record.world.simulation.frames.state(frame), record.snapshots[frame])
            record.storage.note = ""
    except OSError as error:
        give_up(record, error)


def _begin(record: Record, scene: Scene, folder: str) -> bool:
    """Begin to write a run; returns whether that can be done. Raises `OSError`."""
    if is_there(folder) and folder not in _claimed:
        note = iface("{folder} holds another run: load or delete it to have new frames on disk")
        record.storage.note = note.format(folder=shown_path(folder))
        return False
    points = {member.name: len(member.body.vertices) for member in record.world.members}
    record.storage.cache = DiskCache(FrameFiles.create(folder, record.first_frame, points, {}), record)
    record.world.simulation.frames.store = record.disk
    claim(folder)
    return True


def claim(folder: str) -> None:
    """From now on the frames of a folder are of this session of Blender."""
    _claimed.add(folder)


def forget_claims() -> None:
    """Another file is loaded: what it finds on disk is not of this session."""
    _claimed.clear()


def give_up(record: Record, error: OSError) -> None:
    """Go on in memory, because the disk takes no more; tried again when the file is saved."""
    record.storage.failed = True
    note = iface("Frames are kept in memory alone, the disk takes none: {error}")
    record.storage.note = note.format(error=error.strerror or error)


def _forget_stale(record: Record) -> None:
    """Forget the frames on disk that the record does not hold any more, or in another version."""
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
    """How many frames of a record will be on disk when the file is saved."""
    last = record.last_frame
    if record.world.simulation.is_held:
        last = record.disk.files.last if record.disk is not None else record.first_frame - 1
    return last - record.first_frame + 1


def follow(record: Record, scene: Scene) -> None:
    """After the .blend was saved: have the cache beside it, under its present name and in its present state."""
    if not scene.pbd.use_disk_cache or record.world is None or record.untouched:
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
    """Whether there is a cache where that of a scene belongs."""
    folder = folder_of(scene)
    return folder is not None and is_there(folder)


def discard(scene: Scene) -> None:
    """Delete the files of this scene's cache, and the folders that they leave empty; raises `OSError`."""
    folder = folder_of(scene)
    if folder is None:
        return
    delete(folder)
    _claimed.discard(folder)
    for above in (Path(folder), *Path(folder).parents[:2]):
        if above.is_dir() and not any(above.iterdir()):
            above.rmdir()


def bring(scene: Scene, source: Any) -> None:
    """Copy a cache that lies elsewhere to where this scene's belongs.

    Raises:
        PBDError: There is none in that folder, or one is here already; one sentence.
        OSError: It could not be copied.
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
