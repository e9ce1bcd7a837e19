"""The flange of a foil balloon: the strip beyond the seam, where both sheets are one.

It is drawn, not simulated: a node group extrudes the edges of the seam between both sheets, and follows them however
they crimp. A strip of millimeters beside edges of centimeters would take many times the steps, and weighs nothing.
"""

from typing import cast

import bpy
import numpy as np

from ..kinds import Object
from ..scene.arrays import edge_vertices
from .node_graph import Graph

NAME = "PBD Flange"
MARK = "pbd_flange"
"""Custom property that identifies our node groups, and the attribute of the edges that are extruded."""


def add(obj: Object, rim: np.ndarray, width: float) -> None:
    """Give a mesh a flange that is this wide [m], at the edges between vertices of the rim (r,) int."""
    is_rim = np.isin(edge_vertices(obj.data), rim).all(axis=1)
    obj.data.attributes.new(MARK, "BOOLEAN", "EDGE").data.foreach_set("value", is_rim)
    modifier = cast(bpy.types.NodesModifier, obj.modifiers.new(NAME, "NODES"))
    modifier.node_group = _group(width)
    modifier.show_expanded = False


def _group(width: float) -> bpy.types.NodeTree:
    """A new group whose input is the width, which stands in the modifier's panel."""
    graph = Graph(NAME, MARK)
    wide = graph.tree.interface.new_socket("Width", in_out="INPUT", socket_type="NodeSocketFloat")
    wide.subtype, wide.default_value, wide.min_value = "DISTANCE", width, 0.0
    extruded = graph.node(
        "GeometryNodeExtrudeMesh",
        {
            "Mesh": graph.entry,
            "Selection": graph.named(MARK, "BOOLEAN"),
            # Of a vertex of the seam: the mean of both sheets' normals, which looks away from both.
            "Offset": graph.node("GeometryNodeInputNormal", {}).outputs[0],
            "Offset Scale": graph.node("NodeGroupInput", {}).outputs["Width"],
        },
        mode="EDGES",
    )
    flat = {0: extruded.outputs["Mesh"], "Selection": extruded.outputs["Side"], "Shade Smooth": False}
    return graph.ended(graph.node("GeometryNodeSetShadeSmooth", flat).outputs[0])
