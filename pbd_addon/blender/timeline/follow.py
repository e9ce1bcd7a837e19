"""From the frame that Blender shows to the shapes in it: read, apply changes, step, write."""

import contextlib
import math
import operator
import time
from collections.abc import Generator, Iterator

import bpy
import numpy as np

from ...timing.slices import finish
from ..errors import DamagedFrame, LateError, PBDError, Stopped
from ..kinds import Depsgraph, Object, Scene
from ..output import output
from ..read import deformed_input, snapshot, user_state
from ..read.snapshot import SceneSnapshot
from ..read.user_state import UserState
from ..scene import poses
from ..scene.scene_objects import layer_of, live_bodies
from ..scene.simulated_range import frame_range, go_to, last_live_frame, shown_frame
from ..settings.raw_settings import scene_settings
from . import changes, cost_estimate, disk_cache, heat_map, progress, replay, step
from .record import Interrupted, Message, Record, SurfacesRead, Times, Visiting
from .simulated_object import SimulatedObject, check_fit, fits, other_output

PATIENCE = math.inf if bpy.app.background else 1.0
"""How long a jump ahead may block a window [s]; after that it continues with progress and Esc."""


def patience_of(depsgraph: Depsgraph) -> float:
    """How long stepping may take when this depsgraph is evaluated [s]; a render waits forever."""
    return math.inf if depsgraph.mode == "RENDER" else PATIENCE


def show(record: Record, scene: Scene, depsgraph: Depsgraph, steps: bool = True) -> bool:
    """Show the current frame on all objects, stepping missing frames if `steps`; returns whether there are any."""
    began = time.monotonic()
    step.note(record, Message(""))
    step.note(record, Times(0.0, record.exchange))
    objects = [obj for _, obj in record.scene_sim.objects(scene)] if record.scene_sim else live_bodies(scene)
    if not objects and live_bodies(scene):  # All simulated objects were deleted, and there are new ones.
        step.clear(record, None)
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
        step.note(record, Times(record.stepping, time.monotonic() - began - record.stepping))
    return bool(objects)


def _follow(record: Record, scene: Scene, depsgraph: Depsgraph, objects: list[Object], steps: bool) -> None:
    """Read, apply changes, step and write."""
    scene_sim = record.scene_sim
    before = scene_sim.around.values() if scene_sim else ()
    now = read_now(record, scene, depsgraph, objects)
    frame = now.user.frame
    found: list = []
    if not _is_as_loaded(record, scene, frame):
        found = changes.changes(record, now)
        reaches = steps and bool(objects) and (frame.is_integer() or scene.frame_subframe == 0.0)
        restart = reaches and math.floor(frame) == now.user.first and any(one.what in changes.AT_FIRST for one in found)
        if not (restart or record.is_pristine):
            step.apply(record, found, now.user)
        if reaches:
            try:
                reach(record, scene, depsgraph, now, restart or record.is_pristine)
            except DamagedFrame:
                raise
            except PBDError as error:
                step.note(record, Message(str(error), isinstance(error, LateError)))
        write(record, scene, now, depsgraph.mode == "RENDER")
    around = scene_sim.around.values() if scene_sim else ()
    user = now.user
    if record.scene_sim is not scene_sim or not all(map(operator.is_, around, before)):
        user = step.read_user(record, scene)._replace(uids=user.uids)
    step.remember(record, user)
    if record.scene_sim is not None and not found and not record.is_pristine:
        replay.note(record, scene, depsgraph, now)


def read_now(record: Record, scene: Scene, depsgraph: Depsgraph, objects: list[Object]) -> SceneSnapshot:
    """A snapshot of the scene as just evaluated, with what the user has set."""
    user = step.read_user(record, scene, record.edits, with_curves=True)
    colliders = user_state.objects_of(scene, record.dependencies.colliders) if depsgraph.mode == "RENDER" else ()
    now = snapshot.read_snapshot(scene, depsgraph, objects, user, colliders)
    if record.scene_sim is None:
        return now
    pairs, at_first = record.scene_sim.objects(scene), math.floor(user.frame) == user.first
    if at_first and math.floor(user.frame) == record.first_frame:
        begin, inputs = record.snapshots[record.first_frame], {}
        for member, obj in pairs:
            if fits(member, obj):
                with contextlib.suppress(PBDError):
                    inputs[member.uid] = user_state.read_first_inputs(obj, begin.poses[member.uid], member.masks)
        now = now._replace(first_inputs=inputs)
    return now._replace(deformed=_seen(record, depsgraph, user, pairs))


def _seen(
    record: Record, depsgraph: Depsgraph, user: UserState, pairs: list[tuple[SimulatedObject, Object]]
) -> dict[int, np.ndarray]:
    """The shapes that modifiers make of pinned objects, where they can be compared with those of a cached frame.

    Not in a render, which may have other modifiers. During playback meshes with a subdivision after the simulation are
    skipped: Blender subdivides while drawing, and reading the mesh here would take longer. A bake reads all.
    """
    frame = user.frame
    if depsgraph.mode == "RENDER" or not frame.is_integer() or int(frame) not in record.snapshots:
        return {}
    objects = [obj for _, obj in pairs if obj.session_uid in user.places["holder"]]
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
    """Whether nothing is simulated yet and the loaded file's frame is shown, in whose shape the cloth was saved."""
    if record.scene_sim is not None or record.loaded is None:
        return False
    return abs(frame - record.loaded) < 1.0 and record.loaded != frame_range(scene)[0]


# ------------------------------------------------------------------------------------------ missing frames


def reach(record: Record, scene: Scene, depsgraph: Depsgraph, now: SceneSnapshot, restart: bool) -> None:
    """Step missing frames up to the frame of a snapshot, rounded down; `restart` begins at the first frame.

    Raises a `PBDError` where a frame cannot be stepped, a `LateError` if it takes too long; what was stepped stays.
    """
    user, whole = now.user, math.floor(now.user.frame)
    first = min(user.first, record.bake.start) if record.bake else user.first
    target = whole if record.bake else min(whole, last_live_frame(scene))
    if record.stopped and target > max(record.last_frame, first):
        raise Stopped(record.stopped)
    step.note(record, Interrupted(""))
    if restart:
        if not live_bodies(scene):
            return
        if target < first:
            step.clear(record, None)
            return
        kept = record.is_pristine and record.scene_sim is not None and record.first_frame == first
        kept = kept and not record.scene_sim.newcomers(scene)  # They show the shape that they were copied in.
        if target == first and not kept:
            here = whole_snapshot(record, scene, depsgraph)
            step.clear(record, here)
            settles = scene_settings(here.settings, scene).settle
            sorts = cost_estimate.has_layers(scene) and not _would_block(scene, depsgraph)  # else playback does
            if (settles or sorts) and not record.bake:
                _refuse_to_block(scene, depsgraph)
                finish(_build(record, scene, depsgraph, first, here))
        if target == first:
            return
        if not (kept and record.bake):
            if not record.bake:
                _refuse_to_block(scene, depsgraph)
            finish(build_first_frame(record, scene, depsgraph, first))
    if record.first_frame <= target and target > record.last_frame:
        _step_to(record, scene, depsgraph, now, target)


def _refuse_to_block(scene: Scene, depsgraph: Depsgraph) -> None:
    """Raise a `LateError` if building the first frame would block a window."""
    if _would_block(scene, depsgraph):
        count = cost_estimate.count_vertices(scene)
        seconds = cost_estimate.rounded(cost_estimate.seconds_to_begin(scene))
        raise LateError(f"{count} vertices take about {seconds} s to prepare")


def _would_block(scene: Scene, depsgraph: Depsgraph) -> bool:
    return patience_of(depsgraph) < math.inf and is_heavy(scene)


def is_heavy(scene: Scene) -> bool:
    """Whether building the first frame would block a window."""
    return PATIENCE < math.inf and cost_estimate.seconds_to_begin(scene) > cost_estimate.SLICED


def whole_snapshot(
    record: Record, scene: Scene, depsgraph: Depsgraph, objects: list[Object] | None = None
) -> SceneSnapshot:
    """A complete snapshot of the scene as just evaluated; raises `PBDError`."""
    objects = live_bodies(scene) if objects is None else objects
    bare = snapshot.read_snapshot(scene, depsgraph, objects)
    found = snapshot.read_surroundings(scene, depsgraph, bare, objects, record.surfaces)
    step.note(record, SurfacesRead(found.surfaces))
    return found


def build_first_frame(record: Record, scene: Scene, depsgraph: Depsgraph, first: int) -> Generator[None, None, None]:
    """Build the simulation at the first frame, in slices, and settle it; raises `PBDError`.

    If that frame cannot be evaluated, its last known snapshot or else the current scene is used.
    """
    if shown_frame(scene) == first or can_visit(scene, depsgraph):
        with visiting(record, scene):
            there = depsgraph if shown_frame(scene) == first else visit(record, scene, first)
            here = whole_snapshot(record, scene, there)
    else:
        here = whole_snapshot(record, scene, depsgraph)
        here = here if record.start is None else here.completing(record.start)
    yield from _build(record, scene, depsgraph, first, here)


def _build(
    record: Record, scene: Scene, depsgraph: Depsgraph, first: int, here: SceneSnapshot
) -> Generator[None, None, None]:
    seconds = cost_estimate.seconds_to_begin(scene)
    what = f"frame {first} is prepared, {cost_estimate.count_vertices(scene):,} vertices"
    watch = progress.Watch()
    with _stopping(record):
        if seconds > progress.EVERY:
            watch.say(f"{what}: about {cost_estimate.rounded(seconds)} s", at_once=True)
        for _slice in step.building(record, scene, first, here):
            watch.say(f"{what}: {watch.seconds:.0f} s so far")
            watch.obey(f"Stopped by Ctrl+C while frame {first} was prepared: show it to begin again")
            yield
        if not record.bake:
            step.settle(record, scene, patience_of(depsgraph), watch)


@contextlib.contextmanager
def _stopping(record: Record) -> Iterator[None]:
    """A context in which Ctrl+C is remembered: a script that shows more frames shall not simulate them either."""
    try:
        yield
    except Stopped as error:
        step.note(record, Interrupted(str(error)))
        raise


def can_visit(scene: Scene, depsgraph: Depsgraph) -> bool:
    """Whether the scene can be evaluated at other frames.

    A render beside a window runs in its own thread, which must not evaluate what the window draws.
    """
    if depsgraph.mode == "RENDER":
        return bpy.app.background
    return depsgraph.mode == "VIEWPORT" and depsgraph == layer_of(scene).depsgraph


@contextlib.contextmanager
def visiting(record: Record, scene: Scene) -> Iterator[None]:
    """A context in which other frames may be visited; returns to the current one at the end."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    with _alone(record):
        try:
            yield
        finally:
            if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
                scene.frame_set(frame, subframe=subframe)


@contextlib.contextmanager
def _alone(record: Record) -> Iterator[None]:
    """A context in which our handler leaves changes of the frame to us; others' handlers are called as ever."""
    before = record.is_visiting
    step.note(record, Visiting(True))
    try:
        yield
    finally:
        step.note(record, Visiting(before))


def visit(record: Record, scene: Scene, frame: int) -> Depsgraph:
    """Evaluate the scene at another frame, which our handler does not see; returns its depsgraph."""
    with _alone(record):
        go_to(scene, frame)
    return layer_of(scene).depsgraph


def show_at(record: Record, scene: Scene, frame: int) -> None:
    """Go to a frame, and show it as our handler would, stepping missing frames."""
    show(record, scene, visit(record, scene, frame))


def going(record: Record, scene: Scene, frame: int) -> Generator[float, None, None]:
    """Go to a frame and show it; step it in slices if it is the next one, and yield the fraction done.

    What it depends on is read as soon as the scene is evaluated there, as in our handler. In between the scene stays
    at this frame.
    """
    there = visit(record, scene, frame)
    is_next = record.scene_sim is not None and frame == record.last_frame + 1 <= last_live_frame(scene)
    if is_next and (record.is_late or not record.message):
        objects = [obj for _, obj in record.scene_sim.objects(scene)]
        yield from step.advancing(record, scene, frame, whole_snapshot(record, scene, there, objects=objects))
        disk_cache.keep(record, scene)
        there = layer_of(scene).depsgraph if frame == shown_frame(scene) else visit(record, scene, frame)
    show(record, scene, there)


def _step_to(record: Record, scene: Scene, depsgraph: Depsgraph, now: SceneSnapshot, target: int) -> None:
    """Step all missing frames up to `target`, each with the scene evaluated at it.

    Where skipped frames cannot be visited, their inputs are interpolated.
    """
    patience = patience_of(depsgraph)
    deadline = time.monotonic() + patience
    origin, frame, visitable = record.last_frame, now.user.frame, can_visit(scene, depsgraph)
    objects = [obj for _, obj in record.scene_sim.objects(scene)]
    if not visitable:
        now = whole_snapshot(record, scene, depsgraph, objects=objects)
        before = record.snapshots[origin]
        now = record.scene_sim.with_pins_only(now)
        moves = not (before.has_poses_of(now) and before.has_surroundings_of(now))
    expected = cost_estimate.seconds_of_frame(scene, sum(len(obj.data.vertices) for obj in objects))
    expected = expected if record.report is None else record.report.seconds
    if patience < math.inf and not record.bake and expected > cost_estimate.SLICED:
        raise LateError(f"Frame {origin + 1} takes more than {cost_estimate.SLICED:g} s: it is simulated in slices")
    watch = progress.Watch()
    with visiting(record, scene), _stopping(record):
        for at in range(origin + 1, target + 1):
            if visitable:
                there = depsgraph if at == shown_frame(scene) else visit(record, scene, at)
                work = step.advancing(record, scene, at, whole_snapshot(record, scene, there, objects=objects))
            else:
                between = now if at == frame else before.blend(now, (at - origin) / (frame - origin))
                work = step.advancing(record, scene, at, between, guessed=at != frame and moves)
            kept = f"frames {record.first_frame} to {at - 1} are kept: show one of them to go on"
            for share in work:
                watch.say(f"frame {at} of {target} is {100 * share:.0f} % done")
                watch.obey(f"Stopped by Ctrl+C at frame {at} of {target}; {kept}")
            disk_cache.keep(record, scene)
            watch.say(f"frame {at} of {target}, {watch.seconds / (at - origin):.1f} s a frame")
            if at < target and time.monotonic() > deadline:
                raise LateError(f"Simulated up to frame {at} of {target} in {patience:.0f} s: go on from there")


# ------------------------------------------------------------------------------------------ what is shown


def write(record: Record, scene: Scene, now: SceneSnapshot, in_render: bool = False) -> None:
    """Show a frame: the simulated shapes, or the user's where there are none.

    A render evaluates motion blur before the next frame is simulated: there cloth is extrapolated from the last one.
    """
    if record.scene_sim is None:
        for obj in live_bodies(scene):
            if obj.mode != "EDIT":
                output.show_user_shape(obj)
        return
    simulation, frame = record.scene_sim.simulation, now.user.frame
    last, shapes = simulation.frames.last, dict[int, np.ndarray]()
    ahead = frame - last if in_render and last < last_live_frame(scene) and 0.0 < frame - last < 1.0 else 0.0
    for member, obj in record.scene_sim.objects(scene):
        if obj.pbd.baked:
            continue
        try:
            check_fit(member, obj)
        except PBDError as error:
            step.note(record, Message(record.message or str(error), record.is_late))
            continue
        pose = now.poses.get(member.uid)
        other = other_output(member, now.user.roles.get(member.uid) or user_state.role(obj), record.snapshots.values())
        if other:
            step.note(record, Message(record.message or other, record.is_late))
        if other or min(frame, last) < simulation.frames.first or not obj.pbd.active:
            output.show_user_shape(obj)
        elif pose is not None and not poses.is_flat(pose.matrix):
            if ahead:
                seconds = ahead * scene_settings(now.settings, scene).frame_seconds
                positions = simulation.coasting_positions(member.body, seconds)
            else:
                shapes = shapes or record.scene_sim.split(simulation.frames.positions(min(frame, last)))
                positions = np.ascontiguousarray(shapes[member.uid].T)
            output.write(obj, positions, pose, member.masks)
    heat_map.color(record, scene)


def show_again(record: Record, scene: Scene, depsgraph: Depsgraph) -> None:
    """Show the current frame again after it was changed in place."""
    user = step.read_user(record, scene)
    objects = [obj for _, obj in record.scene_sim.objects(scene)]
    write(record, scene, snapshot.read_snapshot(scene, depsgraph, objects, user))
