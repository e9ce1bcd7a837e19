"""File > Import > Sewing Pattern: panels in their places, with their seams, as cloth."""

from pathlib import Path

import bpy
from bpy_extras.object_utils import object_data_add
from mathutils import Matrix

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Event, Result
from ..pbd_addon.blender.scene import pattern_mesh
from ..pbd_addon.blender.settings import properties
from ..pbd_addon.blender.timeline import cost_estimate
from ..pbd_addon.meshes.panels import raised
from . import body
from .base import Action, rpt
from .primitives import AddBody

WAIST = "lower_interface"
"""Label of the sides that GarmentCode holds at the waist while it sews."""

SHOWN = 3
"""How many things that are not read a message names."""


class OBJECT_OT_pbd_import_pattern(Action, bpy.types.Operator):
    """Import a sewing pattern as cloth: the panels of a JSON file of GarmentCode, or the closed paths of an SVG file"""

    bl_idname = "object.pbd_import_pattern"
    bl_label = "Import Sewing Pattern"
    needs = AddBody.needs

    filepath: bpy.props.StringProperty(
        name="File Path",
        description="File to read",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"} | properties.RELATIVE_PATHS,
    )
    filter_glob: bpy.props.StringProperty(default="*.json;*.svg", options={"HIDDEN"})
    edge: bpy.props.FloatProperty(
        name="Edge Length",
        description="Length of the edges of the mesh. A shirt 0.02 m, for fine folds 0.01 m",
        default=0.02,
        min=0.0005,
        soft_min=0.005,
        soft_max=0.1,
        subtype="DISTANCE",
        precision=4,
    )

    waist: bpy.props.FloatProperty(
        name="Waist Height",
        description="Height of the sides that GarmentCode holds at the waist. mean_all.obj 1.09 m; 0 m as in the file",
        default=0.0,
        min=0.0,
        soft_max=2.0,
        subtype="DISTANCE",
        precision=3,
    )

    def invoke(self, context: Context, _event: Event) -> Result:
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context: Context) -> str:
        if not self.filepath:
            raise PBDError("Choose a file to import")
        path = Path(bpy.path.abspath(self.filepath))
        name = path.stem.removesuffix("_specification")
        pattern = pattern_mesh.read(path)
        if self.waist > 0.0:
            pattern = raised(pattern, WAIST, self.waist)
        sewn = pattern_mesh.mesh(pattern, self.edge, path.name)
        obj = object_data_add(context, pattern_mesh.make(sewn, name))
        if obj.mode == "EDIT":  # A preference of the user; a body in Edit Mode cannot be simulated.
            bpy.ops.object.mode_set(mode="OBJECT")
        obj.matrix_world = Matrix()
        pattern_mesh.add_groups(obj, sewn.groups)
        body.make_body(obj, "CLOTH")
        obj.pbd.sewing = obj.pbd.sew_first = bool(len(sewn.seams))
        for sentence in filter(None, (cost_estimate.sentence(context.scene), body.lock_interface(context.scene))):
            self.report({"INFO"}, sentence)
        if pattern.unread:
            self.report({"WARNING"}, not_read(pattern.unread))
        said = rpt("{panels} panels with {stitches} stitches imported, {vertices} vertices")
        return said.format(panels=len(pattern.panels), stitches=len(pattern.stitches), vertices=f"{len(sewn.flat):,}")


def not_read(names: list[str]) -> str:
    """What a file holds that was left out, one sentence."""
    listed = ", ".join(names[:SHOWN])
    if len(names) <= SHOWN:
        return rpt("Not read: {names}").format(names=listed)
    return rpt("Not read: {names} and {count} more").format(names=listed, count=len(names) - SHOWN)


def draw_menu(self: bpy.types.Menu, _context: Context) -> None:
    """The row of File > Import."""
    self.layout.operator(OBJECT_OT_pbd_import_pattern.bl_idname, text="Sewing Pattern (.json, .svg)")


def register() -> None:
    """Put the operator into File > Import."""
    bpy.types.TOPBAR_MT_file_import.append(draw_menu)


def unregister() -> None:
    """Undo `register`."""
    bpy.types.TOPBAR_MT_file_import.remove(draw_menu)
