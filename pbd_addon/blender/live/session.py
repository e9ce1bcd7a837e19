"""The running simulations, by `session_uid` of their scene: what operators, panels and handlers call.

They live outside of Blender's data, so nothing of them is saved or undone, and none outlives its file.
"""

from collections.abc import Callable

import bpy

from ..cache import cache_adoption, disk_cache, hand_placed
from ..errors import PBDError
from ..output import output
from ..scene import linked
from ..scene.scene_objects import bodies, layer_of, live_bodies
from ..scene.simulated_range import frame_range, go_to_first, last_live_frame, last_shown, shown_frame, timeline_frames
from .running import BakeProgress, Session

__all__ = [
    "BakeProgress",
    "PBDError",
    "Session",
    "adopt",
    "after_save",
    "before_save",
    "bodies",
    "clear_cache",
    "delete_from_disk",
    "drop",
    "drop_all",
    "ensure",
    "frame_range",
    "get",
    "go_to_first",
    "last_live_frame",
    "last_shown",
    "listeners",
    "live_bodies",
    "load_from_disk",
    "needs_disk",
    "notice_colliders",
    "notice_edits",
    "notice_undo",
    "of",
    "put_back",
    "reset",
    "show",
    "shown_frame",
    "take_away",
    "tell",
    "timeline_frames",
]

_sessions: dict[int, Session] = {}

listeners: list[Callable[[bpy.types.Scene], None]] = []
"""Functions to call with a scene whose simulated frames may have become more or fewer."""


def get(scene):
    """The session of a scene, or None when nothing runs and nothing is to be said."""
    found = _sessions.get(scene.session_uid)
    return found if found is not None and (found.world or found.message or found.bake or found.disk_note) else None


def of(scene):
    """The session of a scene, made if there is none; nothing is built yet."""
    return _sessions.setdefault(scene.session_uid, Session())


def ensure(scene, depsgraph):
    """The running session of a scene, built at the first frame if need be; raises `PBDError`."""
    found = of(scene)
    if found.world is None:
        if output.prepare(live_bodies(scene)):
            depsgraph.update()
        found.begin(scene, depsgraph, min(frame_range(scene)[0], last_shown(scene)))
    return found


def reset(scene, depsgraph):
    """Start again at the present frame from the meshes as they are; raises `PBDError`."""
    drop(scene)
    try:
        ensure(scene, depsgraph)
    except PBDError as error:
        of(scene).message = str(error)
        raise
    show(scene, depsgraph)


def show(scene, depsgraph):
    """The whole of a frame change; returns whether there was anything to simulate, cached or not."""
    found = _sessions.get(scene.session_uid)
    if found is None and live_bodies(scene):
        found = of(scene)
    return found is not None and (found.visits or found.show(scene, depsgraph))


def tell(scene):
    """Call the listeners: a frame of the scene is shown, or something was edited."""
    for listener in listeners:
        listener(scene)


def notice_colliders():
    """An object may have become a collider or stopped being one: frames after the present one are to go."""
    for found in _sessions.values():
        if found.shown is not None:
            found.shown.recast = True


def notice_edits(scene, depsgraph):
    """Something was edited: F-curves perhaps, or the place or shape of what cloth meets."""
    curves = depsgraph.id_type_updated("ACTION") or any(has_rules(update.id) for update in depsgraph.updates)
    for found in _sessions.values():
        found.curves_edited |= curves
    found = _sessions.get(scene.session_uid)
    if found is not None and found.shown is not None and found.undone is None and not found.visits:
        hand_placed.notice_edits(found, scene, depsgraph)


def has_rules(one):
    """Whether an ID has drivers or strips of the NLA, which may be what was edited."""
    data = getattr(one, "animation_data", None)
    return data is not None and bool(data.drivers or data.nla_tracks)


def notice_undo():
    """After undo: frames that were made with what has been undone are to go."""
    for scene in bpy.data.scenes:
        found = _sessions.get(scene.session_uid)
        if found is not None:
            found.undone = last_shown(scene)
            found.curves_edited = True


def adopt(scene):
    """A file was loaded: take up the frames that are on disk, if that is wanted and they are of this scene as it is."""
    if live_bodies(scene):
        found = of(scene)
        if scene.pbd.use_disk_cache:
            cache_adoption.adopt(found, scene)
        found.loaded = last_shown(scene)


def load_from_disk(scene):
    """Take up the frames that are on disk instead of those in memory; if that cannot be, returns why."""
    found = Session()
    cache_adoption.adopt(found, scene)
    if found.world is None:
        return found.disk_note or "There is no cache on disk"
    _sessions[scene.session_uid] = found
    return ""


def needs_disk(scene):
    """Whether simulated frames are on disk and not in memory too."""
    found = _sessions.get(scene.session_uid)
    return found is None or found.world is None or not found.world.simulation.is_in_memory


def delete_from_disk(scene):
    """Delete the frames on disk and write no more there; those in memory stay. Raises `OSError`."""
    scene.pbd.use_disk_cache = False
    disk_cache.discard(scene)
    found = _sessions.get(scene.session_uid)
    if found is None:
        return
    found.disk_note = ""
    if found.disk is not None:
        found.disk = None
        if not found.world.simulation.leave_store():
            clear_cache(scene)


def before_save():
    """The file is about to be saved."""
    linked.before_save()
    for scene in bpy.data.scenes:
        found = _sessions.get(scene.session_uid)
        if found is not None:
            disk_cache.settle(found, scene)


def after_save():
    """The file was saved, perhaps under another name."""
    for scene in bpy.data.scenes:
        found = _sessions.get(scene.session_uid)
        if found is not None:
            disk_cache.follow(found, scene)


def clear_cache(scene):
    """Forget all simulated frames of a scene and show the shapes that the user made."""
    drop(scene)
    for obj in live_bodies(scene):
        if obj.mode != "EDIT":
            output.show_user_shape(obj)


def drop(scene):
    """Forget the simulation of a scene."""
    _sessions.pop(scene.session_uid, None)


def take_away(scene):
    """Forget the simulation of a scene for a while; returns it, or None, for `put_back`."""
    return _sessions.pop(scene.session_uid, None)


def put_back(scene, found):
    """Let a simulation that was taken away be that of the scene again, and show its present frame."""
    _sessions[scene.session_uid] = found
    found.show_again(scene, layer_of(scene).depsgraph)


def drop_all():
    """Forget everything: another file is loaded, or the extension is switched off."""
    _sessions.clear()
    disk_cache.forget_claims()
