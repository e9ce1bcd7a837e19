"""What holds the body, and its rest shape."""

from ..pbd_addon.blender.kinds import Context, Layout
from .maps import draw_map, draw_vertex_group
from .places import BodyPanel
from .rows import columns, draw_group, draw_sentence, row_of_buttons


class Shape(BodyPanel):
    """What holds it: pinned vertices follow the object, attached ones another one. Its rest shape, seams and tears"""

    is_open = True
    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        obj = context.object
        is_edited = obj.mode == "EDIT"
        draw_vertex_group(layout, context, obj, "pin_group", "PIN")
        row = layout.row()
        row.active = bool(obj.pbd.pin_group)
        draw_group(row, obj.pbd, "pins")
        row = layout.row()
        row.active = bool(obj.pbd.pin_group or obj.pbd.attach_object)
        draw_group(row, obj.pbd, "holding")
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
        draw_vertex_group(col, context, obj, "attach_group")
        draw_group(col, obj.pbd, "attaching")
        if is_edited:
            layout.operator("object.pbd_attach_selected", icon="LINKED")
        if obj.pbd.rigid:
            return
        draw_group(layout, obj.pbd, "rest")
        if obj.pbd.rest_shape == "OBJECT":
            draw_group(layout, obj.pbd, "rest object")
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
        layout.operator("object.pbd_sew", icon="PLAY")
        layout.active = layout.active and settings.sewing
        draw_group(columns(layout), settings, "sewing")


class Tearing(BodyPanel):
    """Cloth comes apart where it is pulled too hard, along edges at which its mesh was split before"""

    parent = "shape"
    of_rigid = False

    def draw_settings(self, context: Context, layout: Layout) -> None:
        layout.operator_menu_enum("object.pbd_split", "where", icon="MOD_EDGESPLIT")
        draw_group(columns(layout), context.object.pbd, "tearing")


class InternalSprings(BodyPanel):
    """Springs through the inside of the mesh: foam, or the threads and straps of a quilt or mattress"""

    parent = "shape"
    of_rigid = False

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.pbd, "internal_springs", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.object.pbd
        layout.active = layout.active and settings.internal_springs
        draw_group(columns(layout), settings, "internal springs")
