"""Export what the simulation says of each frame."""

import bpy

from ..pbd_addon.blender.baking import metrics
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.blender.settings import properties
from . import checks
from .base import NO_UNDO, Action, rpt


class OBJECT_OT_pbd_export_metrics(Action, bpy.types.Operator):
    """Write a table of the simulated frames: time, strain, energies, contacts and crossings of each"""

    bl_idname = "object.pbd_export_metrics"
    bl_label = "Metrics"
    bl_options = NO_UNDO
    needs = (checks.is_free, checks.has_body)

    filepath: bpy.props.StringProperty(
        name="File Path",
        description="File to write",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"} | properties.RELATIVE_PATHS,
    )
    filter_glob: bpy.props.StringProperty(default="*.csv", options={"HIDDEN", "SKIP_SAVE"})
    check_existing: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context: Context, _event: Event) -> Result:
        if not self.filepath:
            stem = bpy.data.filepath.removesuffix(".blend") if bpy.data.filepath else ""
            self.filepath = metrics.with_extension(stem or bpy.path.clean_name(context.scene.name))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: Context) -> str:
        if not self.filepath:
            raise PBDError("Choose a file to export to")
        count = metrics.write(context.scene, self.filepath)
        return rpt("Figures of {count} frames written").format(count=count)
