"""The cache on disk: take it up, copy it from elsewhere, delete its files."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result, Scene
from ..pbd_addon.blender.timeline import disk_cache, session
from .checks import rpt


def has_saved_file(cls: type[bpy.types.Operator]) -> bool:
    """Poll: the file has a place on the disk, so that its cache has one too."""
    if not bpy.data.filepath:
        cls.poll_message_set("Save the file first: its cache lies beside it")
        return False
    return True


def load(operator: bpy.types.Operator, scene: Scene) -> Result:
    """Take up the frames on disk; report how that went."""
    why = session.load_from_disk(scene)
    if why:
        operator.report({"ERROR"}, error_sentences.in_users_language(why))
        return {"CANCELLED"}
    running = session.get(scene)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    said = rpt("Frames {first} to {last} loaded")
    operator.report({"INFO"}, said.format(first=running.first_frame, last=running.last_frame))
    return {"FINISHED"}


class OBJECT_OT_pbd_disk_cache_load(bpy.types.Operator):
    """Show the frames that are on disk, if the scene is as it was when they were simulated"""

    bl_idname = "object.pbd_disk_cache_load"
    bl_label = "Load Disk Cache"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_saved_file(cls)

    def execute(self, context: Context) -> Result:
        context.scene.pbd.use_disk_cache = True
        return load(self, context.scene)


class OBJECT_OT_pbd_disk_cache_find(bpy.types.Operator):
    """Copy a cache from another folder to its place beside this file, and show its frames"""

    bl_idname = "object.pbd_disk_cache_find"
    bl_label = "Find Disk Cache"
    bl_options = {"REGISTER"}

    directory: bpy.props.StringProperty(
        name="Folder",
        description="Folder with the files of the cache",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_saved_file(cls)

    def invoke(self, context: Context, _event: Event) -> Result:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def execute(self, context: Context) -> Result:
        try:
            disk_cache.bring(context.scene, bpy.path.abspath(self.directory))
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        except OSError as error:
            said = rpt("The cache could not be copied: {reason}")
            self.report({"ERROR"}, said.format(reason=error.strerror or error))
            return {"CANCELLED"}
        context.scene.pbd.use_disk_cache = True
        return load(self, context.scene)


class OBJECT_OT_pbd_disk_cache_delete(bpy.types.Operator):
    """Delete the frames on disk that belong to this scene of this file, and stop writing them. Frames in memory stay"""

    bl_idname = "object.pbd_disk_cache_delete"
    bl_label = "Delete Disk Cache"
    bl_options = {"REGISTER"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not disk_cache.is_on_disk(context.scene):
            cls.poll_message_set("There is no cache on disk")
            return False
        return True

    def invoke(self, context: Context, event: Event) -> Result:
        return context.window_manager.invoke_confirm(
            self,
            event,
            title=iface("Delete the cache from the disk?"),
            message=self.consequence(context.scene),
            confirm_text=iface("Delete"),
            translate=False,
        )

    @staticmethod
    def consequence(scene: Scene) -> str:
        """What becomes of the simulated frames."""
        if session.needs_disk(scene):
            return iface("They exist only there and will have to be simulated again")
        return iface("The frames in memory stay")

    def execute(self, context: Context) -> Result:
        try:
            session.delete_from_disk(context.scene)
        except OSError as error:
            said = rpt("The cache could not be deleted: {reason}")
            self.report({"ERROR"}, said.format(reason=error.strerror or error))
            return {"CANCELLED"}
        return {"FINISHED"}


register, unregister = bpy.utils.register_classes_factory(
    (OBJECT_OT_pbd_disk_cache_load, OBJECT_OT_pbd_disk_cache_find, OBJECT_OT_pbd_disk_cache_delete)
)
