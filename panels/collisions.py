"""What the body meets: obstacles, the floor, and itself."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.timeline import session
from .places import BodyPanel, in_both_places
from .rows import columns, draw_rows, draw_sentence


class ObjectCollisions(BodyPanel):
    """Obstacles that the body lands on and slides along"""

    name = "object_collisions"
    parent = "main"
    bl_label = "Object Collisions"

    def draw_settings(self, context, layout):
        draw_rows(columns(layout), context, context.object.pbd, "thickness", "friction")
        col = layout.column()
        col.prop(context.scene.pbd, "collider_collection", text="Collection")
        if context.scene.pbd.collider_collection is None:
            draw_sentence(col, context, "Or select an obstacle and press Add Collider", "INFO")


class Floor(BodyPanel):
    """A level plane that all PBD objects of the scene land on"""

    name = "floor"
    parent = "object_collisions"
    bl_label = "Floor"

    def draw_header(self, context):
        self.layout.prop(context.scene.pbd, "use_floor", text="")

    def draw_settings(self, context, layout):
        settings = context.scene.pbd
        layout.active = layout.active and settings.use_floor
        flow = columns(layout)
        flow.column().prop(settings, "floor_height", text="Height")
        flow.column().prop(settings, "floor_friction", text="Friction")


class SelfCollisions(BodyPanel):
    """Layers of the body stay apart where it folds onto itself"""

    name = "self_collisions"
    parent = "main"
    bl_label = "Self Collisions"

    def draw_header(self, context):
        self.layout.prop(context.object.pbd, "self_collision", text="")

    def draw_settings(self, context, layout):
        obj = context.object
        layout.prop(context.scene.pbd, "collisions", text="Quality")
        col = layout.column()
        col.active = layout.active and context.scene.pbd.collisions != "OFF"
        row = col.row()
        row.active = obj.pbd.self_collision
        row.prop(obj.pbd, "self_distance", text="Distance", slider=True)
        if obj.pbd.self_collision and obj.pbd.self_distance == 0.0:
            draw_sentence(col, context, "0 m takes half of the usual edge", "INFO")
        running = session.get(context.scene)
        count = 0 if running is None else running.tangled.get(obj.session_uid, 0)
        if count:
            line = "{count} faces intersect at the start" if count > 1 else "1 face intersects at the start"
            draw_sentence(col, context, iface(line).format(count=count), "ERROR")
            col.operator("object.pbd_select_intersections", icon="RESTRICT_SELECT_OFF")


register, unregister = bpy.utils.register_classes_factory(in_both_places(ObjectCollisions, Floor, SelfCollisions))
