"""Which frames of a record are valid, without evaluating the scene: asked by panels, bakes and saving."""

from ..errors import PBDError
from ..kinds import Scene
from ..read import snapshot, user_state
from ..read.snapshot import SceneSnapshot
from ..scene.scene_objects import layer_of
from ..scene.simulated_range import shown_frame
from . import changes, step
from .record import InvalidRange, Record
from .simulated_object import fits


def glance(record: Record, scene: Scene, with_curves: bool = False) -> SceneSnapshot:
    """What the user has set, as far as it shows without an evaluation: a `SceneSnapshot` without poses."""
    user = step.read_user(record, scene, record.edits._replace(curves=with_curves), with_curves)
    return snapshot.SceneSnapshot(None, user.settings, user=user)


def take_edits(record: Record, scene: Scene) -> None:
    """Invalidate frames after edits, before a frame is shown; raises `DamagedFrame` if everything must restart."""
    now = glance(record, scene, with_curves=True)
    step.apply(record, changes.changes(record, now), now.user)
    if record.scene_sim is not None:
        step.remember(record, now.user)


def pending(record: Record, scene: Scene) -> InvalidRange | None:
    """The frames that the next frame change will invalidate, or None."""
    if record.is_pristine or record.known is None:
        return None
    found = [one for one in changes.changes(record, glance(record, scene)) if one.first_frame <= record.last_frame]
    found = [one for one in found if one.what not in ("START", "SETTLE", "HAND")]
    return InvalidRange(found[0].first_frame, record.last_frame, found[0].why) if found else None


def is_one_run(record: Record, scene: Scene) -> bool:
    """Whether a new run from the first frame, which the scene shows, would give the same cache.

    It would not after a change of a setting, shape, pin or collider, or where a render skipped moving inputs.
    """
    if record.first_disturbed is not None or record.moved_by_hand or record.first_guess is not None:
        return False
    if not _surrounded_as_at_first(record, scene):
        return False
    settings = record.known.settings if record.known else {}
    still = changes.constant_fields(record.known, settings)
    if not all(changes.settings_agree(one.settings, settings, still) for one in record.snapshots.values()):
        return False
    first = record.snapshots[record.first_frame]
    for member, obj in record.scene_sim.objects(scene):
        if fits(member, obj):
            pose = first.poses[member.uid]
            inputs = user_state.read_first_inputs(obj, pose, member.masks, with_pins=True)
            role = user_state.role(obj)
            if role.attached_to != member.attached_to or not changes.matches_start(
                member, inputs, pose, role.baked, True
            ):
                return False
    return True


def _surrounded_as_at_first(record: Record, scene: Scene) -> bool:
    """Whether colliders and attachment targets are those of the first cached frame."""
    depsgraph = layer_of(scene).depsgraph
    if depsgraph is None or shown_frame(scene) != record.first_frame:
        return True
    objects = [obj for _, obj in record.scene_sim.objects(scene)]
    first = record.snapshots[record.first_frame]
    try:
        empty = snapshot.SceneSnapshot({}, {})
        now = snapshot.read_surroundings(scene, depsgraph, empty, objects, first.surfaces)
    except PBDError:
        return False
    return now.has_surroundings_of(first)
