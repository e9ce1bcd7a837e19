"""Where the time of the last frame went."""

from __future__ import annotations

import bpy
from bpy.app.translations import pgettext_iface as iface

from ..pbd_addon.blender.kinds import Context, Layout
from ..pbd_addon.blender.timeline import session
from .places import BodyPanel, in_both_places
from .rows import draw_sentence


class Times(BodyPanel):
    """Milliseconds of the last simulated frame, by kind of constraint"""

    name = "times"
    parent = "advanced"
    bl_label = "Times"
    bl_options = frozenset({"DEFAULT_CLOSED"})

    def draw_settings(self, context: Context, layout: Layout) -> None:
        running = session.get(context.scene)
        if running is None or running.report is None:
            draw_sentence(layout, context, "Press Space to simulate", "INFO")
            return
        layout.use_property_split = False
        report = running.report
        shown = {**report.times, "scene and keys": running.exchange}
        flow = layout.column_flow(columns=2)
        for name in shown:
            flow.label(text=name.capitalize())
        for seconds in shown.values():
            flow.label(text=f"{1000.0 * seconds:.1f} ms", translate=False)
        layout.label(text=iface("{count} substeps").format(count=report.substeps), translate=False)


register, unregister = bpy.utils.register_classes_factory(in_both_places(Times))
