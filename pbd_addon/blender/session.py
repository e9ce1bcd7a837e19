"""The running simulations, by `session_uid` of their scene: what operators, panels and handlers call.

They live outside of Blender's data, so nothing of them is saved or undone, and none outlives its file.
"""

import bpy

from . import output, world
from .errors import PBDError
from .running import BakeProgress, Session, Start, frame_range, layer_of
from .world import bodies, live_bodies

__all__ = [
    "BakeProgress",
    "PBDError",
    "Session",
    "bodies",
    "clear_cache",
    "drop",
    "drop_all",
    "ensure",
    "frame_range",
    "get",
    "live_bodies",
    "notice_colliders",
    "notice_undo",
    "of",
    "remember",
    "reset",
    "show",
]

_sessions: dict[int, Session] = {}


def get(scene):
    """The session of a scene, or None when nothing runs and nothing is to be said."""
    found = _sessions.get(scene.session_uid)
    return found if found is not None and (found.world or found.message or found.bake) else None


def of(scene):
    """The session of a scene, made if there is none; nothing is built yet."""
    return _sessions.setdefault(scene.session_uid, Session())


def ensure(scene, depsgraph):
    """The running session of a scene, built at the present frame if need be; raises `PBDError`."""
    found = of(scene)
    if found.world is None:
        objects = live_bodies(scene)
        if output.prepare(objects):
            depsgraph.update()
        moment = world.read_moment(scene, depsgraph, objects)
        moment = world.read_surroundings(scene, depsgraph, moment, objects, found.surfaces)
        found.build(scene, Start(scene.frame_current, moment))
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
    """The whole of a frame change."""
    found = _sessions.get(scene.session_uid)
    if found is None and live_bodies(scene):
        found = of(scene)
    if found is not None:
        found.show(scene, depsgraph)


def remember(scene):
    """Before a frame change: note how the scene stood, in case the simulation begins there.

    Blender hands no evaluated scene to this handler. The one of the window still shows the frame that is left, and
    the original objects still stand as they did on it.
    """
    found = _sessions.get(scene.session_uid)
    if found is not None:
        found.notice_moves(scene)
        if not found.untouched:
            return
    objects = live_bodies(scene)
    depsgraph = layer_of(scene).depsgraph if objects else None
    evaluated = depsgraph.scene_eval if depsgraph else None
    if evaluated is not None and evaluated.frame_subframe == 0.0:
        running = of(scene)
        moment = world.read_last_moment(scene, objects, depsgraph, running.surfaces)
        if running.start is not None and running.start.frame == evaluated.frame_current:
            moment = moment.seeing(running.start.moment)
        running.start = Start(evaluated.frame_current, moment)


def notice_colliders():
    """An object may have become a collider or stopped being one: frames after the present one are to go."""
    for found in _sessions.values():
        found.recast = True


def notice_undo():
    """After undo: frames that were made with what has been undone are to go."""
    for scene in bpy.data.scenes:
        found = _sessions.get(scene.session_uid)
        if found is not None:
            found.undone = scene.frame_current


def clear_cache(scene):
    """Forget all simulated frames of a scene and show the shapes that the user made."""
    drop(scene)
    for obj in live_bodies(scene):
        if obj.mode != "EDIT":
            output.show_user_shape(obj)


def drop(scene):
    """Forget the simulation of a scene."""
    _sessions.pop(scene.session_uid, None)


def drop_all():
    """Forget everything: another file is loaded, or the extension is switched off."""
    _sessions.clear()
