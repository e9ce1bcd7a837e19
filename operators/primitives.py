"""Add > Mesh > Cloth Grid and Balloon: new meshes that are simulated already."""

from typing import Any

import bmesh
import bpy
import numpy as np
from bpy_extras.object_utils import AddObjectHelper, object_data_add

from ..pbd_addon.blender.kinds import Context, Mesh, Object
from ..pbd_addon.blender.read.pins import ensure_group
from ..pbd_addon.blender.timeline import cost_estimate
from . import body, checks
from .base import Action

PINS = (
    ("NONE", "None", "Nothing is pinned: the cloth falls"),
    ("CORNERS", "Corners", "The two corners of the far edge hold the cloth like a curtain"),
    ("EDGE", "Edge", "The whole left edge holds the cloth like a flag"),
)


def grid_mesh(name: str, rx: int, ry: int, width: float, height: float) -> Mesh:
    """A flat grid of quads around the origin, in the XY plane, with smooth faces and UVs.

    It has rx * ry vertices, row after row from the corner (-X, -Y); width and height are extents along X and Y [m].
    """
    u, v = np.meshgrid(np.linspace(0.0, 1.0, rx), np.linspace(0.0, 1.0, ry))
    positions = np.stack(((u - 0.5) * width, (v - 0.5) * height, np.zeros_like(u)), axis=-1).astype(np.float32)
    ids = np.arange(rx * ry, dtype=np.int32).reshape(ry, rx)
    quads = np.stack((ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]), axis=-1).reshape(-1, 4)
    corners = np.ascontiguousarray(quads.ravel())
    uvs = np.stack((u.ravel()[corners], v.ravel()[corners]), axis=-1).astype(np.float32)

    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(rx * ry)
    mesh.loops.add(corners.size)
    mesh.polygons.add(len(quads))
    mesh.attributes["position"].data.foreach_set("vector", positions.ravel())
    mesh.loops.foreach_set("vertex_index", corners)
    mesh.polygons.foreach_set("loop_start", np.arange(0, corners.size, 4, dtype=np.int32))
    mesh.uv_layers.new(name="UVMap").uv.foreach_set("vector", uvs.ravel())
    mesh.shade_smooth()
    mesh.update(calc_edges=True)
    return mesh


def icosphere_mesh(name: str, subdivisions: int, radius: float) -> Mesh:
    """A ball of triangles that are all nearly the same, with smooth faces and UVs; radius in meters."""
    mesh = bpy.data.meshes.new(name)
    geometry = bmesh.new()
    geometry.loops.layers.uv.new("UVMap")
    bmesh.ops.create_icosphere(geometry, subdivisions=subdivisions, radius=radius, calc_uvs=True)
    geometry.to_mesh(mesh)
    geometry.free()
    mesh.shade_smooth()
    mesh.update()
    return mesh


def pinned_ids(pin: str, rx: int, ry: int) -> list[int]:
    """The vertices of `grid_mesh` that one of the `PINS` holds."""
    ids = np.arange(rx * ry).reshape(ry, rx)
    return {"NONE": [], "CORNERS": ids[-1, [0, -1]].tolist(), "EDGE": ids[:, 0].tolist()}[pin]


def vertices(name: str, axis: str) -> Any:
    """The property of a number of vertices along an axis."""
    about = f"Vertices along {axis}. Usually 32, for fine folds 100"
    return bpy.props.IntProperty(name=name, description=about, default=32, min=2, max=2000, soft_max=200)


def length(name: str, description: str, default: float) -> Any:
    """The property of an extent or a radius [m]."""
    return bpy.props.FloatProperty(
        name=name, description=description, default=default, min=0.001, soft_max=100.0, subtype="DISTANCE", precision=4
    )


class AddBody(Action, AddObjectHelper):
    """What the two primitives share: where the object stands, and when it can be added."""

    @staticmethod
    def is_local(context: Context) -> checks.Why:
        return "" if context.scene.library is None else "The scene is linked from another file"

    needs = (is_local, checks.in_object_mode)


def add_body(operator: bpy.types.Operator, context: Context, mesh: Mesh, kind: str) -> Object:
    """A new object with this mesh where the operator says, active and selected, as a cloth or balloon."""
    obj = object_data_add(context, mesh, operator=operator)
    if obj.mode == "EDIT":  # A preference of the user; a body in Edit Mode cannot be simulated.
        bpy.ops.object.mode_set(mode="OBJECT")
    body.make_body(obj, kind)
    for sentence in filter(None, (cost_estimate.sentence(context.scene), body.lock_interface(context.scene))):
        operator.report({"INFO"}, sentence)
    return obj


class MESH_OT_primitive_pbd_cloth_add(AddBody, bpy.types.Operator):
    """Add a grid of quads that is simulated as cloth"""

    bl_idname = "mesh.primitive_pbd_cloth_add"
    bl_label = "Add Cloth Grid"

    rx: vertices("Vertices X", "X")
    ry: vertices("Y", "Y")
    width: length("Width", "Extent along X. A curtain 2 m, a handkerchief 0.4 m", 2.0)
    height: length("Height", "Extent along Y. A curtain 2 m, a handkerchief 0.4 m", 2.0)
    pin: bpy.props.EnumProperty(
        name="Pin", description="Vertices that stay where they are", items=PINS, default="CORNERS"
    )

    def run(self, context: Context) -> None:
        obj = add_body(self, context, grid_mesh("Cloth", self.rx, self.ry, self.width, self.height), "CLOTH")
        ids = pinned_ids(self.pin, self.rx, self.ry)
        if ids:
            ensure_group(obj, "pin_group").add(ids, 1.0, "REPLACE")


class MESH_OT_primitive_pbd_balloon_add(AddBody, bpy.types.Operator):
    """Add a ball of triangles that is simulated as a balloon"""

    bl_idname = "mesh.primitive_pbd_balloon_add"
    bl_label = "Add Balloon"

    subdivisions: bpy.props.IntProperty(
        name="Subdivisions",
        description="4 has 642 vertices, each more four times as many",
        default=4,
        min=1,
        max=8,
        soft_max=6,
    )
    radius: length("Radius", "Radius of the ball. A party balloon 0.15 m, a beach ball 0.2 m", 0.15)

    def run(self, context: Context) -> None:
        add_body(self, context, icosphere_mesh("Balloon", self.subdivisions, self.radius), "BALLOON")


def draw_menu(self: bpy.types.Menu, _context: Context) -> None:
    """Rows of Add > Mesh."""
    layout = self.layout
    layout.separator()
    layout.operator(MESH_OT_primitive_pbd_cloth_add.bl_idname, text="Cloth Grid", icon="MOD_CLOTH")
    layout.operator(MESH_OT_primitive_pbd_balloon_add.bl_idname, text="Balloon", icon="MESH_ICOSPHERE")


def register() -> None:
    """Put the operators into Add > Mesh."""
    bpy.types.VIEW3D_MT_mesh_add.append(draw_menu)


def unregister() -> None:
    """Undo `register`."""
    bpy.types.VIEW3D_MT_mesh_add.remove(draw_menu)
