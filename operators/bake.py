"""Bake the simulation into what plays without the add-on, here or in a second Blender, and take the bake away again."""

import os
from collections.abc import Generator

import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.baking import background_bake, bake, mesh_cache
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Object, Result
from ..pbd_addon.blender.settings import properties
from ..pbd_addon.blender.timeline import session
from . import checks
from .base import NO_UNDO, Action, rpt
from .frame_by_frame import FrameByFrame


def to_bake(context: Context) -> list[Object]:
    """The live PBD objects among the active and the selected, or all of the scene when there is none."""
    chosen = checks.bodies(context) or session.bodies(context.scene)
    return [obj for obj in chosen if obj.pbd.active and not obj.pbd.baked]


def frames_to_bake(context: Context) -> tuple[int, int]:
    """First and last frame; raises `PBDError` if there are none."""
    first, last = session.frame_range(context.scene)
    if last < first:
        raise PBDError(f"The simulation range is empty ({first} to {last})")
    return first, last


def has_something_to_bake(context: Context) -> checks.Why:
    """Something of what is chosen is live."""
    return "" if to_bake(context) else "Baked: delete the bake first"


CAN_BAKE = (*checks.FREE_AND_LIVE, has_something_to_bake)

MODE = bpy.props.EnumProperty(
    name="Mode", description="How the bake is kept and played", items=properties.BAKE_MODES, default="ABSOLUTE"
)


class OBJECT_OT_pbd_bake(FrameByFrame, bpy.types.Operator):
    """Simulate the frame range and keep it as shape keys or a PC2 file. The result plays without this extension"""

    bl_idname = "object.pbd_bake"
    bl_label = "Bake"
    needs = CAN_BAKE

    mode: MODE

    _first = _who = ""

    def start(self, context: Context) -> Generator[session.BakeProgress, None, None]:
        objects = to_bake(context)
        self._first, self._who = objects[0].name, checks.describe(objects)
        return bake.start(context.scene, objects, self.mode, *frames_to_bake(context))

    def done(self, context: Context) -> str:
        pbd = context.scene.objects[self._first].pbd
        said = rpt("{count} frames of {objects} baked")
        return said.format(count=pbd.bake_end - pbd.bake_start + 1, objects=self._who)


class OBJECT_OT_pbd_delete_bake(Action, bpy.types.Operator):
    """Remove the baked shape keys with their animation, or the modifier of the bake; the objects are live again"""

    bl_idname = "object.pbd_delete_bake"
    bl_label = "Delete Bake"

    with_files: bpy.props.BoolProperty(
        name="Delete File Too",
        description="Delete Bake removes the PC2 file from the disk as well; undo does not bring it back",
        options={"SKIP_SAVE"},  # Asked each time, and in no file.
    )

    @staticmethod
    def files(context: Context) -> list[str]:
        """The files that bakes to be deleted play, as paths of the operating system."""
        baked = [obj for obj in checks.bodies(context) if obj.pbd.baked and obj.pbd.bake_modifier]
        return [mesh_cache.absolute(path) for path in map(mesh_cache.file_of, baked) if path]

    def invoke(self, context: Context, _event: Event) -> Result:
        if not self.files(context):
            return self.execute(context)
        self.with_files = False
        return context.window_manager.invoke_props_dialog(self, width=500)

    def draw(self, context: Context) -> None:
        paths = self.files(context)
        if paths:
            self.layout.prop(self, "with_files")
        for path in paths:
            self.layout.label(text=error_sentences.printable(path), icon="FILE_CACHE", translate=False)

    @staticmethod
    def has_bake(context: Context) -> checks.Why:
        return "" if any(obj.pbd.baked for obj in checks.bodies(context)) else "No bake to delete"

    needs = (has_bake, checks.in_object_mode)

    def run(self, context: Context) -> None:
        objects = [obj for obj in checks.bodies(context) if obj.pbd.baked]
        try:
            bake.delete(context.scene, objects, self.with_files)
        except PBDError as error:
            if any(obj.pbd.baked for obj in objects):
                raise
            self.report({"WARNING"}, error_sentences.in_users_language(str(error)))


class OBJECT_OT_pbd_bake_background(Action, bpy.types.Operator):
    """Bake a copy of the file in a second Blender while you keep working. Later changes are not included"""

    bl_idname = "object.pbd_bake_background"
    bl_label = "Bake in Background"
    bl_options = NO_UNDO

    mode: MODE

    @staticmethod
    def has_blender(_context: Context) -> checks.Why:
        if background_bake.job() is not None:
            return "A bake is running in the background"
        return "" if os.path.isfile(bpy.app.binary_path) else "There is no Blender program to start: use Bake"

    needs = (has_blender, *CAN_BAKE)

    def run(self, context: Context) -> None:
        frames = frames_to_bake(context)
        background_bake.start(context.scene, to_bake(context), self.mode, *frames)


class OBJECT_OT_pbd_cancel_background(Action, bpy.types.Operator):
    """Cancel the bake in the background; nothing of it is kept"""

    bl_idname = "object.pbd_cancel_background"
    bl_label = "Cancel"
    bl_options = NO_UNDO

    @staticmethod
    def has_job(_context: Context) -> checks.Why:
        return "No bake is running in the background" if background_bake.job() is None else ""

    needs = (has_job,)

    def run(self, _context: Context) -> None:
        background_bake.cancel()
