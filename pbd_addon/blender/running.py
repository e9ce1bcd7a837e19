"""The simulation of one scene: from a frame that Blender shows to the shape keys that show it.

It is built when the first frame has to be stepped. As long as no step was taken it is built anew each time, so that
edits at the first frame are seen.
"""

import math
import time
from typing import NamedTuple

import bpy

from .. import UnstableError
from . import animation, poses, properties, shape_keys, world
from .errors import PBDError
from .world import Moment, World, bodies, live_bodies

PATIENCE = math.inf if bpy.app.background else 10.0
"""How long a jump ahead may keep a window from drawing [s]."""


class BakeProgress(NamedTuple):
    """How far a bake is."""

    frame: int
    start: int
    end: int
    eta_seconds: float


class Start(NamedTuple):
    """The frame at which a simulation begins, and how the scene stood there."""

    frame: int
    moment: Moment


def frame_range(scene):
    """First and last frame of the simulation: its own range if the scene has one, else what is played."""
    if scene.use_custom_simulation_range:
        return scene.simulation_frame_start, scene.simulation_frame_end
    if scene.use_preview_range:
        return scene.frame_preview_start, scene.frame_preview_end
    return scene.frame_start, scene.frame_end


def last_live_frame(scene):
    """The last frame that is stepped; from there on the shape stays."""
    if scene.use_custom_simulation_range:
        return scene.simulation_frame_end
    return max(scene.frame_end, scene.frame_preview_end) if scene.use_preview_range else scene.frame_end


class Session:
    """The simulation of one scene.

    Attributes:
        message: Why nothing is simulated, one sentence, or "".
        notes: What is worth knowing about an object, sentences by object uid.
        report: `StepReport` of the last step, or None.
        bake: `BakeProgress` while a bake runs, else None.
        world: The running simulation, or None before the first step.
        moments: The `Moment` that each cached frame was made with.
        first_guess: First cached frame whose inputs were interpolated, because playback jumped over it, or None.
    """

    def __init__(self):
        self.bake = None
        self.begin_anew(None)

    def begin_anew(self, start):
        """Forget what was simulated; the next step begins at `start`, if that is known."""
        self.start = start
        self.world = None
        self.message = ""
        self.blocked = ""
        self.notes = {}
        self.report = None
        self.moments = {}
        self.settings = {}
        self.shown_frame = None
        self.undone = False
        self.first_guess = None

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
    def kernels_name(self):
        """Which kernels compute the steps, or "" before the first one."""
        return self.world.simulation.kernels_name if self.world else ""

    @property
    def untouched(self):
        """Whether no step was taken or tried, so that starting anew loses nothing."""
        return self.first_frame == self.last_frame and not self.blocked

    def build(self, scene, start):
        """Make the simulation from the scene as it stood at `start`; raises `PBDError`."""
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

    def show(self, scene, depsgraph):
        """Bring the live keys to the present frame; step if it is a whole frame that is not cached."""
        frame = scene.frame_current_final
        self.message = ""
        objects = [obj for _, obj in self.world.objects(scene)] if self.world else live_bodies(scene)
        now = world.read_moment(scene, depsgraph, objects)
        if frame.is_integer() and objects:
            try:
                self._reach(scene, depsgraph, int(frame), now)
            except PBDError as error:
                self.message = str(error)
        self._write(scene, frame, now)
        self.shown_frame = frame

    def _reach(self, scene, depsgraph, frame, now):
        """Step to a frame if it is missing; raises `PBDError` when that cannot be."""
        first = frame_range(scene)[0]
        target = frame if self.bake else min(frame, last_live_frame(scene))
        if self.untouched:
            here = world.read_moment(scene, depsgraph, live_bodies(scene))
            if not here.poses:
                return
            begin = max(self.start.frame, min(first, frame)) if self.start else frame
            if target <= begin:
                if self.world is None or frame != self.first_frame:
                    self.begin_anew(Start(frame, here))
                return
            self.build(scene, Start(begin, here.completing(self.start.moment)))
        elif frame == first and self._must_restart(scene, frame, now):
            self.begin_anew(Start(frame, world.read_moment(scene, depsgraph, live_bodies(scene))))
            return
        self._notice_settings(scene, frame, now)
        if self.first_frame <= target and target > self.last_frame:
            self._step_to(scene, frame, target, now)

    def _must_restart(self, scene, frame, now):
        """Whether the cache does not fit the start of the range: it begins later, or something else begins there."""
        if frame < self.first_frame:
            return True
        members = {member.uid for member, _ in self.world.objects(scene)}
        if members != {obj.session_uid for obj in bodies(scene)}:
            return bool(live_bodies(scene))
        return frame == self.first_frame and not (now.stands_like(self.moments[frame]) and self.starts_like(scene))

    def starts_like(self, scene, pins=False):
        """Whether the user's shapes, and on request the pins, are those that the simulation began with."""
        begin = self.moments[self.first_frame]
        pairs = [(member, obj) for member, obj in self.world.objects(scene) if world.fits(member, obj)]
        return all(world.is_unedited(member, obj, begin.poses[member.uid], pins) for member, obj in pairs)

    def _notice_settings(self, scene, frame, now):
        """Forget the frames that a changed setting has made wrong: those after the one that was on show."""
        if self.undone:
            self.undone = False
            fitting = [known for known, moment in self.moments.items() if moment.agrees(now)]
            if fitting:
                self._truncate(max(fitting))
                self.settings.update(now.settings)
        known = self.moments[frame].settings if frame in self.moments else self.settings
        changed = {uid for uid, raw in now.settings.items() if raw != self.settings.get(uid, raw)}
        outdated = {uid for uid, raw in now.settings.items() if raw != known.get(uid, raw)}
        self.settings.update(now.settings)
        if changed | outdated and self._animated(scene, changed | outdated):
            if outdated and frame in self.moments:
                self._truncate(frame - 1)
        elif changed:
            self._truncate(frame if self.shown_frame is None else int(self.shown_frame))

    def _animated(self, scene, uids):
        """Whether settings of these objects, or of the scene, are animated: then each frame has its own."""
        owners = [scene, *(obj for _, obj in self.world.objects(scene))]
        return any(animation.animates(owner, ("pbd.", "gravity")) for owner in owners if owner.session_uid in uids)

    def _truncate(self, frame):
        """Forget all frames after `frame`, but for the first."""
        self.blocked = ""
        frame = max(frame, self.first_frame)
        if frame < self.last_frame:
            self.world.simulation.truncate(frame)
            self.moments = {known: moment for known, moment in self.moments.items() if known <= frame}
            if self.first_guess is not None and self.first_guess > frame:
                self.first_guess = None

    def _step_to(self, scene, frame, target, now):
        """Step all missing frames up to `target`; what stands between then and now is interpolated."""
        for member, obj in self.world.objects(scene):
            world.check_faces(member, obj)
            if poses.is_flat(now.poses[member.uid].matrix):
                raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to simulate it")
        if self.blocked:
            raise PBDError(self.blocked)
        self.world.apply(scene, now.settings)
        self.notes = {**self.world.notes(), **self._newcomers(scene)}
        seconds = properties.frame_seconds(now.settings[scene.session_uid])
        simulation = self.world.simulation
        origin = self.last_frame
        before = self.moments[origin]
        deadline = time.monotonic() + PATIENCE
        for step in range(origin + 1, target + 1):
            moment = now if step == frame else before.blend(now, (step - origin) / (frame - origin))
            try:
                report = simulation.advance_to(step, lambda _frame, at=moment: self.world.inputs(scene, at), seconds)
            except UnstableError as error:
                self.blocked = f"{error}; frame {step - 1} is kept"
                raise PBDError(self.blocked) from error
            except ValueError as error:
                raise PBDError(str(error)) from error
            self.report = report or self.report
            self.moments[step] = moment
            if step != frame and self.first_guess is None and not before.stands_like(now):
                self.first_guess = step
            if step < target and time.monotonic() > deadline:
                raise PBDError(f"Simulated up to frame {step} of {target} in {PATIENCE:.0f} s: go on from there")

    def _newcomers(self, scene):
        """Tell objects that became PBD in the middle when they will join, by uid."""
        members = {member.uid for member in self.world.members}
        when = f"at frame {frame_range(scene)[0]}, or on Reset"
        new = [obj for obj in live_bodies(scene) if obj.session_uid not in members]
        return {obj.session_uid: (f"'{obj.name}' joins the simulation {when}",) for obj in new}

    def _write(self, scene, frame, now):
        """Write what is known of a frame into the live keys: simulated, or as the user made it."""
        if self.world is None:
            for obj in live_bodies(scene):
                if obj.mode != "EDIT":
                    shape_keys.show_user_shape(obj)
            return
        simulation = self.world.simulation
        shown = min(frame, self.last_frame)
        for member, obj in self.world.objects(scene):
            if obj.pbd.baked:
                continue
            try:
                world.check_fit(member, obj)
            except PBDError as error:
                self.message = self.message or str(error)
                continue
            pose = now.poses.get(member.uid)
            if shown < self.first_frame or not obj.pbd.active:
                shape_keys.show_user_shape(obj)
            elif pose is not None and not poses.is_flat(pose.matrix):
                positions = simulation.cached_positions(member.body, shown)
                shape_keys.write_live_key(obj, positions, pose, member.masks)

    def fits(self, scene):
        """Whether the cache is what a run from its first frame would give now.

        It is not after a setting, a shape or a pin was changed, or where playback has jumped over moving inputs.
        """
        animated = {uid for uid in self.settings if self._animated(scene, {uid})}
        present = Moment({}, {uid: raw for uid, raw in self.settings.items() if uid not in animated})
        of_one_cast = all(moment.agrees(present) for moment in self.moments.values())
        return of_one_cast and self.first_guess is None and self.starts_like(scene, pins=True)
