"""The cache on disk: take it up, copy it from elsewhere, delete its files."""

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result, Scene
from ..pbd_addon.blender.timeline import disk_cache, session
from . import checks
from .base import NO_UNDO, Action, rpt


def has_saved_file(_context: Context) -> checks.Why:
    """The file has a place on the disk, so that its cache has one too."""
    return "" if bpy.data.filepath else "Save the file first: its cache lies beside it"


def load(scene: Scene) -> str:
    """Take up the frames on disk; returns which there are, raises `PBDError`."""
    scene.pbd.use_disk_cache = True
    why = session.load_from_disk(scene)
    if why:
        raise PBDError(why)
    running = session.get(scene)
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
    return rpt("Frames {first} to {last} loaded").format(first=running.first_frame, last=running.last_frame)


class OBJECT_OT_pbd_disk_cache_load(Action, bpy.types.Operator):
    """Show the frames that are on disk, if the scene is as it was when they were simulated"""

    bl_idname = "object.pbd_disk_cache_load"
    bl_label = "Load Disk Cache"
    bl_options = NO_UNDO
    needs = (has_saved_file,)

    def run(self, context: Context) -> str:
        return load(context.scene)


class OBJECT_OT_pbd_disk_cache_find(Action, bpy.types.Operator):
    """Copy a cache from another folder to its place beside this file, and show its frames"""

    bl_idname = "object.pbd_disk_cache_find"
    bl_label = "Find Disk Cache"
    bl_options = NO_UNDO
    needs = (has_saved_file,)

    directory: bpy.props.StringProperty(
        name="Folder",
        description="Folder with the files of the cache",
        subtype="DIR_PATH",
        options={"SKIP_SAVE"},
    )
    filter_folder: bpy.props.BoolProperty(default=True, options={"HIDDEN", "SKIP_SAVE"})

    def invoke(self, context: Context, _event: Event) -> Result:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: Context) -> str:
        try:
            disk_cache.bring(context.scene, bpy.path.abspath(self.directory))
        except OSError as error:
            said = rpt("The cache could not be copied: {reason}")
            raise PBDError(said.format(reason=error.strerror or error)) from error
        return load(context.scene)


class OBJECT_OT_pbd_disk_cache_delete(Action, bpy.types.Operator):
    """Delete the frames on disk that belong to this scene of this file, and stop writing them. Frames in memory stay"""

    bl_idname = "object.pbd_disk_cache_delete"
    bl_label = "Delete Disk Cache"
    bl_options = NO_UNDO

    @staticmethod
    def has_cache(context: Context) -> checks.Why:
        return "" if disk_cache.is_on_disk(context.scene) else "There is no cache on disk"

    needs = (has_cache,)

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

    def run(self, context: Context) -> None:
        try:
            left = session.delete_from_disk(context.scene)
        except OSError as error:
            said = rpt("The cache could not be deleted: {reason}")
            raise PBDError(said.format(reason=error.strerror or error)) from error
        if left:
            said = rpt("{names} stay in the folder, because nothing says that they are of a cache")
            self.report({"WARNING"}, said.format(names=", ".join(left[:4]) + (" …" if len(left) > 4 else "")))
