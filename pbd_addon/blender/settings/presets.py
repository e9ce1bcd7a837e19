"""The folder of the material presets, and the settings that presets contain.

Blender finds the files of shipped ones beside this module, in ``presets/``, one for each of ``pbd_addon.presets``,
which it names; and the user's, which hold values, in the preset folder of the user's profile.
"""

import dataclasses
import os
import zlib

import bpy
from bpy.app.translations import pgettext_tip as tip

from ...bodies.material import PRESETS, Material
from ...bodies.presets import ABOUT, EVIDENCE, EVIDENT
from ...parts import Inflation, Inside, Pinning, Seam, Solid, Strength
from ..kinds import Group

CLOTH = "pbd_cloth"
BALLOON = "pbd_balloon"

OF_OTHERS = (Pinning, Seam, Strength, Inside, Solid)
"""What these say belongs to the scene, to the mesh or to the object, not to the material."""

OF_MESH = ("join_borders", "self_collision", "self_distance")
"""So does whether the mesh is split, whether it folds, and how fine it is."""


def fields(kind: str) -> tuple[str, ...]:
    """Names of the `Material` fields in preset files of the kind `CLOTH` or `BALLOON`.

    Fabric presets do not set what is inside, so a cushion can change its cover and stay inflated.
    """
    groups = OF_OTHERS + (() if kind == BALLOON else (Inflation,))
    left_out = {*OF_MESH, *(field.name for group in groups for field in dataclasses.fields(group))}
    return tuple(field.name for field in dataclasses.fields(Material) if field.name not in left_out)


def apply(pbd: Group, name: str) -> None:
    """Give an ``Object.pbd`` the settings of a shipped preset; another name does nothing."""
    if name in PRESETS:
        material = PRESETS[name]
        kind = CLOTH if material.pressure_mode == "OFF" else BALLOON
        for field in fields(kind):
            setattr(pbd, field, getattr(material, field))
        note(pbd, kind, name)


def about(name: str) -> str:
    """What a shipped preset is for, and where its figures are from, in the user's language."""
    labels = {field.name: tip(field.metadata["label"]) for field in dataclasses.fields(Material) if field.metadata}
    origins = {"p": tip("Published: {fields}"), "d": tip("Calculated: {fields}"), "e": tip("Estimated: {fields}")}
    letters = list(zip(EVIDENCE[name], EVIDENT))
    found = {origin: ", ".join(labels[field] for own, field in letters if own == letter)
             for letter, origin in origins.items()}  # fmt: skip
    return ". ".join([tip(ABOUT[name]), *(origin.format(fields=each) for origin, each in found.items() if each)])


def find_file(name: str) -> tuple[str, str]:
    """The file of a preset of the user, or a shipped one, by the name that menus show, and its kind; "" if none is."""
    for kind in (CLOTH, BALLOON):
        for folder in bpy.utils.preset_paths(kind):
            for file in sorted(os.listdir(folder)):
                stem, ending = os.path.splitext(file)
                if ending == ".py" and bpy.path.display_name(stem, title_case=False) == name:
                    return os.path.join(folder, file), kind
    return "", ""


def note(pbd: Group, kind: str, name: str) -> None:
    """Remember the preset, of this kind and name, that was just applied to an object."""
    pbd.preset, pbd.preset_mark = name, _mark(pbd, kind)


def chosen(pbd: Group) -> tuple[str, bool]:
    """Name of the preset applied last, or "", and whether the material is unchanged since."""
    return pbd.preset, pbd.preset_mark == _mark(pbd, pbd.preset_mark.partition(" ")[0])


def _mark(pbd: Group, kind: str) -> str:
    """A checksum of the settings in presets of this kind."""
    values = [getattr(pbd, name) for name in fields(kind)]
    return f"{kind} {zlib.crc32(repr(values).encode()):08x}"


def register() -> None:
    """Tell Blender the folder that contains `presets/`."""
    bpy.utils.register_preset_path(os.path.dirname(__file__))


def unregister() -> None:
    """Undo `register`."""
    bpy.utils.unregister_preset_path(os.path.dirname(__file__))
