"""How many reduced keys an object will need, and how far they are off: known before anything is written.

Not saved, and forgotten as soon as the settings, the frames or the simulation are others.
"""

from collections.abc import Generator
from typing import NamedTuple

from ..kinds import Object, Scene
from ..read.snapshot import SceneSnapshot
from ..scene.scene_objects import find
from ..timeline import session
from ..timeline.session import BakeProgress
from . import bake, recording


class KeyPlan(NamedTuple):
    """What was counted for an object, and for what."""

    total: int  # shape keys
    error: float  # largest, in world space [m]
    asked: tuple  # of `_asked`
    snapshot: object  # with which the last frame was simulated


_plans: dict[int, KeyPlan] = {}


def start(scene: Scene, objects: list[Object], frame_start: int, frame_end: int) -> Generator[BakeProgress, None, None]:
    """Check, and return the generator that records the objects and counts their keys.

    Raises:
        PBDError: Something cannot be baked; the generator raises it too, when a step fails.
    """
    bake.check(scene, objects, "REDUCED", frame_start, frame_end)
    return _run(scene, {obj.session_uid: obj.name for obj in objects}, frame_start, frame_end)


def _run(scene: Scene, names: dict[int, str], frame_start: int, frame_end: int) -> Generator[BakeProgress, None, None]:
    """Record and count; nothing of Blender's is kept over a yield."""
    uid = scene.session_uid
    with recording.at_the_users_frame(scene):
        del scene
        kept = yield from recording.record(uid, names, frame_start, frame_end, with_user_keys=False)
        scene = recording.find_scene(uid)
        for obj in (find(scene, uid, name) for uid, name in names.items()):
            if obj is not None:
                found = bake.reduce(obj, kept[obj.session_uid])
                asked = _asked(scene, obj)
                _plans[obj.session_uid] = KeyPlan(found.total, found.error, asked, _last_snapshot(scene))


def get(scene: Scene, obj: Object) -> KeyPlan | None:
    """What was counted for an object, if it still holds, else None."""
    plan = _plans.get(obj.session_uid)
    if plan is None or plan.asked != _asked(scene, obj) or plan.snapshot is not _last_snapshot(scene):
        return None
    return plan


def _asked(scene: Scene, obj: Object) -> tuple:
    """What decides about the keys, but for the simulation."""
    settings = obj.pbd
    limit = settings.reduce_count if settings.reduce_by == "COUNT" else settings.reduce_error
    return session.frame_range(scene), settings.reduce_by, limit


def _last_snapshot(scene: Scene) -> SceneSnapshot | None:
    """The snapshot with which the last frame of the range was simulated, or None."""
    running = session.get(scene)
    return None if running is None else running.snapshots.get(session.frame_range(scene)[1])
