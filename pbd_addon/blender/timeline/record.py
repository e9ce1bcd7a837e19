"""The record: what was simulated of one scene. Only `step` changes it; everything else reads it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ...frames.report import StepReport
from ...model.model import State
from ..read.snapshot import SceneSnapshot
from ..read.user_state import Dependencies, Edits, UserState
from ..scene.animation import Curves
from ..scene.poses import Pose
from ..scene.surfaces import Surface
from .scene_simulation import SceneSimulation

if TYPE_CHECKING:
    from .disk_cache import DiskCache


class BakeProgress(NamedTuple):
    """Progress of a bake."""

    frame: int
    start: int
    end: int
    eta_seconds: float
    settled: int = 0  # frames of settling done
    to_settle: int = 0  # frames of settling in all; 0 once frames are stepped
    to_prepare: int = 0  # number of vertices while the first frame is built

    @property
    def share(self) -> float:
        """Fraction done of the settling, then of the frames, from 0 to 1."""
        if self.to_settle:
            return self.settled / self.to_settle
        return max(self.frame - self.start, 0) / max(self.end - self.start, 1)

    @property
    def left(self) -> str:
        """The time left as minutes and seconds: "0:07"."""
        minutes, rest = divmod(round(self.eta_seconds), 60)
        return f"{minutes}:{rest:02d}"

    def describe(self) -> str:
        """Progress in a few words."""
        if self.to_prepare:
            return iface("Prepares {count} vertices").format(count=f"{self.to_prepare:,}")
        if self.to_settle:
            line = iface("Settles: {done} of {frames}, {time} left")
            return line.format(done=self.settled, frames=self.to_settle, time=self.left)
        return iface("Frame {frame} of {last}, {time} left").format(frame=self.frame, last=self.end, time=self.left)


class InvalidRange(NamedTuple):
    """Frames that were invalidated."""

    first: int
    last: int
    why: str


class UndoState(NamedTuple):
    """A frame as it was before the user grabbed cloth in it, for undo."""

    number: int  # of the grab that follows
    frame: int
    state: State
    disturbed: tuple[int | None, str]  # `first_disturbed` and `disturbed_by` of the record
    shaped: bool
    grab_pins: tuple  # of `Record.grab_pins`


class DisplayedFrame(NamedTuple):
    """A cached frame as it was last shown."""

    state: list  # of the `QuickLook`
    made: SceneSnapshot  # identifies the version of the frame
    user: UserState
    dependencies: Dependencies
    objects: list[tuple[int, np.ndarray, Pose, dict]]  # per object: uid, positions (3, n) float32 [m], pose, masks


class Progress(NamedTuple):
    """A bake goes on, or ends."""

    bake: BakeProgress | None


class Edited(NamedTuple):
    """Blender has reported edits."""

    edits: Edits


class Loaded(NamedTuple):
    """A file was loaded at a frame."""

    loaded: int


class SurfacesRead(NamedTuple):
    """Other objects were read."""

    surfaces: dict[int, Surface]


class Visiting(NamedTuple):
    """We begin or end to change frames ourselves."""

    is_visiting: bool


class Interrupted(NamedTuple):
    """Somebody pressed Ctrl+C; "" if frames are stepped again."""

    stopped: str


class Message(NamedTuple):
    """Why nothing is simulated; "" if all is well."""

    message: str
    is_late: bool = False
    is_coming: bool = False


class Coming(NamedTuple):
    """The shown frame, for which there was no time, is about to be simulated, or not."""

    is_coming: bool


class Times(NamedTuple):
    """What the last frame change took [s]."""

    stepping: float
    exchange: float


class Past(NamedTuple):
    """What has happened to the frames of a record, as the cache on disk keeps it."""

    first_guess: int | None
    first_disturbed: int | None
    disturbed_by: str
    settled: int
    shaped: bool
    moved_by_hand: set[int]


Note = Progress | Edited | Loaded | SurfacesRead | Visiting | Interrupted | Message | Coming | Times | Past
"""What others ask `step` to write into a record: values of its attributes of the same names."""


@dataclass
class Storage:
    """The record's disk cache."""

    cache: DiskCache | None = None  # while frames are on disk too
    note: str = ""  # one sentence about it for the user
    failed: bool = False  # after a write error; no more frames are written


@dataclass(eq=False)
class Record:
    """What was simulated of one scene."""

    bake: BakeProgress | None = None  # while one runs
    surfaces: dict[int, Surface] = field(default_factory=dict)  # of other objects as last read, by uid
    is_visiting: bool = False  # while we change frames ourselves to evaluate missing ones
    start: SceneSnapshot | None = None  # the scene at the first frame, while nothing is built
    loaded: int | None = None  # the frame at which the file was loaded, until something else is shown
    scene_sim: SceneSimulation | None = None  # None before the first step
    snapshots: dict[int, SceneSnapshot] = field(default_factory=dict)  # inputs of each cached frame
    known: UserState | None = None  # the user's settings when a frame was last shown
    displayed: dict[float, DisplayedFrame] = field(default_factory=dict)  # since the last change, by Blender's frame
    curves: Curves | None = None  # the animation as last read
    message: str = ""  # why nothing is simulated, one sentence
    is_late: bool = False  # whether the shown frame was not reached because stepping would block the window
    is_coming: bool = (
        False  # whether that frame is about to be simulated, so that a panel has nothing to complain about
    )
    stopped: str = ""  # why no more frames are stepped until a cached one is shown: Ctrl+C
    blocked: str = ""  # why the last step failed; no other is tried
    notes: dict[int, tuple[str, ...]] = field(default_factory=dict)  # hints for the user, sentences by uid
    report: StepReport | None = None  # of the last step
    reports: dict[int, StepReport] = field(default_factory=dict)  # of cached frames, where it is known
    stepping: float = 0.0  # solver time of the last frame change that stepped [s]
    exchange: float = 0.0  # its other time: reading the scene, writing the keys [s]
    first_guess: int | None = None  # first cached frame with interpolated inputs, because a render skipped it
    first_disturbed: int | None = None  # first frame after the user grabbed cloth or changed colliders mid-run
    disturbed_by: str = ""  # "COLLIDERS", "HAND", or "SETTLE" for a first frame that is not fully settled
    moved_by_hand: set[int] = field(default_factory=set)  # uids of objects with pins that were moved mid-run
    settled: int = 0  # frames that the first one was settled for
    shaped: bool = False  # whether the first frame was grabbed
    undo_states: list[UndoState] = field(default_factory=list)  # one per grab that can be undone
    grab_pins: list[tuple] = field(default_factory=list)  # (frame, `Grab`) of vertices pinned by grabbing
    contacts: dict[int, dict[int, np.ndarray]] = field(default_factory=dict)  # vertices in contact, by frame and uid
    intersecting: dict[int, int] = field(default_factory=dict)  # number of faces that intersect at the start, by uid
    invalidated: InvalidRange | None = None  # the frames that were invalidated last
    edits: Edits = field(default_factory=Edits)  # edits that Blender reported since a frame was shown
    storage: Storage = field(default_factory=Storage)  # the disk cache; written by `disk_cache` alone

    def forget(self, start: SceneSnapshot | None) -> None:
        """Drop everything simulated; the next step begins at `start`, if it is known."""
        vars(self).update(vars(Record(self.bake, self.surfaces, self.is_visiting, start)))

    @property
    def first_frame(self) -> int:
        """First cached frame."""
        return self.scene_sim.simulation.frames.first if self.scene_sim else 0

    @property
    def last_frame(self) -> int:
        """Last cached frame."""
        return self.scene_sim.simulation.frames.last if self.scene_sim else 0

    @property
    def cache_bytes(self) -> int:
        """Memory that the cached frames take."""
        return self.scene_sim.simulation.frames.nbytes if self.scene_sim else 0

    @property
    def disk(self) -> DiskCache | None:
        """The `DiskCache` while frames are on disk too, else None."""
        return self.storage.cache

    @property
    def disk_note(self) -> str:
        """One sentence about the cache on disk for the user, or ""."""
        return self.storage.note

    @property
    def disk_bytes(self) -> int:
        """Disk space that the frames take."""
        return int(self.disk.files.nbytes) if self.disk else 0

    @property
    def kernels_name(self) -> str:
        """Name of the kernels in use, or "" before the first step."""
        return self.scene_sim.simulation.kernels_name if self.scene_sim else ""

    @property
    def is_pristine(self) -> bool:
        """Whether no step was taken or tried, so that a restart loses nothing."""
        return self.first_frame == self.last_frame and not (self.blocked or self.settled or self.shaped)

    @property
    def dependencies(self) -> Dependencies:
        """The objects that the record depends on."""
        if self.scene_sim is None:
            return Dependencies()
        members, colliders = self.scene_sim.members, self.scene_sim.colliders
        bound = [one.attachment for one in members if one.attachment is not None]
        return Dependencies(
            {one.uid: one.name for one in members},
            frozenset(one.uid for one in members if one.is_led),
            {one.uid: one.surface.name for one in bound if one.uid not in colliders},
            {uid: one.surface.name for uid, one in colliders.items()},
            self.scene_sim.fields,
            self.scene_sim.absorbers,
        )
