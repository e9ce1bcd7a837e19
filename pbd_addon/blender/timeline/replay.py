"""The shortcut for a cached frame that was shown before: if nothing has changed since, it is just written again."""

from __future__ import annotations

import numpy as np

from ..kinds import Depsgraph, Scene
from ..output import shape_keys
from ..read import quick_look
from ..read.snapshot import SceneSnapshot
from ..scene import poses
from . import step
from .record import Record, Seen


def show_again(record: Record, scene: Scene, depsgraph: Depsgraph) -> bool:
    """Show the current frame again; returns False, having done nothing, if anything may have changed since.

    After an edit, in a render and during a bake the frame always takes the full path.
    """
    frame = scene.frame_current_final
    seen = record.seen.get(frame)
    if seen is None or record.snapshots.get(int(frame)) is not seen.made or depsgraph.mode == "RENDER":
        return False
    if record.bake or record.message or any(record.heard):
        return False
    found = quick_look.look(scene, depsgraph, seen.watched, record.curves)
    if found is None or found.said != seen.said or found.curves is not record.curves:
        return False
    for uid, positions, pose, masks in seen.shown:
        shape_keys.write_live_key(found.objects[uid], np.ascontiguousarray(positions.T), pose, masks)
    step.note_seen(record, frame, seen)
    return True


def note(record: Record, scene: Scene, depsgraph: Depsgraph, now: SceneSnapshot) -> None:
    """Remember a shown frame that nothing has changed, if a quick look will suffice to tell.

    It does not for the first frame, for objects deformed by modifiers, and while the heat map is on.
    """
    user, world, frame = record.known, record.world, scene.frame_current_final
    made = record.snapshots.get(int(frame)) if frame.is_integer() else None
    if made is None or user.frame != frame or frame in (record.first_frame, user.first) or depsgraph.mode == "RENDER":
        return
    if record.bake or record.message or scene.pbd.heat_map != "OFF":
        return
    if any(role.by_modifier for role in user.roles.values()):
        return
    positions = world.simulation.frames.in_memory(int(frame))
    found = quick_look.look(scene, depsgraph, record.watched, record.curves)
    if positions is None or found is None or found.curves is not record.curves:
        return
    ends = np.cumsum([len(member.body.vertices) for member in world.members])
    shown = []
    for member, part in zip(world.members, np.split(positions, ends[:-1], axis=1), strict=True):
        pbd, pose = found.objects[member.uid].pbd, now.poses.get(member.uid)
        if pbd.baked:
            continue
        if pose is None or not (pbd.enabled and pbd.active) or poses.is_flat(pose.matrix):
            return
        shown.append((member.uid, part, pose, member.masks))
    step.note_seen(record, frame, Seen(found.said, made, user, record.watched, shown))
