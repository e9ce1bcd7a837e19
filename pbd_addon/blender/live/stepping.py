"""Stepping: the frames that are missing up to a wanted one, as far as time and memory last."""

import contextlib
import math
import time

import bpy
from bpy.app.translations import pgettext_iface as iface

from ... import UnstableError
from ..cache import disk_cache, validity
from ..errors import LateError, PBDError
from ..input.members import check_faces
from ..input.moments import read_moment
from ..scene import poses
from ..scene.scene_objects import layer_of, live_bodies
from ..scene.simulated_range import frame_range, go_to, shown_frame
from ..settings import raw_settings
from . import backends, heat_map

PATIENCE = math.inf if bpy.app.background else 1.0
"""How long a jump ahead may keep a window from drawing [s]; beyond that it goes on with progress and Esc."""


def patience_of(depsgraph):
    """How long what evaluates the scene may wait for a frame [s]: a picture has to show it, however long it takes."""
    return math.inf if depsgraph.mode == "RENDER" else PATIENCE


def can_visit(scene, depsgraph):
    """Whether the scene can be evaluated at other frames: not in a render or an export, which go through them alone."""
    return depsgraph.mode == "VIEWPORT" and depsgraph == layer_of(scene).depsgraph


@contextlib.contextmanager
def visiting(running, scene):
    """Frames may be visited meanwhile; go back to the present one in the end."""
    frame, subframe, before = scene.frame_current, scene.frame_subframe, running.visits
    running.visits = True
    try:
        yield
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)
        running.visits = before


def visit(scene, frame):
    """Evaluate the scene at another frame, while `visiting`; returns its depsgraph."""
    go_to(scene, frame)
    return layer_of(scene).depsgraph


def step_to(running, scene, depsgraph, frame, target, now):
    """Step all missing frames up to `target`, each with what the scene is at it.

    A render cannot visit the frames that it has jumped over: what stands between then and now is interpolated.

    Raises:
        PBDError: It cannot go on.
        LateError: It takes longer than `patience_of`; the frames that were stepped stay.
    """
    patience = patience_of(depsgraph)
    deadline = time.monotonic() + patience
    origin, visits = running.last_frame, can_visit(scene, depsgraph)
    objects = [obj for _, obj in running.world.objects(scene)]
    if not visits:
        now = running.with_surroundings(scene, depsgraph, now, objects)
    with visiting(running, scene):
        for step in range(origin + 1, target + 1):
            moment = now
            if visits:
                there = depsgraph
                if step != shown_frame(scene):
                    there = visit(scene, step)
                moment = read_moment(scene, there, objects)
                moment = running.with_surroundings(scene, there, moment, objects)
            elif step != frame:
                before = running.moments[origin]
                moment = before.blend(now, (step - origin) / (frame - origin))
                still = before.stands_like(now) and before.surrounds_like(now)
                if running.first_guess is None and not still:
                    running.first_guess = step
            _step(running, scene, step, moment)
            if step < target and time.monotonic() > deadline:
                raise LateError(f"Simulated up to frame {step} of {target} in {patience:.0f} s: go on from there")


def _step(running, scene, step, moment):
    """Step one frame, at whose end the scene stands as at a moment; raises `PBDError`."""
    world, simulation = running.world, running.world.simulation
    _check(running, scene, moment)
    _make_room(running, scene)
    cast = world.obstacles.keys()
    if world.recast(moment) and world.obstacles.keys() != cast:
        validity.disturb(running, running.last_frame, "there are other colliders")
    world.apply(scene, moment.settings)
    running.settings.update(moment.settings)
    running.notes = {**world.notes(), **_newcomers(running, scene)}
    simulation.use_kernels(backends.choose(scene))
    moment = world.held(moment)
    seconds = raw_settings.frame_seconds(moment.settings[scene.session_uid])
    try:
        report = simulation.advance_to(step, lambda _frame: world.inputs(scene, moment), seconds)
    except UnstableError as error:
        running.blocked = f"{error}; frame {step - 1} is kept"
        raise PBDError(running.blocked) from error
    except ValueError as error:
        raise PBDError(str(error)) from error
    running.report = report or running.report
    running.stepping += report.seconds if report else 0.0
    running.moments[step] = moment
    heat_map.note_touching(running, scene, step)
    disk_cache.keep(running, scene)
    if step == running.first_frame + 1 and report is not None and report.crossings:
        running.tangled = world.count_tangled()


def _check(running, scene, now):
    """Raise a `PBDError` if an object cannot be stepped from where it stands now, or the last step has failed."""
    for member, obj in running.world.objects(scene):
        check_faces(member, obj)
        other = running.other_output(member, obj)
        if other:
            raise PBDError(other)
        if poses.is_flat(now.poses[member.uid].matrix):
            raise PBDError(f"'{obj.name}' has a scale of zero: give it a scale to simulate it")
    if running.blocked:
        raise PBDError(running.blocked)


def _make_room(running, scene):
    """Let frames go from memory that the disk has, if the next one would be too much; raises `PBDError`."""
    simulation, limit = running.world.simulation, scene.pbd.cache_limit * 1e6
    if simulation.cache_bytes + simulation.frame_bytes <= limit:
        return
    if running.disk is not None and running.disk.files.last == running.last_frame:
        simulation.release()
        return
    raise PBDError(
        f"The cache is full: frames {running.first_frame} to {running.last_frame} take the {scene.pbd.cache_limit} MB "
        "that it may have. Raise Memory Limit, or switch on Disk Cache"
    )


def _newcomers(running, scene):
    """Tell objects that became PBD in the middle when they will join, by uid."""
    members = {member.uid for member in running.world.members}
    note, first = iface("'{name}' joins the simulation at frame {frame}, or on Reset"), frame_range(scene)[0]
    new = [obj for obj in live_bodies(scene) if obj.session_uid not in members]
    return {obj.session_uid: (note.format(name=obj.name, frame=first),) for obj in new}
