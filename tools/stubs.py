"""Fixes of Blender's stubs, for errors and for what they cannot know, in the environment of `make types`.

Without them every other line of the bridge would be an error of the stubs, which would hide ours.
"""

from __future__ import annotations

import re
from pathlib import Path

MENDS = (
    # (file, what is there, what belongs there)
    (
        "types/__init__.pyi",
        r"^class Object\(ID, bpy_struct\):$",
        r"\g<0>\n    pbd: typing.Any\n    pbd_collider: typing.Any",
    ),
    ("types/__init__.pyi", r"^class Scene\(ID, bpy_struct\):$", r"\g<0>\n    pbd: typing.Any"),
    # A union of all kinds of data; code that has checked Object.type knows which one it is.
    ("types/__init__.pyi", r"^    data: \(\n        Armature\n(        \| \w+\n)+    \)$", r"    data: typing.Any"),
    ("types/__init__.pyi", r"^class Attribute\(bpy_struct\):$", r"\g<0>\n    data: typing.Any"),
    ("app/translations/__init__.pyi", r"^(def pgettext_iface\(.*\)) -> (None|str):$", r"\g<1> -> str:"),
    ("app/translations/__init__.pyi", r"^(def pgettext_tip\(.*\)) -> (None|str):$", r"\g<1> -> str:"),
    (
        "utils/__init__.pyi",
        r"^def register_classes_factory\(classes\) -> None:$",
        "def register_classes_factory(classes) -> tuple[\n"
        "    collections.abc.Callable[[], None], collections.abc.Callable[[], None]\n]:",
    ),
)


def mend(site_packages: Path) -> str:
    """Apply `MENDS` to the stubs; those already fixed stay as they are.

    Returns:
        A sentence about the first line that was not found, or "".
    """
    for name, there, wanted in MENDS:
        path = site_packages / "bpy-stubs" / name
        text = path.read_text(encoding="utf-8")
        mended, count = re.subn(there, wanted, text, count=1, flags=re.MULTILINE)
        if not count:
            return f"bpy-stubs/{name} has no line {there!r} any more: look at tools/stubs.py."
        path.write_text(mended, encoding="utf-8")
    return ""
