"""What panels are made of: rows of settings, sentences that break, sizes."""

import textwrap
import unicodedata

import blf
import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Group, Icon, Layout
from ..pbd_addon.blender.settings import groups
from ..pbd_addon.blender.settings.shown_units import SHOWN_AS, key_icon
from .maps import draw_map

LETTER_WIDTH = 7.0
"""Mean width of a letter in a sentence at the interface scale 1 [pixels]."""

LABEL_SHARE = 0.35
"""Part of a row that Blender's property split leaves to the text of a label: two fifths of what is neither the dot of
the key frame nor a margin. In windows of Blender 4.3 and 5.2, 77 of 226 pixels are shown in full, 81 are cut off."""

LABEL_SPLIT = 0.4
"""Where Blender's property split puts the left edge of fields, as a part of the row (UI_ITEM_PROP_SEP_DIVIDE)."""

UNIT_SHARE = 0.33
"""What the unit takes of a field: "kg/m³" is 33 of 120 pixels wide in the sidebar as it is at first."""

MARGINS = 32.0
TABS = 22.0
"""What the borders of a region and the tabs of a sidebar take from its rows [pixels at the interface scale 1]."""

SHORT_LENGTH = 0.1
"""Lengths that end here are in millimeters [m]."""

PADDING = 8.0
ICON = 20.0
"""What a text on a label or button has around it, and what an icon takes [pixels at the interface scale 1]."""

TWO_COLUMNS = 550.0
"""From about this width of a row on `columns` has two of them [pixels at the interface scale 1]."""


def columns(layout: Layout) -> Layout:
    """Rows that stand in two columns where the editor is wide, as in Blender's own physics panels."""
    return layout.grid_flow(row_major=False, columns=0, even_columns=True, even_rows=False, align=True)


def draw_group(layout: Layout, owner: Group, group: str) -> None:
    """The settings of a group in rows of their own, with Blender's own split, so that all fields begin at one edge, and
    its maps.

    What would be shown with too many zeros is shown in another unit, see `SHOWN_AS`; the dot beside it keys the stored
    setting.
    """
    for name in groups.names(group):
        field = owner.bl_rna.properties[name]
        text, unit = iface(groups.SHORT_LABELS.get(name, field.name)), groups.unit(owner, name)
        if unit:
            draw_with_unit(layout.column().row(align=True), owner, name, text, unit)
        else:
            layout.column().prop(owner, name, text=text, translate=False, slider=is_slider(field))
    for kind in groups.maps(group):
        draw_map(bpy.context, layout, kind)


def draw_with_unit(row: Layout, owner: Group, name: str, text: str, unit: str) -> None:
    """A setting with its unit behind the field, which begins where Blender's own split puts it."""
    split = row.split(factor=LABEL_SPLIT, align=True)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text=text, translate=False)
    field = split.split(factor=1.0 - UNIT_SHARE, align=True)
    field.use_property_split = False
    field.prop(owner, SHOWN_AS[name].name if name in SHOWN_AS else name, text="")
    field.label(text=unit, translate=False)
    if name in SHOWN_AS:
        icon = key_icon(owner.id_data, name, bpy.context.scene.frame_current)
        row.operator("object.pbd_key_setting", text="", icon=icon, emboss=False).setting = name
    else:
        row.prop_decorator(owner, name)


def is_slider(field: bpy.types.FloatProperty) -> bool:
    """Whether a setting is drawn as a slider: a share, or a length that is dragged through millimeters.

    As a plain number Blender would drag a length by a whole millimeter or centimeter for each pixel.
    """
    if field.unit != "NONE":  # With some units Blender has no subtype, and warns when it is asked for.
        return bool(field.unit == "LENGTH" and field.soft_max <= SHORT_LENGTH)
    return field.identifier.startswith("k_") or field.subtype == "FACTOR"


def row_of_buttons(layout: Layout, context: Context, *labels: str, icon: bool = False) -> Layout:
    """A row for buttons with these English labels, or a column if they would be cut off side by side."""
    fits = fit_side_by_side(context, *labels, icon=icon)
    return layout.row(align=True) if fits else layout.column(align=True)


def fit_side_by_side(context: Context, *labels: str, icon: bool = False) -> bool:
    """Whether no button of these English labels is cut off in one row."""
    needed = PADDING + max(text_width(context, iface(label, "Operator")) for label in labels)
    return needed + (ICON if icon else 0.0) <= row_width(context) / len(labels)


def row_width(context: Context) -> float:
    """Width of a row of a panel, or of one of two columns, at the interface scale 1 [pixels]."""
    width = context.region.width / context.preferences.system.ui_scale
    width -= MARGINS + (TABS if context.region.type == "UI" else 0.0)
    return max(width / 2.0 if width > TWO_COLUMNS else width, 1.0)


def text_width(context: Context, text: str) -> float:
    """Width of a text in Blender's own font at the interface scale 1 [pixels]."""
    blf.size(0, context.preferences.ui_styles[0].widget.points)
    return blf.dimensions(0, text)[0]


def draw_sentence(layout: Layout, context: Context, sentence: str, icon: Icon) -> None:
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
