"""What operators share that write a file which the user chooses."""

from typing import TYPE_CHECKING

import bpy

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.blender.settings import properties

if TYPE_CHECKING:
    from .base import Action as Mixin
else:
    Mixin = object  # Blender wants each operator to inherit from its own class once.


class WritesFile(Mixin):
    """Fields of the file dialog, and how it opens: with a name after the file, or else after what is written."""

    filepath: bpy.props.StringProperty(
        name="File Path",
        description="File to write",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"} | properties.RELATIVE_PATHS,
    )
    filter_glob: bpy.props.StringProperty(options={"HIDDEN", "SKIP_SAVE"})
    check_existing: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def extended(self, path: str) -> str:
        """The path with the extension of what is written."""
        raise NotImplementedError

    def can_write(self) -> None:
        """Raises a `PBDError` where nothing could be written, before the user has chosen a file."""

    def patterns(self) -> str:
        """Which files the dialog shows."""
        return f"*{self.extended('')}"

    def subject(self, context: Context) -> str:
        """What an unsaved file's data is called."""
        return context.object.name

    def invoke(self, context: Context, _event: Event) -> Result:
        try:
            self.can_write()
        except PBDError as error:
            return self.fail(context, error)
        if not self.filepath:
            stem = bpy.data.filepath.removesuffix(".blend") if bpy.data.filepath else ""
            self.filepath = self.extended(stem or bpy.path.clean_name(self.subject(context)))
        self.filter_glob = self.patterns()
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, _context: Context) -> bool:
        """Give the file its extension."""
        path = self.extended(self.filepath)
        changed, self.filepath = path != self.filepath, path
        return changed

    def chosen(self) -> str:
        """The file that the user has chosen."""
        if not self.filepath:
            raise PBDError("Choose a file to export to")
        return self.filepath
