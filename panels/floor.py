"""The floor of the scene."""

from __future__ import annotations

import bpy

from .places import BodyPanel, columns, in_both_places


class Floor(BodyPanel):
    """A level plane that all PBD objects of the scene land on"""

    name = "floor"
    parent = "main"
    bl_label = "Floor"

    def draw_header(self, context):
        self.layout.prop(context.scene.pbd, "use_floor", text="")

    def draw_settings(self, context, layout):
        settings = context.scene.pbd
        layout.active = layout.active and settings.use_floor
        flow = columns(layout)
        flow.column().prop(settings, "floor_height", text="Height")
        flow.column().prop(settings, "floor_friction", text="Friction")


register, unregister = bpy.utils.register_classes_factory(in_both_places(Floor))
