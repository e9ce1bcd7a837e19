"""What is simulated in each scene: from a frame that Blender shows to the shape keys that show it.

Sessions live outside of Blender's data, by `session_uid` of their scene, and are built when the first frame has
to be stepped. One that has not stepped yet is built anew, so that edits at the first frame are seen.
"""

import time
from typing import NamedTuple

import bpy

from .. import UnstableError
from . import animation, poses, shape_keys, world
from .errors import PBDError
from .world import Moment, World, bodies, live_bodies

__all__ = ["BakeProgress", "PBDError", "Session", "bodies", "clear_cache", "drop", "drop_all", "ensure", "frame_range",
           "get", "notice_undo", "remember", "reset", "show"]

PATIENCE = 10.0
"""How long a jump ahead may keep a window from drawing [s]."""

_sessions: dict[int, "Session"] = {}


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
        self.begin_anew(start)
        built = World(scene, objects, start.moment)
        built.simulation.begin(start.frame)
        self.world = built
        self.moments = {start.frame: start.moment}
        self.settings = dict(start.moment.settings)
        self.notes = {member.uid: tuple(member.body.notes) for member in built.members}

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
        first, target = frame_range(scene)[0], min(frame, last_live_frame(scene))
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
        return frame == self.first_frame and not now.stands_like(self.moments[frame])

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
        self._welcome(scene)
        self.world.apply(scene, now.settings)
        seconds = world.properties.frame_seconds(now.settings[scene.session_uid])
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
            self.report = report or self.report
            self.moments[step] = moment
            if step != frame and self.first_guess is None and not before.stands_like(now):
                self.first_guess = step
            if step < target and not bpy.app.background and time.monotonic() > deadline:
                raise PBDError(f"Simulated up to frame {step} of {target} in {PATIENCE:.0f} s: go on from there, or bake")

    def _welcome(self, scene):
        """Tell objects that became PBD in the middle when they will join."""
        members = {member.uid for member in self.world.members}
        start = frame_range(scene)[0]
        for obj in live_bodies(scene):
            if obj.session_uid not in members:
                self.notes[obj.session_uid] = (f"'{obj.name}' joins the simulation at frame {start}, or on Reset",)

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
            if shown < self.first_frame:
                shape_keys.show_user_shape(obj)
            elif pose is not None and not poses.is_flat(pose.matrix):
                positions = simulation.cached_positions(member.body, shown)
                shape_keys.write_live_key(obj, positions, pose, member.masks)

    def agrees(self, scene):
        """Whether all cached frames were made with the present settings and with inputs that were seen, not guessed."""
        animated = {uid for uid in self.settings if self._animated(scene, {uid})}
        present = Moment({}, {uid: raw for uid, raw in self.settings.items() if uid not in animated})
        return self.first_guess is None and all(moment.agrees(present) for moment in self.moments.values())


def get(scene):
    """The session of a scene, or None when nothing runs and nothing is to be said."""
    found = _sessions.get(scene.session_uid)
    return found if found is not None and (found.world or found.message or found.bake) else None


def of(scene):
    """The session of a scene, made if there is none; nothing is built yet."""
    return _sessions.setdefault(scene.session_uid, Session())


def ensure(scene, depsgraph):
    """The running session of a scene, built at the present frame if need be; raises `PBDError`."""
    found = of(scene)
    if found.world is None:
        found.build(scene, Start(scene.frame_current, world.read_moment(scene, depsgraph, live_bodies(scene))))
    return found


def reset(scene, depsgraph):
    """Start again at the present frame from the meshes as they are; raises `PBDError`."""
    drop(scene)
    try:
        ensure(scene, depsgraph)
    except PBDError as error:
        of(scene).message = str(error)
        raise
    show(scene, depsgraph)


def show(scene, depsgraph):
    """The whole of a frame change."""
    found = _sessions.get(scene.session_uid)
    if found is None and live_bodies(scene):
        found = of(scene)
    if found is not None:
        found.show(scene, depsgraph)


def remember(scene):
    """Before a frame change: note how the scene stood, in case the simulation begins there.

    Blender hands no evaluated scene to this handler. The one of the window still shows the frame that is left, and
    the original objects still stand as they did on it.
    """
    found = _sessions.get(scene.session_uid)
    if found is not None and not found.untouched:
        return
    objects = live_bodies(scene)
    layer = bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]
    evaluated = layer.depsgraph.scene_eval if objects and layer.depsgraph else None
    if evaluated is not None and evaluated.frame_subframe == 0.0:
        of(scene).start = Start(evaluated.frame_current, world.read_last_moment(scene, objects))


def notice_undo():
    """After undo: frames that were made with what has been undone are to go."""
    for found in _sessions.values():
        found.undone = True


def clear_cache(scene):
    """Forget all simulated frames of a scene and show the shapes that the user made."""
    drop(scene)
    for obj in live_bodies(scene):
        if obj.mode != "EDIT":
            shape_keys.show_user_shape(obj)


def drop(scene):
    """Forget the simulation of a scene."""
    _sessions.pop(scene.session_uid, None)


def drop_all():
    """Forget everything: another file is loaded, or the extension is switched off."""
    _sessions.clear()
