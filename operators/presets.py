"""Save and remove material presets through Blender's own preset system."""

import os

import bpy
from bl_operators.presets import AddPresetBase
from bpy.app.translations import pgettext_tip as tip

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.settings import presets
from . import checks
from .base import NO_UNDO, Action, rpt


class AddMaterialPreset(AddPresetBase, Action):
    """What the two preset operators share: the settings are those of the active object."""

    preset_defines = ["material = bpy.context.object.pbd"]
    needs = (checks.is_active_body,)


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


class OBJECT_OT_pbd_preset(Action, bpy.types.Operator):
    """Give the active object this material; in scripts, one of yours or a shipped one by its name"""

    bl_idname = "object.pbd_preset"
    bl_label = "Apply Preset"
    bl_options = NO_UNDO  # Blender's own operator makes the undo step, see panels/presets.py.
    needs = (checks.is_active_body,)

    name: bpy.props.StringProperty(name="Name", options={"HIDDEN", "SKIP_SAVE"})
    filepath: bpy.props.StringProperty(name="File", options={"HIDDEN", "SKIP_SAVE"})
    menu_idname: bpy.props.StringProperty(name="Menu", options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def description(cls, _context: Context, properties: bpy.types.OperatorProperties) -> str:
        """What this material is for, and where its figures are from."""
        name = bpy.path.display_name(os.path.basename(properties.filepath), title_case=False)
        return presets.about(name) if name in presets.PRESETS else tip("A material of yours")

    def run(self, context: Context) -> None:
        if self.name in presets.PRESETS:
            context.object.pbd.apply_preset(self.name)
            return
        if self.name:
            self.filepath, kind = presets.find_file(self.name)
            if not self.filepath:
                raise PBDError(rpt("There is no material '{name}'").format(name=self.name))
            self.menu_idname = f"OBJECT_PT_{kind}_presets"
        if not os.path.isfile(self.filepath) or not hasattr(bpy.types, self.menu_idname):
            raise PBDError(rpt("Choose a material by its name"))
        bpy.ops.script.execute_preset(filepath=self.filepath, menu_idname=self.menu_idname)
