"""Blender's application handlers, registered only while a scene has something to simulate."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .doctor import doctor, leftovers
from .kinds import Depsgraph, Scene
from .scene.scene_objects import is_body
from .settings import properties
from .timeline import session

Handler = tuple[list, Callable]
"""A list of Blender's handlers, and what is to stand in it."""

ON_LOAD = bpy.app.handlers.load_post


@persistent
def on_frame_change(scene: Scene, depsgraph: Depsgraph) -> None:
    """The scene is evaluated at its new frame: simulate or read the cache, and show it."""
    if session.is_visiting(scene):  # A frame change of our own, on the way to another frame.
        return
    shown = session.replay(scene, depsgraph) or session.show(scene, depsgraph)
    leftovers.look(depsgraph)
    session.tell(scene)
    if shown or bpy.app.background or bpy.app.timers.is_registered(arm_if_needed):
        return  # Without a window no timer runs, and one that waits can crash Blender when it ends.
    bpy.app.timers.register(arm_if_needed)  # not here: the handler after one that goes is passed over


@persistent
def on_edit(scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, and no frame changed."""
    session.notice_edits(scene, depsgraph)
    leftovers.look(depsgraph)  # After what reads the depsgraph, which may know data that goes.
    session.tell(scene)


@persistent
def on_undo(_scene: Scene, _depsgraph: Depsgraph | None = None) -> None:
    """After undo and redo: objects may have become PBD or stopped being it, and settings may be back."""
    session.notice_undo()
    doctor.forget()
    leftovers.forget()
    arm_if_needed()


@persistent
def before_load(*_: Any) -> None:
    """Another file is about to be loaded: nothing of this one will fit it."""
    session.drop_all()


@persistent
def before_save(*_: Any) -> None:
    """The file is about to be saved."""
    leftovers.sweep()
    session.before_save()


@persistent
def on_save(*_: Any) -> None:
    """The file was saved: its cache on disk belongs beside it."""
    session.after_save()


@persistent
def on_load(*_: Any) -> None:
    """A file has been loaded; frames of it may be on disk."""
    doctor.forget()
    leftovers.sweep()
    arm_if_needed()
    for scene in bpy.data.scenes:
        session.adopt(scene)


@persistent
def on_import(*_: Any) -> None:
    """Something was linked or appended: cloth perhaps."""
    leftovers.forget()
    arm_if_needed()


_newest = [0]
"""The highest `session_uid` of an object that was looked at while nothing was armed: new objects have higher ones."""


@persistent
def on_maybe_import(*_: Any) -> None:
    """Something was edited, or a frame is about to change, in a Blender that does not tell of imports."""
    if on_frame_change in bpy.app.handlers.frame_change_post:
        return
    uids = np.zeros(len(bpy.data.objects), np.int32)
    bpy.data.objects.foreach_get("session_uid", uids)
    newest = int(uids.max(initial=0))
    if newest > _newest[0]:
        _newest[0] = newest
        if is_needed():
            arm()


_imported = getattr(bpy.app.handlers, "blend_import_post", None)
ON_IMPORT = (
    ((_imported, on_import),)
    if _imported is not None
    else (
        (bpy.app.handlers.depsgraph_update_post, on_maybe_import),
        (bpy.app.handlers.frame_change_pre, on_maybe_import),
    )
)
"""Since Blender 4.5 there is one for this alone."""

ARMED = (
    (bpy.app.handlers.frame_change_post, on_frame_change),
    (bpy.app.handlers.depsgraph_update_post, on_edit),
)
KEPT = (
    (bpy.app.handlers.undo_post, on_undo),
    (bpy.app.handlers.redo_post, on_undo),
    (bpy.app.handlers.load_pre, before_load),
    (bpy.app.handlers.save_pre, before_save),
    (bpy.app.handlers.save_post, on_save),
)
"""Once armed, these stay until the extension is switched off: undo may bring back what disarmed the others."""


def arm() -> None:
    """Register the handlers; a second time does nothing."""
    _add((*ARMED, *KEPT))


def disarm() -> None:
    """Take away the handlers that cost something at each frame."""
    _remove(ARMED)


@contextlib.contextmanager
def asleep() -> Iterator[None]:
    """Nothing is simulated meanwhile, whatever comes into the file."""
    _remove((*ARMED, *ON_IMPORT))
    try:
        yield
    finally:
        for handlers, function in ON_IMPORT:
            handlers.append(function)
        arm_if_needed()


def is_needed() -> bool:
    """Whether this file has a cloth or balloon that is not baked."""
    return any(is_body(obj) and not obj.pbd.baked for obj in bpy.data.objects)


def arm_if_needed() -> None:
    """Arm if a scene of this file has a cloth or balloon that is not baked, else disarm."""
    if is_needed():
        arm()
        return
    disarm()
    if any(map(is_body, bpy.data.objects)):
        _add(KEPT)


def on_enabled() -> None:
    """An object became PBD, or stopped being it."""
    leftovers.forget()
    arm_if_needed()


def _add(pairs: Iterable[Handler]) -> None:
    for handlers, function in pairs:
        if function not in handlers:
            handlers.append(function)


def _remove(pairs: Iterable[Handler]) -> None:
    for handlers, function in pairs:
        if function in handlers:
            handlers.remove(function)


def register() -> None:
    """Watch for files with PBD objects; the present one may have some too."""
    ON_LOAD.append(on_load)
    for handlers, function in ON_IMPORT:
        handlers.append(function)
    properties.enabled_listeners.append(on_enabled)
    properties.collider_listeners.append(session.notice_colliders)
    # While extensions are enabled at start-up Blender restricts access to its data; loading the first file follows.
    if hasattr(bpy.data, "objects"):
        leftovers.sweep()  # Of what happened while the extension was off.
        arm_if_needed()


def unregister() -> None:
    """Undo `register`, and forget all simulations."""
    properties.enabled_listeners.remove(on_enabled)
    properties.collider_listeners.remove(session.notice_colliders)
    _remove((*ARMED, *KEPT, *ON_IMPORT, (ON_LOAD, on_load)))
    if bpy.app.timers.is_registered(arm_if_needed):
        bpy.app.timers.unregister(arm_if_needed)
    doctor.forget()
    leftovers.forget()
    session.drop_all()
