"""The two places of every panel, and the factory that puts one drawing into both."""

from __future__ import annotations

import textwrap
import types
import unicodedata

import bpy
from bpy.app.translations import pgettext_iface as iface

LETTER_WIDTH = 7.0
"""Mean width of a letter in a panel at the interface scale 1 [pixels]."""

LABEL_SHARE = 0.36
"""Part of a column that Blender's property split leaves to the label."""

TWO_COLUMNS = 600.0
"""From about this width on `columns` has two of them [pixels at the interface scale 1]."""


class Place:
    """Where a panel stands."""

    prefix = ""


class Sidebar(Place):
    """The tab "PBD" of the 3D View's sidebar."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "PBD"
    prefix = "VIEW3D_PT_pbd"


class PhysicsTab(Place):
    """Properties > Physics."""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    prefix = "PHYSICS_PT_pbd"


PLACES = (Sidebar, PhysicsTab)


class BodyPanel:
    """Base of the drawings: shown while the active object is a PBD object, greyed when it is baked.

    A drawing gives `name`, `bl_label`, `draw_settings`, and `parent` (the name of another drawing) unless it is
    the root. `bl_options` as in Blender.
    """

    name = ""
    parent = ""
    bl_options: frozenset[str] = frozenset()
    layout: bpy.types.UILayout

    @classmethod
    def poll(cls, context):
        obj = context.object
        return obj is not None and obj.type == "MESH" and obj.pbd.enabled

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.active = is_live(context.object)
        self.draw_settings(context, layout)

    def draw_settings(self, context, layout):
        """Draw the rows of the panel."""
        raise NotImplementedError


def is_live(obj):
    """Whether the settings of the object act: it is switched on and not baked."""
    return obj.pbd.active and not obj.pbd.baked


def in_both_places(*drawings):
    """Panel classes, ready to be registered: every drawing in the sidebar and in Properties > Physics."""
    return tuple(panel_class(drawing, place) for place in PLACES for drawing in drawings)


def panel_class(drawing, place):
    """One drawing in one place."""
    contents = {"__doc__": drawing.__doc__, "__module__": drawing.__module__, "bl_options": set(drawing.bl_options)}
    if drawing.parent:
        contents["bl_parent_id"] = panel_id(drawing.parent, place)
    return types.new_class(
        panel_id(drawing.name, place), (drawing, place, bpy.types.Panel), exec_body=lambda body: body.update(contents)
    )


def panel_id(name: str, place: type[Place]) -> str:
    """The name under which Blender knows a drawing in a place."""
    return f"{place.prefix}_{name}"


def columns(layout):
    """Rows that stand in two columns where the editor is wide, as in Blender's own physics panels."""
    return layout.grid_flow(row_major=False, columns=0, even_columns=True, even_rows=False, align=True)


def draw_rows(layout, context, owner, *names):
    """Settings in rows of their own, with the units behind the labels where there is room for all of them.

    Where there is none the words stay whole and the tooltips show the units.
    """
    labels = [iface(owner.bl_rna.properties[name].name) for name in names]
    width = context.region.width / context.preferences.system.ui_scale
    column = width / 2.0 if width > TWO_COLUMNS else width
    if LETTER_WIDTH * max(map(letters, labels)) > LABEL_SHARE * column:
        labels = [label.partition(" (")[0] for label in labels]
    for name, label in zip(names, labels, strict=True):
        layout.column().prop(owner, name, text=label, translate=False, slider=name.startswith("k_"))


def draw_sentence(layout, context, sentence, icon):
    """A sentence of any length, broken to the width of the region, with an icon on its first line.

    One without figures is translated here, one with figures where they are put in.
    """
    sentence = iface(sentence)
    room = int(context.region.width / (LETTER_WIDTH * context.preferences.system.ui_scale)) - 6
    col = layout.column(align=True)
    col.scale_y = 0.8
    for line in textwrap.wrap(sentence, max(room, 16) * len(sentence) // max(letters(sentence), 1)):
        col.label(text=line, icon=icon, translate=False)
        icon = "BLANK1"


def letters(text: str) -> int:
    """Width of a text in Latin letters: Chinese and Japanese characters are twice as wide."""
    return len(text) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)


def file_size(count: float) -> str:
    """A number of bytes for a label: "24 KB", "3.1 MB", "150 MB"."""
    if count < 1e6:
        return f"{count / 1e3:.0f} KB"
    return f"{count / 1e6:.1f} MB" if count < 1e7 else f"{count / 1e6:.0f} MB"
