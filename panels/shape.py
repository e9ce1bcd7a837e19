"""What holds the body: its pins, and what it is attached to."""

from __future__ import annotations

import bpy

from .maps import draw_group
from .places import BodyPanel, draw_rows, in_both_places


class Shape(BodyPanel):
    """Pinned vertices follow the object and its animation, attached ones the surface of another object"""

    name = "shape"
    parent = "main"
    bl_label = "Shape"

    def draw_settings(self, context, layout):
        obj = context.object
        draw_group(layout, obj, "pin_group", "PIN")
        row = layout.row()
        row.active = bool(obj.pbd.pin_group)
        draw_rows(row, context, obj.pbd, "pin_stiffness")
        if obj.mode == "EDIT":
            row = layout.row(align=True)
            row.operator("object.pbd_pin_selected")
            row.operator("object.pbd_unpin_selected")
        else:
            layout.label(text="Pin vertices in Edit Mode", icon="PINNED")
        col = layout.column()
        col.prop(obj.pbd, "attach_object")
        row = col.row()
        row.active = obj.pbd.attach_object is not None
        row.prop_search(obj.pbd, "attach_group", obj, "vertex_groups")
        layout.operator("object.pbd_attach_selected", icon="LINKED")


register, unregister = bpy.utils.register_classes_factory(in_both_places(Shape))
