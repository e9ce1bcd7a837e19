"""Step through a frame range and record the shapes of objects, for bakes and exports."""

import contextlib
import time
from collections.abc import Generator, Iterator
from typing import NamedTuple

import bpy
import numpy as np

from ...timing.slices import Result
from .. import handlers
from ..errors import PBDError
from ..kinds import Object, Scene
from ..output import proxy_modifier
from ..scene import marks, poses, user_keys
from ..scene.arrays import values
from ..scene.poses import Pose
from ..scene.scene_objects import find
from ..timeline import cost_estimate, follow, session, step, validity
from ..timeline.record import Message, Progress, Record
from ..timeline.session import BakeProgress
from . import mesh_cache

SLICE_SECONDS = 0.1
"""Time slice of a slow frame [s]: between slices the window is drawn and Esc is handled, which should take at most
half a second. A slice ends with a substep, and one of 40,000 vertices takes up to 0.37 s of NumPy."""


class Recording(NamedTuple):
    """The shapes of one object, frame by frame."""

    shapes: list[np.ndarray]  # f shapes (n, 3) float32, object space [m]
    stretch: float  # largest scale of its transform, in any direction
    loop: int = 0  # number of frames after which it repeats itself, the first frame once more being the last; 0: never
    apart: float = 0.0  # root mean square of the distances of the two frames that the loop joins [m]


@contextlib.contextmanager
def at_the_users_frame(scene: Scene) -> Iterator[None]:
    """At the end return to the current frame, without simulating, and mark the bake as finished."""
    uid, frame, subframe = scene.session_uid, scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene = find_scene(uid)
        running = session.of(scene)
        step.note(running, Progress(None))
        with handlers.asleep():
            scene.frame_set(frame, subframe=subframe)
        follow.show(running, scene, bpy.context.evaluated_depsgraph_get(), steps=False)
        session.tell(scene)


def record(
    scene_uid: int, names: dict[int, str], frame_start: int, frame_end: int, with_user_keys: bool
) -> Generator[BakeProgress, None, dict[int, Recording]]:
    """Simulate missing frames and record the shapes of objects, by uid, with the user's shape keys or without.

    No reference to Blender's data is kept across a yield, of the progress. Baked objects are read from their bakes,
    what follows a proxy as it is shown. The scene stays at `frame_end`. Raises a `PBDError` if a step fails, or an
    object or the scene is gone.
    """
    scene = find_scene(scene_uid)
    kept = {uid: Recording([], 0.0) for uid in names}
    is_live = any(not (proxy_modifier.target(obj) or obj).pbd.baked for obj in find_objects(scene, names))
    step.note(session.of(scene), Progress(BakeProgress(frame_start, frame_start, frame_end, 0.0)))
    first = (yield from _rewind(scene_uid, frame_start, frame_end)) if is_live else frame_start
    began = time.monotonic()
    for frame in range(first, frame_end + 1):
        if is_live:
            running = yield from _going(scene_uid, frame)
            scene = find_scene(scene_uid)
        else:
            scene = find_scene(scene_uid)
            running = session.of(scene)
            follow.visit(running, scene, frame)
        if frame >= frame_start:
            depsgraph = bpy.context.evaluated_depsgraph_get()
            for obj in find_objects(scene, names):
                uid = obj.session_uid
                pose = poses.read_pose(obj, depsgraph)
                if poses.is_flat(pose.matrix):
                    raise PBDError(f"'{obj.name}' has a scale of zero at frame {frame}: give it a scale to bake it")
                follows = not obj.pbd.enabled
                shape = _evaluated(obj, depsgraph) if follows else _shape(running, obj, pose, frame, with_user_keys)
                kept[uid].shapes.append(shape)
                stretch = float(np.linalg.norm(pose.matrix[:3, :3], 2))
                kept[uid] = kept[uid]._replace(stretch=max(kept[uid].stretch, stretch))
        done = frame - first + 1
        eta = (time.monotonic() - began) / done * (frame_end - frame)
        step.note(running, Progress(BakeProgress(frame, frame_start, frame_end, eta)))
        yield running.bake
    return kept


def catching_up(scene: Scene) -> Generator[BakeProgress, None, None]:
    """The generator that settles, simulates missing frames up to the shown one, and yields the progress.

    It raises a `PBDError`. From now on the frame is not late any more: it comes, with progress.
    """
    step.note(session.of(scene), Message(""))
    return _catch_up(scene)


def _catch_up(scene: Scene) -> Generator[BakeProgress, None, None]:
    uid, wanted = scene.session_uid, session.last_shown(scene)
    last = min(wanted, session.last_live_frame(scene))
    with at_the_users_frame(scene):
        running, begin = session.of(scene), session.frame_range(scene)[0]
        there = max(begin, running.last_frame)
        each = cost_estimate.seconds_of_frame(scene, cost_estimate.count_vertices(scene))
        eta = (running.report.seconds if running.report is not None else each) * (last - there)
        step.note(running, Progress(BakeProgress(there, begin, last, eta)))
        if running.is_pristine or running.settled:
            yield from _settle(uid, begin, last)
        began, first = time.monotonic(), session.of(scene).last_frame
        for frame in range(first + 1, last + 1):
            running = yield from _going(uid, frame)
            eta = (time.monotonic() - began) / (frame - first) * (last - frame)
            step.note(running, Progress(BakeProgress(frame, begin, last, eta)))
            yield running.bake


def settle(running: Record, scene: Scene, frames: int) -> Generator[int, None, None]:
    """Let the first frame hang for some frames, as a generator of how many are done; raises `PBDError`."""
    for done in range(1, frames + 1):
        step.settle_on(running, scene, done, frames)
        yield done


def keep_settled(running: Record, scene: Scene, frames: int) -> None:
    """Let the scene say how its first frame came about, and show it."""
    scene.pbd.settle = frames
    step.take_settings_of_first(running, scene)
    show_again(running, scene)


def show_again(running: Record, scene: Scene) -> None:
    """Show the current frame again after it was changed in place."""
    follow.show_again(running, scene, bpy.context.evaluated_depsgraph_get())


def _going(scene_uid: int, frame: int) -> Generator[BakeProgress, None, Record]:
    """Go to a frame, which is stepped if it is the next one, and yield the progress so far every `SLICE_SECONDS`.

    Returns the record of the scene; raises a `PBDError` if it did not reach the frame.
    """
    scene = find_scene(scene_uid)
    running = session.of(scene)
    yield from _told(follow.going(running, scene, frame), running.bake)
    scene = find_scene(scene_uid)
    session.tell(scene)
    running = session.of(scene)
    if running.message:
        raise PBDError(running.message)
    if running.scene_sim is None or not running.scene_sim.simulation.frames.holds(frame):
        raise PBDError(f"Frame {frame} could not be simulated: press Reset")
    return running


def _told(work: Generator[object, None, Result], progress: BakeProgress) -> Generator[BakeProgress, None, Result]:
    """Do work in slices, and yield the progress every `SLICE_SECONDS`."""
    began = time.monotonic()
    while True:
        try:
            next(work)
        except StopIteration as end:
            return end.value
        if time.monotonic() - began > SLICE_SECONDS:
            yield progress
            began = time.monotonic()


def find_scene(uid: int) -> Scene:
    """The scene of that uid; raises a `PBDError` if it was deleted."""
    found = next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)
    if found is None:
        raise PBDError("The scene was deleted during the bake")
    return found


def find_objects(scene: Scene, names: dict[int, str], work: str = "bake") -> list[Object]:
    """The objects of these uids; raises a `PBDError` if one was deleted."""
    found = [find(scene, uid, name) for uid, name in names.items()]
    if None in found:
        raise PBDError(f"An object was deleted during the {work}")
    return found


def _rewind(scene_uid: int, frame_start: int, frame_end: int) -> Generator[BakeProgress, None, int]:
    """Keep the cache if it is valid, else restart and settle; returns the frame at which recording has to begin."""
    scene = find_scene(scene_uid)
    running = session.of(scene)
    if not running.is_pristine:
        # If an edit shows at this frame, the simulation restarts by itself.
        follow.show_at(running, scene, running.first_frame)
    if not running.is_pristine and running.first_frame <= frame_start and validity.is_one_run(running, scene):
        return min(frame_start, running.last_frame)
    begin = min(session.frame_range(scene)[0], frame_start)
    session.drop(scene)
    step.note(session.of(scene), Progress(BakeProgress(begin, frame_start, frame_end, 0.0)))
    yield from _settle(scene_uid, begin, frame_end)
    return begin


def _settle(scene_uid: int, begin: int, frame_end: int) -> Generator[BakeProgress, None, None]:
    """Build the simulation at its first frame if needed, and settle it; yields the progress."""
    scene = find_scene(scene_uid)
    running, count = session.of(scene), cost_estimate.count_vertices(scene)
    follow.show_at(running, scene, begin)
    seconds = cost_estimate.seconds_to_prepare(count)
    if running.scene_sim is None and seconds > SLICE_SECONDS:
        step.note(running, Progress(BakeProgress(begin, begin, frame_end, seconds, to_prepare=count)))
        yield running.bake
        scene = find_scene(scene_uid)
        follow.show_at(running, scene, begin)
    running = yield from _told(session.ensuring(scene, bpy.context.evaluated_depsgraph_get()), running.bake)
    to_settle, began, before = step.frames_to_settle(running, scene), time.monotonic(), running.settled
    for settled in range(before + 1, to_settle + 1):
        step.settle_on(running, find_scene(scene_uid), settled, to_settle)
        eta = (time.monotonic() - began) / (settled - before) * (to_settle - settled + frame_end - begin + 1)
        step.note(running, Progress(BakeProgress(begin, begin, frame_end, eta, settled, to_settle)))
        yield running.bake


def _shape(running: Record, obj: Object, pose: Pose, frame: int, with_user_keys: bool) -> np.ndarray:
    """The shape (n, 3) float32 of an object at the shown frame."""
    if obj.pbd.baked:
        if obj.pbd.bake_modifier:
            return mesh_cache.baked_shape(obj, frame)
        masks = user_keys.read_masks(obj) if pose.key_values else {}
        shape, holds_user_keys = _shape_of_keys(obj), False
    else:
        member = next((member for member in running.scene_sim.members if member.uid == obj.session_uid), None)
        if member is None:
            raise PBDError(f"'{obj.name}' is not in the simulation: press Reset")
        masks = member.masks
        positions = running.scene_sim.simulation.cached_positions(member.body, frame)
        shape, holds_user_keys = poses.to_object(positions, pose.matrix), True
    if holds_user_keys == with_user_keys:
        return shape
    offset = user_keys.user_offset(obj, pose.key_values, masks)
    if offset is None:
        return shape
    return shape + offset if with_user_keys else shape - offset


def _evaluated(obj: Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """The shape (n, 3) float32 of an object as it is shown, in object space."""
    found = values(obj.evaluated_get(depsgraph).data.vertices, "co", size=3)
    if len(found) != len(obj.data.vertices):
        raise PBDError(f"A modifier of '{obj.name}' changes the number of vertices: apply it first")
    return found


def _shape_of_keys(obj: Object) -> np.ndarray:
    """The shape (n, 3) float32 of an object's baked keys at the shown frame."""
    keys = obj.data.shape_keys
    if keys is None:
        raise PBDError(f"The baked keys of '{obj.name}' are gone: delete the bake")
    if keys.use_relative:
        values = {block.name: block.value for block in marks.marked(keys, marks.BAKED) if block.value != 0.0}
        offset = user_keys.user_offset(obj, values, {})
        basis = user_keys.basis_shape(obj)
        return basis if offset is None else basis + offset
    blocks = list(keys.key_blocks)
    places = np.array([block.frame for block in blocks])
    after = int(np.clip(np.searchsorted(places, keys.eval_time), 1, len(blocks) - 1))
    before = user_keys.read_points(blocks[after - 1])
    share = (keys.eval_time - places[after - 1]) / max(places[after] - places[after - 1], 1e-9)
    return before + np.float32(np.clip(share, 0.0, 1.0)) * (user_keys.read_points(blocks[after]) - before)
