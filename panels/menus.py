"""Object > PBD and, in Edit Mode, Mesh > PBD: every operator, so that Blender's search finds it."""

import bpy

from ..pbd_addon.blender.kinds import Context


class OBJECT_MT_pbd(bpy.types.Menu):
    """Cloth and balloons"""

    bl_label = "PBD"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("object.pbd_add", text="Add Cloth", icon="MOD_CLOTH").type = "CLOTH"
        layout.operator("object.pbd_add", text="Add Balloon", icon="MESH_UVSPHERE").type = "BALLOON"
        layout.operator("object.pbd_add", text="Add Rigid Body", icon="RIGID_BODY").type = "RIGID"
        layout.operator("mesh.primitive_pbd_cloth_add", text="New Cloth Grid", icon="MESH_GRID")
        layout.operator("mesh.primitive_pbd_balloon_add", text="New Balloon", icon="MESH_ICOSPHERE")
        layout.operator("object.pbd_import_pattern", icon="IMPORT")
        layout.operator("object.pbd_copy_to_selected", text="Copy Cloth Settings to Selected", icon="COPYDOWN")
        layout.operator("object.pbd_test_sheet", icon="SPREADSHEET")
        layout.operator("object.pbd_make_override", icon="LIBRARY_DATA_OVERRIDE")
        layout.operator("object.pbd_remove", icon="X")
        layout.separator()
        layout.operator("object.pbd_collider_add", icon="MOD_PHYSICS")
        layout.operator("object.pbd_collider_remove", icon="X")
        layout.operator("object.pbd_paint_map", text="Paint Pins", icon="BRUSH_DATA").map = "PIN"
        layout.operator("object.pbd_attach_selected", text="Attach Cloth to Selected", icon="LINKED")
        layout.operator("object.pbd_split", icon="MOD_EDGESPLIT")
        layout.operator("object.pbd_make_proxy", icon="MOD_DECIM").kind = "CLOTH"
        layout.operator("object.pbd_make_proxy", text="Make Collider Proxy", icon="MOD_REMESH").kind = "COLLIDER"
        layout.separator()
        layout.operator("object.pbd_step", text="Step One Frame", icon="FRAME_NEXT")
        layout.operator("object.pbd_reset", text="Reset Simulation", icon="LOOP_BACK")
        layout.operator("object.pbd_catch_up", icon="FF")
        layout.operator("object.pbd_settle", text="Settle Cloth", icon="FORCE_FORCE")
        layout.operator("object.pbd_grab", text="Grab Cloth", icon="VIEW_PAN")
        layout.separator()
        layout.operator("object.pbd_bake", text="Bake Cloth", icon="KEY_HLT")
        layout.operator("object.pbd_bake_background")
        layout.operator("object.pbd_cancel_background", text="Cancel Bake in Background")
        layout.operator("object.pbd_delete_bake", icon="TRASH")
        layout.operator("object.pbd_clear_cache")
        layout.operator("object.pbd_disk_cache_load")
        layout.operator("object.pbd_disk_cache_find")
        layout.operator("object.pbd_disk_cache_delete")
        layout.separator()
        layout.operator("object.pbd_apply", text="Apply Cloth as Base").result = "BASE"
        layout.operator("object.pbd_apply", text="Apply Cloth as Shape Key").result = "SHAPE_KEY"
        layout.operator("object.pbd_apply", text="Apply Cloth as New Mesh").result = "MESH"
        layout.operator("object.pbd_export", text="Export Alembic").format = "ALEMBIC"
        layout.operator("object.pbd_export", text="Export USD").format = "USD"
        layout.operator("object.pbd_export", text="Export glTF").format = "GLTF"
        layout.operator("object.pbd_export_vertex_animation", text="Export Vertex Animation Texture")
        layout.operator("object.pbd_export_metrics", text="Export Metrics")
        layout.operator("object.pbd_find_loop")
        layout.operator("object.pbd_count_keys")
        layout.separator()
        layout.operator("object.pbd_doctor_check", text="Check Cloth", icon="VIEWZOOM")
        layout.operator("object.pbd_select_intersections")
        layout.operator("object.pbd_select_in_colliders")
        layout.operator("object.pbd_count_crossings")
        layout.operator("object.pbd_show_crossings")
        layout.operator("object.pbd_raise_quality")
        layout.operator("object.pbd_heat_map", text="Heat Map of Strain").kind = "STRAIN"
        layout.operator("object.pbd_heat_map", text="Heat Map of Contact").kind = "CONTACT"
        layout.operator("object.pbd_heat_map", text="Heat Map Off").kind = "OFF"
        layout.separator()
        layout.operator("object.pbd_whats_new", icon="URL")
        layout.operator("object.pbd_report_bug", icon="URL")


class MESH_MT_pbd(bpy.types.Menu):
    """Garments, pins, attached vertices, seams, creases and tears"""

    bl_label = "PBD"

    def draw(self, _context: Context) -> None:
        layout = self.layout
        layout.operator("mesh.pbd_garment_from_selection", icon="MOD_CLOTH")
        layout.operator("object.pbd_pin_selected", icon="PINNED")
        layout.operator("object.pbd_unpin_selected", icon="UNPINNED")
        layout.operator("object.pbd_add_seam")
        layout.operator("object.pbd_set_crease")
        layout.operator("object.pbd_clear_crease")
        layout.operator("object.pbd_split", text="Split Selected for Tearing", icon="MOD_EDGESPLIT").where = "SELECTED"
        layout.operator("object.pbd_attach_selected", icon="LINKED")


def draw_object_menu(self: bpy.types.Menu, _context: Context) -> None:
    """The row of Object."""
    self.layout.separator()
    self.layout.menu("OBJECT_MT_pbd", icon="MOD_CLOTH")


def draw_mesh_menu(self: bpy.types.Menu, _context: Context) -> None:
    """The row of Mesh, in Edit Mode."""
    self.layout.separator()
    self.layout.menu("MESH_MT_pbd", icon="MOD_CLOTH")


PLACES = ((bpy.types.VIEW3D_MT_object, draw_object_menu), (bpy.types.VIEW3D_MT_edit_mesh, draw_mesh_menu))
"""Blender's menus, and what is added to them."""


def register() -> None:
    """Put the menus into Blender's."""
    for menu, draw in PLACES:
        menu.append(draw)


def unregister() -> None:
    """Undo `register`."""
    for menu, draw in PLACES:
        menu.remove(draw)
