"""The shortcut for a cached frame that was shown before: if nothing has changed since, it is just written again."""

import itertools

from ..kinds import Depsgraph, Scene
from ..output import shape_keys
from ..read import quick_look
from ..read.snapshot import SceneSnapshot
from ..scene import poses
from . import step
from .record import DisplayedFrame, Record


def show_again(record: Record, scene: Scene, depsgraph: Depsgraph) -> bool:
    """Show the current frame again; returns False, having done nothing, if anything may have changed since.

    After an edit, in a render and during a bake the frame always takes the full path.
    """
    frame = scene.frame_current_final
    shown = record.displayed.get(frame)
    if shown is None or record.snapshots.get(int(frame)) is not shown.made or depsgraph.mode == "RENDER":
        return False
    if record.bake or record.message or any(record.edits):
        return False
    found = quick_look.read_state(scene, depsgraph, shown.dependencies, record.curves)
    if found is None or found.state != shown.state or not found.same_curves:
        return False
    for uid, positions, pose, masks in shown.objects:
        shape_keys.write_live_key(found.objects[uid], positions.T, pose, masks)
    step.note_displayed(record, frame, shown)
    return True


def note(record: Record, scene: Scene, depsgraph: Depsgraph, now: SceneSnapshot) -> None:
    """Remember a shown frame that nothing has changed, if a quick look will suffice to tell.

    It does not for the first frame, for objects deformed by modifiers, and while the heat map is on.
    """
    user, scene_sim, frame = record.known, record.scene_sim, scene.frame_current_final
    made = record.snapshots.get(int(frame)) if frame.is_integer() else None
    if made is None or user.frame != frame or frame in (record.first_frame, user.first) or depsgraph.mode == "RENDER":
        return
    if record.bake or record.message or scene.pbd.heat_map != "OFF":
        return
    if any(role.by_modifier for role in user.roles.values()):
        return
    positions = scene_sim.simulation.frames.in_memory(int(frame))
    found = quick_look.read_state(scene, depsgraph, record.dependencies)
    if positions is None or found is None:
        return
    shown, parts = [], scene_sim.split(positions)
    for member in scene_sim.members:
        pbd, pose = found.objects[member.uid].pbd, now.poses.get(member.uid)
        if pbd.baked:
            continue
        if pose is None or not (pbd.enabled and pbd.active) or poses.is_flat(pose.matrix):
            return
        shown.append((member.uid, parts[member.uid], pose, member.masks))
    last = next(reversed(record.displayed.values()), None)
    earlier = [] if last is None else last.state  # Most of it stays the same for all frames, and is shared.
    state = [old if old == new else new for old, new in itertools.zip_longest(earlier, found.state)]
    state = state[: len(found.state)]
    step.note_displayed(record, frame, DisplayedFrame(state, made, user, record.dependencies, shown))
