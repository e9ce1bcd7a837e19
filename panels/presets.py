"""The lists of materials: a menu in the row that names the chosen one, Blender's presets behind the header's icon."""

import os
from types import MappingProxyType

import bpy
from bl_ui.utils import PresetPanel
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout, Object
from ..pbd_addon.blender.settings import presets


class MaterialPresets(PresetPanel):
    """What the two menus share."""

    preset_operator = "object.pbd_preset"
    preset_subdir = ""

    @classmethod
    def post_cb(cls, context: Context, filepath: str) -> None:
        """Blender applies presets without an undo step; Ctrl+Z should take back the material and nothing more."""
        name = bpy.path.display_name(os.path.basename(filepath), title_case=False)
        presets.note(context.object.pbd, cls.preset_subdir, name)
        bpy.ops.ed.undo_push(message=name)


class OBJECT_PT_pbd_cloth_presets(MaterialPresets, bpy.types.Panel):
    """Fabrics"""

    bl_label = "Cloth Presets"
    preset_subdir = presets.CLOTH
    preset_add_operator = "object.pbd_cloth_preset_add"
    preset_operator_defaults = MappingProxyType({"menu_idname": "OBJECT_PT_pbd_cloth_presets"})


class OBJECT_PT_pbd_balloon_presets(MaterialPresets, bpy.types.Panel):
    """Skins and pressures"""

    bl_label = "Balloon Presets"
    preset_subdir = presets.BALLOON
    preset_add_operator = "object.pbd_balloon_preset_add"
    preset_operator_defaults = MappingProxyType({"menu_idname": "OBJECT_PT_pbd_balloon_presets"})


class MaterialMenu:
    """What the two menus of a row share: the same materials, and the menu closes when one is chosen.

    A panel of presets stays open, and while frames play Blender does not close it when the mouse leaves it.
    """

    preset_operator = MaterialPresets.preset_operator
    draw = bpy.types.Menu.draw_preset


class OBJECT_MT_pbd_cloth_materials(MaterialMenu, bpy.types.Menu):
    """What the cloth is made of"""

    bl_label = "Cloth Presets"
    preset_subdir = presets.CLOTH
    preset_operator_defaults = OBJECT_PT_pbd_cloth_presets.preset_operator_defaults


class OBJECT_MT_pbd_balloon_materials(MaterialMenu, bpy.types.Menu):
    """What the balloon is made of"""

    bl_label = "Balloon Presets"
    preset_subdir = presets.BALLOON
    preset_operator_defaults = OBJECT_PT_pbd_balloon_presets.preset_operator_defaults


def draw_header_icon(layout: Layout, obj: Object) -> None:
    """The preset icon of a panel's header."""
    panel = OBJECT_PT_pbd_balloon_presets if obj.pbd.type == "BALLOON" else OBJECT_PT_pbd_cloth_presets
    panel.draw_panel_header(layout)


def draw_chosen(layout: Layout, obj: Object) -> None:
    """The row with the name of the preset that the object has, which opens the menu."""
    name, is_unchanged = presets.chosen(obj.pbd)
    text = iface(name) if name else iface("Choose a Material")
    if name and not is_unchanged:
        text = iface("{name}, changed").format(name=text)
    menu = OBJECT_MT_pbd_balloon_materials if obj.pbd.type == "BALLOON" else OBJECT_MT_pbd_cloth_materials
    layout.menu(menu.__name__, text=text, icon="PRESET", translate=False)
