"""Export what the simulation says of each frame."""

import bpy

from ..pbd_addon.blender.baking import metrics
from ..pbd_addon.blender.kinds import Context
from . import checks
from .base import NO_UNDO, Action, rpt
from .file_choice import WritesFile


class OBJECT_OT_pbd_export_metrics(WritesFile, Action, bpy.types.Operator):
    """Write a table of the simulated frames: time, strain, energies, contacts and crossings of each"""

    bl_idname = "object.pbd_export_metrics"
    bl_label = "Metrics"
    bl_options = NO_UNDO
    needs = (checks.is_free, checks.has_body)

    def extended(self, path: str) -> str:
        return metrics.with_extension(path)

    def subject(self, context: Context) -> str:
        return context.scene.name

    def run(self, context: Context) -> str:
        count = metrics.write(context.scene, self.chosen())
        return rpt("Figures of {count} frames written").format(count=count)
