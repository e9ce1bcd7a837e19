"""The simulation of one scene: from a frame that Blender shows to the shape keys that show it.

It is built when the first frame has to be stepped. As long as no step was taken it is built anew each time, so that
edits at the first frame are seen.
"""

import math
import time
from typing import NamedTuple

import bpy
import numpy as np

from .. import UnstableError
from ..model import State
from . import animation, backends, heat_map, mesh_io, poses, properties, shape_keys, surfaces, world
from .errors import PBDError
from .world import Moment, World, bodies, live_bodies

PATIENCE = math.inf if bpy.app.background else 10.0
"""How long a jump ahead may keep a window from drawing [s]."""

UNDOABLE = 16
"""So many uses of the hand can be undone with the cloth."""

FEW = 4
"""So many objects are found sooner by their names than by a look at all objects of a scene."""


class BakeProgress(NamedTuple):
    """How far a bake is."""

    frame: int
    start: int
    end: int
    eta_seconds: float


class Kept(NamedTuple):
    """A frame before a hand changed it, to go back to."""

    number: int  # of the use of the hand that follows
    frame: int
    state: State
    disturbed: tuple[int | None, str]  # from where on, and by what
    shaped: bool


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
        undone: The frame at which a user has undone something that was not looked at yet, or None.
        message: Why nothing is simulated, one sentence, or "".
        notes: What is worth knowing about an object, sentences by object uid.
        report: `StepReport` of the last step, or None.
        stepping, exchange: What the last frame change that stepped took for that, and for all else: reading the scene,
            writing the keys [s].
        bake: `BakeProgress` while a bake runs, else None.
        world: The running simulation, or None before the first step.
        moments: The `Moment` that each cached frame was made with.
        first_guess: First cached frame whose inputs were interpolated, because playback jumped over it, or None.
        first_disturbed: First frame that was, or will be, made after a user moved, added or took away a collider in
            the middle of the run, or a hand was at work there, or None.
        disturbed_by: What did that: "COLLIDERS", "HAND", or "SETTLE" for a first frame that is not settled to the end.
        settled: How many frames the first one has been settled for.
        shaped: Whether a hand has changed the first frame.
        hands: `Kept` of every use of the hand that can be undone.
        held: Frame and `Grab` of what a hand has pinned since the simulation was built.
        touched: Vertices of each object, by uid, that touched something at a frame; of the frames that were stepped
            while the heat map showed contact.
        tangled: How many faces of an object went through others at the start, by object uid.
        surfaces: What was read last of other objects, by object uid.
    """

    def __init__(self):
        self.bake = None
        self.surfaces = {}
        self.begin_anew(None)

    def begin_anew(self, start):
        """Forget what was simulated; the next step begins at `start`, if that is known."""
        self.start = start
        self.world = None
        self.message = ""
        self.blocked = ""
        self.notes = {}
        self.report = None
        self.stepping = self.exchange = 0.0
        self.moments = {}
        self.settings = {}
        self.shown_frame = None
        self.undone = None
        self.first_guess = None
        self.first_disturbed = None
        self.disturbed_by = ""
        self.tangled = {}
        self.recast = False
        self.standing = {}
        self.touched = {}
        self.settled = 0
        self.shaped = False
        self.hands = []
        self.held = []

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
        return self.first_frame == self.last_frame and not (self.blocked or self.settled or self.shaped)

    def build(self, scene, start, patience=math.inf):
        """Make the simulation from the scene as it stood at `start`, settled if the scene says so.

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
        deadline = time.monotonic() + patience
        frames = properties.settle_from(start.moment.settings[scene.session_uid])
        for done in self.settling(scene, frames):
            if done < frames and time.monotonic() > deadline:
                self.first_disturbed, self.disturbed_by = start.frame, "SETTLE"
                raise PBDError(f"Settled {done} of {frames} frames in {patience:.0f} s: press Settle for all of them")

    def settling(self, scene, frames):
        """Let the first frame hang for some frames, as a generator of how many are done; raises `PBDError`."""
        for done in range(1, frames + 1):
            self.rest(scene)
            self.settled = done
            yield done

    def rest(self, scene):
        """Step the last cached frame in place, while everything stands still as it is there; raises `PBDError`."""
        simulation, moment = self.world.simulation, self.moments[self.last_frame]
        self.world.rested += 1
        simulation.use_kernels(backends.choose(scene))
        try:
            simulation.take_inputs(self.world.inputs(scene, moment))
            self.report = simulation.step(properties.frame_seconds(moment.settings[scene.session_uid]), in_place=True)
        except UnstableError as error:
            raise PBDError(str(error)) from error
        self._note_touching(scene, self.last_frame)

    def _note_touching(self, scene, frame):
        """Remember for the heat map what touches something at a frame that was stepped last."""
        if scene.pbd.heat_map == "CONTACT":
            touching = self.world.simulation.touching
            self.touched[frame] = {member.uid: touching(member.body) for member in self.world.members}

    def take_settings_of_first(self, scene):
        """Let the settings that the scene has now be those that the first frame was made with."""
        self.settings[scene.session_uid] = self.world.applied[scene.session_uid] = properties.raw_scene(scene)
        self.moments[self.first_frame].settings[scene.session_uid] = self.settings[scene.session_uid]

    def show_again(self, scene, depsgraph):
        """Write the present frame into the live keys once more: it was changed in place."""
        now = world.read_moment(scene, depsgraph, [obj for _, obj in self.world.objects(scene)])
        self._write(scene, scene.frame_current_final, now)

    def keep(self, scene, frame):
        """What to go back to after a hand has changed a cached frame."""
        state = self.world.simulation.state_at(frame)
        return Kept(scene.pbd.hand_count + 1, frame, state, (self.first_disturbed, self.disturbed_by), self.shaped)

    def disturb_by_hand(self, frame):
        """A hand changes a frame, and so all after it; at the first one, it shapes what the cloth begins with."""
        self._truncate(frame)
        if frame == self.first_frame:
            self.shaped = True
        elif self.first_disturbed is None or self.first_disturbed > frame:
            self.first_disturbed, self.disturbed_by = frame, "HAND"

    def note_hand(self, scene, kept):
        """Count a use of the hand; undo, which counts back, will go back to what was kept."""
        scene.pbd.hand_count = kept.number
        self.hands = [*self.hands, kept][-UNDOABLE:]

    def go_back_to(self, kept):
        """Take back what a hand has done since."""
        if not self.world.simulation.is_cached(kept.frame):
            return
        self._truncate(kept.frame)
        self.held = [(frame, grab) for frame, grab in self.held if frame < kept.frame]
        self.world.simulation.restore(kept.frame, kept.state, [grab for _, grab in self.held])
        self.first_disturbed, self.disturbed_by = kept.disturbed
        self.shaped = kept.shaped

    def _notice_undone_hands(self, scene):
        undone = [kept for kept in self.hands if kept.number > scene.pbd.hand_count]
        if undone:
            self.go_back_to(undone[0])
            self.hands = self.hands[: -len(undone)]

    def _begin(self, scene, frame, here):
        """Start anew at a frame; settle at once what is to be settled."""
        self.begin_anew(Start(frame, here))
        if properties.settle_from(here.settings[scene.session_uid]) and frame == frame_range(scene)[0]:
            self.build(scene, self.start, PATIENCE)

    def show(self, scene, depsgraph):
        """Bring the live keys to the present frame; step if it is a whole frame that is not cached."""
        began, self.stepping = time.monotonic(), 0.0
        frame = scene.frame_current_final
        self.message = ""
        objects = [obj for _, obj in self.world.objects(scene)] if self.world else live_bodies(scene)
        before, obstacles = self.world, self._obstacles(scene)
        cast = before.obstacles if before else {}
        now = world.read_moment(scene, depsgraph, objects, obstacles)
        if frame.is_integer() and objects:
            try:
                self._reach(scene, depsgraph, int(frame), now)
            except PBDError as error:
                self.message = str(error)
        self._write(scene, frame, now)
        self.shown_frame = frame
        self.recast = False
        same = self.world is before and (before is None or before.obstacles is cast)
        self.standing = standing(obstacles if same else self._obstacles(scene))
        if self.stepping:
            self.exchange = time.monotonic() - began - self.stepping

    def _obstacles(self, scene):
        """The objects that the simulation collides with and that are still there."""
        known = self.world.obstacles if self.world else {}
        if len(known) < FEW:
            found = (world.find(scene, uid, one.surface.name) for uid, one in known.items())
            return [obj for obj in found if obj is not None]
        return [obj for obj in scene.objects if obj.session_uid in known]

    def notice_moves(self, scene):
        """Before a frame change: forget the frames that a collider which was moved on this one has made wrong.

        What animation has moved stands as it did when the frame was shown.
        """
        if self.untouched or self.undone is not None or self.shown_frame is None:
            return
        if self.recast or standing(self._obstacles(scene)) != self.standing:
            self._disturb(int(self.shown_frame))

    def _disturb(self, frame):
        """Forget all frames after `frame`, because the colliders are others from there on."""
        self._truncate(frame)
        if self.first_disturbed is None:
            self.first_disturbed, self.disturbed_by = self.last_frame + 1, "COLLIDERS"

    def _reach(self, scene, depsgraph, frame, now):
        """Step to a frame if it is missing; raises `PBDError` when that cannot be."""
        first = frame_range(scene)[0]
        target = frame if self.bake else min(frame, last_live_frame(scene))
        if self.untouched:
            here = world.read_moment(scene, depsgraph, live_bodies(scene))
            if not here.poses:
                return
            here = self._with_surroundings(scene, depsgraph, here, live_bodies(scene))
            begin = max(self.start.frame, min(first, frame)) if self.start else frame
            if target <= begin:
                if self.world is None or frame != self.first_frame:
                    self._begin(scene, frame, here)
                return
            self.build(scene, Start(begin, here.completing(self.start.moment)), PATIENCE)
        elif frame == first and self._must_restart(scene, frame, now):
            here = world.read_moment(scene, depsgraph, live_bodies(scene))
            self._begin(scene, frame, self._with_surroundings(scene, depsgraph, here, live_bodies(scene)))
            return
        self._notice_settings(scene, frame, now)
        if self.first_frame <= target and target > self.last_frame:
            self._step_to(scene, depsgraph, frame, target, now)

    def _with_surroundings(self, scene, depsgraph, moment, objects):
        """A moment with the colliders and the surfaces to follow; raises `PBDError`."""
        full = world.read_surroundings(scene, depsgraph, moment, objects, self.surfaces)
        self.surfaces = full.surfaces
        return full

    def _must_restart(self, scene, frame, now):
        """Whether the cache does not fit the start of the range: it begins later, or something else begins there."""
        if frame < self.first_frame:
            return True
        pairs = self.world.objects(scene)
        if {member.uid for member, _ in pairs} != {obj.session_uid for obj in bodies(scene)}:
            return bool(live_bodies(scene))
        if any(mesh_io.attached_to(obj) != member.attached_to for member, obj in pairs if not obj.pbd.baked):
            return True
        settle = properties.settle_from(now.settings[scene.session_uid])
        if frame == self.first_frame and (self.settled or settle) and not self.moments[frame].agrees(now):
            return True
        return frame == self.first_frame and not (now.stands_like(self.moments[frame]) and self.starts_like(scene))

    def starts_like(self, scene, pins=False):
        """Whether the user's shapes, and on request the pins, are those that the simulation began with."""
        begin = self.moments[self.first_frame]
        pairs = [(member, obj) for member, obj in self.world.objects(scene) if world.fits(member, obj)]
        return all(world.is_unedited(member, obj, begin.poses[member.uid], pins) for member, obj in pairs)

    def _notice_settings(self, scene, frame, now):
        """Forget the frames that a changed setting has made wrong: those after the one that was on show."""
        if self.undone is not None:
            self._notice_undone_hands(scene)
            fitting = [known for known, moment in self.moments.items() if moment.agrees(now)]
            if fitting:
                self._truncate(max(fitting))
                self.settings.update(now.settings)
            self._notice_undone_moves(scene, frame)
            self.undone = None
        known = self.moments[frame].settings if frame in self.moments else self.settings
        changed = {uid for uid, raw in now.settings.items() if raw != self.settings.get(uid, raw)}
        outdated = {uid for uid, raw in now.settings.items() if raw != known.get(uid, raw)}
        self.settings.update(now.settings)
        if changed | outdated and self._animated(scene, changed | outdated):
            if outdated and frame in self.moments:
                self._truncate(frame - 1)
        elif changed:
            self._truncate(frame if self.shown_frame is None else int(self.shown_frame))

    def _notice_undone_moves(self, scene, frame):
        """After undo: forget the frames that were made with colliders in another place, or with others.

        Of one that may move by itself nothing is told by where it stands, unless it stood there at another frame.
        """
        here = self.moments.get(frame)
        cast = {obj.session_uid for obj in surfaces.colliders(scene)}
        limits = []
        if here is None or here.cast != cast:
            limits.append([known for known, moment in self.moments.items() if moment.cast == cast])
        for obj in surfaces.colliders(scene):
            still = obj.animation_data is None and obj.parent is None and not obj.constraints
            known = ((at, moment.surfaces.get(obj.session_uid)) for at, moment in self.moments.items())
            stood = [at for at, surface in known if stands_at(surface, np.array(obj.matrix_world))]
            if still and not stood:
                self._disturb(self.undone)
            elif still or frame not in stood:
                limits.append(stood)
        for fitting in limits:
            if fitting and max(fitting) < self.last_frame:
                disturbed = self.first_disturbed
                self._truncate(max(fitting))
                if disturbed is None or disturbed > max(fitting):
                    self.first_disturbed = None

    def _animated(self, scene, keys):
        """Whether settings of these keys are animated: then each frame has its own."""
        owners = [(scene.session_uid, scene), *((member.uid, obj) for member, obj in self.world.objects(scene))]
        owners += [(world.as_collider(obj.session_uid), obj) for obj in self._obstacles(scene)]
        paths = ("pbd.", "pbd_collider.", "gravity")
        return any(animation.animates(owner, paths) for key, owner in owners if key in keys)

    def _truncate(self, frame):
        """Forget all frames after `frame`, but for the first."""
        self.blocked = ""
        frame = max(frame, self.first_frame)
        for pinned, grab in self.held:
            if pinned > frame:
                grab.release()
        if frame < self.last_frame:
            self.world.simulation.truncate(frame)
            self.moments = {known: moment for known, moment in self.moments.items() if known <= frame}
            self.touched = {known: touching for known, touching in self.touched.items() if known <= frame}
            if self.first_guess is not None and self.first_guess > frame:
                self.first_guess = None
            if self.first_disturbed is not None:
                self.first_disturbed = min(self.first_disturbed, frame + 1)

    def _step_to(self, scene, depsgraph, frame, target, now):
        """Step all missing frames up to `target`; what stands between then and now is interpolated."""
        for member, obj in self.world.objects(scene):
            world.check_faces(member, obj)
            if poses.is_flat(now.poses[member.uid].matrix):
                raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to simulate it")
        if self.blocked:
            raise PBDError(self.blocked)
        objects = [obj for _, obj in self.world.objects(scene)]
        now = self._with_surroundings(scene, depsgraph, now, objects)
        cast = self.world.obstacles.keys()
        if self.world.recast(now) and self.world.obstacles.keys() != cast:
            self._disturb(self.last_frame)
        self.world.apply(scene, now.settings)
        self.settings.update(now.settings)
        self.notes = {**self.world.notes(), **self._newcomers(scene)}
        seconds = properties.frame_seconds(now.settings[scene.session_uid])
        simulation = self.world.simulation
        simulation.use_kernels(backends.choose(scene))
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
            self.stepping += report.seconds if report else 0.0
            self.moments[step] = moment
            self._note_touching(scene, step)
            if step == self.first_frame + 1 and report is not None and report.crossings:
                self.tangled = self.world.count_tangled()
            still = before.stands_like(now) and before.surrounds_like(now)
            if step != frame and self.first_guess is None and not still:
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

        self.color(scene)

    def color(self, scene):
        """Bring the heat map of all objects to the frame that they show; take it away where it is not wanted."""
        kind, simulation = scene.pbd.heat_map, self.world.simulation
        shown = min(max(scene.frame_current_final, self.first_frame), self.last_frame)
        for member, obj in self.world.objects(scene):
            if kind == "OFF" or obj.pbd.baked:
                heat_map.remove(obj)
            elif world.fits(member, obj):
                share = np.zeros(len(member.body.vertices))
                if kind == "STRAIN":
                    x = simulation.cached_positions(member.body, shown)
                    strain = heat_map.strain_of_vertices(member.body, simulation.maps(member.body), x)
                    share = strain / scene.pbd.heat_full
                else:
                    share[self.touched.get(int(shown), {}).get(member.uid, [])] = 1.0
                heat_map.write(obj, share)

    def fits(self, scene):
        """Whether the cache is what a run from its first frame, where the scene is, would give now.

        It is not after a setting, a shape, a pin or a collider was changed, or where playback has jumped over moving
        inputs.
        """
        if self.first_disturbed is not None or not self._is_surrounded_as_at_first(scene):
            return False
        animated = {uid for uid in self.settings if self._animated(scene, {uid})}
        present = Moment({}, {uid: raw for uid, raw in self.settings.items() if uid not in animated})
        of_one_cast = all(moment.agrees(present) for moment in self.moments.values())
        return of_one_cast and self.first_guess is None and self.starts_like(scene, pins=True)

    def _is_surrounded_as_at_first(self, scene):
        """Whether colliders, and what objects are attached to, are those of the first cached frame."""
        depsgraph = layer_of(scene).depsgraph
        if depsgraph is None or scene.frame_current != self.first_frame:
            return True
        objects = [obj for _, obj in self.world.objects(scene)]
        begin = self.moments[self.first_frame]
        try:
            now = world.read_surroundings(scene, depsgraph, Moment({}, {}), objects, begin.surfaces)
        except PBDError:
            return False
        return now.surrounds_like(begin)


def layer_of(scene):
    """The view layer of a scene that is shown."""
    return bpy.context.view_layer if bpy.context.scene == scene else scene.view_layers[0]


def standing(objects):
    """Transforms as the original objects have them, by uid."""
    return {obj.session_uid: poses.last_matrix(obj).copy() for obj in objects}


def stands_at(surface, matrix):
    """Whether a surface, or None, has this transform (4, 4)."""
    return surface is not None and np.allclose(surface.matrix, matrix, rtol=0.0, atol=1e-6)
