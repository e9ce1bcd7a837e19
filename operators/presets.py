"""Save and remove material presets through Blender's own preset system."""

from __future__ import annotations

import bpy
from bl_operators.presets import AddPresetBase

from ..pbd_addon.blender.settings import presets
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


register, unregister = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_cloth_preset_add, OBJECT_OT_pbd_balloon_preset_add)
)
