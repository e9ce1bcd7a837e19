"""An obstacle: the settings of an object that is marked as collider."""

from ..pbd_addon.blender.kinds import Context
from ..pbd_addon.blender.timeline import session
from .places import BodyPanel
from .rows import columns, draw_group, draw_sentence


class Collider(BodyPanel):
    """How cloth meets the active object"""

    is_open = True
    bl_label = "PBD Collider"

    @classmethod
    def poll(cls, context: Context) -> bool:
        obj = context.object
        return obj is not None and obj.pbd_collider.enabled

    def draw_header_preset(self, context: Context) -> None:
        self.layout.operator("object.pbd_collider_remove", text="", icon="X")

    def draw(self, context: Context) -> None:
        layout = self.layout
        layout.use_property_split = True
        settings = context.object.pbd_collider
        simulated = context.object.pbd.enabled and context.object.pbd.active and not context.object.pbd.baked
        layout.active = not simulated
        if simulated:
            draw_sentence(layout, context, "Simulated: cloth meets it as cloth, and as a collider when baked", "INFO")
        draw_group(columns(layout), settings, "collider")
        if context.object.type == "MESH":
            layout.prop_search(settings, "group", context.object, "vertex_groups")
        layout.prop(settings, "inside")
        layout.prop(settings, "join_borders")
        if context.object.type == "MESH":
            layout.operator("object.pbd_make_proxy", icon="MOD_REMESH").kind = "COLLIDER"
        running = session.get(context.scene)
        met = running.scene_sim.colliders.get(context.object.session_uid) if running else None
        for note in met.collider.notes if met else ():
            draw_sentence(layout, context, note, "INFO")
