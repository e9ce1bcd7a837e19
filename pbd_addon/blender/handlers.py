"""Blender's application handlers, registered only while a scene has something to simulate."""

import contextlib
from collections.abc import Callable, Iterable, Iterator

import bpy
import numpy as np
from bpy.app.handlers import persistent

from .doctor import doctor, leftovers, shown
from .kinds import Depsgraph, Scene
from .scene.arrays import values
from .scene.scene_objects import is_body
from .settings import properties
from .timeline import backends, session

Handler = tuple[list, Callable]
"""A list of Blender's handlers, and a function for it."""

ON_LOAD = bpy.app.handlers.load_post


@persistent
def on_frame_change(scene: Scene, depsgraph: Depsgraph) -> None:
    """After a frame change: simulate or read the cache, and show the frame."""
    if session.is_visiting(scene):  # We change frames ourselves.
        return
    shown = session.replay(scene, depsgraph)
    if not shown:
        shown = session.show(scene, depsgraph)
        leftovers.sweep_if_lost(depsgraph)
    session.tell(scene)
    if shown or bpy.app.background or bpy.app.timers.is_registered(arm_if_needed):
        return  # Without a window timers do not run, and a pending one can crash Blender when it quits.
    bpy.app.timers.register(arm_if_needed)  # By timer, because removing a handler now would skip the next one.


@persistent
def on_edit(scene: Scene, depsgraph: Depsgraph) -> None:
    """After an edit without a frame change."""
    session.notice_edits(scene, depsgraph)
    leftovers.sweep_if_lost(depsgraph)  # Last, because it may remove data that the depsgraph refers to.
    session.tell(scene)


@persistent
def on_undo(_scene: Scene, _depsgraph: Depsgraph | None = None) -> None:
    """After undo and redo: objects may have become PBD or stopped being it, and settings may have changed."""
    session.notice_undo()
    doctor.forget()
    shown.forget()
    leftovers.forget()
    arm_if_needed()


@persistent
def before_load(*_: object) -> None:
    """Before another file is loaded: forget everything about this one."""
    session.drop_all()


@persistent
def before_save(*_: object) -> None:
    """Before the file is saved."""
    leftovers.sweep()
    session.before_save()


@persistent
def on_save(*_: object) -> None:
    """After the file was saved: its cache on disk belongs beside it."""
    session.after_save()


@persistent
def on_load(*_: object) -> None:
    """After a file was loaded: its frames may be on disk."""
    doctor.forget()
    shown.forget()
    leftovers.sweep()
    arm_if_needed()
    for scene in bpy.data.scenes:
        session.adopt(scene)


@persistent
def on_import(*_: object) -> None:
    """After linking or appending, perhaps of cloth."""
    leftovers.forget()
    arm_if_needed()


_newest = [0]
"""The highest `session_uid` of an object seen while disarmed: new objects have higher ones."""


@persistent
def on_maybe_import(*_: object) -> None:
    """After an edit or before a frame change, in a Blender without import handlers: look for new objects."""
    if on_frame_change in bpy.app.handlers.frame_change_post:
        return
    newest = int(values(bpy.data.objects, "session_uid", np.int32).max(initial=0))
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
"""Blender has a handler for imports since 4.5; earlier versions look for new objects."""

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
"""Once added, these stay until the extension is switched off, because undo may bring PBD objects back."""


def arm() -> None:
    """Add the handlers, if they are not there."""
    _add((*ARMED, *KEPT))


def disarm() -> None:
    """Remove the handlers that cost time at each frame."""
    _remove(ARMED)


@contextlib.contextmanager
def asleep() -> Iterator[None]:
    """Temporarily simulate nothing, whatever is added to the file."""
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
        backends.prepare()
        return
    disarm()
    if any(map(is_body, bpy.data.objects)):
        _add(KEPT)


def on_enabled() -> None:
    """After an object became PBD or stopped being it."""
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
    """Watch for files with PBD objects; the current one may have some too."""
    ON_LOAD.append(on_load)
    for handlers, function in ON_IMPORT:
        handlers.append(function)
    properties.enabled_listeners.append(on_enabled)
    properties.collider_listeners.append(session.notice_colliders)
    # At start-up Blender restricts access to its data while extensions are enabled; it loads the first file later.
    if hasattr(bpy.data, "objects"):
        leftovers.sweep()  # Objects may have been joined or copied while the extension was off.
        arm_if_needed()


def unregister() -> None:
    """Undo `register`, and forget all simulations."""
    properties.enabled_listeners.remove(on_enabled)
    properties.collider_listeners.remove(session.notice_colliders)
    _remove((*ARMED, *KEPT, *ON_IMPORT, (ON_LOAD, on_load)))
    if bpy.app.timers.is_registered(arm_if_needed):
        bpy.app.timers.unregister(arm_if_needed)
    doctor.forget()
    shown.forget()
    leftovers.forget()
    session.drop_all()
