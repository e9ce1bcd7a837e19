"""Save and remove material presets through Blender's own preset system."""

from __future__ import annotations

import os
from typing import Any

import bpy
from bl_operators.presets import AddPresetBase
from bpy.app.translations import pgettext_tip as tip

from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.settings import presets
from ..pbd_addon.presets import ABOUT
from . import checks


class AddMaterialPreset(AddPresetBase):
    """What the two preset operators share: the settings are those of the active object."""

    preset_defines = ["material = bpy.context.object.pbd"]

    @classmethod
    def poll(cls: type[bpy.types.Operator], context: bpy.types.Context) -> bool:
        return checks.is_active_body(cls, context)


class OBJECT_OT_pbd_cloth_preset_add(AddMaterialPreset, bpy.types.Operator):
    """Save the fabric of the active object as a preset, or remove a preset of yours"""

    bl_idname = "object.pbd_cloth_preset_add"
    bl_label = "Add Cloth Preset"
    preset_menu = "OBJECT_PT_pbd_cloth_presets"
    preset_subdir = presets.CLOTH
    preset_values = [f"material.{name}" for name in presets.fields(presets.CLOTH)]


class OBJECT_OT_pbd_balloon_preset_add(AddMaterialPreset, bpy.types.Operator):
    """Save the skin and pressure of the active object as a preset, or remove a preset of yours"""

    bl_idname = "object.pbd_balloon_preset_add"
    bl_label = "Add Balloon Preset"
    preset_menu = "OBJECT_PT_pbd_balloon_presets"
    preset_subdir = presets.BALLOON
    preset_values = [f"material.{name}" for name in presets.fields(presets.BALLOON)]


class OBJECT_OT_pbd_preset(bpy.types.Operator):
    """Give the active object this material"""

    bl_idname = "object.pbd_preset"
    bl_label = "Apply Preset"
    bl_options = {"REGISTER"}  # Blender's own operator makes the undo step, see panels/presets.py.

    filepath: bpy.props.StringProperty(name="File", options={"HIDDEN", "SKIP_SAVE"})
    menu_idname: bpy.props.StringProperty(name="Menu", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What this material is for."""
        name = bpy.path.display_name(os.path.basename(properties.filepath), title_case=False)
        return tip(ABOUT.get(name, "A material of yours"))

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.is_active_body(cls, context)

    def execute(self, _context: Context) -> Result:
        bpy.ops.script.execute_preset(filepath=self.filepath, menu_idname=self.menu_idname)
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_cloth_preset_add, OBJECT_OT_pbd_balloon_preset_add, OBJECT_OT_pbd_preset)
)
