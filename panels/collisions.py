"""What the body meets: obstacles, the floor, and itself."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.doctor import setup_findings
from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.scene import surfaces
from ..pbd_addon.blender.timeline import session
from .maps import draw_map
from .places import BodyPanel
from .rows import columns, draw_group, draw_sentence

MOST_LISTED = 8
"""So many colliders are listed; a scene of more has a collection for them."""


class ObjectCollisions(BodyPanel):
    """Obstacles that the body lands on and slides along"""

    parent = "main"

    def draw_settings(self, context: Context, layout: Layout) -> None:
        group = "contact of a solid" if context.object.pbd.rigid else "contact"
        draw_group(columns(layout), context.object.pbd, group)
        running = session.get(context.scene)
        count = running.scene_sim.simulation.crossing_layers if running is not None and running.scene_sim else 0
        if count and context.object.pbd.layer:
            line = "Layers stay tangled: {count} edges go through other cloth. Move the meshes apart there"
            draw_sentence(layout, context, iface(line).format(count=count), "ERROR")
        draw_fitted(context, layout)
        draw_map(context, layout, "collision", "Vertex Group")
        layout.prop(context.scene.pbd, "collider_collection")
        draw_colliders(context, layout)


def draw_fitted(context: Context, layout: Layout) -> None:
    """What began inside of colliders, and what still does."""
    running = session.get(context.scene)
    if running is None or running.scene_sim is None:
        return
    moved, left = map(len, running.scene_sim.brought_out(context.object.session_uid))
    if moved:
        line = iface("{count} vertices began in colliders: they are brought out")
        draw_sentence(layout, context, line.format(count=moved), "INFO")
    if left:
        line = iface("{count} vertices begin in colliders and stay: pins, or where there is no room")
        draw_sentence(layout, context, line.format(count=left), "ERROR")
        layout.operator("object.pbd_select_in_colliders", text="Show", icon="RESTRICT_SELECT_OFF")


def draw_colliders(context: Context, layout: Layout) -> None:
    """The colliders of the scene: each selects its object, and has a button that makes it none."""
    found = surfaces.colliders(context.scene)
    if not found:
        draw_sentence(layout, context, "No colliders: select an obstacle and press Add Collider", "INFO")
        return
    col = layout.column(align=True)
    for obj in found[:MOST_LISTED]:
        row = col.row(align=True)
        select = row.operator("object.pbd_collider_select", text=obj.name, icon="OBJECT_DATA", translate=False)
        select.body = obj.name
        sub = row.row(align=True)
        sub.enabled = obj.pbd_collider.enabled  # Else it is one by the collection.
        sub.operator("object.pbd_collider_remove", text="", icon="X").body = obj.name
    if len(found) > MOST_LISTED:
        line = iface("And {count} more").format(count=len(found) - MOST_LISTED)
        col.label(text=line, icon="BLANK1", translate=False)


class Floor(BodyPanel):
    """A level plane that all PBD objects of the scene land on"""

    is_open = True
    parent = "object_collisions"

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.scene.pbd, "use_floor", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        settings = context.scene.pbd
        layout.active = layout.active and settings.use_floor
        draw_group(columns(layout), settings, "floor")


class SelfCollisions(BodyPanel):
    """Layers of the body stay apart where it folds onto itself"""

    parent = "main"
    of_rigid = False

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.object.pbd, "self_collision", text="")

    def draw_settings(self, context: Context, layout: Layout) -> None:
        obj = context.object
        layout.prop(context.scene.pbd, "collisions", text="Quality")
        layout.prop(obj.pbd, "join_borders")
        col = layout.column()
        col.active = layout.active and context.scene.pbd.collisions != "OFF"
        row = col.row()
        row.active = obj.pbd.self_collision
        row.prop(obj.pbd, "self_distance", text="Distance", slider=True)
        draw_map(context, col, "self_collision", "Vertex Group")
        if obj.pbd.self_distance == 0.0:
            draw_sentence(col, context, setup_findings.automatic_distance(obj), "INFO")
        running = session.get(context.scene)
        count = 0 if running is None else running.intersecting.get(obj.session_uid, 0)
        if count:
            line = "{count} faces intersect at the start" if count > 1 else "1 face intersects at the start"
            draw_sentence(col, context, iface(line).format(count=count), "ERROR")
            col.operator("object.pbd_select_intersections", icon="RESTRICT_SELECT_OFF")
