"""The modifier by which a mesh follows another one: a node group with the formula of `meshes/proxy.py`.

Blender evaluates it wherever the other mesh is evaluated: live, baked, in renders and exports; nothing of ours runs
then. What `proxy.bind` found is in attributes of the mesh.
"""

from typing import Any, cast

import bpy
import numpy as np

from ...meshes import proxy
from ...meshes.proxy import Bound
from ..errors import PBDError, refused
from ..kinds import Mesh, Object
from ..scene.arrays import values
from . import output_modifier
from .node_graph import Graph

NAME = "PBD Proxy"
MARK = "pbd_proxy"
"""Custom property that identifies our node groups, one for each mesh that follows."""

ATTRIBUTES = tuple(f"pbd_proxy_{name}" for name in Bound._fields)
"""What holds each field of `Bound`. Corners are whole numbers, which 32 bits hold up to 16 million."""


def find(obj: Object) -> bpy.types.NodesModifier | None:
    """Our modifier on an object, or None."""
    for one in obj.modifiers:
        if isinstance(one, bpy.types.NodesModifier) and one.node_group is not None and one.node_group.get(MARK):
            return one
    return None


def target(obj: Object) -> Object | None:
    """What an object follows by our modifier, or None."""
    modifier = find(obj)
    if modifier is None:
        return None
    (info,) = (node for node in modifier.node_group.nodes if node.bl_idname == "GeometryNodeObjectInfo")
    return cast(Object | None, output_modifier.socket(info.inputs, "Object").default_value)


ADDERS = {"ARRAY", "MIRROR", "SOLIDIFY", "SUBSURF"}
"""Modifiers that add vertices behind those that are there."""


def check(obj: Object, is_followed: bool = False) -> None:
    """Raise a `PBDError` if a modifier changes vertices before ours would stand, or those that are to be followed."""
    found = list(obj.modifiers) if is_followed else output_modifier.before(obj)
    for modifier in found:
        if modifier.type in output_modifier.GROWERS and not (is_followed and modifier.type in ADDERS):
            raise PBDError(f"Modifier '{modifier.name}' of '{obj.name}' changes the number of vertices: apply it first")


def bind(obj: Object, target: Object, base: Mesh) -> None:
    """Let an object follow another one with the vertices of this mesh, in the same place; raises `PBDError`."""
    normals = np.empty((len(base.vertices), 3), np.float32)
    base.vertex_normals.foreach_get("vector", normals.ravel())
    base.calc_loop_triangles()
    triangles = values(base.loop_triangles, "vertices", int, 3)
    points, vertices = (values(mesh.vertices, "co", size=3).astype(float) for mesh in (obj.data, base))
    with refused(f"'{target.name}' "):
        bound = proxy.bind(points, vertices, normals.astype(float), triangles)
    _write(obj.data, bound)
    at = output_modifier.place(obj)
    modifier = cast(bpy.types.NodesModifier, obj.modifiers.new(NAME, "NODES"))
    modifier.node_group = _group(target)
    modifier.show_expanded = False
    obj.modifiers.move(obj.modifiers.find(modifier.name), at)


def _write(mesh: Mesh, bound: Bound) -> None:
    attributes: Any = mesh.attributes
    for name, rows in zip(ATTRIBUTES, bound):
        if attributes.get(name) is not None:
            attributes.remove(attributes[name])
        attributes.new(name, "FLOAT_VECTOR", "POINT").data.foreach_set("vector", rows.astype(np.float32).ravel())
    mesh.update()


def _group(target: Object) -> bpy.types.NodeTree:
    """A new group that follows this object."""
    graph = Graph(NAME, MARK)
    geometry = output_modifier.socket(
        graph.node("GeometryNodeObjectInfo", {"Object": target}, transform_space="RELATIVE").outputs, "Geometry"
    )
    named = [graph.named(name, "FLOAT_VECTOR") for name in ATTRIBUTES]
    corners, weights, bulges, heights = map(graph.parts, named)

    def at(kind: str, corner: Any) -> Any:
        value = graph.node(kind, {}).outputs[0]
        node = graph.node(
            "GeometryNodeSampleIndex",
            {"Geometry": geometry, "Value": value, "Index": corner},
            data_type="FLOAT_VECTOR",
            domain="POINT",
        )
        return output_modifier.socket(node.outputs, "Value")

    p, n = (
        [at(kind, corner) for corner in corners] for kind in ("GeometryNodeInputPosition", "GeometryNodeInputNormal")
    )
    # The formula by corners, as weights sum to 1: what each normal adds is one number. Half as many nodes.
    ways = [graph.vectors("SUBTRACT", p[j], p[i]) for i, j in proxy.EDGES]
    bulged = [graph.scale(way, bulge) for way, bulge in zip(ways, bulges)]
    place = graph.vectors("ADD", p[0], graph.scale(ways[0], weights[1]))
    place = graph.vectors("SUBTRACT", place, graph.scale(ways[2], weights[2]))
    for corner, (normal, height) in enumerate(zip(n, heights)):
        along = graph.vectors("DOT_PRODUCT", normal, graph.vectors("SUBTRACT", bulged[corner], bulged[corner - 1]))
        raised = graph.node("ShaderNodeMath", {0: along, 1: height}, operation="ADD").outputs[0]
        place = graph.vectors("ADD", place, graph.scale(normal, raised))
    inputs = {"Geometry": graph.entry, "Position": place, "Selection": named[0].node.outputs["Exists"]}
    return graph.ended(graph.node("GeometryNodeSetPosition", inputs).outputs[0])
