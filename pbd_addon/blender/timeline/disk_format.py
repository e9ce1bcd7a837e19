"""What the files of the disk cache say of a scene: how it is written and, once all of it is checked, read.

The index has an `About`; each frame has arrays, one of which is its `Note`, in JSON. `frame_files` says how they are
kept.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np

from ... import Polygons
from ...frames import metrics
from ...frames.report import StepReport
from ...io import schema
from ...io.frame_files import FRAMES, INDEX, MOST_INDEX, DamagedError
from ...io.state_files import are_ids
from ..kinds import Scene
from ..read.snapshot import SceneSnapshot
from ..scene.fields import FieldPlace
from ..scene.poses import Pose
from ..scene.surfaces import Surface
from ..settings.raw_settings import BY_KIND, Floor, ObjectSettings, RawSettings, SceneSettings, Settings, schema_of
from ..settings.wind import WindSettings

NUMBER = re.compile(r"0|[1-9][0-9]{0,6}")
"""A number of the table of names, as text."""

Number = Annotated[str, lambda value: type(value) is str and bool(NUMBER.fullmatch(value))]
Count, Check, Frame = Annotated[int, range(1 << 31)], Annotated[int, range(1 << 32)], Annotated[int, FRAMES]
Matrix = Annotated[list[float], (float,) * 16]
Cause = Annotated[str, lambda value: value in ("", "COLLIDERS", "HAND", "SETTLE")]
"""Types of what is in JSON, with their schemas."""

OF_FIELD = ("points", "normals", "triangles")
"""Arrays of a force field in a frame, see `FieldPlace`."""

Arrays = dict[str, np.ndarray]

Written = dict[int, tuple[Surface, dict[str, int]]]
"""By uid, the surface that was written last, and the frames whose files hold its points and faces."""


class Names:
    """The table of names in the index: their numbers, as text, stand for objects; that of the scene is "".

    Attributes:
        uids: In this session of Blender; None for what is gone.
        names: Beside them; None for what never had one.
    """

    def __init__(self, uids: Iterable[int | None] = (), names: Iterable[str | None] = ()) -> None:
        self.uids, self.names = list(uids), list(names)

    def number(self, uid: int) -> str:
        """The number of an object or scene, which gets one if it has none."""
        if uid not in self.uids:
            self.uids.append(uid)
            self.names.append(None)
        return str(self.uids.index(uid))

    def uid(self, number: str) -> int | None:
        """The uid of what a number stands for; raises a `DamagedError` if that cannot be."""
        if int(number) >= len(self.uids):
            raise DamagedError(f"number {number} of {INDEX}.about.names cannot be")
        return self.uids[int(number)]

    def take(self, scene: Scene) -> list[str | None]:
        """The names as they are in a scene; what is gone keeps its name."""
        now = {obj.session_uid: obj.name for obj in scene.objects} | {scene.session_uid: ""}
        self.names = [name if uid is None else now.get(uid, name) for uid, name in zip(self.uids, self.names)]
        return self.names

    @property
    def of_scene(self) -> str:
        """The number of the scene."""
        return str(self.names.index("")) if "" in self.names else ""


# ------------------------------------------------------------------------------------------ the index


class About(NamedTuple):
    """What has to match for the frames to be valid."""

    layout: int  # see `disk_cache.LAYOUT`
    settings: dict  # raw, by what files call their keys
    members: list[Number]  # of the simulated objects
    fingerprints: list[Annotated[list[int], (int,) * 8]]  # of each, see `DiskCache.describe`
    shapes: list[Check]  # of each
    painted: list[dict[str, Check]]  # of each, by vertex group
    colliders: list[str]  # their names
    curves: dict[str, Check]  # by name of the object that is animated
    first_guess: Frame | None  # this and others are of the `Record`
    first_disturbed: Frame | None
    disturbed_by: Cause
    settled: Count
    shaped: bool
    rested: Count  # steps in place
    hand_count: Count
    moved_by_hand: list[Number]
    names: list[str | None]


def read_about(about: dict[str, Any], bodies: int) -> About:
    """What the index says of so many bodies; raises a `DamagedError` if that cannot be."""
    _check(about, schema.of(About), f"{INDEX}.about")
    for name in ("members", "fingerprints", "shapes", "painted"):
        if len(about[name]) != bodies or (name == "members" and len(set(about[name])) < bodies):
            raise DamagedError(f"{INDEX}.about.{name} cannot be")
    return About(**about)


# ------------------------------------------------------------------------------------------ settings


def named(settings: Settings, names: Names) -> dict[str, RawSettings]:
    """Raw settings by keys that JSON can hold."""
    return {
        f"{key[0]} {names.number(key[1])}" if isinstance(key, tuple) else names.number(key): raw
        for key, raw in settings.items()
    }


def read_settings(said: dict[str, Any], names: Names, scene: Scene, members: Mapping[str, int]) -> Settings:
    """Raw settings from those of `named`; raises a `DamagedError` if they cannot be."""
    for key, raw in said.items():
        kind, _, each = key.rpartition(" ")
        if kind not in ("", *BY_KIND) or not NUMBER.fullmatch(each):
            raise DamagedError(f"settings of {key[:40]!r} cannot be")
        of_owner = SceneSettings if each == names.of_scene else ObjectSettings
        _check(raw, schema_of(BY_KIND[kind] if kind else of_owner), f"settings of {key!r}")
        if not kind and each != names.of_scene and each not in members:
            raise DamagedError(f"settings of {key!r} cannot be")
    if not {names.of_scene, *members} <= said.keys():
        raise DamagedError("settings are missing")
    found: Settings = {}
    for key, raw in said.items():
        kind, _, each = key.rpartition(" ")
        uid, values = names.uid(each), _tuples(raw)
        if kind:
            found[kind, uid] = BY_KIND[kind]._make(values)
        elif uid == scene.session_uid:
            of_scene = SceneSettings._make(values)
            wind, floor = WindSettings._make(of_scene.wind), Floor._make(of_scene.floor)
            found[uid] = of_scene._replace(floor=floor, wind=wind)
        else:
            found[uid] = ObjectSettings._make(values)
    return found


def _tuples(value: object) -> Any:
    """Lists turned back into tuples, which JSON does not have."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


# ------------------------------------------------------------------------------------------ a frame


class SurfaceNote(NamedTuple):
    """Where a surface stands, and the frames whose files hold its points and faces."""

    name: str
    matrix: Matrix
    points: Frame
    faces: Frame


class FieldNote(NamedTuple):
    """Where a force field stands."""

    name: str
    matrix: Matrix


class Note(NamedTuple):
    """What a frame says of the scene, besides arrays."""

    poses: dict[Number, tuple[Matrix, dict[str, float]]]  # transforms, and values of shape keys
    settings: dict  # raw, by what files call their keys
    surfaces: dict[Number, Annotated[dict, schema.of(SurfaceNote)]]
    fields: dict[Number, Annotated[dict, schema.of(FieldNote)]]


def pack(snapshot: SceneSnapshot, names: Names, frame: int, before: Written) -> tuple[Arrays, Written]:
    """The arrays of the snapshot of a frame, without parts of surfaces that earlier files hold, and what files hold."""
    arrays: Arrays = {}
    written: Written = {}
    poses = {uid: (pose.matrix.ravel().tolist(), pose.key_values) for uid, pose in snapshot.poses.items()}
    note = Note({names.number(uid): stood for uid, stood in poses.items()}, named(snapshot.settings, names), {}, {})
    for uid, surface in snapshot.surfaces.items():
        number, (known, frames) = names.number(uid), before.get(uid, (None, {}))
        frames = dict(frames)
        if known is None or known.points is not surface.points:
            frames["points"], arrays[f"points_{number}"] = frame, surface.points
        if known is None or known.faces is not surface.faces:
            frames["faces"] = frame
            arrays[f"corners_{number}"], arrays[f"starts_{number}"] = surface.faces
        written[uid] = surface, frames
        note.surfaces[number] = SurfaceNote(surface.name, surface.matrix.ravel().tolist(), **frames)._asdict()
    arrays |= {f"deformed_{names.number(uid)}": shape for uid, shape in snapshot.deformed.items()}
    for uid, place in snapshot.fields.items():
        number = names.number(uid)
        note.fields[number] = FieldNote(place.name, place.matrix.ravel().tolist())._asdict()
        arrays |= {f"field_{part}_{number}": getattr(place, part) for part in OF_FIELD}
    arrays["note"] = np.frombuffer(json.dumps(note._asdict()).encode(), np.uint8)
    return arrays, written


def unpack(
    arrays: Mapping[str, np.ndarray],
    names: Names,
    scene: Scene,
    frame: int,
    members: Mapping[str, int],
    whole: bool,
    parts: dict[tuple[str, str, int], Any],
) -> SceneSnapshot:
    """The snapshot of a frame from arrays of `pack`; raises a `DamagedError` if they cannot be.

    members: their numbers of points; whole: whether the file holds all points of what modifiers deform; parts: of
    surfaces, that earlier frames hold, to which those of this one are added.
    """
    note = _read_note(arrays, frame)
    if not members.keys() <= note.poses.keys():
        raise DamagedError(f"the note of frame {frame}.poses cannot be")
    poses = {names.uid(each): Pose(_matrix(matrix), values) for each, (matrix, values) in note.poses.items()}
    surfaces = {}
    for each, place in note.surfaces.items():
        if place["points"] == frame:
            parts[each, "points", frame] = check_array(arrays, f"points_{each}", "f", 3)
        if place["faces"] == frame:
            parts[each, "faces", frame] = _read_faces(arrays, each)
        points, faces = (parts.get((each, part, place[part])) for part in ("points", "faces"))
        if points is None or faces is None:
            raise DamagedError(f"a surface of frame {frame} is missing")
        if not are_ids(faces.corners, len(points)):
            raise DamagedError(f"'corners_{each}' cannot be")
        surfaces[names.uid(each)] = Surface(place["name"], _matrix(place["matrix"]), points, faces)
    fields = {}
    for each, place in note.fields.items():
        points, normals = (check_array(arrays, f"field_{part}_{each}", "f", 3) for part in ("points", "normals"))
        triangles = check_array(arrays, f"field_triangles_{each}", "i", 3)
        if len(normals) != len(points) or not are_ids(triangles, len(points)):
            raise DamagedError(f"'field_triangles_{each}' cannot be")
        fields[names.uid(each)] = FieldPlace(place["name"], _matrix(place["matrix"]), points, normals, triangles)
    deformed = {}
    for name in arrays:
        each = name.removeprefix("deformed_")
        if each == name:
            continue
        shape = check_array(arrays, name, "f", 3)
        if each not in members or len(shape) > members[each] or (whole and len(shape) < members[each]):
            raise DamagedError(f"'{name[:40]}' cannot be")
        deformed[names.uid(each)] = shape
    settings = read_settings(note.settings, names, scene, members)
    return SceneSnapshot(poses, settings, surfaces, deformed, fields=fields)


def read_report(arrays: Arrays) -> StepReport | None:
    """The report of a frame, with the figures of a table; None if its file has none. Raises a `DamagedError`."""
    figures = arrays.get("report")
    if figures is None:
        return None
    like = "f", (len(metrics.COLUMNS),)
    if (figures.dtype.kind, figures.shape) != like or not np.isfinite(figures).all():
        raise DamagedError("'report' cannot be")
    return metrics.report_of(figures)


def _read_note(arrays: Mapping[str, np.ndarray], frame: int) -> Note:
    """The note of a frame, whose values fit."""
    raw, where = check_array(arrays, "note", "u", most=MOST_INDEX).tobytes(), f"the note of frame {frame}"
    try:
        note = schema.load(raw)
    except ValueError as error:
        raise DamagedError(f"{where} cannot be read") from error
    _check(note, schema.of(Note), where)
    return Note(**note)


def _read_faces(arrays: Mapping[str, np.ndarray], number: str) -> Polygons:
    """The faces of a surface."""
    corners, starts = (check_array(arrays, f"{part}_{number}", "i") for part in ("corners", "starts"))
    ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(corners)
    if not ends or not (np.diff(starts.astype(np.int64)) >= 2).all():
        raise DamagedError(f"'starts_{number}' cannot be")
    return Polygons(corners, starts)


def _matrix(values: list[float]) -> np.ndarray:
    return np.array(values).reshape(4, 4)


# ------------------------------------------------------------------------------------------ checks


def check_array(
    arrays: Mapping[str, np.ndarray], name: str, kind: str, columns: int = 0, most: int = 1 << 62
) -> np.ndarray:
    """The array of a name, (n,) or (n, columns) of finite numbers of a kind, n at most `most`; or `DamagedError`."""
    found, size = arrays.get(name), 1 if kind == "u" else 4
    fits = found is not None and (found.dtype.kind, found.itemsize) == (kind, size) and 0 < found.ndim
    if not fits or found.shape[1:] != ((columns,) if columns else ()) or len(found) > most:
        raise DamagedError(f"'{name[:40]}' cannot be")
    if kind == "f" and not np.isfinite(found).all():
        raise DamagedError(f"'{name}' has no numbers")
    return found


def _check(value: object, kind: object, where: str) -> None:
    wrong = schema.misfit(value, kind, where)
    if wrong:
        raise DamagedError(f"{wrong[:120]} cannot be")
