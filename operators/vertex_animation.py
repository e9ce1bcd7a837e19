"""Export textures with which a game engine moves a mesh."""

import bpy

from ..pbd_addon.blender.baking import export, vertex_animation
from ..pbd_addon.blender.kinds import Context
from . import checks
from .bake import frames_to_bake
from .base import NO_UNDO, Action, rpt
from .file_choice import WritesFile

ENGINES = (
    ("UNREAL", "Unreal", "X, -Y and Z in centimeters; texture coordinates begin at the top"),
    ("UNITY", "Unity", "-X, Z and -Y in meters, as glTFast imports; texture coordinates begin at the bottom"),
    ("GODOT", "Godot", "X, Z and -Y in meters, as in glTF; texture coordinates begin at the top"),
)
TEXTURES = (
    ("EXR", "OpenEXR", "Numbers of 32 bits, as simulated"),
    ("PNG", "PNG", "Numbers of 16 bits between the least and the largest: half the memory"),
)


class OBJECT_OT_pbd_export_vertex_animation(WritesFile, Action, bpy.types.Operator):
    """Write the selected PBD objects as a mesh, and textures with which a shader moves it; simulate what is missing"""

    bl_idname = "object.pbd_export_vertex_animation"
    bl_label = "Vertex Animation Texture"
    bl_options = NO_UNDO
    needs = (checks.is_free, checks.in_object_mode, checks.has_body)

    engine: bpy.props.EnumProperty(name="Engine", description="Whose axes and units the textures have", items=ENGINES)
    texture: bpy.props.EnumProperty(name="Texture", description="How exact the textures are", items=TEXTURES)

    def extended(self, path: str) -> str:
        return vertex_animation.with_extension(path)

    def can_write(self) -> None:
        export.check_exporter("GLTF")

    def run(self, context: Context) -> str:
        objects = checks.bodies(context)
        manager = context.window_manager
        path = self.chosen()
        first, last = frames_to_bake(context)
        work = vertex_animation.start(context, objects, path, self.engine, self.texture, first, last)
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
