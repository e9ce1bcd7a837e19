"""What holds the body, and its rest shape."""

from ..pbd_addon.blender.kinds import Context, Layout
from .maps import draw_group, draw_map
from .places import BodyPanel
from .rows import columns, draw_rows, draw_sentence, row_of_buttons


class Shape(BodyPanel):
    """What holds it: pinned vertices follow the object, attached ones another one. Its rest shape, seams and tears"""

    is_open = True
    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        obj = context.object
        is_edited = obj.mode == "EDIT"
        draw_group(layout, context, obj, "pin_group", "PIN")
        row = layout.row()
        row.active = bool(obj.pbd.pin_group)
        draw_rows(row, obj.pbd, "pin_stiffness")
        row = layout.row()
        row.active = bool(obj.pbd.pin_group or obj.pbd.attach_object)
        draw_rows(row, obj.pbd, "hold_pins")
        col = layout.column()
        col.active = row.active and obj.pbd.hold_pins
        draw_map(context, col, "hold")
        if is_edited:
            row = row_of_buttons(layout, context, "Pin Selected", "Unpin Selected")
            row.operator("object.pbd_pin_selected")
            row.operator("object.pbd_unpin_selected")
        else:
            draw_sentence(layout, context, "Pin vertices in Edit Mode", "PINNED")
        col = layout.column()
        col.prop(obj.pbd, "attach_object")
        col = layout.column()
        col.active = obj.pbd.attach_object is not None
        draw_group(col, context, obj, "attach_group")
        draw_rows(col, obj.pbd, "attach_slide")
        if is_edited:
            layout.operator("object.pbd_attach_selected", icon="LINKED")
        if obj.pbd.rigid:
            return
        draw_rows(layout, obj.pbd, "rest_shape")
        if obj.pbd.rest_shape == "OBJECT":
            draw_rows(layout, obj.pbd, "rest_object")
        elif obj.pbd.rest_shape == "KEY" and obj.data.shape_keys:
            layout.prop_search(obj.pbd, "rest_key", obj.data.shape_keys, "key_blocks")
        elif obj.pbd.rest_shape == "KEY":
            draw_sentence(layout, context, "Add a shape key first", "INFO")
        if is_edited:
            col = layout.column(align=True)
            row = row_of_buttons(col, context, "Set Crease", "Clear Crease")
            row.operator("object.pbd_set_crease")
            row.operator("object.pbd_clear_crease")
            col.operator("object.pbd_add_seam")


class Sewing(BodyPanel):
    """Seams: loose edges between faces draw their ends together. Add Seam stands under Shape in Edit Mode"""

    parent = "shape"
    of_rigid = False

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.pbd, "sewing", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.sewing
        col = columns(layout)
        draw_rows(col, settings, "closing_time", "sewing_force", labels={"sewing_force": "Max Force"})
        draw_rows(col, settings, "seam_bend", "seam_angle", labels={"seam_bend": "Bending", "seam_angle": "Angle"})


class Tearing(BodyPanel):
    """Cloth comes apart where it is pulled too hard, along edges at which its mesh was split before"""

    parent = "shape"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        layout.operator_menu_enum("object.pbd_split", "where", icon="MOD_EDGESPLIT")
        draw_rows(columns(layout), context.object.pbd, "tear_strength")


class InternalSprings(BodyPanel):
    """Springs through the inside of the mesh: foam, or the threads and straps of a quilt or mattress"""

    parent = "shape"
    of_rigid = False

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.pbd, "internal_springs", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.internal_springs
        draw_rows(
            columns(layout),
            settings,
            "internal_spring_length",
            "internal_spring_diversion",
            "internal_spring_normals",
            "internal_tension",
            "internal_compression",
            labels={
                "internal_spring_length": "Max Length",
                "internal_spring_diversion": "Max Diversion",
                "internal_spring_normals": "Check Normals",
            },
        )
        draw_map(context, layout, "internal")
