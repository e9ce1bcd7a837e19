"""The records of all scenes, by the scene's `session_uid`: what operators, panels and handlers call.

They live outside Blender's data: they are neither saved nor undone, and are dropped with their file.
"""

from collections.abc import Callable, Generator

import bpy

from ...timing.slices import finish
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
from ..settings import field_properties
from . import disk_cache, disk_load, follow, progress, step, validity
from .record import BakeProgress as BakeProgress, Coming, Edited, InvalidRange, Loaded, Message, Record
from .replay import show_again

_records: dict[int, Record] = {}

listeners: list[Callable[[bpy.types.Scene], None]] = []
"""Functions to call with a scene when its number of simulated frames may have changed."""


def get(scene: Scene) -> Record | None:
    """The record of a scene, or None if there is nothing in it to show."""
    found = _records.get(scene.session_uid)
    return found if found is not None and (found.scene_sim or found.message or found.bake or found.disk_note) else None


def of(scene: Scene) -> Record:
    """The record of a scene, created empty if there is none."""
    return _records.setdefault(scene.session_uid, Record())


def ensure(scene: Scene, depsgraph: Depsgraph) -> Record:
    """The record of a scene with its simulation, built at the first frame if needed; raises `PBDError`."""
    return finish(ensuring(scene, depsgraph))


def ensuring(scene: Scene, depsgraph: Depsgraph) -> Generator[None, None, Record]:
    """Like `ensure`, in slices, between which the scene has to stay at its frame."""
    found = of(scene)
    if found.scene_sim is None:
        if output.prepare(live_bodies(scene)):
            depsgraph.update()
        yield from follow.build_first_frame(found, scene, depsgraph, min(frame_range(scene)[0], last_shown(scene)))
    return found


def reset(scene: Scene, depsgraph: Depsgraph) -> None:
    """Restart at the current frame from the meshes as they are; raises `PBDError`.

    If building the first frame would block the window, it is left to playback, which warns first.
    """
    drop(scene)
    try:
        if not follow.is_heavy(scene):
            ensure(scene, depsgraph)
    except PBDError as error:
        step.note(of(scene), Message(str(error)))
        raise
    show(scene, depsgraph)


def show(scene: Scene, depsgraph: Depsgraph) -> bool:
    """Handle a frame change; returns whether the scene has anything to simulate, cached or not."""
    found = _records.get(scene.session_uid)
    if found is None and live_bodies(scene):
        found = of(scene)
    return found is not None and follow.show(found, scene, depsgraph)


def replay(scene: Scene, depsgraph: Depsgraph) -> bool:
    """Show a cached frame again if nothing has changed since; returns whether that was all there was to do."""
    found = _records.get(scene.session_uid)
    return found is not None and show_again(found, scene, depsgraph)


def is_behind(scene: Scene) -> bool:
    """Whether cloth is that of the last simulated frame, while the scene shows a later one of the simulation."""
    found = get(scene)
    if found is None or found.scene_sim is None or found.bake:
        return False
    return found.last_frame < min(last_shown(scene), last_live_frame(scene))


def go_to_last_simulated(scene: Scene) -> None:
    """Show the last simulated frame, if the scene shows a later one of the simulation."""
    if is_behind(scene):
        found = _records[scene.session_uid]
        scene.frame_set(timeline_frames(scene, found.first_frame, found.last_frame)[1])


def is_visiting(scene: Scene) -> bool:
    """Whether we are changing frames ourselves, to evaluate missing ones."""
    found = _records.get(scene.session_uid)
    return found is not None and found.is_visiting


def tell(scene: Scene) -> None:
    """Call the listeners after a frame change or an edit."""
    for listener in listeners:
        listener(scene)


def notice_colliders() -> None:
    """An object may have become a collider or stopped being one, which invalidates frames after the current one."""
    for found in _records.values():
        step.note(found, Edited(found.edits._replace(colliders=True)))


def notice_edits(scene: Scene, depsgraph: Depsgraph) -> None:
    """Note an edit that Blender reports, perhaps of F-curves or of the transform or shape of a collider."""
    for uid, found in _records.items():
        if found.scene_sim is not None and not found.is_visiting:
            known = found.known if uid == scene.session_uid else None
            edits = user_state.collect_edits(scene, depsgraph, found.dependencies, found.edits, known)
            step.note(found, Edited(edits))


def notice_undo() -> None:
    """After undo: settings, F-curves and colliders may have changed without a report from Blender."""
    field_properties.known.clear()
    for found in _records.values():
        step.note(found, Edited(found.edits._replace(curves=True, colliders=True, fields=True)))


def expect_late_frame(scene: Scene) -> bool:
    """Whether the shown frame has to be simulated with progress and Esc, which the panels will wait for then."""
    found = get(scene)
    if found is None or not found.is_late or found.bake:
        return False
    step.note(found, Coming(True))
    return True


def take_late_frame(scene: Scene) -> bool:
    """Whether the shown frame is still to be simulated; the panels do not wait for it any more."""
    found = get(scene)
    if found is not None:
        step.note(found, Coming(False))
    return found is not None and found.is_late


def disturbed(scene: Scene) -> tuple[int | None, str]:
    """First frame that differs from a run in one go, or None, and by what; a grab that was undone does not count."""
    found = get(scene)
    undone = [kept.disturbed for kept in found.undo_states if kept.number > scene.pbd.hand_count]
    return undone[0] if undone else (found.first_disturbed, found.disturbed_by)


def valid_frames(scene: Scene) -> tuple[int, int]:
    """First and last valid simulated frame, with pending edits taken into account."""
    found = get(scene)
    invalidated = validity.pending(found, scene)
    return found.first_frame, found.last_frame if invalidated is None else invalidated.first - 1


def invalidated_frames(scene: Scene) -> InvalidRange | None:
    """The frames that were invalidated and not simulated again, or None."""
    found = get(scene)
    invalidated = validity.pending(found, scene)
    if invalidated is not None or found.invalidated is None or found.last_frame >= found.invalidated.last:
        return invalidated
    return found.invalidated._replace(first=found.last_frame + 1)


def fits(scene: Scene) -> bool:
    """Whether a new run from the first frame, which the scene shows, would give the same frames."""
    return validity.is_one_run(get(scene), scene)


def adopt(scene: Scene) -> None:
    """After a file was loaded: load the frames on disk if the disk cache is on and they match the scene."""
    if live_bodies(scene):
        found = of(scene)
        if scene.pbd.use_disk_cache:
            disk_load.adopt(found, scene)
        step.note(found, Loaded(last_shown(scene)))


def load_from_disk(scene: Scene) -> str:
    """Replace the frames in memory by those on disk; returns why it failed, or ""."""
    found = Record()
    disk_load.adopt(found, scene)
    if found.scene_sim is None:
        return found.disk_note or "There is no cache on disk"
    _records[scene.session_uid] = found
    return ""


def needs_disk(scene: Scene) -> bool:
    """Whether simulated frames are on disk only."""
    found = _records.get(scene.session_uid)
    return found is None or found.scene_sim is None or not found.scene_sim.simulation.frames.is_in_memory


def delete_from_disk(scene: Scene) -> list[str]:
    """Delete the frames on disk and switch the disk cache off; those in memory stay. Raises `OSError`.

    Returns the names of files that stay, see `disk_cache.discard`.
    """
    scene.pbd.use_disk_cache = False
    left = disk_cache.discard(scene)
    found = _records.get(scene.session_uid)
    if found is None:
        return left
    found.storage.note = ""
    if found.disk is not None:
        found.storage.cache = None
        found.scene_sim.simulation.frames.store = None
        if not found.scene_sim.simulation.frames.is_in_memory:
            clear_cache(scene)
    return left


def before_save() -> None:
    """The file is about to be saved."""
    linked.before_save()
    for scene in bpy.data.scenes:
        found = _records.get(scene.session_uid)
        if found is not None:
            _settle_disk(found, scene)


def _settle_disk(found: Record, scene: Scene) -> None:
    """Drop the frames that pending edits invalidate, and store the number of those on disk in the scene."""
    if scene.pbd.frames_on_disk:
        scene.pbd.frames_on_disk = 0
    if not scene.pbd.use_disk_cache or found.is_pristine:
        return
    try:
        validity.take_edits(found, scene)
    except DamagedFrame:  # All frames are gone.
        return
    disk_cache.keep(found, scene)
    if not (found.is_pristine or found.storage.failed):
        scene.pbd.frames_on_disk = disk_cache.count(found)


def after_save() -> None:
    """After the file was saved, perhaps under another name."""
    for scene in bpy.data.scenes:
        found = _records.get(scene.session_uid)
        if found is not None:
            disk_cache.bring_up_to_date(found, scene)


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
    """Restore a record that was dropped, and show the current frame."""
    _records[scene.session_uid] = found
    follow.show_again(found, scene, layer_of(scene).depsgraph)


def drop_all() -> None:
    """Forget everything, because another file is loaded or the extension is switched off."""
    field_properties.known.clear()
    _records.clear()
    progress.stop_listening()
    disk_cache.forget_claims()
