"""Make Proxy: a coarse copy simulates or collides, and the fine mesh follows it, or it the fine mesh."""

import bpy

from ..pbd_addon.blender import handlers
from ..pbd_addon.blender.errors import PBDError
from ..pbd_addon.blender.kinds import Context, Object
from ..pbd_addon.blender.output import output, proxy_modifier
from ..pbd_addon.blender.read import mesh_io
from ..pbd_addon.blender.scene import coarse_mesh, linked
from ..pbd_addon.blender.timeline import session
from . import body, checks
from .base import Action, rpt

KINDS = (
    ("CLOTH", "Cloth", "A coarse copy is simulated, and the mesh follows it with all its details"),
    ("COLLIDER", "Collider", "A simple closed body follows the mesh, and cloth meets that"),
)


class OBJECT_OT_pbd_make_proxy(Action, bpy.types.Operator):
    """Make a coarse copy of the active mesh that is simulated, or that cloth meets, in its place"""

    bl_idname = "object.pbd_make_proxy"
    bl_label = "Make Proxy"

    @staticmethod
    def has_mesh(context: Context) -> checks.Why:
        return "" if context.object is not None and context.object.type == "MESH" else "Select a mesh object"

    needs = (checks.is_free, checks.in_object_mode, has_mesh)

    kind: bpy.props.EnumProperty(name="Kind", description="What the proxy is for", items=KINDS, default="CLOTH")
    vertices: bpy.props.IntProperty(
        name="Vertices",
        description="About how many vertices the proxy has. Cloth 2,000, a figure 3,000",
        default=2000,
        min=4,
        soft_min=100,
        soft_max=20000,
    )

    def run(self, context: Context) -> str:
        obj = context.object
        linked.check(obj)
        count = len(obj.data.vertices)
        if not obj.data.polygons:
            raise PBDError(f"'{obj.name}' has no faces: add faces to make a proxy of it")
        if self.kind == "CLOTH" and count <= self.vertices:
            raise PBDError(f"'{obj.name}' has {count} vertices, no more than the proxy would have: choose fewer")
        made = self.make_cloth(context, obj) if self.kind == "CLOTH" else make_collider(context, obj, self.vertices)
        checks.select_only(context, [made])
        handlers.arm_if_needed()
        said = rpt("'{name}' has {vertices} vertices instead of {count}")
        return said.format(name=made.name, vertices=f"{len(made.data.vertices):,}", count=f"{count:,}")

    def make_cloth(self, context: Context, obj: Object) -> Object:
        """A coarse copy is cloth from now on, with all settings of the object, which follows it."""
        if proxy_modifier.find(obj) is not None:
            raise PBDError(f"'{obj.name}' follows a proxy already: remove its modifier '{proxy_modifier.NAME}' first")
        if obj.pbd.enabled and obj.pbd.baked:
            raise PBDError(f"'{obj.name}' is baked: delete the bake first")
        if len(mesh_io.read_loose_edges(obj.data)):
            raise PBDError(f"'{obj.name}' has loose edges, seams or ropes, which a proxy cannot have: apply them first")
        proxy_modifier.check(obj)
        mesh = coarse_mesh.of_cloth(context, obj, self.vertices)
        session.drop(context.scene)
        output.remove(obj)
        made = obj.copy()
        made.data, made.name = mesh, f"{obj.name} Proxy"
        if not made.vertex_groups:  # Their names are the mesh's; weights go by number.
            for group in obj.vertex_groups:
                made.vertex_groups.new(name=group.name)
        _bind(obj, made, mesh, made)
        for collection in obj.users_collection:
            collection.objects.link(made)
        for modifier in list(made.modifiers):
            if modifier.type not in proxy_modifier.output_modifier.MOVERS:
                made.modifiers.remove(modifier)
        body.forget_settings(obj)
        made.display_type, made.hide_render = "WIRE", True
        if made.pbd.enabled:
            output.ensure(made)
        else:
            body.make_body(made, "CLOTH")
        return made


def _bind(obj: Object, target: Object, base: bpy.types.Mesh, made: Object) -> None:
    """Let an object follow another one with the vertices of this mesh; raises `PBDError`, without what was made."""
    try:
        proxy_modifier.bind(obj, target, base)
    except PBDError:
        mesh = made.data
        bpy.data.objects.remove(made)
        bpy.data.meshes.remove(mesh)
        raise


def make_collider(context: Context, obj: Object, vertices: int = 3000) -> Object:
    """A closed body is a collider from now on, with the settings of the object, which it follows."""
    proxy_modifier.check(obj, is_followed=True)
    mesh = coarse_mesh.of_figure(context, obj, vertices)
    made = bpy.data.objects.new(f"{obj.name} Proxy", mesh)
    made.matrix_world = obj.matrix_world
    _bind(made, obj, obj.data, made)
    for collection in obj.users_collection:
        collection.objects.link(made)
    for prop in obj.pbd_collider.bl_rna.properties:
        if not prop.is_readonly and prop.identifier != "group" and obj.pbd_collider.is_property_set(prop.identifier):
            setattr(made.pbd_collider, prop.identifier, getattr(obj.pbd_collider, prop.identifier))
    obj.pbd_collider.enabled, made.pbd_collider.enabled = False, True
    made.display_type, made.hide_render = "WIRE", True
    return made
