"""What the files of the disk cache have to say: all of it is checked here, before anything is made of it."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...io import schema
from ...io.frame_files import FRAMES, INDEX, DamagedError
from ...io.schema import text
from ..settings.raw_settings import BY_KIND, ObjectSettings, SceneSettings, schema_of

NUMBER = re.compile(r"0|[1-9][0-9]{0,6}")
"""A number of the table of names, as text."""

COUNT, CHECK, MATRIX = range(1 << 31), range(1 << 32), (float,) * 16

OF_FIELD = ("points", "normals", "triangles")
"""Arrays of a force field in a frame, see `FieldPlace`."""


def check_about(about: dict[str, Any], bodies: int) -> None:
    """Raise a `DamagedError` if what the index says of so many bodies cannot be."""
    _check(about.get("names"), [lambda name: name is None or text(name)], f"{INDEX}.about.names")
    number = _number_below(len(about["names"]))
    kinds: dict[Any, Any] = {
        "layout": int,
        "names": list,
        "settings": dict,
        "members": (number,) * bodies,
        "fingerprints": ((int,) * 8,) * bodies,
        "shapes": (CHECK,) * bodies,
        "painted": ({text: CHECK},) * bodies,
        "colliders": [text],
        "curves": {text: CHECK},
        "first_guess": frozenset({None, FRAMES}),
        "first_disturbed": frozenset({None, FRAMES}),
        "disturbed_by": lambda value: value in ("", "COLLIDERS", "HAND", "SETTLE"),
        "settled": COUNT,
        "shaped": bool,
        "rested": COUNT,
        "hand_count": COUNT,
        "moved_by_hand": [number],
    }
    _check(about, kinds, f"{INDEX}.about")
    if len(set(about["members"])) < bodies:
        raise DamagedError(f"{INDEX}.about.members cannot be")


def check_note(
    note: Any, names: int, members: Mapping[str, int], arrays: Mapping[str, np.ndarray], frame: int, whole: bool
) -> None:
    """Raise a `DamagedError` if what a frame says of the scene cannot be.

    members: their numbers of points; whole: whether the file holds all points of what modifiers deform.
    """
    number, where = _number_below(names), f"the note of frame {frame}"
    surface = {"name": text, "matrix": MATRIX, "points": FRAMES, "faces": FRAMES}
    kinds: dict[Any, Any] = {
        "poses": {number: (MATRIX, {text: float})},
        "settings": dict,
        "surfaces": {number: surface},
        "fields": {number: {"name": text, "matrix": MATRIX}},
    }
    _check(note, kinds, where)
    if not members.keys() <= note["poses"].keys():
        raise DamagedError(f"{where}.poses cannot be")
    for each, place in note["surfaces"].items():
        if place["points"] == frame:
            check_array(arrays, f"points_{each}", "f", 3)
        if place["faces"] == frame:
            corners, starts = (check_array(arrays, f"{part}_{each}", "i") for part in ("corners", "starts"))
            ends = len(starts) > 0 and starts[0] == 0 and starts[-1] == len(corners)
            if not ends or not (np.diff(starts.astype(np.int64)) >= 2).all():
                raise DamagedError(f"'starts_{each}' cannot be")
    for each in note["fields"]:
        points, normals = (check_array(arrays, f"field_{part}_{each}", "f", 3) for part in ("points", "normals"))
        triangles = check_array(arrays, f"field_triangles_{each}", "i", 3)
        if len(normals) != len(points) or not _are_ids(triangles, len(points)):
            raise DamagedError(f"'field_triangles_{each}' cannot be")
    for name in arrays:
        each = name.removeprefix("deformed_")
        if each == name:
            continue
        count = len(check_array(arrays, name, "f", 3))
        if each not in members or count > members[each] or (whole and count < members[each]):
            raise DamagedError(f"'{name[:40]}' cannot be")


def check_settings(settings: dict[str, Any], names: int, scene: str, members: Mapping[str, int]) -> None:
    """Raise a `DamagedError` if raw settings, by what files call their keys, cannot be; scene: its number."""
    for key, raw in settings.items():
        kind, _, each = key.rpartition(" ")
        if kind not in ("", *BY_KIND) or not _number_below(names)(each):
            raise DamagedError(f"settings of {key[:40]!r} cannot be")
        of_owner = SceneSettings if each == scene else ObjectSettings
        _check(raw, schema_of(BY_KIND[kind] if kind else of_owner), f"settings of {key!r}")
        if not kind and each != scene and each not in members:
            raise DamagedError(f"settings of {key!r} cannot be")
    if not {scene, *members} <= settings.keys():
        raise DamagedError("settings are missing")


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


def check_corners(corners: np.ndarray, points: np.ndarray, number: str) -> None:
    """Raise a `DamagedError` if the corners of faces are not among these points."""
    if not _are_ids(corners, len(points)):
        raise DamagedError(f"'corners_{number}' cannot be")


def _are_ids(ids: np.ndarray, count: int) -> bool:
    return bool(((ids >= 0) & (ids < count)).all())


def _check(value: Any, kind: Any, where: str) -> None:
    wrong = schema.misfit(value, kind, where)
    if wrong:
        raise DamagedError(f"{wrong[:120]} cannot be")


def _number_below(count: int) -> Callable[[Any], bool]:
    """The schema of a number of a table of so many names, as text."""
    return lambda value: type(value) is str and bool(NUMBER.fullmatch(value)) and int(value) < count
