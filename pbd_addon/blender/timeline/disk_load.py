"""Loading the frames on disk after a file is opened: only if they match the scene, else a sentence says why not."""

import numpy as np

from ...frames.report import StepReport
from ...io.frame_files import INDEX, DamagedError, FrameFiles, OtherVersionError, is_there
from ...timing.slices import finish
from ..errors import PBDError
from ..kinds import Object, Scene
from ..read import mesh_io, user_state
from ..read.snapshot import SceneSnapshot
from ..read.user_state import Place
from ..scene import surfaces, user_keys
from ..scene.fields import FieldPlace
from ..scene.poses import Pose
from ..scene.scene_objects import find, live_bodies
from ..scene.surfaces import Surface
from . import backends, changes, checksums, disk_format, step
from .disk_cache import LAYOUT, DiskCache, claim, folder_of, shown_path
from .disk_format import Names
from .record import Past, Record
from .scene_simulation import SceneSimulation

DAMAGED = "The cache on disk is damaged: {why}"

OTHER_VERSION = (
    "The cache on disk is of another version of this extension: it stays as it is, and its frames are simulated again"
)


def adopt(record: Record, scene: Scene) -> None:
    """Load the frames on disk if they match the scene; otherwise `disk_note` says why not."""
    folder = folder_of(scene)
    step.clear(record, None)
    if folder is None or not is_there(folder):
        lost = scene.pbd.frames_on_disk
        record.storage.note = f"{lost} frames were on disk, but {shown_path(folder)} is gone" if lost and folder else ""
        return
    try:
        _take_up(record, scene, FrameFiles.open(folder))
        claim(folder)
        return
    except OtherVersionError:
        note = OTHER_VERSION
    except DamagedError as error:
        note = DAMAGED.format(why=f"{error}: delete or restore it")
    except PBDError as error:
        note = f"The cache on disk does not fit: {error}"
    except OSError as error:
        note = f"The cache on disk cannot be read: {error.strerror or error}"
    step.clear(record, None)
    record.storage.note = note


def _take_up(record: Record, scene: Scene, files: FrameFiles) -> None:
    """Make the frames of these files those of the record; raises `PBDError` if they do not match the scene."""
    if files.about.get("layout") != LAYOUT:
        raise OtherVersionError("it says other things of each frame")
    if files.last < files.first:
        raise DamagedError("it holds no whole frame")
    about = disk_format.read_about(files.about, len(files.bodies))
    uids = {obj.name: obj.session_uid for obj in reversed(scene.objects[:])} | {"": scene.session_uid}
    names = Names([uids.get(name) for name in about.names], about.names)
    members = [names.uid(number) for number in about.members]
    if len(set(members)) < len(members) or scene.session_uid in members:
        raise DamagedError(f"{INDEX}.about.members cannot be")
    missing = [names.names[int(number)] for number, uid in zip(about.members, members) if uid is None]
    if missing:
        raise PBDError(f"'{missing[0]}' is not in the scene")
    objects = [find(scene, uid, "") for uid in members]
    others = [obj.name for obj in live_bodies(scene) if obj.session_uid not in members]
    if others:
        raise PBDError(f"object '{others[0]}' is not in the cache")
    idle = [obj.name for obj in objects if obj not in live_bodies(scene)]
    if idle:
        raise PBDError(f"'{idle[0]}' is not simulated")
    fingerprints = about.fingerprints
    _check_shapes(files, objects, fingerprints)
    _check_painted(objects, about.painted)
    if about.hand_count != scene.pbd.hand_count:
        raise PBDError("a hand has changed the cloth since the file was saved")
    points = dict(zip(about.members, (count for _name, count in files.bodies)))
    settings = disk_format.read_settings(about.settings, names, scene, points)
    snapshots = {files.first: _read_snapshot(files, files.first, names, scene, points, {})[0]}
    built = SceneSimulation(scene, objects, snapshots[files.first])
    finish(built.prepare())
    for member, obj, shape, fingerprint in zip(built.members, objects, about.shapes, fingerprints, strict=True):
        if checksums.shape_check(member) != shape:
            raise PBDError(f"the shape or place of '{obj.name}' at frame {files.first} changed")
        if checksums.undeformed(member) != fingerprint[5]:
            raise PBDError(f"the mesh, Output, Rest Shape, Initial Velocity or Layer of '{obj.name}' changed")
        if checksums.pins(member) != fingerprint[6]:
            raise PBDError(f"other vertices of '{obj.name}' are held")
        if member.loose != fingerprint[7]:
            raise PBDError(f"'{obj.name}' has other loose edges")
    found, reports = _read_frames(files, names, scene, points, built)
    snapshots |= found
    last = snapshots[files.last]  # With its settings, colliders and fields the simulation goes on.
    built.simulation.use_kernels(backends.choose(scene))
    built.update_colliders(last)
    built.apply(scene, last.settings)
    built.update_fields(last)
    built.in_place_steps = about.rested
    moved = {names.uid(number) for number in about.moved_by_hand}
    past = Past(*(getattr(about, name) for name in Past._fields))._replace(moved_by_hand=moved)
    step.take_up(record, scene, built, snapshots, reports, DiskCache(files, record, names, snapshots), past)
    _check_surroundings(record, scene, settings, about.colliders)
    curves = about.curves
    changed = [name for name, check in curves.items() if checksums.curve_checks(record).get(name) != check]
    added = checksums.curve_checks(record).keys() - curves.keys()
    if changed or added:
        raise PBDError(f"animation of '{[*changed, *added][0]}' changed")
    record.storage.note = DAMAGED.format(why=files.damage) if files.damage else ""


def _check_shapes(files: FrameFiles, objects: list[Object], fingerprints: list[list[int]]) -> None:
    """Raise a `PBDError` if a mesh differs from the cached one."""
    for obj, known, (_file, points) in zip(objects, fingerprints, files.bodies, strict=True):
        counts, _, faces = mesh_io.fingerprint(obj)
        if len(obj.data.vertices) != points or list(counts) != known[:4]:
            raise PBDError(
                f"'{obj.name}' has {counts[0]} vertices and {counts[3]} faces, the cache {points} and {known[3]}"
            )
        if faces != known[4]:
            raise PBDError(f"'{obj.name}' has other faces")


def _check_painted(objects: list[Object], painted: list[dict[str, int]]) -> None:
    """Raise a `PBDError` if the weights of a map differ from the cached ones."""
    for obj, groups in zip(objects, painted, strict=True):
        for name, check in groups.items():
            if name not in obj.vertex_groups or checksums.weights_check(user_keys.read_weights(obj, name)) != check:
                raise PBDError(f"vertex group '{name}' of '{obj.name}' has other weights")


def _check_surroundings(record: Record, scene: Scene, settings: disk_format.Settings, colliders: list[str]) -> None:
    """Raise a `PBDError` if settings, colliders or unanimated objects differ from the last frame."""
    user = record.known
    changed = changes.setting_changes(record, user._replace(settings={**user.settings, **settings}), user)
    if changed:
        raise PBDError(changed[0].why)
    present = sorted(obj.name for obj in surfaces.colliders(scene))
    if present != colliders:
        raise PBDError("there are other colliders")
    last = record.snapshots[record.last_frame]
    stood: dict[int, Pose | Surface | FieldPlace] = {**last.poses, **last.surfaces}
    for obj in surfaces.colliders(scene):
        _check_place(user_state.place(obj), stood.get(obj.session_uid))
    for kind, places in user.places.items():
        for uid, place in places.items():
            _check_place(place, last.fields.get(uid) if kind == "field" else stood.get(uid))


def _check_place(place: Place, stood: Pose | Surface | FieldPlace | None) -> None:
    if stood is not None and place.is_free and not np.array_equal(place.matrix, stood.matrix):
        raise PBDError(f"'{place.name}' was moved")


def _read_frames(
    files: FrameFiles, names: Names, scene: Scene, points: dict[str, int], built: SceneSimulation
) -> tuple[dict[int, SceneSnapshot], dict[int, StepReport]]:
    """The snapshots of all frames, and the reports of those whose files have one.

    A frame that is damaged or cannot be, and those after it, are left out.
    """
    found: dict[int, SceneSnapshot] = {}
    reports: dict[int, StepReport] = {}
    parts: dict = {}
    shapes = {one.uid: len(one.body.vertices if one.body.dynamic_mesh else one.body.pin_ids) for one in built.members}
    for frame in range(files.first, files.last + 1):
        try:
            made, arrays = _read_snapshot(files, frame, names, scene, points, parts)
            if frame > files.first and any(len(shape) != shapes[uid] for uid, shape in made.deformed.items()):
                raise DamagedError(f"frame {frame} has other shapes")
            built.simulation.state_from(arrays, [], [])
            report = disk_format.read_report(arrays)
        except DamagedError:
            if frame == files.first:
                raise
            files.leave_out(frame, "damaged")
            break
        found[frame] = made
        if report is not None:
            reports[frame] = report
    return found, reports


def _read_snapshot(
    files: FrameFiles, frame: int, names: Names, scene: Scene, points: dict[str, int], parts: dict
) -> tuple[SceneSnapshot, dict[str, np.ndarray]]:
    """The snapshot of a frame, and all arrays of its file; raises `DamagedError`. See `disk_format.unpack`."""
    rest = files.rest(frame)
    return disk_format.unpack(rest, names, scene, frame, points, frame == files.first, parts), rest
