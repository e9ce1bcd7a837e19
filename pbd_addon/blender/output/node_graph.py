"""Geometry Nodes groups that are built by code."""

from typing import Any, cast

import bpy

from .output_modifier import socket


class Graph:
    """A node group under construction: each method adds a node and returns its output.

    Attributes:
        entry: The mesh that comes in.
    """

    def __init__(self, name: str, mark: str) -> None:
        """A new group with this name and custom property."""
        tree: Any = bpy.data.node_groups.new(name, "GeometryNodeTree")
        tree[mark] = 1
        tree.is_modifier = True
        self.tree = tree
        for way in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
        self.entry = self.node("NodeGroupInput", {}).outputs[0]

    def ended(self, geometry: Any) -> bpy.types.NodeTree:
        """The group, which gives this mesh."""
        self.node("NodeGroupOutput", {0: geometry})
        return cast(bpy.types.NodeTree, self.tree)

    def node(self, kind: str, inputs: dict[Any, Any], **settings: Any) -> Any:
        """A node with settings, and its inputs: outputs of others, or values."""
        node = self.tree.nodes.new(kind)
        for name, value in settings.items():
            setattr(node, name, value)
        for name, value in inputs.items():
            entry = socket(node.inputs, name) if isinstance(name, str) else node.inputs[name]
            if isinstance(value, bpy.types.NodeSocket):
                self.tree.links.new(value, entry)
            else:
                entry.default_value = value
        return node

    def named(self, attribute: str, kind: str) -> Any:
        """An attribute of the mesh that comes in, of this data type."""
        node = self.node("GeometryNodeInputNamedAttribute", {"Name": attribute}, data_type=kind)
        return socket(node.outputs, "Attribute")

    def vectors(self, operation: str, one: Any, other: Any) -> Any:
        """Add, subtract, or the dot product."""
        node = self.node("ShaderNodeVectorMath", {0: one, 1: other}, operation=operation)
        return node.outputs["Value" if operation == "DOT_PRODUCT" else "Vector"]

    def scale(self, vector: Any, factor: Any) -> Any:
        """A vector times a number."""
        node = self.node("ShaderNodeVectorMath", {0: vector, "Scale": factor}, operation="SCALE")
        return node.outputs["Vector"]

    def parts(self, vector: Any) -> list[Any]:
        """The three numbers of a vector."""
        return list(self.node("ShaderNodeSeparateXYZ", {0: vector}).outputs)
