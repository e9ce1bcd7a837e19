"""The simulation of one scene: from a frame that Blender shows to the shape keys that show it.

It is built when the first frame has to be stepped. As long as no step was taken it is built anew each time, so that
edits at the first frame are seen.
"""

import contextlib
import math
import time
from typing import NamedTuple

from bpy.app.translations import pgettext_iface as iface

from ..cache import disk_cache, validity, watched_curves
from ..cache.hand_placed import Shown
from ..cache.validity import Loss
from ..errors import DamagedFrame, LateError, PBDError
from ..input import mesh_io
from ..input.members import check_fit, suits_output
from ..input.moments import Start, read_deformed, read_moment, read_surroundings
from ..input.world import World
from ..output import output
from ..scene import poses
from ..scene.scene_objects import bodies, find, live_bodies
from ..scene.simulated_range import frame_range, last_live_frame, shown_frame
from ..settings import raw_settings
from . import heat_map, shaping, stepping

FEW = 4
"""So many objects are found sooner by their names than by a look at all objects of a scene."""


class BakeProgress(NamedTuple):
    """How far a bake is."""

    frame: int
    start: int
    end: int
    eta_seconds: float
    settled: int = 0  # frames that the first one has hung for
    to_settle: int = 0  # of so many; 0 as soon as frames are stepped

    @property
    def share(self):
        """How much of the settling, and then of the frames, is done, from 0 to 1."""
        if self.to_settle:
            return self.settled / self.to_settle
        return max(self.frame - self.start, 0) / max(self.end - self.start, 1)

    def describe(self):
        """How far it is, a few words."""
        minutes, seconds = divmod(round(self.eta_seconds), 60)
        left = f"{minutes}:{seconds:02d}"
        if self.to_settle:
            line = iface("Settles: {done} of {frames}, {time} left")
            return line.format(done=self.settled, frames=self.to_settle, time=left)
        return iface("Frame {frame} of {last}, {time} left").format(frame=self.frame, last=self.end, time=left)


class Session:
    """The simulation of one scene.

    Attributes:
        undone: The frame at which a user has undone something that was not looked at yet, or None.
        is_late: Whether the frame that is shown was not reached, because it takes longer than a window may wait.
        message: Why nothing is simulated, one sentence, or "".
        notes: What is worth knowing about an object, sentences by object uid.
        report: `StepReport` of the last step, or None.
        stepping, exchange: What the last frame change that stepped took for that, and for all else: reading the scene,
            writing the keys [s].
        bake: `BakeProgress` while a bake runs, else None.
        world: The running simulation, or None before the first step.
        moments: The `Moment` that each cached frame was made with.
        start: The frame at which nothing was stepped yet, and how the scene stood there: `Start`, or None.
        visits: Whether frames that are missing are visited, so that frame changes are our own.
        first_guess: First cached frame whose inputs were interpolated, because a render jumped over it, or None.
        first_disturbed: First frame that was, or will be, made after a user moved, added or took away a collider in
            the middle of the run, or a hand was at work there, or None.
        disturbed_by: What did that: "COLLIDERS", "HAND", or "SETTLE" for a first frame that is not settled to the end.
        settled: How many frames the first one has been settled for.
        shaped: Whether a hand has changed the first frame.
        hands: `shaping.Kept` of every use of the hand that can be undone.
        held: Frame and `Grab` of what a hand has pinned since the simulation was built.
        touched: Vertices of each object, by uid, that touched something at a frame; of the frames that were stepped
            while the heat map showed contact.
        tangled: How many faces of an object went through others at the start, by object uid.
        surfaces: What was read last of other objects, by object uid.
        shown: `hand_placed.Shown`, the frame that was shown last, or None.
        moved_by_hand: Uids of objects with pins that were moved in the middle of the run.
        curves: The F-curves that the simulation depends on, as they were known last, or None.
        curves_edited: Whether F-curves may have been edited since.
        loaded: The frame at which the file was loaded, until something else is shown, or None.
        loss: The frames that were forgotten last, `Loss`, or None.
        disk: `DiskCache` while the frames are on disk too, else None.
        disk_note: What is to be said of the cache on disk, one sentence, or "".
        disk_failed: Whether the disk has refused a frame, so that no more are written.
    """

    def __init__(self):
        self.bake = None
        self.surfaces = {}
        self.visits = False
        self.begin_anew(None)

    def begin_anew(self, start):
        """Forget what was simulated; the next step begins at `start`, if that is known."""
        self.start = start
        self.loaded = None
        self.world = None
        self.message = ""
        self.is_late = False
        self.blocked = ""
        self.notes = {}
        self.report = None
        self.stepping = self.exchange = 0.0
        self.moments = {}
        self.settings = {}
        self.shown = None
        self.undone = None
        self.first_guess = None
        self.first_disturbed = None
        self.disturbed_by = ""
        self.settled = 0
        self.shaped = False
        self.hands = []
        self.held = []
        self.touched = {}
        self.tangled = {}
        self.moved_by_hand = set()
        self.curves = None
        self.curves_edited = False
        self.loss = None
        self.disk = None
        self.disk_note = ""
        self.disk_failed = False

    @property
    def first_frame(self):
        """First cached frame."""
        return self.world.simulation.first_frame if self.world else 0

    @property
    def last_frame(self):
        """Last cached frame."""
        return self.world.simulation.last_frame if self.world else 0

    @property
    def cache_bytes(self):
        """Memory that the cached frames take."""
        return self.world.simulation.cache_bytes if self.world else 0

    @property
    def disk_bytes(self):
        """What the frames take on the disk."""
        return self.disk.files.nbytes if self.disk else 0

    def valid_frames(self, scene):
        """First and last frame that hold, with what was changed since the last one was shown."""
        pending = validity.pending(self, scene)
        return self.first_frame, self.last_frame if pending is None else pending.first - 1

    def lost_frames(self, scene):
        """The `Loss` of frames that were not simulated again yet, or None."""
        pending = validity.pending(self, scene)
        if pending is not None or self.loss is None or self.last_frame >= self.loss.last:
            return pending
        return self.loss._replace(first=self.last_frame + 1)

    @property
    def kernels_name(self):
        """Which kernels compute the steps, or "" before the first one."""
        return self.world.simulation.kernels_name if self.world else ""

    @property
    def untouched(self):
        """Whether no step was taken or tried, so that starting anew loses nothing."""
        return self.first_frame == self.last_frame and not (self.blocked or self.settled or self.shaped)

    def build(self, scene, start, patience=math.inf):
        """Make the simulation from the scene as it stood at `start`, settled if the scene says so.

        A bake settles it afterwards, with progress.

        Raises:
            PBDError: It cannot be made, or it takes longer to settle than `patience` seconds.
        """
        objects = live_bodies(scene)
        if not objects:
            raise PBDError("There is no PBD cloth or balloon to simulate")
        self.begin_anew(start)
        built = World(scene, objects, start.moment)
        built.simulation.begin(start.frame)
        self.world = built
        self.moments = {start.frame: start.moment}
        self.settings = dict(start.moment.settings)
        self.notes = built.notes()
        watched_curves.watch(self, scene, max(last_live_frame(scene), start.frame))
        if not self.bake:
            shaping.settle_first(self, scene, patience)

    def _stand(self, scene, depsgraph, frame, here):
        """Stand at the first frame, with nothing stepped; settle what is to be settled, as far as patience lasts."""
        self.begin_anew(Start(frame, here))
        if raw_settings.settle_from(here.settings[scene.session_uid]) and not self.bake:
            self.build(scene, self.start, stepping.patience_of(depsgraph))

    def begin(self, scene, depsgraph, frame):
        """Build the simulation from the scene as it stands at a frame; raises `PBDError`."""
        with stepping.visiting(self, scene):
            if shown_frame(scene) != frame:
                depsgraph = stepping.visit(scene, frame)
            objects = live_bodies(scene)
            moment = read_moment(scene, depsgraph, objects)
            start = Start(frame, self.with_surroundings(scene, depsgraph, moment, objects))
        self.build(scene, start, stepping.patience_of(depsgraph))

    def show(self, scene, depsgraph, steps=True):
        """Bring the live keys to the present frame; step, unless told not to, to a whole frame that is not cached.

        Returns whether there is an object to simulate.
        """
        began, self.stepping = time.monotonic(), 0.0
        frame = shown_frame(scene)
        self.message, self.is_late = "", False
        objects = [obj for _, obj in self.world.objects(scene)] if self.world else live_bodies(scene)
        if not objects and live_bodies(scene):  # All that was simulated is deleted, and there is something new.
            self.begin_anew(None)
            objects = live_bodies(scene)
        if output.prepare(objects):
            depsgraph.update()
        with contextlib.suppress(DamagedFrame):  # It has begun anew then.
            validity.notice_moves(self, scene)
        before, obstacles = self.world, self.obstacles(scene)
        cast = before.obstacles if before else {}
        now = read_moment(scene, depsgraph, objects, obstacles)
        try:
            now = self._reach_and_write(scene, depsgraph, frame, now, objects if steps else ())
        except DamagedFrame as error:
            self._forget_damaged(error.frame)
            now = self._reach_and_write(scene, depsgraph, frame, now, objects if steps else ())
        same = self.world is before and (before is None or before.obstacles is cast)
        self.shown = Shown(self, scene, frame, obstacles if same else self.obstacles(scene))
        disk_cache.keep(self, scene)
        if self.stepping:
            self.exchange = time.monotonic() - began - self.stepping
        return bool(objects)

    def _forget_damaged(self, frame):
        """Forget a frame that cannot be read, and those after it; begin anew if that is the first one."""
        if self.world is None or frame == self.first_frame:
            self.begin_anew(self.start)
            return
        with contextlib.suppress(DamagedFrame):  # It has begun anew then.
            self.truncate(frame - 1, iface("the cache on disk is damaged"))

    def _reach_and_write(self, scene, depsgraph, frame, now, objects):
        """Step to a frame if objects need it, and write its live keys. Returns its moment.

        A frame of the timeline that stretched time puts between two is stepped to the one before it.
        """
        if self._is_as_loaded(scene, frame):
            return now
        if objects and (frame.is_integer() or scene.frame_subframe == 0.0):
            try:
                now = self._reach(scene, depsgraph, frame, now)
            except DamagedFrame:
                raise
            except PBDError as error:
                self.message, self.is_late = str(error), isinstance(error, LateError)
        coasts = depsgraph.mode == "RENDER" and self.last_frame < last_live_frame(scene)
        ahead = frame - self.last_frame if coasts and 0.0 < frame - self.last_frame < 1.0 else 0.0
        self._write(scene, frame, now, ahead)
        return now

    def _is_as_loaded(self, scene, frame):
        """Whether nothing is simulated yet and this is the frame of the loaded file: cloth was saved in its shape."""
        if self.world is not None or self.loaded is None:
            return False
        return abs(frame - self.loaded) < 1.0 and self.loaded != frame_range(scene)[0]

    def obstacles(self, scene):
        """The objects that the simulation collides with and that are still there."""
        known = self.world.obstacles if self.world else {}
        if len(known) < FEW:
            found = (find(scene, uid, one.surface.name) for uid, one in known.items())
            return [obj for obj in found if obj is not None]
        return [obj for obj in scene.objects if obj.session_uid in known]

    def _reach(self, scene, depsgraph, frame, now):
        """Step to a frame if it is missing; raises `PBDError` when that cannot be. Returns its moment."""
        first = min(frame_range(scene)[0], self.bake.start) if self.bake else frame_range(scene)[0]
        whole = math.floor(frame)
        target = whole if self.bake else min(whole, last_live_frame(scene))
        if self.untouched or (whole == first and self._must_restart(scene, depsgraph, frame, now)):
            here = read_moment(scene, depsgraph, live_bodies(scene))
            if not here.poses:
                return now
            if target < first:
                self.begin_anew(None)
                return now
            if target == first:
                if self.world is None or not self.untouched or self.first_frame != first:
                    here = self.with_surroundings(scene, depsgraph, here, live_bodies(scene))
                    self._stand(scene, depsgraph, first, here)
                return now
            if not stepping.can_visit(scene, depsgraph):  # A render begins with what is known.
                here = self.with_surroundings(scene, depsgraph, here, live_bodies(scene))
                known = self.start.moment if self.start and self.start.frame == first else here
                self.build(scene, Start(first, here.completing(known)), stepping.patience_of(depsgraph))
                now = here
            elif self.world is None or not self.bake:
                self.begin(scene, depsgraph, first)
                now = read_moment(scene, depsgraph, live_bodies(scene), self.obstacles(scene))
        if self.undone is not None:
            shaping.notice_undo(self, scene)
        validity.notice_changes(self, scene, depsgraph, whole if frame.is_integer() else frame, now)
        if self.first_frame <= target and target > self.last_frame:
            stepping.step_to(self, scene, depsgraph, frame, target, now)
        return now

    def with_surroundings(self, scene, depsgraph, moment, objects):
        """A moment with the colliders and the surfaces to follow; raises `PBDError`."""
        full = read_surroundings(scene, depsgraph, moment, objects, self.surfaces)
        self.surfaces = full.surfaces
        return full

    def _must_restart(self, scene, depsgraph, frame, now):
        """Whether the cache does not fit the start of the range: it begins later, or something else begins there."""
        if frame < self.first_frame:
            return True
        pairs = self.world.objects(scene)
        if {member.uid for member, _ in pairs} != {obj.session_uid for obj in bodies(scene)}:
            return bool(live_bodies(scene))
        if any(mesh_io.attached_to(obj) != member.attached_to for member, obj in pairs if not obj.pbd.baked):
            return True
        if any(self.other_output(member, obj) for member, obj in pairs):
            return True
        if math.floor(frame) != self.first_frame:
            return False
        begin = self.moments[self.first_frame]
        if not frame.is_integer():  # Where things stand now, they need not have stood at the first frame.
            return not validity.starts_like(self, scene) or shaping.settles_anew(self, scene, now)
        if not (now.stands_like(begin) and validity.starts_like(self, scene)) or shaping.settles_anew(self, scene, now):
            return True
        if depsgraph.mode == "RENDER":  # It may have other modifiers than what was simulated.
            return False
        return not now._replace(deformed=read_deformed([obj for _, obj in pairs], depsgraph)).deforms_like(begin)

    def truncate(self, frame, why):
        """Forget all frames after `frame`, but for the first; `why` is the end of a sentence.

        Raises:
            DamagedFrame: Nothing is left that could be gone on from, so that all is forgotten and begins anew.
        """
        self.blocked = ""
        frame = max(frame, self.first_frame)
        shaping.let_go_after(self, frame)
        if frame < self.last_frame:
            self.loss = Loss(frame + 1, self.last_frame, why)
            try:
                self.world.simulation.truncate(frame)
            except DamagedFrame:
                if frame == self.first_frame:
                    self.begin_anew(self.start)
                    raise
                self.truncate(frame - 1, why)
                return
            disk_cache.truncate(self, frame)
            heat_map.forget_after(self, frame)
            self.moments = {known: moment for known, moment in self.moments.items() if known <= frame}
            if self.first_guess is not None and self.first_guess > frame:
                self.first_guess = None
            if self.first_disturbed is not None:
                self.first_disturbed = min(self.first_disturbed, frame + 1)

    def other_output(self, member, obj):
        """What to do if the frames were made for another output than an object has now, one sentence, or ""."""
        if suits_output(member, obj, self.moments.values()):
            return ""
        return f"Output of '{obj.name}' changed: go to the first frame, or press Reset"

    def _write(self, scene, frame, now, ahead):
        """Write what is known of a frame into the live keys: simulated, or as the user made it.

        With `ahead`, a part of a frame, cloth goes on from the last frame as it moves there: a render that simulates
        asks for motion blur before the next frame is known.
        """
        if self.world is None:
            for obj in live_bodies(scene):
                if obj.mode != "EDIT":
                    output.show_user_shape(obj)
            return
        simulation = self.world.simulation
        shown = min(frame, self.last_frame)
        for member, obj in self.world.objects(scene):
            if obj.pbd.baked:
                continue
            try:
                check_fit(member, obj)
            except PBDError as error:
                self.message = self.message or str(error)
                continue
            pose = now.poses.get(member.uid)
            other = self.other_output(member, obj)
            self.message = self.message or other
            if other or shown < self.first_frame or not obj.pbd.active:
                output.show_user_shape(obj)
            elif pose is not None and not poses.is_flat(pose.matrix):
                if ahead:
                    seconds = ahead * raw_settings.frame_seconds(now.settings[scene.session_uid])
                    positions = simulation.coasting_positions(member.body, seconds)
                else:
                    positions = simulation.cached_positions(member.body, shown)
                output.write(obj, positions, pose, member.masks)
        heat_map.color(self, scene)

    def show_again(self, scene, depsgraph):
        """Write the present frame into the live keys once more: it was changed in place."""
        now = read_moment(scene, depsgraph, [obj for _, obj in self.world.objects(scene)])
        self._write(scene, shown_frame(scene), now, 0.0)

    def fits(self, scene):
        """Whether the cache is what a run from its first frame, where the scene is, would give now."""
        return validity.of_one_cast(self, scene)
