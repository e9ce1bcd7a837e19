"""Splitting a mesh where it can tear."""

from typing import cast

import bmesh
import bpy
import numpy as np

from ..errors import PBDError
from ..kinds import Object
from ..output.output_modifier import TEAR_WELD
from ..read import mesh_io
from ..scene import linked

USUAL_STRAIN = 0.1
"""Strain at which cloth tears when no strength is set: cotton breaks at 3 to 10 %, jersey at much more (Morton and
Hearle, Physical Properties of Textile Fibres)."""

WELDED = 1e-3
"""Distance in usual edges below which it does so; lips of a tear are 0.01 apart at once."""


def split(obj: Object, where: str) -> int:
    """Split the mesh of a cloth along the edges that `where` means, see `edges_of`; the number of its vertices then.

    It gets a strength if it has none, and a modifier that shades what holds together as one surface. Raises a
    `PBDError` if it cannot be changed, or there is no such edge.
    """
    after, edge = _split_mesh(obj, where)
    obj.pbd.join_borders = False  # keyed to 0, the strength lets go
    if not obj.pbd.tear_strength:
        obj.pbd.tear_strength = USUAL_STRAIN * obj.pbd.stretch
    if TEAR_WELD not in obj.modifiers:
        weld = cast(bpy.types.WeldModifier, obj.modifiers.new(TEAR_WELD, "WELD"))
        weld.merge_threshold = WELDED * edge
        weld.show_expanded = False
    return after


def _split_mesh(obj: Object, where: str) -> tuple[int, float]:
    """Its vertices then, and its median edge, not scaled."""
    is_edited = obj.mode == "EDIT"
    problem = linked.problem(obj)
    if obj.pbd.baked:
        problem = f"'{obj.name}' is baked: delete the bake first"
    if problem:
        raise PBDError(problem)
    if not is_edited:
        mesh_io.check_mesh(obj)
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
    """The edges of a mesh: "SELECTED", "SEAM", "SHARP", inside of the active "GROUP", or "EVERYWHERE"."""
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
