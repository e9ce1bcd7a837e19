"""Add seams between two borders that are selected in Edit Mode."""

from __future__ import annotations

from typing import Any

import bmesh
import bpy
import numpy as np

from ..pbd_addon.blender import error_sentences
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Result
from ..pbd_addon.blender.scene import linked
from ..pbd_addon.blender.timeline import session
from ..pbd_addon.seam_pairs import pair_up
from .checks import rpt
from .pins import edited_body


class OBJECT_OT_pbd_add_seam(bpy.types.Operator):
    """Connect two selected borders of the mesh with loose edges, which Sewing draws together"""

    bl_idname = "object.pbd_add_seam"
    bl_label = "Add Seam"
    bl_options = {"REGISTER", "UNDO"}

    mirror: bpy.props.BoolProperty(
        name="Mirrored",
        description="Pair the borders in the other direction, so that the cloth between them is turned over",
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        return edited_body(cls, context)

    def execute(self, context: Context) -> Result:
        obj = context.object
        geometry = bmesh.from_edit_mesh(obj.data)
        try:
            foreign = linked.problem(obj)
            if foreign:
                raise PBDError(foreign)
            borders = selected_borders(geometry)
        except PBDError as error:
            self.report({"ERROR"}, error_sentences.in_users_language(str(error)))
            return {"CANCELLED"}
        (one, closed), (other, _) = borders
        world = np.array(obj.matrix_world)
        here, there = (np.array([vertex.co for vertex in border]) @ world[:3, :3].T for border in (one, other))
        pairs = [(one[i], other[j]) for i, j in pair_up(here, there, closed, self.mirror).tolist()]
        for pair in pairs:
            if geometry.edges.get(pair) is None:
                geometry.edges.new(pair)
        bmesh.update_edit_mesh(obj.data, loop_triangles=False)
        obj.pbd.sewing = True
        session.clear_cache(context.scene)
        left = abs(len(one) - len(other))
        said = rpt(
            "{count} seams added; {left} vertices of the longer border stay free" if left else "{count} seams added"
        )
        self.report({"INFO"}, said.format(count=len(pairs), left=left))
        return {"FINISHED"}


def selected_borders(geometry: Any) -> list[tuple[list[Any], bool]]:
    """The vertices of the two selected borders in order, and whether they are loops.

    Raises:
        PBDError: There are not two, one forks, or only one is a loop.
    """
    neighbors: dict[Any, list[Any]] = {}
    for edge in geometry.edges:
        if edge.select and len(edge.link_faces) == 1:
            for vertex in edge.verts:
                neighbors.setdefault(vertex, []).append(edge.other_vert(vertex))
    forks = [vertex.index for vertex, beside in neighbors.items() if len(beside) > 2]
    if forks:
        raise PBDError(f"The selected border forks at vertex {forks[0]}: select two rows of edges without branches")
    borders = []
    ends = [vertex for vertex, beside in neighbors.items() if len(beside) == 1]
    for start in (*ends, *neighbors):  # What has ends begins at one of them.
        if start not in neighbors:
            continue
        border, closed = [start], len(neighbors[start]) == 2
        while True:
            following = [vertex for vertex in neighbors.pop(border[-1]) if vertex in neighbors]
            if not following:
                break
            border.append(following[0])
        borders.append((border, closed))
    if len(borders) != 2:
        raise PBDError(f"Select two borders to sew together, edges with one face each: {len(borders)} are selected")
    if borders[0][1] != borders[1][1]:
        raise PBDError("One border is a loop and the other is not: select two loops or two rows of edges")
    return borders


register, unregister = bpy.utils.register_classes_factory((OBJECT_OT_pbd_add_seam,))
