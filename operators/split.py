"""Split the mesh of a cloth where it can tear."""

from __future__ import annotations

import bmesh
import bpy
import numpy as np

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object, Result
from ..pbd_addon.blender.output.output_modifier import TEAR_WELD
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.timeline import session
from . import checks
from .checks import rpt

USUAL_STRAIN = 0.1
"""Strain at which cloth tears when no strength is set: cotton breaks at 3 to 10 %, jersey at much more (Morton and
Hearle, Physical Properties of Textile Fibres)."""

WELDED = 1e-3
"""Distance in usual edges below which it does so; lips of a tear are 0.01 apart at once."""

ITEMS = (
    ("EVERYWHERE", "Everywhere", "Each face can tear off"),
    ("SELECTED", "Selected Edges", "Along the edges that are selected in Edit Mode"),
    ("SEAM", "Marked Seams", "Along the edges with Mark Seam"),
    ("SHARP", "Sharp Edges", "Along the edges with Mark Sharp"),
    ("GROUP", "Vertex Group", "Along the edges inside of the active vertex group"),
)


class OBJECT_OT_pbd_split(bpy.types.Operator):
    """Split the mesh along edges where it can tear; until its Tear Strength is exceeded, it holds together as before"""

    bl_idname = "object.pbd_split"
    bl_label = "Split for Tearing"
    bl_options = {"REGISTER", "UNDO"}

    where: bpy.props.EnumProperty(name="Where", description="Which edges can tear", items=ITEMS, default="EVERYWHERE")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return checks.is_active_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        before = len(obj.data.vertices)
        try:
            after, edge = split(obj, self.where)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        if not obj.pbd.tear_strength:
            obj.pbd.tear_strength = USUAL_STRAIN * obj.pbd.stretch
        if TEAR_WELD not in obj.modifiers:
            weld = obj.modifiers.new(TEAR_WELD, "WELD")
            weld.merge_threshold = WELDED * edge
            weld.show_expanded = False
        session.clear_cache(context.scene)
        said = rpt("{before} vertices are {after} now")
        self.report({"INFO"}, said.format(before=f"{before:,}", after=f"{after:,}"))
        return {"FINISHED"}


def split(obj: Object, where: str) -> tuple[int, float]:
    """Split the mesh of an object along edges, one of `ITEMS`; its vertices then, and its median edge, not scaled.

    Raises:
        PBDError: It cannot be changed, or there is no such edge.
    """
    is_edited = obj.mode == "EDIT"
    problem = linked.problem(obj) or ("" if is_edited else checks.mesh_problem(obj))
    if obj.pbd.baked:
        problem = f"'{obj.name}' is baked: delete the bake first"
    if problem:
        raise PBDError(problem)
    geometry = bmesh.from_edit_mesh(obj.data) if is_edited else bmesh.new()
    try:
        if not is_edited:
            geometry.from_mesh(obj.data)
        edges = [edge for edge in edges_of(obj, geometry, where) if len(edge.link_faces) > 1]
        before = len(geometry.verts)
        bmesh.ops.split_edges(geometry, edges=edges)
        if len(geometry.verts) == before:
            raise PBDError(f"Nothing of '{obj.name}' was split: mark a row of edges that leads to a border, or a loop")
        after, edge = len(geometry.verts), float(np.median([edge.calc_length() for edge in geometry.edges]))
        if is_edited:
            bmesh.update_edit_mesh(obj.data)
        else:
            geometry.to_mesh(obj.data)
            obj.data.update()
        return after, edge
    finally:
        if not is_edited:
            geometry.free()


def edges_of(obj: Object, geometry: bmesh.types.BMesh, where: str) -> list[bmesh.types.BMEdge]:
    """The edges of a mesh that one of `ITEMS` means."""
    if where == "SELECTED":
        return [edge for edge in geometry.edges if edge.select]
    if where == "SEAM":
        return [edge for edge in geometry.edges if edge.seam]
    if where == "SHARP":
        return [edge for edge in geometry.edges if not edge.smooth]
    if where == "GROUP":
        layer, group = geometry.verts.layers.deform.active, obj.vertex_groups.active_index
        if layer is None or group < 0:
            return []
        return [edge for edge in geometry.edges if all(vertex[layer].get(group, 0.0) > 0.0 for vertex in edge.verts)]
    return geometry.edges[:]


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_split,))
