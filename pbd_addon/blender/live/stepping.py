"""Stepping: the frames that are missing up to a wanted one, as far as time and memory last."""

import math
import time

import bpy
from bpy.app.translations import pgettext_iface as iface

from ... import UnstableError
from ..cache import changed_settings, disk_cache, validity
from ..errors import PBDError
from ..input.members import check_faces
from ..scene import poses
from ..scene.scene_objects import live_bodies
from ..scene.simulated_range import frame_range
from ..settings import raw_settings
from . import backends, heat_map

PATIENCE = math.inf if bpy.app.background else 10.0
"""How long a jump ahead may keep a window from drawing [s]."""


def patience_of(depsgraph):
    """How long what evaluates the scene may wait for a frame [s]: a picture has to show it, however long it takes."""
    return math.inf if depsgraph.mode == "RENDER" else PATIENCE


def step_to(running, scene, depsgraph, frame, target, now):
    """Step all missing frames up to `target`; what stands between then and now is interpolated.

    Raises:
        PBDError: It cannot go on, or not within `patience_of`; the frames that were stepped stay.
    """
    _check(running, scene, now)
    objects = [obj for _, obj in running.world.objects(scene)]
    now = running.with_surroundings(scene, depsgraph, now, objects)
    cast = running.world.obstacles.keys()
    if running.world.recast(now) and running.world.obstacles.keys() != cast:
        validity.disturb(running, running.last_frame, "there are other colliders")
    running.world.apply(scene, now.settings)
    running.settings.update(now.settings)
    running.notes = {**running.world.notes(), **_newcomers(running, scene)}
    seconds = raw_settings.frame_seconds(now.settings[scene.session_uid])
    simulation = running.world.simulation
    simulation.use_kernels(backends.choose(scene))
    origin = running.last_frame
    before, now = running.world.held(running.moments[origin]), running.world.held(now)
    patience = patience_of(depsgraph)
    deadline = time.monotonic() + patience
    for step in range(origin + 1, target + 1):
        _make_room(running, scene)
        moment = now
        if step != frame:
            settings = changed_settings.settings_at(running, scene, step, now.settings)
            moment = before.blend(now, (step - origin) / (frame - origin))._replace(settings=settings)
        running.world.apply(scene, moment.settings)
        try:
            report = simulation.advance_to(step, lambda _frame, at=moment: running.world.inputs(scene, at), seconds)
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
            running.tangled = running.world.count_tangled()
        still = before.stands_like(now) and before.surrounds_like(now)
        if step != frame and running.first_guess is None and not still:
            running.first_guess = step
        if step < target and time.monotonic() > deadline:
            raise PBDError(f"Simulated up to frame {step} of {target} in {patience:.0f} s: go on from there")


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
