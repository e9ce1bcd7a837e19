"""Bake: step through a frame range, then write the shape keys of all objects, or of none."""

import time

import bpy
import numpy as np

from . import baked_keys, handlers, mesh_io, output_modifier, poses, session, user_keys, world
from .errors import PBDError
from .session import BakeProgress


def start(scene, objects, mode, frame_start, frame_end):
    """Check what is to be baked, and return the generator that does it, a frame at a time.

    Closing the generator early leaves the objects as they are; the frames so far stay in the cache.

    Args:
        scene: Its animation is played by `frame_set`; at the end it is back at the present frame.
        objects: PBD objects of the scene.
        mode: "ABSOLUTE" or "RELATIVE".
        frame_start: First frame to bake.
        frame_end: Last frame to bake.

    Returns:
        A generator of `BakeProgress`.

    Raises:
        PBDError: Something cannot be baked; the generator raises it too, when a step fails.
    """
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
    names = {obj.session_uid: obj.name for obj in objects}
    return _run(scene.session_uid, names, mode, frame_start, frame_end)


def _run(scene_uid, names, mode, frame_start, frame_end):
    """Step, collect, write; nothing of Blender's is kept over a yield."""
    scene = _scene(scene_uid)
    frame_of_user, subframe_of_user = scene.frame_current, scene.frame_subframe
    shapes: dict[int, list[np.ndarray]] = {uid: [] for uid in names}
    began = time.monotonic()
    try:
        first = _rewind(scene, frame_start)
        session.of(scene).bake = BakeProgress(first, frame_start, frame_end, 0.0)
        for frame in range(first, frame_end + 1):
            scene = _scene(scene_uid)
            scene.frame_set(frame)
            running = _running(scene, frame)
            if frame >= frame_start:
                for uid, name in names.items():
                    shapes[uid].append(_shape(scene, running, uid, name, frame))
            done = frame - first + 1
            eta = (time.monotonic() - began) / done * (frame_end - frame)
            running.bake = BakeProgress(frame, frame_start, frame_end, eta)
            yield running.bake
        _write(_scene(scene_uid), names, mode, range(frame_start, frame_end + 1), shapes)
    finally:
        session.of(_scene(scene_uid)).bake = None
        _scene(scene_uid).frame_set(frame_of_user, subframe=subframe_of_user)


def _scene(uid):
    """The scene of that uid, which must still be there."""
    found = next((scene for scene in bpy.data.scenes if scene.session_uid == uid), None)
    if found is None:
        raise PBDError("The scene was deleted during the bake")
    return found


def _rewind(scene, frame_start):
    """Go to where stepping has to begin, and start anew if the cache does not fit; returns that frame."""
    handlers.arm()
    running = session.of(scene)
    if not running.untouched:
        scene.frame_set(running.first_frame)  # Starts anew by itself where an edit is seen there.
    if not running.untouched and running.first_frame <= frame_start and running.fits(scene):
        return min(frame_start, running.last_frame)
    begin = min(session.frame_range(scene)[0], frame_start)
    session.drop(scene)
    scene.frame_set(begin)
    session.reset(scene, bpy.context.evaluated_depsgraph_get())
    return begin


def _running(scene, frame):
    """The session, which must have reached the frame; else say why not."""
    running = session.of(scene)
    if running.message:
        raise PBDError(running.message)
    if running.world is None or not running.world.simulation.is_cached(frame):
        raise PBDError(f"Frame {frame} could not be simulated: press Reset")
    return running


def _shape(scene, running, uid, name, frame):
    """The simulated shape (n, 3) float32 of an object at a frame, without what the user's own keys add."""
    member = next((member for member in running.world.members if member.uid == uid), None)
    obj = world.find(scene, uid, name)
    if member is None or obj is None:
        raise PBDError(f"'{name}' is not in the simulation: press Reset")
    pose = poses.read_pose(obj, bpy.context.evaluated_depsgraph_get())
    if poses.is_flat(pose.matrix):
        raise PBDError(f"'{name}' has a scale of zero at frame {frame}: give it a scale to bake it")
    shape = poses.to_object(running.world.simulation.cached_positions(member.body, frame), pose.matrix)
    offset = user_keys.user_offset(obj, pose.key_values, member.masks)
    return shape if offset is None else shape - offset


def _write(scene, names, mode, frames, shapes):
    """Write the keys of all objects; if one fails, take back the others."""
    write = baked_keys.bake_absolute if mode == "ABSOLUTE" else baked_keys.bake_relative
    objects = [world.find(scene, uid, name) for uid, name in names.items()]
    if None in objects:
        raise PBDError("An object was deleted during the bake")
    try:
        for obj in objects:
            write(obj, frames, shapes[obj.session_uid])
    except BaseException:
        for obj in objects:
            if obj.pbd.baked:
                baked_keys.delete_bake(obj)
        raise


def delete(scene, objects):
    """Take the bakes of these objects away; they are simulated live again, from the cache if it is still there."""
    for obj in objects:
        mesh_io.check_editable(obj)
    for obj in objects:
        if obj.pbd.baked:
            baked_keys.delete_bake(obj)
    handlers.arm_if_needed()
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
