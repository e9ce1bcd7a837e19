"""The record: what was simulated of one scene. Only `step` changes it; all others ask it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from bpy.app.translations import pgettext_iface as iface

from ...model import State
from ...report import StepReport
from ..read.snapshot import SceneSnapshot
from ..read.user_state import Heard, UserState, Watched
from ..scene.animation import Curves
from ..scene.poses import Pose
from ..scene.surfaces import Surface
from .scene_simulation import SceneSimulation


class BakeProgress(NamedTuple):
    """How far a bake is."""

    frame: int
    start: int
    end: int
    eta_seconds: float
    settled: int = 0  # frames that the first one has hung for
    to_settle: int = 0  # of so many; 0 as soon as frames are stepped

    @property
    def share(self) -> float:
        """How much of the settling, and then of the frames, is done, from 0 to 1."""
        if self.to_settle:
            return self.settled / self.to_settle
        return max(self.frame - self.start, 0) / max(self.end - self.start, 1)

    def describe(self) -> str:
        """How far it is, a few words."""
        minutes, seconds = divmod(round(self.eta_seconds), 60)
        left = f"{minutes}:{seconds:02d}"
        if self.to_settle:
            line = iface("Settles: {done} of {frames}, {time} left")
            return line.format(done=self.settled, frames=self.to_settle, time=left)
        return iface("Frame {frame} of {last}, {time} left").format(frame=self.frame, last=self.end, time=left)


class InvalidRange(NamedTuple):
    """Frames that did not hold any more."""

    first: int
    last: int
    why: str


class UndoState(NamedTuple):
    """A frame before a hand changed it, to go back to."""

    number: int  # of the use of the hand that follows
    frame: int
    state: State
    disturbed: tuple[int | None, str]  # from where on, and by what
    shaped: bool
    held: tuple  # of `Record.held`


class Seen(NamedTuple):
    """A cached frame as it was shown last."""

    said: bytes  # as of `QuickLook`
    made: SceneSnapshot  # which version of the frame it was
    user: UserState
    watched: Watched
    shown: list[tuple[int, np.ndarray, Pose, dict]]  # of each object: uid, positions (3, n) float32 [m], pose and masks


@dataclass
class Storage:
    """What of a record is on disk."""

    cache: Any = None  # `DiskCache` while the frames are on disk too
    note: str = ""  # what is to be said of that, one sentence
    failed: bool = False  # whether the disk has refused a frame, so that no more are written


@dataclass(eq=False)
class Record:
    """What was simulated of one scene."""

    bake: BakeProgress | None = None  # while one runs
    surfaces: dict[int, Surface] = field(default_factory=dict)  # what was read last of other objects, by uid
    visits: bool = False  # whether frames that are missing are visited, so that frame changes are our own
    start: SceneSnapshot | None = None  # how the scene stood at the first frame, while nothing is built
    loaded: int | None = None  # the frame at which the file was loaded, until something else is shown
    world: SceneSimulation | None = None  # None before the first step
    snapshots: dict[int, SceneSnapshot] = field(default_factory=dict)  # that each cached frame was made with
    known: UserState | None = None  # what the user had set when a frame was shown last
    seen: dict[float, Seen] = field(default_factory=dict)  # frames shown since the last change, as Blender counts them
    curves: Curves | None = None  # the animation as it was known last
    message: str = ""  # why nothing is simulated, one sentence
    is_late: bool = False  # whether the shown frame was not reached, as it takes longer than a window may wait
    blocked: str = ""  # why the last step has failed, so that none is tried
    notes: dict[int, tuple[str, ...]] = field(default_factory=dict)  # what is worth knowing, sentences by uid
    report: StepReport | None = None  # of the last step
    stepping: float = 0.0  # what the last frame change that stepped took for that [s]
    exchange: float = 0.0  # and for all else: reading the scene, writing the keys [s]
    first_guess: int | None = None  # first cached frame whose inputs were interpolated, as a render jumped over it
    first_disturbed: int | None = (
        None  # first frame that is made after a hand has changed the cloth, or colliders in mid-run
    )
    disturbed_by: str = ""  # "COLLIDERS", "HAND", or "SETTLE" for a first frame that is not settled to the end
    moved_by_hand: set[int] = field(default_factory=set)  # uids of objects with pins that were moved in mid-run
    settled: int = 0  # how many frames the first one has been settled for
    shaped: bool = False  # whether a hand has changed the first frame
    hands: list[UndoState] = field(default_factory=list)  # of every use of the hand that can be undone
    held: list[tuple] = field(default_factory=list)  # frame and `Grab` of what a hand has pinned since it was built
    touched: dict[int, dict[int, Any]] = field(default_factory=dict)  # vertices in contact, by frame and uid
    tangled: dict[int, int] = field(default_factory=dict)  # how many faces went through others at the start, by uid
    lost: InvalidRange | None = None  # the frames that were forgotten last
    heard: Heard = field(default_factory=Heard)  # what Blender has told of edits since a frame was shown
    storage: Storage = field(default_factory=Storage)  # what of it is on disk; written by `disk_cache` alone

    def forget(self, start: SceneSnapshot | None) -> None:
        """Nothing was simulated; the next step begins at `start`, if that is known."""
        vars(self).update(vars(Record(self.bake, self.surfaces, self.visits, start)))

    @property
    def first_frame(self) -> int:
        """First cached frame."""
        return self.world.simulation.frames.first if self.world else 0

    @property
    def last_frame(self) -> int:
        """Last cached frame."""
        return self.world.simulation.frames.last if self.world else 0

    @property
    def cache_bytes(self) -> int:
        """Memory that the cached frames take."""
        return self.world.simulation.frames.nbytes if self.world else 0

    @property
    def disk(self) -> Any:
        """`DiskCache` while the frames are on disk too, else None."""
        return self.storage.cache

    @property
    def disk_note(self) -> str:
        """What is to be said of the cache on disk, one sentence, or ""."""
        return self.storage.note

    @property
    def disk_bytes(self) -> int:
        """What the frames take on the disk."""
        return int(self.disk.files.nbytes) if self.disk else 0

    @property
    def kernels_name(self) -> str:
        """Which kernels compute the steps, or "" before the first one."""
        return self.world.simulation.kernels_name if self.world else ""

    @property
    def untouched(self) -> bool:
        """Whether no step was taken or tried, so that starting anew loses nothing."""
        return self.first_frame == self.last_frame and not (self.blocked or self.settled or self.shaped)

    @property
    def watched(self) -> Watched:
        """What it depends on."""
        if self.world is None:
            return Watched()
        members, obstacles = self.world.members, self.world.obstacles
        bound = [one.attachment for one in members if one.attachment is not None]
        return Watched(
            {one.uid: one.name for one in members},
            frozenset(one.uid for one in members if len(one.body.pin_ids)),
            {one.uid: one.surface.name for one in bound if one.uid not in obstacles},
            {uid: one.surface.name for uid, one in obstacles.items()},
            self.world.fields,
        )
