"""Bake: step through a frame range, then write the shapes of all objects, or of none if one fails."""

from collections.abc import Generator

import numpy as np

from ...frames.loop import Pair
from ...io import key_reduction
from ...io.key_reduction import Reduction
from .. import handlers
from ..errors import PBDError, refused
from ..kinds import Object, Scene
from ..output import output_modifier
from ..read import mesh_io
from ..timeline.session import BakeProgress
from . import baked_keys, loops, mesh_cache, recording
from .recording import Recording

SAME_SHAPE = 1e-5
"""Error below which shapes stored in 32 bits count as equal [m]."""


def start(
    scene: Scene, objects: list[Object], mode: str, frame_start: int, frame_end: int
) -> Generator[BakeProgress, None, None]:
    """Check, then return the generator that bakes, a frame at a time, and yields the progress.

    The mode is one of `properties.BAKE_MODES`. Closing the generator early leaves the objects as they are; the frames
    so far stay in the cache. Both raise a `PBDError` if an object cannot be baked; the scene returns to its frame.
    """
    check(scene, objects, mode, frame_start, frame_end)
    names = {obj.session_uid: obj.name for obj in objects}
    return _run(scene, names, mode, frame_start, frame_end)


def check(scene: Scene, objects: list[Object], mode: str, frame_start: int, frame_end: int) -> None:
    """Raise a `PBDError` if an object cannot be baked in this mode."""
    if frame_end < frame_start:
        raise PBDError(f"There is nothing to bake from frame {frame_start} to {frame_end}")
    if not objects:
        raise PBDError("There is no PBD cloth or balloon to bake")
    for obj in objects:
        if obj.pbd.baked:
            raise PBDError(f"'{obj.name}' is baked: delete the bake first")
        if not (obj.pbd.enabled and obj.pbd.active):
            raise PBDError(f"'{obj.name}' is not simulated: switch it on to bake it")
        mesh_io.check_mesh(obj)
        output_modifier.check_switches(obj)
        if mode == "ABSOLUTE":
            baked_keys.check_absolute(obj)
    if mode == "MESH_CACHE":
        mesh_cache.choose_paths(scene, objects)


def _run(
    scene: Scene, names: dict[int, str], mode: str, frame_start: int, frame_end: int
) -> Generator[BakeProgress, None, None]:
    """Record, then write; no reference to Blender's data is kept across a yield."""
    uid = scene.session_uid
    with recording.at_the_users_frame(scene):
        del scene
        shapes = yield from recording.record(uid, names, frame_start, frame_end, holds_user_keys(mode))
        scene = recording.find_scene(uid)
        write(scene, names, mode, frame_start, loops.close(scene, shapes, frame_start))


def find_loop(
    scene: Scene, objects: list[Object], frame_start: int, frame_end: int
) -> Generator[BakeProgress, None, tuple[int, Pair]]:
    """Check, then return the generator that simulates and looks for the frames that a loop would join.

    It returns the first of them, and the pair. Both raise a `PBDError`.
    """
    check(scene, objects, "RELATIVE", frame_start, frame_end)
    return _find_loop(scene, {obj.session_uid: obj.name for obj in objects}, frame_start, frame_end)


def _find_loop(
    scene: Scene, names: dict[int, str], frame_start: int, frame_end: int
) -> Generator[BakeProgress, None, tuple[int, Pair]]:
    """Record and look; no reference to Blender's data is kept across a yield."""
    uid = scene.session_uid
    with recording.at_the_users_frame(scene):
        del scene
        kept = yield from recording.record(uid, names, frame_start, frame_end, with_user_keys=False)
        found = loops.find(recording.find_scene(uid), kept)
    return frame_start + found.first, found


def holds_user_keys(mode: str) -> bool:
    """Whether a bake of this mode includes the effect of the user's shape keys; otherwise these still play."""
    return mode == "MESH_CACHE"


def write(scene: Scene, names: dict[int, str], mode: str, frame_start: int, recordings: dict[int, Recording]) -> None:
    """Write the recordings of all objects from a frame on; if one fails, delete the bakes of the others.

    `names` and `recordings`, with the user's keys if `holds_user_keys`, are by uid. Raises `PBDError`.
    """
    objects = recording.find_objects(scene, names)
    paths = mesh_cache.choose_paths(scene, objects) if mode == "MESH_CACHE" else {}
    try:
        for obj in objects:
            kept = recordings[obj.session_uid]
            frames = range(frame_start, frame_start + len(kept.shapes))
            if mode == "ABSOLUTE":
                baked_keys.bake_absolute(obj, frames, kept.shapes)
            elif mode == "RELATIVE":
                baked_keys.bake_relative(obj, frames, kept.shapes)
            elif mode == "REDUCED":
                baked_keys.bake_reduced(obj, frames, reduce(obj, kept))
            else:
                mesh_cache.bake(obj, frames, kept.shapes, paths[obj.session_uid])
            obj.pbd.baked_as = mode
            if kept.loop:
                obj.pbd.bake_loop, obj.pbd.bake_apart = kept.loop, kept.apart
                (mesh_cache if mode == "MESH_CACHE" else baked_keys).repeat(obj)
    except BaseException:
        for obj in objects:
            if obj.pbd.baked:
                _delete(obj, with_file=True)
        raise


def reduce(obj: Object, kept: Recording) -> Reduction:
    """The reduced keys by the object's settings; their error is in world space [m].

    Those that the object plays already are found again. Raises a `PBDError` if no number of keys is exact enough.
    """
    settings, shapes = obj.pbd, np.asarray(kept.shapes)
    with refused(f"'{obj.name}': "):
        if settings.baked_as == "REDUCED":
            found = key_reduction.within(shapes, SAME_SHAPE / kept.stretch)
        elif settings.reduce_by == "COUNT":
            found = key_reduction.by_count(shapes, settings.reduce_count)
        else:
            found = key_reduction.within(shapes, settings.reduce_error / kept.stretch)
    return found._replace(error=found.error * kept.stretch)


def delete(scene: Scene, objects: list[Object], with_files: bool = False) -> None:
    """Delete the bakes of PBD objects, which are live again, from the cache if it still exists.

    Files are deleted too if `with_files`, unless another object plays them.
    """
    for obj in objects:
        mesh_io.check_editable(obj)
    try:
        for obj in objects:
            if obj.pbd.baked:
                _delete(obj, with_files)
    finally:
        handlers.arm_if_needed()
        scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def _delete(obj: Object, with_file: bool) -> None:
    """Delete one bake."""
    if obj.pbd.bake_modifier:
        mesh_cache.delete_bake(obj, with_file)
    else:
        baked_keys.delete_bake(obj)
