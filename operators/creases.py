"""Set and clear creases along the edges that are selected in Edit Mode."""

from __future__ import annotations

import math
from typing import Any

import bmesh
import bpy

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.read.mesh_io import CREASE_ANGLE, CREASE_STIFFNESS
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.timeline import session
from .pins import edited_body


class OBJECT_OT_pbd_set_crease(bpy.types.Operator):
    """Fold the cloth at rest along the selected edges: pleats, ironed creases, folded paper"""

    bl_idname = "object.pbd_set_crease"
    bl_label = "Set Crease"
    bl_options = {"REGISTER", "UNDO"}

    angle: bpy.props.FloatProperty(
        name="Angle",
        description="Angle of the fold at rest: above 0 a ridge, seen from the front of the faces, below 0 a valley, "
        "0 flat. A pleat 120°",
        default=math.radians(90.0),
        min=-math.pi,
        max=math.pi,
        subtype="ANGLE",
    )
    stiffness: bpy.props.FloatProperty(
        name="Stiffness",
        description="Factor on Bending along the fold. A fold in paper 0.3, a pressed pleat 20",
        default=1.0,
        min=0.001,
        soft_max=100.0,
        max=1e5,
    )
    alternate: bpy.props.BoolProperty(
        name="Alternate",
        description="Fold every other row of selected edges the opposite way",
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return edited_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        geometry = bmesh.from_edit_mesh(obj.data)
        try:
            edges = selected_edges(obj, geometry)
            sides = alternating(geometry, edges) if self.alternate else dict.fromkeys(edges, 1)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        layers = geometry.edges.layers.float
        for name in (CREASE_ANGLE, CREASE_STIFFNESS):
            if layers.get(name) is None:
                layers.new(name)
        edges = selected_edges(obj, geometry)  # New layers invalidate the edges of before.
        angle, stiffness = layers[CREASE_ANGLE], layers[CREASE_STIFFNESS]
        for edge, side in zip(edges, sides.values(), strict=True):
            edge[angle], edge[stiffness] = side * self.angle, self.stiffness
        bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
        session.clear_cache(context.scene)
        self.report({"INFO"}, f"{len(edges)} edges creased")
        return {"FINISHED"}


class OBJECT_OT_pbd_clear_crease(bpy.types.Operator):
    """Let the selected edges fold as the cloth around them"""

    bl_idname = "object.pbd_clear_crease"
    bl_label = "Clear Crease"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return edited_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        geometry = bmesh.from_edit_mesh(obj.data)
        try:
            edges = selected_edges(obj, geometry)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        for name in (CREASE_ANGLE, CREASE_STIFFNESS):
            layer = geometry.edges.layers.float.get(name)
            for edge in edges if layer is not None else ():
                edge[layer] = 0.0
        bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
        session.clear_cache(context.scene)
        return {"FINISHED"}


def selected_edges(obj: Any, geometry: Any) -> list[Any]:
    """The selected edges between two faces; raises `PBDError` if there are none."""
    foreign = linked.problem(obj)
    if foreign:
        raise PBDError(foreign)
    edges = [edge for edge in geometry.edges if edge.select and len(edge.link_faces) == 2]
    if not edges:
        raise PBDError("Select the edges to crease first, edges between two faces")
    return edges


def alternating(geometry: Any, edges: list[Any]) -> dict[Any, int]:
    """For each edge 1 or -1, the same along a row and different in neighboring rows.

    Raises:
        PBDError: Rows cannot alternate: they meet, or an odd number of them goes around.
    """
    chosen, patch = set(edges), {}
    for face in geometry.faces:  # Faces between the same rows form a patch.
        if face in patch:
            continue
        patch[face], open_faces = face, [face]
        while open_faces:
            for edge in open_faces.pop().edges:
                for other in edge.link_faces if edge not in chosen else ():
                    if other not in patch:
                        patch[other] = face
                        open_faces.append(other)
    beside: dict[Any, list[Any]] = {}
    for edge in edges:
        for face in edge.link_faces:
            beside.setdefault(patch[face], []).append(edge)
    sides: dict[Any, int] = {}
    for first in edges:
        if first in sides:
            continue
        sides[first], open_edges = 1, [first]
        while open_edges:
            edge = open_edges.pop()
            here = [patch[face] for face in edge.link_faces]
            for place in here:
                for other in beside[place]:
                    same = {patch[face] for face in other.link_faces} == set(here)
                    side = sides[edge] if same else -sides[edge]
                    if other not in sides:
                        sides[other] = side
                        open_edges.append(other)
                    elif sides[other] != side:
                        raise PBDError("The selected rows of edges cannot alternate: they meet, or their number is odd")
    return {edge: sides[edge] for edge in edges}


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_set_crease, OBJECT_OT_pbd_clear_crease))
