"""The ways in: the sidebar of an object that is not PBD yet, and the button list of Properties > Physics."""

import bpy
from bl_ui.properties_physics_common import PHYSICS_PT_add

from ..pbd_addon.blender.kinds import Context, Icon
from .places import Sidebar
from .rows import draw_sentence


class VIEW3D_PT_pbd_add(Sidebar, bpy.types.Panel):
    """Buttons that make the first cloth or balloon"""

    bl_label = "PBD Cloth & Balloons"

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is None or obj.type != "MESH" or not obj.pbd.enabled

    def draw(self, context: Context) -> None:
        layout = self.layout
        obj = context.object
        col = layout.column(align=True)
        if obj is not None and obj.mode == "EDIT" and obj.type == "MESH":
            col.scale_y = 1.3
            col.operator("mesh.pbd_garment_from_selection", icon="MOD_CLOTH")
        elif obj is not None and obj.type == "MESH":
            col.scale_y = 1.3
            col.operator("object.pbd_add", text="Add Cloth", icon="MOD_CLOTH").type = "CLOTH"
            col.operator("object.pbd_add", text="Add Balloon", icon="MESH_UVSPHERE").type = "BALLOON"
            col.operator("object.pbd_add", text="Add Rigid Body", icon="RIGID_BODY").type = "RIGID"
            if not obj.pbd_collider.enabled:
                col.operator("object.pbd_collider_add", icon="MOD_PHYSICS")
            draw_sentence(layout, context, "Then press Space", "INFO")
        else:
            draw_sentence(layout, context, "Select a mesh, or add a new one", "INFO")
        col = layout.column(align=True)
        col.operator("mesh.primitive_pbd_cloth_add", text="New Cloth Grid", icon="MESH_GRID")
        col.operator("mesh.primitive_pbd_balloon_add", text="New Balloon", icon="MESH_ICOSPHERE")


def draw_physics_buttons(self: bpy.types.Panel, context: Context) -> None:
    """Rows of the button list in Properties > Physics, in the manner of Blender's own."""
    obj = context.object
    if obj is None or obj.type != "MESH":
        return
    flow = self.layout.grid_flow(row_major=True, columns=0, even_columns=True, even_rows=False, align=True)
    settings = obj.pbd
    kinds: tuple[tuple[str, str, Icon], ...] = (
        ("CLOTH", "PBD Cloth", "MOD_CLOTH"),
        ("BALLOON", "PBD Balloon", "MESH_UVSPHERE"),
        ("RIGID", "PBD Rigid Body", "RIGID_BODY"),
    )
    for kind, label, icon in kinds:
        row = flow.column().row(align=True)
        if settings.enabled and settings.type == kind:
            row.operator("object.pbd_remove", text=label, icon="X")
            row.prop(settings, "active", text="", icon="HIDE_OFF" if settings.active else "HIDE_ON")
        else:
            row.operator("object.pbd_add", text=label, icon=icon).type = kind
    row = flow.column().row(align=True)
    if obj.pbd_collider.enabled:
        row.operator("object.pbd_collider_remove", text="PBD Collider", icon="X")
    else:
        row.operator("object.pbd_collider_add", text="PBD Collider", icon="MOD_PHYSICS")


def register() -> None:
    """Join Blender's button list."""
    PHYSICS_PT_add.append(draw_physics_buttons)


def unregister() -> None:
    """Undo `register`."""
    PHYSICS_PT_add.remove(draw_physics_buttons)
