"""How many reduced keys an object will need, and their error, computed before anything is written.

The result is not saved, and is dropped when the settings, the range or the simulation change.
"""

from collections.abc import Generator
from typing import NamedTuple

from ..kinds import Object, Scene
from ..read.snapshot import SceneSnapshot
from ..scene.scene_objects import find
from ..timeline import session
from ..timeline.session import BakeProgress
from . import bake, loops, recording


class KeyPlan(NamedTuple):
    """The number of keys for an object, and the inputs that it is valid for."""

    total: int  # shape keys
    error: float  # largest, in world space [m]
    inputs: tuple  # of `_inputs`
    snapshot: object  # of the last frame


_plans: dict[int, KeyPlan] = {}


def start(scene: Scene, objects: list[Object], frame_start: int, frame_end: int) -> Generator[BakeProgress, None, None]:
    """Check, then return the generator that records the objects and counts their keys; both raise `PBDError`."""
    bake.check(scene, objects, "REDUCED", frame_start, frame_end)
    return _run(scene, {obj.session_uid: obj.name for obj in objects}, frame_start, frame_end)


def _run(scene: Scene, names: dict[int, str], frame_start: int, frame_end: int) -> Generator[BakeProgress, None, None]:
    """Record and count; no reference to Blender's data is kept across a yield."""
    uid = scene.session_uid
    with recording.at_the_users_frame(scene):
        del scene
        kept = yield from recording.record(uid, names, frame_start, frame_end, with_user_keys=False)
        scene = recording.find_scene(uid)
        kept = loops.close(scene, kept, frame_start)
        for obj in (find(scene, uid, name) for uid, name in names.items()):
            if obj is not None:
                found = bake.reduce(obj, kept[obj.session_uid])
                inputs = _inputs(scene, obj)
                _plans[obj.session_uid] = KeyPlan(found.total, found.error, inputs, _last_snapshot(scene))


def get(scene: Scene, obj: Object) -> KeyPlan | None:
    """The plan of an object if it is still valid, else None."""
    plan = _plans.get(obj.session_uid)
    if plan is None or plan.inputs != _inputs(scene, obj) or plan.snapshot is not _last_snapshot(scene):
        return None
    return plan


def _inputs(scene: Scene, obj: Object) -> tuple:
    """All inputs of the plan except the simulation."""
    settings = obj.pbd
    limit = settings.reduce_count if settings.reduce_by == "COUNT" else settings.reduce_error
    looped = scene.pbd.use_loop, scene.pbd.loop_length, scene.pbd.loop_fade
    return session.frame_range(scene), settings.reduce_by, limit, looped


def _last_snapshot(scene: Scene) -> SceneSnapshot | None:
    """The snapshot of the last frame of the range, or None."""
    running = session.get(scene)
    return None if running is None else running.snapshots.get(session.frame_range(scene)[1])
