"""Set and clear creases along the edges that are selected in Edit Mode."""

import math
from typing import Any

import bmesh
import bpy
import numpy as np

from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.read.mesh_io import CREASE_ANGLE, CREASE_STIFFNESS
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.timeline import session
from ..pbd_addon.meshes.mesh import connected_components
from . import checks
from .base import Action, rpt


class OBJECT_OT_pbd_set_crease(Action, bpy.types.Operator):
    """Fold the cloth at rest along the selected edges: pleats, ironed creases, folded paper"""

    bl_idname = "object.pbd_set_crease"
    bl_label = "Set Crease"
    needs = (checks.is_edited_body,)

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

    def run(self, context: Context) -> str:
        obj = context.object
        geometry = bmesh.from_edit_mesh(obj.data)
        edges = selected_edges(obj, geometry)
        sides = alternating(geometry, edges) if self.alternate else [1] * len(edges)
        layers: Any = geometry.edges.layers.float
        for name in (CREASE_ANGLE, CREASE_STIFFNESS):
            if layers.get(name) is None:
                layers.new(name)
        edges = selected_edges(obj, geometry)  # New layers invalidate the edges of before.
        angle, stiffness = layers[CREASE_ANGLE], layers[CREASE_STIFFNESS]
        for edge, side in zip(edges, sides, strict=True):
            edge[angle], edge[stiffness] = side * self.angle, self.stiffness
        bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
        session.clear_cache(context.scene)
        return rpt("{count} edges creased").format(count=len(edges))


class OBJECT_OT_pbd_clear_crease(Action, bpy.types.Operator):
    """Let the selected edges fold as the cloth around them"""

    bl_idname = "object.pbd_clear_crease"
    bl_label = "Clear Crease"
    needs = (checks.is_edited_body,)

    def run(self, context: Context) -> None:
        obj = context.object
        geometry = bmesh.from_edit_mesh(obj.data)
        edges = selected_edges(obj, geometry)
        for name in (CREASE_ANGLE, CREASE_STIFFNESS):
            layer = geometry.edges.layers.float.get(name)
            for edge in edges if layer is not None else ():
                edge[layer] = 0.0
        bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
        session.clear_cache(context.scene)


def selected_edges(obj: Any, geometry: Any) -> list[Any]:
    """The selected edges between two faces; raises `PBDError` if there are none."""
    linked.check(obj)
    edges = [edge for edge in geometry.edges if edge.select and len(edge.link_faces) == 2]
    if not edges:
        raise PBDError("Select the edges to crease first, edges between two faces")
    return edges


def alternating(geometry: Any, edges: list[Any]) -> list[int]:
    """For each edge 1 or -1, the same along a row of connected edges and different in neighboring rows.

    Raises a `PBDError` if more than two rows surround a part of the mesh, or an odd number of them goes around.
    """
    geometry.verts.index_update()
    geometry.faces.index_update()
    chosen = set(edges)
    vertices = np.array([[vertex.index for vertex in edge.verts] for edge in edges])
    row = np.unique(connected_components(vertices, len(geometry.verts))[vertices[:, 0]], return_inverse=True)[1]
    inner = [edge for edge in geometry.edges if edge not in chosen and len(edge.link_faces) == 2]
    beside = np.array([[face.index for face in edge.link_faces] for edge in inner]).reshape(-1, 2)
    part = connected_components(beside, len(geometry.faces))
    parts = part[np.array([[face.index for face in edge.link_faces] for edge in edges])]
    borders = np.unique(np.stack([parts.ravel(), np.repeat(row, 2)], axis=1), axis=0)
    pairs = np.flatnonzero(borders[1:, 0] == borders[:-1, 0])
    one, other, count = borders[pairs, 1], borders[pairs + 1, 1], row.max() + 1
    # Each row is there twice, folded to either side; what is connected fits together.
    both = np.concatenate([np.column_stack([one, other + count]), np.column_stack([one + count, other])])
    group = connected_components(both, 2 * count)
    if (np.diff(pairs) == 1).any() or (group[:count] == group[count:]).any():
        raise PBDError("The selected rows of edges cannot alternate: three of them meet, or their number is odd")
    return np.where(group[:count] < group[count:], 1, -1)[row].tolist()
