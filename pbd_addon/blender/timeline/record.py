"""The record: what was simulated of one scene. Only `step` changes it; all others ask it."""

from __future__ import annotations

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


class Storage:
    """What of a record is on disk.

    Attributes:
        cache: `DiskCache` while the frames are on disk too, else None.
        note: What is to be said of that, one sentence, or "".
        failed: Whether the disk has refused a frame, so that no more are written.
    """

    def __init__(self) -> None:
        self.cache: Any = None
        self.note = ""
        self.failed = False


class Record:
    """What was simulated of one scene.

    Attributes:
        bake: `BakeProgress` while a bake runs, else None.
        surfaces: What was read last of other objects, by object uid.
        visits: Whether frames that are missing are visited, so that frame changes are our own.
        start: How the scene stood at the first frame, while nothing is built, or None.
        loaded: The frame at which the file was loaded, until something else is shown, or None.
        world: The simulation, or None before the first step.
        snapshots: The `SceneSnapshot` that each cached frame was made with.
        known: What the user had set when a frame was shown last, or None.
        seen: `Seen` of frames that were shown since the last change, by the frame as Blender counts it.
        curves: The animation as it was known last, or None.
        message: Why nothing is simulated, one sentence, or "".
        is_late: Whether the frame that is shown was not reached, because it takes longer than a window may wait.
        blocked: Why the last step has failed, so that none is tried, or "".
        notes: What is worth knowing about an object, sentences by object uid.
        report: `StepReport` of the last step, or None.
        stepping, exchange: What the last frame change that stepped took for that, and for all else: reading the scene,
            writing the keys [s].
        first_guess: First cached frame whose inputs were interpolated, because a render jumped over it, or None.
        first_disturbed: First frame that was, or will be, made after a user moved, added or took away a collider in
            the middle of the run, or a hand was at work there, or None.
        disturbed_by: What did that: "COLLIDERS", "HAND", or "SETTLE" for a first frame that is not settled to the end.
        moved_by_hand: Uids of objects with pins that were moved in the middle of the run.
        settled: How many frames the first one has been settled for.
        shaped: Whether a hand has changed the first frame.
        hands: `UndoState` of every use of the hand that can be undone.
        held: Frame and `Grab` of what a hand has pinned since the simulation was built.
        touched: Vertices of each object, by uid, that touched something at a frame; of the frames that were stepped
            while the heat map showed contact.
        tangled: How many faces of an object went through others at the start, by object uid.
        lost: The frames that were forgotten last, or None.
        heard: What Blender has told of edits since a frame was shown.
        storage: What of it is on disk; written by `disk_cache` alone.
    """

    def __init__(self) -> None:
        self.bake: BakeProgress | None = None
        self.surfaces: dict[int, Surface] = {}
        self.visits = False
        self.forget(None)

    def forget(self, start: SceneSnapshot | None) -> None:
        """Nothing was simulated; the next step begins at `start`, if that is known."""
        self.start = start
        self.loaded: int | None = None
        self.world: SceneSimulation | None = None
        self.snapshots: dict[int, SceneSnapshot] = {}
        self.known: UserState | None = None
        self.seen: dict[float, Seen] = {}
        self.curves: Curves | None = None
        self.message = ""
        self.is_late = False
        self.blocked = ""
        self.notes: dict[int, tuple[str, ...]] = {}
        self.report: StepReport | None = None
        self.stepping = self.exchange = 0.0
        self.first_guess: int | None = None
        self.first_disturbed: int | None = None
        self.disturbed_by = ""
        self.moved_by_hand: set[int] = set()
        self.settled = 0
        self.shaped = False
        self.hands: list[UndoState] = []
        self.held: list[tuple] = []
        self.touched: dict[int, dict[int, Any]] = {}
        self.tangled: dict[int, int] = {}
        self.lost: InvalidRange | None = None
        self.heard = Heard()
        self.storage = Storage()

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
        )
