"""The preset menus behind the icon in the header."""

from __future__ import annotations

import os

import bpy
from bl_ui.utils import PresetPanel

from ..pbd_addon.blender.settings import presets


class MaterialPresets(PresetPanel):
    """What the two menus share."""

    preset_operator = "script.execute_preset"

    @staticmethod
    def post_cb(_context, filepath):
        """Blender applies presets without an undo step; Ctrl+Z should take back the material and nothing more."""
        bpy.ops.ed.undo_push(message=bpy.path.display_name(os.path.basename(filepath), title_case=False))


class OBJECT_PT_pbd_cloth_presets(MaterialPresets, bpy.types.Panel):
    """Fabrics"""

    bl_label = "Cloth Presets"
    preset_subdir = presets.CLOTH
    preset_add_operator = "object.pbd_cloth_preset_add"


class OBJECT_PT_pbd_balloon_presets(MaterialPresets, bpy.types.Panel):
    """Skins and pressures"""

    bl_label = "Balloon Presets"
    preset_subdir = presets.BALLOON
    preset_add_operator = "object.pbd_balloon_preset_add"


def draw_header_icon(layout, obj):
    """The preset icon of a panel's header; its menu fits the type of the object."""
    menu = OBJECT_PT_pbd_balloon_presets if obj.pbd.type == "BALLOON" else OBJECT_PT_pbd_cloth_presets
    menu.draw_panel_header(layout)


register, unregister = bpy.utils.register_classes_factory((OBJECT_PT_pbd_cloth_presets, OBJECT_PT_pbd_balloon_presets))
