"""Export the simulation for other programs, and count the keys that games will get."""

from collections.abc import Generator

import bpy
from bpy.app.translations import pgettext_tip as tip

from ..pbd_addon.blender.baking import export, key_plan
from ..pbd_addon.blender.kinds import Context
from . import checks
from .bake import CAN_BAKE, frames_to_bake, to_bake
from .base import NO_UNDO, Action, rpt
from .file_choice import WritesFile
from .frame_by_frame import FrameByFrame

FORMATS = (
    ("ALEMBIC", "Alembic", "Every vertex of every frame: films, other 3D programs"),
    ("USD", "USD", "Every vertex of every frame: films, other 3D programs, some engines"),
    ("GLTF", "glTF", "Few morph targets with animated weights: games and the web"),
)


class OBJECT_OT_pbd_count_keys(FrameByFrame, bpy.types.Operator):
    """Simulate the frame range and count the reduced keys that it takes; nothing is written"""

    bl_idname = "object.pbd_count_keys"
    bl_label = "Count Keys"
    bl_options = NO_UNDO
    needs = CAN_BAKE

    _verb = "count"
    _names: tuple[str, ...] = ()

    def start(self, context: Context) -> Generator:
        objects = to_bake(context)
        self._names = tuple(obj.name for obj in objects)
        return key_plan.start(context.scene, objects, *frames_to_bake(context))

    def done(self, context: Context) -> str:
        objects = [context.scene.objects[name] for name in self._names if name in context.scene.objects]
        plans = [plan for plan in (key_plan.get(context.scene, obj) for obj in objects) if plan is not None]
        total, error = sum(plan.total for plan in plans), max((plan.error for plan in plans), default=0.0)
        return rpt("{count} reduced keys, off by {error:.2g} mm at most").format(count=total, error=1000.0 * error)


class OBJECT_OT_pbd_export(WritesFile, Action, bpy.types.Operator):
    """Write the selected PBD objects, and what else is selected, for other programs; simulate what is missing"""

    bl_idname = "object.pbd_export"
    bl_label = "Export Animation"
    bl_options = NO_UNDO
    needs = (checks.is_free, checks.in_object_mode, checks.has_body)

    format: bpy.props.EnumProperty(name="Format", items=FORMATS, default="ALEMBIC", options={"HIDDEN"})

    @classmethod
    def description(cls, _context: Context, chosen: bpy.types.OperatorProperties) -> str:
        about = {identifier: text for identifier, _name, text in FORMATS}
        sentence = tip("{about}. Writes what is selected; simulates what is missing")
        return sentence.format(about=tip(about[chosen.format]))

    def extended(self, path: str) -> str:
        return export.with_extension(path, self.format)

    def can_write(self) -> None:
        export.check_exporter(self.format)

    def patterns(self) -> str:
        return ";".join(f"*{known}" for known in export.ACCEPTED[self.format])

    def run(self, context: Context) -> str:
        objects = checks.bodies(context)
        others = [obj for obj in context.selected_objects if obj not in objects]
        manager = context.window_manager
        path = self.chosen()
        first, last = export.loop_of(objects) or frames_to_bake(context)
        manager.progress_begin(first, last + 1)
        try:
            for progress in export.start(context, objects, others, self.format, path, first, last):
                manager.progress_update(progress.frame)
        finally:
            manager.progress_end()
        said = rpt("{count} frames of {objects} exported")
        return said.format(count=last - first + 1, objects=checks.describe(objects))
