"""From a frame that Blender shows to the shapes that show it: look, let changes take frames, step, write."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Generator, Iterator

import bpy
import numpy as np

from ..errors import DamagedFrame, LateError, PBDError
from ..kinds import Depsgraph, Object, Scene
from ..output import output
from ..read import deformed_input, snapshot, user_state
from ..read.snapshot import SceneSnapshot
from ..read.user_state import UserState
from ..scene import poses
from ..scene.scene_objects import layer_of, live_bodies
from ..scene.simulated_range import frame_range, go_to, last_live_frame, shown_frame
from . import changes, cost_estimate, disk_cache, heat_map, replay, step
from .record import Record
from .simulated_object import SimulatedObject, check_fit, fits, other_output

PATIENCE = math.inf if bpy.app.background else 1.0
"""How long a jump ahead may keep a window from drawing [s]; beyond that it goes on with progress and Esc."""


LONG = 0.3
"""A frame that takes longer is stepped in slices, with progress and Esc [s]: a window that stands still for that long
feels stuck."""


def patience_of(depsgraph: Depsgraph) -> float:
    """How long what evaluates the scene may wait for a frame [s]: a picture has to show it, however long it takes."""
    return math.inf if depsgraph.mode == "RENDER" else PATIENCE


def show(record: Record, scene: Scene, depsgraph: Depsgraph, steps: bool = True) -> bool:
    """Bring the objects to the present frame; step, unless told not to, to a whole frame that is not cached.

    Returns whether there is an object to simulate.
    """
    began = time.monotonic()
    step.say(record, "")
    step.note(record, stepping=0.0)
    objects = [obj for _, obj in record.world.objects(scene)] if record.world else live_bodies(scene)
    if not objects and live_bodies(scene):  # All that was simulated is deleted, and there is something new.
        step.stand(record, None)
        objects = live_bodies(scene)
    if output.prepare(objects):
        depsgraph.update()
    try:
        _follow(record, scene, depsgraph, objects, steps)
    except DamagedFrame as error:
        step.forget_damaged(record, error.frame)
        _follow(record, scene, depsgraph, objects, steps)
    disk_cache.keep(record, scene)
    if record.stepping:
        step.note(record, exchange=time.monotonic() - began - record.stepping)
    return bool(objects)


def _follow(record: Record, scene: Scene, depsgraph: Depsgraph, objects: list[Object], steps: bool) -> None:
    """Look, reach and write."""
    world, obstacles = record.world, record.world.obstacles if record.world else {}
    fields = record.world.fields if record.world else {}
    now = look(record, scene, depsgraph, objects)
    frame = now.user.frame
    found: list = []
    if not _is_as_loaded(record, scene, frame):
        found = changes.changes(record, now)
        reaches = steps and bool(objects) and (frame.is_integer() or scene.frame_subframe == 0.0)
        anew = reaches and math.floor(frame) == now.user.first and any(one.what in changes.AT_FIRST for one in found)
        if not (anew or record.untouched):
            step.apply(record, found, now.user)
        if reaches:
            try:
                reach(record, scene, depsgraph, now, anew or record.untouched)
            except DamagedFrame:
                raise
            except PBDError as error:
                step.say(record, str(error), isinstance(error, LateError))
        write(record, scene, now, depsgraph.mode == "RENDER")
    same = record.world is world and (world is None or (world.obstacles is obstacles and world.fields is fields))
    seen = now.user
    if not same:
        seen = step.read_user(record, scene)._replace(cast=now.user.cast, blowing=now.user.blowing)
    step.remember(record, seen)
    if record.world is not None and not found and not record.untouched:
        replay.note(record, scene, depsgraph, now)


def look(record: Record, scene: Scene, depsgraph: Depsgraph, objects: list[Object]) -> SceneSnapshot:
    """The scene as it was just evaluated, with what the user has set: a `SceneSnapshot`; it only reads."""
    user = step.read_user(record, scene, record.heard, with_curves=True)
    obstacles = user_state.objects_of(scene, record.watched.obstacles) if depsgraph.mode == "RENDER" else ()
    now = snapshot.read_snapshot(scene, depsgraph, objects, user, obstacles)
    if record.world is None:
        return now
    pairs, at_first = record.world.objects(scene), math.floor(user.frame) == user.first
    if at_first and math.floor(user.frame) == record.first_frame:
        begin, begins = record.snapshots[record.first_frame], {}
        for member, obj in pairs:
            if fits(member, obj):
                with contextlib.suppress(PBDError):
                    begins[member.uid] = user_state.read_beginning(obj, begin.poses[member.uid], member.masks)
        now = now._replace(begins=begins)
    return now._replace(deformed=_seen(record, scene, depsgraph, user, pairs))


def _seen(
    record: Record, scene: Scene, depsgraph: Depsgraph, user: UserState, pairs: list[tuple[SimulatedObject, Object]]
) -> dict[int, np.ndarray]:
    """What modifiers make of pinned objects, where that can be compared with how a frame was made.

    A render may have other modifiers. While it plays, a mesh that is subdivided behind is left alone: Blender
    subdivides where it draws, and to look at the mesh here takes longer. A bake looks at all, however long it takes.
    """
    frame = user.frame
    if depsgraph.mode == "RENDER" or not frame.is_integer() or int(frame) not in record.snapshots:
        return {}
    objects = [obj for _, obj in pairs if obj.session_uid in user.holders]
    if int(frame) == record.first_frame:
        with contextlib.suppress(PBDError):
            return snapshot.read_deformed([obj for _, obj in pairs], depsgraph) if int(frame) == user.first else {}
        return {}
    if record.bake:
        return snapshot.read_deformed(objects, depsgraph)
    plays = any(window.screen.is_animation_playing for window in bpy.context.window_manager.windows)
    quick = [obj for obj in objects if not (plays and deformed_input.is_subdivided(obj))]
    return snapshot.read_deformed(quick, depsgraph, evaluate=False)


def _is_as_loaded(record: Record, scene: Scene, frame: float) -> bool:
    """Whether nothing is simulated yet and this is the frame of the loaded file: cloth was saved in its shape."""
    if record.world is not None or record.loaded is None:
        return False
    return abs(frame - record.loaded) < 1.0 and record.loaded != frame_range(scene)[0]


# ------------------------------------------------------------------------------------------ missing frames


def reach(record: Record, scene: Scene, depsgraph: Depsgraph, now: SceneSnapshot, anew: bool) -> None:
    """Step what is missing up to the frame of a snapshot; `anew`, from the first frame on.

    A frame of the timeline that stretched time puts between two is stepped to the one before it.

    Raises:
        PBDError: It cannot go on.
        LateError: It takes longer than a window may wait; the frames that were stepped stay.
    """
    user, whole = now.user, math.floor(now.user.frame)
    first = min(user.first, record.bake.start) if record.bake else user.first
    target = whole if record.bake else min(whole, last_live_frame(scene))
    if anew:
        if not live_bodies(scene):
            return
        if target < first:
            step.stand(record, None)
            return
        kept = record.untouched and record.world is not None and record.first_frame == first
        if target == first and not kept:
            here = whole_snapshot(record, scene, depsgraph)
            step.stand(record, here)
            if here.settings[scene.session_uid].settle and not record.bake:
                _build(record, scene, depsgraph, first, here)
        if target == first:
            return
        if not (kept and record.bake):
            begin(record, scene, depsgraph, first)
    if record.first_frame <= target and target > record.last_frame:
        _step_to(record, scene, depsgraph, now, target)


def whole_snapshot(
    record: Record, scene: Scene, depsgraph: Depsgraph, objects: list[Object] | None = None
) -> SceneSnapshot:
    """The scene as it was just evaluated, with all that the simulation takes from it; raises `PBDError`."""
    objects = live_bodies(scene) if objects is None else objects
    bare = snapshot.read_snapshot(scene, depsgraph, objects)
    found = snapshot.read_surroundings(scene, depsgraph, bare, objects, record.surfaces)
    step.note(record, surfaces=found.surfaces)
    return found


def begin(record: Record, scene: Scene, depsgraph: Depsgraph, first: int) -> None:
    """Build the simulation from the scene as it stands at the first frame, settled; raises `PBDError`.

    Where that frame cannot be visited it is as it was seen last, or else as the scene stands.
    """
    if shown_frame(scene) == first or can_visit(scene, depsgraph):
        with visiting(record, scene):
            there = depsgraph if shown_frame(scene) == first else visit(scene, first)
            here = whole_snapshot(record, scene, there)
    else:
        here = whole_snapshot(record, scene, depsgraph)
        here = here if record.start is None else here.completing(record.start)
    _build(record, scene, depsgraph, first, here)


def _build(record: Record, scene: Scene, depsgraph: Depsgraph, first: int, here: SceneSnapshot) -> None:
    step.build(record, scene, first, here)
    if not record.bake:
        step.settle(record, scene, patience_of(depsgraph))


def can_visit(scene: Scene, depsgraph: Depsgraph) -> bool:
    """Whether the scene can be evaluated at other frames.

    With a window a render runs beside it, in a thread of its own, which must not evaluate what the window draws.
    """
    if depsgraph.mode == "RENDER":
        return bpy.app.background
    return depsgraph.mode == "VIEWPORT" and depsgraph == layer_of(scene).depsgraph


@contextlib.contextmanager
def visiting(record: Record, scene: Scene) -> Iterator[None]:
    """Frames may be visited meanwhile; go back to the present one in the end."""
    frame, subframe, before = scene.frame_current, scene.frame_subframe, record.visits
    step.note(record, visits=True)
    try:
        yield
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)
        step.note(record, visits=before)


def visit(scene: Scene, frame: int) -> Depsgraph:
    """Evaluate the scene at another frame, while `visiting`; returns its depsgraph."""
    go_to(scene, frame)
    return layer_of(scene).depsgraph


def stepping(record: Record, scene: Scene) -> Generator[float, None, None]:
    """Step the next frame in slices, between which the scene stands where it stood; yields the share that is done.

    Raises:
        PBDError: It cannot go on.
    """
    frame, objects = record.last_frame + 1, [obj for _, obj in record.world.objects(scene)]
    with visiting(record, scene):
        there = layer_of(scene).depsgraph if frame == shown_frame(scene) else visit(scene, frame)
        here = whole_snapshot(record, scene, there, objects=objects)
    yield from step.advancing(record, scene, frame, here)
    disk_cache.keep(record, scene)


def _step_to(record: Record, scene: Scene, depsgraph: Depsgraph, now: SceneSnapshot, target: Object) -> None:
    """Step all missing frames up to `target`, each with what the scene is at it.

    Where frames that were jumped over cannot be visited, what stands between then and now is interpolated.
    """
    patience = patience_of(depsgraph)
    deadline = time.monotonic() + patience
    origin, frame, visits = record.last_frame, now.user.frame, can_visit(scene, depsgraph)
    objects = [obj for _, obj in record.world.objects(scene)]
    if not visits:
        now = whole_snapshot(record, scene, depsgraph, objects=objects)
        before = record.snapshots[origin]
        now = record.world.held(now)
        moves = not (before.stands_like(now) and before.surrounds_like(now))
    if patience < math.inf and not record.bake and _seconds_of_next(record, scene) > LONG:
        raise LateError(f"Frame {origin + 1} takes more than {LONG:g} s: it is simulated in slices")
    with visiting(record, scene):
        for at in range(origin + 1, target + 1):
            if visits:
                there = depsgraph if at == shown_frame(scene) else visit(scene, at)
                step.advance(record, scene, at, whole_snapshot(record, scene, there, objects=objects))
            else:
                between = now if at == frame else before.blend(now, (at - origin) / (frame - origin))
                step.advance(record, scene, at, between, guessed=at != frame and moves)
            disk_cache.keep(record, scene)
            if at < target and time.monotonic() > deadline:
                raise LateError(f"Simulated up to frame {at} of {target} in {patience:.0f} s: go on from there")


def _seconds_of_next(record: Record, scene: Scene) -> float:
    """How long the next frame will take, as the last one did or else as so many vertices do [s]."""
    if record.report is not None:
        return record.report.seconds
    vertices = sum(len(obj.data.vertices) for _, obj in record.world.objects(scene))
    return cost_estimate.seconds_of_frame(scene, vertices)


# ------------------------------------------------------------------------------------------ what is shown


def write(record: Record, scene: Scene, now: SceneSnapshot, in_render: bool = False) -> None:
    """Show what is known of a frame: simulated, or as the user made it.

    Where a render simulates, cloth goes on from the last frame as it moves there: it asks for motion blur before the
    next frame is known.
    """
    if record.world is None:
        for obj in live_bodies(scene):
            if obj.mode != "EDIT":
                output.show_user_shape(obj)
        return
    simulation, frame = record.world.simulation, now.user.frame
    last = simulation.frames.last
    ahead = frame - last if in_render and last < last_live_frame(scene) and 0.0 < frame - last < 1.0 else 0.0
    for member, obj in record.world.objects(scene):
        if obj.pbd.baked:
            continue
        try:
            check_fit(member, obj)
        except PBDError as error:
            step.say(record, record.message or str(error), record.is_late)
            continue
        pose = now.poses.get(member.uid)
        other = other_output(member, obj, record.snapshots.values())
        if other:
            step.say(record, record.message or other, record.is_late)
        if other or min(frame, last) < simulation.frames.first or not obj.pbd.active:
            output.show_user_shape(obj)
        elif pose is not None and not poses.is_flat(pose.matrix):
            if ahead:
                seconds = ahead * now.settings[scene.session_uid].frame_seconds
                positions = simulation.coasting_positions(member.body, seconds)
            else:
                positions = simulation.cached_positions(member.body, min(frame, last))
            output.write(obj, positions, pose, member.masks)
    heat_map.color(record, scene)


def show_again(record: Record, scene: Scene, depsgraph: Depsgraph) -> None:
    """Show the present frame once more: it was changed in place."""
    user = step.read_user(record, scene)
    objects = [obj for _, obj in record.world.objects(scene)]
    write(record, scene, snapshot.read_snapshot(scene, depsgraph, objects, user))
