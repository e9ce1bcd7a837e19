"""Loading the frames on disk after a file is opened: only if they match the scene, else a sentence says why not."""

import json
from typing import Any

import numpy as np

from ... import Polygons
from ...io.frame_files import DamagedError, FrameFiles, OtherVersionError, is_there
from ...slices import finish
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
from ..settings.raw_settings import BY_KIND, Floor, Key, ObjectSettings, SceneSettings
from ..settings.wind import WindSettings
from . import changes, checksums, step
from .disk_cache import LAYOUT, PAST, DiskCache, claim, folder_of, shown_path
from .record import Record
from .scene_simulation import SceneSimulation

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
        note = f"The cache on disk is damaged: {error}"
    except PBDError as error:
        note = f"The cache on disk does not fit: {error}"
    except OSError as error:
        note = f"The cache on disk cannot be read: {error.strerror or error}"
    step.clear(record, None)
    record.storage.note = note


def _take_up(record: Record, scene: Scene, files: FrameFiles) -> None:
    """Make the frames of these files those of the record; raises `PBDError` if they do not match the scene."""
    about = files.about
    if about.get("layout") != LAYOUT:
        raise OtherVersionError("it says other things of each frame")
    if files.last < files.first:
        raise DamagedError("it holds no whole frame")
    try:
        uids = [_uid(scene, name) for name in about["names"]]
        members = [uids[int(number)] for number in about["members"]]
        missing = [about["names"][int(number)] for number, uid in zip(about["members"], members) if uid is None]
        if missing:
            raise PBDError(f"'{missing[0]}' is not in the scene")
        snapshots = _read_snapshots(files, uids, scene)
        settings = _settings(about["settings"], uids, scene)
        fingerprints, colliders, curves = about["fingerprints"], about["colliders"], about["curves"]
        past: Any = {name: about[name] for name in PAST}
        rested, hands = about["rested"], about["hand_count"]
        shapes, painted = about["shapes"], about["painted"]
        moved = {uids[int(number)] for number in about["moved_by_hand"]}
    except (KeyError, ValueError, IndexError, TypeError) as error:
        raise DamagedError("the index does not say what it should") from error
    objects = [find(scene, uid, "") for uid in members]
    others = [obj.name for obj in live_bodies(scene) if obj.session_uid not in members]
    if others:
        raise PBDError(f"object '{others[0]}' is not in the cache")
    idle = [obj.name for obj in objects if obj not in live_bodies(scene)]
    if idle:
        raise PBDError(f"'{idle[0]}' is not simulated")
    _check_shapes(files, objects, fingerprints)
    _check_painted(objects, painted)
    if hands != scene.pbd.hand_count:
        raise PBDError("a hand has changed the cloth since the file was saved")
    built = SceneSimulation(scene, objects, snapshots[files.first])
    finish(built.prepare())
    for member, obj, shape, fingerprint in zip(built.members, objects, shapes, fingerprints, strict=True):
        if checksums.shape_check(member) != shape:
            raise PBDError(f"the shape or place of '{obj.name}' at frame {files.first} changed")
        if checksums.undeformed(member) != fingerprint[5]:
            raise PBDError(f"the mesh, Output, Rest Shape, Initial Velocity or Layer of '{obj.name}' changed")
        if checksums.pins(member) != fingerprint[6]:
            raise PBDError(f"other vertices of '{obj.name}' are held")
        if member.loose != fingerprint[7]:
            raise PBDError(f"'{obj.name}' has other loose edges")
    built.in_place_steps = rested
    step.take_up(record, scene, built, snapshots, DiskCache(files, record, uids, snapshots))
    step.note(record, **past, moved_by_hand=moved)
    _check_surroundings(record, scene, settings, colliders)
    changed = [name for name, check in curves.items() if checksums.curve_checks(record).get(name) != check]
    added = checksums.curve_checks(record).keys() - curves.keys()
    if changed or added:
        raise PBDError(f"animation of '{[*changed, *added][0]}' changed")
    record.storage.note = f"The cache on disk is damaged: {files.damage}" if files.damage else ""


def _uid(scene: Scene, name: str) -> int | None:
    """The uid of the object of that name, or None; the scene's for ""."""
    if not name:
        return scene.session_uid
    obj = scene.objects.get(name)
    return None if obj is None else obj.session_uid


def _check_shapes(files: FrameFiles, objects: list[Object], fingerprints: Any) -> None:
    """Raise a `PBDError` if a mesh differs from the cached one."""
    for obj, known, (_file, points) in zip(objects, fingerprints, files.bodies, strict=True):
        counts, _, faces = mesh_io.fingerprint(obj)
        if len(obj.data.vertices) != points or list(counts) != known[:4]:
            raise PBDError(
                f"'{obj.name}' has {counts[0]} vertices and {counts[3]} faces, the cache {points} and {known[3]}"
            )
        if faces != known[4]:
            raise PBDError(f"'{obj.name}' has other faces")


def _check_painted(objects: list[Object], painted: Any) -> None:
    """Raise a `PBDError` if the weights of a map differ from the cached ones."""
    for obj, groups in zip(objects, painted, strict=True):
        for name, check in groups.items():
            if name not in obj.vertex_groups or checksums.weights_check(user_keys.read_weights(obj, name)) != check:
                raise PBDError(f"vertex group '{name}' of '{obj.name}' has other weights")


def _check_surroundings(record: Record, scene: Scene, settings: dict[Key, Any], colliders: list[str]) -> None:
    """Raise a `PBDError` if settings, colliders or unanimated objects differ from the last frame."""
    user = record.known
    changed = changes.setting_changes(record, user._replace(settings={**user.settings, **settings}), user)
    if changed:
        raise PBDError(changed[0].why)
    present = sorted(obj.name for obj in surfaces.colliders(scene))
    if present != colliders:
        raise PBDError("there are other colliders")
    last = record.snapshots[record.last_frame]
    stood = {**last.poses, **last.surfaces}
    for obj in surfaces.colliders(scene):
        _check_place(user_state.place(obj), stood.get(obj.session_uid))
    for uid, place in {**user.holders, **user.absorbers}.items():
        _check_place(place, stood.get(uid))
    for uid, place in user.fields.items():
        _check_place(place, last.fields.get(uid))


def _check_place(place: Place, stood: Pose | Surface | FieldPlace | None) -> None:
    if stood is not None and place.is_free and not np.array_equal(place.matrix, stood.matrix):
        raise PBDError(f"'{place.name}' was moved")


def _read_snapshots(files: FrameFiles, uids: list[int | None], scene: Scene) -> dict[int, SceneSnapshot]:
    """The snapshots of all frames; a damaged frame and those after it are left out."""
    found: dict[int, SceneSnapshot] = {}
    parts: dict[tuple, Any] = {}
    for frame in range(files.first, files.last + 1):
        try:
            rest = files.rest(frame)
        except DamagedError:
            if frame == files.first:
                raise
            files.leave_out(frame, "damaged")
            break
        note = json.loads(rest["note"].tobytes())
        standing = {
            uids[int(number)]: Pose(np.array(matrix).reshape(4, 4), values)
            for number, (matrix, values) in note["poses"].items()
        }
        around = {}
        for number, place in note["surfaces"].items():
            if place["points"] == frame:
                parts[number, "points", frame] = rest[f"points_{number}"]
            if place["faces"] == frame:
                parts[number, "faces", frame] = Polygons(rest[f"corners_{number}"], rest[f"starts_{number}"])
            points, faces = (parts[number, part, place[part]] for part in ("points", "faces"))
            around[uids[int(number)]] = Surface(place["name"], np.array(place["matrix"]).reshape(4, 4), points, faces)
        deformed = {
            uids[int(name.removeprefix("deformed_"))]: shape
            for name, shape in rest.items()
            if name.startswith("deformed_")
        }
        blowing = {uids[int(number)]: _field_place(place) for number, place in note.get("fields", {}).items()}
        settings = _settings(note["settings"], uids, scene)
        found[frame] = SceneSnapshot(standing, settings, around, deformed, fields=blowing)
    return found


def _field_place(saved: list[Any]) -> FieldPlace:
    """Where a field stood, as it is written."""
    name, matrix, points, normals, triangles = saved
    mesh = (np.array(points, np.float32), np.array(normals, np.float32), np.array(triangles, np.int32))
    return FieldPlace(name, np.array(matrix), *(each.reshape(-1, 3) for each in mesh))


def _settings(named: dict[str, Any], uids: list[int | None], scene: Scene) -> dict[Key, Any]:
    """Raw settings by key, from the names used in the files."""
    found: dict[Any, Any] = {}
    for name, raw in named.items():
        kind, _, number = name.rpartition(" ")
        uid, values = uids[int(number)], _tuples(raw)
        if kind:
            found[kind, uid] = BY_KIND[kind]._make(values)
        elif uid == scene.session_uid:
            raw = SceneSettings._make(values)
            found[uid] = raw._replace(floor=Floor._make(raw.floor), wind=WindSettings._make(raw.wind))
        else:
            found[uid] = ObjectSettings._make(values)
    return found


def _tuples(value: Any) -> Any:
    """Lists turned back into tuples, which JSON does not have."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
