"""Bakes that repeat themselves."""

from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context
from .places import BodyPanel
from .rows import draw_group, draw_sentence


class Loop(BodyPanel):
    """How bakes repeat themselves, and how well the ends of the last one fitted"""

    parent = "cache"

    def draw_header(self, context: Context) -> None:
        self.layout.prop(context.scene.pbd, "use_loop", text="")

    def draw(self, context: Context) -> None:
        layout, settings = self.layout, context.object.pbd
        layout.use_property_split = True
        col = layout.column()
        col.active = context.scene.pbd.use_loop and not settings.baked
        draw_group(col, context.scene.pbd, "loop")
        col.operator("object.pbd_find_loop")
        if settings.bake_loop:
            line = iface("Loop of {length} frames, its ends were {apart:.2g} mm apart").format(
                length=settings.bake_loop, apart=1000.0 * settings.bake_apart
            )
            draw_sentence(layout, context, line, "FILE_REFRESH")
