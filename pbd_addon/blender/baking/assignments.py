"""Settings from the command line: ``Flag.pbd.stretch=200``, checked before anything is simulated."""

import difflib
import math
import re
from typing import Any

import bpy

from ..kinds import Scene
from ..scene import animation

ASSIGNMENT = re.compile(r"(?P<owner>.+?)\.(?P<path>(?:pbd|pbd_collider)\.[a-z_0-9.]+)=(?P<value>.*)", re.DOTALL)
SWITCHES = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
KINDS = {"Object": "objects", "Collection": "collections"}
"""What a setting may point at, and where it is found."""


def assign(scene: Scene, text: str) -> None:
    """Set ``OWNER.pbd.path=value`` of an object of a scene, or of a scene; raises a `ValueError`, one sentence."""
    found = ASSIGNMENT.fullmatch(text)
    if found is None:
        raise ValueError(f"'{text}' is no setting: write OBJECT.pbd.name=value")
    name, path, value = found.group("owner", "path", "value")
    owner: Any = scene.objects.get(name) or bpy.data.scenes.get(name)
    if owner is None:
        raise ValueError(f"there is no object or scene '{name}' in scene '{scene.name}'")
    if getattr(owner, "library", None) is not None:
        raise ValueError(f"'{name}' is linked from another file and cannot be set")
    group: Any = owner
    last = path
    while "." in last:
        part, last = last.split(".", 1)
        group = getattr(group, part) if _setting(group, part, "POINTER") is not None else None
        if not isinstance(group, bpy.types.PropertyGroup):
            raise ValueError(f"'{name}' has no settings '{path}'")
    setting = _setting(group, last)
    if setting is None:
        known = [one.identifier for one in group.bl_rna.properties if _setting(group, one.identifier) is not None]
        alike = difflib.get_close_matches(last, known, 1)
        raise ValueError(f"'{name}' has no setting '{path}'" + (f": is it {alike[0]}?" if alike else ""))
    if _is_animated(owner, path):
        raise ValueError(f"'{name}.{path}' is animated, so it cannot be set to one value")
    setattr(group, last, _value(f"{name}.{path}", setting, value))


def _setting(group: Any, name: str, kind: str = "") -> Any:
    """What Blender knows of a setting that a user sees, perhaps of one kind, or None."""
    found = group.bl_rna.properties.get(name)
    if found is None or found.is_hidden or (found.is_readonly and kind != "POINTER") or name in ("rna_type", "name"):
        return None
    return found if not kind or found.type == kind else None


def _is_animated(owner: Any, path: str) -> bool:
    """Whether a curve or a driver sets it."""
    data = owner.animation_data
    drivers = () if data is None else data.drivers
    return any(curve.data_path == path for curve in (*(animation.curves(owner) or ()), *drivers))


def _value(where: str, setting: Any, text: str) -> Any:
    """The value that a text is; raises a `ValueError`."""
    if setting.type == "BOOLEAN":
        if text.lower() not in SWITCHES:
            raise ValueError(f"{where} must be true or false, not '{text}'")
        return SWITCHES[text.lower()]
    if setting.type == "ENUM":
        items = [item.identifier for item in setting.enum_items]
        if text not in items:
            raise ValueError(f"{where} must be one of {', '.join(items)}, not '{text}'")
        return text
    if setting.type == "POINTER":
        return _pointed_at(where, setting, text)
    if setting.type in ("INT", "FLOAT"):
        return _numbers(where, setting, text)
    return text


def _pointed_at(where: str, setting: Any, name: str) -> Any:
    """The object or collection of that name, or None for ""; raises a `ValueError`."""
    kind = setting.fixed_type.identifier
    found = getattr(bpy.data, KINDS[kind]).get(name) if kind in KINDS else None
    if name and found is None:
        raise ValueError(f"{where} must be the name of one of the file's {KINDS.get(kind, kind)}, not '{name}'")
    return found


def _numbers(where: str, setting: Any, text: str) -> Any:
    """The number, or the numbers with commas between them; raises a `ValueError`."""
    count = setting.array_length if setting.is_array else 1
    parts = text.split(",")
    kind, what = (int, "a whole number") if setting.type == "INT" else (float, "a number")
    wanted = what if count == 1 else f"{count} numbers with commas between them"
    try:
        numbers = [kind(part) for part in parts]
    except ValueError:
        raise ValueError(f"{where} must be {wanted}, not '{text}'") from None
    if len(numbers) != count:
        raise ValueError(f"{where} must be {wanted}, not '{text}'")
    low, high = setting.hard_min, setting.hard_max
    for number in numbers:
        if not (math.isfinite(number) and low <= number <= high):
            raise ValueError(f"{where} must be from {low:g} to {high:g}, not {number:g}")
    return numbers if setting.is_array else numbers[0]
