"""The running simulations, by `session_uid` of their scene: what operators, panels and handlers call.

They live outside of Blender's data, so nothing of them is saved or undone, and none outlives its file.
"""

from __future__ import annotations

from collections.abc import Callable

import bpy

from ..errors import DamagedFrame, PBDError as PBDError
from ..kinds import Depsgraph, Scene
from ..output import output
from ..read import user_state
from ..scene import linked
from ..scene.scene_objects import bodies as bodies, layer_of, live_bodies as live_bodies
from ..scene.simulated_range import (
    frame_range as frame_range,
    go_to_first as go_to_first,
    last_live_frame as last_live_frame,
    last_shown as last_shown,
    shown_frame as shown_frame,
    timeline_frames as timeline_frames,
)
from . import disk_cache, disk_load, follow, step, validity
from .record import BakeProgress as BakeProgress, InvalidRange, Record
from .replay import show_again

_records: dict[int, Record] = {}

listeners: list[Callable[[bpy.types.Scene], None]] = []
"""Functions to call with a scene whose simulated frames may have become more or fewer."""


def get(scene: Scene) -> Record | None:
    """The session of a scene, or None when nothing runs and nothing is to be said."""
    found = _records.get(scene.session_uid)
    return found if found is not None and (found.world or found.message or found.bake or found.disk_note) else None


def of(scene: Scene) -> Record:
    """The session of a scene, made if there is none; nothing is built yet."""
    return _records.setdefault(scene.session_uid, Record())


def ensure(scene: Scene, depsgraph: Depsgraph) -> Record:
    """The running session of a scene, built at the first frame if need be; raises `PBDError`."""
    found = of(scene)
    if found.world is None:
        if output.prepare(live_bodies(scene)):
            depsgraph.update()
        follow.begin(found, scene, depsgraph, min(frame_range(scene)[0], last_shown(scene)))
    return found


def reset(scene: Scene, depsgraph: Depsgraph) -> None:
    """Start again at the present frame from the meshes as they are; raises `PBDError`."""
    drop(scene)
    try:
        ensure(scene, depsgraph)
    except PBDError as error:
        step.say(of(scene), str(error))
        raise
    show(scene, depsgraph)


def show(scene: Scene, depsgraph: Depsgraph) -> bool:
    """The whole of a frame change; returns whether there was anything to simulate, cached or not."""
    found = _records.get(scene.session_uid)
    if found is None and live_bodies(scene):
        found = of(scene)
    return found is not None and follow.show(found, scene, depsgraph)


def replay(scene: Scene, depsgraph: Depsgraph) -> bool:
    """Show a cached frame as it was shown before, if nothing has changed since; whether that was all to be done."""
    found = _records.get(scene.session_uid)
    return found is not None and show_again(found, scene, depsgraph)


def visits(scene: Scene) -> bool:
    """Whether frames that are missing are visited, so that frame changes are our own."""
    found = _records.get(scene.session_uid)
    return found is not None and found.visits


def tell(scene: Scene) -> None:
    """Call the listeners: a frame of the scene is shown, or something was edited."""
    for listener in listeners:
        listener(scene)


def notice_colliders() -> None:
    """An object may have become a collider or stopped being one: frames after the present one are to go."""
    for found in _records.values():
        step.note(found, heard=found.heard._replace(cast=True))


def notice_edits(scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited: F-curves perhaps, or the place or shape of what cloth meets."""
    for uid, found in _records.items():
        if found.world is not None and not found.visits:
            known = found.known if uid == scene.session_uid else None
            step.note(found, heard=user_state.hear(scene, depsgraph, found.watched, found.heard, known))


def notice_undo() -> None:
    """After undo: what Blender does not tell by itself may be back as it was."""
    for found in _records.values():
        step.note(found, heard=found.heard._replace(curves=True, cast=True, fields=True))


def valid_frames(scene: Scene) -> tuple[int, int]:
    """First and last simulated frame that hold, with what was changed since the last one was shown."""
    found = get(scene)
    lost = validity.pending(found, scene)
    return found.first_frame, found.last_frame if lost is None else lost.first - 1


def lost_frames(scene: Scene) -> InvalidRange | None:
    """The frames that do not hold any more and were not simulated again, as `InvalidRange`, or None."""
    found = get(scene)
    lost = validity.pending(found, scene)
    if lost is not None or found.lost is None or found.last_frame >= found.lost.last:
        return lost
    return found.lost._replace(first=found.last_frame + 1)


def fits(scene: Scene) -> bool:
    """Whether the simulated frames are what a run from the first one, where the scene is, would give now."""
    return validity.is_one_run(get(scene), scene)


def adopt(scene: Scene) -> None:
    """A file was loaded: take up the frames that are on disk, if that is wanted and they are of this scene as it is."""
    if live_bodies(scene):
        found = of(scene)
        if scene.pbd.use_disk_cache:
            disk_load.adopt(found, scene)
        step.note(found, loaded=last_shown(scene))


def load_from_disk(scene: Scene) -> str:
    """Take up the frames that are on disk instead of those in memory; if that cannot be, returns why."""
    found = Record()
    disk_load.adopt(found, scene)
    if found.world is None:
        return found.disk_note or "There is no cache on disk"
    _records[scene.session_uid] = found
    return ""


def needs_disk(scene: Scene) -> bool:
    """Whether simulated frames are on disk and not in memory too."""
    found = _records.get(scene.session_uid)
    return found is None or found.world is None or not found.world.simulation.frames.is_in_memory


def delete_from_disk(scene: Scene) -> None:
    """Delete the frames on disk and write no more there; those in memory stay. Raises `OSError`."""
    scene.pbd.use_disk_cache = False
    disk_cache.discard(scene)
    found = _records.get(scene.session_uid)
    if found is None:
        return
    found.storage.note = ""
    if found.disk is not None:
        found.storage.cache = None
        found.world.simulation.frames.store = None
        if not found.world.simulation.frames.is_in_memory:
            clear_cache(scene)


def before_save() -> None:
    """The file is about to be saved."""
    linked.before_save()
    for scene in bpy.data.scenes:
        found = _records.get(scene.session_uid)
        if found is not None:
            _settle_disk(found, scene)


def _settle_disk(found: Record, scene: Scene) -> None:
    """Forget the frames that a change which is not shown yet has made wrong, and count those that are saved."""
    if scene.pbd.frames_on_disk:
        scene.pbd.frames_on_disk = 0
    if not scene.pbd.use_disk_cache or found.untouched:
        return
    try:
        validity.take_edits(found, scene)
    except DamagedFrame:  # It has begun anew.
        return
    disk_cache.keep(found, scene)
    if not (found.untouched or found.storage.failed):
        scene.pbd.frames_on_disk = disk_cache.count(found)


def after_save() -> None:
    """The file was saved, perhaps under another name."""
    for scene in bpy.data.scenes:
        found = _records.get(scene.session_uid)
        if found is not None:
            disk_cache.follow(found, scene)


def clear_cache(scene: Scene) -> None:
    """Forget all simulated frames of a scene and show the shapes that the user made."""
    drop(scene)
    for obj in live_bodies(scene):
        if obj.mode != "EDIT":
            output.show_user_shape(obj)


def drop(scene: Scene) -> Record | None:
    """Forget the simulation of a scene; returns it, or None, for `put_back`."""
    return _records.pop(scene.session_uid, None)


def put_back(scene: Scene, found: Record) -> None:
    """Let a simulation that was dropped be that of the scene again, and show its present frame."""
    _records[scene.session_uid] = found
    follow.show_again(found, scene, layer_of(scene).depsgraph)


def drop_all() -> None:
    """Forget everything: another file is loaded, or the extension is switched off."""
    _records.clear()
    disk_cache.forget_claims()
