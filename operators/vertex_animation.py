"""Export textures with which a game engine moves a mesh."""

import bpy

from ..pbd_addon.blender.baking import export, vertex_animation
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.blender.settings import properties
from . import checks
from .bake import frames_to_bake
from .base import NO_UNDO, Action, rpt

ENGINES = (
    ("UNREAL", "Unreal", "X, -Y and Z in centimeters; texture coordinates begin at the top"),
    ("UNITY", "Unity", "-X, Z and -Y in meters, as glTFast imports; texture coordinates begin at the bottom"),
    ("GODOT", "Godot", "X, Z and -Y in meters, as in glTF; texture coordinates begin at the top"),
)
TEXTURES = (
    ("EXR", "OpenEXR", "Numbers of 32 bits, as simulated"),
    ("PNG", "PNG", "Numbers of 16 bits between the least and the largest: half the memory"),
)


class OBJECT_OT_pbd_export_vertex_animation(Action, bpy.types.Operator):
    """Write the selected PBD objects as a mesh, and textures with which a shader moves it; simulate what is missing"""

    bl_idname = "object.pbd_export_vertex_animation"
    bl_label = "Vertex Animation Texture"
    bl_options = NO_UNDO
    needs = (checks.is_free, checks.in_object_mode, checks.has_body)

    engine: bpy.props.EnumProperty(name="Engine", description="Whose axes and units the textures have", items=ENGINES)
    texture: bpy.props.EnumProperty(name="Texture", description="How exact the textures are", items=TEXTURES)
    filepath: bpy.props.StringProperty(
        name="File Path",
        description="File to write",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"} | properties.RELATIVE_PATHS,
    )
    filter_glob: bpy.props.StringProperty(default="*.json", options={"HIDDEN", "SKIP_SAVE"})
    check_existing: bpy.props.BoolProperty(default=True, options={"HIDDEN"})

    def invoke(self, context: Context, _event: Event) -> Result:
        try:
            export.check_exporter("GLTF")
        except PBDError as error:  # before the user has chosen a file
            return self.fail(context, error)
        if not self.filepath:
            stem = bpy.data.filepath.removesuffix(".blend") if bpy.data.filepath else ""
            self.filepath = vertex_animation.with_extension(stem or bpy.path.clean_name(context.object.name))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def check(self, _context: Context) -> bool:
        """Give the file its extension."""
        path = vertex_animation.with_extension(self.filepath)
        changed, self.filepath = path != self.filepath, path
        return changed

    def run(self, context: Context) -> str:
        objects = checks.bodies(context)
        manager = context.window_manager
        if not self.filepath:
            raise PBDError("Choose a file to export to")
        first, last = frames_to_bake(context)
        work = vertex_animation.start(context, objects, self.filepath, self.engine, self.texture, first, last)
        manager.progress_begin(first, last + 1)
        count = 0
        try:
            while True:
                manager.progress_update(next(work).frame)
        except StopIteration as end:
            count = end.value
        finally:
            manager.progress_end()
        said = rpt("{count} frames of {objects} exported")
        return said.format(count=count, objects=checks.describe(objects))
