"""Write the shipped material presets as files for Blender's preset menus, from ``pbd_addon.presets``.

Run it after changing values, with a Python that has Blender's ``bpy``::

    python -m tools.write_presets
"""

from __future__ import annotations

from pathlib import Path

from pbd_addon.blender.settings import presets
from pbd_addon.settings import PRESETS, Material

FOLDER = Path(presets.__file__).parent / "presets"


def kind_of(material: Material) -> str:
    """The menu that a material belongs to: materials with pressure are balloons."""
    return presets.CLOTH if material.pressure_mode == "OFF" else presets.BALLOON


def file_of(name: str) -> Path:
    """The file of one preset; Blender's menus show an underscore as a space."""
    return FOLDER / kind_of(PRESETS[name]) / f"{name.replace(' ', '_')}.py"


def literal(value: object) -> str:
    """A value as Python source, with this project's quotes."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def text_of(material: Material) -> str:
    """The script that Blender runs when the preset is chosen: one assignment per setting of the active object."""
    names = presets.fields(kind_of(material))
    lines = [f"material.{name} = {literal(getattr(material, name))}" for name in names]
    return "\n".join(["import bpy", "", "material = bpy.context.object.pbd", *lines, ""])


def main() -> None:
    """Write all files, and remove those of presets that no longer exist."""
    wanted = {file_of(name): text_of(material) for name, material in PRESETS.items()}
    for old in set(FOLDER.glob("*/*.py")) - set(wanted):
        old.unlink()
    for path, text in wanted.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    print(f"{len(wanted)} presets in {FOLDER}")


if __name__ == "__main__":
    main()
